"""Power MMA as an `InstructionSet`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..algebra import Array
from ..element_table import ElementTable
from ..instruction_set import Description, Judgement, described, refuse_declarations
from . import assembly, legality, tables
from .catalogue import RankKUpdate
from .choices import OPEN_POINTS, PRESETS, choices_named
from .forms import FORMS
from .formula import semantics
from .instructions import Instruction
from .targets import TARGETS, target_named

if TYPE_CHECKING:
    from ..operand_arrays import Observer


@dataclass(frozen=True)
class PowerInstruction:
    """An instruction of Power; see `Instruction`.

    Attributes
    ----------
    written : Instruction
        The form, and the operands that were given.
    """

    written: Instruction

    @property
    def mnemonic(self) -> str:
        """The mnemonic."""
        return self.written.mnemonic

    def legal(self, target: str | None = None, version: str | None = None) -> Judgement:
        """Judge it; the version is of no concern."""
        chosen = target_named(target or PowerMMA.default_target)
        return Judgement(chosen.name, tuple(legality.violations(self.written, chosen)))

    def laid_out(self, target: str | None = None) -> tuple[str, ...]:
        """Return the operands of a rank-k update; what other instructions move has no elements."""
        from .operand_tables import OPERANDS

        return () if self.written.form.update is None else OPERANDS

    def layout(self, operand: str, target: str | None = None) -> ElementTable:
        """Return which register holds which element of an operand of a rank-k update."""
        from .operand_tables import operand_table

        return operand_table(self.written, operand)

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
        """Execute a rank-k update or an accumulator move."""
        from .operand_arrays import Environment, execute, rounding_named

        environment = Environment(rounding_named(rounding or "nearest-even"), choices_named(list(choices)))
        return execute(self.written, arrays, environment, as_registers=as_registers, observer=observer)

    def formula(self, target: str | None = None) -> tuple[str, ...]:
        """Return what the form does: it is the same on every target."""
        return tuple(semantics(self.written.form))

    def row(self) -> dict[str, str]:
        """Return the form's row."""
        return tables.row(self.written.form)

    def describe(self) -> Description:
        """Describe the form."""
        from .error_bounds import error_bounds

        form = self.written.form
        sections = {"Semantics": self.formula()}
        if isinstance(form.operation, RankKUpdate):
            sections["Error bounds"] = tuple(error_bounds(form.operation))
        rules = (f"{rule.id}: {rule.reason} ({rule.source})" for rule in legality.RULES)
        return described(f"{form.mnemonic} {form.syntax}", self.row(), sections, rules)


class PowerMMA:
    """Power ISA 3.1 Matrix-Multiply Assist; see `InstructionSet`."""

    name = "power"
    title = "Power ISA 3.1 MMA"
    targets = tuple(TARGETS)
    default_target = "power10"
    open_points = OPEN_POINTS
    presets = PRESETS
    tables = {  # noqa: RUF012 - the protocol's attribute is read only
        "instructions": tables.rows,
        "rules": tables.rule_rows,
        "contradictions": tables.contradiction_rows,
    }

    def instructions(self) -> list[dict[str, str]]:
        """Return one row for each form."""
        return [{"mnemonic": form.mnemonic, "operands": form.syntax} for form in FORMS.values()]

    def read(self, text: str, declarations: str | None = None) -> PowerInstruction:
        """Read an instruction."""
        refuse_declarations(self.name, declarations)
        return PowerInstruction(assembly.parse(text))


INSTRUCTION_SET = PowerMMA()
