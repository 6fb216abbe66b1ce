"""An undo log: stores with the bytes that they overwrite, to revert and redo under a condition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import UnsupportedError
from ...machine.memory import Offsets
from ...terms.interning import Ids
from ..registers.threads import Indices
from .state_space import Space


class Store(NamedTuple):
    """A store to lanes that are there.

    Attributes
    ----------
    part : Space
        Where.
    offsets : array (n,)
        The first lanes.
    size : int
        Bytes of each word.
    threads : array (n,)
        Who stores.
    terms, lows : array (n, bytes)
        What was there.
    """

    part: Space
    offsets: Offsets
    size: int
    threads: Indices
    terms: Ids
    lows: NDArray[np.uint8]

    @property
    def lanes(self) -> Offsets:
        """Every lane (n, bytes) that is written."""
        return self.offsets[:, None] + np.arange(self.terms.shape[1])


class UndoLog:
    """The stores since a point in time.

    Parameters
    ----------
    outer : UndoLog, optional
        The stores since an earlier point in time, without these.
    """

    def __init__(self, outer: UndoLog | None = None) -> None:
        self.stores: list[Store] = []
        self._outer = outer

    def note(
        self, part: Space, offsets: Offsets, total: int, size: int, threads: Indices, atomic: bool
    ) -> None:
        """Note a store of `total` bytes, in words of `size`, that is about to be made.

        Raises
        ------
        UnsupportedError
            If it is by an atomic, which is not taken back, behind a store that is.
        """
        lanes = offsets[:, None] + np.arange(total)
        if not atomic:
            before = part.lanes.terms[lanes], part.lanes.lows[lanes]
            self.stores.append(Store(part, offsets, size, threads, *before))
        elif self._has(part, lanes):
            place = part.place(int(offsets[0]))
            raise UnsupportedError(f"an atomic behind a store to {place}, on one way of a branch on data")

    def _has(self, part: Space, lanes: Offsets) -> bool:
        """Tell whether a store to one of some lanes may still be taken back."""
        own = any(store.part is part and bool(np.isin(store.lanes, lanes).any()) for store in self.stores)
        return own or (self._outer is not None and self._outer._has(part, lanes))

    def undo(self) -> None:
        """Take the stores back, the last first."""
        for store in reversed(self.stores):
            lanes = store.lanes
            store.part.lanes.terms[lanes], store.part.lanes.lows[lanes] = store.terms, store.lows
