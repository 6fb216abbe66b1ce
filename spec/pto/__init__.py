"""Ascend PTO tile instructions: matrix and matrix-vector products, and the movers a GEMM needs."""
