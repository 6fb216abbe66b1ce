"""What asynchronous copies read, until a phase of a barrier object tells that they are over.

Who writes there must know the phase to be over that the copy's bytes count for; also the thread itself that
issued the copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..registers.threads import Indices
from .ordering import Ordering
from .snapshots import Snapshot
from .vector_clocks import Places


class Fetcher(NamedTuple):
    """Who copies: the agent of a barrier object, and the phase that its bytes count for."""

    agent: int
    phase: int


@dataclass(frozen=True)
class _Fetch:
    """A copy.

    Attributes
    ----------
    ordering : Ordering
        Of the batch whose agent copies: agents of another one are others.
    by : Fetcher
        Who copies.
    places : array (n,)
        What it reads, ascending.
    line : int
        Where it was issued.
    """

    ordering: Ordering
    by: Fetcher
    places: Places
    line: int

    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`."""
        snapshot.of_threads(self.by.agent, self.by.phase)
        snapshot.rest(self, "by", "ordering")


class Fetches:
    """The copies that read a memory which somebody may write."""

    def __init__(self) -> None:
        self._made: list[_Fetch] = []

    def note(self, ordering: Ordering, places: Places, thread: int, line: int, by: Fetcher) -> None:
        """Note a copy by a thread; those to the same places that it knows to be over are forgotten."""
        places = np.unique(places)
        who = np.array([thread])
        self._made = [
            each
            for each in self._made
            if not (np.isin(each.places, places).all() and self._over(each, ordering, who).all())
        ]
        self._made.append(_Fetch(ordering, by, places, line))

    def open(self, ordering: Ordering, places: Places, threads: Indices) -> NDArray[np.int32]:
        """Return the line of a copy that places (n,) are read by, as far as threads (n,) know; 0 for none."""
        found = np.zeros(len(places), dtype=np.int32)
        for each in self._made:
            some = np.flatnonzero(np.isin(places, each.places))
            if len(some):
                found[some[~self._over(each, ordering, threads[some])]] = each.line
        return found

    @staticmethod
    def _over(fetch: _Fetch, ordering: Ordering, threads: Indices) -> NDArray[np.bool_]:
        if ordering is not fetch.ordering:
            return np.zeros(len(threads), dtype=bool)
        agents = np.full(len(threads), fetch.by.agent)
        phases = np.full(len(threads), fetch.by.phase, dtype=np.int32)
        return ordering.over(threads, agents, phases) | ordering.over_as_read(threads, agents, phases)
