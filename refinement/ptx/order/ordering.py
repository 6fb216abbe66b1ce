"""Happens-before by barriers and fences: the clock of each warp and each thread.

Every warp counts intervals: between one barrier that it takes part in and the next. An access is in order
before another warp's if barriers since have told that warp of its interval, and before those of other
threads of its own warp if the interval is over.

The warps' knowledge of each other's intervals is a vector clock, as in C. Flanagan, S. Freund,
"FastTrack: Efficient and Precise Dynamic Race Detection", 2009. Of other blocks they know only what somebody
learned from a semaphore, see `semaphores`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import UnsupportedError
from ..registers.threads import WARP, Indices, Threads
from .clocks import Clocks
from .vector_clocks import THREAD, TOGETHER, Fences, Happened, Knowledge, Released, Told, is_over, joined

NOBODY = -1


class Arrived(NamedTuple):
    """What warps know that arrive at a barrier.

    Attributes
    ----------
    over : array (warps, warps of the block)
        Intervals of the others below this are over.
    told : sequence of mapping
        What any of their threads was told besides, in the order of `Ordering._told`.
    """

    over: NDArray[np.int32]
    told: Sequence[Knowledge]


class Ordering(Clocks):
    """The happens-before order of a batch's accesses.

    Parameters
    ----------
    threads : Threads
        The batch.
    """

    def __init__(self, threads: Threads) -> None:
        super().__init__(threads)
        self._beyond = Told()
        """What threads know to be over in other blocks."""
        self._wide, self._near = Fences(), Fences()
        """What threads knew, or had done, at fences for all blocks, and at all fences."""
        self.assumed = Told()
        """What threads know to be over in other blocks if a fence is not needed for it."""
        self.assumes = False
        """Whether accesses are in order for what is only assumed."""
        self.near = False
        """Whether threads of one block may learn of each other by words of shared memory too."""
        self._controls = Told()
        """What else threads know to have happened, of which they need not see what it left in memory."""
        self._proxied = Told()
        """What threads know to be over and seen through the asynchronous proxy: a proxy fence was between."""
        self._reads = Told()
        """What threads know to have been read, of what else they need not see."""
        self._made = Told()
        """Of whom threads see the barrier objects that they made."""
        self.presumes_reads = False
        """Whether reads are in order before what only a narrower scope than theirs tells."""
        self._told = self._beyond, self.assumed, self._controls, self._proxied, self._reads, self._made
        self.presumes = False
        """Whether fences of others before a barrier are taken for those of who writes behind it."""

    def arrive(self, warps: Indices) -> Arrived:
        """Begin a new interval of some warps of one block, and return what they know to be over."""
        self.warp_barrier(warps)
        block, own = np.divmod(warps, self._time.shape[1])
        told = [joined([each.of(warp * WARP) for warp in warps.tolist()]) for each in self._told]
        return Arrived(self._over[block, own], told)

    def barrier(self, warps: Indices, arrivals: Sequence[Arrived] = ()) -> None:
        """Put in order what some warps of one block did before and will do.

        Parameters
        ----------
        warps : array
            The warps that wait.
        arrivals : sequence of Arrived
            What warps that only arrived knew then; see `arrive`.
        """
        block, own = int(warps[0]) // self._time.shape[1], warps % self._time.shape[1]
        known = np.concatenate([self._over[block, own], *(arrival.over for arrival in arrivals)]).max(axis=0)
        now = int(self._time[block, own].max()) + 1
        known[own] = now
        self._over[block, own] = known
        self._time[block, own] = now
        self._slowest[block] = self._over[block].min(axis=1)
        for arrived in arrivals:
            for told, knowledge in zip(self._told, arrived.told, strict=True):
                if knowledge:
                    told.learn_together(int(warps[0]), knowledge)
        self._share(warps)

    def block_barriers(self) -> None:
        """Put in order what all warps of every block did before."""
        told = any(self._shared)
        for block in range(len(self._time)) if told else ():
            self._share(block * self._time.shape[1] + np.arange(self._time.shape[1]))
        self._time[:] = self._time.max(axis=1, keepdims=True) + 1
        self._over[:] = self._time[:, None, :]
        self._slowest[:] = self._over.min(axis=2)

    def warp_barrier(self, warps: Indices) -> None:
        """Put in order what the threads of each of some warps did before."""
        block, own = np.divmod(warps, self._time.shape[1])
        self._time[block, own] += 1
        self._over[block, own, own] = self._time[block, own]
        self._slowest[block] = self._over[block].min(axis=2)
        for warp in warps.tolist():
            self._share(np.array([warp]))

    def come_together(self, threads: Indices) -> None:
        """Let threads know how far the others of their warps are, where all are there: ``.sync`` waits.

        What they left in memory is not ordered by that.
        """
        of_block = self._time.shape[1]
        warps, counts = np.unique(threads // WARP, return_counts=True)
        for warp in warps[counts == self._exist[warps]].tolist():
            block, own = divmod(warp, of_block)
            self._time[block, own] += 1
            first = warp * WARP
            come = np.zeros(of_block, dtype=np.int32)
            come[own] = self._time[block, own]
            told = self._beyond.of_some(warp, np.arange(first, first + WARP))
            self._controls.share(np.array([warp]))
            here = {int(self.names[first]) // self.per_block: come}
            self._controls.learn_together(warp, joined([here, told]))

    def follow(self, warps: Indices, times: NDArray[np.int32]) -> None:
        """Let warps of one block know that each of them has come as far as the interval in `times`."""
        of_block = self._time.shape[1]
        come = np.zeros(of_block, dtype=np.int32)
        come[warps % of_block] = times
        name = int(self.names[int(warps[0]) * WARP]) // self.per_block
        for warp in warps.tolist():
            self._controls.learn_together(warp, {name: come})

    # -- other blocks
    def _share(self, warps: Indices) -> None:
        """Tell some warps what any of their threads knows of other blocks."""
        for each in self._shared:
            if each:
                each.share(warps)

    @property
    def _shared(self) -> tuple[Told | Fences, ...]:
        """What the threads of a warp tell each other at a barrier."""
        return *self._told, self._wide, self._near

    def known(self, thread: int) -> Knowledge:
        """Return what a thread knows to be over, in its own block and in others."""
        block, own = divmod(thread // WARP, self._time.shape[1])
        name = int(self.names[thread]) // self.per_block
        return joined([{name: self._over[block, own].copy()}, self._beyond.of(thread)])

    def learn(self, thread: int, knowledge: Knowledge) -> None:
        """Let a thread know what is over in other blocks."""
        self._beyond.learn(thread, knowledge)

    def acquire(self, thread: int, released: Released, *, strong: bool) -> None:
        """Let a thread know what was released; `strong` if a sequentially consistent fence is behind."""
        self.learn(thread, released.known)
        if strong:
            self.learn(thread, released.by_fences)
        if self._is_news(thread, released.everything):
            self.learn(thread, released.everything)
            self.presumes = True

    def _is_news(self, thread: int, knowledge: Knowledge) -> bool:
        """Tell whether a thread does not know something."""
        own = self.known(thread)
        for key, over in knowledge.items():
            if THREAD <= key < TOGETHER:
                if not is_over(own, key - THREAD, int(over[0]) - 1, self.per_block):
                    return True
            elif key not in own or (over > own[key]).any():
                return True
        return False

    # -- barrier objects
    def groups(self, threads: Indices) -> Iterator[Indices]:
        """Yield some threads by warps, those apart that know what others of their warps may not know."""
        apart = self._beyond.apart | self._controls.apart
        for warp in np.unique(threads // WARP).tolist():
            members = threads[threads // WARP == warp]
            alone = np.isin(members, list(apart))
            for member in members[alone]:
                yield np.array([member])
            if not alone.all():
                yield members[~alone]

    def known_to_have_happened(self, thread: int) -> Knowledge:
        """Return what a thread knows to be over, whether or not it sees what that left in memory."""
        return joined([self.known(thread), self._controls.of(thread)])

    def release(self, threads: Indices) -> Happened:
        """Let some threads tell what they know, and what they did themselves, up to this moment."""
        memory, control, proxied = list[Knowledge](), list[Knowledge](), list[Knowledge]()
        reads, made = list[Knowledge](), list[Knowledge]()
        for warp in np.unique(threads // WARP).tolist():
            members = threads[threads // WARP == warp]
            block, own = divmod(warp, self._time.shape[1])
            self._time[block, own] += 1
            over = self._over[block, own].copy()
            if len(members) == self._exist[warp]:
                over[own] = self._time[block, own]
            else:
                now = np.array([self._time[block, own]])
                memory += [{THREAD + int(name): now} for name in self.names[members]]
                memory.append({TOGETHER + int(self.names[members[0]]) // WARP: now})
            memory += [
                {int(self.names[members[0]]) // self.per_block: over},
                self._beyond.of_some(warp, members),
            ]
            control.append(self._controls.of_some(warp, members))
            proxied.append(self._proxied.of_some(warp, members))
            reads.append(self._reads.of_some(warp, members))
            made.append(self._made.of_some(warp, members))
        known = joined(memory)
        return Happened(known, joined([known, *control]), *map(joined, (proxied, reads, made)))

    def acquire_all(self, threads: Indices, told: Happened) -> None:
        """Let some threads know what others told."""
        for warp in np.unique(threads // WARP).tolist():
            members = threads[threads // WARP == warp]
            block, own = divmod(warp, self._time.shape[1])
            name = int(self.names[members[0]]) // self.per_block
            together = len(members) == self._exist[warp]
            memory = dict(told.memory)
            if together and name in memory:
                self._over[block, own] = np.maximum(self._over[block, own], memory.pop(name))
                self._slowest[block] = self._over[block].min(axis=1)
            self.near |= not together or any(each >= THREAD for each in memory)
            for each, knowledge in (
                (self._beyond, memory),
                (self._controls, told.control),
                (self._proxied, told.proxied),
                (self._reads, told.reads),
                (self._made, told.made),
            ):
                if not knowledge:
                    continue
                if together:
                    each.learn_together(warp, knowledge)
                else:
                    for thread in members.tolist():
                        each.learn(thread, knowledge)

    def fence(self, threads: Indices, *, strong: bool = False, near: bool = False) -> None:
        """Let threads tell from now on what they know, and what they did themselves, up to this moment.

        Parameters
        ----------
        threads : array
            The threads.
        strong : bool
            Whether the fence is sequentially consistent.
        near : bool
            Whether it is one for threads of the block alone.
        """
        self._time[np.divmod(np.unique(threads // WARP), self._time.shape[1])] += 1
        for thread, time in zip(threads.tolist(), self.times(threads).tolist(), strict=True):
            if not near:
                self._beyond.learn(thread, self.assumed.of(thread))
            mine = {THREAD + int(self.names[thread]): np.array([time], dtype=np.int32)}
            for each in (self._near,) if near else (self._near, self._wide):
                each.note(thread, joined([self.known(thread), mine]), strong=strong)

    def fence_barrier_objects(self, threads: Indices) -> None:
        """Let others learn of barrier objects that threads made at barriers that tell them nothing else."""
        self._time[np.divmod(np.unique(threads // WARP), self._time.shape[1])] += 1
        for thread, time in zip(threads.tolist(), self.times(threads).tolist(), strict=True):
            own = np.array([time], dtype=np.int32)
            self._made.learn(thread, {THREAD + int(self.names[thread]): own})

    def sees_barrier_objects(
        self, threads: Indices, makers: NDArray[np.int64], times: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Tell which threads (n,) see the barrier objects that others (n,) made in intervals."""
        if not self._made:
            return np.zeros(len(threads), dtype=bool)
        rows = zip(threads.tolist(), makers.tolist(), times.tolist(), strict=True)
        found = [is_over(self._made.of(who), name, time, self.per_block) for who, name, time in rows]
        return np.array(found, dtype=bool)

    # -- proxies
    def fence_proxy(self, threads: Indices) -> None:
        """Let what threads know to be over, and did themselves, be seen through the asynchronous proxy."""
        for warp in np.unique(threads // WARP).tolist():
            members = threads[threads // WARP == warp]
            if len(members) == self._exist[warp]:
                self._proxied.learn_together(warp, self.release(members).memory)
                continue
            for member in members.tolist():
                self._proxied.learn(member, self.release(np.array([member])).memory)

    def least_told(self, warp: int) -> list[int]:
        """Return the threads of a warp that stand for it: one that was told nothing apart, otherwise all."""
        members = range(warp * WARP, warp * WARP + int(self._exist[warp]))
        apart = self._beyond.apart | self._proxied.apart
        alike = next((member for member in members if member not in apart), None)
        return list(members) if alike is None else [alike]

    def proxied(self, thread: int, others: NDArray[np.int64], times: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell of which accesses of others (n,) in intervals a thread sees the outcome through that proxy."""
        known = self._proxied.of(thread)
        own = known.get(int(self.names[thread]) // self.per_block)
        found = np.zeros(len(others), dtype=bool)
        if own is not None:
            near = self.same_block(np.full(len(others), thread), others)
            found[near] = times[near] < own[others[near] % self.per_block // WARP]
        left = np.flatnonzero(~found) if known else np.zeros(0, dtype=np.intp)
        if len(left):
            rows = np.stack([others[left], times[left]], axis=1)
            distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
            over = [is_over(known, name, time, self.per_block) for name, time in distinct.tolist()]
            found[left] = np.array(over)[inverse.reshape(-1)]
        return found

    def fenced(self, thread: int, *, near: bool = False) -> Released:
        """Return what a thread releases as fences are behind it; `near` if to threads of its block."""
        return (self._near if near else self._wide).released(thread)

    def share_within_block(self, thread: int) -> None:
        """Tell all warps of a thread's block what any of them knows of other blocks."""
        warps = self._time.shape[1]
        self._share(thread // WARP // warps * warps + np.arange(warps))

    def _over_in_others(
        self, threads: Indices, others: NDArray[np.int64], times: NDArray[np.int32], *, all_warps: bool
    ) -> NDArray[np.bool_]:
        """Tell whether accesses of threads of other blocks, or of any of their warps, are over."""
        found = np.zeros(len(threads), dtype=bool)
        if not self._beyond and not self.assumed:
            return found
        asked = np.flatnonzero(others != NOBODY)
        apart = np.array(sorted(self._beyond.apart | self.assumed.apart), dtype=np.intp)
        who = threads[asked]  # one thread stands for its warp where all know the same
        who = np.where(np.isin(who, apart), who, -1 - who // WARP)
        rows = np.stack([who, others[asked], times[asked]], axis=1)
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        answers = np.zeros(len(first), dtype=bool)
        known: dict[int, Knowledge] = {}
        for place, index in enumerate(asked[first].tolist()):
            thread, name, time = int(threads[index]), int(others[index]), int(times[index])
            if thread not in known:
                known[thread] = self._beyond.of(thread)
            answers[place] = is_over(known[thread], name, time, self.per_block, all_warps=all_warps)
            if not answers[place] and self.assumed:
                guessed = self.assumed.of(thread)
                answers[place] = is_over(guessed, name, time, self.per_block, all_warps=all_warps)
                self.assumes |= bool(answers[place])
        found[asked] = answers[inverse.reshape(-1)]
        return found

    def over_for_whole_block(
        self, threads: Indices, others: NDArray[np.int64], times: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Tell whether all that blocks of other threads did in intervals is in order before."""
        same = self.same_block(threads, others)
        found = same & self.over_for_all(threads, times)
        apart = np.flatnonzero(~same)
        found[apart] = self._over_in_others(threads[apart], others[apart], times[apart], all_warps=True)
        return found

    def over_of_warps(self, threads: Indices) -> NDArray[np.int32]:
        """Return the intervals (n, warps) of the warps of each thread's cluster that it knows to be over.

        They are those of which a thread knows that what they read was read.
        """
        warps = threads // WARP
        found: NDArray[np.int32] = self._over[np.divmod(warps, self._time.shape[1])]
        if self._peers.shape[1] > 1:
            return self._over_in_cluster(threads, found)
        if self.near:
            for index in np.unique(threads, return_index=True)[1].tolist():
                thread = int(threads[index])
                told = self._beyond.of(thread).get(int(self.names[thread]) // self.per_block)
                if told is not None:
                    found[threads == thread] = np.maximum(found[threads == thread], told)
        return found

    def waited_of_warps(self, threads: Indices) -> NDArray[np.int32]:
        """Return the intervals (n, warps of the cluster) below which what warps waited for together is over.

        Any thread of a warp that tells what it did has waited for it.
        """
        found, count = self.over_of_warps(threads).copy(), self._time.shape[1]
        for thread in np.unique(threads).tolist():
            block, own = divmod(thread // WARP, count)
            blocks = self.names[self._peers[block] * self.per_block] // self.per_block
            keys = TOGETHER + (blocks[:, None] * count + np.arange(count)).reshape(-1)
            seen, read = (
                np.array([int(known[key][0]) if key in known else 0 for key in keys.tolist()], dtype=np.int32)
                for known in (self._beyond.of(thread), self._reads.of(thread))
            )
            seen[self.column_in_cluster(np.array([thread]))] = self._time[block, own] + 1
            self.presumes_reads |= bool((read > seen).any())
            rows = threads == thread
            found[rows] = np.maximum(found[rows], np.maximum(seen, read))
        return found

    def over_as_read(
        self, threads: Indices, others: NDArray[np.int64], times: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Tell of which others threads (n,) know that they are over as they know it of reads alone."""
        found = np.zeros(len(threads), dtype=bool)
        if self._reads and len(threads):
            rows = np.stack([threads, others, times], axis=1)
            distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
            over = [
                is_over(self._reads.of(who), name, time, self.per_block)
                for who, name, time in distinct.tolist()
            ]
            found = np.array(over)[inverse.reshape(-1)]
            self.presumes_reads |= bool(found.any())
        return found

    def _over_in_cluster(self, threads: Indices, own: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the same for all ranks of a cluster, of which threads (n,) know `own` of their blocks."""
        count, size = self._time.shape[1], self._peers.shape[1]
        found = np.zeros((len(threads), size, count), dtype=np.int32)
        apart = np.array(sorted(self._beyond.apart | self._reads.apart), dtype=np.intp)
        alike = np.where(np.isin(threads, apart), threads, -1 - threads // WARP)
        for each in np.unique(alike).tolist():
            rows = np.flatnonzero(alike == each)
            thread = int(threads[rows[0]])
            block = thread // WARP // count
            seen, read = self._beyond.of(thread), self._reads.of(thread)
            for rank, peer in enumerate(self._peers[block].tolist()):
                name = int(self.names[peer * self.per_block]) // self.per_block
                over = np.maximum(seen.get(name, 0), own[rows][0] if peer == block else 0)
                told = np.maximum(over, read.get(name, 0))
                self.presumes_reads |= bool((told > over).any())
                found[rows, rank] = told
        return found.reshape(len(threads), size * count)

    def over(
        self, threads: Indices, others: NDArray[np.int64], times: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Tell whether accesses of threads (by number in the grid) in intervals are in order before."""
        warps = threads // WARP
        block, own = np.divmod(warps, self._time.shape[1])
        other = others % self.per_block // WARP
        same = self.same_block(threads, others)
        found: NDArray[np.bool_] = same & (times < self._over[block, own, other])
        apart = np.flatnonzero(~found if self.near else ~same)
        found[apart] = self._over_in_others(threads[apart], others[apart], times[apart], all_warps=False)
        return found

    def relative_clocks(self) -> tuple[NDArray[np.int32], list[NDArray[Any]]]:
        """Return each block's latest interval, and the clocks of its warps relative to that."""
        latest = self._time.max(axis=1)
        proxied = self._proxied_of_warps()
        seen = np.where(proxied > 0, proxied - latest[:, None, None], proxied)
        return latest, [self._time - latest[:, None], self._over - latest[:, None, None], seen]

    def _proxied_of_warps(self) -> NDArray[np.int32]:
        """Return the intervals (blocks, warps, warps) of its block that each warp sees by proxy; 0 for none.

        Raises
        ------
        UnsupportedError
            If a thread sees what others of its warp do not.
        """
        if self._proxied.apart:
            raise UnsupportedError("only some threads of a warp have run a proxy fence at the head of a loop")
        found = np.zeros_like(self._over)
        blocks, warps = self._time.shape
        for block in range(blocks) if self._proxied else ():
            name = int(self.names[block * warps * WARP]) // self.per_block
            for warp in range(warps):
                known = self._proxied.of((block * warps + warp) * WARP)
                found[block, warp] = known.get(name, 0)
        return found

    def over_for_warps(self, thread: int, time: int, warps: int) -> bool:
        """Tell whether accesses of a set of warps of the block, as bits, are in order before a thread's."""
        block, own = divmod(thread // WARP, self._time.shape[1])
        over = self._over[block, own]
        if self.near:
            told = self._beyond.of(thread).get(int(self.names[thread]) // self.per_block, over)
            over = np.maximum(over, told)
        return all(time < over[other] for other in range(self._time.shape[1]) if warps >> other & 1)
