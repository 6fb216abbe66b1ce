"""Matrix-Multiply Assist instructions by the specification's meaning, and accumulator rules.

An accumulator and its four vector-scalar registers are kept apart, unless a contract says that they are one
storage (`mmaproof.spec.power.choices.ALIASING`). Kept apart, the rules say when which of them may be used:
what breaks one is reported, and the values concerned are undefined.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.formats import U8, Format
from ....spec.operand_arrays import ALGEBRA
from ....spec.power.catalogue import Family, Move, RankKUpdate
from ....spec.power.choices import Choices
from ....spec.power.forms import FORMS
from ....spec.power.instructions import VSRS_PER_ACCUMULATOR, associated_vsrs
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
from ...terms.algebra import TermAlgebra
from ...terms.interning import Ids
from ..image.instruction_forms import Instruction
from ..machine import Handler, Machine
from ..state.accumulator_rules import lose, report_misuses, specified_as

_TARGET = TARGETS["power10"]
_ALIASED = VSRS_PER_ACCUMULATOR * 8
_BYTES = ACCUMULATOR_ROWS * REGISTER_BYTES


def _update(machine: Machine, instruction: Instruction) -> None:
    registers = machine.registers
    given = specified_as(instruction)
    update, accumulator = given.operation, given.accumulator
    assert isinstance(update, RankKUpdate) and accumulator is not None
    report_misuses(machine, instruction, accumulator)
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
            lose(machine, accumulator)
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
    given = specified_as(instruction)
    accumulator = given.accumulator
    assert accumulator is not None
    report_misuses(machine, instruction, accumulator)
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
                lose(machine, accumulator)
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
