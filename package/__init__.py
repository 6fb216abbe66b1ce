"""Formal specification and symbolic verifier of matrix-multiply instructions."""

__version__ = "0.1.0"
