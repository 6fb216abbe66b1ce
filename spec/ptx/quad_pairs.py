"""The fragments of ``mma.m8n8k4`` on f16: four 8x8x4 products, each held by a pair of quads.

Computation q belongs to lanes 4q to 4q + 3 and 16 + 4q to 16 + 4q + 3. Source: PTX ISA 9.1 section
9.7.14.5.1 (matrix fragments for mma.m8n8k4 with .f16 floating point type).
"""

from __future__ import annotations

from types import MappingProxyType

from ..formats import F32, Format
from ..layout import Axis, Layout
from ..rearrangement import rearranged
from .fragments import LANE

COMPUTATIONS = 4
"""Independent products of one instruction."""

_MULTIPLICANDS = MappingProxyType(
    {
        # Lines are contiguous, and a lane holds a whole one,
        ("a", "row"): "second pair lane i -> pair second lane i",
        ("b", "col"): "second pair lane i -> pair i second lane",
        # or they are not, and it holds half of a line of the other direction.
        ("a", "col"): "second pair lane i -> pair second i lane",
        ("b", "row"): "second pair lane i -> pair lane second i",
    }
)
"""The bits of (lane, i) and where they are in (computation, row, column); `second` tells a pair's quads."""

_SPREAD = "second pair column row last middle first -> pair second middle row last column first"


def multiplicand_layout(operand: str, layout: str) -> Layout:
    """Return the layout of A (8x4) or B (4x8) of every computation.

    Parameters
    ----------
    operand : str
        ``a`` or ``b``.
    layout : str
        ``row`` or ``col``.
    """
    rows, columns = (8, 4) if operand == "a" else (4, 8)
    extents = {"second": 2, "pair": COMPUTATIONS, "lane": 4, "i": 4}
    return _layout(f"{operand} .{layout}", rows, columns, _MULTIPLICANDS[operand, layout], extents)


def accumulator_layout(fmt: Format) -> Layout:
    """Return the layout of C or D (8x8) of every computation; it depends on the element type."""
    if fmt == F32:
        bits = dict.fromkeys(("second", "column", "row", "last", "middle", "first"), 2)
        return _layout("accumulator of f32", 8, 8, _SPREAD, {"pair": COMPUTATIONS, **bits})
    extents = {"second": 2, "pair": COMPUTATIONS, "lane": 4, "i": 8}
    return _layout("accumulator of f16", 8, 8, _MULTIPLICANDS["a", "row"], extents)


def _layout(name: str, rows: int, columns: int, order: str, extents: dict[str, int]) -> Layout:
    return rearranged(
        f"m8n8k4 f16 {name}",
        (LANE, Axis("i", extents.get("i", 8))),
        (Axis("computation", COMPUTATIONS), Axis("row", rows), Axis("column", columns)),
        order,
        **extents,
    )
