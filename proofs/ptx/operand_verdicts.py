"""What the operands of PTX instructions may be: types of registers, constants, sinks and addresses."""

from __future__ import annotations

from functools import cache, partial
from itertools import product

from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .documented import TABLES, Stated, stated_instructions
from .stated import neighbours
from .stated.operand_types import CONSTANTS, OPERANDS, TYPES, operand, reads
from .verdicts import NEWEST, broken

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
    "PTX ISA 9.1 sections 4.5, 5.4.2, 9.2 and 9.7.14.4 to 9.7.14.6; ptxas",
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
    return neighbours.meaning(text)[3]


@cache
def _listed(name: str) -> dict[str, Stated]:
    return stated_instructions(TABLES[name]())


@cache
def _operands(name: str) -> tuple[tuple[str, int, str, tuple[str, str]], ...]:
    """Return (mnemonic, place, operand, what it is), once for each opcode, role and element type."""
    found: dict[object, tuple[str, int, str, tuple[str, str]]] = {}
    for text, (roles, _) in sorted(_listed(name).items(), key=lambda item: sum(map(len, item[1][0]))):
        opcode = neighbours.split(text)[0]
        for place, spelled in enumerate(roles):
            role = spelled.partition(" ")[0]
            if role != "selector":
                what = operand(role, opcode, _types(text))
                found.setdefault((opcode, role, what), (text, place, spelled, what))
        if opcode.startswith("wmma") and roles[-1] != "stride" and opcode != "wmma.mma":
            what = "stride", ""
            found.setdefault((opcode, what), (text, len(roles), "stride", what))
    return tuple(found.values())


def _instruction(name: str, text: str, place: int, changed: str, declared: str) -> Written:
    """Spell an instruction with one operand changed; the others fit."""
    roles = _listed(name)[text][0]
    opcode, types = neighbours.split(text)[0], _types(text)
    spelled, names = [], [declared] if declared else []
    for at, each in enumerate(roles):
        if at == place:
            continue
        role, _, count = each.partition(" ")
        if role == "selector":
            spelled.append("0")
        elif role.startswith("selectors"):
            spelled.append("{0, 0}")
        else:
            kind = OPERANDS[operand(role, opcode, types)][0][0]
            names.append(f"{role}<8>: {kind}")
            vector = f"{{{', '.join(f'{role}{number}' for number in range(int(count or 1)))}}}"
            spelled.append(f"[{role}0]" if role == "p" else vector if count else f"{role}0")
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
    for text, place, each, what in _operands(name):
        for kind in TYPES:
            written = _instruction(name, text, place, _spelled(each, "x0"), f"x<8>: {kind}")
            expected[written] = frozenset() if kind in OPERANDS[what][0] else frozenset({"register-class"})
        undeclared = _instruction(name, text, place, _spelled(each, "y0"), f"x<8>: {OPERANDS[what][0][0]}")
        expected[undeclared] = frozenset({"declaration"})
    return _judged(expected)


def _constants(name: str) -> Certificate:
    expected: dict[Written, frozenset[str]] = {}
    for text, place, each, what in _operands(name):
        opcode, vector = neighbours.split(text)[0], " " in each
        first = f"x<8>: {OPERANDS[what][0][0]}"
        for sort, usual in CONSTANTS.items():
            fitting = {"selectors": "0", "stride": "256"}.get(what[0], usual)
            constant = fitting if sort == "integer" else usual
            taken = sort in OPERANDS[what][1] and reads(each.partition(" ")[0], opcode)
            rule = "constant" if vector else "operand-sort"
            written = _instruction(
                name, text, place, _spelled(each, constant), f"x<8>: {OPERANDS[what][0][0]}"
            )
            if what[0] == "address" and sort != "integer":
                rule = "text"
            expected[written] = frozenset() if taken else frozenset({rule})
        if what[0] not in ("address", "selectors", "stride"):
            is_read = reads(each.partition(" ")[0], opcode)
            alone = not each.endswith(" 1") and vector
            sink = frozenset() if not is_read and alone else frozenset({"sink" if vector else "operand-sort"})
            expected[_instruction(name, text, place, _spelled(each, "_"), first)] = sink
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
            fits = space.partition("::")[0] in ("", f".{where}")
            rules = frozenset() if fits else frozenset({"address-space"})
            for offset in ("", "+16"):
                expected[load.format(space, f"in_{where}{offset}"), _SPACES] = rules
        expected[load.format(space, "a0+16"), _SPACES] = frozenset()
    return _judged(expected)


def _judged(expected: dict[Written, frozenset[str]]) -> Certificate:
    return answered(expected, lambda *at: frozenset(broken(at[0], *NEWEST, names=at[1])))


THEOREMS = (operands,)
