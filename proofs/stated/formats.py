"""The number formats as their standards give them, and integers of some bits.

Sources: IEEE 754-2019, table 3.5 (f16, f32, f64); PTX ISA 9.1 section 5.2.3 (bf16, tf32, NaNs of the
alternate formats); OCP 8-bit Floating Point Specification 1.0, tables 1 and 2 (e4m3, e5m2); OCP Microscaling
Formats 1.0, tables 4 to 7 (e3m2, e2m3, e2m1, e8m0); AMD, HIP low precision types (FNUZ).
"""

from __future__ import annotations

from fractions import Fraction

from ..text_tables import table

WIDTHS = {row.pop("name"): row for row in table(__package__, "widths")}
"""Extents of each format; the last three are of no standard: what IEEE 754 says of any format."""


SPECIAL = {row.pop("name"): row for row in table(__package__, "special")}
"""Encodings of infinities and NaNs."""


def number(text: str) -> Fraction:
    """Return the number that ``255*2^120``, ``-1025/2^10`` or ``2^-14`` is."""
    head, times, power = text.partition("*2^")
    if times:
        return Fraction(int(head)) * Fraction(2) ** int(power)
    head, over, power = text.partition("/2^")
    if over:
        return Fraction(int(head), 2 ** int(power))
    head, raised, power = text.partition("2^")
    return Fraction(2) ** int(power) if raised and not head else Fraction(text)


NUMBERS = {
    (row["name"], int(row["encoding"], 16)): number(row["number"]) for row in table(__package__, "numbers")
}
"""The number that an encoding stands for."""


def _has(name: str, value: Fraction) -> bool:
    """Tell whether a format has a number: a multiple of its last place, and no larger than the largest."""
    bias, fraction = int(WIDTHS[name]["bias"]), int(WIDTHS[name]["fraction"])
    numbers = [each for (of, _), each in NUMBERS.items() if of == name]
    if value == 0:
        return fraction > 0  # e8m0 has no zero
    if value < 0 and not WIDTHS[name]["sign bit"]:
        return False
    exponent = abs(value).numerator.bit_length() - abs(value).denominator.bit_length()
    exponent -= Fraction(2) ** exponent > abs(value)
    place = Fraction(2) ** (max(exponent, (1 if fraction else 0) - bias) - fraction)
    return abs(value) <= max(numbers) and (value / place).denominator == 1


def contains(name: str, other: str) -> bool:
    """Tell whether a format has another one's zero, 1 and its neighbour, ends, and their negatives."""
    numbers = [each for (of, _), each in NUMBERS.items() if of == other]
    numbers += [Fraction(1), 1 + Fraction(1, 2 ** int(WIDTHS[other]["fraction"]))]
    if WIDTHS[other]["sign bit"]:
        numbers += [-each for each in numbers]
    zero = [Fraction(0)] if int(WIDTHS[other]["fraction"]) else []
    return all(_has(name, value) for value in (*numbers, *zero))


def kinds(name: str) -> dict[int, str]:
    """Return which encodings of a format are ``infinity`` or ``NaN``, and which are a ``number``."""
    row = SPECIAL[name]
    found = {int(text, 16): "infinity" for text in row["infinities"].split()}
    found |= {int(row[column], 16): "NaN" for column in ("NaN from", "to", "and") if row[column]}
    found |= {encoding: "number" for of, encoding in NUMBERS if of == name}
    return found


INTEGERS = {
    "b1": (1, 0, 1),
    "s2": (2, -2, 1),
    "u2": (2, 0, 3),
    "s4": (4, -8, 7),
    "u4": (4, 0, 15),
    "s8": (8, -128, 127),
    "u8": (8, 0, 255),
    "s16": (16, -32768, 32767),
    "u16": (16, 0, 65535),
    "s32": (32, -2147483648, 2147483647),
    "u32": (32, 0, 4294967295),
    "s64": (64, -9223372036854775808, 9223372036854775807),
    "u64": (64, 0, 18446744073709551615),
}
"""Bits, least and greatest value."""


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
