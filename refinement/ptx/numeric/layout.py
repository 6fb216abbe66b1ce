"""Where variables and parameters of a kernel lie, for a run on numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ....spec.errors import UnsupportedError
from ....spec.ptx.operands import Integer
from ..text.module import TYPE_BITS, Function, Module, Variable
from ..text.operands import float_encoding
from .memory import GAP, Stored, Variables, address, stored


@dataclass(frozen=True)
class Layout:
    """Places of all variables.

    Attributes
    ----------
    symbols : mapping of str to int
        Addresses, each in its own space.
    shared, local : Variables
        Of a block, and of a thread.
    parameters : bytes
        Parameters, and constant variables behind them.
    arrays : list of Stored
        Variables in global memory, which follow the arrays.
    """

    symbols: dict[str, int]
    shared: Variables
    local: Variables
    parameters: bytes
    arrays: list[Stored]


def parameter_offsets(function: Function) -> list[tuple[int, int]]:
    """Return the offset and the bytes of each parameter."""
    found, at = [], 0
    for parameter in function.parameters:
        at = -(-at // parameter.alignment) * parameter.alignment
        if parameter.size is None:
            raise UnsupportedError(f"the parameter {parameter.name} without a size")
        found.append((at, parameter.size))
        at += parameter.size
    return found


def layout(
    module: Module,
    function: Function,
    passed: list[bytes],
    dynamic: int,
    arrays: int,
    written: Mapping[str, bytes],
) -> Layout:
    """Return where all variables lie.

    Parameters
    ----------
    module, function : Module, Function
        The kernel.
    passed : list of bytes
        Its parameters.
    dynamic : int
        Bytes of dynamic shared memory.
    arrays : int
        How many arrays there are.
    written : mapping of str to bytes
        What the host has written to constant variables.

    Raises
    ------
    UnsupportedError
        If some variable's size or content is not known.
    """
    symbols: dict[str, int] = {}
    places = parameter_offsets(function)
    block = bytearray()
    for parameter, (at, size), content in zip(function.parameters, places, passed, strict=True):
        if len(content) != size:
            raise UnsupportedError(f"{len(content)} bytes passed for {parameter.name} of {size}")
        symbols[parameter.name] = at
        block += bytes(at - len(block)) + content
    every = [*module.variables, *function.variables]
    made: list[Stored] = []
    for variable in every:
        if variable.space == "const":
            at = -(-len(block) // 16) * 16
            symbols[variable.name] = at
            content = written.get(variable.name, b"") or _content(variable)
            if len(content) != variable.size:
                raise UnsupportedError(f"{len(content)} bytes of the variable {variable.name}")
            block += bytes(at - len(block)) + content
        elif variable.space == "global":
            symbols[variable.name] = address(arrays + len(made), 0)
            made.append(stored(variable.name, _content(variable), 1))
        elif variable.space not in ("shared", "local"):
            raise UnsupportedError(f"the variable {variable.name} in .{variable.space}")
    shared = _spread([each for each in every if each.space == "shared"], symbols, dynamic)
    local = _spread([each for each in every if each.space == "local"], symbols, None)
    return Layout(symbols, shared, local, bytes(block), made)


def _content(variable: Variable) -> bytes:
    """Return the bytes of a variable with initial numbers."""
    if variable.size is None:
        raise UnsupportedError(f"the variable {variable.name} without a size")
    bits = TYPE_BITS.get(variable.type, 0)
    content = bytearray(variable.size)
    for place, value in variable.initial:
        if bits % 8 or not bits:
            raise UnsupportedError(f"the variable {variable.name} of type {variable.type}")
        if isinstance(value, Integer):
            word = value.value & ((1 << bits) - 1)
        else:
            try:
                word = float_encoding(value, bits)  # type: ignore[arg-type]  # others have no bits
            except AttributeError:
                raise UnsupportedError(f"the variable {variable.name} with an address in it") from None
        content[place * bits // 8 : (place + 1) * bits // 8] = word.to_bytes(bits // 8, "little")
    return bytes(content)


def _spread(variables: list[Variable], symbols: dict[str, int], dynamic: int | None) -> Variables:
    """Place variables with gaps between them; those without a size share what is dynamic, at the end."""
    at, names, ranges = 0, [], []
    for variable in variables:
        if variable.size is None or "extern" in variable.linkage:
            continue
        symbols[variable.name] = at
        names.append((at, variable.name))
        ranges.append((at, variable.size))
        at += -(-variable.size // 256) * 256 + GAP
    if dynamic is not None:
        for variable in variables:
            if variable.name not in symbols:
                symbols[variable.name] = at
        names.append((at, "dynamic shared memory"))
        ranges.append((at, dynamic))
        at += dynamic
    valid = np.zeros(at, dtype=np.bool_)
    for start, size in ranges:
        valid[start : start + size] = True
    return Variables(valid, names, [size for _, size in ranges])
