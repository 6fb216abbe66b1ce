"""Kernels of Triton: compiled for a target without a GPU, and verified."""

from .api.triton import compiled, contract, verify

__all__ = ["compiled", "contract", "verify"]
