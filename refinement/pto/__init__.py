"""PTO text: kernels of the Ascend tile ISA, run on terms."""
