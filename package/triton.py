"""Kernels of Triton: compiled for a target without a GPU, and verified."""

from .api.triton import compiled, contract, draft, verify

__all__ = ["compiled", "contract", "draft", "verify"]
