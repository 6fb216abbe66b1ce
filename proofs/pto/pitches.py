"""Pitches: exactly when the matrix unit finds what the movers wrote, for every size.

The matrix unit derives pitches from m, k and n, movers take them from the tile. On a partly valid tile
the two need not be the same, and nothing reports it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from ...spec.algebra import Algebra, Array
from ...spec.formats import U64
from ...spec.pto.catalogue import OPERATIONS, ROLE_LOCATIONS, Operation, triples
from ...spec.pto.element_types import ELEMENT_TYPES, ElementType
from ...spec.pto.fractal import FractalLayout
from ...spec.pto.placement import Placement, mover_placement, operand_placement, unit_layout, unit_placement
from ...spec.pto.sizes import Extents, Sizes, operand_extents, rounded_up
from ...spec.pto.targets import A2A3, A5, CPU, Profile, alias
from ...spec.pto.tile import DYNAMIC, Compact
from ..obligation import (
    Case,
    Equation,
    Inputs,
    IntegerProperty,
    Property,
    Status,
    Theorem,
    Variable,
    holds,
    theorem,
)
from .layouts import at_most, below, number, of_extent, size, word

SOURCE = "pto-isa headers at 3186c381 (TMov, TExtract, TStore), issue 253; pypto issue 2470"

DERIVED = "unit-pitches=derived"

CONDITION = (
    "Zz, Zn: round(columns, IC) = Columns or rows ≤ IR; Nz, Nn: round(rows, IR) = Rows or columns ≤ IC, rows "
    "and columns being those of m, k, n"
)


@dataclass(frozen=True)
class UnitOperand:
    """An operand of the matrix unit.

    Attributes
    ----------
    operation, profile, role, element
        Which one, of what.
    """

    operation: Operation
    profile: Profile
    role: str
    element: ElementType

    @property
    def name(self) -> str:
        """The obligation's name."""
        gemv = "" if self.operation.name.startswith("tmatmul") else f"{self.operation}/"
        return f"{gemv}{self.profile}/{self.role}/{self.element}"

    @property
    def layout(self) -> FractalLayout:
        """The order that the matrix unit takes it in."""
        return unit_layout(self.operation, self.profile, self.role, self.element)

    def variables(self) -> tuple[Variable, ...]:
        """Return m, k, n, the tile's physical extent, and one element."""
        return tuple(map(size, ("m", "k", "n", "rows", "columns", "row", "column")))

    def sizes(self, alg: Algebra, v: Inputs) -> Sizes:
        """Return m, k and n; m is 1 in the GEMV mode."""
        m, k, n = (word(alg, v[name]) for name in ("m", "k", "n"))
        return Sizes(number(alg, 1) if self.layout.box == (1, 1) else m, k, n)

    def valid(self, sizes: Sizes) -> Extents:
        """Return how many rows and columns of it take part."""
        return operand_extents(*sizes)[self.role]

    def read(self, sizes: Sizes) -> Placement:
        """Return where the matrix unit looks for its elements."""
        return unit_placement(self.operation, self.profile, self.role, self.element, *sizes)

    def mover(self, alg: Algebra, v: Inputs) -> Placement:
        """Return where movers put them, in a tile that is not compact."""
        return of_extent(self.layout, *(word(alg, v[name]) for name in ("rows", "columns")))

    def element_at(self, alg: Algebra, v: Inputs, sizes: Sizes) -> tuple[Array, Array, Array]:
        """Return the row and the column of one element, and whether it takes part."""
        row, column = word(alg, v["row"]), word(alg, v["column"])
        rows, columns = self.valid(sizes)
        return row, column, below(alg, row, rows) & below(alg, column, columns)


def unit_operands() -> Iterator[UnitOperand]:
    """Yield the operands of every profile's matrix unit, one for each width of elements."""
    for profile in (A2A3, A5):
        operation = OPERATIONS["tmatmul"]
        factors: dict[int, ElementType] = {}
        for triple in triples(profile, operation):
            for element in triple.factors:
                factors.setdefault(element.bits, element)
        for role in "ab":
            for element in factors.values():
                yield UnitOperand(operation, profile, role, element)
        yield UnitOperand(operation, profile, "d", ELEMENT_TYPES["f32"])
        if profile.microscaling:
            for role in ("scale_a", "scale_b"):
                scaled = OPERATIONS["tmatmul.mx"]
                yield UnitOperand(scaled, profile, role, ELEMENT_TYPES["f8E8M0FNU"])


def along(layout: FractalLayout, extents: Extents) -> tuple[Array, Array]:
    """Return the extent that a pitch comes from, and the other."""
    rows, columns = extents
    return (columns, rows) if layout.by_rows else (rows, columns)


def blocks_along(layout: FractalLayout) -> tuple[int, int]:
    """Return the sides of a block in the order of `along`."""
    rows, columns = layout.box
    return (columns, rows) if layout.by_rows else (rows, columns)


def conditions(alg: Algebra, operand: UnitOperand, v: Inputs, sizes: Sizes) -> tuple[Array, Array]:
    """Return both parts of the pitch condition: the same pitch; one line of blocks, so that none is used."""
    used, lines = along(operand.layout, operand.valid(sizes))
    block, limit = blocks_along(operand.layout)
    physical, _ = along(operand.layout, Extents(word(alg, v["rows"]), word(alg, v["columns"])))
    return alg.same(rounded_up(used, block), physical), at_most(alg, lines, number(alg, limit))


exact = Theorem(
    "pto/pitch/exact",
    "the pitch condition is exactly when the matrix unit takes or makes the logical matrix",
    f"for every m, k, n and extent, COND being {CONDITION}: COND ⇒ offset(r, c, pitch of m, k, n) = "
    "offset(r, c, pitch of Rows, Columns) for every r, c that takes part; not COND ⇒ the first element of "
    "the second line of blocks takes part, and its two offsets differ: one of the two is where the layout "
    "has another element or none",
    SOURCE,
    lambda: (Case(operand.name, partial(_exact, operand), choices=DERIVED) for operand in unit_operands()),
)


def _exact(operand: UnitOperand) -> IntegerProperty:
    layout = operand.layout

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        sizes = operand.sizes(alg, v)
        same, one = conditions(alg, operand, v, sizes)
        row, column, inside = operand.element_at(alg, v, sizes)
        unit, mover = operand.read(sizes), operand.mover(alg, v)
        found, written = (placement.offset(row, column) for placement in (unit, mover))
        yield Equation(found, written, where=inside & (same | one), label="offset")

        used, lines = along(layout, operand.valid(sizes))
        _, second = blocks_along(layout)
        violated = ~(same | one) & below(alg, number(alg, 0), used)
        yield holds(alg, below(alg, number(alg, second), lines), "it takes part", violated)
        at = (number(alg, second), number(alg, 0))
        row, column = at if layout.by_rows else at[::-1]
        found, written = (placement.offset(row, column) for placement in (unit, mover))
        yield holds(alg, ~alg.same(found, written), "offsets differ", violated)

    return IntegerProperty(operand.variables(), claim)


compact = Theorem(
    "pto/pitch/compact",
    "movers of compact tiles and the matrix unit have the same pitches, for every m, k and n",
    "Compact = Normal, valid extent that of m, k, n ⇒ both have one layout and one pitch",
    SOURCE,
    lambda: (Case(operand.name, partial(_compact, operand), choices=DERIVED) for operand in unit_operands()),
)


def _compact(operand: UnitOperand) -> Property:
    extent, open_extent = (1024, 1024), (DYNAMIC, DYNAMIC)
    location = ROLE_LOCATIONS[operand.role]
    tile = alias(operand.profile, location, operand.element, extent, open_extent, Compact.NORMAL)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        sizes = operand.sizes(alg, v)
        row, column, inside = operand.element_at(alg, v, sizes)
        mover, unit = mover_placement(operand.profile, tile, operand.valid(sizes)), operand.read(sizes)
        yield Equation(unit.pitch, mover.pitch, U64, label="pitch")
        yield Equation(unit.offset(row, column), mover.offset(row, column), U64, inside, "offset")

    return Property(operand.variables(), claim, abstract=False)


not_compact = Theorem(
    "pto/pitch/not-compact",
    "a tile that is not compact is not always read correctly, whatever the other tiles are (pinned)",
    "m ≤ Rows, k ≤ Columns, … ⇒ the matrix unit and the movers have one offset for each element",
    SOURCE,
    lambda: (
        Case(operand.name, partial(_not_compact, operand), Status.REFUTED, choices=DERIVED)
        for operand in unit_operands()
    ),
)


def _not_compact(operand: UnitOperand) -> Property:
    layout = operand.layout

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        sizes = operand.sizes(alg, v)
        row, column, inside = operand.element_at(alg, v, sizes)
        for part, whole in zip(operand.valid(sizes), ("rows", "columns"), strict=True):
            inside = inside & at_most(alg, part, word(alg, v[whole]))
        found, written = (
            placement.offset(row, column) for placement in (operand.read(sizes), operand.mover(alg, v))
        )
        yield Equation(found, written, U64, inside, "offset")

    block_rows, block_columns = layout.box
    second = (block_rows, 0) if layout.by_rows else (0, block_columns)
    groups = 32 if operand.role.startswith("scale") else 1  # elements of K to a scale factor
    sizes = {"m": block_rows + 1, "n": block_columns + 1, "k": 0}
    sizes["k"] = (block_columns if operand.role.endswith("a") else block_rows) * groups + 1
    pinned = sizes | {"rows": 4 * block_rows, "columns": 4 * block_columns}
    pinned |= dict(zip(("row", "column"), second, strict=True))
    return Property(operand.variables(), claim, pinned=pinned, abstract=False)


@theorem(
    "pto/pitch/gemv",
    "the linear row of the GEMV mode has no pitch: it is read correctly whatever k and the columns are",
    "m = 1 ⇒ offset(0, c) = c = the mover's offset",
    SOURCE,
)
def gemv() -> Iterator[Case]:
    """Yield A of tgemv on both profiles; one row in fractals, as tmatmul needs, is another order (pinned)."""
    for profile in (A2A3, A5):
        row = UnitOperand(OPERATIONS["tgemv"], profile, "a", ELEMENT_TYPES["f16"])
        yield Case(row.name, partial(_linear_row, row))
        yield Case(
            f"fractal-row/{row.name}",
            partial(_fractal_row, row),
            Status.REFUTED,
            statement="tgemv finds the first row of a tile of 16 rows, as tmatmul takes it",
        )


def _linear_row(operand: UnitOperand) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        sizes = operand.sizes(alg, v)
        row, column, inside = operand.element_at(alg, v, sizes)
        unit, mover = operand.read(sizes), operand.mover(alg, v)
        found, written = (placement.offset(row, column) for placement in (unit, mover))
        yield Equation(found, written, U64, inside, "offset")

    return Property(operand.variables(), claim, abstract=False)


def _fractal_row(operand: UnitOperand) -> Property:
    fractals = UnitOperand(OPERATIONS["tmatmul"], operand.profile, "a", operand.element)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        sizes = operand.sizes(alg, v)
        _, column, _ = operand.element_at(alg, v, sizes)
        inside, row = below(alg, column, sizes.k), number(alg, 0)
        linear = operand.read(sizes).offset(row, column)
        in_fractals = fractals.read(Sizes(number(alg, 16), sizes.k, sizes.n)).offset(row, column)
        yield Equation(linear, in_fractals, U64, inside, "offset")

    pinned = {"m": 1, "k": 32, "n": 16, "column": 16}
    return Property(operand.variables(), claim, pinned=pinned, abstract=False)


simulator = Theorem(
    "pto/pitch/simulator",
    "the simulator takes every pitch from the tile: partly valid tiles that fail on the NPU pass there",
    "executor and movers have one placement, whatever m, k and n are",
    SOURCE,
    lambda: (
        Case(role, partial(_simulator, OPERATIONS["tmatmul"], role, ELEMENT_TYPES[element]))
        for role, element in (("a", "f16"), ("b", "f16"), ("d", "f32"))
    ),
)


def _simulator(operation: Operation, role: str, element: ElementType) -> Property:
    tile = alias(CPU, ROLE_LOCATIONS[role], element, (64, 96), (DYNAMIC, DYNAMIC))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        sizes = Sizes(*(word(alg, v[name]) for name in ("m", "k", "n")))
        row, column = word(alg, v["row"]), word(alg, v["column"])
        executor = operand_placement(operation, CPU, role, tile, sizes)
        mover = mover_placement(CPU, tile, operand_extents(*sizes)[role])
        yield Equation(executor.offset(row, column), mover.offset(row, column), U64, label="offset")

    return Property(tuple(map(size, ("m", "k", "n", "row", "column"))), claim, abstract=False)


THEOREMS = (exact, compact, not_compact, gemv, simulator)
