"""Undefined reads: fresh unknowns for memory that nobody wrote, and their dependents."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...machine.memory import ByteLanes, Offsets
from ...terms.domains import NONE, Reached
from ...terms.interning import Ids
from ...terms.store import UNDEFINED, TermStore

Named = Callable[[int], str]
"""Names the n-th of some elements."""

_READ = "which is read here but was never written"


class UndefinedReads:
    """Undefined terms for memory that nobody wrote.

    A mover may well move such elements, and a product multiply them: it is wrong only where an output
    depends on one.

    Parameters
    ----------
    store : TermStore
        Of the terms.
    """

    def __init__(self, store: TermStore) -> None:
        self._store = store
        self._names: list[tuple[int, int, Named, str]] = []

    def read(self, lanes: ByteLanes, offsets: Offsets, size: int, line: int, named: Named) -> Ids:
        """Return words (n,) of `size` bytes at offsets, undefined ones where not all of them was written."""
        there = lanes.written(offsets, size)
        if there.all():
            return lanes.read(offsets, size)
        found = np.empty(len(offsets), dtype=np.int32)
        found[there] = lanes.read(offsets[there], size)
        found[~there] = self.fresh(int((~there).sum()), 8 * size, line, _among(np.flatnonzero(~there), named))
        return found

    def fresh(self, count: int, width: int, line: int, named: Named, why: str = _READ) -> Ids:
        """Return so many terms of which nothing is known, and `why`; of line 0, what a finding is about."""
        terms = self._store.undefined(count, width)
        if count:
            self._names.append((int(terms[0]), line, named, why))
        return terms

    def reached(self, terms: Ids) -> tuple[NDArray[np.bool_], int, str]:
        """Tell which terms depend on one; and of the first the line, its name, and why it is unknown."""
        tainted = np.zeros(len(terms), dtype=bool)
        if not self._names or not len(terms):
            return tainted, 0, ""
        every = np.arange(len(self._store), dtype=np.int32)
        found = Reached(self._store, every[self._store.are(UNDEFINED, every)]).values(terms)
        tainted = found != NONE
        if not tainted.any():
            return tainted, 0, ""
        leaf = int(found[tainted][0])
        first, line, named, why = max(name for name in self._names if name[0] <= leaf)
        return tainted, line, f"{named(leaf - first)}, {why}"


def _among(places: NDArray[np.intp], named: Named) -> Named:
    return lambda number: named(int(places[number]))
