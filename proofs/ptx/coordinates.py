"""Claims about places: coordinates and their ranges, and what the fields of registers hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import U32, Format, IntegerFormat
from ..families.layouts import COORDINATE
from ..obligation import Equation, Variable

_OF_FOUR = IntegerFormat("one of four", 2, signed=False)


def coordinate(name: str) -> Variable:
    """Return a 16-bit unsigned variable."""
    return Variable(name, COORDINATE, (1,))


def below(alg: Algebra, value: Any, extent: int) -> Array:
    """Return the condition that a value is less than `extent`."""
    exact = alg.integer(np.asarray(value), COORDINATE)
    return np.asarray(alg.in_range(alg.whole(extent - 1) - exact, COORDINATE))


def one_of(alg: Algebra, value: Any, values: Iterable[int], fmt: IntegerFormat = COORDINATE) -> Array:
    """Return the condition that an encoding is one of `values`."""
    return np.asarray(reduce(or_, (alg.same(value, alg.constant(v, fmt)) for v in values)))


def constant(alg: Algebra, value: int) -> Array:
    """Return a coordinate that is known."""
    return alg.constant(value, COORDINATE)


def in_four(alg: Algebra, exact: Any) -> Array:
    """Return the condition that an exact integer is 0, 1, 2 or 3: a lane of a quad, a byte of a register."""
    return np.asarray(alg.in_range(exact, _OF_FOUR))


def held_only_at(
    alg: Algebra, registers: Array, slot: tuple[Array, Array], values: Array, fmt: Format
) -> Iterator[Equation]:
    """Yield that registers hold values in the fields that a formula names, and 0 in all others.

    Parameters
    ----------
    registers : array (…, 32)
        One register of every lane.
    slot : pair of array
        The lane of each value, and the field of its register, 0 in the lowest bits.
    values : array
        What is held, in fields of `fmt`.
    """
    lows = range(0, U32.bits, fmt.bits)
    held = np.stack([alg.extract(registers, low, fmt) for low in lows], axis=-1)
    yield Equation(held[(..., *slot)], values, fmt, label="the fields of the formula")
    others = np.ones(held.shape[-2:], dtype=bool)
    others[slot] = False
    yield Equation(held[..., others], alg.constant(0, fmt), fmt, label="other fields")
