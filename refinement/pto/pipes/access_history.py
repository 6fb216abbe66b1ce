"""The last access to each byte, and races between pipes and blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from ...machine.memory import Offsets

NONE = -1
"""In place of an operation or a block."""

_SEVERAL = -2
"""In place of a block: more than one."""


class Pipe(StrEnum):
    """A pipe: it executes its instructions in order."""

    MTE2 = "MTE2"
    MTE1 = "MTE1"
    M = "M"
    FIX = "FIX"
    V = "V"
    MTE3 = "MTE3"
    S = "S"


PIPES = tuple(Pipe)


@dataclass(frozen=True)
class Stamp:
    """The time of an operation, in the partial order of the kernel's synchronisation.

    Attributes
    ----------
    number : int
        Of the operation, in the order of the run.
    pipe : int
        The index of its pipe.
    ordinal : int
        Its number among the operations of that pipe.
    seen : array (pipes,)
        How many operations of each pipe are before it.
    line : int
        Where the kernel says it.
    name : str
        What it is.
    settled : int
        How many operations of its own pipe are over, by a barrier or by flags to another pipe and back.
    """

    number: int
    pipe: int
    ordinal: int
    seen: NDArray[np.int64]
    line: int
    name: str
    settled: int

    def follows(self, other: Stamp) -> bool:
        """Whether another operation is surely over when this one begins."""
        return bool(self.seen[other.pipe] >= other.ordinal)


class AccessHistory:
    """The last accesses to bytes by operations of one block.

    Parameters
    ----------
    size : int
        How many bytes there are.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._writer: NDArray[np.int32] | None = None
        self._readers: NDArray[np.int32] | None = None

    def forget(self) -> None:
        """Begin with another block."""
        self._writer = self._readers = None

    def grow(self, size: int) -> None:
        """Take more bytes."""
        if self._writer is not None and self._readers is not None:
            more = np.full(size - self._size, NONE, dtype=np.int32)
            self._writer = np.concatenate([self._writer, more])
            self._readers = np.hstack([self._readers, np.tile(more, (len(PIPES), 1))])
        self._size = size

    def note(self, lanes: Offsets, stamp: Stamp, *, writes: bool) -> Iterator[tuple[int, int]]:
        """Note an access, and yield the number of each earlier operation that it meets, with a byte.

        Those are the last write, and for a write also the last read of each pipe.
        """
        if self._writer is None or self._readers is None:
            self._writer = np.full(self._size, NONE, dtype=np.int32)
            self._readers = np.full((len(PIPES), self._size), NONE, dtype=np.int32)
        earlier = [self._writer[lanes]]
        if writes:
            earlier += [row[lanes] for pipe, row in enumerate(self._readers) if pipe != stamp.pipe]
        for some in earlier:
            numbers, first = np.unique(some, return_index=True)
            yield from (
                (int(number), int(lanes[at]))
                for number, at in zip(numbers, first, strict=True)
                if number != NONE
            )
        if writes:
            self._writer[lanes] = stamp.number
            self._readers[:, lanes] = NONE
        else:
            self._readers[stamp.pipe, lanes] = stamp.number


class BlockHistory:
    """Which blocks read and wrote bytes of global memory: nothing puts blocks in order.

    Parameters
    ----------
    size : int
        How many bytes there are.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._written: NDArray[np.int32] | None = None
        self._read: NDArray[np.int32] | None = None
        self._lines: NDArray[np.int32] | None = None
        self._added = np.zeros(0, dtype=bool)

    def note(
        self,
        lanes: Offsets,
        block: int,
        line: int,
        *,
        writes: bool,
        adds: bool = False,
        same: NDArray[np.bool_] | bool = False,
    ) -> tuple[int, int, int] | None:
        """Note an access; returns another block that it is a race with, its line, and a byte of it.

        The block is `NONE` where there are several, and its line 0 where it only read. Accesses that add to
        memory are no races among each other, nor are writes of what is there, where it is the `same`.
        """
        if self._written is None or self._read is None or self._lines is None:
            self._written = np.full(self._size, NONE, dtype=np.int32)
            self._read = np.full(self._size, NONE, dtype=np.int32)
            self._lines = np.zeros(self._size, dtype=np.int32)
            self._added = np.zeros(self._size, dtype=bool)
        found = None
        others = [self._written[lanes], self._read[lanes]] if writes else [self._written[lanes]]
        for kind, some in enumerate(others):
            foreign = (some != NONE) & (some != block)
            if adds and not kind:
                foreign &= ~self._added[lanes]
            if not kind:
                shared, foreign = lanes[foreign & same], foreign & ~np.asarray(same)
            if foreign.any() and found is None:
                at = int(np.argmax(foreign))
                lane = int(lanes[at])
                other = int(some[at])
                found = max(other, NONE), 0 if kind else int(self._lines[lane]), lane
        if writes:
            self._written[lanes], self._lines[lanes], self._added[lanes] = block, line, adds
            self._written[shared] = _SEVERAL
        else:
            before = self._read[lanes]
            self._read[lanes] = np.where((before == NONE) | (before == block), block, _SEVERAL)
        return found
