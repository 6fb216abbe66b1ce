"""Semaphores: words in global memory by which blocks wait for each other, as in serial split-K.

Blocks run in one order here, and in any order on hardware; this shows that the order makes no difference.
A thread that waits is given every value that the word has had, one after the other, from the first that it
may still see, and waits for the next where there is none. The first value that ends its loop is the one that
ends it in every order of the blocks, if

- the loop does nothing but wait, and depends on what was read last alone: see `waiting_loops`;
- up to that value, the word's values are the same in every order: each writer knows of those before, or they
  are sums of one addend;
- whoever writes the word after that knows that the thread has seen the value.

Then every thread reads what it reads here (an induction over what has happened before), so that accesses
that are in order here are in order, and races are races. That the blocks which others wait for get to run is
assumed.

What a thread knows goes to others by release and acquire, as PTX has it: with ``.release`` and ``.acquire``,
or a fence before a weaker access that writes, and behind one that reads. Source: PTX ISA 9.1 chapter 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import UnsupportedError
from ...machine.memory import Offsets
from ...terms.interning import Ids
from ...terms.store import CONSTANT, TermStore
from ..order.ordering import Ordering
from ..order.vector_clocks import Released, is_over
from ..registers.threads import WARP, Indices
from ..text.module import InstructionStatement
from .semaphore_words import SHARED, UNKNOWN, Seen, WaitingLoops, Word, Words, Write, count_of, counted
from .state_space import Space
from .tickets import COUNTING, Tickets

ASSUMED = "blocks that others wait for are scheduled"
"""What a kernel that waits takes for granted."""

FENCED_BEFORE = (
    "writes before a fence and a barrier are released by the thread that writes after the barrier, with no "
    "fence of its own there"
)
"""What is taken for granted where PTX orders it only if the fences are sequentially consistent."""

_RELEASES = ("release", "acq_rel")
_ACQUIRES = ("acquire", "acq_rel")
_NARROW = ("cta", "cluster")
_WIDE = ("gpu", "sys", "gl")
_OTHER_FENCES = ("proxy", "mbarrier_init")
_SIZES = (4, 8)


class Semaphores:
    """The semaphore words of a launch.

    Parameters
    ----------
    store : TermStore
        The terms.
    loops : WaitingLoops
        Of the kernel.
    locks : mapping of int to str
        By the lines of what takes locks, why it is not modelled, or nothing.

    Attributes
    ----------
    used : bool
        Whether a thread has waited.
    written : int
        How many values words were given.
    tickets : Tickets
        What atomics returned.
    taken : dict of int to list of (int, int)
        Who took locks, by their lanes, and in which lines.
    deciding : set of int
        Threads that have come to a branch which decides whether they wait on.
    """

    def __init__(self, store: TermStore, loops: WaitingLoops, locks: Mapping[int, str]) -> None:
        self.loops = loops
        self.used = False
        self.written = 0
        self.tickets = Tickets(store)
        self.locks = locks
        self.taken: dict[int, list[tuple[int, int]]] = {}
        self._store = store
        self._words = Words()
        self._ordering: Ordering | None = None

    def begin(self, ordering: Ordering) -> None:
        """Begin a batch of blocks."""
        self._ordering = ordering
        ordering.near = self.loops.near
        self._words.begin()
        self.deciding: set[int] = set()
        self._unfenced: dict[tuple[int, bool], Released] = {}
        self._last: dict[int, int] = {}
        self._in_vain: dict[tuple[int, int], int] = {}

    # -- reading
    def take(
        self, part: Space, offsets: Offsets, size: int, threads: Indices, at: int, acquires: bool
    ) -> tuple[NDArray[np.bool_], NDArray[np.uint64]]:
        """Return which threads may read a word now, and what they read; the others wait for its next value.

        Parameters
        ----------
        part : Space
            Global memory, or shared.
        offsets : array
            The lanes of each thread's word.
        size : int
            Bytes of a word.
        threads : array
            The threads.
        at : int
            Index of the load.
        acquires : bool
            Whether the load is an acquire, rather than one that a fence has to follow.
        """
        self.used = True
        self._refuse_remote(part, offsets, threads)
        ready = np.zeros(len(threads), dtype=bool)
        values = np.zeros(len(threads), dtype=np.uint64)
        for index, (thread, offset) in enumerate(zip(threads.tolist(), offsets.tolist(), strict=True)):
            number = self._words.number(part.name, offset)
            word = self._word(part, offset, size)
            entry = self._next(word, number, thread, at)
            if entry is None:
                continue
            if word.writes[entry].value == UNKNOWN:
                raise UnsupportedError("a thread may read the word that it waits for before it is written")
            ready[index], values[index] = True, word.writes[entry].value
            self._note_read(word, number, thread, entry, acquires)
        return ready, values

    def _next(self, word: Word, number: int, thread: int, at: int) -> int | None:
        """Return which of a word's values a thread reads next; None if there is no new one."""
        before = word.reading.get(thread)
        if before is None:
            return max(count_of(self._order.known(thread), number) - 1, 0)
        if before.index + 1 < len(word.writes):
            return before.index + 1
        return before.index if at not in self.loops.inside else None

    def _note_read(self, word: Word, number: int, thread: int, entry: int, acquires: bool) -> None:
        if self._last.setdefault(thread, number) != number and thread in self.deciding:
            raise UnsupportedError("a thread waits for two words at the same time")
        self._last[thread] = number
        time = int(self._order.times(np.array([thread]))[0])
        word.reading[thread] = Seen(entry, time, acquires)

    def decide(self, threads: Indices) -> None:
        """Note that threads come to a branch that decides whether they wait on."""
        self.deciding.update(threads.tolist())

    def settle(self, threads: Indices) -> None:
        """Note that threads wait no more, for what they read last was what they waited for."""
        left = self.deciding.intersection(threads.tolist())
        self.deciding -= left
        of_blocks: dict[int, int] = {}
        for thread in left & self._last.keys():
            number = self._last.pop(thread)
            block = self._name(thread) // self._order.per_block
            if of_blocks.setdefault(block, number) != number and self.loops.together:
                raise UnsupportedError("threads of a block wait together for several words")
            word = self._words.of_number[number]
            seen = word.reading.pop(thread)
            if word.broken or seen.overtaken or seen.index + 1 < len(word.writes):
                raise UnsupportedError(word.broken or _OVERTAKEN)
            word.seen.append((self._name(thread), seen.time))
            self._order.learn(thread, counted(number, seen.index + 1))
            told = word.writes[seen.index].for_reads
            if seen.acquired:
                self._order.acquire(thread, told, strong=seen.strongly)
            else:
                self._leave_unfenced(thread, number, told)
            if self.loops.together:  # at a barrier, behind what the thread read
                self._order.share_within_block(thread)

    def _refuse_remote(self, part: Space, offsets: Offsets, threads: Indices) -> None:
        """Refuse words (n,) in shared memory of other blocks, where threads wait for such."""
        if part.peers is None or not self.loops.near:
            return
        if (part.blocks_of(offsets) != threads // self._order.per_block).any():
            raise UnsupportedError("a word in shared memory of another block, where threads wait for words")

    # -- writing
    def note(
        self,
        part: Space,
        offsets: Offsets,
        words: Ids,
        size: int,
        threads: Indices,
        instruction: InstructionStatement,
        operands: Ids | None = None,
        *,
        on_data: bool = False,
    ) -> None:
        """Note that threads write words, before they do.

        Parameters
        ----------
        part : Space
            Where.
        offsets, words, threads : array
            Lanes, terms and threads of the writes.
        size : int
            Bytes of a word.
        instruction : InstructionStatement
            What writes.
        operands : array, optional
            What is added, of a sum, and the limits of a count.
        on_data : bool
            Whether data decide if it happens.
        """
        self._refuse_remote(part, offsets, threads)
        if not self._has_words(part):
            return
        for each in self._words.overlapped(part.name, offsets, size):
            each.broken = f"{instruction.mnemonic} in line {instruction.line} writes a part of the word"
        if size not in _SIZES:
            return
        known = self._store.are(CONSTANT, words)
        numbers = self._store.constant_values(words) if known.all() else None
        few = len(np.unique(threads // WARP)) == len(threads)
        some = np.arange(len(offsets))
        if not few or numbers is None:
            known_words = [each - self._words.number(part.name, 0) for each in self._words.of_number]
            some = np.flatnonzero(np.isin(offsets, known_words))
        for index in some.tolist():
            offset, thread = int(offsets[index]), int(threads[index])
            number = self._words.number(part.name, offset)
            if number not in self._words.of_number:
                assert numbers is not None
                self._words.of_number[number] = self._fresh(part, offset, size)
            word = self._words.of_number[number]
            if numbers is None or on_data:
                word.broken = f"{instruction.mnemonic} in line {instruction.line} writes data to the word"
                continue
            step = "" if operands is None else self._step(instruction, operands[index])
            self._note_write(word, number, thread, int(numbers[index]), instruction, step)

    def _step(self, instruction: InstructionStatement, operand: np.int32) -> str:
        """Return a name for what is done to a word, if that is the same whoever does it, and something."""
        terms = np.array([operand], dtype=np.int32)
        if not self._store.are(CONSTANT, terms)[0]:
            return ""
        number = int(self._store.constant_values(terms)[0])
        name = instruction.one_of(COUNTING)
        return f"{name} {number}" if name is not None and (number or name != "add") else ""

    def _note_write(
        self,
        word: Word,
        number: int,
        thread: int,
        value: int,
        instruction: InstructionStatement,
        step: str,
    ) -> None:
        ordering, near = self._order, number >= SHARED
        knowledge = ordering.known(thread)
        count = count_of(knowledge, number, 1)
        first = word.first_of_steps(step)
        if count < first:
            word.broken = f"{instruction.mnemonic} in line {instruction.line} writes the word unordered"
        for name, time in word.seen:
            if name != self._name(thread) and not is_over(knowledge, name, time, ordering.per_block):
                raise UnsupportedError(_OVERTAKEN)
        for reader, seen in word.reading.items():
            name = self._name(reader)
            if reader != thread and not is_over(knowledge, name, seen.time, ordering.per_block):
                seen.overtaken = True
        narrow = instruction.one_of(_NARROW) is not None and not near
        atomic = instruction.opcode in ("atom", "red")
        strong = atomic or instruction.one_of(("relaxed", "volatile", "release")) is not None
        released = Released()
        if instruction.one_of(_RELEASES) and not narrow:
            ordering.fence(np.array([thread]), near=near)
        if strong and not narrow:
            released = ordering.fenced(thread, near=near)
        certain = len(word.writes) + 1 if first == len(word.writes) else first
        now = counted(number, certain)
        released = released.and_also(Released(now))
        published = released
        if atomic:  # goes on with what was released before
            published = released.and_also(word.writes[-1].published)
        self.written += 1
        word.writes.append(Write(value, step, released, published))
        ordering.learn(thread, now)
        if thread in word.reading:
            word.reading[thread].index = max(word.reading[thread].index, len(word.writes) - 2)

    def returned(
        self, part: Space, offsets: Offsets, before: Ids, threads: Indices, instruction: InstructionStatement
    ) -> Ids:
        """Return what atomics return (n,) of words that they have changed, each one other than the others.

        Parameters
        ----------
        part : Space
            Where.
        offsets, before, threads : array
            Lanes, what was there, and threads.
        instruction : InstructionStatement
            The atomic.
        """
        width = int(self._store.widths(before[:1])[0])
        known = self._store.are(CONSTANT, before) & (part.name == "global")
        numbers = self._store.constant_values(before)
        wide = instruction.one_of(_NARROW) is None
        others = [self._words.number(part.name, each) in self._words.of_number for each in offsets.tolist()]
        found = part.atomics.returned(self._store, offsets, before, ~np.array(others, dtype=bool))
        for index in np.flatnonzero(known).tolist():
            word = self._words.of_number.get(offset := int(offsets[index]))
            if word is None or word.broken or not word.writes[-1].step:
                continue
            now = Released(counted(offset, len(word.writes)))
            found[index] = self.tickets.issue(
                offset,
                self._name(int(threads[index])),
                int(numbers[index]),
                width,
                word.writes[-2].published.and_also(now),
                instruction.line,
                acquires=wide and instruction.one_of(_ACQUIRES) is not None,
            )
        return found

    def knows_all(self, offset: int, thread: int) -> bool:
        """Tell whether a thread knows of all writes to a word that are in one order."""
        word = self._words.of_number.get(offset)
        known = count_of(self._order.known(thread), offset)
        return word is not None and not word.broken and known == len(word.writes)

    def held(self, part: Space, offset: int, thread: int) -> int | None:
        """Return what a thread may find in a lock that somebody holds, the first time that it asks for it.

        Once it has asked in vain it has to come again; see `left_waiting`.
        """
        word = self._word(part, offset, 4)
        if (offset, thread) in self._in_vain or not self.taken.get(offset):
            self._in_vain.pop((offset, thread), None)
            return None
        self._in_vain[offset, thread] = self.taken[offset][0][1]
        return next((write.value for write in reversed(word.writes[:-1])), None)

    @property
    def left_waiting(self) -> Mapping[tuple[int, int], int]:
        """The lines of threads of the batch that asked for a lock in vain, and went on without it."""
        return self._in_vain

    def take_lock(self, part: Space, offset: int, thread: int, instruction: InstructionStatement) -> int:
        """Return what a word holds that a thread is about to take as a lock, and tell it what was released.

        Parameters
        ----------
        part : Space
            Global memory.
        offset : int
            The lane of the word.
        thread : int
            Who takes it.
        instruction : InstructionStatement
            What takes it.
        """
        word = self._word(part, offset, 4)
        if word.broken:
            raise UnsupportedError(f"the value of a lock depends on the order of threads: {word.broken}")
        told = word.writes[-1].published
        self._order.learn(thread, counted(offset, len(word.writes)))
        if instruction.one_of(_ACQUIRES) is not None and instruction.one_of(_NARROW) is None:
            self._order.acquire(thread, told, strong=False)
        else:
            self._leave_unfenced(thread, offset, told)
        self.taken.setdefault(offset, []).append((self._name(thread), instruction.line))
        return word.writes[-1].value

    def last_writer(self, offset: int) -> int:
        """Return who wrote a lock last, by its number in the grid; whoever took it before, if nobody did."""
        return self.taken[offset][max(0, len(self.taken[offset]) - 2)][0]

    def is_of_other_block(self, offset: int, thread: int) -> bool:
        """Tell whether another block took a lock last, before a thread asked for it."""
        block = self._name(thread) // self._order.per_block
        return len(self.taken[offset]) > 1 and self.last_writer(offset) // self._order.per_block != block

    def changed_counts(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield the lane of each count that does not end as it began, its line, and what it was and is."""
        locks = ((offset, taken[0][1]) for offset, taken in self.taken.items())
        for offset, line in (*self.tickets.lines, *locks):
            word = self._words.of_number[offset]
            if not word.broken and word.writes[-1].value != word.writes[0].value:
                yield offset, line, word.writes[0].value, word.writes[-1].value

    @property
    def broken(self) -> Mapping[int, str]:
        """Of words whose values may be others in another order why that is."""
        return self._words.broken

    def spoil(self, part: Space, offsets: Offsets, size: int, instruction: InstructionStatement) -> None:
        """Note that bytes are written which may be of words."""
        for word in self._words.overlapped(part.name, offsets, size) if self._has_words(part) else ():
            word.broken = f"{instruction.mnemonic} in line {instruction.line} writes the word"

    def puts_in_order(self, part: Space, lanes: Offsets) -> NDArray[np.bool_]:
        """Tell which lanes are of words whose writes are in order."""
        return np.isin(lanes, list(self._words.in_order(part.name)))

    def _has_words(self, part: Space) -> bool:
        """Tell whether threads may wait for words of a space."""
        return part.name == "global" or (part.name == "shared" and self.loops.near)

    def fence(self, threads: Indices, instruction: InstructionStatement) -> None:
        """Note that threads run a fence."""
        if instruction.one_of(_OTHER_FENCES) is not None:
            return
        narrow = instruction.one_of(_WIDE) is None
        strong = instruction.opcode == "membar" or instruction.has("sc")
        for thread in threads.tolist():
            for near in (True,) if narrow else (True, False):
                if told := self._unfenced.pop((thread, near), None):
                    self._order.acquire(thread, told, strong=strong)
            if thread in self._last and (not narrow or self._last[thread] >= SHARED):
                seen = self._words.of_number[self._last[thread]].reading[thread]
                seen.acquired, seen.strongly = True, seen.strongly or strong
        self._order.fence(threads, strong=strong, near=narrow)
        if not narrow:
            self.tickets.fence({self._name(each) for each in threads.tolist()}, strong=strong)

    # -- details
    @property
    def _order(self) -> Ordering:
        assert self._ordering is not None
        return self._ordering

    def _name(self, thread: int) -> int:
        return int(self._order.names[thread])

    def _leave_unfenced(self, thread: int, number: int, told: Released) -> None:
        """Keep what a thread acquires with its next fence."""
        key = thread, number >= SHARED
        self._unfenced[key] = self._unfenced.get(key, Released()).and_also(told)

    def _word(self, part: Space, offset: int, size: int) -> Word:
        """Return the word that is read at an offset."""
        number = self._words.number(part.name, offset)
        word = self._words.of_number.get(number)
        if word is None:
            word = self._words.of_number[number] = self._fresh(part, offset, size)
            history = part.history  # of what may be written alone, which comes first
            place = 0 if history is None else offset // history.granule
            if history is not None and place < len(history.writer) and history.writer[place] >= 0:
                word.broken = "threads of one warp write it together, or data are written to it"
        if word.size != size:
            raise UnsupportedError(f"a word of {word.size} bytes is polled by loads of {size} bytes")
        return word

    def _fresh(self, part: Space, offset: int, size: int) -> Word:
        """Return a word that holds what is there before the kernel writes it."""
        if part.name != "global":
            written = part.lanes.written(np.array([offset]), size).any()
            broken = "data, or only a part of the word, were written to it" if written else ""
            return Word(size, [Write(UNKNOWN)], broken=broken)
        at = np.array([offset])
        if part.lanes.written(at, size).all():
            before = part.lanes.read(at, size)
            if self._store.are(CONSTANT, before)[0]:
                value = int(self._store.constant_values(before)[0])
                return Word(size, [Write(value)])
        return Word(size, [Write(0)], broken="its initial value is not given; state values in the contract")


_OVERTAKEN = "the word is overwritten before all waiting threads are known to have seen its value"
