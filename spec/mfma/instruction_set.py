"""AMD's MFMA as an `InstructionSet`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..algebra import Array
from ..element_table import ElementTable
from ..errors import InputError
from ..instruction_set import Description, Judgement, described, refuse_declarations
from ..tables import contradiction_rows, rule_rows
from . import assembly, legality, tables
from .catalogue import ROWS, MatrixMultiply
from .choices import OPEN_POINTS, PRESETS, choices_named
from .contradictions import CONTRADICTIONS
from .encoding import encode
from .instructions import Written
from .product import modifiers_of
from .targets import DEFAULT_TARGET, TARGETS, Target, target_named

if TYPE_CHECKING:
    from ..operand_arrays import Observer


@dataclass(frozen=True)
class MfmaInstruction:
    """An instruction of MFMA; see `Instruction`.

    Attributes
    ----------
    written : Written
        The name, and the operands and modifiers that were given.
    """

    written: Written

    @property
    def mnemonic(self) -> str:
        """The mnemonic."""
        return self.written.mnemonic

    def _on(self, target: str | None) -> tuple[MatrixMultiply, Target]:
        """Return what the name stands for on a target; by default on the newest that has it.

        Raises
        ------
        InputError
            If the target does not have it.
        """
        if target is None:
            row, chosen = self.written.somewhere
            return row, chosen
        chosen = target_named(target)
        if (found := self.written.on(chosen)) is None:
            raise InputError(f"{chosen.name} has no {self.mnemonic}")
        return found, chosen

    def legal(self, target: str | None = None, version: str | None = None) -> Judgement:
        """Judge it; the version is of no concern."""
        chosen = target_named(target)
        return Judgement(
            chosen.name,
            tuple(legality.violations(self.written, chosen)),
            tuple(legality.notes(self.written, chosen)),
        )

    def laid_out(self, target: str | None = None) -> tuple[str, ...]:
        """Return the operands."""
        return tuple(self._on(target)[0].types)

    def layout(self, operand: str, target: str | None = None) -> ElementTable:
        """Return which lane holds which element of an operand."""
        from .tables import operand_table

        row, chosen = self._on(target)
        return operand_table(row, operand, chosen)

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
        """Execute it on a target that has it."""
        from .operand_arrays import execute

        if rounding is not None:
            raise InputError("MFMA always rounds to nearest even: --rounding is not for it")
        _, chosen = self._on(target)
        if wrong := legality.violations(self.written, chosen):
            raise InputError(f"{self.written} is illegal on {chosen.name}: {'; '.join(map(str, wrong))}")
        return execute(
            self.written, chosen, arrays, choices_named(choices), as_registers=as_registers, observer=observer
        )

    def formula(self, target: str | None = None) -> tuple[str, ...]:
        """Return what it computes on a target that has it."""
        from .formula import semantics

        return tuple(semantics(*self._on(target), modifiers_of(self.written)))

    def row(self) -> dict[str, str]:
        """Return the row of what the name stands for."""
        return tables.row(self._on(None)[0])

    def describe(self) -> Description:
        """Describe what the name stands for."""
        from .error_bounds import error_bounds

        _, target = self._on(None)
        sections = {"Semantics": self.formula(), "Error bounds": tuple(error_bounds(self.written))}
        if self.written.operands is not None and not legality.violations(self.written, target):
            encoded = encode(self.written, target).to_bytes(8, "little")
            sections["Encoding"] = (f"{target.name}: {encoded.hex(' ')}",)
        rules = (f"{rule.id}: {rule.reason} ({rule.source})" for rule in legality.RULES)
        return described(str(self.written), self.row(), sections, rules)


class Mfma:
    """The dense matrix fused multiply-adds of CDNA; see `InstructionSet`."""

    name = "mfma"
    title = "AMD MFMA"
    targets = tuple(TARGETS)
    default_target = DEFAULT_TARGET.name
    open_points = OPEN_POINTS
    presets = PRESETS
    tables = {  # noqa: RUF012 - the protocol's attribute is read only
        "instructions": tables.rows,
        "rules": lambda: rule_rows(legality.RULES),
        "contradictions": lambda: contradiction_rows(CONTRADICTIONS),
    }

    def instructions(self) -> list[dict[str, str]]:
        """Return one row for each instruction."""
        return [{"mnemonic": row.name, "operands": tables.SYNTAX} for row in ROWS]

    def read(self, text: str, declarations: str | None = None) -> MfmaInstruction:
        """Read an instruction."""
        refuse_declarations(self.name, declarations)
        return MfmaInstruction(assembly.parse(text))


INSTRUCTION_SET = Mfma()
