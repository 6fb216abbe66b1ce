"""State spaces: addresses of buffers and variables, and contents of their bytes.

Addresses are made up, so that what PTX promises of them, and no more, is so: a buffer is aligned as the
contract says and not better, and between variables there is room, so that running over the end of one is
seen. The generic address of a global or constant byte is its address there; those of the others are in
windows far away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError, UnsupportedError
from ....spec.ptx.asynchronous.clusters import PLACE_BITS
from ....spec.ptx.asynchronous.tensor_map import TensorMap
from ....spec.ptx.matrix_descriptor import PATTERN_BYTES
from ....spec.ptx.operands import Decimal, HexFloat, Integer
from ...contract.footprint import Footprint
from ...machine.memory import Naming, Offsets, Region
from ...machine.placements import Place, Places
from ...terms.interning import Ids
from ...terms.store import TermStore
from ..order.races import AccessHistory
from ..registers.threads import Launch, Threads
from ..text.module import TYPE_BITS, Function, Module, Variable
from ..text.operands import Displaced, GenericAddress, Initial, Symbol, float_encoding
from ..text.product_registers import multiplies
from ..text.variables import used_variables
from .state_space import RANK_BITS, UNIT, WINDOWS, Peers, Space, UnownedReads

_GAP = 512
"""Bytes between shared variables, at least."""

SHARED_WINDOW = 1 << 19
"""Where the window of shared memory begins, as addresses of it are seen by descriptors: beyond what any block
has, and a bit that is in none of a descriptor's fields."""

_SHARED, _LOCAL = SHARED_WINDOW + _GAP, 0x0640_0000 + UNIT
"""Addresses of the first shared and local variables: such as hardly any other number is."""

_STARTS = MappingProxyType({"global": 0x7C00_0000_0000, "const": 0x7D00_0000_0000})
"""Addresses of the module's variables."""

ADDRESS_BYTES = 8
"""Of an address."""

_STRIDE = 1 << 36
"""Bytes between the addresses of buffers."""

_FIRST = 0x1A5 * _STRIDE
"""Where buffers begin: hardly any number that is no address is near."""


@dataclass(frozen=True)
class Buffer:
    """A buffer that a kernel has a pointer to.

    Attributes
    ----------
    name : str
        For messages.
    size : int
        Bytes.
    alignment : int
        The address is a multiple of this, and of no higher power of two.
    content : (array, array), optional
        Term and lowest bit of every byte (size,); None where nobody has written.
    writable : bool
        Whether the kernel may store to it.
    footprint : Footprint, optional
        Which of its bytes, from its address on, there are; all by default. The others above are of these.
    unowned : array (size,), optional
        Bytes that may be read only by who writes them back.
    naming : callable, optional
        Tells what a byte is.
    addresses : tuple of (Buffer, int)
        In place of content: the addresses that it holds, of buffers and bytes from their beginnings.
    results : array (size,), optional
        Bytes that somebody may read when the kernel has ended; all by default.
    """

    name: str
    size: int
    alignment: int = 16
    content: tuple[Ids, NDArray[np.uint8]] | None = None
    writable: bool = False
    footprint: Footprint | None = None
    unowned: NDArray[np.bool_] | None = None
    naming: Naming | None = None
    addresses: tuple[tuple[Buffer, int], ...] = ()
    results: NDArray[np.bool_] | None = None

    @property
    def runs(self) -> Footprint:
        """Which bytes there are."""
        return Footprint.whole(self.size) if self.footprint is None else self.footprint


class Memory:
    """A kernel's memory: the part shared by all blocks, and the parts of each batch.

    Parameters
    ----------
    store : TermStore
        The terms.
    module : Module
        The module.
    function : Function
        The entry.
    buffers : sequence of Buffer
        What the kernel gets pointers to.
    launch : Launch
        How much dynamic shared memory there is.
    granule : int
        Bytes that every access is a multiple of.
    history : type
        What is kept of who accesses what.
    """

    def __init__(
        self,
        store: TermStore,
        module: Module,
        function: Function,
        buffers: Sequence[Buffer],
        launch: Launch,
        granule: int,
        history: type[AccessHistory] = AccessHistory,
    ) -> None:
        self._store = store
        self._history = history
        self._granule = granule
        self.dynamic_shared = launch.dynamic_shared or 0
        self._cluster_blocks = launch.cluster_blocks
        self._says_dynamic = launch.dynamic_shared is not None
        self._held = launch.variables
        self._open: Region | None = None
        self._addresses: dict[str, int] = {}
        variables = used_variables(module, function)
        self._variables = variables
        self._swizzles = multiplies(function)
        self._places: dict[str, Places] = {}
        self.buffers = tuple(sorted(buffers, key=lambda buffer: not buffer.writable))
        self._of_blocks = frozenset(variable.name for variable in variables if variable.space == "shared")
        self._shared = self._laid_out(
            [variable for variable in variables if variable.space == "shared"], _GAP, _SHARED
        )
        self._local = self._laid_out(
            [variable for variable in variables if variable.space == "local"], UNIT, _LOCAL
        )
        self.tensor_maps: dict[int, TensorMap] = {}
        """What tensor maps among the parameters say, by their lanes."""
        self._bases = self._based()
        self.parameters = self._parameter_space(function)
        self.globals = self._global_space(variables)
        self.shared = Space(store, "shared", self._shared)
        self.local = Space(store, "local", self._local)

    def for_batch(self, threads: Threads) -> None:
        """Give the blocks of a batch fresh shared and local memory."""
        blocks = len(threads.blocks)
        peers = None
        if threads.peers.shape[1] > 1:
            peers = Peers(SHARED_WINDOW, threads.peers, threads.ranks)
        self.shared = Space(self._store, "shared", self._shared, threads.block, blocks, peers)
        self.shared.history = self._history(len(self.shared.lanes), self._granule)
        own = np.arange(len(threads))
        self.local = Space(self._store, "local", self._local, own, len(threads))

    def address_of(self, name: str) -> int:
        """Return the address of a variable or parameter in its space, of a block of rank 0."""
        if name not in self._addresses:
            raise UnsupportedError(f"the address of {name}")
        return self._addresses[name]

    def displacements(self, name: str) -> NDArray[np.uint64] | None:
        """Return what the address of a variable has more in each block of a batch, where they differ."""
        peers = self.shared.peers
        if peers is None or name not in self._of_blocks:
            return None
        return peers.ranks.astype(np.uint64) << RANK_BITS

    def buffer_address(self, buffer: Buffer) -> int:
        """Return the address of a buffer."""
        return self._bases[self._index(buffer)]

    def buffer_lanes(self, buffer: Buffer) -> slice | Offsets:
        """Return the lanes of a buffer among the global ones."""
        index = self._index(buffer)
        counts = [len(each.runs.offsets) for each in self.buffers[: index + 1]]
        return self.globals.lanes_of(sum(counts[:-1]), counts[-1])

    def undeclared(self, space: Space, address: int) -> str | None:
        """Return the variable at an address that has no memory because nobody said how much it has."""
        region = self._open
        if self._says_dynamic or region is None or space is not self.shared:
            return None
        if space.peers is not None:
            address = int(space.peers.in_own_block(np.array([address], dtype=np.uint64))[0])
        if address < region.address:
            return None
        return region.name

    def places(self, kind: str) -> Places:
        """Return the memory of which addresses tell nothing but their alignment.

        Parameters
        ----------
        kind : str
            ``generic``; ``shared``, ``local`` or ``any`` of both if addresses in these are among them.
        """
        if kind not in self._places:
            self._places[kind] = Places(self._store, self._placed(kind))
        return self._places[kind]

    def space(self, name: str) -> Space:
        """Return a state space by its name."""
        match name:
            case "global" | "const":
                return self.globals
            case "shared" | "shared::cluster":
                return self.shared
            case "local":
                return self.local
        return self.parameters

    # -- details
    def _placed(self, kind: str) -> Iterator[Place]:
        """Yield the memory that addresses may be of."""
        for buffer, base in zip(self.buffers, self._bases, strict=True):
            yield Place(base, base + buffer.size, buffer.alignment, _STRIDE // 2, _STRIDE // 2)
        for variable in self._variables:
            if variable.name not in self._addresses:
                continue
            at, size = self._addresses[variable.name], variable.size or self.dynamic_shared
            window = WINDOWS.get(variable.space, 0)
            alignment = (
                max(variable.alignment, PATTERN_BYTES) if self._is_swizzled(variable) else variable.alignment
            )
            for rank in range(self._cluster_blocks if variable.space == "shared" else 1):
                start = at + (rank << PLACE_BITS)
                yield Place(window + start, window + start + size, alignment, UNIT // 2, _GAP)
                if window and kind in (variable.space, "any"):
                    yield Place(start, start + size, alignment, UNIT // 2, _GAP)

    def _is_swizzled(self, variable: Variable) -> bool:
        """Tell whether a variable is dynamic shared memory, taken to be aligned to swizzling patterns."""
        return self._swizzles and variable.size is None

    def alignment_taken(self, address: int) -> tuple[str, int] | None:
        """Return the dynamic shared memory at an address and its alignment, if more is taken for it."""
        region = self._open
        if (
            region is None
            or not self._swizzles
            or not region.address <= address < region.address + region.size
        ):
            return None
        declared = max(variable.alignment for variable in self._variables if variable.size is None)
        return (region.name, declared) if declared < PATTERN_BYTES else None

    def _laid_out(self, variables: Iterable[Variable], gap: int, address: int) -> list[Region]:
        """Place variables one after the other; those of open size are dynamic shared memory, at the end."""
        regions: list[Region] = []
        last: list[Variable] = []
        for variable in variables:
            if variable.size is None:
                last.append(variable)
                continue
            address = self._start(address, variable.alignment)
            self._addresses[variable.name] = address
            regions.append(Region(variable.name, address, variable.size))
            address += variable.size + gap
        if last:
            least = PATTERN_BYTES if self._swizzles else _GAP
            address = self._start(address, max(least, *(variable.alignment for variable in last)))
            self._open = Region(last[0].name, address, self.dynamic_shared)
            regions.append(self._open)
            for variable in last:
                self._addresses[variable.name] = address
        return regions

    def _start(self, address: int, alignment: int) -> int:
        """Return the next address with an alignment; where addresses are swizzled, with no better one."""
        found = _aligned(address, alignment)
        return found + alignment * (self._swizzles and found % (2 * alignment) == 0)

    def _parameter_space(self, function: Function) -> Space:
        regions, address = [], UNIT
        for parameter in function.parameters:
            size = parameter.size
            assert size is not None
            address = _aligned(address, parameter.alignment)
            self._addresses[parameter.name] = address
            regions.append(Region(parameter.name, address, size))
            address += size
        return Space(self._store, "param", regions)

    def _index(self, buffer: Buffer) -> int:
        return next(index for index, each in enumerate(self.buffers) if each is buffer)

    def _based(self) -> list[int]:
        """Return an address for each buffer."""
        bases, address = [], _FIRST
        for buffer in self.buffers:
            bases.append(address + buffer.alignment)
            address = _aligned(bases[-1] + buffer.size, _STRIDE)
        if address > _STARTS["global"]:
            raise InputError(f"buffers span {address - _FIRST} bytes; at most {_STARTS['global'] - _FIRST}")
        return bases

    def _global_space(self, variables: Sequence[Variable]) -> Space:
        """Place the buffers that may be written, the other buffers, the variables; constants come last."""
        regions = [
            Region(each.name, base + offset, length, offset, each.size, each.naming)
            for each, base in zip(self.buffers, self._bases, strict=True)
            for offset, length in zip(each.runs.offsets.tolist(), each.runs.lengths.tolist(), strict=True)
        ]
        parts = len(regions)
        changing = sum(len(each.runs.offsets) for each in self.buffers if each.writable)
        own = {kind: [each for each in variables if each.space == kind and each.size] for kind in _STARTS}
        for kind, first in _STARTS.items():
            address = first
            for variable in own[kind]:
                at = _aligned(address, variable.alignment)
                self._addresses[variable.name] = at
                regions.append(Region(variable.name, at, variable.size or 0))
                address = at + (variable.size or 0) + _GAP
        space = Space(self._store, "global", regions)
        self.globals = space
        for buffer in self.buffers:
            if buffer.content is not None:
                lanes = self.buffer_lanes(buffer)
                space.lanes.terms[lanes], space.lanes.lows[lanes] = buffer.content
            if buffer.addresses:
                self._hold_addresses(buffer)
        for index, variable in enumerate([*own["global"], *own["const"]], start=parts):
            self._initialise(space, index, variable)
        watched = changing if not own["global"] else len(regions) - len(own["const"])
        space.keep_history(watched, self._granule, self._history)
        space.unowned_reads = self._unowned()
        return space

    def _hold_addresses(self, buffer: Buffer) -> None:
        lanes = self.buffer_lanes(buffer)
        assert isinstance(lanes, slice)
        words = [self.buffer_address(target) + offset for target, offset in buffer.addresses]
        places = lanes.start + ADDRESS_BYTES * np.arange(len(words), dtype=np.int64)
        self.globals.lanes.write(
            places, self._store.constants(np.array(words, dtype=np.uint64), 8 * ADDRESS_BYTES)
        )

    def _unowned(self) -> UnownedReads | None:
        if all(buffer.unowned is None for buffer in self.buffers):
            return None
        lanes = np.zeros(len(self.globals.lanes), dtype=bool)
        for buffer in self.buffers:
            if buffer.unowned is not None:
                lanes[self.buffer_lanes(buffer)] = buffer.unowned
        return UnownedReads(lanes)

    def _initialise(self, space: Space, index: int, variable: Variable) -> None:
        """Put a variable's initial value into its bytes."""
        bits = TYPE_BITS[variable.type.rpartition(".")[2]]
        size = max(1, bits // 8)
        lanes = space.lanes_of(index)
        assert isinstance(lanes, slice)
        zeros = self._store.constants(np.zeros(variable.size or 0, dtype=np.uint64), 8)
        space.lanes.terms[lanes] = zeros
        if variable.name in self._held:
            terms, lows = self._held[variable.name]
            space.lanes.terms[lanes.start : lanes.start + len(terms)] = terms
            space.lanes.lows[lanes.start : lanes.start + len(terms)] = lows
            return
        if not variable.initial:
            return
        if bits > 64:
            raise UnsupportedError(f"initial values of {variable.name}, of type .{variable.type}")
        offsets = np.array([lanes.start + size * place for place, _ in variable.initial], dtype=np.int64)
        encodings = [self._encoding(value, bits) & ((1 << bits) - 1) for _, value in variable.initial]
        words = self._store.constants(np.array(encodings, dtype=np.uint64), 8 * size)
        space.lanes.write(offsets, words)

    def _encoding(self, value: Initial, bits: int) -> int:
        match value:
            case Integer():
                return value.value
            case HexFloat() | Decimal():
                return float_encoding(value, bits)
            case Symbol():
                return self.address_of(value.name)
            case Displaced(base, offset):
                return self.address_of(base.name) + offset
            case GenericAddress(base, offset):
                return self.address_of(base.name) + offset
        raise InputError(f"{value} is not a supported initial value")


def _aligned(address: int, alignment: int) -> int:
    return -(-address // alignment) * alignment
