"""Which cell of tensor memory holds which element of D, A, scale factors and metadata of ``tcgen05.mma``.

Lanes of two CTAs are counted together, 128 for each; columns count from the operand's address. What is held
more than once, or in one of several places that a field names, has a leading coordinate that says which.
Source: CuTe's traits of tensor memory and UMMA; the names of the layouts of D are those of PTX ISA 9.1
section 9.7.16, whose figures were not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ...errors import UnsupportedError
from ...formats import U4, FloatFormat, Format, as_float, format_named
from ...fragment import Fragment, Packing
from ...layout import Axis
from ...rearrangement import rearranged
from ..fragments import packing
from .instruction_descriptor import InstructionDescriptor
from .kinds import CTA_LANES
from .product_form import ProductForm

CELL_BITS = 32
"""Bits of a cell."""

PARTITION = 32
"""Lanes that one warp of four reaches."""


@dataclass(frozen=True)
class TensorMemoryLayouts:
    """Where a product's operands are.

    Attributes
    ----------
    form : ProductForm
        The instruction.
    fields : InstructionDescriptor
        What its descriptor says.
    """

    form: ProductForm
    fields: InstructionDescriptor

    @property
    def name(self) -> str:
        """The letter that the manual gives the layout of D."""
        m, ctas = self.fields.m, self.form.ctas
        if ctas == 2:
            return "A" if m == 256 else "C" if self.form.sparse else "B"
        if m == 128:
            return "D"
        return {64: "E" if self.form.ws else "F", 32: "G"}[m]

    @property
    def is_of_half_lanes(self) -> bool:
        """Whether D fills 16 lanes of each 32, and its address says which."""
        return self.name in ("C", "F")

    @property
    def rows(self) -> int:
        """Rows of D of one CTA."""
        return self.fields.m // self.form.ctas

    def _cells(self, title: str, elements: int) -> tuple[str, tuple[Axis, Axis]]:
        lanes = Axis("lane", CTA_LANES * self.form.ctas)
        return f"{title}, layout {self.name}", (lanes, Axis("i", elements))

    @cached_property
    def d(self) -> Fragment:
        """(lane, column) ↔ (row, column) of D; of layouts C and F (upper, row, column)."""
        n, m = self.fields.n, self.fields.m
        parts = {"A": 1, "B": 2, "C": 1, "D": 1, "E": 2, "F": 1, "G": 4}[self.name]
        title, cells = self._cells("d", n // parts)
        matrix = (Axis("row", m), Axis("column", n))
        if self.is_of_half_lanes:
            layout = rearranged(
                title, cells, (Axis("upper", 2), *matrix),
                "cta quarter upper low column -> upper cta quarter low column",
                cta=self.form.ctas, quarter=4, upper=2, low=16, column=n,
            )  # fmt: skip
        else:
            layout = rearranged(
                title, cells, matrix, "cta part low column -> cta low part column",
                cta=self.form.ctas, part=parts, low=CTA_LANES // parts, column=n // parts,
            )  # fmt: skip
        return Fragment(layout, Packing(format_named(self.fields.d), CELL_BITS))

    @cached_property
    def a(self) -> Fragment:
        """(lane, i) ↔ (row, k) of the stored A in tensor memory, as `d`; of layout B (copy, row, k).

        Raises
        ------
        UnsupportedError
            If no source says where it is: of ``.ws`` with less than 128 rows, and of sparse A in layout C.
        """
        kind, fmt = self.form.kind, format_named(self.fields.named("a"))
        if self.name in ("E", "G", "C"):
            raise UnsupportedError(
                f"no source says where A in tensor memory is of {self.form.mnemonic} with M = {self.fields.m}"
            )
        stored = kind.k()
        held = _packing(fmt, kind.container)
        title, cells = self._cells("a", stored)
        matrix = (Axis("row", self.fields.m), Axis("k", stored))
        if self.name == "F":
            layout = rearranged(
                title, cells, (Axis("upper", 2), *matrix), "quarter upper low k -> upper quarter low k",
                quarter=4, upper=2, low=16, k=stored,
            )  # fmt: skip
        elif self.name == "B":
            layout = rearranged(
                title, cells, (Axis("copy", 2), *matrix), "cta copy low k -> copy cta low k",
                cta=2, copy=2, low=64, k=stored,
            )  # fmt: skip
        else:
            layout = rearranged(title, cells, matrix, "row k -> row k", row=self.fields.m, k=stored)
        return Fragment(layout, held)

    # -- scale factors
    @property
    def scale(self) -> FloatFormat:
        """Type of the scale factors."""
        return as_float(format_named(self.fields.named("scale")))

    def factors(self, role: str) -> Fragment:
        """Return (lane, byte) ↔ (copy, vector, line, chunk) of the scale factors of ``a`` or ``b``.

        A vector are the bytes that one instruction takes; the descriptor's id, divided by their number, says
        which. Lines are the rows of A, or the columns of B, up to a multiple of 32.

        Raises
        ------
        UnsupportedError
            If no source says where they are: of two CTAs with 64 rows each, and N other than 128 or 256.
        """
        ctas, size, n = self.form.ctas, self.form.vector, self.fields.n
        if role == "a":
            high, lines, copies = self.rows // PARTITION, self.fields.m, 4
            order, digits = "cta copy low -> copy vector cta", {"cta": ctas, "copy": 4}
        elif self.name == "B":
            if n not in (128, 256):
                raise UnsupportedError(
                    f"no source says where scale factors of B are for M = 128, N = {n} of two CTAs"
                )
            high, lines, copies = n // 2 // PARTITION, n, 4
            order, digits = "cta part copy low -> cta copy vector part", {"cta": 2, "part": 2, "copy": 2}
        else:
            high = -(-n // PARTITION)
            lines, copies = high * PARTITION, 4 * ctas
            order, digits = "copy low -> copy vector", {"copy": copies}
        order = order.replace("->", "high vector chunk ->") + " high low chunk"
        digits |= {"low": PARTITION, "high": high, "vector": 4 // size, "chunk": size}
        title, cells = self._cells(f"scale_{role}", 4 * high)
        target = (
            Axis("copy", copies),
            Axis("vector", 4 // size),
            Axis("row" if role == "a" else "column", lines),
            Axis("chunk", size),
        )
        return Fragment(rearranged(title, cells, target, order, **digits), Packing(self.scale, 8))

    # -- metadata
    @cached_property
    def metadata(self) -> Fragment:
        """(lane, nibble) ↔ (copy, row, chunk) of metadata; of 16 and 32 bits (copy, selector, row, chunk).

        Raises
        ------
        UnsupportedError
            If no source says where they are: of 64 rows in a CTA, but for ``.ws``.
        """
        rows, ctas = self.rows, self.form.ctas
        if rows < CTA_LANES and not self.form.ws:
            raise UnsupportedError(
                f"no source says where the metadata are of {self.form.mnemonic} with M = {self.fields.m}"
            )
        copies, matrix = Axis("copy", CTA_LANES // rows), Axis("row", self.fields.m)
        title, cells = self._cells("metadata", 16)
        if self.form.kind.container >= 16:
            layout = rearranged(
                title, cells, (copies, Axis("selector", 2), matrix, Axis("chunk", 8)),
                "cta copy high outer low selector mid inner -> copy selector cta high mid low outer inner",
                cta=ctas, copy=copies.extent, high=rows // 16, outer=2, low=8, selector=2, mid=2, inner=4,
            )  # fmt: skip
        else:
            layout = rearranged(
                title, cells, (copies, matrix, Axis("chunk", 16)), "cta copy row chunk -> copy cta row chunk",
                cta=ctas, copy=copies.extent, row=rows, chunk=16,
            )  # fmt: skip
        return Fragment(layout, Packing(U4, 4))


def _packing(fmt: Format, container: int) -> Packing:
    """Return how elements of A lie in cells.

    Raises
    ------
    UnsupportedError
        Of 6-bit elements, of which documents name different bits.
    """
    if fmt.bits == 6:
        raise UnsupportedError(f"{fmt} in tensor memory: documents disagree on which bits of a byte it has")
    return packing(fmt, container)
