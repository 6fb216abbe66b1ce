"""Snapshots of a run, compared up to how far its clocks have come.

Times are only compared with times of the same agent, at most two intervals apart, and what comes later has a
larger time than all before. So a run goes on alike from two snapshots if all else is the same and the times
of each agent lie in the same order, with the same distances as far as anybody asks for these. What a class
does not record as a time is compared as it is, so that a time that is forgotten makes snapshots differ.

An agent is a warp of a block, of all blocks together, or one that completes on its own: a barrier object, a
queue of operations on tensor memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from enum import Enum
from hashlib import sha256
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....spec.errors import UnsupportedError
from ..registers.threads import WARP
from .vector_clocks import AGENT, FENCED, OPERATIONS, THREAD, TOGETHER, Happened, Knowledge, Released, Told

_ASKED = 3
"""Times that lie further apart are not told from each other: nobody asks for more than two phases back."""

_NUMBERS = (int, float, bool, str, bytes, type(None), Enum, np.generic)


@runtime_checkable
class Clocked(Protocol):
    """What has times among its attributes."""

    def record_in(self, snapshot: Snapshot) -> None:
        """Record all that later accesses depend on."""


class Snapshot:
    """The state of a run at one moment, but for how far its clocks have come.

    Parameters
    ----------
    warps : int
        Warps of a block.

    Attributes
    ----------
    warps : int
        Warps of a block.
    """

    def __init__(self, warps: int) -> None:
        self.warps = warps
        self._plain: list[Any] = []
        self._agents: list[NDArray[np.int64]] = []
        self._times: list[NDArray[np.int64]] = []

    def take(self, what: object) -> None:
        """Take anything: what has times tells them, all else is compared as it is.

        Raises
        ------
        UnsupportedError
            If it is nothing that can be compared.
        """
        if isinstance(what, Clocked):
            self._plain.append(type(what).__name__)
            what.record_in(self)
        elif isinstance(what, Told):
            for told in what.parts:
                self.take(sorted(told))
                for who in sorted(told):
                    self.known(told[who])
        elif isinstance(what, Happened | Released):
            for each in what:
                self.known(each)
        elif isinstance(what, _NUMBERS):
            self._plain.append(what)
        elif isinstance(what, np.ndarray):
            self._plain.append(what.copy())
        else:
            self._take_parts(what)

    def _take_parts(self, whole: object) -> None:
        if isinstance(whole, Mapping):
            keys = sorted(whole, key=repr)
            self.take(keys)
            for key in keys:
                self.take(whole[key])
        elif isinstance(whole, Sequence | Set):
            parts = sorted(whole, key=repr) if isinstance(whole, Set) else whole
            self._plain.append(len(parts))
            for part in parts:
                self.take(part)
        elif hasattr(whole, "__dict__"):
            self.rest(whole)
        else:
            raise UnsupportedError(f"{type(whole).__name__} is in use at the head of a loop")

    def rest(self, owner: object, *told: str) -> None:
        """Take the attributes of an object but for those that it has told of, or that mean nothing later."""
        self._plain.append(type(owner).__name__)
        for name, each in sorted(vars(owner).items()):
            if name not in told:
                self._plain.append(name)
                self.take(each)

    def intervals(self, agents: ArrayLike, times: ArrayLike) -> None:
        """Take times of agents, by their numbers here; negative ones are none."""
        who, when = np.broadcast_arrays(np.asarray(agents, np.int64), np.asarray(times, np.int64))
        there = who >= 0
        self._plain.append(there)
        self._agents.append(who[there])
        self._times.append(when[there])

    def of_threads(self, names: ArrayLike, times: ArrayLike) -> None:
        """Take times of threads and other agents, by their numbers in the grid; negative ones are none."""
        who = np.asarray(names, np.int64)
        self._plain.append(who.copy())
        per_block = self.warps * WARP
        warp = np.where(who < 0, who, who // WARP % self.warps)
        self.intervals(np.where(who < AGENT * per_block, warp, _agent(who // per_block)), times)

    def known(self, knowledge: Knowledge) -> None:
        """Take what is known of agents.

        Raises
        ------
        UnsupportedError
            If it is about words that are waited for.
        """
        for key in sorted(knowledge):
            over = knowledge[key]
            self._plain.append(key)
            if key < 0:
                raise UnsupportedError("threads wait for words of memory at the head of a loop")
            if key < AGENT:
                self.intervals(np.arange(len(over)), over)
            elif key < THREAD:
                self.intervals(_agent(np.full(len(over), key)), over)
            else:
                warp = (key - THREAD) // WARP if key < TOGETHER else key - TOGETHER
                self.intervals(np.full(len(over), warp % self.warps), over)

    @property
    def digest(self) -> bytes:
        """A digest of `canonical`."""
        found = sha256()
        for each in map(np.asarray, self.canonical()):
            found.update(f"{each.dtype}{each.shape}".encode() + each.tobytes())
        return found.digest()

    def canonical(self) -> list[Any]:
        """Return arrays and numbers that are equal if a run goes on alike."""
        agents = np.concatenate([np.zeros(0, np.int64), *self._agents])
        times = np.concatenate([np.zeros(0, np.int64), *self._times])
        pairs, where = np.unique(np.stack([agents, times]), axis=1, return_inverse=True)
        distances = np.diff(pairs[1], prepend=0)
        first = np.diff(pairs[0], prepend=-2) != 0
        steps = np.where(first, 0, np.minimum(distances, _ASKED))
        total = np.cumsum(steps)
        begins = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
        return [*self._plain, agents, (total - total[begins])[where.reshape(-1)]]


def _agent(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of agents by keys: what is over by fences has the clock of the operation."""
    return np.where(keys >= OPERATIONS + FENCED, keys - FENCED, keys)
