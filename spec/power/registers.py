"""Which bits of VSRs and accumulators hold which matrix element.

A VSR is 16 bytes, byte 0 the most significant ("ISA byte order"); an accumulator is its four rows,
(…, 4, 16). Source: Power ISA 3.1 section 7.2; Moreira et al. Figure 1 and section II-B.
"""

from __future__ import annotations

from ..algebra import Algebra, Array
from ..formats import Format
from ..layout import Axis, Layout
from ..rearrangement import rearranged
from .catalogue import Family

REGISTER_BITS = 128
REGISTER_BYTES = 16
ACCUMULATOR_ROWS = 4


def operand_layout(name: str, rows: int, rank: int, fmt: Format, place: str = "k") -> Layout:
    """Return element (row, p) of a rows x rank operand ↔ (register, field) of its VSRs.

    Fields are numbered from the most significant; row i of a narrow operand is word i of the
    register, and the f64 X operand runs on into the odd register of its pair.
    """
    fields = REGISTER_BITS // fmt.bits
    return rearranged(
        name,
        (Axis("row", rows), Axis(place, rank)),
        (Axis("register", rows * rank // fields), Axis("field", fields)),
        "element -> element",
        element=rows * rank,
    )


def x_layout(family: Family) -> Layout:
    """Return X[row, k] ↔ (register of the operand, field)."""
    return operand_layout(f"{family.name} X", 4, family.rank, family.x)


def y_layout(family: Family) -> Layout:
    """Return Y[column, k] ↔ (register of the operand, field)."""
    return operand_layout(f"{family.name} Y", family.columns, family.rank, family.y)


def accumulator_layout(fmt: Format) -> Layout:
    """Return ACC[i, j] ↔ (VSR 4k + register, field) while the accumulator is moved to its VSRs."""
    columns = REGISTER_BITS // fmt.bits
    return operand_layout(f"accumulator of {fmt}", ACCUMULATOR_ROWS, columns, fmt, "column")


def matrix(alg: Algebra, registers: Array, fmt: Format, rows: int) -> Array:
    """Read registers (…, r, 16 bytes) as a matrix (…, rows, 16 r / rows bytes) of elements."""
    elements = alg.unpack(registers.reshape(*registers.shape[:-2], -1), fmt)
    return elements.reshape(*elements.shape[:-1], rows, -1)


def registers(alg: Algebra, elements: Array, fmt: Format) -> Array:
    """Write a matrix (…, rows, columns) to registers (…, r, 16 bytes), the inverse of `matrix`."""
    flat = alg.pack(elements.reshape(*elements.shape[:-2], -1), fmt)
    return flat.reshape(*flat.shape[:-1], -1, REGISTER_BYTES)
