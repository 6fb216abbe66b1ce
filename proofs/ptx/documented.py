"""The instructions of PTX are those of the manual's tables: no form is missing, and none is surplus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial, reduce
from itertools import product

from ...spec.formats import BF16, F16, F32, F64, FORMATS, FloatFormat
from ...spec.ptx.assembly import parse
from ...spec.ptx.catalogue import ALL_FORMS
from ...spec.ptx.choices import choices_named
from ...spec.ptx.signatures import OperandForm, Sort, signatures
from ...spec.ptx.targets import TARGETS, VERSIONS, Target, Version
from ...spec.ptx.variant_rules import form_of
from ..comparison import compared
from ..families.generic import generic_theorems
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .stated import moves, products, texts, warpgroups

STATED = f"{__package__}.stated"
"""The package of the tables."""

SOURCE = "PTX ISA 9.1 sections 9.7.14.2 to 9.7.14.6 and 9.7.15 (tables, syntax, target and ISA notes); ptxas"

Stated = tuple[tuple[str, ...], Mapping[str, Version]]
"""Operands, and the lowest PTX version by target."""

TABLES: Mapping[str, Callable[[], list[products.Entry]]] = {
    "mma": products.multiplications,
    "wmma": products.wmma,
    "matrix-move": moves.moves,
    "wgmma": warpgroups.wgmma,
}
"""The tables written down from the manual, by the instructions that they are about."""


def stated_instructions(entries: list[products.Entry]) -> dict[str, Stated]:
    """Return the entries of a table by mnemonic; the lowest version counts where rows have the same one."""
    found: dict[str, Stated] = {}
    for mnemonic, operands, (ptx, group) in entries:
        _, since = found.setdefault(mnemonic, (operands, {}))
        added = dict.fromkeys(texts.named(group), texts.version(ptx))
        found[mnemonic] = operands, earliest(since, added)
    return found


def operand_lists(operands: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the lists of operands that an entry of a table allows."""
    if warpgroups.OR not in operands:
        return [operands]
    place = operands.index(warpgroups.OR)
    return [operands[:place], operands[place + 1 :]]


@cache
def every_stated_instruction() -> Mapping[str, Stated]:
    """Return the entries of all tables by mnemonic."""
    return stated_instructions([entry for table in TABLES.values() for entry in table()])


def earliest(one: Mapping[str, Version], other: Mapping[str, Version]) -> dict[str, Version]:
    """Return the lower version of each target that one of two tables has."""
    return {**one, **{target: min(ptx, one.get(target, ptx)) for target, ptx in other.items()}}


def specified_instructions() -> dict[str, Stated]:
    """Return what the specification says of every variant of every row."""
    found: dict[str, Stated] = {}
    for form in ALL_FORMS:
        for variant in form.variants():
            lists = (tuple(map(_shown, signature)) for signature in signatures(form, variant))
            operands = reduce(lambda one, other: (*one, warpgroups.OR, *other), lists)
            _, since = found.setdefault(str(variant), (operands, {}))
            available = form.availability(variant)
            added = dict.fromkeys((t.name for t in TARGETS.values() if available.on(t)), available.ptx)
            found[str(variant)] = operands, earliest(since, added)
    return found


def _shown(operand: OperandForm) -> str:
    if operand.values:
        return f"{operand.name} {' x '.join(','.join(map(str, values)) for values in operand.values)}"
    return f"{operand.name} {operand.registers}" if operand.sort is Sort.VECTOR else operand.name


instructions = table_theorem(
    "ptx/stated/instructions",
    "there are the instructions that the manual's tables list, with their operands, targets and versions",
    "mnemonic ↦ (registers of every operand, legal selectors, lowest PTX version by target) is the table "
    "written down from the manual; no form is missing, none is surplus",
    SOURCE,
    lambda: {name: partial(_instructions, name) for name in TABLES},
)


def _instructions(name: str) -> Certificate:
    listed = stated_instructions(TABLES[name]())
    unsized = {
        mnemonic: entry for mnemonic, entry in listed.items() if "block_scale" not in mnemonic
        or ".scale_vec" in mnemonic
    }  # fmt: skip
    matrix_moves = ("ldmatrix", "stmatrix", "movmatrix")
    first = matrix_moves if name == "matrix-move" else (f"{name}.",)
    return compared(
        unsized,
        lambda: {text: entry for text, entry in specified_instructions().items() if text.startswith(first)},
    )


target_versions = table_theorem(
    "ptx/stated/targets",
    "there are the targets that the manual lists, from their PTX version on",
    "target ↦ lowest PTX version is the table written down from the release notes; every 40th instruction of "
    "the tables can be used on a target from the version on that both have; each row is there on a chip of "
    "any number exactly from the least one of the tables on, which is a listed target, or on the targets "
    "of its group alone",
    "PTX ISA 9.1, .target directive and chapter 13; ptxas",
    lambda: {
        "allowed": _allowed,
        "least": _least,
        "versions": lambda: compared(
            texts.SINCE, lambda: {name: target.since for name, target in TARGETS.items()}
        ),
    },
)


def _allowed() -> Certificate:
    listed = dict(list(every_stated_instruction().items())[::40])

    def specified(text: str) -> set[tuple[str, Version]]:
        variant = parse(text).variant
        available = form_of(variant).availability(variant)
        pairs = product(TARGETS.items(), VERSIONS)
        return {(name, version) for (name, target), version in pairs if available.allows(target, version)}

    return answered(
        {
            text: {
                (name, version)
                for name, first in since.items()
                for version in VERSIONS
                if version >= max(first, texts.SINCE[name])
            }
            for text, (_, since) in listed.items()
            if "::cta" not in text  # which has a rule of its own
        },
        specified,
    )


CHIPS = range(60, 130)
"""Numbers of chips, most of which there are none of."""


def _least() -> Certificate:
    """Return the claim about a variant of each row and availability, also on chips that do not exist."""
    rows = {
        (number, form.availability(variant)): str(variant)
        for number, form in enumerate(ALL_FORMS)
        for variant in form.variants()
    }

    def chips(text: str) -> list[int]:
        plain = [name.removeprefix("sm_") for name in every_stated_instruction()[text][1]]
        least = min((int(number) for number in plain if number.isdecimal()), default=CHIPS.stop)
        return list(range(least, CHIPS.stop))

    return compared(
        {at: chips(text) for at, text in rows.items()},
        lambda: {at: [chip for chip in CHIPS if at[1].on(Target(chip, "", VERSIONS[0]))] for at in rows},
    )


def _steps() -> Iterator[tuple[FloatFormat, FloatFormat, FloatFormat]]:
    yield from ((F16, F16, F16), (F16, F16, F32), (BF16, BF16, F32), (F32, F32, F32), (F64, F64, F64))


THEOREMS = (
    instructions,
    target_versions,
    *generic_theorems("ptx", FORMATS.values, choices_named, _steps),
)
