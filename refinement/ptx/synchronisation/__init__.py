"""Barriers, barrier objects, atomics, asynchronous copies."""
