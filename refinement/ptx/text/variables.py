"""The variables that a kernel uses, and their memory."""

from __future__ import annotations

from collections.abc import Iterable

from ....spec.ptx.operands import Address, Vector
from .module import Function, Module, Variable
from .operands import Displaced, GenericAddress, Symbol


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
