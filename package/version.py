"""The version of mmaproof, where all layers may read it."""

__version__ = "0.2.0"
