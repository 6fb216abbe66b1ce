"""Symbolic sizes and coordinates: any integers, or 31-bit ones in 64-bit words, where no offset overflows."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import B1, U64
from ...spec.pto.fractal import FractalLayout
from ...spec.pto.placement import Placement
from ..obligation import Variable, immediate

SIZE_BITS = 31
"""Width of extents and coordinates: the product of two fits a signed 64-bit integer."""


@runtime_checkable
class Ordered(Protocol):
    """An algebra of numbers that have an order, which integers have and words have not by themselves."""

    def below(self, left: Array, right: Array) -> Array:
        """Return the condition left < right."""


def size(name: str, bits: int = SIZE_BITS) -> Variable:
    """Return a variable for an extent or a coordinate."""
    return Variable(name, immediate(bits), (1,))


def word(alg: Algebra, bits: Array, width: int = SIZE_BITS) -> Array:
    """Return encodings of `width` bits as 64-bit words, in which offsets are computed; an integer is one."""
    return alg.assemble(bits[..., np.newaxis], immediate(width), (0,), U64)


def number(alg: Algebra, value: int) -> Array:
    """Return a 64-bit word that is known."""
    return alg.constant(value, U64)[np.newaxis]


def below(alg: Algebra, left: Array, right: Array) -> Array:
    """Return the condition left < right of integers, or of words less than 2**63."""
    if isinstance(alg, Ordered):
        return alg.below(left, right)
    return alg.same(alg.extract(left - right, U64.bits - 1, B1), alg.constant(1, B1))


def at_most(alg: Algebra, left: Array, right: Array) -> Array:
    """Return the condition left ≤ right of integers, or of words less than 2**63."""
    return ~below(alg, right, left)


def of_extent(layout: FractalLayout, rows: Any, columns: Any) -> Placement:
    """Return the placement that a physical extent gives; `placement.physical` is this for a tile's."""
    return Placement(layout, layout.pitch(rows, columns))


def box_bits(layout: FractalLayout) -> tuple[int, int]:
    """Return the binary logarithms of a block's rows and columns."""
    rows, columns = layout.box
    return rows.bit_length() - 1, columns.bit_length() - 1


def name_of(layout: FractalLayout) -> str:
    """Return what obligations call a layout: ``Nz-16x8``, ``ND``."""
    return layout.name if layout.box == (1, 1) else f"{layout.name}-{layout.box[0]}x{layout.box[1]}"
