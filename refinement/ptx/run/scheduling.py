"""Divergent groups of threads: divergence, reconvergence, waiting at barriers.

Source: PTX ISA 9.1 sections 9.7.13.1 to 9.7.13.3 (bar, barrier).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..order.ordering import Arrived, Ordering
from ..registers.threads import WARP, Indices, Threads


@dataclass
class Join:
    """A reconvergence point of diverged threads.

    Attributes
    ----------
    at : int
        Index of the instruction.
    outstanding : int
        Strands that are still to come.
    arrived : list of array
        Threads that are there.
    """

    at: int
    outstanding: int
    arrived: list[Indices] = field(default_factory=list)


@dataclass
class Strand:
    """A divergent group: threads that execute together.

    Attributes
    ----------
    at : int
        Index of the instruction that is next.
    active : array
        The threads.
    joins : tuple of Join
        Where they will meet others, the next last.
    """

    at: int
    active: Indices
    joins: tuple[Join, ...] = ()


@dataclass
class Waiting:
    """A divergent group that waits at a barrier.

    Attributes
    ----------
    strand : Strand
        At the instruction behind the barrier.
    barriers, counts : array (n active,)
        Which barrier each thread waits for, and for how many threads; -1 for all of its block.
    aligned : bool
        Whether the threads of a warp must come together.
    """

    strand: Strand
    barriers: NDArray[np.int64]
    counts: NDArray[np.int64]
    aligned: bool

    def part(self, members: NDArray[np.bool_]) -> Waiting:
        """Return some of the threads."""
        strand = Strand(self.strand.at, self.strand.active[members], self.strand.joins)
        return Waiting(strand, self.barriers[members], self.counts[members], self.aligned)


class Scheduler:
    """The divergent groups of a batch.

    Parameters
    ----------
    threads : Threads
        The batch.
    ordering : Ordering
        What barriers tell.
    alive : bool array
        Threads that have not ended; a view.
    apart : bool
        Whether blocks never come together, as some may wait for others.
    """

    def __init__(
        self, threads: Threads, ordering: Ordering, alive: NDArray[np.bool_], *, apart: bool = False
    ) -> None:
        self._threads = threads
        self._ordering = ordering
        self._alive = alive
        self.runnable = [Strand(0, np.flatnonzero(alive))]
        if apart:
            blocks = threads.block[self.runnable[0].active]
            self.runnable = [
                Strand(0, self.runnable[0].active[blocks == block]) for block in np.unique(blocks)[::-1]
            ]
        self.waiting: list[Waiting] = []
        self._arrivals: dict[tuple[int, int], list[tuple[int, Arrived]]] = {}
        self.barriers = 0

    # -- parting and meeting
    def part(self, strand: Strand, parts: Sequence[Strand], meet: int | None) -> None:
        """Replace a strand by several, which come together at an instruction (None: perhaps never)."""
        joins = strand.joins
        if meet is None or (joins and joins[-1].at == meet):
            if joins:
                joins[-1].outstanding += len(parts) - 1
        else:
            joins = (*joins, Join(meet, len(parts)))
        for each in reversed(parts):
            each.joins = joins
            self.runnable.append(each)

    def arrive(self, strand: Strand) -> None:
        """Let a strand wait for the others at its next join."""
        strand.joins[-1].arrived.append(strand.active)
        self.end(strand)

    def end(self, strand: Strand) -> None:
        """Take a strand away; who waited for it only may go on."""
        joins = strand.joins
        while joins:
            join = joins[-1]
            join.outstanding -= 1
            if join.outstanding:
                return
            joins = joins[:-1]
            threads = [each[self._alive[each]] for each in join.arrived]
            together = np.sort(np.concatenate(threads)) if threads else np.empty(0, dtype=np.intp)
            if len(together):
                self.runnable.append(Strand(join.at, together, joins))
                return

    @property
    def has_arrivals(self) -> bool:
        """Whether threads have arrived at barriers that are not complete."""
        return bool(self._arrivals)

    # -- barriers
    def wait(self, waiting: Waiting) -> None:
        """Let a strand wait for a barrier."""
        self.waiting.append(waiting)

    def arrive_at_barrier(self, barriers: NDArray[np.int64], active: Indices) -> None:
        """Note threads that arrive at barriers without waiting."""
        for block, barrier, members in self._groups(barriers, active):
            warps = np.unique(active[members] // WARP)
            known = self._ordering.arrive(warps)
            self._arrivals.setdefault((block, barrier), []).append((len(warps), known))

    def release(self) -> list[Waiting]:
        """Let those go on whose barriers are complete, and return them."""
        active = np.concatenate([each.strand.active for each in self.waiting])
        barriers = np.concatenate([each.barriers for each in self.waiting])
        counts = np.concatenate([each.counts for each in self.waiting])
        free = np.zeros(len(self._threads), dtype=bool)
        for block, barrier, members in self._groups(barriers, active):
            threads = active[members]
            warps = np.unique(threads // WARP)
            arrivals = self._arrivals.get((block, barrier), [])
            wanted = int(counts[members].max())
            if wanted < 0:
                of_block = self._threads.block == block
                complete = ordered = len(threads) == int((self._alive & of_block).sum())
            else:
                present = WARP * (len(warps) + sum(count for count, _ in arrivals))
                complete = present >= wanted
                # If more come than it lets go at a time, nothing says which of them meet.
                ordered = present == wanted and bool((counts[members] == wanted).all())
            if complete:
                if ordered:
                    self._ordering.barrier(warps, [known for _, known in arrivals])
                self._arrivals.pop((block, barrier), None)
                self.barriers += 1
                free[threads] = True
        still, released = [], []
        for each in self.waiting:
            goes = free[each.strand.active]
            if not goes.any():
                still.append(each)
                continue
            released.append(each.part(goes))
            self.runnable.append(released[-1].strand)
            if not goes.all():
                still.append(each.part(~goes))
                if each.strand.joins:
                    each.strand.joins[-1].outstanding += 1
        self.waiting = still
        return released

    def stop_meeting(self, parked: Sequence[Strand] = ()) -> bool:
        """Let threads go on that wait only for others to come together, and say whether there are any.

        Those others wait at barriers, or are `parked`.

        Meeting saves time, and nothing else waits for it: who is there first may be whom a barrier needs.
        """
        for strand in (*(each.strand for each in self.waiting), *parked):
            joins = strand.joins
            for depth in reversed(range(len(joins))):
                join, before = joins[depth], joins[:depth]
                threads = [each[self._alive[each]] for each in join.arrived]
                join.arrived = []
                if any(len(thread) for thread in threads):
                    self.runnable.append(Strand(join.at, np.sort(np.concatenate(threads)), before))
                    if before:
                        before[-1].outstanding += 1
                    return True
        return False

    def _groups(
        self, barriers: NDArray[np.int64], active: Indices
    ) -> Iterator[tuple[int, int, NDArray[np.bool_]]]:
        """Yield block, barrier, and which threads are at it."""
        keys = np.stack([self._threads.block[active], barriers], axis=1)
        for block, barrier in np.unique(keys, axis=0):
            yield int(block), int(barrier), (keys == [block, barrier]).all(axis=1)
