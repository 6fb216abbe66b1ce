"""A specification for tests of mutation: what a toy theorem sees, and what none does."""

from __future__ import annotations

MODULUS = 256


def total(x: int, y: int) -> int:
    """Add bytes."""
    return (x + y) % MODULUS


def unseen(x: int) -> int:
    return x * 3


def half_seen(x: int) -> int:
    return x if x < 1000 else 7
