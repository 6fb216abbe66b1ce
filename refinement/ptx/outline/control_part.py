"""The part of a kernel on which its control flow depends, where that is arithmetic on registers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from itertools import accumulate

from ....spec.ptx.operands import Address, Predicate, Register
from ..text.module import Function, InstructionStatement
from ..text.operands import register_names
from .descents import READING, READING_AND_WRITING, WRITING, read, written

_JUMPS = frozenset({"bra", "ret", "exit"})
_PRIVATE = frozenset({"shared", "local", "param"})
_STORING = frozenset({"atom", "red", "call", "multimem", "wmma", "brx", "trap"})
"""Opcodes that may change memory beside ``st``, or go where no jump that is kept does."""

_OF_REGISTERS = frozenset({"mma", "shfl", "redux", "movmatrix"})
"""Opcodes that write registers from those of a warp's threads, beside arithmetic."""

_ACCESSES = READING | WRITING | READING_AND_WRITING
"""Opcodes that access memory at addresses among their operands."""

_IDLE = "nanosleep"
"""An opcode that does nothing, in place of what only its guard is kept of."""


def mask_of(instruction: InstructionStatement) -> Register | None:
    """Return the predicate by which an instruction chooses from its operands; None if it does not."""
    if instruction.opcode != "selp" or len(instruction.operands) != 4:
        return None
    mask = instruction.operands[3]
    return mask if isinstance(mask, Register) else None


def control_part(
    function: Function,
    predicates: Collection[str],
    is_arithmetic: Callable[[InstructionStatement], bool],
) -> Function | None:
    """Return a kernel that takes the same branches; None if it takes more than arithmetic on registers.

    Parameters
    ----------
    function : Function
        The kernel.
    predicates : collection of str
        Registers that have the same values in it wherever they guard an instruction, or an instruction
        chooses by them.
    is_arithmetic : callable
        Tells of an instruction whether all it does is to write registers of a thread from others of the same.
    """
    kept = _closed(function, (), predicates, is_arithmetic)
    if kept is None:
        return None
    body: Mapping[int, InstructionStatement] = {
        index: instruction
        if index in kept
        else replace(instruction, opcode=_IDLE, modifiers=(), operands=(), predicate=guard)
        for index, instruction in enumerate(function.body)
        if index in kept or (guard := _guard(instruction, predicates)) is not None
    }
    return _with_body(function, body)


def store_part(function: Function, is_arithmetic: Callable[[InstructionStatement], bool]) -> Function | None:
    """Return a kernel that stores anything to the same places of global memory, and does little else.

    Parameters
    ----------
    function : Function
        The kernel.
    is_arithmetic : callable
        As of `control_part`.

    Returns
    -------
    Function, optional
        None if where it stores, or goes on, takes more than arithmetic, or if not all is stored by ``st``.
    """
    stores: dict[int, InstructionStatement] = {}
    for index, each in enumerate(function.body):
        is_private = bool(_PRIVATE & {modifier.partition("::")[0] for modifier in each.modifiers})
        if each.has("bulk") or (each.opcode in _STORING and not is_private):
            return None
        if is_private:
            continue
        if each.opcode == "st":
            stores[index] = each
    addresses = register_names(each.operands[0] for each in stores.values())
    kept = _closed(
        function, stores, [name for name in addresses if name in function.registers], is_arithmetic
    )
    if kept is None:
        return None
    return _with_body(function, {index: function.body[index] for index in sorted(kept)})


def memory_part(function: Function, is_arithmetic: Callable[[InstructionStatement], bool]) -> Function | None:
    """Return a kernel that accesses the same places of memory, and computes no numbers that are stored there.

    Parameters
    ----------
    function : Function
        The kernel.
    is_arithmetic : callable
        As of `control_part`.

    Returns
    -------
    Function, optional
        None if data decide what it accesses, or where it goes on.
    """
    kept = {
        index: each
        for index, each in enumerate(function.body)
        if each.opcode not in _OF_REGISTERS and not is_arithmetic(each)
    }
    needed = register_names(
        operand
        for each in kept.values()
        for operand in (each.operands if each.opcode in _ACCESSES else read(each))
        if each.opcode not in _ACCESSES or isinstance(operand, Address)
    )
    every = _closed(function, kept, [name for name in needed if name in function.registers], is_arithmetic)
    if every is None:
        return None
    return _with_body(function, {index: function.body[index] for index in sorted(every)})


def _closed(
    function: Function,
    others: Collection[int],
    registers: Collection[str],
    is_arithmetic: Callable[[InstructionStatement], bool],
) -> set[int] | None:
    """Return the jumps of a kernel, some other instructions, and what makes their guards and some registers.

    None if that is more than arithmetic.
    """
    writers: dict[str, list[int]] = defaultdict(list)
    for index, instruction in enumerate(function.body):
        for register in written(instruction):
            writers[register].append(index)
    jumps = {index for index, each in enumerate(function.body) if each.opcode in _JUMPS}
    pending = [*registers, *(name for index in jumps for name in _registers_read(function, index))]
    pending += [guard.name for index in others if (guard := function.body[index].predicate) is not None]
    kept, needed = {*jumps, *others}, set[str]()
    while pending:
        register = pending.pop()
        if register in needed:
            continue
        needed.add(register)
        if not writers[register] or not all(
            is_arithmetic(function.body[writer]) for writer in writers[register]
        ):
            return None
        kept.update(writers[register])
        pending += [name for index in writers[register] for name in _registers_read(function, index)]
    return kept


def _with_body(function: Function, body: Mapping[int, InstructionStatement]) -> Function:
    """Return a kernel of some of its instructions, or others in their places, by index."""
    places = [0, *accumulate(index in body for index in range(len(function.body)))]
    labels = {label: places[index] for label, index in function.labels.items()}
    return replace(function, body=tuple(body.values()), labels=labels)


def _registers_read(function: Function, index: int) -> list[str]:
    """Return the registers that an instruction reads, its guard's included."""
    instruction = function.body[index]
    guard = [] if instruction.predicate is None else [instruction.predicate.name]
    return [name for name in (*register_names(read(instruction)), *guard) if name in function.registers]


def _guard(instruction: InstructionStatement, predicates: Collection[str]) -> Predicate | None:
    """Return the guard of an instruction, or else what it chooses by, if it is one of some predicates."""
    mask = mask_of(instruction)
    guard = instruction.predicate
    if guard is None and mask is not None:
        guard = Predicate(mask.name)
    return guard if guard is not None and guard.name in predicates else None
