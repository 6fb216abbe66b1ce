"""Threads, the contents of their registers, and operations on these."""
