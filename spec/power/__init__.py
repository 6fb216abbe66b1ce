"""Power MMA: its instructions, accumulators, encodings, built-ins, legality and the kernels of the paper."""
