"""Which lane holds which element of an operand, in which bits of which of its registers.

A lane's elements follow each other in its registers, from the low end. A and B lie with rows (of B:
columns) along the lanes, then blocks, then runs of k. C and D lie with columns along the lanes; a lane
holds 4 rows that follow each other (of f64: 1), and so do the lanes of its next rows before its own next.
Source: AMD matrix instruction calculator 1.3.2 (see the contradiction f64-4x4x4-layout); CDNA4 ISA
chapter 7 for the products that only CDNA4 has.
"""

from __future__ import annotations

from functools import cache

from ..fragment import Fragment, Packing
from ..layout import Axis, Layout
from ..rearrangement import rearranged
from .catalogue import LANES, MatrixMultiply
from .targets import Target

LANE = Axis("lane", LANES)

_A = "run block row within -> block row run within"
_B = "run block column within -> block run within column"
_C = "middle near column far high low -> far near high middle low column"
"""The digits of (lane, i) and where they are in (block, row, column); A and B have k for one of these."""


@cache
def layout(row: MatrixMultiply, operand: str) -> Layout:
    """Return (lane, i) ↔ (block, row, column) of an operand, without the block where there is one."""
    name, lanes = f"{operand} of {row}", (LANE, Axis("i", row.elements(operand)))
    rows, columns = row.extents(operand)
    blocks = [Axis("block", row.blocks)] if row.blocks > 1 else []
    if operand in ("a", "b"):
        within = row.elements(operand)
        digits = {"run": row.k // within, "block": row.blocks, "within": within}
        if operand == "a":
            return rearranged(
                name, lanes, (*blocks, Axis("row", rows), Axis("k", columns)), _A, row=rows, **digits
            )
        matrix = (*blocks, Axis("k", rows), Axis("column", columns))
        return rearranged(name, lanes, matrix, _B, column=columns, **digits)
    low = 1 if row.is_double else 4
    near = max(1, LANES * low // (rows * columns))
    middle = LANES // (near * columns)
    matrix = (*blocks, Axis("row", rows), Axis("column", columns))
    digits = {"far": row.blocks // near, "high": rows // (low * middle), "column": columns}
    return rearranged(name, lanes, matrix, _C, middle=middle, near=near, low=low, **digits)


@cache
def fragment(row: MatrixMultiply, operand: str, target: Target) -> Fragment:
    """Return an operand as it lies in the registers of a wavefront; an f64 fills a pair."""
    fmt = target.format(row.types[operand])
    return Fragment(layout(row, operand), Packing(fmt, fmt.bits))
