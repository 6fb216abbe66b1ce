"""What is legal in PTX: exactly what the manual's tables list; each rule refuses something alone."""

from __future__ import annotations

from functools import cache, lru_cache, partial

from ...spec.errors import InputError
from ...spec.ptx.assembly import parse
from ...spec.ptx.declarations import read_declarations
from ...spec.ptx.instructions import Instruction
from ...spec.ptx.legality import RULES, violations
from ...spec.ptx.targets import target_named, version_named
from ..families.witnesses import witnesses
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .documented import SOURCE, TABLES, every_stated_instruction, operand_lists, stated_instructions
from .stated import combinations, texts
from .stated.products import SELECTORS

NAMES = (
    "%r<40>: b32, %f<20>: f32, %d<20>: f64, %h<20>: b16, %l<4>: b64, %p<4>: pred, tile: shared, far: global"
)
"""The declarations of the names in the instructions of `witnesses`."""

NEWEST = "9.1"
"""The version that has every form of the tables."""


def having(text: str) -> str:
    """Return the target that has every form of the instructions that a text may be."""
    return "sm_90a" if text.startswith("wgmma") else "sm_120a"


def broken(text: str, target: str | None = None, version: str = NEWEST, names: str | None = None) -> set[str]:
    """Return the rules that the specification finds broken; a text that it can't read breaks ``text``."""
    target = target or having(text)
    instruction = _read(text, names)
    if instruction is None:
        return {"text"}
    wrong = violations(instruction, target_named(target), version_named(version))
    return {violation.rule.id for violation in wrong}


@lru_cache(maxsize=16)
def _read(text: str, names: str | None) -> Instruction | None:
    try:
        return parse(text, None if names is None else read_declarations(names))
    except InputError:
        return None


@cache
def _meanings() -> frozenset[combinations.Meaning]:
    return frozenset(map(combinations.meaning, every_stated_instruction()))


# -- completeness
complete = table_theorem(
    "ptx/legal/complete",
    "an instruction that is near one of the manual's tables is legal exactly if they have it",
    "∀ mnemonics of the tables, and those with another opcode, or one modifier, type or layout more or "
    "less: no rule is broken ⇔ the tables written down from the manual have it (sm_120a, wgmma sm_90a, PTX "
    "9.1); what stands for another token is in ptx/legal/combinations",
    SOURCE,
    lambda: {f"neighbours/{name}": partial(_neighbours, name) for name in TABLES},
)


def _neighbours(name: str) -> Certificate:
    listed = stated_instructions(TABLES[name]())
    ours = [
        text for text in combinations.representatives(listed) if ".global" not in text and "::cta" not in text
    ]
    near = (other for our in ours for other in combinations.more_or_less(our))
    return _verdicts((*listed, *near))


def _verdicts(mnemonics: tuple[str, ...]) -> Certificate:
    return answered(
        {text: combinations.meaning(text) in _meanings() for text in mnemonics}, lambda text: not broken(text)
    )


available = table_theorem(
    "ptx/legal/available",
    "an instruction is legal on the targets and from the PTX versions that the manual says",
    "one mnemonic of each opcode and availability of the tables, ∀ targets, ∀ versions at which an answer "
    "changes: legal ⇔ the target has it, and version ≥ that of the form, of the target, 6.3 for wmma, 7.8 "
    "for .shared::cta; without .aligned wmma is legal before 6.3 and nothing else is, nothing without .sync",
    SOURCE,
    lambda: {name: partial(_available, name) for name in TABLES},
)


def _available(name: str) -> Certificate:
    listed = stated_instructions(TABLES[name]())
    minors = {6: (0, 2, 3, 4, 5), 7: (0, 1, 4, 7, 8), 8: (0, 3, 4, 5, 6, 7, 8), 9: (0, 1)}
    versions = [(major, minor) for major, some in minors.items() for minor in some]
    alike = {
        (combinations.split(text)[0], "shared::cta" in text, *sorted(since.items())): text
        for text, (_, since) in listed.items()
    }
    expected = {}
    for text in alike.values():
        wmma, floor = text.startswith("wmma"), (7, 8) if "::cta" in text else (0, 0)
        for target, since in texts.SINCE.items():
            needed = listed[text][1].get(target)
            for version in versions:
                there = needed is not None and version >= max(needed, since, floor)
                at = target, f"{version[0]}.{version[1]}"
                expected[text, *at] = there and (not wmma or version >= ALIGNED)
                if target == next(iter(listed[text][1])):
                    expected[text.replace(".aligned", ""), *at] = there and wmma and version < ALIGNED
                    expected[text.replace(".sync", ""), *at] = False
    return answered(expected, lambda *at: not broken(*at))


ALIGNED = 6, 3
"""The PTX version from which wmma is spelled with ``.aligned``, without it before."""


# -- operands
register_counts = table_theorem(
    "ptx/legal/registers",
    "a vector has the number of registers that the manual's tables say, and no other",
    "∀ mnemonics of the tables up to types of a group, ∀ operands, ∀ lengths 1, 2, 4, 8: the instruction "
    "with a vector of that length breaks exactly the rule register-count, or none if that is the listed one",
    SOURCE,
    lambda: {name: partial(_register_counts, name) for name in TABLES},
)


def _register_counts(name: str) -> Certificate:
    listed = stated_instructions(TABLES[name]())
    expected: dict[str, frozenset[str]] = {}
    for text in combinations.representatives(listed):
        for operands in operand_lists(listed[text][0]):
            for changed, operand in enumerate(operands):
                role, _, count = operand.partition(" ")
                for length in ("1", "2", "4", "8") if role in ("a", "b", "c", "d") and count else ():
                    spelled = [*operands[:changed], f"{role} {length}", *operands[changed + 1 :]]
                    rule = frozenset() if length == count else frozenset({"register-count"})
                    expected[f"{text} {', '.join(map(_spelled, spelled))}"] = rule
    return answered(expected, lambda text: frozenset(broken(text)))


def _spelled(operand: str) -> str:
    role, _, count = operand.partition(" ")
    if role == "p":
        return "[%p]"
    if role == "stride":
        return "%stride"
    if role.startswith("selectors"):
        return "{0, 0}"
    if role == "selector":
        return "0"
    if role.startswith(("scale-", "trans-")):
        return "1"
    if role == "N":
        return "3"
    name = f"%{role.replace('-', '_')}"
    return f"{{{', '.join(f'{name}{number}' for number in range(int(count)))}}}" if count else name


selectors = table_theorem(
    "ptx/legal/selectors",
    "byte, thread and sparsity selectors have the legal values of the manual's tables, and no other",
    "∀ values from -1 to 5 of each selector of every mnemonic of the tables up to types of a group: the rule "
    "selector is broken ⇔ the tables do not have the value",
    "PTX ISA 9.1 section 9.7.14.3 (table of valid selectors), 9.7.14.6 and 9.7.15 (sparsity selector)",
    lambda: {"values": partial(_selectors, "mma"), "warpgroup": partial(_selectors, "wgmma")},
)


def _selectors(name: str) -> Certificate:
    listed = stated_instructions(TABLES[name]())
    expected: dict[str, frozenset[str]] = {}
    for text in combinations.representatives(listed):
        operands = operand_lists(listed[text][0])[0]
        vector = next(
            (word.removeprefix("scale_vec::") for word in text.split(".") if "scale_vec" in word), ""
        )
        for changed, operand in enumerate(operands):
            role, _, values = operand.partition(" ")
            if role == "selector":
                choices = {str(value): str(value) in values.split(",") for value in range(-1, 6)}
            elif role.startswith("selectors_") and vector:
                of_byte, of_thread = SELECTORS[vector][:2] if role.endswith("a") else SELECTORS[vector][2:]
                choices = {
                    f"{{{byte}, {thread}}}": str(byte) in of_byte.split() and str(thread) in of_thread.split()
                    for byte in range(-1, 6)
                    for thread in range(-1, 6)
                }
            else:
                continue
            spelled = list(map(_spelled, operands))
            for choice, legal in choices.items():
                spelled[changed] = choice
                expected[f"{text} {', '.join(spelled)}"] = frozenset() if legal else frozenset({"selector"})
    return answered(expected, lambda text: frozenset(broken(text)))


# -- witnesses
rules = witnesses(
    "ptx",
    "the instructions written down for the rule break it and no other; with one operand, modifier, target or "
    "version changed they break none",
    SOURCE,
    lambda text, target, version: frozenset(broken(text, target, version, NAMES)),
    RULES,
)

THEOREMS = (complete, available, register_counts, selectors, rules)
