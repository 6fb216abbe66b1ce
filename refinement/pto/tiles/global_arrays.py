"""Arrays in global memory as the movers access them: bounds, contents, last writers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...contract.element_places import place_of
from ...machine.array_memory import ArrayMemory, initial_bytes
from ...machine.front_end import FinalArray
from ...machine.memory import ByteLanes, Offsets
from ...terms.interning import Ids
from ...terms.store import TermStore
from ..pipes.access_history import AccessHistory, BlockHistory

NOBODY = -1
"""In place of the block that wrote a byte last."""


class GlobalArray:
    """An array of the contract, while a kernel runs.

    Attributes
    ----------
    name : str
        The array's.
    lanes : ByteLanes
        Its bytes, as its footprint has them.
    history : AccessHistory
        What the pipes of the running block did to them.
    blocks : BlockHistory
        Which blocks read and wrote them.

    Parameters
    ----------
    memory : ArrayMemory
        The array.
    lanes : ByteLanes
        What it holds before the kernel.
    """

    def __init__(self, memory: ArrayMemory, lanes: ByteLanes) -> None:
        self._array = memory.array
        self._unowned = memory.unowned
        self.name = memory.array.name
        self.lanes = lanes
        self.history = AccessHistory(len(lanes))
        self.blocks = BlockHistory(len(lanes))
        self._lines = np.zeros(len(lanes), dtype=np.int32)
        self._writers = np.full(len(lanes), NOBODY, dtype=np.int64)

    @property
    def writable(self) -> bool:
        """Whether the kernel may write it."""
        return self._array.access.is_written

    @property
    def element_bits(self) -> int:
        """Memory that an element of the contract's array takes."""
        return self._array.element_bits

    @property
    def alignment(self) -> int:
        """The array's address is a multiple of so many bytes."""
        return self._array.alignment

    def outside(self, offsets: Offsets, size: int) -> NDArray[np.bool_]:
        """Tell which accesses (n,) of `size` bytes are not to bytes of the array alone."""
        runs = self._array.footprint
        run = np.searchsorted(runs.offsets, offsets, side="right") - 1
        known = np.maximum(run, 0)
        beyond = offsets + size > runs.offsets[known] + runs.lengths[known]
        return (run < 0) | beyond

    def lanes_of(self, offsets: Offsets) -> Offsets:
        """Return the lanes of bytes of the array, by their distance from its beginning."""
        return self._array.footprint.lanes(offsets)

    def unowned(self, lanes: Offsets, size: int) -> NDArray[np.bool_]:
        """Tell which accesses to lanes (n,) are to bytes that no element has."""
        if self._unowned is None:
            return np.zeros(len(lanes), dtype=bool)
        found: NDArray[np.bool_] = self._unowned[lanes[:, None] + np.arange(size)].any(axis=1)
        return found

    def offset_of(self, lane: int) -> int:
        """Return the distance of a lane's byte from the array's beginning."""
        return self._array.footprint.offset(lane)

    def place(self, offset: int) -> str:
        """Say what a byte is, or would be."""
        return str(place_of(self._array, 8 * offset))

    def write(self, lanes: Offsets, words: Ids, line: int, block: int) -> None:
        """Write words (n,) of whole bytes."""
        self.lanes.write(lanes, words)
        size = int(self.lanes.store.widths(words[:1])[0]) // 8
        every = (lanes[:, None] + np.arange(size)).reshape(-1)
        self._lines[every], self._writers[every] = line, block

    def final(self) -> FinalArray:
        """Return what it holds now."""
        return FinalArray(self.lanes, self._lines, self._writers)


def global_arrays(
    memories: Mapping[str, ArrayMemory],
    store: TermStore,
    inputs: Mapping[str, Ids],
    before: Mapping[str, ByteLanes],
) -> dict[str, GlobalArray]:
    """Return the arrays of a contract, with what they hold before the kernel, by name."""
    found = {}
    for name, memory in memories.items():
        lanes = before.get(name)
        if lanes is None:
            lanes = initial_bytes(store, memory, inputs)
        else:
            copy = ByteLanes(store, len(lanes))
            copy.terms[:], copy.lows[:] = lanes.terms, lanes.lows
            lanes = copy
        found[name] = GlobalArray(memory, lanes)
    return found
