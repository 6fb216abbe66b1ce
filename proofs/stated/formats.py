"""The number formats as their standards give them: in numbers, not as a rule.

Sources: IEEE 754-2019, table 3.5 (f16, f32, f64); PTX ISA 9.1 section 5.2.3 (bf16, tf32, NaNs of the
alternate formats); OCP 8-bit Floating Point Specification 1.0, tables 1 and 2 (e4m3, e5m2); OCP Microscaling
Formats 1.0, tables 4 to 7 (e3m2, e2m3, e2m1, e8m0); AMD, HIP low precision types (FNUZ).
"""

from __future__ import annotations

from fractions import Fraction

from ..text_tables import rows

_WIDTHS = """
name     | bits | sign bit | exponent | fraction | bias
f16      | 16   | 15       | 5        | 10       | 15
bf16     | 16   | 15       | 8        | 7        | 127
tf32     | 32   | 31       | 8        | 10       | 127
f32      | 32   | 31       | 8        | 23       | 127
f64      | 64   | 63       | 11       | 52       | 1023
e4m3     | 8    | 7        | 4        | 3        | 7
e5m2     | 8    | 7        | 5        | 2        | 15
e3m2     | 6    | 5        | 3        | 2        | 3
e2m3     | 6    | 5        | 2        | 3        | 1
e2m1     | 4    | 3        | 2        | 1        | 1
e1m2     | 4    | 3        | 1        | 2        | 1
ue8m0    | 8    |          | 8        | 0        | 127
ue4m3    | 8    |          | 4        | 3        | 7
e4m3fnuz | 8    | 7        | 4        | 3        | 8
e5m2fnuz | 8    | 7        | 5        | 2        | 16
e9m7     | 17   | 16       | 9        | 7        | 255
e11m20   | 32   | 31       | 11       | 20       | 1023
e6m12    | 22   | 21       | 6        | 12       | 31
"""
"""The last three are of no standard: what IEEE 754 says of any format."""

WIDTHS = {row.pop("name"): row for row in rows(_WIDTHS)}

_NUMBERS = """
name     | encoding           | number
f16      | 0x7bff             | 65504
f16      | 0x0400             | 2^-14
f16      | 0x0001             | 2^-24
f16      | 0xbc01             | -1025/2^10
bf16     | 0x7f7f             | 255*2^120
bf16     | 0x0080             | 2^-126
bf16     | 0x0001             | 2^-133
tf32     | 0x7f7fe000         | 2047*2^117
tf32     | 0x00800000         | 2^-126
tf32     | 0x00002000         | 2^-136
f32      | 0x7f7fffff         | 16777215*2^104
f32      | 0x00800000         | 2^-126
f32      | 0x00000001         | 2^-149
f64      | 0x7fefffffffffffff | 9007199254740991*2^971
f64      | 0x0010000000000000 | 2^-1022
f64      | 0x0000000000000001 | 2^-1074
e4m3     | 0x7e               | 448
e4m3     | 0x08               | 2^-6
e4m3     | 0x01               | 2^-9
e4m3     | 0xc4               | -3
e5m2     | 0x7b               | 57344
e5m2     | 0x04               | 2^-14
e5m2     | 0x01               | 2^-16
e3m2     | 0x1f               | 28
e3m2     | 0x04               | 2^-2
e3m2     | 0x01               | 2^-4
e2m3     | 0x1f               | 15/2^1
e2m3     | 0x08               | 1
e2m3     | 0x01               | 2^-3
e2m1     | 0x7                | 6
e2m1     | 0x6                | 4
e2m1     | 0x5                | 3
e2m1     | 0x4                | 2
e2m1     | 0x3                | 3/2^1
e2m1     | 0x2                | 1
e2m1     | 0x1                | 2^-1
e2m1     | 0x0                | 0
e2m1     | 0xf                | -6
e1m2     | 0x7                | 7/2^2
e1m2     | 0x4                | 1
e1m2     | 0x1                | 2^-2
ue8m0    | 0xfe               | 2^127
ue8m0    | 0x7f               | 1
ue8m0    | 0x00               | 2^-127
ue4m3    | 0x7e               | 448
ue4m3    | 0x08               | 2^-6
ue4m3    | 0x01               | 2^-9
e4m3fnuz | 0x7f               | 240
e4m3fnuz | 0x08               | 2^-7
e4m3fnuz | 0x01               | 2^-10
e5m2fnuz | 0x7f               | 57344
e5m2fnuz | 0x04               | 2^-15
e5m2fnuz | 0x01               | 2^-17
"""
"""Largest, least normal and least positive number of each format, and some others."""

_SPECIAL = """
name     | infinities                        | NaN from         | to               | and
f16      | 7c00 fc00                         | 7c01             | 7fff             | fc01
bf16     | 7f80 ff80                         | 7f81             | 7fff             | ff81
tf32     | 7f800000 ff800000                 | 7f802000         | 7fffffff         | ffc00000
f32      | 7f800000 ff800000                 | 7f800001         | 7fffffff         | ff800001
f64      | 7ff0000000000000 fff0000000000000 | 7ff0000000000001 | 7fffffffffffffff | fff8000000000000
e4m3     |                                   | 7f               | 7f               | ff
e5m2     | 7c fc                             | 7d               | 7f               | fe
e3m2     |                                   |                  |                  |
e2m3     |                                   |                  |                  |
e2m1     |                                   |                  |                  |
e1m2     |                                   |                  |                  |
ue8m0    |                                   | ff               | ff               |
ue4m3    |                                   | 7f               | 7f               |
e4m3fnuz |                                   | 80               | 80               |
e5m2fnuz |                                   | 80               | 80               |
e9m7     | ff80 1ff80                        | ff81             | ffff             | 1ff81
e11m20   | 7ff00000 fff00000                 | 7ff00001         | 7fffffff         | fff80000
e6m12    | 1f8000 3f8000                     | 1f8008           | 1fffff           | 3fc008
"""

SPECIAL = {row.pop("name"): row for row in rows(_SPECIAL)}
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


NUMBERS = {(row["name"], int(row["encoding"], 16)): number(row["number"]) for row in rows(_NUMBERS)}
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
