"""``ld``, ``st``, ``cvta`` and ``isspacep``.

Source: PTX ISA 9.1 sections 9.7.9.8 to 9.7.9.20.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError
from ....spec.ptx.operands import Register, Vector
from ...terms import bit_slices
from ...terms.evaluation import signed_values
from ..registers.threads import Indices
from ..registers.values import Value, compute, known, of_terms
from ..state.execution import Decoders, Execution, undecoded
from ..state.state_space import WINDOWS
from ..text.module import TYPE_BITS, InstructionStatement
from ..text.operands import Operand
from .addressing import NARROW_SCOPES, addresses, in_window, located, space_of
from .memory_access import store
from .symbolic_accesses import store_of_any_size
from .table_lookups import load_found

_LANES = MappingProxyType({"v2": 2, "v4": 4, "v8": 8})


def _shape(instruction: InstructionStatement) -> tuple[int, int, str]:
    """Return bytes of an element, how many there are, and the type."""
    kind = instruction.types[-1] if instruction.types else ""
    bits = TYPE_BITS.get(kind, 0)
    if not 8 <= bits <= 64:
        raise InputError(f"{instruction.mnemonic} takes a type of 8 to 64 bits")
    named = instruction.one_of(_LANES)
    return bits // 8, 1 if named is None else _LANES[named], kind


def _elements(execution: Execution, operand: Operand, count: int) -> tuple[Operand, ...]:
    if count == 1 and not isinstance(operand, Vector):
        return (operand,)
    if not isinstance(operand, Vector) or len(operand.elements) != count:
        raise InputError(f"{operand} must be a vector of {count}")
    return operand.elements


def _ld(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    if "b128" in instruction.types:
        execution.unsupported("a load of 128-bit elements")
    size, count, kind = _shape(instruction)
    destination, source = instruction.taking(2, 3)[:2]
    space = space_of(execution, instruction)
    words = load_found(execution, space, source, size, count, active)
    for element, column in zip(_elements(execution, destination, count), words.T, strict=True):
        value = of_terms(execution.store, column, 8 * size)
        execution.write(element, _widened(execution, element, value, kind), active)


def load_awaited(
    execution: Execution, instruction: InstructionStatement, at: int, active: Indices
) -> NDArray[np.bool_]:
    """Run a load of what threads wait for, where they need not wait for the next value.

    Parameters
    ----------
    execution : Execution
        What runs.
    instruction : InstructionStatement
        The load.
    at : int
        Its index in the kernel's body.
    active : array
        The threads.

    Returns
    -------
    bool array (n active,)
        Which threads it has run in.

    Raises
    ------
    UnsupportedError
        If what the loop does is not modelled.
    """
    semaphores = execution.semaphores
    assert semaphores is not None
    if semaphores.loops.refusal:
        execution.unsupported(
            f"{instruction.mnemonic} of a word that is used for more than a wait: {semaphores.loops.refusal}"
        )
    if execution.path is not None:
        execution.unsupported(f"{instruction.mnemonic} in a waiting loop under a data-dependent branch")
    size, _, kind = _shape(instruction)
    destination, source = instruction.taking(2, 3)[:2]
    where = addresses(execution, source, active)
    ready = np.zeros(len(active), dtype=bool)
    space = space_of(execution, instruction, ordering=True)
    for part, members, offsets in located(execution, space, where, size, active, size):
        narrow = instruction.one_of(NARROW_SCOPES) is not None and part.name == "global"
        if narrow or part.name not in ("global", "shared"):
            execution.unsupported(f"{instruction.mnemonic} of {part.name} memory in a waiting loop")
        found, numbers = semaphores.take(part, offsets, size, active[members], at, instruction.has("acquire"))
        ready[members] = found
        some = members[found]
        if len(some):
            value = _widened(execution, destination, known(numbers[found], 8 * size), kind)
            execution.write(destination, value, active[some])
    return ready


def _widened(execution: Execution, element: Operand, value: Value, kind: str) -> Value:
    """Sign-extend what is loaded to a wider register."""
    if not kind.startswith("s") or not isinstance(element, Register):
        return value
    width = execution.register_width(element)
    if width <= value.width:
        return value
    store, narrow = execution.store, value.width
    return compute(
        store,
        width,
        [value],
        lambda n: signed_values(n, narrow).view(np.uint64),
        lambda t: bit_slices.sign_extend(store, t, width),
    )


def _st(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    if "b128" in instruction.types:
        execution.unsupported("a store of 128-bit elements")
    if instruction.one_of(("async", "bulk")) is not None:
        execution.unsupported(instruction.mnemonic)
    size, count, _ = _shape(instruction)
    destination, source = instruction.taking(2, 3)[:2]
    space = space_of(execution, instruction, ordering=True)
    elements = _elements(execution, source, count)
    words = np.stack([execution.terms(element, 8 * size, active) for element in elements], axis=1)
    if not store_of_any_size(execution, space, destination, words, active):
        store(execution, space, addresses(execution, destination, active), words, active)


def _cvta(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    destination, source = instruction.taking(2, 2)
    width = TYPE_BITS[instruction.types[-1]]
    window = np.uint64(execution.memory.space(space_of(execution, instruction)).window)
    if not window:  # also of an address that data choose
        execution.write(destination, execution.read(source, width, active), active)
        return
    found = execution.numbers(source, width, active, "the address")
    converted = found - window if instruction.has("to") else found + window
    execution.write(destination, known(converted, width), active)


def _isspacep(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    destination, source = instruction.taking(2, 2)
    at = execution.numbers(source, 64, active, "the address")
    name = space_of(execution, instruction)
    if name == "shared::cluster":
        found = in_window(at, "shared")
    elif name in WINDOWS and name != "global":
        found = in_window(at, name)
        peers = execution.memory.shared.peers
        if name == "shared" and peers is not None:
            own = peers.ranks[execution.threads.block[active]]
            found = found & (peers.ranks_of(at - np.uint64(WINDOWS["shared"])) == own)
    else:
        found = ~np.logical_or.reduce([in_window(at, window) for window in WINDOWS if window != "global"])
    execution.write(destination, known(found, 1), active)


HANDLERS: Decoders = MappingProxyType(
    {
        "ld": undecoded(_ld),
        "ldu": undecoded(_ld),
        "st": undecoded(_st),
        "cvta": undecoded(_cvta),
        "isspacep": undecoded(_isspacep),
    }
)
"""The instructions of this module."""
