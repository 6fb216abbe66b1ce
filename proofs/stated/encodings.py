"""What the encodings of a format stand for, its NaNs, and what numbers are rounded to, by their neighbours.

A rounding is stated between an encoding and the next one: at a quarter, a half and three quarters of what is
between them, and next to these ends and the half. Of the format it takes the widths and the special
encodings.

Sources: IEEE 754-2019, sections 3.3, 4.3 and 7.4; OCP 8-bit Floating Point 1.0, section 5; OCP Microscaling
Formats 1.0, section 5; AMD, HIP low precision types (FNUZ).

Source: IEEE 754-2019, sections 3.4 (encodings), 6.2.1 and 6.2.3 (quiet NaNs keep as much of the payload as
there is place for).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..text_tables import table
from .arithmetic import DIRECTIONS
from .formats import SPECIAL, WIDTHS

BEYOND = {row.pop("name"): row for row in table(__package__, "beyond")}
"""What is beyond the largest number; what a NaN is encoded as (the largest number, where there is none)."""

WITHOUT_ZERO = ("ue8m0",)
ONE_ZERO = ("e4m3fnuz", "e5m2fnuz")
"""Formats that have no -0: its encoding is the NaN."""

QUARTERS = 4


class Shape(NamedTuple):
    """The widths of a format.

    Attributes
    ----------
    exponent, fraction, bias : int
        As its standard has them.
    padding : int
        Bits below the fraction.
    sign : int
        The sign bit, 0 without one.
    largest : int
        Exponent and fraction of the largest number.
    """

    exponent: int
    fraction: int
    bias: int
    padding: int
    sign: int
    largest: int

    def value(self, magnitudes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the numbers of exponent and fraction, one beyond the largest too."""
        field, fraction = magnitudes >> self.fraction, magnitudes % (1 << self.fraction)
        if self.fraction == 0:
            powers: NDArray[np.float64] = np.ldexp(1.0, field - self.bias)
            return powers
        whole = np.where(field > 0, fraction + (1 << self.fraction), fraction)
        values: NDArray[np.float64] = np.ldexp(
            whole.astype(np.float64), np.where(field > 0, field, 1) - (self.bias + self.fraction)
        )
        return values


def shape(name: str) -> Shape:
    """Return the widths of a format."""
    row = WIDTHS[name]
    exponent, fraction, bias = int(row["exponent"]), int(row["fraction"]), int(row["bias"])
    padding = int(row["sign bit"]) - exponent - fraction if row["sign bit"] else 0
    sign = 1 << int(row["sign bit"]) if row["sign bit"] else 0
    special = SPECIAL[name]
    first = special["infinities"].split()[:1] or [special["NaN from"]]
    ones = (1 << exponent + fraction) - 1
    largest = ones if not first[0] or name in ONE_ZERO else (int(first[0], 16) >> padding) - 1
    return Shape(exponent, fraction, bias, padding, sign, largest)


def magnitudes(name: str) -> NDArray[np.int64]:
    """Return exponents and fractions of numbers: all of a format of 8 bits, of others ends and samples."""
    of = shape(name)
    if of.largest < 1 << 8:
        return np.arange(of.largest + 1)
    steps = np.arange(0, of.largest, max(1, of.largest // 61) | 1)
    binades = (np.arange(0, 1 << of.exponent, max(1, (1 << of.exponent) // 13)) << of.fraction) + [[-1], [0]]
    ends = [0, 1, 2, 3, of.largest // 2, of.largest - 2, of.largest - 1, of.largest]
    found = np.unique(np.concatenate([steps, binades.ravel(), np.array(ends)]))
    return found[(found >= 0) & (found <= of.largest)]


class Read(NamedTuple):
    """Encodings, and the numbers that they stand for: infinities and NaNs as float64 has them."""

    encodings: NDArray[np.uint64]
    values: NDArray[np.float64]


def read(name: str) -> Read:
    """Return encodings of numbers, infinities and NaNs; what is in the padding does not count."""
    of, special = shape(name), SPECIAL[name]
    found = magnitudes(name)
    padding = (np.arange(len(found)) * 0x9E3779B1 & (1 << of.padding) - 1).astype(np.uint64)
    positive = (found.astype(np.uint64) << np.uint64(of.padding)) | padding
    encodings, values = [positive], [of.value(found)]
    if of.sign:
        kept = slice(1 if name in ONE_ZERO else 0, None)
        encodings.append(positive[kept] | np.uint64(of.sign))
        values.append(-of.value(found)[kept])
    specials = [
        (int(text, 16), sign * np.inf)
        for text, sign in zip(special["infinities"].split(), (1, -1), strict=False)
    ]
    specials += [(int(special[c], 16), np.nan) for c in ("NaN from", "to", "and") if special[c]]
    encodings.append(np.array([encoding for encoding, _ in specials], dtype=np.uint64))
    values.append(np.array([value for _, value in specials]))
    return Read(np.concatenate(encodings), np.concatenate(values))


class Rounded(NamedTuple):
    """Numbers, what each direction rounds them to, and which are numbers of the format."""

    numbers: NDArray[np.float64]
    encodings: dict[str, NDArray[np.uint64]]
    exact: NDArray[np.bool_]


@np.errstate(over="ignore")  # of a format with the exponents of float64
def rounded(name: str) -> Rounded:
    """Return numbers at the encodings and between them, of both signs, and those beyond all."""
    of = shape(name)
    below = magnitudes(name)
    numbers, quarters = of.value(below), np.zeros_like(below)
    if name != "f64":  # float64 has nothing between its numbers, nor beyond them
        after = np.minimum(below, of.largest - (of.exponent > 10))  # 2^1024 is no float64
        gaps, places = of.value(after + 1) - of.value(after), np.arange(QUARTERS)[:, None]
        numbers = numbers + gaps / QUARTERS * places
        half, above = numbers[2], numbers[0] + gaps
        near = [(numbers[0], np.inf), (half, 0), (half, np.inf), (above, 0)]  # float64's next to them
        numbers = np.concatenate([numbers.ravel(), *(np.nextafter(each, to) for each, to in near)])
        quarters = np.concatenate([np.repeat(places, len(below)), np.repeat([1, 1, 3, 3], len(below))])
        below = np.tile(below, QUARTERS + len(near))
        beyond = [np.inf] if of.exponent > 10 else [2.0**1000, np.inf]
        numbers = np.append(numbers, beyond)
        below = np.append(below, [of.largest + 1] * len(beyond))
        quarters = np.append(quarters, [0] * len(beyond))
    odd = (below % 2 == 1) | (of.fraction == 0)
    nearest = below + ((quarters == 3) | ((quarters == 2) & odd))
    outward = below + (quarters > 0)
    signs = (False, True)
    found = {
        direction: np.concatenate(
            [
                _encoded(name, of, numbers, *_direction(direction, negative, nearest, outward, below))
                for negative in signs
            ]
        )
        for direction in DIRECTIONS
    }
    exact = quarters == 0
    numbers_of_both = np.concatenate([numbers, -numbers])
    return Rounded(numbers_of_both, found, np.concatenate([exact, exact]))


class Significands(NamedTuple):
    """Numbers ``(-1)**negative * significand * 2**exponent``, and what each direction rounds them to."""

    negative: NDArray[np.bool_]
    significands: NDArray[np.uint64]
    exponents: NDArray[np.int64]
    encodings: dict[str, NDArray[np.uint64]]


WIDEST = 62
"""Bits of a significand."""


def significands(name: str) -> Significands:
    """Return the numbers at the encodings, and quarters above them, written with few bits and with many."""
    of = shape(name)
    below = magnitudes(name)
    field, fraction = below >> of.fraction, below % (1 << of.fraction)
    whole = np.where((field > 0) | (of.fraction == 0), fraction + (1 << of.fraction), fraction)
    exponent = (np.maximum(field, 1) if of.fraction else field) - of.bias - of.fraction
    found: list[tuple[Any, Any, Any, Any]] = []  # significand, exponent, magnitude below, quarters above it
    for above in range(QUARTERS):
        exact, place = QUARTERS * whole + above, exponent - 2
        lengths = np.array([int(each).bit_length() for each in exact])
        trailing = np.array([max(int(each & -each).bit_length() - 1, 0) for each in exact])
        for moved in (-trailing, 0 * lengths, 0 * lengths + 5, WIDEST - lengths):
            shifted = [int(each) << max(by, 0) >> max(-by, 0) for each, by in zip(exact, moved, strict=True)]
            found.append((shifted, place - moved, below, above + 0 * below))
    significand, place, magnitude, quarters = (np.concatenate(each) for each in zip(*found, strict=True))
    odd = (magnitude % 2 == 1) | (of.fraction == 0)
    nearest = magnitude + ((quarters == 3) | ((quarters == 2) & odd))
    outward = magnitude + (quarters > 0)
    encodings = {
        direction: np.concatenate(
            [
                _encoded(name, of, significand, *_direction(direction, negative, nearest, outward, magnitude))
                for negative in (False, True)
            ]
        )
        for direction in DIRECTIONS
    }
    negative = np.repeat([False, True], len(significand))
    both = np.tile(significand.astype(np.uint64), 2), np.tile(place, 2)
    return Significands(negative, *both, encodings)


def _direction(
    direction: str, negative: bool, nearest: Any, outward: Any, below: Any
) -> tuple[bool, Any, bool]:
    """Return the sign, the magnitudes that a direction takes, and whether too large ones are infinite."""
    if direction == "nearest-even":
        return negative, nearest, True
    away = direction == ("downward" if negative else "upward")
    return negative, outward if away else below, away


def _encoded(name: str, of: Shape, numbers: Any, negative: bool, found: Any, away: bool) -> Any:
    beyond = BEYOND[name]
    encodings = found.astype(np.uint64) << np.uint64(of.padding)
    infinite = np.isinf(numbers)
    largest, nan = of.largest << of.padding, int(beyond["NaN"], 16)
    outside = {"infinity": (of.largest + 1) << of.padding, "NaN": nan, "largest": largest}[beyond["overflow"]]
    too_large = found > of.largest
    encodings = np.where(too_large, outside if away else largest, encodings)
    encodings = np.where(infinite, outside, encodings)
    if negative and of.sign and name in ONE_ZERO:
        return np.where(encodings > 0, encodings | np.uint64(of.sign), 0).astype(np.uint64)
    if negative and of.sign:
        return encodings.astype(np.uint64) | np.uint64(of.sign)
    if negative:
        encodings = np.where(numbers == 0, 0, nan)
    return encodings.astype(np.uint64)


NUMPY_TYPES = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "e4m3": "float8_e4m3fn",
    "e5m2": "float8_e5m2", "e3m2": "float6_e3m2fn", "e2m3": "float6_e2m3fn", "e2m1": "float4_e2m1fn",
    "ue8m0": "float8_e8m0fnu",
}  # fmt: skip
"""What numpy and ml_dtypes call the formats."""


def encoding_of_integer(name: str, number: int) -> int | None:
    """Return the encoding of an integer, or None if it is no number of the format."""
    of = shape(name)
    if number == 0:
        return None if name in WITHOUT_ZERO else 0
    if number < 0 and not of.sign:
        return None
    exponent = abs(number).bit_length() - 1  # not negative, so of a normal number
    units, rest = divmod(abs(number) << of.fraction, 1 << exponent)
    magnitude = ((exponent + of.bias) << of.fraction) + units - (1 << of.fraction)
    if rest or magnitude > of.largest:
        return None
    return magnitude << of.padding | (of.sign if number < 0 else 0)


_STEP = 9


def some_nans(name: str) -> list[int]:
    """Return NaNs of both signs: each digit of the payload by itself, all of them, and two."""
    of = shape(name)
    payloads = {1 << place for place in range(of.fraction)} | {(1 << of.fraction) - 1, 5 << of.fraction - 5}
    padding = (1 << of.padding) - 1
    exponent = ((1 << of.exponent) - 1) << of.fraction
    return [
        (exponent | payload) << of.padding | (padding if number % _STEP else 0) | sign
        for number, payload in enumerate(sorted(payloads))
        for sign in (0, of.sign)
    ]


def quieted(name: str, nan: int, result: str) -> int:
    """Return a NaN of a format as a quiet one of another format."""
    of, to = shape(name), shape(result)
    digits = f"{nan:0{_width(of)}b}"
    sign, payload = digits[0], digits[1 + of.exponent : 1 + of.exponent + of.fraction]
    kept = ("1" + payload[1:]).ljust(to.fraction, "0")[: to.fraction]
    return int(sign + "1" * to.exponent + kept + "0" * to.padding, 2)


def _width(of: Shape) -> int:
    return 1 + of.exponent + of.fraction + of.padding
