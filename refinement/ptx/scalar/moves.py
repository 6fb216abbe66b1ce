"""Moves between registers, whole or in parts.

Source: PTX ISA 9.1 section 9.7.9.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from ....spec.ptx.operands import Vector
from ..registers.threads import Indices
from ..registers.value_operations import joined, lanes
from ..state.execution import Decoders, Execution, Step
from ..state.handlers import Modifiers
from ..text.module import TYPE_BITS, InstructionStatement
from ..text.operands import Operand

_MOVED = ("pred", *(f"{sort}{width}" for sort in "bus" for width in (16, 32, 64)), "f32", "f64")


def _mov(instruction: InstructionStatement) -> Step:
    """Decode ``mov``: of one register, or between a register and the parts of it."""
    modifiers = Modifiers(instruction)
    width = TYPE_BITS[modifiers.type(_MOVED)]
    modifiers.finish()
    destination, source = modifiers.operands(2)
    match destination, source:
        case Vector(elements), Vector():
            raise modifiers.unsupported("moves vectors")
        case Vector(elements), _:
            return _unpacked(modifiers, elements, source, width)
        case _, Vector(elements):
            part = _part(modifiers, elements, width)

            def pack(execution: Execution, active: Indices) -> None:
                values = [execution.read(element, part, active) for element in elements]
                execution.write(destination, joined(execution.store, values), active)

            return pack

    def move(execution: Execution, active: Indices) -> None:
        execution.write(destination, execution.read(source, width, active), active)

    return move


def _unpacked(modifiers: Modifiers, elements: Sequence[Operand], source: Operand, width: int) -> Step:
    part = _part(modifiers, elements, width)

    def unpack(execution: Execution, active: Indices) -> None:
        value = execution.read(source, width, active)
        for element, lane in zip(elements, lanes(execution.store, value, width // part), strict=True):
            execution.write(element, lane, active)

    return unpack


def _part(modifiers: Modifiers, elements: Sequence[Operand], width: int) -> int:
    part, rest = divmod(width, len(elements))
    if rest or part < 8 or len(elements) not in (2, 4):
        raise modifiers.unsupported(f"{len(elements)} parts of {width} bits")
    return part


HANDLERS: Decoders = MappingProxyType({"mov": _mov})
"""Decoders of this module's instructions."""
