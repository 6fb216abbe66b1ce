"""``brx.idx`` as branches one after the other: to the label of a table that an index names, by its number.

An index that the table does not have is undefined, and ends in a trap. Source: PTX ISA 9.1 section 9.7.12
(brx.idx).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType

from ....spec.ptx.operands import Integer, Predicate, Register
from .module import Function, InstructionStatement, Module
from .operands import Label

_TARGETS = re.compile(r"\.branchtargets\s+(.*?);", re.DOTALL)


def with_plain_branches(module: Module) -> Module:
    """Return a module in which no branch goes where a register says, as far as tables are known."""
    functions = {name: _rewritten(each) for name, each in module.functions.items()}
    return replace(module, functions=MappingProxyType(functions))


def _rewritten(function: Function) -> Function:
    if not any(instruction.opcode == "brx" for instruction in function.body):
        return function
    registers = dict(function.registers)
    body: list[InstructionStatement] = []
    starts = []
    for instruction in function.body:
        starts.append(len(body))
        labels = _labels(function, instruction)
        body += [instruction] if labels is None else _chain(instruction, labels, registers)
    starts.append(len(body))
    places = {name: starts[index] for name, index in function.labels.items()}
    return replace(
        function,
        body=tuple(body),
        labels=MappingProxyType(places),
        registers=MappingProxyType(registers),
    )


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
