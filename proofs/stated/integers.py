"""Integers of some bits, in Python's own arithmetic: two's complement is the number modulo a power of two."""

from __future__ import annotations


def numbers(bits: int) -> list[int]:
    """Return integers inside, at and beyond the limits of a type, as far as 64 bits have them."""
    edges = [0, 1 << bits - 1, 1 << bits]
    found = {sign * edge + step for edge in edges for sign in (1, -1) for step in (-2, -1, 0, 1, 2)}
    found |= {5, -6, 0x5A5A5A5A5A5A5A5A >> 64 - bits, -0x1234567890ABCDEF >> 64 - bits}
    return sorted(number for number in found if -(1 << 63) <= number < 1 << 63)


def encoding(number: int, bits: int) -> int:
    """Return the encoding of an integer."""
    return number & (1 << bits) - 1


def value(code: int, bits: int, signed: bool) -> int:
    """Return the integer of an encoding."""
    return code - (1 << bits) if signed and code >> bits - 1 else code
