"""Variables of a module that the host writes before a launch, as ``cudaMemcpyToSymbol`` does."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError
from ...contract.arguments import Array
from ...contract.contract import Instance
from ...terms.interning import Ids
from ..text.module import Module, Variable
from .launching import Pointer, Simple

Held = Mapping[str, tuple[Ids, NDArray[np.uint8]]]
"""Term and lowest bit of each byte of a variable, from its first one on, by the variable's name."""


def variables_held(module: Module, instance: Instance, given: Mapping[str, Simple]) -> Held:
    """Return what variables of a module hold that a contract has arrays for.

    Parameters
    ----------
    module : Module
        The module.
    instance : Instance
        The contract, at some sizes.
    given : mapping of str to Simple
        Its arrays with what they hold.

    Raises
    ------
    InputError
        If there is no such variable in constant memory, or it has not as many bytes.
    """
    known = {variable.name: variable for variable in (*module.variables, *_inside(module))}
    found = {}
    for array in instance.arguments:
        if not isinstance(array, Array) or array.variable is None:
            continue
        if array.variable not in known:
            names = ", ".join(name for name, each in known.items() if each.space == "const") or "none"
            raise InputError(
                f"{array.name} lies in {array.variable}, which is not a variable in constant memory; "
                f"there are: {names}",
                module.path,
            )
        if array.variable in found:
            raise InputError(
                f"{array.name} and another array lie in {array.variable}; allowed: one array per variable",
                module.path,
            )
        _check(module, known[array.variable], array)
        pointer = given[array.name]
        assert isinstance(pointer, Pointer) and pointer.buffer.content is not None
        found[array.variable] = pointer.buffer.content
    return found


def _inside(module: Module) -> list[Variable]:
    """Return the variables that functions have of their own."""
    return [variable for function in module.functions.values() for variable in function.variables]


def _check(module: Module, variable: Variable, array: Array) -> None:
    """Check that an array can be the beginning of a variable: a kernel must not change it unseen."""
    if variable.space != "const":
        where = f"which is in .{variable.space}; variables that the host writes are in .const"
        raise InputError(f"{array.name} lies in {variable.name}, {where}", module.where(variable))
    size = variable.size or 0
    if array.size > size:
        what = f"{array.name} has {array.size} bytes, the variable {variable.name} {size}"
        raise InputError(what, module.where(variable))
    if variable.initial and array.size < size:
        what = f"{variable.name} has initial values, so that {array.name} must be all of its {size} bytes"
        raise InputError(what, module.where(variable))
