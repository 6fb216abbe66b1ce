"""Vector clocks: the intervals of each warp, by block, that are known to be over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..registers.threads import WARP, Indices

Places = NDArray[np.int64]
"""Granules of memory."""

Knowledge = Mapping[int, NDArray[np.int32]]
"""By block of the grid: of each of its warps the intervals below this are over.

Words that are waited for have negative numbers: of their values, as many are known to have been written.
Single threads have numbers from `THREAD` up: their own intervals below this are over. Warps have numbers from
`TOGETHER` up: what they waited for together in intervals below this is over.
"""

THREAD = 1 << 48
"""What the key of a single thread is more than its number in the grid."""

TOGETHER = 1 << 56
"""What the key of a warp is more than its number in the grid."""


def joined(parts: Sequence[Knowledge]) -> Knowledge:
    """Return what any of several know."""
    if len(parts) == 1:
        return parts[0]
    found: dict[int, NDArray[np.int32]] = {}
    for part in parts:
        for name, over in part.items():
            found[name] = np.maximum(found[name], over) if name in found else over
    return found


NOTHING: Knowledge = MappingProxyType({})


class Released(NamedTuple):
    """A released clock, by how certain it is to reach an acquire.

    Attributes
    ----------
    known : mapping
        What the thread itself had behind it when it released, or ran a fence.
    by_fences : mapping
        What others of its block had behind them when they ran a sequentially consistent fence, before a
        barrier: it reaches who runs such a fence too.
    presumed : mapping
        What others had behind them at any fence before a barrier.
    """

    known: Knowledge = NOTHING
    by_fences: Knowledge = NOTHING
    presumed: Knowledge = NOTHING

    def and_also(self, *more: Released) -> Released:
        """Return this and what else is released."""
        columns = zip(self, *more, strict=True)
        return Released(*(joined([each for each in column if each]) for column in columns))

    def for_reads(self) -> Released:
        """Return what who only reads a word acquires of what earlier writers than the last released."""
        return Released(self.known, NOTHING, joined([self.by_fences, self.presumed]))

    @property
    def everything(self) -> Knowledge:
        """All of it."""
        return joined(list(self))


NO_RELEASE = Released()


class Happened(NamedTuple):
    """The clock of an arrival at a barrier object.

    Attributes
    ----------
    memory : mapping
        That of which what it left in memory reaches who acquires it.
    control : mapping
        That which has happened: all of it.
    proxied : mapping
        That of which what it left in memory is seen through the asynchronous proxy.
    reads : mapping
        That of which what it read was read before, but where nothing is said of what it left.
    made : mapping
        That of which the barrier objects are seen that it made.
    """

    memory: Knowledge = NOTHING
    control: Knowledge = NOTHING
    proxied: Knowledge = NOTHING
    reads: Knowledge = NOTHING
    made: Knowledge = NOTHING

    def and_also(self, other: Happened) -> Happened:
        """Return both together."""
        return Happened(*(joined(list(each)) for each in zip(self, other, strict=True)))

    def without_memory(self, *, reads: bool = False) -> Happened:
        """Return the same for who need not see what was left in memory; with `reads`, reads are over."""
        over = joined([self.memory, self.reads]) if reads else NOTHING
        return Happened(NOTHING, self.control, NOTHING, over, self.made)


class Told:
    """Clocks that threads of a batch have acquired; a barrier updates all of their warps."""

    def __init__(self) -> None:
        self._of_warps: dict[int, Knowledge] = {}
        self._of_threads: dict[int, Knowledge] = {}

    def __bool__(self) -> bool:
        return bool(self._of_warps or self._of_threads)

    def learn(self, thread: int, knowledge: Knowledge) -> None:
        """Tell a thread something."""
        self._of_threads[thread] = joined([self._of_threads.get(thread, {}), knowledge])

    def of(self, thread: int) -> Knowledge:
        """Return what a thread was told."""
        found = [self._of_warps.get(thread // WARP, {}), self._of_threads.get(thread, {})]
        return joined([each for each in found if each])

    def learn_together(self, warp: int, knowledge: Knowledge) -> None:
        """Tell all threads of a warp something."""
        self._of_warps[warp] = joined([self._of_warps.get(warp, {}), knowledge])

    def of_some(self, warp: int, threads: Indices) -> Knowledge:
        """Return what any of some threads of a warp was told."""
        found = [
            self._of_warps.get(warp, {}),
            *(self._of_threads.get(thread, {}) for thread in threads.tolist()),
        ]
        return joined([each for each in found if each])

    @property
    def apart(self) -> frozenset[int]:
        """Threads that were told what the others of their warps may not know."""
        return frozenset(self._of_threads)

    @property
    def parts(self) -> tuple[Mapping[int, Knowledge], Mapping[int, Knowledge]]:
        """What warps were told together, and threads alone."""
        return self._of_warps, self._of_threads

    def share(self, warps: Indices) -> None:
        """Tell some warps what any of their threads was told."""
        members = set(warps.tolist())
        threads = [thread for thread in self._of_threads if thread // WARP in members]
        known = [self._of_warps[member] for member in members if member in self._of_warps]
        known += [self._of_threads.pop(thread) for thread in threads]
        if known:
            self._of_warps |= dict.fromkeys(members, joined(known))


AGENT = 1 << 40
"""From here up, blocks stand for barrier objects, and their intervals for phases: see `barrier_objects`."""

OPERATIONS = AGENT + (1 << 32)
"""From here up, they stand for queues of operations on tensor memory: see `tensor_memory.uses`."""

FENCED = 1 << 34
"""What is more of the agent whose operations are over for who runs a fence behind a barrier."""


def of_agents(known: Knowledge) -> Knowledge:
    """Return what is known of asynchronous operations, and not of threads."""
    return {key: over for key, over in known.items() if AGENT <= key < THREAD}


def is_over(known: Knowledge, name: int, time: int, per_block: int, *, all_warps: bool = False) -> bool:
    """Tell whether what a thread, or any of its block, did in an interval is known to be over.

    Parameters
    ----------
    known : mapping
        Who knows.
    name : int
        The thread, by its number in the grid.
    time : int
        The interval.
    per_block : int
        Threads of a block, whole warps of them.
    all_warps : bool
        Whether all that its block did is asked for.
    """
    block, within = divmod(name, per_block)
    over = known.get(block)
    if over is not None and time < int(over.min() if all_warps else over[within // WARP]):
        return True
    own = None if all_warps else known.get(THREAD + name)
    return own is not None and time < int(own[0])


class Fences:
    """The fences of one scope that the threads of a batch ran, with the clocks that they may release.

    Behind a fence of its own a thread releases all that it knows to be over (PTX ISA 9.1 section 8.8, release
    patterns). Where others ran the fence and a barrier lies between, only the order of sequentially
    consistent fences makes that reach anybody (section 8.9.3): who acquires it must run such a fence too.
    """

    def __init__(self) -> None:
        self._own, self._strong, self._others = Told(), Told(), Told()

    def __bool__(self) -> bool:
        return bool(self._own)

    def note(self, thread: int, knowledge: Knowledge, *, strong: bool) -> None:
        """Note that a thread runs a fence; `strong` if it is sequentially consistent."""
        for each in (self._own, self._others, *((self._strong,) if strong else ())):
            each.learn(thread, knowledge)

    def share(self, warps: Indices) -> None:
        """Tell some warps of the fences of any of their threads, at a barrier."""
        self._strong.share(warps)
        self._others.share(warps)

    def released(self, thread: int) -> Released:
        """Return what a thread releases when it writes."""
        return Released(self._own.of(thread), self._strong.of(thread), self._others.of(thread))
