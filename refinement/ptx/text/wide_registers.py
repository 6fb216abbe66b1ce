"""Registers of 128 bits, as pairs of registers of 64 bits.

What moves, loads, stores or asks about such a register is written with its halves, the lower one first; other
instructions stay as they are. Source: PTX ISA 9.1 sections 5.2.1 (.b128) and 9.7.9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from ....spec.ptx.operands import Register, Sink, Vector
from .module import Function, InstructionStatement, Module
from .operands import Operand

WIDE = "b128"
"""The type of registers of 128 bits."""

_HALF = "b64"


def with_halved_registers(module: Module) -> Module:
    """Return a module in which registers of 128 bits are pairs, as far as instructions are known."""
    functions = {name: _rewritten(each) for name, each in module.functions.items()}
    return replace(module, functions=MappingProxyType(functions))


def _rewritten(function: Function) -> Function:
    wide = [name for name, kind in function.registers.items() if kind == WIDE]
    if not wide:
        return function
    halves = {
        name: Vector(tuple(Register(f"{name}.{half}", _HALF) for half in ("lo", "hi"))) for name in wide
    }
    registers = dict(function.registers)
    registers |= {f"{name}.{half}": _HALF for name in wide for half in ("lo", "hi")}
    body: list[InstructionStatement] = []
    starts = []
    for instruction in function.body:
        starts.append(len(body))
        body += _halved(instruction, halves)
    starts.append(len(body))
    return replace(
        function,
        body=tuple(body),
        labels=MappingProxyType({name: starts[index] for name, index in function.labels.items()}),
        registers=MappingProxyType(registers),
    )


def _halved(
    instruction: InstructionStatement, halves: Mapping[str, Vector]
) -> Iterator[InstructionStatement]:
    """Yield an instruction with the halves of registers in place of them."""
    operands = tuple(_pair(operand, halves) for operand in instruction.operands)
    if operands == instruction.operands or WIDE not in instruction.modifiers:
        yield instruction
    elif instruction.opcode in ("ld", "st"):
        modifiers = [
            word
            for modifier in instruction.modifiers
            for word in (("v2", _HALF) if modifier == WIDE else (modifier,))
        ]
        yield replace(instruction, modifiers=tuple(modifiers), operands=operands)
    elif instruction.opcode == "clusterlaunchcontrol":
        yield replace(instruction, operands=operands)
    elif instruction.opcode == "mov" and all(map(_is_pair, operands)) and len(operands) == 2:
        for to, source in zip(
            *(operand.elements for operand in operands if isinstance(operand, Vector)), strict=True
        ):
            if not isinstance(to, Sink):
                yield replace(instruction, modifiers=(_HALF,), operands=(to, source))
    else:
        yield instruction


def _pair(operand: Operand, halves: Mapping[str, Vector]) -> Operand:
    return halves.get(operand.name, operand) if isinstance(operand, Register) else operand


def _is_pair(operand: Operand) -> bool:
    return isinstance(operand, Vector) and len(operand.elements) == 2
