"""Power kernels: object code and assembler text for the verification."""
