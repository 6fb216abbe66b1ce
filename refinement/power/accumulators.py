"""Matrix-Multiply Assist instructions, as the specification means them, and the rules of accumulators.

An accumulator and its four vector-scalar registers are kept apart; that they are one storage is the rules'
concern: what breaks one is reported, and the values concerned are undefined.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import U8, Format
from ...spec.layout import Layout
from ...spec.legality import violations as violations_of
from ...spec.power import instructions as specified
from ...spec.power.catalogue import Family, Move, RankKUpdate
from ...spec.power.choices import Choices
from ...spec.power.forms import FORMS
from ...spec.power.instructions import VSRS_PER_ACCUMULATOR, associated_vsrs
from ...spec.power.legality import violations
from ...spec.power.priming import RULES, Step
from ...spec.power.rank_k_update import Live, rank_k_update
from ...spec.power.registers import ACCUMULATOR_ROWS, REGISTER_BYTES, accumulator_layout, x_layout, y_layout
from ...spec.power.targets import TARGETS
from ...spec.rounding import Rounding
from ..findings import Kind
from ..interning import Ids
from ..memory import ABSENT
from ..term_algebra import TermAlgebra
from .instruction_forms import Instruction

if TYPE_CHECKING:
    from .machine import Handler, Machine

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
def _misuses(instruction: Instruction, primed: tuple[bool, ...]) -> tuple[str, ...]:
    step = Step(_specified(instruction), np.array(primed))
    return tuple(each.message for each in violations_of(RULES, step, _TARGET))


# -- other instructions' use of the registers
def check_read(machine: Machine, instruction: Instruction, number: int) -> None:
    """Report that a register is read while its accumulator is primed; its value is then undefined."""
    if number >= _ALIASED or not machine.registers.primed[number // VSRS_PER_ACCUMULATOR]:
        return
    machine.report(
        Kind.ACCUMULATOR,
        f"{instruction} reads vs{number} while a{number // VSRS_PER_ACCUMULATOR} is primed",
    )
    at = REGISTER_BYTES * number
    machine.registers.vectors.terms[at : at + REGISTER_BYTES] = ABSENT


def check_write(machine: Machine, instruction: Instruction, number: int) -> None:
    """Report that a register is written while its accumulator is primed, which loses what that holds."""
    accumulator = number // VSRS_PER_ACCUMULATOR
    if number >= _ALIASED or not machine.registers.primed[accumulator]:
        return
    machine.report(
        Kind.ACCUMULATOR, f"{instruction} writes vs{number} and so loses what a{accumulator} holds"
    )
    _lose(machine, accumulator)


def _lose(machine: Machine, accumulator: int) -> None:
    machine.registers.accumulators.terms[_BYTES * accumulator : _BYTES * (accumulator + 1)] = ABSENT
    machine.registers.primed[accumulator] = False


def check_call(machine: Machine, name: str) -> None:
    """Report accumulators that are in use where a function is called that may use them itself."""
    for accumulator, primed in enumerate(machine.registers.primed):
        if primed:
            machine.report(Kind.ACCUMULATOR, f"{name} is called while a{accumulator} is primed")
            _lose(machine, accumulator)


# -- the instructions
def _update(machine: Machine, instruction: Instruction) -> None:
    registers = machine.registers
    given = _specified(instruction)
    for reason in _misuses(instruction, tuple(registers.primed)):
        machine.report(Kind.ACCUMULATOR, reason)
    update, accumulator = given.operation, given.accumulator
    assert isinstance(update, RankKUpdate) and accumulator is not None
    assert given.x is not None and given.y is not None
    family = update.family
    algebra = TermAlgebra(machine.store)
    x = _matrix(machine, algebra, given.x, x_layout(family), family.x)
    y = _matrix(machine, algebra, given.y, y_layout(family), family.y)
    lanes = registers.accumulators
    first = _BYTES * accumulator
    offsets, size = _accumulator_offsets(family) + first, family.result.bits // 8
    if update.accumulates:
        if not registers.primed[accumulator]:
            _lose(machine, accumulator)
        held = slice(
            ACCUMULATOR_ROWS * REGISTER_BYTES * accumulator,
            ACCUMULATOR_ROWS * REGISTER_BYTES * (accumulator + 1),
        )
        registers.define(lanes, held)
        acc = lanes.read(offsets, size).reshape(ACCUMULATOR_ROWS, -1)
    else:
        acc = algebra.constant(0, family.result)
    result = rank_k_update(
        algebra, update, x, y, acc, _live(family, given.masks), Rounding.NEAREST_EVEN, Choices()
    )
    lanes.write(offsets, np.ascontiguousarray(result).reshape(-1))
    registers.primed[accumulator] = True


@cache
def _live(family: Family, masks: tuple[int, int, int]) -> Live:
    widths = (4, family.columns, family.rank)
    flags = [
        np.array([bool(mask >> i & 1) for i in reversed(range(width))])
        for mask, width in zip(masks, widths, strict=True)
    ]
    return Live(*flags)


def _matrix(machine: Machine, algebra: TermAlgebra, first: int, layout: Layout, fmt: Format) -> Ids:
    """Return an operand (rows, k) that lies in registers from one on."""
    shape = tuple(axis.extent for axis in layout.source)
    registers = layout.target[0].extent
    if fmt.bits < U8.bits:
        held = np.concatenate([machine.registers.elements(first + each, 1) for each in range(registers)])
        elements = algebra.unpack(held.reshape(registers, -1), fmt).reshape(-1)
    else:
        size = fmt.bits // 8
        elements = np.concatenate(
            [machine.registers.elements(first + each, size) for each in range(registers)]
        )
    return elements[_order(layout)].reshape(shape)


@cache
def _order(layout: Layout) -> NDArray[np.intp]:
    """Return where among the fields of all registers the elements of a matrix are."""
    indices = np.indices(tuple(axis.extent for axis in layout.source))
    register, field = layout.forward(*indices)
    return np.asarray(register * layout.target[1].extent + field).reshape(-1)


@cache
def _accumulator_offsets(family: Family) -> NDArray[np.int64]:
    """Return where the elements of an accumulator begin among its bytes."""
    fmt = family.result
    layout = accumulator_layout(fmt)
    rows, fields = np.divmod(_order(layout), layout.target[1].extent)
    size = fmt.bits // 8
    return np.asarray(REGISTER_BYTES * rows + REGISTER_BYTES - size * (fields + 1), dtype=np.int64)


def _move(machine: Machine, instruction: Instruction) -> None:
    registers = machine.registers
    given = _specified(instruction)
    for reason in _misuses(instruction, tuple(registers.primed)):
        machine.report(Kind.ACCUMULATOR, reason)
    accumulator = given.accumulator
    assert accumulator is not None
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
            if not registers.primed[accumulator]:
                _lose(machine, accumulator)
            vectors.terms[associated], vectors.lows[associated] = lanes.terms[own], lanes.lows[own]
    registers.primed[accumulator] = given.operation is not Move.XXMFACC


HANDLERS: MappingProxyType[str, Handler] = MappingProxyType(
    {
        name: _move if isinstance(form.operation, Move) else _update
        for name, form in FORMS.items()
        if isinstance(form.operation, Move | RankKUpdate)
    }
)
"""What carries out the instructions of this module, by mnemonic."""
