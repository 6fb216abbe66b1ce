"""A scalar instruction as users ask about it: judged, executed, explained."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...algebra import Array
from ...element_table import ElementTable
from ...errors import InputError, UnsupportedError
from ...instruction_set import Description, Judgement, described
from ..legality import Module
from ..operands import Predicate
from ..special_registers import PREDEFINED
from ..targets import NEWEST, TARGETS, spell_version, target_named, version_named
from . import legality
from .catalogue import by_opcode
from .legality import Scalar
from .operands import read_operands
from .rows import Form, Row

if TYPE_CHECKING:
    from ...operand_arrays import Observer

_WRITTEN = re.compile(
    r"\s*(?:@\s*(?P<negated>!?)\s*(?P<guard>[\w$%]+)\s+)?(?P<opcode>[a-z]\w*)"
    r"(?P<modifiers>(?:\s*\.\s*[\w:]+)*)(?P<operands>.*)",
    re.ASCII | re.DOTALL,
)
_NEWEST_TARGET = "sm_120a"
"""A target that has every form."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def read(text: str, declarations: Mapping[str, str] | None = None) -> ScalarInstruction | None:
    """Read a scalar instruction; None where the opcode has no row.

    Raises
    ------
    InputError
        If what stands behind the mnemonic is no list of operands.
    """
    written = _WRITTEN.fullmatch(_COMMENT.sub(" ", text))
    if written is None or written["opcode"] not in by_opcode():
        return None
    names = declarations or PREDEFINED
    guard = written["guard"]
    predicate = Predicate(guard, bool(written["negated"]), names.get(guard)) if guard else None
    modifiers = tuple(filter(None, re.sub(r"\s", "", written["modifiers"]).split(".")))
    operands = read_operands(written["operands"], names)
    return ScalarInstruction(Scalar(written["opcode"], modifiers, operands, predicate))


@dataclass(frozen=True)
class ScalarInstruction:
    """A scalar instruction; see `Instruction`.

    Attributes
    ----------
    written : Scalar
        As it is written.
    """

    written: Scalar

    @property
    def mnemonic(self) -> str:
        """Its name."""
        return self.written.mnemonic

    def legal(self, target: str | None = None, version: str | None = None) -> Judgement:
        """Judge it in a module of a target (by default one that has every form) and version."""
        chosen = target_named(target or _NEWEST_TARGET)
        module = Module(chosen, NEWEST if version is None else version_named(version))
        wrong = legality.violations(self.written, module)
        return Judgement(chosen.name, tuple(wrong), legality.objections(self.written, wrong))

    def _form(self) -> Form:
        """Return the form.

        Raises
        ------
        InputError
            If it is legal nowhere.
        """
        form = self.written.form
        wrong = legality.violations(self.written, Module(TARGETS[_NEWEST_TARGET], NEWEST))
        if form is None or wrong:
            raise InputError(f"{self.mnemonic} is illegal: {'; '.join(map(str, wrong))}")
        return form

    def laid_out(self, target: str | None = None) -> tuple[str, ...]:
        """Return nothing: one thread holds its operands."""
        return ()

    def layout(self, operand: str, target: str | None = None) -> ElementTable:
        """Refuse."""
        raise UnsupportedError(f"{self.mnemonic}: one thread holds the operands of a scalar instruction")

    def execute(
        self,
        arrays: Mapping[str, Array],
        *,
        as_registers: bool,
        rounding: str | None,
        choices: Sequence[str],
        target: str | None = None,
        observer: Observer | None = None,
    ) -> dict[str, Array]:
        """Execute it on one element for each operand, batch axes first."""
        from .execution import run

        if rounding is not None or choices:
            raise InputError(f"{self.mnemonic} leaves nothing to choose")
        return run(self.written, self._form(), arrays, as_registers=as_registers, observer=observer)

    def formula(self, target: str | None = None) -> tuple[str, ...]:
        """Return what it computes."""
        from .formulas import formulas

        return formulas(self._form())

    def row(self) -> dict[str, str]:
        """Return its row of the table ``scalar``."""
        return row_of(self._form().row)

    def describe(self) -> Description:
        """Say what it means and what constrains it."""
        form = self._form()
        results, sources = form.written_places
        rules = (f"{rule.id}: {rule.reason} ({rule.source})" for rule in legality.RULES)
        operands = [f"{place.name}: .{place.type}" for place in (*results, *sources)]
        sections = {"Operands": operands, "Semantics": self.formula()}
        return described(form.mnemonic, self.row(), sections, rules)


def row_of(row: Row) -> dict[str, str]:
    """Return a row of the table of scalar instructions."""
    availability = row.availability
    first = max(availability.minimum, 70)
    return {
        "instruction": row.head,
        "types": row.types,
        "modifiers": row.flags,
        "operands": row.operands,
        "ptx": spell_version(availability.ptx),
        "targets": f"sm_{first}+",
        "source": row.source,
    }


def rows() -> list[dict[str, str]]:
    """Return the table of scalar instructions."""
    from .catalogue import ROWS

    return [row_of(row) for row in ROWS]
