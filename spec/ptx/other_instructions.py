"""Instructions of PTX that are known, but not specified here: only whether a target has them is judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from ..algebra import Array
from ..element_table import ElementTable
from ..errors import UnsupportedError
from ..instruction_set import Description, Judgement
from ..legality import Note, NoteKind, Rule, Violation
from .opcode_table import Opcode
from .targets import Target, target_named, version_named

if TYPE_CHECKING:
    from ..operand_arrays import Observer


def _lacking(opcode: Opcode, target: Target) -> Iterator[str]:
    if not opcode.on(target):
        yield f"{opcode.name} needs {opcode.availability.targets}, not {target}"


OPCODE_TARGET: Rule[Opcode, Target] = Rule(
    "opcode-target",
    "the target has instructions with the opcode",
    "PTX ISA 9.7, target notes; ptxas",
    _lacking,
)
"""What is judged of an instruction that is not specified."""


def lacking(opcode: Opcode, target: Target) -> tuple[Violation, ...]:
    """Return the violation of a target that has no instruction with an opcode."""
    return tuple(Violation(OPCODE_TARGET, message) for message in OPCODE_TARGET.check(opcode, target))


def not_judged(opcode: Opcode, mnemonic: str) -> str:
    """Say why an instruction is not judged."""
    what = "known, not modelled" if opcode.is_matrix_product else "known, no matrix instruction, not judged"
    return f"{mnemonic}: {what}: PTX ISA {opcode.section}"


@dataclass(frozen=True)
class OtherInstruction:
    """An instruction that is not specified; see `Instruction`. Every question but `legal` is refused.

    Attributes
    ----------
    opcode : Opcode
        What it begins with.
    mnemonic : str
        With its modifiers.
    """

    opcode: Opcode
    mnemonic: str

    def legal(self, target: str | None = None, version: str | None = None) -> Judgement:
        """Judge whether a target (by default the newest that has it) lacks it; else nothing is decided."""
        if version is not None:
            version_named(version)
        chosen = target_named(target or self.opcode.newest_target)
        wrong = lacking(self.opcode, chosen)
        open_point = Note(NoteKind.NOT_JUDGED, not_judged(self.opcode, self.mnemonic))
        return Judgement(chosen.name, wrong, () if wrong else (open_point,))

    def laid_out(self, target: str | None = None) -> tuple[str, ...]:
        """Refuse."""
        self._refuse()

    def layout(self, operand: str, target: str | None = None) -> ElementTable:
        """Refuse."""
        self._refuse()

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
        """Refuse."""
        self._refuse()

    def formula(self, target: str | None = None) -> tuple[str, ...]:
        """Refuse."""
        self._refuse()

    def row(self) -> dict[str, str]:
        """Refuse."""
        self._refuse()

    def describe(self) -> Description:
        """Refuse."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise UnsupportedError(not_judged(self.opcode, self.mnemonic))
