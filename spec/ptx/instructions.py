"""An instruction: a variant with operands and a guard."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .operands import Operand, Predicate
from .variant import Variant


@dataclass(frozen=True)
class Instruction:
    """A variant, with its operands where they were given.

    Attributes
    ----------
    variant : Variant
        Which instruction.
    operands : tuple of Operand, optional
        In the order of the text; None when the instruction was named without operands.
    predicate : Predicate, optional
        The guard.
    """

    variant: Variant
    operands: tuple[Operand, ...] | None = None
    predicate: Predicate | None = None

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Every rule about operands looks them up.
        return hash((self.variant, self.operands, self.predicate))

    def __str__(self) -> str:
        guard = f"{self.predicate} " if self.predicate else ""
        if self.operands is None:
            return f"{guard}{self.variant}"
        return f"{guard}{self.variant} {', '.join(map(str, self.operands))};"
