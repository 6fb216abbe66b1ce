"""Conflicts: accesses that race with earlier ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..registers.threads import Indices


@dataclass(frozen=True)
class Conflicts:
    """Accesses that race with earlier ones.

    Attributes
    ----------
    which : array (c,)
        Indices into the accesses.
    others : array (c,)
        The other thread, by its number in the grid.
    lines : array (c,)
        Where it wrote or read.
    reads : array (c,)
        Whether it read.
    copies : array (c,)
        Whether it is an asynchronous copy that is not waited for.
    idempotent : array (c,)
        Whether nothing is wrong with writing what the place holds already.
    read_too : array (c,)
        Whether others may have read, or changed by atomics, what a store is not in order with.
    """

    which: Indices
    others: NDArray[np.int64]
    lines: NDArray[np.int32]
    reads: NDArray[np.bool_]
    copies: NDArray[np.bool_]
    idempotent: NDArray[np.bool_]
    read_too: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.which)

    def and_also(self, more: Conflicts) -> Conflicts:
        """Return these and more."""
        if not len(more):
            return self
        return Conflicts(
            np.concatenate([self.which, more.which]),
            np.concatenate([self.others, more.others]),
            np.concatenate([self.lines, more.lines]),
            np.concatenate([self.reads, more.reads]),
            np.concatenate([self.copies, more.copies]),
            np.concatenate([self.idempotent, more.idempotent]),
            np.concatenate([self.read_too, more.read_too]),
        )

    def some(self, wanted: NDArray[np.bool_]) -> Conflicts:
        """Return those of the conflicts that are wanted."""
        return Conflicts(
            self.which[wanted],
            self.others[wanted],
            self.lines[wanted],
            self.reads[wanted],
            self.copies[wanted],
            self.idempotent[wanted],
            self.read_too[wanted],
        )
