"""Fragments: a matrix spread over holders, gathered and scattered through a layout and a packing.

The holders are what an instruction set spreads a matrix over: the lanes of a warp or a wavefront, the
VSRs of an operand. The layout says which holder has which element under which number, the packing where
in the holder's words that number is. An instruction set gives both, for instance
``Fragment(layout, Packing(F16, 16))`` with a layout (lane, i) ↔ (row, column), and has its registers
read as a matrix and written from one in every algebra.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from .algebra import Algebra, Array
from .formats import U32, U64, Format
from .layout import Layout


@dataclass(frozen=True)
class Packing:
    """How elements lie in registers of 32 or 64 bits, the first in the least significant bits.

    Attributes
    ----------
    format : Format
        The elements' encodings.
    container : int
        Bits that one element occupies.
    low : int
        Lowest bit of an encoding in its container.
    """

    format: Format
    container: int
    low: int = 0

    @property
    def word(self) -> Format:
        """Format of a register: 32 bits, for wider elements 64."""
        return U64 if self.container > U32.bits else U32

    @property
    def per_register(self) -> int:
        """Elements in one register."""
        return self.word.bits // self.container

    @cached_property
    def positions(self) -> tuple[int, ...]:
        """Lowest bit of each element of a register."""
        return tuple(range(self.low, self.word.bits, self.container))

    @cached_property
    def padding(self) -> int:
        """The bits of a register that no encoding occupies."""
        used = sum(((1 << self.format.bits) - 1) << position for position in self.positions)
        return ~used & ((1 << self.word.bits) - 1)

    def registers(self, elements: int) -> int:
        """Return how many registers hold some elements."""
        return elements // self.per_register

    def places(self, numbers: Any) -> dict[str, Any]:
        """Return registers and lowest bits of some of a holder's elements: an int, or an array of them."""
        register, position = divmod(numbers, self.per_register)
        return {"register": register, "bit": self.low + self.container * position}

    def unpack(self, alg: Algebra, words: Array) -> Array:
        """Split registers (…, r) into encodings (…, per_register * r)."""
        fields = np.stack([alg.extract(words, low, self.format) for low in self.positions], axis=-1)
        return fields.reshape(*words.shape[:-1], words.shape[-1] * self.per_register)

    def pack(self, alg: Algebra, elements: Array) -> Array:
        """Join encodings (…, n) to registers (…, n / per_register), padding 0."""
        registers = self.registers(elements.shape[-1])
        fields = elements.reshape(*elements.shape[:-1], registers, self.per_register)
        return alg.assemble(fields, self.format, self.positions, self.word)


@dataclass(frozen=True)
class Fragment:
    """A matrix in the registers of its holders.

    Attributes
    ----------
    layout : Layout
        (holder, element) ↔ coordinates in the matrix: (row, column), perhaps with leading axes, such as
        one that counts independent products.
    packing : Packing
        How a holder's elements lie in its registers, in the order of their numbers.
    """

    layout: Layout
    packing: Packing

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the matrix."""
        return tuple(axis.extent for axis in self.layout.target)

    @property
    def elements(self) -> int:
        """Elements that one holder has."""
        return self.layout.source[1].extent

    @property
    def registers(self) -> int:
        """Registers that one holder has them in."""
        return self.packing.registers(self.elements)

    @property
    def word(self) -> Format:
        """Format of a register."""
        return self.packing.word

    @property
    def words(self) -> tuple[int, int]:
        """Extents of the array of registers."""
        return self.layout.source[0].extent, self.registers

    @property
    def _held(self) -> tuple[int, ...]:
        return tuple(axis.extent for axis in self.layout.source)

    @cached_property
    def _places(self) -> Array:
        """Where every matrix element is among the elements of all holders."""
        return _flat(self.layout.inverse(*np.indices(self.shape)), self._held)

    @cached_property
    def _coordinates(self) -> Array:
        """Where every (holder, element) is in the matrix, its rows one after the other."""
        return _flat(self.layout.forward(*np.indices(self._held)), self.shape)

    def gather(self, alg: Algebra, registers: Array) -> Array:
        """Read registers (…, holders, r) as the matrix (…, *shape) of encodings."""
        elements = self.packing.unpack(alg, registers)
        flat = elements.reshape(*elements.shape[:-2], prod(self._held))
        return flat.take(self._places, axis=-1)

    def scatter(self, alg: Algebra, matrix: Array) -> Array:
        """Write a matrix (…, *shape) of encodings to registers (…, holders, r), the inverse of `gather`."""
        flat = matrix.reshape(*matrix.shape[: matrix.ndim - len(self.shape)], prod(self.shape))
        return self.packing.pack(alg, flat.take(self._coordinates, axis=-1))


@dataclass(frozen=True)
class Selection:
    """The part of a fragment that an instruction's selectors pick.

    Attributes
    ----------
    fragment : Fragment
        Everything in the registers.
    at : tuple of int
        The leading coordinates of what is picked; none for all.
    """

    fragment: Fragment
    at: tuple[int, ...] = ()

    @property
    def word(self) -> Format:
        """Format of a register."""
        return self.fragment.word

    @property
    def words(self) -> tuple[int, int]:
        """Extents of the array of registers."""
        return self.fragment.words

    def gather(self, alg: Algebra, registers: Array) -> Array:
        """Read what is picked of registers (…, holders, r)."""
        everything = self.fragment.gather(alg, registers)
        if not self.at:
            return everything
        rest = (slice(None),) * (len(self.fragment.shape) - len(self.at))
        index: tuple[Any, ...] = (..., *self.at, *rest)
        picked: Array = everything[index]
        return picked

    def scatter(self, alg: Algebra, matrix: Array) -> Array:
        """Write a matrix to registers (…, holders, r), 0 wherever it is not picked."""
        if not self.at:
            return self.fragment.scatter(alg, matrix)
        extents = self.fragment.shape
        chosen, own = np.zeros(extents[: len(self.at)], dtype=bool), len(extents) - len(self.at)
        chosen[self.at] = True
        wide = matrix.reshape(*matrix.shape[: matrix.ndim - own], *(1,) * len(self.at), *extents[-own:])
        of_each = chosen.reshape(*chosen.shape, *(1,) * own)
        zero = alg.constant(0, self.fragment.packing.format)
        return self.fragment.scatter(alg, alg.where(of_each, wide, zero))


def _flat(coordinates: tuple[Array, ...], extents: tuple[int, ...]) -> Array:
    """Return the places of coordinates in an array of these extents that is read in order."""
    return np.asarray(np.ravel_multi_index(tuple(np.broadcast_arrays(*coordinates)), extents))
