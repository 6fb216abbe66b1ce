"""Loads and stores on numbers: bounds, alignment, and races on shared memory are looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....spec.errors import UnsupportedError
from ....spec.ptx.operands import Address, Integer, Register, Vector
from ...findings.finding import Kind
from ..text.module import TYPE_BITS, InstructionStatement
from ..text.operands import Symbol
from .conversions import SPACE_WINDOW
from .faults import Fault, FaultError
from .memory import CONSTANT, KNOWN, LOCAL, NOBODY, SHARED, UNKNOWN, Private, SeveralArraysError, Stored
from .state import WORDS, Code, Reader, State, Step
from .threads import Lanes

SPACES = ("global", "shared", "local", "const", "param")


def space_of(instruction: InstructionStatement) -> str:
    """Return the state space that an instruction names, nothing where the address is generic."""
    named = (modifier.partition("::")[0] for modifier in instruction.modifiers)
    return next((each for each in named if each in SPACES), "")


def reporter(state: State, lanes: Lanes) -> Callable[[Kind, str, int], None]:
    """Return what raises faults of threads that act."""

    def report(kind: Kind, message: str, place: int) -> None:
        thread = int(state.indices(lanes)[place])
        depends = bool(state.unknown[state.threads.block[thread]])
        what = f"{message}, by {state.threads.name(thread)}"
        raise FaultError(Fault(kind, what, state.instruction, depends))

    return report


def address_reader(code: Code, place: Any) -> Reader:
    """Return what reads an address.

    Raises
    ------
    UnsupportedError
        If it is none.
    """
    if not isinstance(place, Address):
        raise UnsupportedError(f"the address {place}")
    offset = np.uint64(place.offset & ((1 << 64) - 1))
    if isinstance(place.base, Integer):
        fixed = np.uint64(place.base.value + place.offset & ((1 << 64) - 1))
        return lambda state, lanes: np.full(state.count(lanes), fixed)
    if isinstance(place.base, Symbol):
        base = np.uint64(code.address_of(place.base.name) + place.offset)
        return lambda state, lanes: np.full(state.count(lanes), base)
    read = code.reader(place.base, code.bits_of(place.base.name))
    wide = code.bits_of(place.base.name) == 64

    def plain(state: State, lanes: Lanes) -> Any:
        return read(state, lanes) + offset if place.offset else read(state, lanes)

    if wide:
        return plain
    return lambda state, lanes: read(state, lanes).astype(np.uint64) + offset & np.uint64(0xFFFFFFFF)


Access = tuple[str, Any, Any]
"""A space, what is accessed there, and offsets."""


def placed(state: State, lanes: Lanes, space: str, addresses: Any, size: int) -> tuple[Any, Any, str]:
    """Return what is accessed: an array or private memory, with offsets, and the space."""
    report = reporter(state, lanes)
    if (wrong := addresses & np.uint64(size - 1)).any():
        place = int(np.argmax(wrong != 0))
        report(Kind.MISALIGNED, f"{size} bytes at the address {int(addresses[place]):#x}", place)
    memory = state.memory
    if not space:
        windows = addresses >> np.uint64(SPACE_WINDOW)
        low = windows < 4
        if low.any():
            if not (windows == windows[0]).all():
                raise SeveralArraysError
            space = {SHARED: "shared", LOCAL: "local", CONSTANT: "param"}.get(int(windows[0]), "")
            if not space:
                report(Kind.OUT_OF_BOUNDS, f"{size} bytes at {int(addresses[0]):#x}, outside every array", 0)
            addresses = addresses & np.uint64((1 << SPACE_WINDOW) - 1)
    if space in ("shared", "local"):
        private = memory.shared if space == "shared" else memory.local
        offsets = addresses.astype(np.int64)
        _check_private(private, offsets, size, report, space)
        return private, private.starts[lanes] + offsets, space
    if space in ("param", "const"):
        if (addresses + np.uint64(size) > np.uint64(memory.parameters.size)).any():
            report(Kind.OUT_OF_BOUNDS, f"{size} bytes beyond the parameters", 0)
        return memory.parameters, addresses.astype(np.int64), "param"
    array, offsets = memory.find(addresses, size, report)
    return array, offsets, "global"


def _check_private(private: Private, offsets: Any, size: int, report: Any, space: str) -> None:
    if private.variables.are_inside(int(offsets.min()), int(offsets.max()) + size):
        return
    valid = private.variables.valid
    inside = offsets + size <= len(valid)
    held = np.zeros(len(offsets), dtype=bool)
    held[inside] = valid[offsets[inside]] & valid[offsets[inside] + size - 1]
    if not held.all():
        place = int(np.argmin(held))
        at = int(offsets[place])
        start = max((s for s, _ in private.variables.names if s <= at), default=0)
        name = private.variables.name(at)
        report(Kind.OUT_OF_BOUNDS, f"{size} bytes at byte {at - start} of {name}, in {space} memory", place)


def split(state: State, lanes: Lanes, addresses: Any, act: Callable[[Lanes, Any], None]) -> None:
    """Act on the threads of each window of addresses in turn, where they access several arrays at once."""
    windows = addresses >> np.uint64(SPACE_WINDOW)
    threads = state.indices(lanes)
    for window in np.unique(windows):
        chosen = windows == window
        act(threads[chosen], addresses[chosen])


def loaded(state: State, lanes: Lanes, space: str, addresses: Any, size: int, count: int) -> list[Any]:
    """Return `count` words of `size` bytes each that lie one behind the other, for each thread."""
    try:
        place, offsets, where = placed(state, lanes, space, addresses, size * count)
    except SeveralArraysError:
        found: list[Any] = [np.zeros(len(addresses), dtype=WORDS[8 * size]) for _ in range(count)]
        order = state.indices(lanes)

        def act(some: Lanes, at: Any) -> None:
            parts = loaded(state, some, space, at, size, count)
            rows = np.searchsorted(order, some)
            for whole, part in zip(found, parts, strict=True):
                whole[rows] = part

        split(state, lanes, addresses, act)
        return found
    if where == "global":
        note_unknown(state, lanes, place, offsets, size * count)
    if where == "shared" and state.races is not None:
        state.races.read(state, lanes, offsets, size * count)
    words = place.words(size)
    first = offsets // size if size > 1 else offsets
    return [words[place.places(first + number if number else first, size)] for number in range(count)]


def note_unknown(state: State, lanes: Lanes, array: Stored, offsets: Any, size: int) -> None:
    """Note which blocks read numbers that are not known, and whether something reads what nobody wrote."""
    if array.states is None:
        return
    blocks = None
    for byte in range(0, size, array.unit):
        held = array.states[(offsets + byte) // array.unit]
        wrong = held != KNOWN
        if not wrong.any():
            continue
        blocks = state.threads.block[state.indices(lanes)]
        state.unknown[blocks[held == UNKNOWN]] = True
        if (held == NOBODY).any() and state.instruction is not None:
            state.uninitialised.setdefault(array.name, state.instruction)


def stored_words(state: State, lanes: Lanes, space: str, addresses: Any, words: list[Any]) -> None:
    """Store words of each thread one behind the other."""
    size, count = words[0].dtype.itemsize, len(words)
    try:
        place, offsets, where = placed(state, lanes, space, addresses, size * count)
    except SeveralArraysError:
        order = state.indices(lanes)

        def act(some: Lanes, at: Any) -> None:
            rows = np.searchsorted(order, some)
            stored_words(state, some, space, at, [word[rows] for word in words])

        split(state, lanes, addresses, act)
        return
    if where == "param":
        raise UnsupportedError("a store to parameters")
    if where == "global":
        mark_stored(state, lanes, place, offsets, size * count)
    if where == "shared" and state.races is not None:
        state.races.write(state, lanes, offsets, words)
    if where == "global" and place.is_folded:
        return
    held = place.words(size)
    first = offsets // size if size > 1 else offsets
    for number, each in enumerate(words):
        held[first + number] = each


def mark_stored(state: State, lanes: Lanes, array: Stored, offsets: Any, size: int) -> None:
    """Note that elements of an array are written."""
    if not array.writable:
        reporter(state, lanes)(Kind.CLOBBERED, f"a store to {array.name}, an input", 0)
    unknown = None
    if state.unknown.any():
        unknown = state.unknown[state.threads.block[state.indices(lanes)]]
    for byte in range(0, size, array.unit):
        places = (offsets + byte) // array.unit
        if array.stored is not None:
            array.stored[places] = True
        if array.states is not None:
            array.states[places] = KNOWN if unknown is None else np.where(unknown, UNKNOWN, KNOWN)


def _elements(operand: Any) -> tuple[Any, ...]:
    return operand.elements if isinstance(operand, Vector) else (operand,)


def load(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``ld``."""
    kind = instruction.types[-1]
    bits, space = TYPE_BITS[kind], space_of(instruction)
    destinations = _elements(instruction.operands[0])
    if bits not in WORDS:
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    address = address_reader(code, instruction.operands[1])
    signed = kind[0] == "s"
    writers = [
        code.signed_writer(destination, bits) if signed else code.writer(destination)
        for destination in destinations
    ]
    dtype = np.dtype(f"i{bits // 8}")

    def step(state: State, lanes: Lanes) -> None:
        found = loaded(state, lanes, space, address(state, lanes), bits // 8, len(writers))
        for write, words in zip(writers, found, strict=True):
            write(state, lanes, words.view(dtype) if signed else words)

    return step


def store(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``st``."""
    bits, space = TYPE_BITS[instruction.types[-1]], space_of(instruction)
    if bits not in WORDS or "async" in instruction.modifiers:
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    address = address_reader(code, instruction.operands[0])
    readers = [code.reader(element, bits) for element in _elements(instruction.operands[1])]

    def step(state: State, lanes: Lanes) -> None:
        at = address(state, lanes)
        words = [np.broadcast_to(np.asarray(read(state, lanes)), at.shape) for read in readers]
        stored_words(state, lanes, space, at, words)

    return step


def copy(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``cp.async``, made at once; ``commit_group`` and ``wait_group`` then do nothing."""
    words = instruction.modifiers
    if "bulk" in words or "mbarrier" in words or "reduce" in words:
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    if "commit_group" in words or "wait_group" in words or "wait_all" in words:
        return lambda state, lanes: None
    target, source, size, *rest = instruction.operands
    if not isinstance(size, Integer) or (rest and not isinstance(rest[0], Integer | Register)):
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    into, of = address_reader(code, target), address_reader(code, source)
    given = code.reader(rest[0], 32) if rest else None
    unit, count = min(size.value, 8), max(size.value // 8, 1)

    def step(state: State, lanes: Lanes) -> None:
        places, addresses = into(state, lanes), of(state, lanes)
        parts = [np.zeros(len(places), dtype=WORDS[8 * unit]) for _ in range(count)]
        amount = np.full(len(places), size.value) if given is None else given(state, lanes)
        amount = np.broadcast_to(amount, places.shape)
        if not np.isin(amount, (0, size.value)).all():
            raise UnsupportedError(f"{instruction.mnemonic} of a part of its bytes, on numbers")
        whole = np.flatnonzero(amount == size.value)
        if len(whole):
            read = loaded(state, state.indices(lanes)[whole], "global", addresses[whole], unit, count)
            for part, found in zip(parts, read, strict=True):
                part[whole] = found
        stored_words(state, lanes, "shared", places, parts)

    return step
