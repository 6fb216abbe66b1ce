"""The state that all parts of a running core share: terms, arrays, buffers, pipes, findings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....spec.pto.choices import LINE, Choices
from ....spec.pto.fractal import is_row_of_scales
from ....spec.pto.targets import A2A3, Profile
from ....spec.pto.tile import Location
from ...findings.finding import Kind
from ...machine.memory import Offsets
from ...terms.algebra import TermAlgebra
from ...terms.interning import Ids
from ...terms.store import TermStore
from ..pipes.access_history import NONE, PIPES, Pipe, Stamp
from ..pipes.channels import Channels
from ..pipes.distinct_findings import Findings
from ..pipes.queues import Pipes, Ready, Run
from ..tiles.global_arrays import GlobalArray
from ..tiles.scalar_arithmetic import ScalarArithmetic
from ..tiles.tile_buffers import Elements, TileBuffer, TileMemory
from ..tiles.undefined_reads import UndefinedReads
from ..tiles.unit_flags import UnitFlags

Reserved = tuple[Location, int, int, int]
"""A buffer, where memory in it begins and ends, in bytes, and the line that says so."""

SCALES_IN_A_LINE = (
    f"scale factors of a one-row tile lie in a line (one-row-scales={LINE}), which no source confirms"
)
"""What a verdict on a kernel takes for granted that has such a tile."""

IN_ORDER = (
    "vector instructions of A2A3 are over before the next one that uses what they wrote begins, also with no "
    "barrier of PIPE_V between them"
)
"""What a verdict on a kernel that orders pipes takes for granted; see Ascend C's PipeBarrier."""

CORES = 2
"""Of a block, at most: one for products, one for vectors."""

Combined = Callable[[Ids, Ids], Ids]
"""From words (n,) in memory, and words stored, to what memory holds then."""


@dataclass
class Counts:
    """Counts of executed operations."""

    instructions: int = 0
    products: int = 0
    multiply_adds: int = 0
    moves: int = 0


class Execution:
    """A running core, and the state that it shares with others.

    Parameters
    ----------
    store : TermStore
        The terms.
    profile : Profile
        Who runs the kernel.
    choices : Choices
        Readings of what documents leave open.
    arrays : iterable of GlobalArray
        Global memory.
    findings : Findings
        Takes what is found.
    explicit : bool
        Whether the kernel puts the pipes in order itself.
    traced : bool
        Whether what each line loads is kept.
    undefined : UndefinedReads
        What is read though nobody wrote it.
    channels : Channels
        What cores push to each other.
    core : int
        Which one of the block's cores.

    Attributes
    ----------
    unplaced : list of TileBuffer
        Tiles of the running block that have no address of their own.
    reserved : list of Reserved
        Memory that it keeps for tiles that another core pushes.
    assumptions : dict of str to None
        Readings of what documents leave open that the tiles it used rest on, in order.
    """

    def __init__(
        self,
        store: TermStore,
        profile: Profile,
        choices: Choices,
        arrays: Iterable[GlobalArray],
        findings: Findings,
        *,
        explicit: bool,
        traced: bool,
        undefined: UndefinedReads,
        channels: Channels,
        core: int = 0,
    ) -> None:
        self.store, self.profile, self.choices = store, profile, choices
        self.algebra = TermAlgebra(store)
        self.scalars = ScalarArithmetic(store)
        self.undefined, self.channels, self.core = undefined, channels, core
        self.counts = Counts()
        self.findings = findings
        self.block = 0
        self.line = 0
        self.unordered = False
        self.assumptions: dict[str, None] = {}
        self.alignments: dict[str, int] = {}
        self.loads: dict[int, list[Ids]] = {}
        self.local_loads: dict[int, list[Ids]] = {}
        self._explicit, self._traced = explicit, traced
        self._arrays = tuple(arrays)
        self._memories: dict[Location, TileMemory] = {}
        self.unplaced: list[TileBuffer] = []
        self.reserved: list[Reserved] = []
        self.pipes = Pipes(self.report, self.assumptions, explicit=explicit)
        self.unit_flags = UnitFlags(self.pipes)

    def begin(self, block: int) -> None:
        """Begin with a block: on a core of its own, as far as it knows."""
        self.block = block
        self._memories, self.unplaced, self.reserved = {}, [], []
        self.pipes = Pipes(self.report, self.assumptions, explicit=self._explicit)
        self.unit_flags = UnitFlags(self.pipes)
        for array in self._arrays:
            array.history.forget()

    def report(self, kind: Kind, message: str, line: int, what: str = "") -> None:
        """Take a finding of the running block."""
        self.findings.report(kind, message, line, block=self.block, what=what)

    def issue(self, pipe: Pipe, name: str, run: Run, ready: Ready | None = None) -> None:
        """Hand an operation of the running line to a pipe, which holds it until it is ready."""
        self.counts.instructions += 1
        line = self.line

        def at_its_line(stamp: Stamp) -> None:
            self.store.line = line
            run(stamp)

        self.pipes.issue(pipe, line, name, at_its_line, ready)

    def memory(self, location: Location, size: int) -> TileMemory:
        """Return an on-chip buffer of so many bytes at least."""
        if location not in self._memories:
            self._memories[location] = TileMemory(self.store, self.profile.capacities.get(location, 0))
        found = self._memories[location]
        found.hold(size)
        return found

    @property
    def placed(self) -> Collection[Location]:
        """The buffers in which tiles have addresses."""
        return self._memories.keys()

    # -- tiles
    def read_tile(self, tile: TileBuffer, elements: Elements, stamp: Stamp) -> Ids:
        """Return elements (…) of a tile, by their numbers in its buffer."""
        flat = np.asarray(elements, dtype=np.int64).reshape(-1)
        self._note_tile(tile, flat, stamp, writes=False)
        terms = self.undefined.read(
            tile.memory.lanes,
            tile.offsets(flat),
            tile.width,
            stamp.line,
            lambda number: f"element {int(flat[number])} of the buffer of {tile.name}",
        )
        if self._traced:
            self.local_loads.setdefault(stamp.line, []).append(np.unique(terms))
        return terms.reshape(np.shape(elements))

    def write_tile(self, tile: TileBuffer, elements: Elements, terms: Ids, stamp: Stamp) -> None:
        """Write elements (n,) of a tile."""
        self._note_tile(tile, elements, stamp, writes=True)
        if len(elements):
            tile.memory.lanes.write(tile.offsets(elements), terms)

    def _note_tile(self, tile: TileBuffer, elements: Elements, stamp: Stamp, *, writes: bool) -> None:
        tile.memory.use(self.counts.instructions)
        if is_row_of_scales(tile.tile):
            self.assumptions[SCALES_IN_A_LINE] = None
        if not self.pipes.explicit or not len(elements):
            return
        lanes = tile.lanes(elements)
        for number, lane in tile.memory.history.note(lanes, stamp, writes=writes):
            place = f"byte {lane - tile.address} of {tile.name}"
            self._check_order(self.pipes.stamps[number], stamp, place, writes=writes)

    def _check_order(self, earlier: Stamp, stamp: Stamp, place: str, *, writes: bool) -> None:
        if stamp.follows(earlier):
            by_order = earlier.pipe == stamp.pipe == PIPES.index(Pipe.V) and earlier.ordinal > stamp.settled
            if by_order and self.profile is A2A3:
                self.assumptions[IN_ORDER] = None
            return
        done = "writes" if writes else "reads"
        self.report(
            Kind.RACE,
            f"{stamp.name} {done} {place}, which {earlier.name} in line {earlier.line} uses, and nothing "
            f"makes {_pipe(stamp)} wait for {_pipe(earlier)}",
            stamp.line,
            what=f"{earlier.line}",
        )

    # -- global memory
    def read_global(self, array: GlobalArray, offsets: Offsets, size: int, stamp: Stamp) -> Ids:
        """Return words (n,) of `size` bytes of an array; undefined ones outside of it."""
        inside = self._inside(array, offsets, size, stamp, "reads")
        terms = np.empty(len(offsets), dtype=np.int32)
        lanes = array.lanes_of(offsets[inside])
        self._note_global(array, lanes, size, stamp, writes=False)
        held = self.undefined.read(
            array.lanes, lanes, size, stamp.line, lambda number: array.place(int(offsets[inside][number]))
        )
        strange = array.unowned(lanes, size)
        places = offsets[inside][strange]
        held[strange] = self.undefined.fresh(
            len(places), 8 * size, stamp.line, lambda number: array.place(int(places[number]))
        )
        terms[inside] = held
        missing = offsets[~inside]
        terms[~inside] = self.undefined.fresh(
            len(missing), 8 * size, 0, lambda number: array.place(int(missing[number]))
        )
        if self._traced:
            self.loads.setdefault(stamp.line, []).append(np.unique(terms))
        return terms

    def write_global(
        self,
        array: GlobalArray,
        offsets: Offsets,
        terms: Ids,
        stamp: Stamp,
        combined: Combined | None = None,
    ) -> None:
        """Write words (n,) to an array, those outside of it nowhere.

        Parameters
        ----------
        array : GlobalArray
            The array.
        offsets : array (n,)
            Bytes from its beginning.
        terms : array (n,)
            The words.
        stamp : Stamp
            Who writes.
        combined : callable, optional
            What is written, of what is there and these words: nobody else comes in between.
        """
        if not len(offsets):
            return
        size = int(self.store.widths(terms[:1])[0]) // 8
        inside = self._inside(array, offsets, size, stamp, "writes")
        if not array.writable and inside.any():
            place = array.place(int(offsets[inside][0]))
            self.report(Kind.CLOBBERED, f"{stamp.name} writes {place}, which is read-only", stamp.line)
            return
        lanes = array.lanes_of(offsets[inside])
        written = terms[inside]
        same = array.lanes.written(lanes, size) & (combined is None)
        same[same] = array.lanes.read(lanes[same], size) == written[same]
        self._note_global(array, lanes, size, stamp, writes=True, adds=combined is not None, same=same)
        if not len(lanes):
            return
        if combined is not None:
            before = self.undefined.read(
                array.lanes, lanes, size, stamp.line, lambda number: array.place(int(offsets[inside][number]))
            )
            written = combined(before, written)
        array.write(lanes, written, stamp.line, self.block)

    def _inside(
        self, array: GlobalArray, offsets: Offsets, size: int, stamp: Stamp, done: str
    ) -> NDArray[np.bool_]:
        outside = array.outside(offsets, size)
        if outside.any():
            place = array.place(int(offsets[np.argmax(outside)]))
            count = int(outside.sum())
            more = f" (and {count - 1} more elements)" if count > 1 else ""
            self.report(Kind.OUT_OF_BOUNDS, f"{stamp.name} {done} {place}{more}", stamp.line)
        return ~outside

    def _note_global(
        self,
        array: GlobalArray,
        offsets: Offsets,
        size: int,
        stamp: Stamp,
        *,
        writes: bool,
        adds: bool = False,
        same: NDArray[np.bool_] | bool = False,
    ) -> None:
        if not len(offsets):
            return
        lanes = (offsets[:, None] + np.arange(size)).reshape(-1)
        done = "writes" if writes else "reads"
        own = self.block * CORES + self.core
        same = np.repeat(np.broadcast_to(same, len(offsets)), size)
        met = array.blocks.note(lanes, own, stamp.line, writes=writes, adds=adds, same=same)
        if met is not None and met[0] != NONE and met[0] // CORES == self.block:
            message = f"{stamp.name} {done} elements of {array.name} that the other core uses too"
            self.report(Kind.UNSUPPORTED, message, stamp.line, what="cores")
        elif met is not None:
            other, line, _ = met
            other = other if other == NONE else other // CORES
            who = "other blocks" if other == NONE else f"block {other}"
            use = f"writes in line {line}" if line else "reads"
            self.report(
                Kind.RACE,
                f"{stamp.name} {done} elements of {array.name} that {who} {use}, and nothing orders "
                "the blocks",
                stamp.line,
                what="blocks",
            )
        if self.pipes.explicit:
            for number, lane in array.history.note(lanes, stamp, writes=writes):
                self._check_order(
                    self.pipes.stamps[number], stamp, f"byte {lane} of {array.name}", writes=writes
                )


def _pipe(stamp: Stamp) -> str:
    return str(list(Pipe)[stamp.pipe])
