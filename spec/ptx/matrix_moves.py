"""``ldmatrix``, ``stmatrix`` and ``movmatrix``: which lane names, and which lane holds, what.

One formula gives them all. In registers each matrix is an m x n tile of which a lane holds runs of
n / 4 neighbouring elements of a row (`fragments.in_runs`), the next matrix in the next registers; in
memory its rows are stored one by one, 16 bytes each, or with ``.trans`` its columns. Sources: PTX ISA
9.1 sections 9.7.14.5.15 to 9.7.14.5.17. The lane map of ``m16n16.b8`` is what the manual's text (4
consecutive columns across 2 rows) and CUTLASS's byte permutation after the load (SM100_U8x8_LDSM_T)
imply; the manual's table of eight addresses for each matrix does not describe its 16 rows. The map of
``stmatrix.m16n8.b8`` is CuTe's, the order of its bytes the manual's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..algebra import Algebra, Array
from ..formats import U8, U16, IntegerFormat
from ..fragment import Fragment, Packing
from ..layout import Axis, Layout
from ..rearrangement import rearranged
from .fragments import in_runs
from .memory import from_bytes, to_bytes
from .row_expansion import EXPANSIONS, RowExpansion
from .variant import WARP_LANES, Family, Shape, Variant


@dataclass(frozen=True)
class MatrixMove:
    """What a ``ldmatrix``, ``stmatrix`` or ``movmatrix`` moves.

    Attributes
    ----------
    family : Family
        Which of the three.
    shape : Shape
        One matrix, as the registers hold it.
    element : IntegerFormat
        What is moved as a whole: u16 or u8 (after expansion).
    count : int
        Matrices: 1, 2 or 4.
    trans : bool
        Whether a memory row is a column of the registers' matrix.
    expansion : RowExpansion, optional
        How a memory row is expanded.
    """

    family: Family
    shape: Shape
    element: IntegerFormat
    count: int = 1
    trans: bool = False
    expansion: RowExpansion | None = None

    def __str__(self) -> str:
        expanded = f"b8x16.{self.expansion.name}" if self.expansion else f"b{self.element.bits}"
        count = "" if self.family is Family.MOVMATRIX else f".x{self.count}"
        return f"{self.family}.{self.shape}{count}{'.trans' * self.trans}.{expanded}"

    @property
    def rows(self) -> int:
        """Memory rows of one matrix, each of which has an address."""
        return self.shape.n if self.trans else self.shape.m

    @property
    def addresses(self) -> int:
        """Lanes whose address is used: the lowest ones."""
        return self.count * self.rows

    @property
    def registers(self) -> int:
        """Registers of a lane."""
        return self.fragment.registers

    @cached_property
    def address_lanes(self) -> Layout:
        """(matrix, memory row) ↔ the lane that supplies its address."""
        axes = Axis("matrix", self.count), Axis("row", self.rows)
        lane = Axis("lane", self.addresses)
        return rearranged(f"{self} addresses", axes, (lane,), "lane -> lane", lane=lane.extent)

    @cached_property
    def layout(self) -> Layout:
        """(lane, element) ↔ (matrix, memory row, element of that row)."""
        m, n, _ = self.shape
        by = "column" if self.trans else "row"
        return in_runs(str(self), m, n, n // 4, by=by, count=Axis("matrix", self.count))

    @cached_property
    def fragment(self) -> Fragment:
        """The layout with its elements packed in b32 registers."""
        return Fragment(self.layout, Packing(self.element, self.element.bits))


def matrix_move(variant: Variant) -> MatrixMove:
    """Return what a legal matrix move moves."""
    assert variant.shape is not None
    return MatrixMove(
        variant.family,
        variant.shape,
        U16 if variant.types[0] == "b16" else U8,
        int((variant.count or "x1")[1:]),
        variant.trans,
        EXPANSIONS[variant.types[1]] if len(variant.types) > 1 else None,
    )


def row_addresses(move: MatrixMove, addresses: Array) -> Array:
    """Return the addresses (…, matrices, rows) of memory rows, from those of the lanes (…, 32)."""
    (lanes,) = move.address_lanes.forward(*np.indices((move.count, move.rows)))
    return addresses[..., lanes]


def load(alg: Algebra, move: MatrixMove, rows: Array) -> Array:
    """Return the registers that ``ldmatrix`` writes.

    Parameters
    ----------
    alg : Algebra
        What the bytes are.
    move : MatrixMove
        The instruction.
    rows : array (…, matrices, rows, 16)
        Bytes of the memory rows.

    Returns
    -------
    array (…, 32, registers)
    """
    expanded = move.expansion.expand(alg, rows) if move.expansion else rows
    return move.fragment.scatter(alg, from_bytes(alg, expanded, move.element))


def store(alg: Algebra, move: MatrixMove, registers: Array) -> Array:
    """Return the memory rows (…, matrices, rows, 16) that ``stmatrix`` writes, the inverse of `load`."""
    return to_bytes(alg, move.fragment.gather(alg, registers), move.element)


def transpose(alg: Algebra, move: MatrixMove, registers: Array) -> Array:
    """Return the register (…, 32, 1) that ``movmatrix`` writes.

    Lane and half that hold X[r, c] of the source hold X[c, r] of the result.
    """
    source = replace(move, trans=not move.trans).fragment
    return move.fragment.scatter(alg, source.gather(alg, registers))


def lanes_that_need_addresses(move: MatrixMove, target: int) -> int:
    """Return how many lanes (the lowest ones) must hold a valid address.

    Parameters
    ----------
    move : MatrixMove
        A ``ldmatrix`` or ``stmatrix``.
    target : int
        The number of the target architecture: ``ldmatrix`` on sm_75 checks every lane's address.
    """
    return WARP_LANES if move.family is Family.LDMATRIX and target < 80 else move.addresses
