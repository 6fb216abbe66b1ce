"""Modules in plainer text: branches through tables one after the other, registers of 128 bits as pairs.

``brx.idx`` becomes branches to the labels of a table that an index names, by its number; an index that the
table does not have is undefined, and ends in a trap. What moves, loads, stores or asks about a register of
128 bits is written with its halves, the lower one first; other instructions stay as they are.

Source: PTX ISA 9.1 sections 5.2.1 (.b128), 9.7.9 and 9.7.12 (brx.idx).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from ....spec.ptx.operands import Integer, Predicate, Register, Sink, Vector
from .module import Function, InstructionStatement, Module
from .operands import Label, Operand

_TARGETS = re.compile(r"\.branchtargets\s+(.*?);", re.DOTALL)

WIDE = "b128"
"""The type of registers of 128 bits."""

_HALF = "b64"


def with_plain_branches(module: Module) -> Module:
    """Return a module in which no branch goes where a register says, as far as tables are known."""
    return _with_functions(module, _without_tables)


def _without_tables(function: Function) -> Function:
    if not any(instruction.opcode == "brx" for instruction in function.body):
        return function
    registers = dict(function.registers)

    def plain(instruction: InstructionStatement) -> Iterable[InstructionStatement]:
        labels = _labels(function, instruction)
        return [instruction] if labels is None else _chain(instruction, labels, registers)

    return _with_instructions(function, plain, registers)


def _labels(function: Function, instruction: InstructionStatement) -> list[str] | None:
    """Return the labels of the table that an instruction names, in order; None if that is not known."""
    if instruction.opcode != "brx" or len(instruction.operands) != 2:
        return None
    index, table = instruction.operands
    if not isinstance(index, Register) or not isinstance(table, Register):
        return None
    found = _TARGETS.search(function.tables.get(table.name, ""))
    if found is None:
        return None
    names = [each.strip() for each in found[1].split(",")]
    return names if all(name in function.labels for name in names) else None


def _chain(
    instruction: InstructionStatement, labels: list[str], registers: dict[str, str]
) -> Iterator[InstructionStatement]:
    """Yield a comparison and a branch for each label; a guard that does not hold skips them all."""
    index = instruction.operands[0]
    guard = instruction.predicate
    line, source = instruction.line, instruction.source

    def made(opcode: str, modifiers: tuple[str, ...], *operands: object) -> InstructionStatement:
        return InstructionStatement(opcode, modifiers, operands, guard, line, source)  # type: ignore[arg-type]

    for number, label in enumerate(labels):
        name = f"%brx{line}_{number}"
        registers[name] = "pred"
        chosen = Register(name, "pred")
        if guard is not None:  # where it does not hold, the comparison is not made
            yield InstructionStatement("mov", ("pred",), (chosen, Integer(0)), None, line, source)
        yield made("setp", ("eq", "u32"), chosen, index, Integer(number))
        yield InstructionStatement("bra", (), (Label(label),), Predicate(name, negated=False), line, source)
    yield made("trap", ())


def with_halved_registers(module: Module) -> Module:
    """Return a module in which registers of 128 bits are pairs, as far as instructions are known."""
    return _with_functions(module, _with_pairs)


def _with_pairs(function: Function) -> Function:
    wide = [name for name, kind in function.registers.items() if kind == WIDE]
    if not wide:
        return function
    halves = {
        name: Vector(tuple(Register(f"{name}.{half}", _HALF) for half in ("lo", "hi"))) for name in wide
    }
    registers = dict(function.registers)
    registers |= {f"{name}.{half}": _HALF for name in wide for half in ("lo", "hi")}
    return _with_instructions(function, lambda instruction: _halved(instruction, halves), registers)


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


def _with_functions(module: Module, rewritten: Callable[[Function], Function]) -> Module:
    functions = {name: rewritten(function) for name, function in module.functions.items()}
    return replace(module, functions=MappingProxyType(functions))


def _with_instructions(
    function: Function,
    plain: Callable[[InstructionStatement], Iterable[InstructionStatement]],
    registers: Mapping[str, str],
) -> Function:
    """Return a function with what `plain` makes of each instruction, and labels before what they were at.

    Registers may be added to meanwhile.
    """
    body: list[InstructionStatement] = []
    starts = []
    for instruction in function.body:
        starts.append(len(body))
        body += plain(instruction)
    starts.append(len(body))
    labels = MappingProxyType({name: starts[index] for name, index in function.labels.items()})
    return replace(function, body=tuple(body), labels=labels, registers=MappingProxyType(registers))
