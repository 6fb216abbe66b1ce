"""``cp.async``: copies to shared memory, complete for a thread once it has waited for them.

What is copied is put in place at once; until the wait, whoever looks at it, or writes there, races. Other
threads may look after a barrier that follows the wait. Source: PTX ISA 9.1 section 9.7.9.25.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError, UnsupportedError
from ....spec.ptx.operands import Integer
from ..memory.addressing import addresses
from ..memory.memory_access import load_bytes, store_bytes
from ..memory.symbolic_accesses import places_of_any_size
from ..memory.table_lookups import is_found_by_data, load_found
from ..order.snapshots import Snapshot
from ..order.vector_clocks import Places
from ..registers.threads import Indices
from ..state.execution import Decoders, Execution, undecoded
from ..state.handlers import Modifiers
from ..state.held import Held
from ..state.loose_races import Bytes
from ..text.module import TYPE_BITS, InstructionStatement
from ..text.operands import Operand
from .barrier_objects import BarrierObject, BarrierObjects
from .barrier_phases import Arrival
from .bulk_copies import bulk
from .mbarrier import barrier_space, barriers_at

_SIZES = (4, 8, 16)
_WORD = 4


@dataclass
class _Copy:
    """Copies of one instruction that are not waited for.

    Attributes
    ----------
    threads : array (n,)
        Who issued them.
    group : array (n,)
        How many groups each thread had committed before.
    places : array (n, granules)
        Where they go.
    """

    threads: Indices
    group: NDArray[np.int64]
    places: Places


class Copies(Held):
    """Asynchronous copies in flight."""

    KEY = "copies"

    def __init__(self, threads: int) -> None:
        self._committed = np.zeros(threads, dtype=np.int64)
        self._pending: list[_Copy] = []
        self._handed: list[_Copy] = []
        """Copies of which those know that they are over who wait for barrier objects."""

    @classmethod
    def begun(cls, execution: Execution) -> Self:
        """See `Held.begun`."""
        return cls(len(execution.threads))

    def begin(self, execution: Execution, places: Places, threads: Indices) -> None:
        """Note copies that threads (n,) issued."""
        history = execution.memory.shared.history
        assert history is not None
        history.begin_copies(places.reshape(-1))
        self._pending.append(_Copy(threads, self._committed[threads], places))
        history.copies = len(self._pending)

    def outstanding(self) -> list[NDArray[np.int64]]:
        """Return copies that are not waited for: threads, groups committed since, and places."""
        found: list[NDArray[np.int64]] = []
        for copy in self._pending:
            found += [copy.threads, self._committed[copy.threads] - copy.group, copy.places]
        return found

    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`."""
        for copies in (self._pending, self._handed):
            snapshot.take(len(copies))
            for copy in copies:
                snapshot.take([copy.threads, self._committed[copy.threads] - copy.group, copy.places])

    def commit(self, threads: Indices) -> None:
        """End the group of each of some threads."""
        self._committed[threads] += 1

    def hand_to(self, execution: Execution, threads: Indices, barrier: BarrierObject) -> None:
        """Let those be over for who waits for a barrier object's phase that threads issued before."""
        history = execution.memory.shared.history
        assert history is not None
        agent = barrier.agent(execution.ordering)
        left = []
        for copy in self._pending:
            mine = np.isin(copy.threads, threads)
            if mine.any():
                history.hand_copies(copy.places[mine].reshape(-1), agent, barrier.phase)
                self._handed.append(_Copy(copy.threads[mine], copy.group[mine], copy.places[mine]))
            if not mine.all():
                left.append(_Copy(copy.threads[~mine], copy.group[~mine], copy.places[~mine]))
        self._pending = left
        history.copies = len(left)

    def wait(self, execution: Execution, threads: Indices, allowed: int | None) -> None:
        """Make threads wait for all but the last `allowed` groups; for everything issued if None."""
        history = execution.memory.shared.history
        assert history is not None
        below = np.full(len(self._committed), -1, dtype=np.int64)
        below[threads] = np.iinfo(np.int64).max if allowed is None else self._committed[threads] - allowed
        for copies, over in ((self._pending, history.end_copies), (self._handed, history.wait_for_handed)):
            left = []
            for copy in copies:
                done = copy.group < below[copy.threads]
                if done.any():
                    who = np.repeat(copy.threads[done], copy.places.shape[1])
                    over(execution.ordering, copy.places[done].reshape(-1), who)
                if not done.all():
                    left.append(_Copy(copy.threads[~done], copy.group[~done], copy.places[~done]))
            copies[:] = left
        history.copies = len(self._pending)


def _copy(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    destination, source, *rest = instruction.taking(3, 6)
    if instruction.has("L2::cache_hint"):
        rest = rest[:-1]
    if not rest or not isinstance(rest[0], Integer) or rest[0].value not in _SIZES:
        raise InputError(f"{instruction.mnemonic} copies 4, 8 or 16 bytes")
    size = rest[0].value
    if instruction.has("cg") and size != 16:
        raise InputError(f"{instruction.mnemonic} copies 16 bytes, not {size}")
    given = _source_bytes(execution, rest[1:], size, active)
    to = addresses(execution, destination, active)
    places = places_of_any_size(execution, "global", source, active)
    by_data = places is None and is_found_by_data(execution, source, active)
    start = None if by_data or places is not None else addresses(execution, source, active)
    terms = np.full((len(active), size), int(execution.store.constants(0, 8)), dtype=np.int32)
    lows = np.zeros(terms.shape, dtype=np.uint8)
    for count in map(int, np.unique(given[given > 0])):
        some = np.flatnonzero(given == count)
        if places is not None:
            data = places.load(execution, some, count, size)
        elif by_data:
            data = _found_bytes(execution, source, count, active[some])
        else:
            assert start is not None
            data = load_bytes(execution, "global", start[some], count, active[some], size)
        terms[some, :count], lows[some, :count] = data
    store_bytes(execution, "shared", to, (terms, lows), active)
    inside, offsets = execution.memory.shared.locate(to, size, active)
    history = execution.memory.shared.history
    assert history is not None
    Copies.of(execution).begin(execution, history.places(offsets[inside], size), active[inside])


def _found_bytes(execution: Execution, source: Operand, count: int, active: Indices) -> Bytes:
    """Return what `count` neighbouring bytes hold at places that data tell: of a table."""
    if count % _WORD:
        raise UnsupportedError(
            f"{execution.instruction.mnemonic} of {count} bytes at a data-dependent address"
        )
    words = load_found(execution, "global", source, _WORD, count // _WORD, active)
    terms, lows = execution.memory.shared.lanes.bytes_of(words.reshape(-1))
    return terms.reshape(len(active), count), lows.reshape(len(active), count)


def _source_bytes(
    execution: Execution, rest: list[Operand], size: int, active: Indices
) -> NDArray[np.uint64]:
    """Return how many bytes each thread reads; the others it fills with zeros."""
    if not rest:
        return np.full(len(active), size, dtype=np.uint64)
    kind = getattr(rest[0], "type", None)
    if kind == "pred":
        ignored = execution.numbers(rest[0], 1, active, "ignore-src")
        return np.where(ignored.astype(bool), np.uint64(0), np.uint64(size))
    width = TYPE_BITS.get(kind or "b32", 32)
    given = execution.numbers(rest[0], min(width, 32), active, "src-size")
    if (given > size).any():
        raise InputError(f"src-size {int(given.max())} exceeds {size}")
    return given


def _cp(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    if not instruction.has("async"):
        execution.unsupported(instruction.mnemonic)
    if instruction.has("bulk"):
        bulk(execution, instruction, active)
        return
    if instruction.has("mbarrier"):
        _arrive(execution, instruction, active)
    elif instruction.has("commit_group"):
        Copies.of(execution).commit(active)
    elif instruction.has("wait_all"):
        Copies.of(execution).wait(execution, active, None)
    elif instruction.has("wait_group"):
        (count,) = instruction.taking(1, 1)
        if not isinstance(count, Integer):
            raise InputError(f"{instruction.mnemonic} takes an integer literal, not {count}")
        Copies.of(execution).wait(execution, active, count.value)
    elif instruction.has("shared", "global") or instruction.has("shared::cta", "global"):
        _copy(execution, instruction, active)
    else:
        execution.unsupported(instruction.mnemonic)


def _arrive(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    """Let threads arrive at a barrier object when the copies are done that they issued before."""
    modifiers = Modifiers(instruction)
    counts = modifiers.flag("noinc")
    for each in ("async", "mbarrier", "arrive"):
        if not modifiers.flag(each):
            raise modifiers.unsupported(f"lacks .{each}")
    space = barrier_space(modifiers)
    modifiers.type(("b64",))
    modifiers.finish()
    (place,) = modifiers.operands(1)
    for barrier, members in barriers_at(execution, space, place, active):
        Copies.of(execution).hand_to(execution, active[members], barrier)
        if counts:
            ended = barrier.arrive(execution, active[members], Arrival(copies=True))
            BarrierObjects.of(execution).ended += ended
        else:
            barrier.expect_copies(execution, active[members])


HANDLERS: Decoders = MappingProxyType({"cp": undecoded(_cp)})
"""The instructions of this module."""
