"""An undo log: stores with the bytes that they overwrite, to revert and redo under a condition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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

    def has(self, part: Space, lanes: Offsets) -> bool:
        """Tell whether a store to one of some lanes may still be taken back."""
        own = any(store.part is part and bool(np.isin(store.lanes, lanes).any()) for store in self.stores)
        return own or (self._outer is not None and self._outer.has(part, lanes))

    def note(self, part: Space, offsets: Offsets, total: int, size: int, threads: Indices) -> None:
        """Note a store of `total` bytes, in words of `size`, that is about to be made."""
        lanes = offsets[:, None] + np.arange(total)
        before = part.lanes.terms[lanes], part.lanes.lows[lanes]
        self.stores.append(Store(part, offsets, size, threads, *before))

    def undo(self) -> None:
        """Take the stores back, the last first."""
        for store in reversed(self.stores):
            lanes = store.lanes
            store.part.lanes.terms[lanes], store.part.lanes.lows[lanes] = store.terms, store.lows
