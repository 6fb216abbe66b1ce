"""Combinations of modifiers, types, layouts, shapes and operands are the manual's, or refused.

There are up to 10^18 combinations of an instruction. Legality asks for one thing after the other, and what it
says next depends on the rows that are left alone (`variant_rules.allowing`), so combinations that leave the
same rows are followed together, and none is left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cache, partial
from itertools import product
from math import prod
from typing import NamedTuple

from ...spec.ptx.assembly import parse
from ...spec.ptx.variant import Shape
from ...spec.ptx.variant_rules import ASPECTS, Row, allowing, rows_of
from ..comparison import compared
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .documented import SOURCE, TABLES, Stated, every_stated_instruction, operand_lists, stated_instructions
from .stated.combinations import DOMAIN, Combination, combination, meaning, mnemonic, saturated_before, split
from .stated.operand_types import CONSTANTS, IMMEDIATES, OPERANDS, TYPES, operand, reads
from .verdicts import broken

OPCODES = ("wmma.load.a", "wmma.load.b", "wmma.load.c", "wmma.store.d", "wmma.mma", "mma", "mma.sp",
           "ldmatrix", "stmatrix", "movmatrix", "wgmma.mma_async", "wgmma.mma_async.sp", "wgmma.fence",
           "wgmma.commit_group", "wgmma.wait_group")  # fmt: skip

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
    return split(text)[0].removesuffix("::ordered_metadata")


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
        dense = opcode.removesuffix(".sp")
        text = mnemonic(f"{dense}.{sparse}" if sparse and opcode != dense else opcode, spelled)
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


Written = tuple[str, str]
"""An instruction, and the declarations of its names."""


operands = table_theorem(
    "ptx/legal/operands",
    "an operand takes the registers, constants and sinks that the manual and ptxas allow, and nothing else",
    "each operand of an instruction for each opcode and element type, ∀ types of registers, ∀ spellings of "
    "constants: the instruction with that operand breaks exactly the rule that the table says, or none; "
    "vectors may be declared as such, pairs of selectors are two numbers; _ stands for "
    "some results, not for all of them, nor for what is read; "
    "addresses are in the state space that is spelled",
    "PTX ISA 9.1 sections 4.5, 5.4.2, 9.2, 9.7.14.4 to 9.7.14.6 and 9.7.15; ptxas",
    lambda: {
        **{
            name: goal
            for name in TABLES
            for name, goal in (
                (f"{name}/registers", partial(_registers, name)),
                (f"{name}/constants", partial(_constants, name)),
            )
        },
        "vectors": _vectors,
        "addresses": _addresses,
    },
)


def _types(text: str) -> tuple[str, ...]:
    return meaning(text)[3]


class Place(NamedTuple):
    """An operand of a mnemonic: the operands, which of them it is, how it is spelled, and what it is."""

    text: str
    roles: tuple[str, ...]
    place: int
    spelled: str
    what: tuple[str, str]


@cache
def _operands_listed(name: str) -> dict[str, Stated]:
    return stated_instructions(TABLES[name]())


@cache
def _operands(name: str) -> tuple[Place, ...]:
    """Return one place for each opcode, role and element type."""
    found: dict[object, Place] = {}
    listed = _operands_listed(name).items()
    for text, (lists, _) in sorted(listed, key=lambda item: sum(map(len, item[1][0]))):
        opcode = split(text)[0]
        for roles in operand_lists(lists):
            for place, spelled in enumerate(roles):
                role = spelled.partition(" ")[0]
                if role not in IMMEDIATES:
                    what = operand(role, opcode, _types(text))
                    found.setdefault((opcode, role, what), Place(text, roles, place, spelled, what))
            if opcode.startswith("wmma") and roles[-1] != "stride" and opcode != "wmma.mma":
                what = "stride", ""
                found.setdefault((opcode, what), Place(text, roles, len(roles), "stride", what))
    return tuple(found.values())


def _instruction(text: str, roles: tuple[str, ...], place: int, changed: str, declared: str) -> Written:
    """Spell an instruction with one operand changed; the others fit."""
    opcode, types = split(text)[0], _types(text)
    spelled, names = [], [declared] if declared else []
    for at, each in enumerate(roles):
        if at == place:
            continue
        role, _, count = each.partition(" ")
        if role in IMMEDIATES:
            spelled.append(count[-1:] or "3")
        elif role.startswith("selectors"):
            spelled.append("{0, 0}")
        else:
            kind = OPERANDS[operand(role, opcode, types)][0][0]
            named = role.replace("-", "_")
            names.append(f"{named}<128>: {kind}")
            vector = f"{{{', '.join(f'{named}{number}' for number in range(int(count or 1)))}}}"
            spelled.append(f"[{named}0]" if role == "p" else vector if count else f"{named}0")
    spelled.insert(place, changed)
    return f"{text} {', '.join(spelled)}", ", ".join(names)


def _spelled(each: str, scalar: str) -> str:
    """Spell an operand whose first register is something else."""
    role, _, count = each.partition(" ")
    if role == "p":
        return f"[{scalar}]"
    if role.startswith("selectors"):
        return f"{{{scalar}, 0}}"
    others = [f"x{number}" for number in range(1, int(count or 1))] if count and role != "stride" else []
    return f"{{{', '.join([scalar, *others])}}}" if count else scalar


def _registers(name: str) -> Certificate:
    expected: dict[Written, frozenset[str]] = {}
    for text, roles, place, each, what in _operands(name):
        for kind in TYPES:
            written = _instruction(text, roles, place, _spelled(each, "x0"), f"x<128>: {kind}")
            expected[written] = frozenset() if kind in OPERANDS[what][0] else frozenset({"register-class"})
        undeclared = _instruction(text, roles, place, _spelled(each, "y0"), f"x<128>: {OPERANDS[what][0][0]}")
        expected[undeclared] = frozenset({"declaration"})
    return _judged(expected)


def _constants(name: str) -> Certificate:
    expected: dict[Written, frozenset[str]] = {}
    for text, roles, place, each, what in _operands(name):
        opcode, vector = split(text)[0], " " in each
        first = f"x<128>: {OPERANDS[what][0][0]}"
        for sort, usual in CONSTANTS.items():
            fitting = {"selectors": "0", "stride": "256", "predicate": "1"}.get(what[0], usual)
            constant = fitting if sort == "integer" else usual
            taken = sort in OPERANDS[what][1] and reads(each.partition(" ")[0], opcode)
            rule = "constant" if vector else "operand-sort"
            written = _instruction(text, roles, place, _spelled(each, constant), first)
            if what[0] == "address" and sort != "integer":
                rule = "text"
            expected[written] = frozenset() if taken else frozenset({rule})
        if what[0] not in ("address", "selectors", "stride"):
            is_read = reads(each.partition(" ")[0], opcode)
            alone = not each.endswith(" 1") and vector
            sink = frozenset() if not is_read and alone else frozenset({"sink" if vector else "operand-sort"})
            expected[_instruction(text, roles, place, _spelled(each, "_"), first)] = sink
    return _judged(expected)


_FOUR = "{%f0, %f1, %f2, %f3}", "{%r0, %r1, %r2, %r3}", "{%r4, %r5}", "{%f4, %f5, %f6, %f7}"
_MULTIPLY = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
_SCALED = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0"
_SELECTORS = "{0}", "{0, 0}", "{0, 0, 0}"
_NAMES = "%f<8>: f32, %r<8>: b32, %v: v4.b32, %w: v2.b32, %u: v4.f32, %x: v2.f32, %h: v4.b16, %o: v8.b32"

VECTORS = (
    # place, vector, rules
    (1, "%v", ()), (2, "%w", ()), (3, "%u", ()), (0, "%u", ()), (1, "%w", ("register-count",)),
    (2, "%v", ("register-count",)), (3, "%v", ()), (1, "%u", ("register-class",)),
    (1, "%h", ("register-class",)), (0, "%x", ("register-count",)), (1, "%o", ("register-count",)),
    (1, "{%v.x, %v.y, %v.z, %v.w}", ()), (2, "{%h.x, %h.y}", ("register-class",)),
    (0, "{%f0, _, %f2, _}", ()), (0, "{_, _, _, _}", ("sink",)), (3, "{%f0, _, %f2, %f3}", ("sink",)),
    (2, "{_, _}", ("sink",)),
)  # fmt: skip
"""Vectors that are declared as such, and sinks, at the operands of a multiplication."""


def _vectors() -> Certificate:
    expected: dict[Written, frozenset[str]] = {}
    for place, vector, rules in VECTORS:
        spelled = [*_FOUR[:place], vector, *_FOUR[place + 1 :]]
        expected[f"{_MULTIPLY} {', '.join(spelled)}", _NAMES] = frozenset(rules)
    for one, other in product(_SELECTORS, _SELECTORS):
        fit = one == other == _SELECTORS[1]
        scaled = f"{_SCALED} {', '.join(_FOUR)}, %r6, {one}, %r7, {other}"
        expected[scaled, _NAMES] = frozenset(() if fit else ("register-count",))
    return _judged(expected)


_SPACES = "d<4>: b32, a<2>: b64, in_shared: shared, in_global: global, in_constant: const, in_local: local"


def _addresses() -> Certificate:
    expected: dict[Written, frozenset[str]] = {}
    load = "wmma.load.b.sync.aligned.col.m16n16k16{}.s8 {{d0, d1}}, [{}]"
    for space in ("", ".shared", ".shared::cta", ".global"):
        for where in ("shared", "global", "constant", "local"):
            fits = where != "constant" and space.partition("::")[0] in ("", f".{where}")
            rules = frozenset() if fits else frozenset({"address-space"})
            for offset in ("", "+16"):
                expected[load.format(space, f"in_{where}{offset}"), _SPACES] = rules
        expected[load.format(space, "a0+16"), _SPACES] = frozenset()
    return _judged(expected)


def _judged(expected: dict[Written, frozenset[str]]) -> Certificate:
    return answered(expected, lambda *at: frozenset(broken(at[0], names=at[1])))


THEOREMS = (
    combinations,
    operands,
)
