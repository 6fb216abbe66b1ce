"""Kernels with contracts, tables, layouts and texts to begin with; ``mmaproof examples DIR`` copies them."""
