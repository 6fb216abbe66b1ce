"""Kernels at every size: symbolic launches, induction over loops, one block that stands for all."""
