"""Earlier users of a place besides the last: writers of one value in no order, and updates by atomics.

Threads that write one value to a place in no order do no harm as such. Whoever changes the place afterwards
must be in order after all of them, though, not only after the last one that ran here: any of them may write
late. Who comes last of all that update a place by atomics learns that of everybody, see `tickets`; for others
it is enough that there are several.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..registers.threads import WARP, Indices
from .ordering import Ordering
from .vector_clocks import Places

OTHER_BLOCK = np.uint64(1 << 63)
"""Among the warps that used a place: threads of more than one block."""


class SameValueWriters:
    """The other writers of each granule of memory.

    Parameters
    ----------
    count : int
        Granules.

    Attributes
    ----------
    thread : int64 array (count,)
        One of them, by its number in the grid; means nothing where there is none.
    line : int32 array (count,)
        Where it wrote.
    """

    def __init__(self, count: int) -> None:
        self.thread = np.zeros(count, dtype=np.int64)
        self.line = np.zeros(count, dtype=np.int32)
        self._time = np.zeros(count, dtype=np.int32)
        self._warps = np.zeros(count, dtype=np.uint64)
        self._any = False

    def unordered(self, ordering: Ordering, places: Places, threads: Indices) -> Indices:
        """Return which accesses of threads (n,) to places (n,) are not in order after all of them."""
        if not self._any:
            return np.zeros(0, dtype=np.intp)
        which = np.flatnonzero(self._warps[places])
        at, threads = places[which], threads[which]
        of_one = self._warps[at] < OTHER_BLOCK
        over = of_one & ordering.over_for_whole_block(threads, self.thread[at], self._time[at])
        same = of_one & ordering.same_block(threads, self.thread[at])
        for index in np.flatnonzero(same & ~over):
            warps, time = int(self._warps[at[index]]), int(self._time[at[index]])
            over[index] = ordering.over_for_warps(int(threads[index]), time, warps)
        return which[~over]

    def keep(self, places: Places, which: Indices) -> None:
        """Forget those of places that are written, but for some of these."""
        if self._any:
            kept = self._warps[places[which]]
            self._warps[places] = 0
            self._warps[places[which]] = kept

    def add(
        self,
        ordering: Ordering,
        places: Places,
        writers: NDArray[np.int64],
        line: NDArray[np.int32] | int,
        times: NDArray[np.int32],
        last: NDArray[np.int64],
    ) -> None:
        """Note that others wrote places (n,), by numbers in the grid, than who is taken to be the last."""
        if not len(places):
            return
        self._any = True
        block = writers // ordering.per_block
        known = self._warps[places] != 0
        mixed = (block != last // ordering.per_block) | (
            known & (self.thread[places] // ordering.per_block != block)
        )
        own = np.uint64(1) << (writers % ordering.per_block // WARP).astype(np.uint64)
        self._time[places[~known]] = 0
        np.maximum.at(self._time, places, times)
        np.bitwise_or.at(self._warps, places, np.where(mixed, OTHER_BLOCK, own))
        self.thread[places] = writers
        self.line[places] = line

    def open_accesses(self, ordering: Ordering, latest: NDArray[np.int32]) -> list[NDArray[Any]]:
        """Return what is not in order before all later accesses; see `AccessHistory.relative`."""
        known = self._warps != 0
        blocks = np.where(known, ordering.block_of(self.thread), 0)
        still = known & (self._time >= ordering.slowest(blocks))
        kept = (still, self.thread, self._time - latest[blocks], self._warps)
        return [np.where(still, each, 0) for each in kept]

    def arrays(self) -> list[NDArray[Any]]:
        """Return all that is kept."""
        return [each.copy() for each in (self.thread, self.line, self._time, self._warps)]


class AtomicUsers:
    """The threads that changed places by atomics.

    Attributes
    ----------
    kept : bool
        Whether they are kept.
    """

    def __init__(self) -> None:
        self.kept = False
        self._times: dict[int, dict[int, int]] = {}

    def note(self, ordering: Ordering, places: Places, threads: Indices, fresh: Indices) -> None:
        """Note that threads (n,) change places (n,) by atomics; of some of these nobody before counts."""
        if not self.kept:
            return
        for place in places[fresh].tolist():
            self._times.pop(place, None)
        names, times = ordering.names[threads].tolist(), ordering.times(threads).tolist()
        for place, name, time in zip(places.tolist(), names, times, strict=True):
            self._times.setdefault(place, {})[name] = time

    def are_over(self, ordering: Ordering, places: Places, threads: Indices, which: Indices) -> Indices:
        """Return which of some accesses of threads (n,) to places (n,) are in order after all atomics."""
        if not self._times:
            return np.zeros(0, dtype=np.intp)
        found = []
        for index in which.tolist():
            times = self._times.get(int(places[index]))
            thread = int(threads[index])
            if times is not None:
                names = np.array([time for time in times if time != ordering.names[thread]], dtype=np.int64)
                when = np.array([times[each] for each in names.tolist()], dtype=np.int32)
                if ordering.over(np.full(len(names), thread), names, when).all():
                    found.append(index)
        return np.array(found, dtype=np.intp)
