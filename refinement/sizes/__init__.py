"""Sizes that are symbols: integers that depend on them, arrays, tail predicates, loop invariants."""
