"""Symbolic sizes: integers that depend on them, arrays, tail predicates, loop invariants."""
