"""Threads that wait for ever by asking again: the state of a run that comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interpreter.ptx_threads import Block


class Spinning:
    """Notices that a state has been there before, which in a fixed order of turns comes back for ever.

    A state is kept for twice as many rounds as the one before (Brent's algorithm), so that a circle of any
    length is found in a few times as many rounds as it has.
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks
        self._threads = [thread for block in blocks for thread in block.threads]
        self._places: list[int] = []
        self._state: Any = None
        self._rounds, self._kept_for = 0, 1

    def comes_back(self) -> bool:
        """Count a round, and tell whether the state is the one that is kept."""
        places = [thread.pc for thread in self._threads]
        if places == self._places and self._now() == self._state:
            return True
        self._rounds += 1
        if self._rounds == self._kept_for:
            self._places, self._state = places, self._now()
            self._rounds, self._kept_for = 0, 2 * self._kept_for
        return False

    def _now(self) -> Any:
        """Return all that the next turns depend on; memory by how often it was written."""
        spaces = {id(space): space for thread in self._threads for space in thread.spaces.values()}
        threads = [
            (
                each.state,
                each.wait is None,
                list(map(len, each.groups)),
                set(each.touched),
                dict(each.registers),
            )
            for each in self._threads
        ]
        barriers = [
            {
                number: (len(barrier.waiting), len(barrier.arrived))
                for number, barrier in block.barriers.items()
            }
            for block in self._blocks
        ]
        objects = [
            {at: (counter.expected, counter.pending, counter.phase) for at, counter in block.objects.items()}
            for block in self._blocks
        ]
        return threads, barriers, objects, sum(space.stores for space in spaces.values())
