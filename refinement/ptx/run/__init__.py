"""A run: programs, batches of blocks, scheduling, branches on data, launches."""
