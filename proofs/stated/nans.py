"""NaNs of binary formats as they are written in digits: a sign, ones, the quiet digit, the payload.

Source: IEEE 754-2019, sections 3.4 (encodings), 6.2.1 and 6.2.3 (quiet NaNs keep as much of the payload as
there is place for).
"""

from __future__ import annotations

from .encodings import Shape, shape

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
