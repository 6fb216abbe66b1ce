"""Every combination of modifiers, types, layouts and shapes is one of the manual's tables, or refused.

There are up to 10^18 combinations of an instruction. Legality asks for one thing after the other, and what it
says next depends on the rows that are left alone (`variant_rules.allowing`), so combinations that leave the
same rows are followed together, and none is left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import partial
from math import prod

from ...spec.ptx.assembly import parse
from ...spec.ptx.variant import Shape
from ...spec.ptx.variant_rules import ASPECTS, Row, allowing, rows_of
from ..comparison import compared
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .documented import SOURCE, every_stated_instruction
from .stated import neighbours
from .stated.combinations import DOMAIN, Combination, combination, mnemonic, saturated_before
from .verdicts import broken

OPCODES = ("wmma.load.a", "wmma.load.b", "wmma.load.c", "wmma.store.d", "wmma.mma", "mma", "mma.sp",
           "ldmatrix", "stmatrix", "movmatrix")  # fmt: skip

NAMES = tuple(aspect.id for aspect in ASPECTS)

Point = tuple[Hashable, ...]
"""What is spelled of each aspect, in their order."""

OTHER = "something else"
"""What no row has: legality compares with what rows have, so all that they do not have is alike."""


class Combinations:
    """The combinations of one instruction, followed through the aspects."""

    def __init__(self, opcode: str) -> None:
        self.rows = rows_of(parse(opcode).variant)
        self.values = tuple(map(self._values, NAMES))
        self._behind: dict[tuple[int, tuple[int, ...]], tuple[Point, ...]] = {}

    def _values(self, name: str) -> tuple[Hashable, ...]:
        """Return everything that may be spelled, what the rows have, and one value that none has."""
        read = Shape.parse if name == "shape" else str
        spelled = (read(value) if isinstance(value, str) else value for value in DOMAIN.get(name, ()))
        of_rows = (value for _, allowed in self.rows for value in allowed.get(name, (None,)))
        return tuple(dict.fromkeys((*spelled, *of_rows, OTHER)))

    @property
    def number(self) -> int:
        """How many combinations there are."""
        return prod(map(len, self.values))

    def accepted(self, place: int = 0, rows: tuple[Row, ...] | None = None) -> tuple[Point, ...]:
        """Return what may be spelled of the aspects from a place on, where these rows are left."""
        rows = self.rows if rows is None else rows
        if place == len(NAMES):
            return ((),)
        state = place, tuple(map(id, rows))
        if state not in self._behind:
            self._behind[state] = tuple(
                (value, *rest)
                for value, left in self._left(place, rows)
                if left
                for rest in self.accepted(place + 1, left)
            )
        return self._behind[state]

    def _left(self, place: int, rows: tuple[Row, ...]) -> Iterator[tuple[Hashable, tuple[Row, ...]]]:
        return ((value, allowing(rows, NAMES[place], value)) for value in self.values[place])

    def refused(self) -> Iterator[tuple[str, Point]]:
        """Yield, for an aspect, rows that are left and each value they refuse, a point wrong in it alone."""
        states: dict[tuple[int, ...], tuple[Point, tuple[Row, ...]]] = {(): ((), self.rows)}
        for place, name in enumerate(NAMES):
            following: dict[tuple[int, ...], tuple[Point, tuple[Row, ...]]] = {}
            for before, rows in states.values():
                for value, left in self._left(place, rows):
                    if left:
                        following.setdefault(tuple(map(id, left)), ((*before, value), left))
                    else:
                        yield name, (*before, value, *self.accepted(place + 1, rows)[0])
            states = following


combinations = table_theorem(
    "ptx/legal/combinations",
    "aspect by aspect, the combinations that the rules leave are those of the manual's tables",
    "∀ opcodes, ∀ combinations of a shape, types of D, A, B, C and scale factors, layouts, kind, block "
    "scaling, vector size, satfinite, rounding, bit operation, popc, metadata, trans, number of matrices and "
    "state space: each aspect leaves rows ⇔ the tables have the combination (of wmma.mma on f16 that with "
    ".satfinite, too, before PTX 6.5); ∀ rows left and values that they refuse: the instruction that spells "
    "them, and is wrong in nothing else, breaks the rule of that aspect alone",
    SOURCE,
    lambda: {
        **{
            name: goal
            for opcode in OPCODES
            for name, goal in (
                (f"{opcode}/accepted", partial(_accepted, opcode)),
                (f"{opcode}/refused", partial(_refused, opcode)),
            )
        },
        "wmma.mma/saturated": _saturated,
    },
)


def _opcode(text: str) -> str:
    return neighbours.split(text)[0].removesuffix("::ordered_metadata")


def _listed(opcode: str) -> list[str]:
    return [text for text in every_stated_instruction() if _opcode(text) == opcode]


def _point(spelled: Combination) -> Point:
    return tuple(spelled[name] for name in NAMES)


def _plain(point: Point) -> Point:
    return tuple(str(value) if isinstance(value, Shape) else value for value in point)


def _accepted(opcode: str) -> Certificate:
    listed = [combination(text) for text in _listed(opcode)]
    listed += [
        {**combination(text), "satfinite": ".satfinite"} for text in _listed(opcode) if saturated_before(text)
    ]
    return compared(
        dict.fromkeys(map(_point, listed), True),
        lambda: dict.fromkeys(map(_plain, Combinations(opcode).accepted()), True),
    )


def _refused(opcode: str) -> Certificate:
    expected: dict[str, tuple[Combination, set[str]]] = {}
    for name, point in Combinations(opcode).refused():
        if OTHER in point:
            continue
        spelled = dict(zip(NAMES, _plain(point), strict=True))
        sparse = spelled["metadata-variant"]
        text = mnemonic(f"mma.{sparse}" if sparse and opcode == "mma.sp" else opcode, spelled)
        if text is not None:
            expected[text] = spelled, {name}

    return answered(expected, lambda text: (_read(text), broken(text)))


def _read(text: str) -> Combination:
    variant = parse(text).variant
    return dict(zip(NAMES, _plain(tuple(aspect.value(variant) for aspect in ASPECTS)), strict=True))


def _saturated() -> Certificate:
    expected: dict[tuple[str, str], set[str]] = {}
    for text in _listed("wmma.mma"):
        removed = saturated_before(text)
        if removed is not None:
            for version in ("6.3", "6.4", "6.5", "9.1"):
                wrong = set() if version < removed else {"satfinite-removed"}
                expected[f"{text}.satfinite", version] = wrong
    return answered(expected, lambda *at: broken(at[0], "sm_70", at[1]) - {"target-version"})


THEOREMS = (combinations,)
