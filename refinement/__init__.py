"""Refinement of third-party kernels against a contract."""
