"""Phases of barrier objects: arrivals that are to come, and what those who came had behind them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..order.snapshots import Snapshot
from ..order.vector_clocks import NOTHING, Happened, Knowledge, is_over, joined


@dataclass
class Events:
    """What some threads did.

    Attributes
    ----------
    names : array (n,)
        The threads, by their numbers in the grid.
    times : array (n,)
        In which of their intervals.
    line : int
        Where.
    """

    names: NDArray[np.int64]
    times: NDArray[np.int32]
    line: int

    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`."""
        snapshot.of_threads(self.names, self.times)
        snapshot.take(self.line)

    def unknown(self, known: Knowledge, per_block: int, own: int | None = None) -> int | None:
        """Return a thread of which somebody does not know that it is behind this; None if there is none."""
        for name, time in zip(self.names.tolist(), self.times.tolist(), strict=True):
            if name != own and not is_over(known, name, time, per_block):
                return int(name)
        return None


@dataclass
class Phase:
    """A phase that is not over, or the arrivals of one that is.

    Attributes
    ----------
    pending : int
        Arrivals that are to come.
    arrivals : list of Events
        Those that came.
    hidden : bool
        Whether only who waits knows of all of them: copies arrive when they are done.
    happened : dict of (int, bool) to Happened
        What those who arrived had behind them, by their block, and whether they tell it to all of a cluster.
    ending : mapping
        The same, of those whose arrivals may be the last.
    within : list of Events
        What must not come after its end.
    transactions : int
        Bytes that it expects less those that asynchronous copies have completed.
    finished : mapping
        Operations of tensor memory that are over when it is, for whoever waits, as bytes of copies are.
    """

    pending: int
    arrivals: list[Events] = field(default_factory=list)
    hidden: bool = False
    happened: dict[tuple[int, bool], Happened] = field(default_factory=dict)
    ending: Knowledge = field(default_factory=dict)
    within: list[Events] = field(default_factory=list)
    transactions: int = 0
    finished: Knowledge = field(default_factory=dict)

    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`."""
        snapshot.known(self.ending)
        snapshot.known(self.finished)
        snapshot.rest(self, "ending", "finished")

    @property
    def is_over(self) -> bool:
        """Whether no arrival is to come, and no bytes."""
        return not self.pending and not self.transactions

    @property
    def control(self) -> Knowledge:
        """All that has happened before who arrived did."""
        return joined([each.control for each in self.happened.values()])

    def add(self, block: int, happened: Happened, *, wide: bool) -> None:
        """Note what who arrived had behind them."""
        self.happened[block, wide] = self.happened.get((block, wide), Happened()).and_also(happened)

    def told(self, block: int, *, wide: bool) -> Happened:
        """Return what a thread of a block learns; of other blocks only at the scope of a cluster."""
        found = Happened(self.finished, self.finished)
        for (of, tells_all), each in self.happened.items():
            seen = of == block or (wide and tells_all)
            found = found.and_also(each if seen else each.without_memory(reads=True))
        return found


@dataclass(frozen=True)
class Arrival:
    """A kind of arrival.

    Attributes
    ----------
    count : int
        How often each does.
    drop : bool
        Whether fewer arrivals are expected from the next phase on.
    completes : bool
        Whether it may end the phase.
    releases : bool
        Whether it tells what the threads have left in memory.
    copies : bool
        Whether it happens when their asynchronous copies are done.
    wide : bool
        Whether it is at the scope of a cluster.
    finished : mapping
        What is over when it happens, of an arrival that operations of tensor memory make.
    """

    count: int = 1
    drop: bool = False
    completes: bool = True
    releases: bool = True
    copies: bool = False
    wide: bool = False
    finished: Knowledge = field(default_factory=lambda: NOTHING)
