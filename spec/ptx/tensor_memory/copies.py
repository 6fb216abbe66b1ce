"""``tcgen05.cp``: rows of shared memory into lanes, as often as the shape says, perhaps widened.

Source: PTX ISA 9.1 section 9.7.16 (tcgen05.cp); MLIR's table of shapes; CuTe's traits of UTCCP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from ...algebra import Algebra, Array
from ...errors import InputError, UnsupportedError
from ...formats import E2M1, U4, U8, U32
from ...fragment import Fragment, Packing
from ...layout import Axis
from ...rearrangement import rearranged
from ..matrix_descriptor import MatrixDescriptor
from ..memory import from_bytes
from .shared_descriptor import shared_matrix

ROW_BYTES = 16
"""Bytes that a column group of four takes of a row."""


@dataclass(frozen=True)
class CopyShape:
    """A shape with its multicast.

    Attributes
    ----------
    name : str
        Both, as they are spelled.
    rows : int
        Rows that are read.
    row_bytes : int
        Bytes of each.
    order : str
        Digits of (lane, byte) and of (copy, row, byte), see `rearrangement`.
    lanes : int
        Lanes that are written.
    copies : int
        How often a row is written.
    """

    name: str
    rows: int
    row_bytes: int
    order: str
    lanes: int = 128
    copies: int = 1

    @cached_property
    def fragment(self) -> Fragment:
        """(lane, byte) ↔ (copy, row, byte) from the address on; lanes of ``4x256b`` are 32 apart."""
        digits = {"copy": self.copies, "byte": self.row_bytes, "row": self.rows}
        if "half" in self.order:
            digits |= {"half": 2, "row": self.rows // 2}
        layout = rearranged(
            f"tcgen05.cp {self.name}",
            (Axis("lane", self.lanes), Axis("i", self.row_bytes)),
            (Axis("copy", self.copies), Axis("row", self.rows), Axis("byte", self.row_bytes)),
            self.order,
            **digits,
        )
        return Fragment(layout, Packing(U8, 8))


_ONCE = "copy row byte -> copy row byte"

SHAPES: Mapping[str, CopyShape] = MappingProxyType(
    {
        shape.name: shape
        for shape in (
            CopyShape("128x256b", 128, 32, _ONCE),
            CopyShape("128x128b", 128, 16, _ONCE),
            CopyShape("4x256b", 4, 32, _ONCE, lanes=4),
            CopyShape("64x128b.warpx2::02_13", 64, 16, _ONCE, copies=2),
            CopyShape("64x128b.warpx2::01_23", 64, 16, "half copy row byte -> copy half row byte", copies=2),
            CopyShape("32x128b.warpx4", 32, 16, _ONCE, copies=4),
        )
    }
)
"""Every shape by name."""


def copied(
    alg: Algebra, shape: CopyShape, fields: MatrixDescriptor, memory: Array, *, widened: str = ""
) -> Array:
    """Return the cells (…, lanes, columns) that a copy writes, from the bytes (…, n) of shared memory.

    Raises
    ------
    InputError
        If the memory ends before.
    UnsupportedError
        If 6-bit elements are widened: documents disagree on the bits of a byte that they get.
    """
    matrix = shared_matrix(fields, shape.rows, shape.row_bytes, 8)
    return copied_rows(alg, shape, matrix.gather(alg, memory, U8), widened=widened)


def copied_rows(alg: Algebra, shape: CopyShape, rows: Array, *, widened: str = "") -> Array:
    """Return the cells (…, lanes, columns) that a copy writes, from the bytes (…, rows, bytes of a row).

    Raises
    ------
    UnsupportedError
        If 6-bit elements are widened: documents disagree on the bits of a byte that they get.
    """
    if widened == "b6x16_p32":
        raise UnsupportedError(".b6x16_p32: documents disagree on which bits of a byte 6-bit elements get")
    if widened:
        rows = _widened(alg, rows)
    copies = np.broadcast_to(rows[..., None, :, :], (*rows.shape[:-2], shape.copies, *rows.shape[-2:]))
    return shape.fragment.scatter(alg, copies)


def _widened(alg: Algebra, rows: Array) -> Array:
    """Return 16 bytes with an element of 4 bits each, in bits 5 to 2, of every 8 bytes and 8 of padding."""
    groups = rows.reshape(*rows.shape[:-1], rows.shape[-1] // ROW_BYTES, ROW_BYTES)
    elements = from_bytes(alg, groups[..., : ROW_BYTES * U4.bits // 8], U4)
    held = Packing(E2M1, 8, low=2)
    wide = alg.assemble(elements.reshape(*elements.shape[:-1], 4, 4), U4, held.positions, U32)
    split = np.stack([alg.extract(wide, low, U8) for low in range(0, U32.bits, 8)], axis=-1)
    return split.reshape(rows.shape)


def shape_named(modifiers: tuple[str, ...]) -> CopyShape:
    """Return the shape that modifiers of a legal copy name."""
    return next(shape for name, shape in SHAPES.items() if set(name.split(".")) <= set(modifiers))


def require_one_memory(ctas: int) -> None:
    """Refuse copies of two CTAs, each of which copies from its own memory to its own cells.

    Raises
    ------
    InputError
        If there are two.
    """
    if ctas > 1:
        raise InputError("cta_group::2: each CTA copies from its own memory; execute the copy of one")
