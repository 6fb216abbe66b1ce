"""Matrix-Multiply Assist instructions, as the specification means them, and the rules of accumulators.

An accumulator and its four vector-scalar registers are kept apart, unless a contract says that they are one
storage (`mmaproof.spec.power.choices.ALIASING`). Kept apart, the rules say when which of them may be used:
what breaks one is reported, and the values concerned are undefined.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....spec.formats import U8, Format
from ....spec.legality import Violation
from ....spec.legality import violations as violations_of
from ....spec.operand_arrays import ALGEBRA
from ....spec.power import instructions as specified
from ....spec.power.catalogue import Family, Move, RankKUpdate
from ....spec.power.choices import Choices
from ....spec.power.forms import FORMS
from ....spec.power.instructions import VSRS_PER_ACCUMULATOR, associated_vsrs
from ....spec.power.legality import violations
from ....spec.power.priming import RULES, Step
from ....spec.power.rank_k_update import Live, rank_k_update
from ....spec.power.registers import (
    ACCUMULATOR_ROWS,
    REGISTER_BITS,
    REGISTER_BYTES,
    accumulator_layout,
    x_layout,
    y_layout,
)
from ....spec.power.targets import TARGETS
from ....spec.rounding import Rounding
from ...findings.finding import Kind
from ...machine.memory import ABSENT
from ...terms.algebra import TermAlgebra
from ...terms.interning import Ids
from ..image.instruction_forms import Instruction

if TYPE_CHECKING:
    from ..machine import Handler, Machine

_TARGET = TARGETS["power10"]
_ALIASED = VSRS_PER_ACCUMULATOR * 8
_BYTES = ACCUMULATOR_ROWS * REGISTER_BYTES


@cache
def _specified(instruction: Instruction) -> specified.Instruction:
    assert instruction.form.specified is not None
    return specified.Instruction(instruction.form.specified, instruction.values)


def report_violations(machine: Machine, instruction: Instruction) -> None:
    """Report what is wrong with an instruction wherever it stands, such as operands that overlap."""
    for violation in violations(_specified(instruction), _TARGET):
        machine.report(Kind.ILLEGAL, f"{instruction}: {violation.message}")


@cache
def _misuses(instruction: Instruction, primed: tuple[bool, ...]) -> tuple[Violation, ...]:
    step = Step(_specified(instruction), np.array(primed))
    return tuple(violations_of(RULES, step, _TARGET))


# -- other instructions' use of the registers
def check_read(machine: Machine, instruction: Instruction, number: int) -> None:
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


def check_write(machine: Machine, instruction: Instruction, number: int) -> None:
    """Lose what an accumulator holds when a register of its is written.

    That is a depriming event and no fault where nothing reads the accumulator before it is primed again, as
    compilers know: they leave those that are no longer needed primed. Whoever reads it breaks the rules.
    """
    accumulator = number // VSRS_PER_ACCUMULATOR
    if number >= _ALIASED or not machine.registers.primed[accumulator]:
        return
    where = machine.image.place(machine.address)
    _lose(machine, accumulator, f"{instruction} at {where} writes vs{number} and so loses it")


def _lose(machine: Machine, accumulator: int, by: str = "") -> None:
    """Leave an accumulator unprimed, and it as well as its registers without anything known."""
    registers = machine.registers
    own = slice(_BYTES * accumulator, _BYTES * (accumulator + 1))
    registers.accumulators.terms[own] = ABSENT
    registers.vectors.terms[own] = ABSENT
    registers.primed[accumulator] = False
    registers.lost_by[accumulator] = by


def _report_misuses(machine: Machine, instruction: Instruction, accumulator: int) -> None:
    registers = machine.registers
    if registers.shared:
        return
    lost_by = registers.lost_by.pop(accumulator, "")
    for each in _misuses(instruction, tuple(registers.primed)):
        because = f"; {lost_by}" if lost_by and each.rule.id == "unprimed" else ""
        machine.report(Kind.ACCUMULATOR, each.message + because)


def check_call(machine: Machine, name: str) -> None:
    """Lose what accumulators hold where a function is called that may use them itself.

    Reported are those over registers that the function has to save, which it can't while they are primed.
    """
    for accumulator in machine.registers.primed_over_saved():
        machine.report(Kind.ACCUMULATOR, f"{name} is called while a{accumulator} is primed")
    for accumulator, primed in enumerate(machine.registers.primed):
        if primed:
            _lose(
                machine,
                accumulator,
                f"the call of {name} at {machine.image.place(machine.address)} may use it",
            )


# -- the instructions
def _update(machine: Machine, instruction: Instruction) -> None:
    registers = machine.registers
    given = _specified(instruction)
    update, accumulator = given.operation, given.accumulator
    assert isinstance(update, RankKUpdate) and accumulator is not None
    _report_misuses(machine, instruction, accumulator)
    assert given.x is not None and given.y is not None
    family = update.family
    algebra = TermAlgebra(machine.store)
    x = _matrix(machine, algebra, given.x, _places(family, "x"), family.x)
    y = _matrix(machine, algebra, given.y, _places(family, "y"), family.y)
    lanes = registers.accumulators
    first = _BYTES * accumulator
    offsets, size = first + _places(family, "acc").reshape(-1), family.result.bits // 8
    if update.accumulates:
        if not registers.primed[accumulator] and not registers.shared:
            _lose(machine, accumulator)
        registers.define(lanes, slice(first, first + _BYTES))
        acc = lanes.read(offsets, size).reshape(ACCUMULATOR_ROWS, -1)
    else:
        acc = algebra.constant(0, family.result)
    result = rank_k_update(
        algebra, update, x, y, acc, _live(family, given.masks), Rounding.NEAREST_EVEN, Choices()
    )
    lanes.write(offsets, np.ascontiguousarray(result).reshape(-1))
    registers.primed[accumulator] = not registers.shared


@cache
def _live(family: Family, masks: tuple[int, int, int]) -> Live:
    widths = (4, family.columns, family.rank)
    return Live(*(ALGEBRA.flags(mask, width) for mask, width in zip(masks, widths, strict=True)))


def _matrix(
    machine: Machine, algebra: TermAlgebra, register: int, places: NDArray[np.int64], fmt: Format
) -> Ids:
    """Return an operand (rows, k) that lies in registers from one on."""
    lanes, first = machine.registers.vectors, REGISTER_BYTES * register
    last = int(places.max()) // REGISTER_BYTES + 1
    machine.registers.define(lanes, slice(first, first + REGISTER_BYTES * last))
    if fmt.bits >= U8.bits:
        return lanes.read(first + places.reshape(-1), fmt.bits // 8).reshape(places.shape)
    held = lanes.read(first + places[:, ::2].reshape(-1), 1)
    return algebra.unpack(held.reshape(len(places), -1), fmt)


@cache
def _places(family: Family, operand: str) -> NDArray[np.int64]:
    """Return where the elements of an operand begin, of 4 bits their byte, from its first register on."""
    match operand:
        case "x":
            layout, fmt = x_layout(family), family.x
        case "y":
            layout, fmt = y_layout(family), family.y
        case _:
            layout, fmt = accumulator_layout(family.result), family.result
    register, part = layout.forward(*np.indices(tuple(axis.extent for axis in layout.source)))
    bits = REGISTER_BITS - fmt.bits * (np.asarray(part) + 1)
    return np.asarray(REGISTER_BYTES * np.asarray(register) + bits // U8.bits, dtype=np.int64)


def _move(machine: Machine, instruction: Instruction) -> None:
    registers = machine.registers
    given = _specified(instruction)
    accumulator = given.accumulator
    assert accumulator is not None
    _report_misuses(machine, instruction, accumulator)
    own = slice(_BYTES * accumulator, _BYTES * (accumulator + 1))
    first = REGISTER_BYTES * associated_vsrs(accumulator)[0]
    associated = slice(first, first + _BYTES)
    lanes, vectors = registers.accumulators, registers.vectors
    match given.operation:
        case Move.XXSETACCZ:
            lanes.terms[own], lanes.lows[own] = machine.store.constants(0, 8), 0
        case Move.XXMTACC:
            lanes.terms[own], lanes.lows[own] = vectors.terms[associated], vectors.lows[associated]
        case Move.XXMFACC:
            if not registers.primed[accumulator] and not registers.shared:
                _lose(machine, accumulator)
            vectors.terms[associated], vectors.lows[associated] = lanes.terms[own], lanes.lows[own]
            registers.lost_by[accumulator] = (
                f"{instruction} at {machine.image.place(machine.address)} took it (it stays only where the "
                'accumulator is the storage of its registers: aliasing = "shared")'
            )
    registers.primed[accumulator] = given.operation is not Move.XXMFACC and not registers.shared


HANDLERS: MappingProxyType[str, Handler] = MappingProxyType(
    {
        name: _move if isinstance(form.operation, Move) else _update
        for name, form in FORMS.items()
        if isinstance(form.operation, Move | RankKUpdate)
    }
)
"""What carries out the instructions of this module, by mnemonic."""
