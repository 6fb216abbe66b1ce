"""Which clusters of a grid are launched, and which are cancelled because another one takes them over.

Of the clusters that wait, a request gets the next one in an order that is given; what is left when all that
run have come to their end is launched then. Source: PTX ISA 9.1 section 9.7.13 (clusterlaunchcontrol).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....spec.ptx.open_results import CANCELLATION
from ...terms.interning import Ids
from ...terms.store import TermStore
from ..order.vector_clocks import is_over
from ..registers.clusters import place_of, whole_clusters
from ..registers.threads import Indices, Launch
from ..text.module import Function
from .execution import Execution

REQUEST = "try_cancel"
"""The modifier of what asks for a cluster."""

Takeovers = Sequence[Sequence[int]]
"""Clusters that are launched at the beginning, each with those that it takes over, in their order."""

_KEY = "cluster launches"


@dataclass(frozen=True)
class Answer:
    """What a request was answered.

    Attributes
    ----------
    first : tuple of int, optional
        Where in the grid the first block of the cluster is whose launch was cancelled; None if none was.
    """

    first: tuple[int, int, int] | None


@dataclass(frozen=True)
class _Looked:
    """When a thread has seen that nothing is left."""

    name: int
    time: int
    line: int


class ClusterLaunches:
    """The launches of a grid whose blocks ask for others.

    Parameters
    ----------
    launch : Launch
        The grid.
    takeovers : sequence of sequence of int, optional
        Who takes over whom; by default the first cluster takes all others.

    Attributes
    ----------
    line : int
        Where the first request is; 0 before there was any.
    """

    def __init__(self, launch: Launch, takeovers: Takeovers | None = None) -> None:
        self.line = 0
        self._grid = launch.grid
        self._clusters = whole_clusters(np.arange(launch.blocks), launch.grid, launch.cluster_extents)
        self._cluster_of = {
            int(block): number for number, blocks in enumerate(self._clusters) for block in blocks
        }
        self._takeovers = [list(takeover) for takeover in takeovers or [range(len(self._clusters))]]
        self._gone: set[int] = set()
        self._next: dict[int, list[int]] = {}
        self._answers: dict[tuple[int, int], Answer] = {}
        self._looked: dict[int, list[_Looked]] = {}

    @classmethod
    def asked_for(
        cls, function: Function, launch: Launch, takeovers: Takeovers | None
    ) -> ClusterLaunches | None:
        """Return the launches of a kernel, None where it does not ask for clusters."""
        asks = any(each.has(REQUEST) for each in function.body)
        return cls(launch, takeovers) if asks else None

    @classmethod
    def of(cls, execution: Execution) -> ClusterLaunches | None:
        """Return those of an execution, None where it is none of a whole grid."""
        found = execution.state.get(_KEY)
        assert found is None or isinstance(found, cls)
        return found

    def begin(self, execution: Execution) -> None:
        """Let a batch of blocks ask."""
        execution.state[_KEY] = self

    @property
    def count(self) -> int:
        """How many clusters the grid has."""
        return len(self._clusters)

    def launched(self) -> Iterator[NDArray[np.intp]]:
        """Yield the blocks (clusters, ranks) of clusters that are launched together, until all are done."""
        plan = self._takeovers
        while plan:
            for first, *others in plan:
                self._gone.add(first)
                self._next[first] = others
            yield self._clusters[[each[0] for each in plan]]
            left = [each for each in range(self.count) if each not in self._gone]
            plan = [left] if left else []

    def answer(self, execution: Execution, thread: int) -> Answer:
        """Answer the request of a thread."""
        self.line = self.line or execution.instruction.line
        cluster = self._of_thread(execution, thread)
        others = self._next[cluster]
        if not others:
            return Answer(None)
        taken = others.pop(0)
        self._gone.add(taken)
        x, y, z = place_of(self._clusters[taken][:1], self._grid)
        return Answer((int(x[0]), int(y[0]), int(z[0])))

    def _of_thread(self, execution: Execution, thread: int) -> int:
        threads = execution.threads
        return self._cluster_of[int(threads.blocks[threads.block[thread]])]

    # -- what an answer is in memory
    def words(self, store: TermStore, answer: Answer) -> Ids:
        """Return an answer as two terms of 64 bits."""
        found = store.undefined(2, 64, CANCELLATION)
        self._answers[int(found[0]), int(found[1])] = answer
        return found

    def told(self, low: int, high: int) -> Answer | None:
        """Return the answer that two terms are, None if they are none."""
        return self._answers.get((low, high))

    # -- who knows that nothing is left
    def note_end(self, execution: Execution, threads: Indices) -> None:
        """Note that threads see that nothing was left."""
        ordering, line = execution.ordering, execution.instruction.line
        times = ordering.times(threads).tolist()
        for thread, time in zip(threads.tolist(), times, strict=True):
            looked = self._looked.setdefault(self._of_thread(execution, thread), [])
            looked.append(_Looked(int(ordering.names[thread]), time, line))

    def known_end(self, execution: Execution, thread: int) -> int:
        """Return the line where nothing was known to be left, before a thread asks again; 0 if none is."""
        ordering = execution.ordering
        known, own = ordering.known_to_have_happened(thread), int(ordering.names[thread])
        for each in self._looked.get(self._of_thread(execution, thread), ()):
            if each.name == own or is_over(known, each.name, each.time, ordering.per_block):
                return each.line
        return 0
