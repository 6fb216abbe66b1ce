"""One state space: regions at addresses, with bytes per instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....spec.ptx.asynchronous.clusters import PLACE_BITS
from ....spec.ptx.open_results import ATOMIC_RESULT
from ...machine.memory import ByteLanes, Offsets, Region
from ...terms.interning import Ids
from ...terms.store import TermStore
from ...terms.traversal import leaves_of
from ..order.races import AccessHistory
from .overwritten import Overwritten

UNIT = 32
"""An access lies as to multiples of this among the lanes as it does among the addresses."""

WINDOWS: Mapping[str, int] = MappingProxyType(
    {
        "global": 0,
        "shared": 0x7E00_0000_0000,
        "local": 0x7E01_0000_0000,
        "param": 0x7E02_0000_0000,
    }
)
"""What the generic address of a byte has more than its address in its space."""

WINDOW_SIZE = 1 << 32
"""Bytes of a window."""


RANK_BITS = np.uint64(PLACE_BITS)
"""An address of shared memory has above these bits, counted from its window, the rank of its block."""

NO_RANK = 0xFA
"""What stands for ranks that no cluster has."""


class Peers(NamedTuple):
    """The blocks of clusters, each with shared memory of its own.

    Attributes
    ----------
    base : int
        Where shared memory of the block of rank 0 begins.
    blocks : array (blocks, ranks)
        The blocks of each block's cluster.
    ranks : array (blocks,)
        The rank of each.
    """

    base: int
    blocks: NDArray[np.intp]
    ranks: NDArray[np.intp]

    def ranks_of(self, addresses: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the rank that each address has, however large."""
        return ((addresses - np.uint64(self.base)) >> RANK_BITS).astype(np.int64)

    def in_own_block(self, addresses: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return addresses as they are in the block of rank 0."""
        return addresses - (self.ranks_of(addresses).astype(np.uint64) << RANK_BITS)


class UnownedReads:
    """Reads of memory that no array owns: only a thread that writes it back may read it.

    Parameters
    ----------
    lanes : array (size,)
        Which bytes are nobody's.

    Attributes
    ----------
    noted : list of (int, str, array, array)
        Line and instruction, bytes that it was the first to read, and who did, by number in the grid.
    """

    def __init__(self, lanes: NDArray[np.bool_]) -> None:
        self._unread = lanes.copy()
        self.noted: list[tuple[int, str, Offsets, NDArray[np.int64]]] = []

    def note(self, line: int, mnemonic: str, lanes: Offsets, readers: NDArray[np.int64]) -> None:
        """Note that threads (n,) read bytes (n, count)."""
        found = self._unread[lanes]
        if found.any():
            own = lanes[found]
            self.noted.append((line, mnemonic, own, np.repeat(readers, found.sum(axis=1))))
            self._unread[own] = False


_SEVERAL = -1
"""Instead of a thread: several change a place."""


class Atomics:
    """The last atomic operation on each byte, who made them, and what they returned.

    Attributes
    ----------
    trusted : array
        Lanes of words that one thread alone changes by atomics, of which these return what was there.
    """

    def __init__(self) -> None:
        self._found: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._names: dict[tuple[str, int], int] = {}
        self._users: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._returned: list[tuple[Offsets, Ids]] = []
        self.trusted: Offsets = np.zeros(0, dtype=np.int64)

    def note_users(self, lanes: Offsets, size: int, threads: NDArray[np.intp]) -> None:
        """Note who changes lanes (n, bytes) of a space of some size, by numbers in the grid."""
        if len(self._users) < size:
            self._users = np.concatenate([self._users, np.zeros(size - len(self._users), dtype=np.int64)])
        own = np.broadcast_to(threads[:, None] + 1, lanes.shape)
        before = self._users[lanes]
        self._users[lanes] = own
        several = ((before != 0) & (before != own)) | (self._users[lanes] != own)
        self._users[lanes[several]] = _SEVERAL

    def returned(
        self, store: TermStore, offsets: Offsets, before: Ids, are_data: NDArray[np.bool_] | None = None
    ) -> Ids:
        """Return what atomics return of words (n,): what was there, where that is known, else anything.

        It is not known of words by which threads wait for each other: `are_data` tells which are none.
        """
        found = store.undefined(len(before), int(store.widths(before[:1])[0]), ATOMIC_RESULT)
        self._returned.append((offsets, found))
        known = np.isin(offsets, self.trusted) & (True if are_data is None else are_data)
        return np.where(known, before, found).astype(np.int32)

    def of_one_thread(self, store: TermStore, terms: Ids) -> Offsets:
        """Return lanes of words that one thread alone changes, if terms depend on what that returns."""
        if not self._returned:
            return self.trusted
        lanes, results = (np.concatenate(each) for each in zip(*self._returned, strict=True))
        used = np.isin(results, leaves_of(store, terms)) | np.isin(lanes, self.trusted)
        return np.unique(lanes[used & (self._users[lanes] != _SEVERAL)])

    def numbers(self, name: str, operands: Ids) -> NDArray[np.int32]:
        """Return a number, not 0, of each operation by its name and operand."""
        distinct, inverse = np.unique(operands, return_inverse=True)
        known = [self._names.setdefault((name, each), 1 + len(self._names)) for each in distinct.tolist()]
        return np.array(known, dtype=np.int32)[inverse]

    def at(self, lanes: Offsets, size: int) -> NDArray[np.int32]:
        """Return the number of the operation that changed lanes of a space of some size; 0 where none did."""
        if len(self._found) < size:
            self._found = np.concatenate([self._found, np.zeros(size - len(self._found), dtype=np.int32)])
        return self._found[lanes]

    def put(self, lanes: Offsets, numbers: NDArray[np.int32]) -> None:
        """Note the operations that change lanes (n, bytes)."""
        self._found[lanes] = numbers[:, None]


class Space:
    """One state space: the same regions for each of its instances (blocks, threads), or for all.

    Parameters
    ----------
    store : TermStore
        Of the bytes' terms.
    name : str
        ``global``, ``shared``, ``local`` or ``param``.
    regions : sequence of Region
        In increasing order of their addresses.
    instance : array (n threads,), optional
        Which instance each thread sees; None if there is one for all.
    instances : int
        How many there are.

    Attributes
    ----------
    alignments : mapping of str to int
        To how many bytes accesses need each region to be aligned.
    barriers : bool array, optional
        Which lanes hold barrier objects, if any ever did.
    overwritten : Overwritten, optional
        Stores whose place others took in no order with them, of memory that blocks share.
    peers : Peers, optional
        Of shared memory, which blocks of clusters reach each other's; None where each is a cluster.
    """

    def __init__(
        self,
        store: TermStore,
        name: str,
        regions: Sequence[Region],
        instance: NDArray[np.intp] | None = None,
        instances: int = 1,
        peers: Peers | None = None,
    ) -> None:
        self.name = name
        self.peers = peers
        self.regions = tuple(regions)
        self.window = WINDOWS[name]
        self._instance = instance
        self._addresses = np.array([region.address for region in regions], dtype=np.uint64)
        sizes = np.array([region.size for region in regions], dtype=np.int64)
        self._ends = self._addresses + sizes.astype(np.uint64)
        self._starts = _starts(self.regions)
        self.size = int(sizes.sum())
        self._extent = int(self._starts[-1])
        self.lanes = ByteLanes(store, self._extent * instances)
        self.history: AccessHistory | None = None
        self.unowned_reads: UnownedReads | None = None
        self.alignments: dict[str, int] = {}
        self.atomics = Atomics()
        self.overwritten: Overwritten | None = None
        self.barriers: NDArray[np.bool_] | None = None
        self.read_only_from = self._extent * instances

    def locate(
        self, addresses: NDArray[np.uint64], count: int, threads: NDArray[np.intp]
    ) -> tuple[NDArray[np.bool_], Offsets]:
        """Return which accesses of `count` bytes lie in one region, and their lanes."""
        if not self.regions:
            return np.zeros(addresses.shape, dtype=bool), np.zeros(addresses.shape, dtype=np.int64)
        instance = None if self._instance is None else self._instance[threads]
        reached: NDArray[np.bool_] | None = None
        if self.peers is not None and instance is not None:
            ranks = self.peers.ranks_of(addresses)
            reached = ranks < self.peers.blocks.shape[1]
            instance = self.peers.blocks[instance, np.where(reached, ranks, 0)]
            addresses = self.peers.in_own_block(addresses)
        found = np.searchsorted(self._addresses, addresses, side="right") - 1
        region = np.maximum(found, 0)
        ends = addresses + np.uint64(count)
        inside = (found >= 0) & (ends <= self._ends[region]) & (ends >= addresses)
        offsets = self._starts[region] + (addresses - self._addresses[region]).astype(np.int64)
        if instance is not None:
            offsets = offsets + self._extent * instance
        if reached is not None:
            inside &= reached
        return inside, np.where(inside, offsets, 0)

    def note_alignment(self, lanes: Offsets, alignment: int) -> None:
        """Note that accesses need the regions in which some lanes lie to be aligned."""
        if not len(lanes):
            return
        first, last = np.searchsorted(self._starts, [lanes.min(), lanes.max()], side="right") - 1
        found = [first] if first == last else np.unique(np.searchsorted(self._starts, lanes, "right") - 1)
        for region in found:
            name = self.regions[int(region)].name
            self.alignments[name] = max(alignment, self.alignments.get(name, 1))

    def keep_history(self, region: int, granule: int, history: type[AccessHistory] = AccessHistory) -> None:
        """Keep who accesses the regions before one; that and the later ones are only for reading."""
        self.read_only_from = int(self._starts[region]) // UNIT * UNIT
        self.history = history(self.read_only_from, granule)

    def note_overwritten(
        self,
        at: Offsets,
        terms: Ids,
        lows: NDArray[np.uint8],
        lines: NDArray[np.int32] | int,
        writers: NDArray[np.int64],
    ) -> None:
        """Keep what stores put into bytes (n, count) whose place others took in no order with them."""
        if self.name == "global":
            if self.overwritten is None:
                self.overwritten = Overwritten(self.lanes.store, len(self.lanes))
            self.overwritten.note(at, terms, lows, lines, writers)

    def lanes_of(self, first: int, count: int = 1) -> slice | Offsets:
        """Return the lanes of neighbouring regions of the first instance."""
        parts = [
            slice(int(start), int(start) + region.size)
            for start, region in zip(
                self._starts[first : first + count], self.regions[first : first + count], strict=True
            )
        ]
        if count == 1:
            return parts[0]
        return np.concatenate([np.arange(part.start, part.stop) for part in parts])

    def spelled(self, address: int) -> str:
        """Describe an address for a message."""
        if self.peers is not None:
            rank = int(self.peers.ranks_of(np.array([address], dtype=np.uint64))[0])
            own = int(self.peers.in_own_block(np.array([address], dtype=np.uint64))[0])
            count = self.peers.blocks.shape[1]
            if not 0 <= rank < count:
                return f"shared address {address:#x}, of no block of a cluster of {count}"
            address = own
        region = min(self.regions, key=lambda region: _distance(region, address), default=None)
        if region is None or _distance(region, address) > 1 << 32:
            return f"{self.name} address {address:#x}"
        return region.beside(address)

    def blocks_of(self, lanes: Offsets) -> NDArray[np.intp]:
        """Return which block of the batch each lane of shared memory belongs to."""
        return (lanes // max(1, self._extent)).astype(np.intp)

    def place(self, lane: int) -> str:
        """Describe a lane for a message."""
        region, offset = self._region_of(lane)
        return region.place(offset)

    def named_place(self, lane: int) -> str:
        """Describe a lane for a message, with the element of an array that it holds, or would hold."""
        region, offset = self._region_of(lane)
        named = region.named(offset)
        return region.place(offset) + (f" ({named})" if named else "")

    def _region_of(self, lane: int) -> tuple[Region, int]:
        """Return the region of a lane, and how far behind its beginning that is."""
        lane %= self._extent
        region = int(np.searchsorted(self._starts, lane, side="right")) - 1
        return self.regions[region], lane - int(self._starts[region])


def _distance(region: Region, address: int) -> int:
    """Return how far an address is from a region."""
    return max(region.address - address, address - (region.address + region.size - 1), 0)


def _starts(regions: Sequence[Region]) -> NDArray[np.int64]:
    """Return the lane at which each region begins, modulo `UNIT` what its address is, and the end."""
    starts, end = [], 0
    for region in regions:
        start = end + region.address % UNIT
        starts.append(start)
        end = -(-(start + region.size) // UNIT) * UNIT
    return np.array([*starts, end], dtype=np.int64)
