"""The fragments of ``mma.m8n8k4`` on f16: four 8x8x4 products, each held by a pair of quads.

Computation q belongs to lanes 4q to 4q + 3 and 16 + 4q to 16 + 4q + 3. Source: PTX ISA 9.1 section
9.7.14.5.1 (matrix fragments for mma.m8n8k4 with .f16 floating point type).
"""

from __future__ import annotations

from typing import Any

from ..formats import F32, Format
from ..layout import Axis, Layout, Map
from .fragments import LANE

COMPUTATIONS = 4
"""Independent products of one instruction."""

_COMPUTATION = "(lane & 15) >> 2"


def _upper(lane: Any) -> Any:
    """Return 4 for the second quad of a pair: it holds lines 4 to 7."""
    return (lane >> 4) << 2


def _lane(computation: Any, line: Any) -> Any:
    """Return the lane that holds a line: the inverse of ``(lane & 3) + upper``."""
    return ((line >> 2) << 4) + (computation << 2) + (line & 3)


def multiplicand_layout(operand: str, layout: str) -> Layout:
    """Return the layout of A (8x4) or B (4x8) of every computation.

    Parameters
    ----------
    operand : str
        ``a`` or ``b``.
    layout : str
        ``row`` or ``col``. A lane holds a whole line of the 8 rows of A or columns of B where the line
        is contiguous (A row, B col), else half of a line of the other direction.
    """
    rows, columns = (8, 4) if operand == "a" else (4, 8)
    by_row = operand == "a"

    def line(lane: Any, i: Any) -> tuple[Any, Any]:
        return (lane & 3) + _upper(lane), i

    def half(lane: Any, i: Any) -> tuple[Any, Any]:
        return i + _upper(lane), lane & 3

    whole_lines = (layout == "row") == by_row
    held = line if whole_lines else half

    def forward(lane: Any, i: Any) -> tuple[Any, Any, Any]:
        along, across = held(lane, i)
        return ((lane & 15) >> 2, along, across) if by_row else ((lane & 15) >> 2, across, along)

    def inverse(computation: Any, row: Any, column: Any) -> tuple[Any, Any]:
        along, across = (row, column) if by_row else (column, row)
        if whole_lines:
            return _lane(computation, along), across
        return ((along >> 2) << 4) + (computation << 2) + across, along & 3

    names = ("row", "column") if by_row else ("column", "row")
    coordinates = ("(lane & 3) + 4·(lane >> 4)", "i") if whole_lines else ("i + 4·(lane >> 4)", "lane & 3")
    of = dict(zip(names, coordinates, strict=True))
    return _layout(f"{operand} .{layout}", 4, rows, columns, forward, inverse, of["row"], of["column"])


def accumulator_layout(fmt: Format) -> Layout:
    """Return the layout of C or D (8x8) of every computation; it depends on the element type."""
    if fmt == F32:
        return _layout(
            "accumulator of f32", 8, 8, 8, _spread, _gathered,
            "(lane & 1) + (i & 2) + 4·(lane >> 4)", "(i & 4) + (lane & 2) + (i & 1)",
        )  # fmt: skip
    return _layout(
        "accumulator of f16",
        8,
        8,
        8,
        lambda lane, i: ((lane & 15) >> 2, (lane & 3) + _upper(lane), i),
        lambda computation, row, column: (_lane(computation, row), column),
        "(lane & 3) + 4·(lane >> 4)",
        "i",
    )


def _spread(lane: Any, i: Any) -> tuple[Any, Any, Any]:
    return (lane & 15) >> 2, (lane & 1) + (i & 2) + _upper(lane), (i & 4) + (lane & 2) + (i & 1)


def _gathered(computation: Any, row: Any, column: Any) -> tuple[Any, Any]:
    lane = ((row >> 2) << 4) + (computation << 2) + (column & 2) + (row & 1)
    return lane, (column & 4) + (row & 2) + (column & 1)


def _layout(
    name: str, elements: int, rows: int, columns: int, forward: Map, inverse: Map, row: str, column: str
) -> Layout:
    return Layout(
        f"m8n8k4 f16 {name}",
        (LANE, Axis("i", elements)),
        (Axis("computation", COMPUTATIONS), Axis("row", rows), Axis("column", columns)),
        forward,
        inverse,
        f"computation = {_COMPUTATION}; row = {row}; column = {column}",
    )
