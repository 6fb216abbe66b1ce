"""Why a run on numbers ends early: the kernel does what it must not, or what is not modelled here."""

from __future__ import annotations

from dataclasses import dataclass

from ...findings.finding import Kind
from ..text.module import InstructionStatement


@dataclass(frozen=True)
class Fault:
    """What a kernel does that it must not.

    Attributes
    ----------
    kind : Kind
        ``out-of-bounds``, ``misaligned``, ``race``, ``deadlock``.
    message : str
        With the block, the thread and the address.
    instruction : InstructionStatement, optional
        Where; None of a deadlock.
    depends : bool
        Whether the block has read numbers that are not known here, so that its addresses may be wrong.
    """

    kind: Kind
    message: str
    instruction: InstructionStatement | None
    depends: bool = False

    @property
    def where(self) -> str:
        """The line of the source where the compiler names it, and else of the PTX."""
        if self.instruction is None:
            return ""
        return str(self.instruction.source or f"line {self.instruction.line} of the PTX")

    def __str__(self) -> str:
        return f"{self.where}: {self.kind}: {self.message}" if self.where else f"{self.kind}: {self.message}"


class FaultError(Exception):
    """A run has met a fault, behind which nothing that it does means anything.

    Parameters
    ----------
    fault : Fault
        The fault.
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


class BudgetError(Exception):
    """A run takes longer than it may."""
