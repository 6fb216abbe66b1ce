"""Pipes of a core, what orders them, and who accessed each byte last."""
