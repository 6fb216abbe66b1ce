"""The forms of ``ldmatrix``, ``stmatrix`` and ``movmatrix``, as a table.

Source: PTX ISA 9.1 sections 9.7.14.5.15 to 9.7.14.5.17; every row was checked against ptxas of CUDA 13.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import product

from .forms import Allowed, CatalogueRow
from .mma_forms import REGISTER_BITS, since
from .targets import Availability
from .variant import WARP_LANES, Family, Shape, Variant

ROW_BYTES = 16
"""Bytes of a matrix row in shared memory, and its alignment."""

MOVE_SPACES = (None, "shared", "shared::cta")
"""State spaces of the memory operand; None is a generic address into shared memory."""


class Transposition(Enum):
    """Whether ``.trans`` is written."""

    OPTIONAL = "optional"
    MANDATORY = "mandatory"
    FORBIDDEN = "forbidden"

    @property
    def allowed(self) -> tuple[bool, ...]:
        """What may be written."""
        match self:
            case Transposition.OPTIONAL:
                return (False, True)
            case Transposition.MANDATORY:
                return (True,)
            case Transposition.FORBIDDEN:
                return (False,)


@dataclass(frozen=True)
class MatrixMoveForm(CatalogueRow):
    """One row of the tables of the matrix moves.

    Attributes
    ----------
    family : Family
        `Family.LDMATRIX`, `Family.STMATRIX` or `Family.MOVMATRIX`.
    shape : Shape
        Shape of one matrix.
    types : tuple of str
        Element type; where the load expands, the expanded and the stored type.
    counts : tuple of str
        Allowed numbers of matrices; none for ``movmatrix``.
    transposition : Transposition
        Whether ``.trans`` is written.
    available : Availability
        Targets and PTX versions that have it.
    source : str
        Where it is stated.
    """

    family: Family
    shape: Shape
    types: tuple[str, ...]
    counts: tuple[str, ...]
    transposition: Transposition
    available: Availability
    source: str

    @property
    def element_bits(self) -> int:
        """Bits of one element in a register."""
        return int(self.types[0][1:].partition("x")[0])

    @property
    def registers_per_matrix(self) -> int:
        """32-bit registers of a thread that hold one matrix."""
        return self.shape.m * self.shape.n * self.element_bits // (REGISTER_BITS * WARP_LANES)

    def matrices(self, count: str | None) -> int:
        """Return how many matrices ``x1``, ``x2`` or ``x4`` moves; ``movmatrix`` moves one."""
        return int(count[1:]) if count else 1

    def registers(self, count: str | None) -> int:
        """Return the length of the register vector."""
        return self.matrices(count) * self.registers_per_matrix

    @property
    def families(self) -> tuple[Family, ...]:
        """The one instruction."""
        return (self.family,)

    @property
    def spaces(self) -> tuple[str | None, ...]:
        """State spaces of the memory operand."""
        return (None,) if self.family is Family.MOVMATRIX else MOVE_SPACES

    @cached_property
    def _allowed(self) -> Allowed:
        return {
            "shape": (self.shape,),
            "element-type": (self.types,),
            "layout": ((),),
            "transposition": tuple(".trans" if trans else None for trans in self.transposition.allowed),
            "count": self.counts or (None,),
            "state-space": self.spaces,
        }

    def allowed(self, variant: Variant) -> Allowed:
        """Return what every variant of the row may spell."""
        return self._allowed

    def variants(self) -> Iterator[Variant]:
        """Yield every variant of the row."""
        for count, trans, space in product(self.counts or (None,), self.transposition.allowed, self.spaces):
            yield Variant(self.family, self.shape, self.types, count=count, trans=trans, space=space)


NARROW_MOVE_TARGETS = frozenset(
    f"sm_{number}{suffix}" for number in (100, 101, 103, 110, 120, 121) for suffix in "af"
)
"""Targets of the moves of 8-, 6- and 4-bit elements."""

_X4 = ("x1", "x2", "x4")
_NARROW = Availability((8, 6), exactly=NARROW_MOVE_TARGETS)
_LOAD, _STORE, _MOVE = (f"PTX ISA 9.7.14.5.{section}; ptxas" for section in (15, 16, 17))

MATRIX_MOVE_FORMS: tuple[MatrixMoveForm, ...] = (
    MatrixMoveForm(
        Family.LDMATRIX, Shape(8, 8), ("b16",), _X4, Transposition.OPTIONAL, since((6, 5), 75), _LOAD
    ),
    MatrixMoveForm(
        Family.LDMATRIX, Shape(16, 16), ("b8",), _X4[:2], Transposition.MANDATORY, _NARROW, _LOAD
    ),
    *(
        MatrixMoveForm(Family.LDMATRIX, shape, ("b8x16", stored), counts, transposition, _NARROW, _LOAD)
        for shape, counts, transposition in (
            (Shape(16, 16), _X4[:2], Transposition.MANDATORY),
            (Shape(8, 16), _X4, Transposition.FORBIDDEN),
        )
        for stored in ("b6x16_p32", "b4x16_p64")
    ),
    MatrixMoveForm(
        Family.STMATRIX, Shape(8, 8), ("b16",), _X4, Transposition.OPTIONAL, since((7, 8), 90), _STORE
    ),
    MatrixMoveForm(Family.STMATRIX, Shape(16, 8), ("b8",), _X4, Transposition.MANDATORY, _NARROW, _STORE),
    MatrixMoveForm(
        Family.MOVMATRIX, Shape(8, 8), ("b16",), (), Transposition.MANDATORY, since((7, 8), 75), _MOVE
    ),
)  # fmt: skip
"""Every row of the matrix moves."""
