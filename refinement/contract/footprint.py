"""The bytes that an array occupies, which may be far fewer than its address span."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Offsets = NDArray[np.int64]

FAR = 4096
"""Bytes of a gap between elements from which on it is no part of the array."""


@dataclass(frozen=True)
class Footprint:
    """Runs of bytes; elements within a run have no wide gap between them.

    The bytes of all runs, one after the other, are the array's lanes.

    Attributes
    ----------
    offsets : array (runs,)
        Bytes from the array's address to each run, increasing; the first is 0.
    lengths : array (runs,)
        Bytes of each run.
    """

    offsets: Offsets
    lengths: Offsets

    @classmethod
    def whole(cls, size: int) -> Footprint:
        """Return one run of so many bytes."""
        return cls(np.zeros(1, dtype=np.int64), np.array([size], dtype=np.int64))

    @classmethod
    def around(cls, places: Offsets, count: int) -> Footprint:
        """Return the runs around elements of `count` bytes that begin at places, in any order."""
        starts = np.unique(places)
        last = np.flatnonzero(np.diff(starts) >= count + FAR)
        offsets = starts[np.concatenate([[0], last + 1])]
        ends = starts[np.concatenate([last, [len(starts) - 1]])] + count
        return cls(offsets, ends - offsets)

    @cached_property
    def starts(self) -> Offsets:
        """The lane (runs,) at which each run begins."""
        ends: Offsets = np.cumsum(self.lengths)
        return ends - self.lengths

    @property
    def size(self) -> int:
        """How many lanes there are."""
        return int(self.lengths.sum())

    def lanes(self, offsets: Offsets) -> Offsets:
        """Return the lanes of bytes, all in runs, by their distance from the array's address."""
        if len(self.offsets) == 1:
            return offsets
        run = np.searchsorted(self.offsets, offsets, side="right") - 1
        return self.starts[run] + offsets - self.offsets[run]

    def offset(self, lane: int) -> int:
        """Return the distance of a lane's byte from the array's address."""
        run = int(np.searchsorted(self.starts, lane, side="right")) - 1
        return int(self.offsets[run]) + lane - int(self.starts[run])
