"""What every instruction set offers to a user: judge, execute, tabulate, lay out.

Each package of an instruction set has a module ``instruction_set`` with an `InstructionSet` of that
name; it is imported when the instruction set is named, or recognised in an instruction's text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, cast

from .errors import InputError

if TYPE_CHECKING:  # --help starts without numpy
    from .algebra import Array
    from .choices import OpenPoint
    from .element_table import ElementTable
    from .legality import Violation


@dataclass(frozen=True)
class Judgement:
    """Whether an instruction is legal.

    Attributes
    ----------
    target : str
        The processor it was judged for.
    violations : tuple of Violation
        The rules it violates; none means legal.
    """

    target: str
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class Description:
    """Titled sections of text.

    Attributes
    ----------
    title : str
        What is described.
    sections : tuple of (heading, lines)
        What there is to say.
    """

    title: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]


class InstructionSet(Protocol):
    """An instruction set."""

    name: str
    targets: Collection[str]
    default_target: str
    open_points: Sequence[OpenPoint]
    presets: Mapping[str, Any]
    tables: Mapping[str, Callable[[], list[dict[str, str]]]]
    """Tables by name: ``instructions``, ``rules``, ``contradictions``."""

    def instructions(self) -> list[dict[str, str]]:
        """Return ``mnemonic`` and ``operands`` of every instruction."""
        ...

    def describe(self, text: str) -> Description:
        """Say what an instruction means and what constrains it.

        Raises
        ------
        InputError
            If the text is no instruction.
        """
        ...

    def judge(self, text: str, target: str | None, version: str | None) -> Judgement:
        """Judge an instruction for a target (by default `default_target`) and a version of the ISA.

        Raises
        ------
        InputError
            If the text is no instruction, or the target or version is unknown.
        """
        ...

    def execute(
        self,
        text: str,
        arrays: Mapping[str, Array],
        *,
        as_registers: bool,
        rounding: str | None,
        choices: Sequence[str],
    ) -> dict[str, Array]:
        """Execute an instruction on named arrays.

        Raises
        ------
        InputError
            If the instruction is not legal or can't be executed, or an array is missing or wrong.
        """
        ...

    def layout(self, text: str, operand: str) -> ElementTable:
        """Say who holds which element of an operand.

        Raises
        ------
        InputError
            If the instruction has no such operand.
        UnsupportedError
            If the ISA does not specify it.
        """
        ...


NAMES = ("power", "ptx")
"""The instruction sets."""

_FIRST_WORDS = MappingProxyType(dict.fromkeys(("mma", "wmma", "ldmatrix", "stmatrix", "movmatrix"), "ptx"))
"""How the instructions of a set other than the first begin."""


def instruction_set(name: str) -> InstructionSet:
    """Return an instruction set.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    if name not in NAMES:
        raise InputError(f"unknown ISA {name!r}; known: {', '.join(NAMES)}")
    module = import_module(f".{name}.instruction_set", __package__)
    return cast(InstructionSet, module.INSTRUCTION_SET)


def of_target(name: str) -> InstructionSet:
    """Return the instruction set that a target executes.

    Raises
    ------
    InputError
        If no instruction set has a target of that name.
    """
    for isa in map(instruction_set, NAMES):
        if name in isa.targets:
            return isa
    known = "; ".join(f"{isa.name}: {', '.join(isa.targets)}" for isa in map(instruction_set, NAMES))
    raise InputError(f"unknown target {name!r}; known: {known}")


def of_instruction(text: str, target: str | None = None) -> InstructionSet:
    """Return the instruction set that an instruction's first word belongs to.

    A word that says nothing is taken as an instruction of the target, or of the first instruction set.

    Raises
    ------
    InputError
        If the target is needed and unknown.
    """
    first = next((word for word in text.split() if not word.startswith("@")), "")
    if (name := _FIRST_WORDS.get(first.split(".")[0])) is not None:
        return instruction_set(name)
    return instruction_set(NAMES[0]) if target is None else of_target(target)
