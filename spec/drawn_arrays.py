"""Operands that are given as a few numbers, or drawn: arrays that get their shapes from the instruction."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from .errors import InputError
from .float_encoding import encode
from .formats import Bits, FloatFormat, Format, IntegerFormat
from .rounding import Rounding

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAGNITUDES = 4
"""Floats are drawn below two to this power in magnitude, or to the largest of a format without it."""


class DrawnArrays(Mapping[str, "NDArray[np.generic]"]):
    """Arrays by name, without a shape until an operand asks for one.

    As a mapping it is empty: nothing can be said of an array before its shape is known.

    Parameters
    ----------
    literals : mapping of str to array (n,)
        Numbers of the arrays that are given: one for all elements, or one for each, in row-major order.
    seed : int, optional
        Draws the others; without it they are missing.
    """

    def __init__(self, literals: Mapping[str, NDArray[np.generic]], seed: int | None) -> None:
        self.literals, self.seed = dict(literals), seed

    def __getitem__(self, name: str) -> NDArray[np.generic]:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def of_shape(self, name: str, shape: tuple[int, ...]) -> NDArray[np.generic] | None:
        """Return the numbers that are given under a name in a shape; None where there are none.

        In a shape of -1 there are as many as are given.

        Raises
        ------
        InputError
            If there are neither one nor as many as elements.
        """
        if name not in self.literals:
            return None
        given = self.literals[name]
        count = given.size if -1 in shape else int(np.prod(shape))
        if given.size not in (1, count):
            extents = ", ".join(map(str, shape))
            raise InputError(f"{name} has {given.size} numbers; ({extents}) takes {count}, or one for all")
        return np.broadcast_to(given, count).reshape(shape) if given.size == 1 else given.reshape(shape)

    def generator(self, name: str) -> np.random.Generator | None:
        """Return what draws an array, always the same for a seed and a name; None without a seed."""
        return None if self.seed is None else np.random.default_rng([self.seed, zlib.crc32(name.encode())])


def drawn(generator: np.random.Generator, fmt: Format, shape: tuple[int, ...]) -> Bits:
    """Return encodings of numbers, all finite: integers of the whole range, floats of small magnitude."""
    if isinstance(fmt, IntegerFormat):
        return generator.integers(0, 1 << fmt.bits, shape, dtype=np.uint64).astype(fmt.storage)
    assert isinstance(fmt, FloatFormat)
    highest = min(MAGNITUDES, fmt.maximum_exponent)
    numbers = np.ldexp(generator.uniform(1, 2, shape), generator.integers(-MAGNITUDES, highest, shape))
    if fmt.signed:
        numbers *= generator.choice((-1.0, 1.0), shape)
    return encode(numbers, fmt, Rounding.NEAREST_EVEN)
