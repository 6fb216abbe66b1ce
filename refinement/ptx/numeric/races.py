"""Races on shared memory between warps of a block, between two barriers of the whole block.

Threads of one warp are not looked at: what orders them is finer than barriers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...findings.finding import Kind
from .faults import Fault, FaultError
from .threads import Lanes

_SEVERAL = -2

OFTEN = 8
"""How many times accesses of an instruction are looked at: a loop that races does so in its first turns."""


class Races:
    """The last accesses to shared memory of some blocks.

    Parameters
    ----------
    size : int
        Bytes of all of it.
    blocks : int
        How many blocks.
    unit : int
        Bytes that are told apart: those of the smallest access.
    """

    def __init__(self, size: int, blocks: int, unit: int) -> None:
        self.unit = unit
        units = size // unit + 1
        self.written_at, self.read_at = np.full(units, -1, np.int32), np.full(units, -1, np.int32)
        self.writer, self.reader = np.full(units, -1, np.int32), np.full(units, -1, np.int32)
        self.interval = np.zeros(blocks, np.int32)
        self.times: dict[int, int] = {}

    def _is_often(self, state: Any) -> bool:
        """Count the accesses of what runs now, and tell whether there were enough."""
        line = id(state.instruction)
        self.times[line] = self.times.get(line, 0) + 1
        return self.times[line] > OFTEN

    def passed(self, blocks: Any) -> None:
        """Note that blocks have passed a barrier."""
        self.interval[blocks] += 1

    def _who(self, state: Any, lanes: Lanes) -> tuple[Any, Any]:
        threads = state.indices(lanes)
        warps = state.threads.warp[threads].astype(np.int32)
        return warps, self.interval[state.threads.block[threads]]

    def read(self, state: Any, lanes: Lanes, offsets: Any, size: int) -> None:
        """Note a read, and report one that may come before a write of another warp, or behind it."""
        if self._is_often(state):
            return
        warps, now = self._who(state, lanes)
        for byte in range(0, size, self.unit):
            places = (offsets + byte) // self.unit
            raced = (self.written_at[places] == now) & (self.writer[places] != warps)
            if raced.any():
                self._report(state, lanes, int(np.argmax(raced)), "reads a place that another warp writes")
            known = (self.read_at[places] == now) & (self.reader[places] != warps)
            self.read_at[places] = now
            self.reader[places] = np.where(known, _SEVERAL, warps)
            mixed = self.reader[places] != warps
            self.reader[places[mixed]] = _SEVERAL

    def write(self, state: Any, lanes: Lanes, offsets: Any, words: list[Any]) -> None:
        """Note a write; one that leaves what is there is none."""
        if self._is_often(state):
            return
        warps, now = self._who(state, lanes)
        size = words[0].dtype.itemsize
        held = state.memory.shared.words(size)
        for number, word in enumerate(words):
            at = offsets + number * size
            changes = held[at // size] != word
            for byte in range(0, size, self.unit):
                places = (at + byte) // self.unit
                after = (self.read_at[places] == now) & (self.reader[places] != warps)
                beside = (self.written_at[places] == now) & (self.writer[places] != warps)
                if (raced := changes & (after | beside)).any():
                    self._report(state, lanes, int(np.argmax(raced)), "writes a place that another warp uses")
                places, mine = places[changes], warps[changes]
                self.written_at[places], self.writer[places] = now[changes], mine
                together = self.writer[places] != mine
                if together.any():
                    self._report_different(state, lanes, at[changes], word[changes], mine, together)

    def _report_different(
        self, state: Any, lanes: Lanes, at: Any, word: Any, warps: Any, together: Any
    ) -> None:
        """Report two warps that write one place by one instruction, if they write different numbers.

        Where threads of a warp write several there, as sums of the same data whose products are rounded or
        fused, another warp that writes just these changes nothing of what may be left.
        """
        places, of = np.unique(at, return_inverse=True)
        pairs = np.unique(np.stack([of, warps.astype(np.int64), word.astype(np.int64)]), axis=1)
        writers = np.unique(pairs[:2], axis=1)[0]
        written = np.unique(pairs[[0, 2]], axis=1)[0]
        each = [np.bincount(some, minlength=len(places)) for some in (pairs[0], writers, written)]
        if (each[0] != each[1] * each[2]).any():
            self._report(state, lanes, int(np.argmax(together)), "writes a place that another warp writes")

    def _report(self, state: Any, lanes: Lanes, place: int, what: str) -> None:
        thread = int(state.indices(lanes)[place])
        message = f"{state.threads.name(thread)} {what}, in shared memory, with no barrier between"
        depends = bool(state.unknown[state.threads.block[thread]])
        raise FaultError(Fault(Kind.RACE, message, state.instruction, depends))
