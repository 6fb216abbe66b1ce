"""The manual's own formulas of the fragments of ``mma`` and ``mma.sp``, shape by shape, as it prints them.

Each is piecewise in the element number i (on f16 ``m8n8k4``: in the lane). Source: PTX ISA 9.1 sections
9.7.14.5.1 to 9.7.14.5.13 and 9.7.14.6.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...spec.ptx.variant import Shape

Expression = Callable[[Any, Any, Any], Any]
"""Maps groupID = %laneid >> 2, threadID_in_group = %laneid % 4 and i to a row or a column."""


@dataclass(frozen=True)
class Piecewise:
    """A formula of up to two pieces.

    Attributes
    ----------
    value : callable
        The first piece.
    otherwise : callable, optional
        The second.
    elements : tuple of range
        The values of i that the first piece is for.
    groups : tuple of range
        Instead, the groups that it is for.
    """

    value: Expression
    otherwise: Expression | None = None
    elements: tuple[range, ...] = ()
    groups: tuple[range, ...] = ()


@dataclass(frozen=True)
class ManualFragment:
    """What the manual says of one operand.

    Attributes
    ----------
    section : str
        Where.
    shape : Shape
        The instruction's shape.
    container : int
        Bits of an element.
    operand : str
        ``a``, ``b``, or ``c`` for C and D.
    row, column : Piecewise
        The formulas.
    """

    section: str
    shape: Shape
    container: int
    operand: str
    row: Piecewise
    column: Piecewise


@dataclass(frozen=True)
class SparseWindow:
    """What the manual says of a sparse A: logical columns firstcol to lastcol that an element is from.

    Attributes
    ----------
    shape : Shape
        The instruction's shape.
    container : int
        Bits of an element.
    row : Piecewise
        Its row.
    first : Piecewise
        firstcol.
    width : int
        lastcol - firstcol + 1.
    """

    shape: Shape
    container: int
    row: Piecewise
    first: Piecewise
    width: int


GROUP = Piecewise(lambda g, t, i: g)
THREAD = Piecewise(lambda g, t, i: t)


def _lower_group(*elements: range) -> Piecewise:
    """Return "groupID for these elements, groupID + 8 otherwise"."""
    return Piecewise(lambda g, t, i: g, lambda g, t, i: g + 8, elements)


def _for(count: int, value: Expression, otherwise: Expression) -> Piecewise:
    """Return a piece for i < count and another for the rest."""
    return Piecewise(value, otherwise, (range(count),))


_A_AND_B: tuple[tuple[str, str, int, Piecewise, Piecewise, Piecewise], ...] = (
    ("2", "m8n8k4", 64, GROUP, THREAD, THREAD),
    ("3", "m8n8k16", 8, GROUP, Piecewise(lambda g, t, i: t * 4 + i), Piecewise(lambda g, t, i: t * 4 + i)),
    ("4", "m8n8k32", 4, GROUP, Piecewise(lambda g, t, i: t * 8 + i), Piecewise(lambda g, t, i: t * 8 + i)),
    ("5", "m8n8k128", 1, GROUP, Piecewise(lambda g, t, i: t * 32 + i), Piecewise(lambda g, t, i: t * 32 + i)),
    ("6", "m16n8k4", 32, _lower_group(range(0, 1)), THREAD, THREAD),
    ("6", "m16n8k4", 64, _lower_group(range(0, 1)), THREAD, THREAD),
    (
        "7", "m16n8k8", 16, _lower_group(range(0, 2)),
        Piecewise(lambda g, t, i: t * 2 + (i & 1)), Piecewise(lambda g, t, i: t * 2 + i),
    ),
    (
        "7", "m16n8k8", 32, _lower_group(range(0, 1), range(2, 3)),
        _for(2, lambda g, t, i: t, lambda g, t, i: t + 4),
        _for(1, lambda g, t, i: t, lambda g, t, i: t + 4),
    ),
    (
        "7", "m16n8k8", 64, _lower_group(range(0, 1), range(2, 3)),
        _for(2, lambda g, t, i: t, lambda g, t, i: t + 4),
        _for(1, lambda g, t, i: t, lambda g, t, i: t + 4),
    ),
    (
        "8", "m16n8k16", 16, _lower_group(range(0, 2), range(4, 6)),
        _for(4, lambda g, t, i: t * 2 + (i & 1), lambda g, t, i: t * 2 + (i & 1) + 8),
        _for(2, lambda g, t, i: t * 2 + (i & 1), lambda g, t, i: t * 2 + (i & 1) + 8),
    ),
    (
        "8", "m16n8k16", 64, _lower_group(*(range(even, even + 1) for even in range(0, 8, 2))),
        Piecewise(
            lambda g, t, i: i * 2 + t,
            lambda g, t, i: i * 2 - 2 + t,
            tuple(range(even, even + 1) for even in range(0, 8, 2)),
        ),
        Piecewise(lambda g, t, i: t + i * 4),
    ),
    (
        "9", "m16n8k16", 8, _lower_group(range(0, 4)),
        Piecewise(lambda g, t, i: t * 4 + (i & 3)), Piecewise(lambda g, t, i: t * 4 + i),
    ),
    (
        "10", "m16n8k32", 4, _lower_group(range(0, 8)),
        Piecewise(lambda g, t, i: t * 8 + (i & 7)), Piecewise(lambda g, t, i: t * 8 + i),
    ),
    (
        "10", "m16n8k32", 8, _lower_group(range(0, 4), range(8, 12)),
        _for(8, lambda g, t, i: t * 4 + (i & 3), lambda g, t, i: t * 4 + (i & 3) + 16),
        _for(4, lambda g, t, i: t * 4 + (i & 3), lambda g, t, i: t * 4 + (i & 3) + 16),
    ),
    (
        "11", "m16n8k64", 4, _lower_group(range(0, 8), range(16, 24)),
        _for(16, lambda g, t, i: t * 8 + (i & 7), lambda g, t, i: t * 8 + (i & 7) + 32),
        _for(8, lambda g, t, i: t * 8 + (i & 7), lambda g, t, i: t * 8 + (i & 7) + 32),
    ),
    (
        "12", "m16n8k128", 1, _lower_group(range(0, 32)),
        Piecewise(lambda g, t, i: t * 32 + (i & 0x1F)), Piecewise(lambda g, t, i: t * 32 + i),
    ),
    (
        "13", "m16n8k256", 1, _lower_group(range(0, 32), range(64, 96)),
        _for(64, lambda g, t, i: t * 32 + (i & 0x1F), lambda g, t, i: t * 32 + (i & 0x1F) + 128),
        _for(32, lambda g, t, i: t * 32 + (i & 0x1F), lambda g, t, i: t * 32 + (i & 0x1F) + 128),
    ),
)  # fmt: skip
"""Section, shape, container, row and column of A, row of B; the column of B is groupID."""

_COLUMN_OF_C = Piecewise(lambda g, t, i: t * 2 + (i & 1))


def _multiplicand_fragments() -> list[ManualFragment]:
    found = []
    for section, name, container, a_row, a_column, b_row in _A_AND_B:
        place, shape = f"9.7.14.5.{section}", Shape.parse(name)
        found.append(ManualFragment(place, shape, container, "a", a_row, a_column))
        found.append(ManualFragment(place, shape, container, "b", b_row, GROUP))
    return found


MULTIPLICANDS = tuple(_multiplicand_fragments())
"""A and B of every dense shape but the f16 ``m8n8k4``; m16n8k256 without its misprint."""

ACCUMULATORS = {8: (GROUP, _COLUMN_OF_C), 16: (_lower_group(range(0, 2)), _COLUMN_OF_C)}
"""Row and column of C and D by the number of rows; the sections of all shapes print the same."""

PRINTED_SINGLE_BIT_A = ManualFragment(
    "9.7.14.5.13",
    Shape(16, 8, 256),
    1,
    "a",
    _lower_group(range(0, 32), range(64, 96)),
    _for(64, lambda g, t, i: t * 32 + i, lambda g, t, i: t * 32 + (i & 0x1F) + 128),
)
"""A of m16n8k256 as it is printed: for i < 64 the column lacks the mask ``& 0x1F``."""


def _upper_lanes(value: Expression, shifted: Expression) -> Piecewise:
    """Return a piece for %laneid < 16 and another for the rest."""
    return Piecewise(value, shifted, groups=(range(0, 4),))


_LINE = _upper_lanes(lambda g, t, i: t, lambda g, t, i: t + 4)
_ELEMENT = Piecewise(lambda g, t, i: i)
_SHIFTED_ELEMENT = _upper_lanes(lambda g, t, i: i, lambda g, t, i: i + 4)

QUAD_PAIRS = {
    ("a", "row"): (_LINE, _ELEMENT),
    ("a", "col"): (_SHIFTED_ELEMENT, THREAD),
    ("b", "row"): (THREAD, _SHIFTED_ELEMENT),
    ("b", "col"): (_ELEMENT, _LINE),
    ("c", "f16"): (_LINE, _ELEMENT),
    ("c", "f32"): (
        _upper_lanes(lambda g, t, i: (t & 1) + (i & 2), lambda g, t, i: (t & 1) + (i & 2) + 4),
        Piecewise(lambda g, t, i: (i & 4) + (t & 2) + (i & 1)),
    ),
}
"""Row and column of the operands of the f16 ``m8n8k4``, section 9.7.14.5.1, by layout or type."""

SPARSE_A = tuple(
    SparseWindow(Shape.parse(shape), container, row, first, width)
    for shape, container, row, first, width in (
        ("m16n8k8", 32, _lower_group(range(0, 1)), Piecewise(lambda g, t, i: t * 2), 2),
        (
            "m16n8k16", 32, _lower_group(range(0, 1), range(2, 3)),
            _for(2, lambda g, t, i: t * 2, lambda g, t, i: t * 2 + 8), 2,
        ),
        ("m16n8k16", 16, _lower_group(range(0, 2)), Piecewise(lambda g, t, i: t * 4), 4),
        (
            "m16n8k32", 16, _lower_group(range(0, 2), range(4, 6)),
            _for(4, lambda g, t, i: t * 4, lambda g, t, i: t * 4 + 16), 4,
        ),
        ("m16n8k32", 8, _lower_group(range(0, 4)), Piecewise(lambda g, t, i: t * 8), 8),
        (
            "m16n8k64", 8, _lower_group(range(0, 4), range(8, 12)),
            _for(8, lambda g, t, i: t * 8, lambda g, t, i: t * 8 + 32), 8,
        ),
        ("m16n8k64", 4, _lower_group(range(0, 8)), Piecewise(lambda g, t, i: t * 16), 16),
        (
            "m16n8k128", 4, _lower_group(range(0, 8), range(16, 24)),
            _for(16, lambda g, t, i: t * 16, lambda g, t, i: t * 16 + 64), 16,
        ),
    )
)  # fmt: skip
"""A of every shape and width of ``mma.sp``."""
