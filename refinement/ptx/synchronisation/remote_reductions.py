"""``red.async``: updates in shared memory of other blocks, completing on a barrier object there.

As of asynchronous stores, who looks or writes there must know the phase to be over that the bytes count for.
Updates by one operation that count for one phase may meet in a place: they leave the same in every order.
Source: PTX ISA 9.1 section 9.7.13 (red.async).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ....spec.ptx.asynchronous.bulk_rows import SHARED_REDUCTIONS
from ...machine.memory import Offsets
from ...terms.interning import Ids
from ..memory.addressing import located
from ..memory.memory_access import read, write
from ..order.ordering import NOBODY
from ..registers.threads import Indices
from ..state.execution import Execution, Step
from ..state.handlers import Modifiers
from ..state.held import Held
from ..state.state_space import Space
from ..text.module import TYPE_BITS, InstructionStatement
from .atomics import after, depends_on_operand, rounds
from .mbarrier import REMOTE
from .remote_stores import Remote, counted

_TYPES = {name: types.split("|") for names, types in SHARED_REDUCTIONS for name in names.split("|")}

Way = tuple[int, int, str, int]
"""The barrier object and the phase that count an update, the operation, and the operand where it matters."""


@dataclass
class _Updates(Held):
    """How places, bytes of shared memory of all blocks, were updated last.

    Attributes
    ----------
    ways : dict of int to Way
        By the place.
    """

    KEY = "asynchronous updates"

    ways: dict[int, Way] = field(default_factory=dict)


def reduced_asynchronously(instruction: InstructionStatement) -> Step:
    """Decode ``red.async``."""
    modifiers = Modifiers(instruction)
    for each in ("async", "mbarrier::complete_tx::bytes", "relaxed", "cluster"):
        if not modifiers.flag(each):
            raise modifiers.unsupported(f"lacks .{each}")
    modifiers.flag(REMOTE)
    name = modifiers.one_of(_TYPES)
    kind = modifiers.type(_TYPES[name])
    modifiers.finish()
    to, source, place = modifiers.operands(3)
    bits = TYPE_BITS[kind]

    def step(execution: Execution, active: Indices) -> None:
        given = execution.terms(source, bits, active)
        turns = execution.turns_of(active)

        def put(remote: Remote) -> None:
            targets, threads, size = remote.targets, remote.threads, bits // 8
            for part, members, offsets in located(
                execution, REMOTE, targets, size, threads, size, stores=True
            ):
                for some in rounds(offsets, turns[remote.members[members]]):
                    own = members[some]
                    words = given[remote.members[own]]
                    ways = [
                        (*remote.until, f"{name}.{kind}", word if depends_on_operand(name) else 0)
                        for word in words.tolist()
                    ]
                    new = partial(after, execution, part, name, kind)
                    _update(execution, part, offsets[some], threads[own], ways, words, new)

        counted(execution, (to, place), bits // 8, active, put)

    return step


def _update(
    execution: Execution,
    part: Space,
    offsets: Offsets,
    threads: Indices,
    ways: list[Way],
    given: Ids,
    combined: Callable[[Ids, Ids], Ids],
) -> None:
    """Update different places by what an operation makes of what was there and words."""
    size, updates = int(execution.store.widths(given[:1])[0]) // 8, _Updates.of(execution).ways
    assert part.history is not None
    before = read(execution, part, offsets, size, 1, threads, atomic=True)[:, 0]
    new, places = combined(before, given), part.history.places(offsets, size)
    writers, times = part.history.plain_writes(places[:, 0])
    last = zip(offsets.tolist(), writers.tolist(), times.tolist(), ways, strict=True)
    again = np.array([updates.get(at) == way and way[:2] == (who, when) for at, who, when, way in last], bool)
    _refuse_others(execution, part, offsets[~again], size, threads[~again])
    write(execution, part, offsets[~again], new[~again, None], size, threads[~again])
    execution.note_store(part, offsets[again], size, size, threads[again])
    part.lanes.write(offsets[again], new[again])
    part.history.note_atomic_change(places.reshape(-1), execution.instruction.line)
    part.history.hand_copies(places.reshape(-1), *ways[0][:2])
    updates.update(zip(offsets.tolist(), ways, strict=True))


def _refuse_others(execution: Execution, part: Space, offsets: Offsets, size: int, threads: Indices) -> None:
    """Refuse updates of places that others may still change by atomic operations, or for other barriers.

    Raises
    ------
    UnsupportedError
        If there are such: their order may matter, and whoever waits knows of one alone.
    """
    history, name = part.history, execution.instruction.mnemonic
    assert history is not None
    if execution.semaphores is not None:
        execution.unsupported(f"{name} where threads wait for words of memory")
    places = history.places(offsets, size)
    if history.used_by_atomics(places).any():
        execution.unsupported(f"{name} of a word that other atomic operations use")
    writers, times = history.plain_writes(places[:, 0])
    updates = _Updates.of(execution).ways
    last = [updates.get(at, (NOBODY, 0))[:2] for at in offsets.tolist()]
    same = np.array(last, dtype=np.int64).reshape(-1, 2) == np.stack([writers, times], axis=1)
    under_way = np.flatnonzero(same.all(axis=1) & (writers != NOBODY))
    over = execution.ordering.over(threads[under_way], writers[under_way], times[under_way])
    apart = under_way[~over]
    read_too = history.unordered_readers(execution.ordering, places[:, 0], threads, apart).which
    if len(left := np.setdiff1d(apart, read_too)):  # of the others it is a race with who reads
        place = part.place(int(offsets[left[0]]))
        execution.unsupported(f"{name} of {place}, where updates for another phase may be under way")
