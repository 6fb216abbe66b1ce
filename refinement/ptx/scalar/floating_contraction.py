"""Products and sums of floats that the assembler may contract to fma.

Source: PTX ISA, floating-point add, sub and mul: without a rounding modifier they round to nearest, but a
product and a sum may become one fused multiply-add.
"""

from __future__ import annotations

from ..text.module import Function, InstructionStatement
from .floating import ROUNDINGS, TYPES


def may_be_contracted(function: Function) -> bool:
    """Tell whether a function has both a product and a sum of floats that spell no rounding."""
    opcodes = {instruction.opcode for instruction in function.body if _is_open(instruction)}
    return "mul" in opcodes and bool(opcodes & {"add", "sub"})


def _is_open(instruction: InstructionStatement) -> bool:
    floats = any(name in TYPES or name == "f32x2" for name in instruction.types)
    return floats and instruction.one_of(ROUNDINGS) is None
