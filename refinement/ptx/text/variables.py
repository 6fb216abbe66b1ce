"""The variables that a kernel uses: their memory, their state spaces, and instructions that name another one.

Source: PTX ISA 9.1 sections 5.1 and 6.4; ptxas refuses a mismatch of state spaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ....spec.ptx.operands import Address, Negated, Register, Vector
from ....spec.ptx.special_registers import SPECIAL
from .module import Function, InstructionStatement, Module, Variable
from .operands import Displaced, GenericAddress, Label, Pair, SpecialRegister, Symbol, TensorAddress


def used_variables(module: Module, function: Function) -> tuple[Variable, ...]:
    """Return a function's own variables, and those of the module that it or their initial values name."""
    outside = {variable.name: variable for variable in module.variables}
    found: dict[str, Variable] = {}
    pending: list[object] = [operand for each in function.body for operand in each.operands]
    pending += [value for each in function.variables for _, value in each.initial]
    while pending:
        operand = pending.pop()
        match operand:
            case Symbol():
                variable = outside.get(operand.name)
                if variable is not None and variable.name not in found:
                    found[variable.name] = variable
                    pending += [value for _, value in variable.initial]
            case Address() | Displaced() | GenericAddress():
                pending.append(operand.base)
            case Vector():
                pending += operand.elements
    inside = [variable for variable in module.variables if variable.name in found]
    return (*inside, *function.variables)


def bytes_in(variables: Iterable[Variable], space: str) -> int:
    """Return the bytes of variables of a state space, one behind the other."""
    total = 0
    for variable in variables:
        if variable.space == space and variable.size is not None:
            total = -(-total // variable.alignment) * variable.alignment + variable.size
    return total


SPACES = ("global", "shared", "local", "const", "param")


def variable_spaces(module: Module, function: Function) -> Mapping[str, str]:
    """Return the state space of every variable and parameter that a function's body can name."""
    variables = {variable.name: variable.space for variable in (*module.variables, *function.variables)}
    return variables | {parameter.name: "param" for parameter in (*function.parameters, *function.returned)}


def as_declared(part: Any, spaces: Mapping[str, str]) -> Any:
    """Return an operand, or part of one; names that are no registers with what they are.

    Variables are in their state spaces; functions, labels and special registers are `.func`, `.label` and
    `.special`.
    """
    match part:
        case Symbol(name):
            return Register(name, f".{spaces.get(name, 'func')}")
        case Label(name):
            return Register(name, ".label")
        case SpecialRegister(name):
            return Register(name, SPECIAL)
        case Address(base) | Displaced(base):
            return replace(part, base=as_declared(base, spaces))
        case Vector(elements):
            return replace(part, elements=tuple(as_declared(each, spaces) for each in elements))
        case Negated(register):
            return replace(part, register=as_declared(register, spaces))
        case Pair(first, second):
            return replace(part, first=as_declared(first, spaces), second=as_declared(second, spaces))
        case TensorAddress(base, others):
            others = tuple(as_declared(each, spaces) for each in others)
            return replace(part, base=as_declared(base, spaces), others=others)
    return part


def misplaced(instruction: InstructionStatement, spaces: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with the addresses of variables; spaces and addresses stand in the same order.

    The address of a tensor map has its place among them, and may be in any space.
    """
    named = [modifier.partition("::")[0] for modifier in instruction.modifiers]
    addresses = (operand for operand in instruction.operands if isinstance(operand, Address | TensorAddress))
    for space, address in zip((each for each in named if each in SPACES), addresses, strict=False):
        base = address.base
        lies = spaces.get(base.name) if isinstance(base, Symbol) else None
        if lies is not None and lies != space:
            yield f"{instruction.mnemonic}: .{space} takes no address of {base}, which is in .{lies}"
