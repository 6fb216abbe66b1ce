"""Data races: conflicting accesses that no happens-before edge orders.

Two accesses of different threads that are not in order (see `ordering`), at least one of which changes what
is there, are a race.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import UnsupportedError
from ..registers.threads import WARP, Indices
from .conflicts import Conflicts
from .earlier_users import OTHER_BLOCK, AtomicUsers, SameValueWriters
from .fetches import Fetcher, Fetches
from .ordering import NOBODY, Ordering
from .snapshots import Snapshot
from .vector_clocks import AGENT, Places
from .warp_reads import WarpReads

_MIXED = 0xFF
"""In place of the size of the words that were stored to a place: they were of several."""


class AccessHistory:
    """The last readers and writers of each granule of memory.

    Parameters
    ----------
    size : int
        Bytes.
    granule : int
        Bytes that every access is a multiple of.
    """

    def __init__(self, size: int, granule: int) -> None:
        self.granule = granule
        count = -(-size // granule)
        self.writer = np.full(count, NOBODY, dtype=np.int64)
        self.line = np.zeros(count, dtype=np.int32)
        self._plain_writer = np.full(count, NOBODY, dtype=np.int64)
        self._written = np.zeros(count, dtype=np.int32)
        self._atomic = np.zeros(count, dtype=bool)
        self._atomics = False
        self._reader = np.full(count, NOBODY, dtype=np.int64)
        self._reader_line = np.zeros(count, dtype=np.int32)
        self._read = np.zeros(count, dtype=np.int32)
        self._warps = np.zeros(count, dtype=np.uint64)
        self._several = np.zeros(count, dtype=bool)
        self._rewritten = np.zeros(count, dtype=bool)
        """What was written since the first of those that read it did."""
        self._same_value = SameValueWriters(count)
        self.atomic_users = AtomicUsers()
        self.of_warps = np.zeros(count, dtype=bool)
        """Where the last plain store was one of a whole warp, whichever thread named the address."""
        self._copying = np.zeros(count, dtype=bool)
        self.copies = 0
        """How many instructions' copies are under way."""
        self.warp_reads: WarpReads | None = None
        """Kept of shared memory where warps come together at barrier objects."""
        self._waited: NDArray[np.int64] | None = None
        """Of copies that barrier objects tell of, who waited for them besides, and in which interval."""
        self.on_data: set[int] = set()
        """Lines whose accesses depend on data."""
        self._sizes = np.zeros(count, dtype=np.uint8)
        self.by_proxy = np.zeros(count, dtype=bool)
        """Where asynchronous copies wrote last, through the asynchronous proxy."""
        self._products: NDArray[np.int32] | None = None
        """Of products under way, how many warps read each granule, and the line of one of them."""
        self.reduced: NDArray[np.bool_] | None = None
        """Where bulk reductions change memory."""
        self._changed: NDArray[np.int32] | None = None
        """Lines of atomic operations that changed each granule since it was written; 0 for none."""
        self._fetches = Fetches()
        """Copies that read, of which who waits for barrier objects knows that they are over."""

    def places(self, offsets: NDArray[np.int64], count: int) -> Places:
        """Return the granules (n, …) of accesses (n,) of `count` bytes."""
        return offsets[:, None] // self.granule + np.arange(max(1, count // self.granule))

    def read(
        self,
        ordering: Ordering,
        places: Places,
        threads: Indices,
        line: int,
        *,
        atomic: bool = False,
        by_warps: bool = False,
        by_products: bool = False,
        fetchers: tuple[Fetcher, ...] = (),
    ) -> Conflicts:
        """Note that threads (n,) read places (n,), or change them by atomics; return what that races with.

        With fetchers they let these read, who may do so later.

        Atomics are like reads, in that they race with other accesses but not with each other. Where whole
        warps read or wrote, what a thread wrote itself reaches others, or is others': another one of its warp
        must know it, too. They go on together, so that this thread may write there again.
        """
        writer, naming = self._plain_writer[places], threads
        mine = ordering.names[threads]
        if (own := (writer == mine) & (by_warps | self.of_warps[places])).any():
            threads = np.where(own, threads ^ 1, threads)
            mine = ordering.names[threads]
        suspects = np.flatnonzero((writer != NOBODY) & (writer != mine))
        suspects = suspects[~self._writes_over(ordering, places[suspects], threads[suspects])]
        if self.copies:
            suspects = np.union1d(suspects, np.flatnonzero(self._copying[places]))
        conflicts = self._conflicts(places, suspects)
        if atomic:
            late = np.setdiff1d(self._same_value.unordered(ordering, places, threads), suspects)
            conflicts = conflicts.and_also(self._joint_conflicts(places, late))
        if atomic or self._atomics:
            others = np.flatnonzero(self._atomic[places] != atomic)
            conflicts = conflicts.and_also(self.unordered_readers(ordering, places, threads, others))
            self._atomics = True
        for fetcher in fetchers:
            self._fetches.note(ordering, places, int(naming[0]), line, fetcher)
        if not fetchers:
            self._note_readers(ordering, places, naming, line, atomic=atomic, by_products=by_products)
        return conflicts

    def _note_readers(
        self,
        ordering: Ordering,
        places: Places,
        threads: Indices,
        line: int,
        *,
        atomic: bool = False,
        by_products: bool = False,
    ) -> None:
        if self.warp_reads is not None:
            self.warp_reads.note(ordering, places, threads, by_products=by_products)
        now = ordering.times(threads)
        mine = ordering.names[threads]
        own = np.uint64(1) << (mine % ordering.per_block // WARP).astype(np.uint64)
        earlier = self._reader[places]
        fresh = earlier == NOBODY
        fresh |= (self._warps[places] < OTHER_BLOCK) & ordering.over_for_whole_block(
            threads, earlier, self._read[places]
        )
        known = ordering.over(threads, earlier, self._read[places])
        fresh |= ~self._several[places] & known
        left = np.flatnonzero(~fresh & known & (self._warps[places] < OTHER_BLOCK))
        fresh[left] = self._of_warps_over(ordering, places[left], threads[left])
        if not atomic:
            of_atomics = np.flatnonzero(self._atomic[places] & ~fresh)
            fresh[self.atomic_users.are_over(ordering, places, threads, of_atomics)] = True
        # Of threads that read one place together, one becomes its reader; the others tell that they are more.
        started = places[fresh]
        self._several[started] = self._rewritten[started] = False
        self._warps[started] = 0
        self._reader[started] = mine[fresh]
        self._reader_line[started] = line
        self._atomic[places] = atomic
        self._read[places] = np.where(fresh, now, np.maximum(self._read[places], now))
        others = self._reader[places] != mine
        if others.any():
            apart = ~ordering.same_block(threads[others], self._reader[places[others]])
            self._several[places[others]] = True
            own[np.flatnonzero(others)[apart]] = OTHER_BLOCK
        if atomic:
            self.atomic_users.note(ordering, places, threads, np.flatnonzero(fresh))
        while len(places):  # of threads that read one place together, one a round gets its bit in
            self._warps[places] |= own
            missing = (self._warps[places] & own) == 0
            places, own = places[missing], own[missing]

    def write(
        self, ordering: Ordering, places: Places, threads: Indices, line: int, *, by_warps: bool = False
    ) -> Conflicts:
        """Note that threads (n,) write places (n,), and return what that races with.

        What is written `by_warps` is written by all threads of those that name the places.
        """
        mine = ordering.names[threads]
        writer, now = self._plain_writer[places], ordering.times(threads)
        suspects = np.flatnonzero((writer != NOBODY) & (writer != mine))
        suspects = suspects[~self._writes_over(ordering, places[suspects], threads[suspects])]
        copied = suspects[writer[suspects] >= AGENT * WARP]
        of_copies = ordering.over_as_read(threads[copied], writer[copied], self._written[places[copied]])
        suspects = np.setdiff1d(suspects, copied[of_copies])
        late = self._same_value.unordered(ordering, places, threads)
        at = places[suspects]
        former = writer[suspects], self.line[at], self._written[at]
        plain = suspects
        if self.copies:
            suspects = np.union1d(suspects, np.flatnonzero(self._copying[places]))
        conflicts = self._conflicts(places, suspects).and_also(
            self._joint_conflicts(places, np.setdiff1d(late, suspects))
        )
        readers = self.unordered_readers(ordering, places, threads, np.arange(len(places)))
        if len(conflicts):
            conflicts.idempotent[np.isin(conflicts.which, readers.which[~readers.idempotent])] = False
            conflicts.read_too[np.isin(conflicts.which, readers.which)] = True
            readers = readers.some(~np.isin(readers.which, conflicts.which))
        conflicts = conflicts.and_also(readers)
        self._plain_writer[places] = mine
        self._written[places] = now
        self._rewritten[places] = True
        self.of_warps[places] = by_warps
        if self._changed is not None:
            self._changed[places] = 0
        self._same_value.keep(places, late)
        last = self._plain_writer[places]
        self._same_value.add(ordering, at, *former, last[plain])
        lost = np.flatnonzero(last != mine)
        self._same_value.add(ordering, places[lost], mine[lost], line, now[lost], last[lost])
        self.by_proxy[places] = False
        self.note_store(ordering, places, threads, line)
        return conflicts

    def note_store(self, ordering: Ordering, places: Places, threads: Indices, line: int) -> None:
        """Note who stores last, and where."""
        self.writer[places] = ordering.names[threads]
        self.line[places] = line

    def note_sizes(self, places: Places, size: int) -> None:
        """Note that words of `size` bytes are stored; 0 for what is stored otherwise than in words."""
        known = self._sizes[places]
        self._sizes[places] = size if size and ((known == 0) | (known == size)).all() else _MIXED

    def are_stored_as(self, places: Places, size: int) -> bool:
        """Tell whether all that was stored to places were words of `size` bytes."""
        return bool((self._sizes[places] == size).all())

    def leave_a_value(self, places: Places, found: Conflicts, size: int) -> NDArray[np.bool_]:
        """Tell of which conflicts of accesses of `size` bytes the outcome is some value, whichever it is.

        The memory model says so of accesses that overlap completely (PTX ISA 9.1 section 8.7.1); copies that
        are not waited for leave what was there, or what they copy.
        """
        same: NDArray[np.bool_] = self._sizes[places[found.which]] == size
        return found.copies | (same & ~found.reads)

    def unordered_readers(
        self, ordering: Ordering, places: Places, threads: Indices, which: Indices
    ) -> Conflicts:
        """Return conflicts of some accesses with what others read, or changed by atomics."""
        at = places[which]
        reader = self._reader[at]
        which = which[(reader != NOBODY) & ((reader != ordering.names[threads[which]]) | self._several[at])]
        if len(which):
            which = which[~self._readers_over(ordering, places[which], threads[which])]
        at = places[which]
        atomic = self._atomic[at]
        stored = atomic if self.warp_reads is None else np.zeros(len(at), dtype=bool)
        lines = np.where(stored, self.line[at], self._reader_line[at])
        copies = np.zeros(len(which), dtype=bool)
        return Conflicts(
            which, self._reader[at], lines, ~atomic, copies, ~atomic & ~self._rewritten[at], ~copies
        )

    def _of_warps_over(self, ordering: Ordering, places: Places, threads: Indices) -> NDArray[np.bool_]:
        """Tell which threads (n,) know that all who read places (n,), warps of their block, have done so."""
        found = ordering.same_block(threads, self._reader[places])
        rows = np.stack([threads, self._read[places], self._warps[places].astype(np.int64)], axis=1)[found]
        if len(rows):
            distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
            over = [ordering.over_for_warps(*each) for each in distinct.tolist()]
            found[found] = np.array(over)[inverse.reshape(-1)]
        return found

    def _readers_over(self, ordering: Ordering, places: Places, threads: Indices) -> NDArray[np.bool_]:
        reader, times = self._reader[places], self._read[places]
        of_one = self._warps[places] < OTHER_BLOCK
        same = ordering.same_block(threads, reader) & of_one
        over = of_one & ordering.over_for_whole_block(threads, reader, times)
        over |= ~self._several[places] & ordering.over(threads, reader, times)
        for index in np.flatnonzero(same & ~over):
            warps = int(self._warps[places[index]])
            over[index] = ordering.over_for_warps(int(threads[index]), int(times[index]), warps)
        if self.warp_reads is not None:
            left = np.flatnonzero(~over if self.warp_reads.of_cluster else of_one & ~over)
            over[left] = self.warp_reads.are_over(ordering, places[left], threads[left])
        apart = np.flatnonzero(~of_one & self._atomic[places] & ~over)
        over[self.atomic_users.are_over(ordering, places, threads, apart)] = True
        return over

    def _writes_over(self, ordering: Ordering, places: Places, threads: Indices) -> NDArray[np.bool_]:
        """Tell which threads (n,) know the last write to each of some places (n,) to be over."""
        if not len(places):
            return np.zeros(0, dtype=bool)
        over = ordering.over(threads, self._plain_writer[places], self._written[places])
        waited = self._waited
        if waited is not None:
            left = np.flatnonzero(~over & (self._plain_writer[places] >= AGENT * WARP))
            who, times = waited[:, places[left]]
            over[left] = (who == ordering.names[threads[left]]) | (
                (who != NOBODY) & ordering.over(threads[left], who, times.astype(np.int32))
            )
        return over

    def _conflicts(self, places: Places, suspects: Indices) -> Conflicts:
        at = places[suspects]
        wrote = np.zeros(len(at), dtype=bool)
        copies = self._copying[at] | (self._plain_writer[at] >= AGENT * WARP)
        return Conflicts(suspects, self.writer[at], self.line[at], wrote, copies, ~copies, wrote.copy())

    def _joint_conflicts(self, places: Places, which: Indices) -> Conflicts:
        at, none = places[which], np.zeros(len(which), dtype=bool)
        return Conflicts(
            which, self._same_value.thread[at], self._same_value.line[at], none, none, ~none, none.copy()
        )

    @property
    def is_used(self) -> bool:
        """Whether anything was accessed."""
        return bool((self.writer != NOBODY).any() or (self._reader != NOBODY).any())

    def relative(self, ordering: Ordering) -> list[NDArray[Any]]:
        """Return what tells races with later accesses from here on, with times relative to the latest.

        Of two moments at which this is the same, the same accesses race. Accesses that are in order before
        all later ones are left out. The history must be of memory that blocks don't share.
        """
        latest, clocks = ordering.relative_clocks()
        return [*clocks, *self._open_accesses(ordering, latest)]

    def _open_accesses(self, ordering: Ordering, latest: NDArray[np.int32]) -> list[NDArray[Any]]:
        """Return the accesses that are not in order before all later ones; see `relative`."""
        found: list[NDArray[Any]] = [self._copying.copy(), self._atomic.copy()]
        of_reads = (self._reader, self._read, (self._warps, self._several))
        of_writes = (self._plain_writer, self._written, ())
        for who, times, more in (of_reads, of_writes):
            blocks = np.where(who == NOBODY, 0, ordering.block_of(who))
            still = (who != NOBODY) & (times >= ordering.slowest(blocks))
            kept = (who, times - latest[blocks], *more)
            found += [np.where(still, each, 0) for each in (still, *kept)]
        marks = self._rewritten & found[2], self.of_warps & found[7]
        products = [] if self._products is None else [self._products[0].copy()]
        products += [] if self._changed is None else [self._changed.copy()]
        return [*found, *marks, *products, *self._same_value.open_accesses(ordering, latest)]

    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`.

        What is compared with the clocks of several warps at once must be as it was: it happened before the
        loop, and comes to be in order before more and more.

        Raises
        ------
        UnsupportedError
            If the threads that changed places by atomics are kept.
        """
        snapshot.of_threads(self._plain_writer, self._written)
        snapshot.of_threads(self._reader, self._read)
        if self._waited is not None:
            snapshot.of_threads(self._waited[0], self._waited[1])
        if self.atomic_users.kept:
            raise UnsupportedError("threads wait for the last of several blocks at the head of a loop")
        if self.warp_reads is None:
            snapshot.take(np.where(self._several, self._read, 0))
        snapshot.rest(self, "_plain_writer", "_written", "_reader", "_read", "_waited", "atomic_users")

    def arrays(self) -> list[NDArray[Any]]:
        """Return all that is kept."""
        marks = (self._atomic, self._rewritten, self.of_warps)
        writes = (self.writer, self.line, self._plain_writer, self._written, *marks)
        reads = (self._reader, self._read, self._warps, self._several)
        return [*(write.copy() for write in (*writes, *reads)), *self._same_value.arrays()]

    # -- products that read until they are waited for
    def begin_reads(self, places: Places, line: int) -> None:
        """Note that products under way read places, once for each warp."""
        if self._products is None:
            self._products = np.zeros((2, len(self.writer)), dtype=np.int32)
        np.add.at(self._products[0], places, 1)
        self._products[1, places] = line

    def end_reads(
        self,
        ordering: Ordering,
        places: Places,
        threads: Indices,
        line: int,
        *,
        by_products: bool = False,
    ) -> None:
        """Note that threads (n,) know their copies, or products of their warps, to have read places (n,)."""
        assert self._products is not None
        np.subtract.at(self._products[0], places, 1)
        self._note_readers(ordering, places, threads, line, by_products=by_products)

    def read_asynchronously(self, ordering: Ordering, places: Places, threads: Indices) -> NDArray[np.int32]:
        """Return the lines of products and copies that may still read places (n,), 0 where there is none.

        What a copy has read is over for threads (n,) that know its phase to be.
        """
        fetched = self._fetches.open(ordering, places, threads)
        if self._products is None:
            return fetched
        count, line = self._products[:, places]
        return np.where(count > 0, line, fetched)

    def note_atomic_change(self, places: Places, line: int) -> None:
        """Note that atomic operations change places."""
        if self._changed is None:
            self._changed = np.zeros(len(self.writer), dtype=np.int32)
        self._changed[places] = line

    def changed_by_atomics(self, places: Places) -> NDArray[np.int32]:
        """Return the lines of atomic operations that changed some places (n,) last, 0 where there is none."""
        return np.zeros(len(places), dtype=np.int32) if self._changed is None else self._changed[places]

    def used_by_atomics(self, places: Places) -> NDArray[np.bool_]:
        """Tell which places (n, …) atomic operations used last."""
        return self._atomic[places]

    def plain_writes(self, places: Places) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return who wrote each of some places last, and in which interval."""
        return self._plain_writer[places], self._written[places]

    def begin_copies(self, places: Places) -> None:
        """Note that asynchronous copies to some places are under way."""
        self._copying[places] = True

    def end_copies(self, ordering: Ordering, places: Places, threads: Indices) -> None:
        """Note that threads (n,) know their copies to places (n,) to be done."""
        writer, mine = self._plain_writer[places], ordering.names[threads]
        others = np.flatnonzero((writer != NOBODY) & (writer != mine))
        others = others[~self._writes_over(ordering, places[others], threads[others])]
        at = places[others]
        self._same_value.add(ordering, at, writer[others], self.line[at], self._written[at], mine[others])
        self._copying[places] = self.of_warps[places] = False
        self._plain_writer[places] = ordering.names[threads]
        self._written[places] = ordering.times(threads)

    def hand_copies(self, places: Places, agent: int, phase: int) -> None:
        """Note that copies to some places are over for who knows a phase of a barrier object to be."""
        self._copying[places] = self.of_warps[places] = False
        if self._waited is not None:
            self._waited[0, places] = NOBODY
        self._plain_writer[places], self._written[places] = agent, phase

    def wait_for_handed(self, ordering: Ordering, places: Places, threads: Indices) -> None:
        """Note that threads (n,) themselves know their copies to places (n,) to be done, too."""
        still = self._plain_writer[places] >= AGENT * WARP
        if self._waited is None:
            self._waited = np.full((2, len(self.writer)), NOBODY, dtype=np.int64)
        self._waited[:, places[still]] = ordering.names[threads[still]], ordering.times(threads[still])


class StoreHistory(AccessHistory):
    """The last writer of each granule of memory, without race detection: for kernels known to have none."""

    def read(
        self,
        ordering: Ordering,
        places: Places,
        threads: Indices,
        line: int,
        *,
        atomic: bool = False,
        by_warps: bool = False,
        by_products: bool = False,
        fetchers: tuple[Fetcher, ...] = (),
    ) -> Conflicts:
        """Find no conflict."""
        return self._conflicts(places, np.empty(0, dtype=np.intp))

    def begin_reads(self, places: Places, line: int) -> None:
        """Do nothing."""

    def end_reads(
        self,
        ordering: Ordering,
        places: Places,
        threads: Indices,
        line: int,
        *,
        by_products: bool = False,
    ) -> None:
        """Do nothing."""

    def write(
        self, ordering: Ordering, places: Places, threads: Indices, line: int, *, by_warps: bool = False
    ) -> Conflicts:
        """Note who stores last, and find no conflict."""
        self.note_store(ordering, places, threads, line)
        return self._conflicts(places, np.empty(0, dtype=np.intp))
