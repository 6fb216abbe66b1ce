"""Layouts of MFMA: bijections, the printed table of bits, modifiers, and the notations of other tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import product
from types import MappingProxyType
from typing import Any

from ...spec.algebra import Algebra
from ...spec.mfma.catalogue import LANES, ROWS, MatrixMultiply, on
from ...spec.mfma.choices import Choices
from ...spec.mfma.layouts import fragment, layout
from ...spec.mfma.product import Modifiers, lanes_of_a
from ...spec.mfma.targets import TARGETS, Target
from ..enumeration import enumerated
from ..families.foreign_layouts import foreign_layouts
from ..families.layouts import COORDINATE, bijections, held_in, readings
from ..obligation import (
    Case,
    Certificate,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Theorem,
    Variable,
    theorem,
)

SOURCE = "AMD matrix instruction calculator 1.3.2; CDNA4 ISA chapter 7"

LANE = Variable("lane", COORDINATE, (1,))
"""A lane: the variable modulo their number."""

PRINTED: Mapping[tuple[str, int, bool], tuple[str, str, str, str, str]] = MappingProxyType(
    {
        ("32x32", 2, False): ("l4 l3 l2 l1 l0", "l5", "", "e3 e2 l5 e1 e0", "e4"),
        ("32x32", 1, False): ("l4 l3 l2 l1 l0", "", "l5", "e3 e2 l5 e1 e0", ""),
        ("16x16", 4, False): ("l3 l2 l1 l0", "l5 l4", "", "l5 l4 e1 e0", "e3 e2"),
        ("16x16", 1, False): ("l3 l2 l1 l0", "", "l5 l4", "l5 l4 e1 e0", ""),
        ("4x4", 16, False): ("l1 l0", "l5 l4 l3 l2", "", "e1 e0", "l5 l4 l3 l2"),
        ("16x16", 1, True): ("l3 l2 l1 l0", "", "l5 l4", "e1 e0 l5 l4", ""),
        ("4x4", 4, True): ("l1 l0", "l3 l2", "l5 l4", "l5 l4", "l3 l2"),
    }
)
"""By MxN, blocks and whether it is f64: bits, high to low, of A's row (B's column, and the column of C),
A's block, A's k before the element's number, C's row and C's block."""


@cache
def shapes() -> dict[str, MatrixMultiply]:
    """Return an instruction for each shape, blocks and elements in a lane; the layouts depend on no more."""
    found: dict[str, MatrixMultiply] = {}
    for row in ROWS:
        found.setdefault(shape_name(row), row)
    return found


def shape_name(row: MatrixMultiply) -> str:
    """Return how obligations name what a layout depends on."""
    return f"{row.shape}-{row.blocks}b/{'f64' if row.is_double else 'narrow'}"


def fragment_name(row: MatrixMultiply, operand: str, target: Target) -> str:
    """Return how obligations name an operand of a shape and the elements that it has on a target."""
    return f"{row.shape}-{row.blocks}b/{target.format(row.types[operand])}/{operand}"


bijection = Theorem(
    "mfma/layout/bijection",
    "elements of the blocks and elements of the wavefront's registers correspond one to one",
    "(lane, i) ↦ (block, row, column) is a bijection, with an explicit inverse",
    SOURCE,
    lambda: bijections({f"{name}/{o}": layout(row, o) for name, row in shapes().items() for o in "abc"}),
)


@theorem(
    "mfma/layout/executed",
    "registers are read and written where the layout says, and no bit is left over",
    "gather(R)[block, row, column] is the field that the layout names; scatter(gather(R)) = R",
    SOURCE,
)
def executed() -> Iterator[Case]:
    """Yield one obligation per distinct fragment: shape, operand and element type on each target."""
    found = {
        fragment_name(row, operand, target): (row, operand, target)
        for target in TARGETS.values()
        for row in on(target)
        for operand in "abc"
    }
    return readings({name: held_in(fragment(*each)) for name, each in found.items()})


@theorem(
    "mfma/layout/printed",
    "the formula of all layouts is the table of bits for each shape",
    "for every lane and i: (block, row, column) of the table's bits = (block, row, column) of the layout",
    SOURCE,
)
def printed() -> Iterator[Case]:
    """Yield every shape and operand, and the manual's formula for C of f64_4x4x4 (pinned)."""
    for (name, row), operand in product(shapes().items(), "abc"):
        yield Case(f"{name}/{operand}", partial(_as_printed, row, operand), method=Method.CERTIFICATE)
    yield Case(
        "manual-f64/c",
        _manual_double,
        Status.REFUTED,
        statement="C of f64_4x4x4_4b as the manual's formula has it: lane = 16·block + 4·row + column",
    )


def _number(names: str, lane: Any, i: Any) -> Any:
    """Return the number that some bits of a lane's and an element's number are, high to low."""
    value = lane & 0
    for name in names.split():
        value = (value << 1) | (({"l": lane, "e": i}[name[0]] >> int(name[1:])) & 1)
    return value


def _as_printed(row: MatrixMultiply, operand: str) -> Certificate:
    """Return the claim for every lane and element."""
    line, block, k_high, row_of_c, block_of_c = PRINTED[f"{row.m}x{row.n}", row.blocks, row.is_double]
    held = layout(row, operand)
    elements = held.source[1].extent
    low = " ".join(f"e{bit}" for bit in reversed(range(elements.bit_length() - 1)))
    along = f"{k_high} {low}"
    coordinates = {"a": (block, line, along), "b": (block, along, line), "c": (block_of_c, row_of_c, line)}

    def claim(_: Algebra, v: Inputs) -> Iterator[Equation]:
        lane, i = v["lane"] & (LANES - 1), v["i"] & (elements - 1)
        names = coordinates[operand][-len(held.target) :]
        for axis, place, bits in zip(held.target, held.forward(lane, i), names, strict=True):
            yield Equation(place, _number(bits, lane, i), COORDINATE, label=axis.name)

    prop = Property(
        (Variable("lane", COORDINATE, (1,)), Variable("i", COORDINATE, (1,))), claim, abstract=False
    )
    return enumerated(prop, {"lane": range(LANES), "i": range(elements)})


def _manual_double() -> Property:
    row = next(row for row in ROWS if row.is_double and row.blocks > 1)

    def claim(_: Algebra, v: Inputs) -> Iterator[Equation]:
        lane = v["lane"] & (LANES - 1)
        block, line, _ = layout(row, "c").forward(lane, lane & 0)
        yield Equation(block, (lane >> 4) & 3, COORDINATE, label="block")
        yield Equation(line, (lane >> 2) & 3, COORDINATE, label="row")

    return Property((LANE,), claim, pinned={"lane": 4}, abstract=False)


@theorem(
    "mfma/layout/broadcast",
    "the two readings of cbsz are one where all blocks share A, and two where some do (pinned)",
    "for every lane l, and every abid where all blocks share: the lane that l reads A from is the same in "
    "the readings neighbours and lanes; false for each abid where some do",
    "CDNA4 ISA chapter 7; AMD matrix instruction calculator 1.3.2 (contradiction broadcast)",
)
def broadcast() -> Iterator[Case]:
    """Yield each number of blocks, of blocks that share one, and of the shared one where readings differ."""
    rows = {row.blocks: row for row in ROWS if row.blocks > 1 and not row.is_double}
    for blocks, row in sorted(rows.items()):
        for cbsz in range(1, blocks.bit_length()):
            shared, name = range(1 << cbsz), f"{blocks}-blocks/cbsz-{cbsz}"
            if 1 << cbsz == blocks:
                yield Case(name, partial(_read_alike, row, cbsz, shared))
                continue
            for abid in shared:
                goal = partial(_read_alike, row, cbsz, (abid,))
                yield Case(f"{name}/abid-{abid}", goal, Status.REFUTED)


def _read_alike(row: MatrixMultiply, cbsz: int, abids: Iterable[int]) -> Property:
    def claim(_: Algebra, v: Inputs) -> Iterator[Equation]:
        lane = v["lane"] & (LANES - 1)
        for abid in abids:
            modifiers = Modifiers(cbsz=cbsz, abid=abid)
            readings = (
                lanes_of_a(row, modifiers, Choices(broadcast=name)) for name in ("neighbours", "lanes")
            )
            left, right = (reading(lane) for reading in readings if reading is not None)
            yield Equation(left, right, COORDINATE, label=f"lane with abid {abid}")

    return Property((LANE,), claim, abstract=False)


def _operands() -> Iterator[tuple[str, str]]:
    for row in shapes().values():
        for operand in "abd":
            yield str(row), operand


THEOREMS = (
    bijection,
    executed,
    printed,
    broadcast,
    *foreign_layouts("mfma", _operands),
)
