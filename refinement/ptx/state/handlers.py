"""Decoding of instructions: modifiers are consumed one by one, and unknown ones refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType

from ....spec.errors import UnsupportedError
from ..registers.threads import Indices
from ..registers.values import Rule
from ..text.module import TYPE_BITS, InstructionStatement
from ..text.operands import Operand
from .execution import Decoder, Decoders, Execution, Step


def merged(*tables: Decoders) -> Decoders:
    """Return one table of several, which have no opcode in common."""
    found: dict[str, Decoder] = {}
    for table in tables:
        assert found.keys().isdisjoint(table), found.keys() & table.keys()
        found |= table
    return MappingProxyType(found)


class Modifiers:
    """The modifiers of an instruction, taken in any order until none is left.

    Parameters
    ----------
    instruction : InstructionStatement
        Whose they are.
    """

    def __init__(self, instruction: InstructionStatement) -> None:
        self.instruction = instruction
        self._left = list(instruction.modifiers)

    def flag(self, name: str) -> bool:
        """Take a modifier, and say whether it was there."""
        if name not in self._left:
            return False
        self._left.remove(name)
        return True

    def one_of(self, choices: Iterable[str], default: str | None = None) -> str:
        """Take the one modifier of some choices.

        Raises
        ------
        UnsupportedError
            If there is none, and no default.
        """
        names = tuple(choices)
        for modifier in self._left:
            if modifier in names:
                self._left.remove(modifier)
                return modifier
        if default is None:
            raise self.unsupported(f"needs one of {', '.join(f'.{name}' for name in names)}")
        return default

    def types(self, *allowed: Iterable[str]) -> tuple[str, ...]:
        """Take as many types, in the order written, as there are collections of allowed ones."""
        found = tuple(modifier for modifier in self._left if modifier in TYPE_BITS)
        if len(found) != len(allowed):
            counted = f"{len(allowed)} type{'s' * (len(allowed) != 1)}"
            raise self.unsupported(f"needs {counted}, not {len(found)}")
        for name, choices in zip(found, allowed, strict=True):
            names = tuple(choices)
            if name not in names:
                raise self.unsupported(f".{name} is not one of {', '.join(f'.{each}' for each in names)}")
            self._left.remove(name)
        return found

    def type(self, allowed: Iterable[str]) -> str:
        """Take the one type."""
        return self.types(allowed)[0]

    def count_types(self) -> int:
        """Return how many types have not been taken."""
        return sum(modifier in TYPE_BITS for modifier in self._left)

    def finish(self) -> None:
        """Refuse what nobody took.

        Raises
        ------
        UnsupportedError
            Naming the modifiers left.
        """
        if self._left:
            raise self.unsupported(f"{', '.join(f'.{name}' for name in self._left)} is not supported here")

    def unsupported(self, why: str) -> UnsupportedError:
        """Return an error about the instruction."""
        return UnsupportedError(f"{self.instruction.mnemonic}: {why}")

    def operands(self, *counts: int) -> tuple[Operand, ...]:
        """Return the operands, of which there must be one of some numbers."""
        found = self.instruction.operands
        if len(found) not in counts:
            allowed = " or ".join(map(str, counts))
            raise self.unsupported(f"takes {allowed} operands, not {len(found)}")
        return found


def pointwise(decode: Callable[[Modifiers], tuple[Sequence[int], Rule]]) -> Decoder:
    """Return the decoder of an instruction that computes one register from others, thread by thread.

    Parameters
    ----------
    decode : callable
        Takes the modifiers, and returns the widths of the sources and the rule.
    """

    def decoder(instruction: InstructionStatement) -> Step:
        modifiers = Modifiers(instruction)
        widths, rule = decode(modifiers)
        modifiers.finish()
        destination, *sources = modifiers.operands(1 + len(widths))
        given = tuple(zip(sources, widths, strict=True))

        def step(execution: Execution, active: Indices) -> None:
            values = [execution.read(source, width, active) for source, width in given]
            execution.write(destination, rule(execution.store, values), active)

        return step

    return decoder
