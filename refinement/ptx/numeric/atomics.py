"""Atomic operations on numbers, one thread after the other where several have one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....spec.errors import UnsupportedError
from ....spec.ptx.operands import Sink, Vector
from ..text.module import TYPE_BITS, InstructionStatement
from .accesses import address_reader, mark_stored, note_unknown, placed, space_of
from .float_kinds import KINDS
from .integers import number_type
from .memory import Stored
from .state import Code, State, Step
from .threads import Lanes

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda old, b: old + b,
    "min": np.minimum,
    "max": np.maximum,
    "and": lambda old, b: old & b,
    "or": lambda old, b: old | b,
    "xor": lambda old, b: old ^ b,
    "exch": lambda old, b: b,
    "cas": lambda old, b, c: np.where(old == b, c, old),
    "inc": lambda old, b: np.where(old >= b, 0, old + 1),
    "dec": lambda old, b: np.where((old == 0) | (old > b), b, old - 1),
}


def atomic(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``atom`` and ``red``.

    Raises
    ------
    UnsupportedError
        Of vectors, and of types that numpy lacks.
    """
    name = instruction.one_of(_OPERATIONS)
    kind, space = instruction.types[-1], space_of(instruction)
    operands = list(instruction.operands)
    destination = Sink() if instruction.opcode == "red" else operands.pop(0)
    place, *given = operands
    if (
        name is None
        or any(isinstance(operand, Vector) for operand in operands)
        or "async" in instruction.modifiers
    ):
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    bits = TYPE_BITS[kind]
    write, address = code.writer(destination), address_reader(code, place)
    readers = [code.reader(each, bits) for each in given]
    operate = _OPERATIONS[name]
    if kind in KINDS:
        fmt = KINDS[kind]

        def compute(old: Any, *words: Any) -> Any:
            return fmt.words(operate(fmt.numbers(old), *(fmt.numbers(word) for word in words)))
    elif kind[0] in "usb":
        held = number_type(kind)

        def compute(old: Any, *words: Any) -> Any:
            numbers = (np.ascontiguousarray(word).view(held) for word in (old, *words))
            return np.asarray(operate(*numbers)).astype(held).view(old.dtype)
    else:
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")

    def step(state: State, lanes: Lanes) -> None:
        at = address(state, lanes)
        memory, offsets, where = placed(state, lanes, space, at, bits // 8)
        if where == "param":
            raise UnsupportedError(f"{instruction.mnemonic} on parameters")
        if where == "global" and isinstance(memory, Stored):
            _note(state, lanes, memory, offsets, bits // 8, instruction)
        words = [np.broadcast_to(np.asarray(read(state, lanes)), at.shape) for read in readers]
        held = memory.words(bits // 8)
        places = memory.places(offsets // (bits // 8), bits // 8)
        result = np.zeros(len(at), dtype=held.dtype)
        waiting = np.arange(len(at))
        while len(waiting):
            _, first = np.unique(places[waiting], return_index=True)
            now = waiting[first]
            old = held[places[now]]
            result[now] = old
            held[places[now]] = compute(old, *(word[now] for word in words))
            waiting = np.delete(waiting, first)
        write(state, lanes, result)

    return step


def _note(
    state: State, lanes: Lanes, array: Stored, offsets: Any, size: int, instruction: InstructionStatement
) -> None:
    """Note what an atomic operation on an array reads and writes."""
    array.added = True
    note_unknown(state, lanes, array, offsets, size)
    mark_stored(state, lanes, array, offsets, size)
