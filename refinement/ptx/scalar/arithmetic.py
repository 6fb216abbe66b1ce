"""Opcodes with integer and floating-point forms, told apart by the first type."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from ..state.execution import Decoder, Decoders, Step
from ..state.handlers import Modifiers, pointwise
from ..text.module import InstructionStatement
from . import carry, elementary_functions, floating, integer
from .floating import Plan


def _decoder(opcode: str) -> Decoder:
    of_integers = pointwise(integer.PLANS[opcode])
    of_floats = pointwise(_FLOATING[opcode])
    with_carry = carry.HANDLERS.get(opcode)

    def decode(instruction: InstructionStatement) -> Step:
        if with_carry is not None and instruction.has("cc"):
            return with_carry(instruction)
        if not instruction.types:
            raise Modifiers(instruction).unsupported("has no type")
        return (of_integers if instruction.types[0][0] in "us" else of_floats)(instruction)

    return decode


_FLOATING: MappingProxyType[str, Callable[[Modifiers], Plan]] = MappingProxyType(
    {**floating.PLANS, "div": elementary_functions.division}
)

HANDLERS: Decoders = MappingProxyType(
    {**carry.HANDLERS, **{opcode: _decoder(opcode) for opcode in _FLOATING}}
)
"""Decoders of these opcodes, and of those with a carry."""
