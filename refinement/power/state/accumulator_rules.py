"""Accumulator rules: which instructions may use their registers, and when contents are lost.

An accumulator and its four vector-scalar registers are kept apart, unless a contract says that they are one
storage (`mmaproof.spec.power.choices.ALIASING`). Kept apart, the rules say when which of them may be used:
what breaks one is reported, and the values concerned are undefined.
"""

from __future__ import annotations

from functools import cache
from typing import Protocol

import numpy as np

from ....spec.legality import Violation
from ....spec.legality import violations as violations_of
from ....spec.power import instructions as specified
from ....spec.power.instructions import VSRS_PER_ACCUMULATOR
from ....spec.power.legality import violations
from ....spec.power.priming import RULES, Step
from ....spec.power.registers import (
    ACCUMULATOR_ROWS,
    REGISTER_BYTES,
)
from ....spec.power.targets import TARGETS
from ...findings.finding import Kind
from ...machine.memory import ABSENT
from ..image.instruction_forms import Instruction
from ..image.program import Image
from .registers import Registers

_TARGET = TARGETS["power10"]
_ALIASED = VSRS_PER_ACCUMULATOR * 8
_BYTES = ACCUMULATOR_ROWS * REGISTER_BYTES


class Reporting(Protocol):
    """The protocol by which accumulator rules report to the machine."""

    @property
    def registers(self) -> Registers:
        """Its registers."""

    @property
    def image(self) -> Image:
        """The program."""

    @property
    def address(self) -> int:
        """Of the instruction that runs."""

    def report(self, kind: Kind, message: str) -> None:
        """Note a finding at the instruction that runs."""


@cache
def specified_as(instruction: Instruction) -> specified.Instruction:
    """Return an instruction as the specification has it."""
    assert instruction.form.specified is not None
    return specified.Instruction(instruction.form.specified, instruction.values)


def report_violations(machine: Reporting, instruction: Instruction) -> None:
    """Report what is wrong with an instruction wherever it stands, such as operands that overlap."""
    for violation in violations(specified_as(instruction), _TARGET):
        machine.report(Kind.ILLEGAL, f"{instruction}: {violation.message}")


@cache
def _misuses(instruction: Instruction, primed: tuple[bool, ...]) -> tuple[Violation, ...]:
    step = Step(specified_as(instruction), np.array(primed))
    return tuple(violations_of(RULES, step, _TARGET))


def check_read(machine: Reporting, instruction: Instruction, number: int) -> None:
    """Report that a register is read while its accumulator is primed; its value is then undefined."""
    if number >= _ALIASED or not machine.registers.primed[number // VSRS_PER_ACCUMULATOR]:
        return
    machine.report(
        Kind.ACCUMULATOR,
        f"{instruction} reads vs{number} while a{number // VSRS_PER_ACCUMULATOR} is primed (defined only "
        f'where the accumulator is the storage of its registers: aliasing = "shared")',
    )
    at = REGISTER_BYTES * number
    machine.registers.vectors.terms[at : at + REGISTER_BYTES] = ABSENT


def check_write(machine: Reporting, instruction: Instruction, number: int) -> None:
    """Lose what an accumulator holds when a register of its is written.

    That is a depriming event and no fault where nothing reads the accumulator before it is primed again, as
    compilers know: they leave those that are no longer needed primed. Whoever reads it breaks the rules.
    """
    accumulator = number // VSRS_PER_ACCUMULATOR
    if number >= _ALIASED or not machine.registers.primed[accumulator]:
        return
    where = machine.image.place(machine.address)
    lose(machine, accumulator, f"{instruction} at {where} overwrites it by writing vs{number}")


def lose(machine: Reporting, accumulator: int, by: str = "") -> None:
    """Leave an accumulator unprimed, and it as well as its registers without anything known."""
    registers = machine.registers
    own = slice(_BYTES * accumulator, _BYTES * (accumulator + 1))
    registers.accumulators.terms[own] = ABSENT
    registers.vectors.terms[own] = ABSENT
    registers.primed[accumulator] = False
    registers.lost_by[accumulator] = by


def report_misuses(machine: Reporting, instruction: Instruction, accumulator: int) -> None:
    """Report the rules that an instruction breaks, with what its accumulator was lost by."""
    registers = machine.registers
    if registers.shared:
        return
    lost_by = registers.lost_by.pop(accumulator, "")
    for misuse in _misuses(instruction, tuple(registers.primed)):
        because = f"; {lost_by}" if lost_by and misuse.rule.id == "unprimed" else ""
        machine.report(Kind.ACCUMULATOR, misuse.message + because)


def check_call(machine: Reporting, name: str) -> None:
    """Lose what accumulators hold where a function is called that may use them itself.

    Reported are those over registers that the function has to save, which it can't while they are primed.
    """
    for accumulator in machine.registers.primed_over_saved():
        machine.report(Kind.ACCUMULATOR, f"{name} is called while a{accumulator} is primed")
    for accumulator, primed in enumerate(machine.registers.primed):
        if primed:
            lose(
                machine,
                accumulator,
                f"the call of {name} at {machine.image.place(machine.address)} may use it",
            )
