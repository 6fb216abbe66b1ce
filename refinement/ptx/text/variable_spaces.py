"""State spaces of variables, and instructions that name another one.

Source: PTX ISA 9.1 sections 5.1 and 6.4; ptxas refuses a mismatch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ....spec.ptx.operands import Address, Register
from .module import Function, InstructionStatement, Module
from .operands import Operand, Symbol, TensorAddress

SPACES = ("global", "shared", "local", "const", "param")


def variable_spaces(module: Module, function: Function) -> Mapping[str, str]:
    """Return the state space of every variable and parameter that a function's body can name."""
    variables = {variable.name: variable.space for variable in (*module.variables, *function.variables)}
    return variables | {parameter.name: "param" for parameter in (*function.parameters, *function.returned)}


def in_its_space(operand: Operand, spaces: Mapping[str, str]) -> Operand:
    """Return an operand; the address of a variable with the state space that the variable lies in."""
    if isinstance(operand, Address) and isinstance(operand.base, Symbol) and operand.base.name in spaces:
        return replace(operand, base=Register(operand.base.name, f".{spaces[operand.base.name]}"))
    return operand


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
