"""The constraint tables of Power MMA, generated from the catalogue, the layouts and the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from .. import tables as of_all
from .catalogue import Family, IntegerFamily, RankKUpdate
from .contradictions import CONTRADICTIONS
from .encoding import LAYOUTS
from .forms import FORMS, MASKS, Form, Kind, mask_widths
from .instructions import Instruction
from .legality import RULES, violations
from .priming import priming
from .targets import TARGETS

Row = dict[str, str]


def _of_family(describe: Callable[[Family], object]) -> Callable[[Form], str]:
    def cell(form: Form) -> str:
        return str(describe(form.update.family)) if form.update else ""

    return cell


def _encoding(form: Form) -> str:
    match = LAYOUTS[form].match
    words = (match >> 32, match & 0xFFFFFFFF) if form.prefixed else (match,)
    return " ".join(f"0x{word:08x}" for word in words)


def _arithmetic(form: Form) -> str:
    match form.operation:
        case RankKUpdate(family=IntegerFamily(), saturates=saturates):
            return "saturating" if saturates else "modulo"
        case RankKUpdate():
            return "IEEE 754"
        case _:
            return ""


def _priming(form: Form) -> str:
    effect = priming(form.operation)
    return effect.value if effect else ""


def _mask_width(name: str) -> Callable[[Form], str]:
    def cell(form: Form) -> str:
        if form.update is None or not form.prefixed:
            return ""
        return str(mask_widths(form.update.family).get(name, ""))

    return cell


def _constraints(form: Form) -> str:
    constraints = [f"{operand.name} {operand.allowed}" for operand in form.operands]
    if form.update:
        sources = " and ".join(operand.name for operand in form.operands if operand.kind is Kind.VSR)
        exempt = ", ".join(name for name, target in TARGETS.items() if target.separate_accumulators)
        constraints.append(f"{sources} not in VSR[4AT..4AT+3] (except {exempt})")
    return "; ".join(constraints)


def _targets(form: Form) -> str:
    return ", ".join(name for name, target in TARGETS.items() if not violations(Instruction(form), target))


COLUMNS: Mapping[str, Callable[[Form], str]] = MappingProxyType(
    {
        "mnemonic": lambda form: form.mnemonic,
        "operands": lambda form: form.syntax,
        "encoding": _encoding,
        "k": _of_family(lambda family: family.rank),
        "X": _of_family(lambda family: f"{family.x} 4x{family.rank}"),
        "Y": _of_family(lambda family: f"{family.y} {family.columns}x{family.rank}"),
        "result": _of_family(lambda family: f"{family.result} 4x{family.columns}"),
        "arithmetic": _arithmetic,
        "accumulator": _priming,
        **{name: _mask_width(name) for name in MASKS},
        "constraints": _constraints,
        "targets": _targets,
    }
)
"""Column titles of `rows`, and what fills them; ``encoding`` has every operand 0."""


def row(form: Form) -> Row:
    """Return the row of an instruction form."""
    return {title: cell(form) for title, cell in COLUMNS.items()}


def rows() -> list[Row]:
    """Return one row for each instruction form."""
    return list(map(row, FORMS.values()))


def rule_rows() -> list[Row]:
    """Return one row for each legality rule."""
    return of_all.rule_rows(RULES)


def contradiction_rows() -> list[Row]:
    """Return one row for each contradicting claim."""
    return of_all.contradiction_rows(CONTRADICTIONS)
