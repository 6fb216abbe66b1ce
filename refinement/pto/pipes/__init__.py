"""Pipes of a core, the order between them, and the last access to each byte."""
