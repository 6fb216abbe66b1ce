"""Which bits of VSRs and accumulators hold which matrix element.

A VSR is 16 bytes, byte 0 the most significant ("ISA byte order"); an accumulator is its four rows,
(…, 4, 16). Source: Power ISA 3.1 section 7.2; Moreira et al. Figure 1 and section II-B.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ..algebra import Algebra, Array
from ..formats import U8, Format
from ..fragment import Fragment, Packing
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


@dataclass(frozen=True)
class ByteImage(Packing):
    """Elements in the bytes of a register, the first in the most significant bits."""

    @property
    def word(self) -> Format:
        """A byte."""
        return U8

    def registers(self, elements: int) -> int:
        """Return how many bytes hold some elements."""
        return elements * self.format.bits // U8.bits

    def places(self, numbers: Array) -> dict[str, Array]:
        """Return the byte and the bit at which each of a register's elements begins, as the ISA counts."""
        bit = numbers * self.format.bits
        return {"byte": bit // U8.bits, "bit": bit}

    def unpack(self, alg: Algebra, words: Array) -> Array:
        """Split bytes into encodings."""
        return alg.unpack(words, self.format)

    def pack(self, alg: Algebra, elements: Array) -> Array:
        """Join encodings to bytes."""
        return alg.pack(elements, self.format)


def fragment(layout: Layout, fmt: Format) -> Fragment:
    """Return the matrix of a layout, held by registers (…, r, 16 bytes)."""
    return Fragment(layout.inverted, ByteImage(fmt, fmt.bits))


@cache
def x_fragment(family: Family) -> Fragment:
    """Return X (…, 4, k) in the VSRs of the operand."""
    return fragment(x_layout(family), family.x)


@cache
def y_fragment(family: Family) -> Fragment:
    """Return Y (…, n, k) in the VSR of the operand."""
    return fragment(y_layout(family), family.y)


@cache
def accumulator_fragment(fmt: Format) -> Fragment:
    """Return the accumulator (…, 4, n) in its four rows."""
    return fragment(accumulator_layout(fmt), fmt)
