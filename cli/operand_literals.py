"""Operands on the command line: ``x=1,2,3,4``, ``acc_bits=0x7f800000``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..spec.errors import InputError

if TYPE_CHECKING:
    from ..spec.drawn_arrays import DrawnArrays


def drawn_arrays(texts: Sequence[str], seed: int | None) -> DrawnArrays:
    """Return the operands that are written, and what draws the others.

    Raises
    ------
    InputError
        If a text is not ``NAME=NUMBERS``, a name stands twice, or the seed is negative.
    """
    import numpy as np

    from ..spec.drawn_arrays import DrawnArrays

    if seed is not None and seed < 0:
        raise InputError(f"--random takes a number from 0 on, not {seed}")
    literals = {}
    for text in texts:
        name, _, numbers = text.partition("=")
        if name in literals:
            raise InputError(f"{name!r} is given twice")
        literals[name] = _numbers(name, numbers)
    arrays = {
        name: np.array(each, None if any(isinstance(n, float) or n < 0 for n in each) else np.uint64)
        for name, each in literals.items()
    }
    return DrawnArrays(arrays, seed)


def _numbers(name: str, text: str) -> list[int] | list[float]:
    parts = [part.strip() for part in text.split(",")]
    try:
        integers = [int(part, 0) for part in parts]
    except ValueError:
        pass
    else:
        if max(integers) >= 1 << 64 or min(integers) < -(1 << 63):
            raise InputError(f"{name}={text[:60]}: an integer has more than 64 bits")
        return integers
    try:
        return [_number(part) for part in parts]
    except ValueError:
        raise InputError(f"{name}={text[:60]} is not NAME=NUMBERS, such as x=1,2.5,0x10") from None
    except OverflowError:
        raise InputError(f"{name}={text[:60]} has a number that 64 bits don't hold") from None


def _number(text: str) -> float:
    hexadecimal = "x" in text.lower()
    number = float.fromhex(text) if hexadecimal else float(text)
    if math.isinf(number) and "inf" not in text.lower():
        raise OverflowError(text)
    digits = text.lower().partition("p" if hexadecimal else "e")[0]
    if number == 0 and set(digits) & set("123456789abcdef"):
        raise OverflowError(text)
    return number
