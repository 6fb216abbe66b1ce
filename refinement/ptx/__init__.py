"""PTX modules of third parties: what they say, and what their kernels do."""
