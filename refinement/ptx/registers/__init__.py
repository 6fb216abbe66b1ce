"""Threads, what their registers hold, and operations on that."""
