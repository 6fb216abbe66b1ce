"""Who disagrees with a rule on PTX instructions, and what ptxas takes or refuses against the rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ...spec.errors import InputError
from ...spec.instruction_set import instruction_set
from ...spec.ptx.assembly import parse
from ...spec.ptx.braces import refuses_braces
from ...spec.ptx.declarations import read_declarations
from ...spec.ptx.legality import RULES, Module, violations
from ...spec.ptx.leniency import LENIENCIES, may_be_taken
from ...spec.ptx.targets import target_named, version_named
from ..comparison import compared
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from ..text_tables import table
from .documented import STATED, every_stated_instruction, operand_lists
from .stated import combinations, texts
from .stated.operand_types import IMMEDIATES, OPERANDS, operand

SOURCE = "PTX ISA 9.1 section 9.7.14; ptxas of CUDA 13.0, and of 13.5 where it says so"


contradictions = table_theorem(
    "ptx/stated/contradictions",
    "each rule names who disagrees with it, and what ptxas takes all the same is named with its reason",
    "rule ↦ contradictions and contradiction ↦ its sides are the listed tables; ∀ listed exceptions, and "
    "what differs from them in one token, operand, target or version: what is named for an illegal "
    "instruction are the listed exceptions that it matches, if they explain every rule that it breaks, else "
    "none; sparse types ↦ targets on which metadata have no braces; examples stand on the listed target "
    "and version",
    SOURCE,
    lambda: {
        "rules": _rules,
        "sides": _sides,
        "exceptions": _exceptions,
        "releases": _releases,
        "shown": _shown,
        "braces": _braces,
    },
)


def _rules() -> Certificate:
    return compared(
        texts.RULES,
        lambda: {
            rule.id: " ".join(contradiction.id for contradiction in rule.contradictions)
            for rule in RULES
            if rule.contradictions
        },
    )


def _sides() -> Certificate:
    expected: dict[str, object] = {**texts.SIDES, "said twice": 0}

    def specified() -> Iterator[tuple[str, object]]:
        rows = instruction_set("ptx").tables["contradictions"]()
        yield from {"said twice": len(rows) - len({row["says"] for row in rows})}.items()
        for name in dict.fromkeys(row["contradiction"] for row in rows):
            sides = [row["who"] for row in rows if row["contradiction"] == name]
            yield name, tuple(one.partition(",")[0] for who in sides for one in who.split("; "))

    return compared(expected, specified)


def _releases() -> Certificate:
    named: dict[str, tuple[int, int] | None] = {row[0]: None for row in texts.KINDS_OF_EXCEPTIONS}
    expected = {**named, "fp8-m16n8k16-b": (13, 5), "sm-88-version": (13, 5)}
    return compared(expected, lambda: {leniency.contradiction.id: leniency.closed for leniency in LENIENCIES})


def _shown() -> Certificate:
    """Return the claim on the targets and versions that examples stand on."""
    expected = {
        leniency.contradiction.id: texts.SHOWN_ON.get(leniency.contradiction.id, ("sm_120a", "9.0"))
        for leniency in LENIENCIES
    }

    def specified() -> Mapping[str, tuple[str, str]]:
        return {
            leniency.contradiction.id: (str(leniency.module.target), ".".join(map(str, leniency.module.ptx)))
            for leniency in LENIENCIES
        }

    return compared(expected, specified)


# -- the neighbours of exceptions
At = tuple[str, str, str]
"""An instruction, its target and PTX version."""

_KINDS = ("b32", "f32", "b64", "f64", "b16", "u16", "s16", "u8", "b8", "s8", "s32", "u64", "f16x2", "f16",
          "pred")  # fmt: skip
_NAMES = ", ".join(f"{kind}_<20>: {kind}" for kind in _KINDS)
_REGISTER = re.compile(r"\b([a-z]+\d*x?\d*)_\d+\b")


def _near() -> Iterator[At]:
    """Yield the exceptions, and those that differ from them in one token, operand, target or version."""
    for text, target, version, named in (row.values() for row in table(STATED, "leniency")):
        yield text, target, version
        if not named or named == "text":
            continue
        mnemonic, _, rest = text.partition(" ")
        for other in combinations.of(mnemonic):
            yield f"{other} {rest}", target, version
        for on in ("sm_88", "sm_90a", "sm_100", "sm_101f", "sm_103f", "sm_110a", "sm_121a"):
            yield text, on, "9.0"
        yield text, target, "7.8"
        places = [found.span() for found in _REGISTER.finditer(rest)]
        for start, end in dict.fromkeys(places[at] for at in (0, len(places) // 2, -1) if places):
            for kind in _KINDS:
                yield f"{mnemonic} {rest[:start]}{kind}_1{rest[end:]}", target, version
            for constant in ("5", "0f3F800000"):
                yield f"{mnemonic} {rest[:start]}{constant}{rest[end:]}", target, version


def _exceptions() -> Certificate:
    names = read_declarations(_NAMES)
    broken: dict[At, frozenset[str]] = {}
    for text, target, version in dict.fromkeys(_near()):
        try:
            instruction = parse(text, names)
        except InputError:
            continue
        wrong = violations(instruction, target_named(target), version_named(version))
        rules = frozenset(violation.rule.id for violation in wrong)
        if "register-class" not in rules or _roles(text.partition(" ")[0]):
            broken[text, target, version] = rules

    def specified() -> Iterator[tuple[At, str]]:
        for at in broken:
            instruction = parse(at[0], names)
            module = Module(target_named(at[1]), version_named(at[2]))
            wrong = violations(instruction, module.target, module.ptx)
            yield at, " ".join(each.id for each in may_be_taken(instruction, module, wrong))

    return compared({at: _named(at, rules) for at, rules in broken.items()}, specified)


def _named(at: At, broken: frozenset[str]) -> str:
    text, target, _ = at
    names: list[str] = []
    explained: set[str] = set()
    for name, rules, mnemonics, on in texts.KINDS_OF_EXCEPTIONS:
        if broken & set(rules.split()) and re.match(on, target) and _matches(mnemonics, text):
            names.append(name)
            explained |= set(rules.split())
    return " ".join(dict.fromkeys(names)) if broken <= explained else ""


def _matches(condition: str, text: str) -> bool:
    mnemonic, _, rest = text.partition(" ")
    if condition in ("SIZES", "PREDICATES"):
        of_warpgroup = mnemonic.startswith("wgmma")
        return of_warpgroup == (condition == "PREDICATES") and _has_sizes(mnemonic, rest, of_warpgroup)
    if condition == "NARROW":
        spaces = re.search(r"\.(shared|global)", mnemonic)
        return spaces is not None and re.search(r"\b([bus]8|[bus]16)_\d", rest) is not None
    opcode, modifiers, layouts, types = combinations.meaning(mnemonic)
    return re.match(condition, ".".join([opcode, *sorted(modifiers), *layouts, *types, ""])) is not None


def _roles(mnemonic: str) -> tuple[str, ...]:
    """Return the operands of an instruction of the tables; none of others."""
    return every_stated_instruction().get(mnemonic, ((), {}))[0]


def _bits(kind: str) -> int:
    return {"f16x2": 32, "pred": 32}.get(kind, 0) or int(re.findall(r"\d+", kind)[-1])


def _has_sizes(mnemonic: str, rest: str, of_warpgroup: bool) -> bool:
    """Whether registers of vectors, metadata, scale factors and matrix rows have the bits that they must.

    Those of a warpgroup's product must be right, but for predicates in place of words of any type.
    """
    operands = re.findall(r"\{[^}]*\}|\[[^]]*\]|[^,{}\[\]\s]+", rest)
    lists = operand_lists(_roles(mnemonic))
    for role, spelled in zip(lists[-1] if operands[1:2] > ["{"] else lists[0], operands, strict=False):
        name = role.partition(" ")[0]
        if name in ("p", "stride", *IMMEDIATES) or name.startswith("selectors"):
            continue
        kinds = OPERANDS[operand(name, combinations.split(mnemonic)[0], combinations.meaning(mnemonic)[3])][0]
        first, written = kinds[0], set(_REGISTER.findall(spelled))
        if of_warpgroup:
            if not written <= {*kinds, *(["pred"] if len(kinds) == 5 else [])}:
                return False
            continue
        if any(_bits(kind) != _bits(first) for kind in written):
            return False
    return True


# -- braces around metadata
def _braces() -> Certificate:
    expected: dict[tuple[str, str], bool] = {}
    mnemonics = {
        text: types
        for text in every_stated_instruction()
        if text.startswith("mma.sp")
        for types in [_types(text)]
    }
    alike = {(types[1], "ordered" in text, "kind" in text): text for text, types in mnemonics.items()}
    for (element, ordered, kind), text in alike.items():
        for target in texts.SINCE:
            expected[text, target] = not kind and any(
                element in types.split() and ordered <= both and target.rstrip("af") in _bare(where)
                for types, both, where in texts.REFUSED_BRACES
            )
    return answered(expected, lambda text, target: refuses_braces(parse(text).variant, target_named(target)))


def _types(text: str) -> tuple[str, ...]:
    return combinations.meaning(text)[3]


def _bare(names: tuple[str, ...]) -> set[str]:
    return {name.rstrip("af") for name in names}


THEOREMS = (contradictions,)
