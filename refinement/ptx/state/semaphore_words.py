"""Semaphore words: their histories of values, and their readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from ...machine.memory import Offsets
from ..order.vector_clocks import NO_RELEASE, Knowledge, Released

SHARED = 1 << 56
"""Words of shared memory have numbers from here up; those of global memory are numbered by their lanes."""

_BATCH = 1 << 36

UNKNOWN = -1
"""The value of a word that nobody has written."""


@dataclass(frozen=True)
class Write:
    """A value that a word was given, by a step that is the same whoever takes it, if it has a name.

    Attributes
    ----------
    value : int
        The value.
    step : str
        The step.
    released : Released
        What the thread released that wrote it.
    published : Released
        That, and what those released whose value an atomic went on with.
    """

    value: int
    step: str = ""
    released: Released = NO_RELEASE
    published: Released = NO_RELEASE

    @property
    def for_reads(self) -> Released:
        """What who reads the value acquires."""
        return self.released.and_also(self.published.for_reads())


@dataclass
class Seen:
    """What a thread read last of a word; with a fence behind, or an acquire, it knows what was released."""

    index: int
    time: int = 0
    acquired: bool = False
    strongly: bool = False
    overtaken: bool = False


@dataclass
class Word:
    """A word: its values in order, who reads them now, and who saw which at the end of a loop."""

    size: int
    writes: list[Write]
    reading: dict[int, Seen] = field(default_factory=dict)
    seen: list[tuple[int, int]] = field(default_factory=list)
    broken: str = ""

    def first_of_steps(self, step: str) -> int:
        """Return how many of the values a writer must know of: the others come of the step that it takes."""
        count = len(self.writes)
        while step and count > 1 and self.writes[count - 1].step == step:
            count -= 1
        return count


class Words:
    """The words of a launch, by number."""

    def __init__(self) -> None:
        self.of_number: dict[int, Word] = {}
        self._batch = 0

    def begin(self) -> None:
        """Begin a batch of blocks, which have other words in shared memory."""
        self._batch += 1
        for number in [each for each in self.of_number if each >= SHARED]:
            del self.of_number[number]

    def number(self, space: str, offset: int) -> int:
        """Return the number of the word at an offset of global or shared memory."""
        return offset if space == "global" else SHARED + self._batch * _BATCH + offset

    def overlapped(self, space: str, offsets: Offsets, size: int) -> list[Word]:
        """Return the words that writes change of which they do not write all, and nothing else."""
        numbers = offsets + self.number(space, 0)
        if not self.of_number or not len(numbers):
            return []
        own = np.fromiter(self.of_number, dtype=np.int64)
        ends = own + np.array([each.size for each in self.of_number.values()])
        low, high = int(numbers.min()), int(numbers.max()) + size
        found = []
        for number in own[(own < high) & (ends > low)].tolist():
            word = self.of_number[number]
            touches = (numbers < number + word.size) & (numbers + size > number)
            if (touches & ((numbers != number) | (size != word.size))).any():
                found.append(word)
        return found

    @property
    def broken(self) -> Mapping[int, str]:
        """Of words whose values may be others in another order why that is."""
        return {number: word.broken for number, word in self.of_number.items() if word.broken}

    def in_order(self, space: str) -> Iterator[int]:
        """Yield the lanes of words of a space whose writes are in order."""
        first = self.number(space, 0)
        for number, word in self.of_number.items():
            if not word.broken and (number >= SHARED) is (space != "global"):
                yield from range(number - first, number - first + word.size)


def key(number: int) -> int:
    """Return under what `Knowledge` keeps how many values of a word are known to have been written."""
    return -1 - number


def count_of(knowledge: Knowledge, number: int, otherwise: int = 0) -> int:
    """Return how many values of a word are known to have been written."""
    return int(knowledge[key(number)][0]) if key(number) in knowledge else otherwise


def counted(number: int, count: int) -> Knowledge:
    """Return the knowledge that so many values of a word have been written."""
    return {key(number): np.array([count], dtype=np.int32)}


@dataclass(frozen=True)
class WaitingLoops:
    """The waiting loops of a kernel.

    Attributes
    ----------
    loads : frozenset of int
        Indices of the loads of what is waited for.
    branches : frozenset of int
        Indices of the branches that what they read decides.
    inside : frozenset of int
        Indices of the instructions of the loops.
    together : bool
        Whether the threads of a block decide together in one of them, at a barrier.
    near : bool
        Whether words of shared memory may be waited for.
    refusal : str
        Why what is said here does not hold of one of them; empty if it does.
    """

    loads: frozenset[int] = frozenset()
    branches: frozenset[int] = frozenset()
    inside: frozenset[int] = frozenset()
    together: bool = False
    near: bool = False
    refusal: str = ""
