"""Memory of a Power program: arrays, stack, data of the object file, as terms byte by byte."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...contract.footprint import Footprint
from ...findings.finding import Kind
from ...machine.memory import ABSENT, ByteLanes, Naming, Region
from ...terms.interning import Ids
from ...terms.store import TermStore
from .stores_of_paths import StoreLog

Report = Callable[[Kind, str], None]
"""Notes a finding at the instruction that runs."""

Hold = Callable[[Kind, str, Ids], None]
"""Notes what is a finding if something comes to depend on undefined terms."""

BUFFERS = 0x1000_0000_0000
"""Where the memory that pointers lead to begins."""

_STRIDE = 1 << 36
"""Bytes between such."""

_PAGE = 1 << 16
"""Bytes of a page of Linux on Power: kernels look at no bit of an address above."""


@dataclass(frozen=True)
class Segment:
    """Memory of its own.

    Attributes
    ----------
    name : str
        For messages.
    address : int
        Where it begins.
    runs : Footprint
        Which of its bytes there are.
    size : int
        Bytes from its beginning to its end.
    writable : bool
        Whether it may be stored to.
    content : (array, array), optional
        Term and lowest bit of each byte; `ABSENT` and 0 where nobody has written.
    naming : callable, optional
        Tells what a byte is.
    unowned : array (size,), optional
        Bytes that may be read only by who writes them back.
    absent : str
        What is the matter with reading a byte that nobody wrote.
    results : array (size,), optional
        Bytes that somebody may read when the program has ended; all by default.
    """

    name: str
    address: int
    runs: Footprint
    size: int
    writable: bool
    content: tuple[Ids, NDArray[np.uint8]] | None = None
    naming: Naming | None = None
    unowned: NDArray[np.bool_] | None = None
    absent: str = ""
    results: NDArray[np.bool_] | None = None


class Storage:
    """All memory.

    Parameters
    ----------
    store : TermStore
        The terms.
    segments : iterable of Segment
        What there is.
    report, hold : callable
        Told what accesses do wrong, and what is wrong only if what they read is used.

    Attributes
    ----------
    lanes : ByteLanes
        Every byte.
    lines : array
        The line of the last store to each; 0 where there was none.
    log : StoreLog
        What ways of branches store.
    low : int
        The least address on the stack that may be used.
    alignments : dict of str to int
        To how many bytes segments must be aligned.
    """

    def __init__(self, store: TermStore, segments: Iterable[Segment], report: Report, hold: Hold) -> None:
        self._store, self._report, self._hold = store, report, hold
        self.segments = sorted(segments, key=lambda each: (each.address, each.size))  # empty ones may share
        self._regions: list[tuple[Region, Segment, int]] = []
        self._first: dict[str, int] = {}
        at = 0
        for segment in self.segments:
            self._first[segment.name] = at
            runs = segment.runs
            for offset, length in zip(runs.offsets.tolist(), runs.lengths.tolist(), strict=True):
                region = Region(
                    segment.name, segment.address + offset, length, offset, segment.size, segment.naming
                )
                self._regions.append((region, segment, at))
                at += length
        self._starts = [region.address for region, _, _ in self._regions]
        self.lanes = ByteLanes(store, at)
        self.lines = np.zeros(at, dtype=np.int32)
        self.log = StoreLog(self.lanes, self.lines)
        self._unowned = np.zeros(at, dtype=bool)
        for segment in self.segments:
            lanes = self.lanes_of(segment)
            if segment.content is not None:
                self.lanes.terms[lanes], self.lanes.lows[lanes] = segment.content
            if segment.unowned is not None:
                self._unowned[lanes] = segment.unowned
        self._has_unowned = bool(self._unowned.any())
        self.unowned_reads: list[tuple[int, str, NDArray[np.int64]]] = []
        self.alignments: dict[str, int] = {}
        self.low = 0

    def lanes_of(self, segment: Segment) -> slice:
        """Return the lanes of a segment."""
        first = self._first[segment.name]
        return slice(first, first + segment.runs.size)

    def locate(self, address: int, count: int, mnemonic: str, *, stores: bool) -> int | None:
        """Return the lane of an access of `count` bytes; None, reported, if it is not allowed."""
        index = bisect_right(self._starts, address) - 1
        does = "writes" if stores else "reads"
        if index >= 0:
            region, segment, lane = self._regions[index]
            offset = address - region.address
            if offset + count <= region.size:
                if stores and not segment.writable:
                    named = region.named(offset)
                    place = region.place(offset) + (f" ({named})" if named else "")
                    self._report(
                        Kind.OUT_OF_BOUNDS,
                        f"{mnemonic} writes {count} bytes at {place}, which is read-only",
                    )
                    return None
                if segment.name == STACK and address < self.low:
                    below = f"{self.low + RED_ZONE - address} bytes below the stack pointer"
                    message = f"{mnemonic} {does} {count} bytes {below}; {RED_ZONE} are the function's own"
                    self._report(Kind.OUT_OF_BOUNDS, message)
                    return None
                return lane + offset
        self._report(Kind.OUT_OF_BOUNDS, f"{mnemonic} {does} {count} bytes at {self.spelled(address)}")
        return None

    def spelled(self, address: int) -> str:
        """Describe an address that is not in memory."""
        nearest = min(
            (region for region, _, _ in self._regions),
            key=lambda r: max(r.address - address, address - (r.address + r.size - 1), 0),
            default=None,
        )
        if nearest is None or not -(1 << 32) < address - nearest.address < nearest.size + (1 << 32):
            return f"address {address:#x}"
        return nearest.beside(address)

    def place(self, lane: int) -> str:
        """Describe a byte."""
        region, _, first = next(each for each in reversed(self._regions) if each[2] <= lane)
        named = region.named(lane - first)
        return region.place(lane - first) + (f" ({named})" if named else "")

    def load(self, address: int, count: int, mnemonic: str, line: int) -> tuple[Ids, NDArray[np.uint8]]:
        """Return the bytes (count,) at an address: terms and lowest bits.

        What nobody has written is undefined; of what can't be read, which is reported, terms are `ABSENT`.
        """
        lane = self.locate(address, count, mnemonic, stores=False)
        if lane is None:
            return np.full(count, ABSENT, dtype=np.int32), np.zeros(count, dtype=np.uint8)
        terms = self.lanes.terms[lane : lane + count].copy()
        absent = terms == ABSENT
        if absent.any():
            terms[absent] = self._store.undefined(int(absent.sum()), 8)
            self._report_absent(lane + int(np.argmax(absent)), count, mnemonic, terms[absent])
        if self._has_unowned and self._unowned[lane : lane + count].any():
            own = lane + np.flatnonzero(self._unowned[lane : lane + count])
            self.unowned_reads.append((line, mnemonic, own))
        return terms, np.where(absent, np.uint8(0), self.lanes.lows[lane : lane + count])

    def _report_absent(self, lane: int, count: int, mnemonic: str, undefined: Ids) -> None:
        _, segment, _ = next(region for region in reversed(self._regions) if region[2] <= lane)
        message = f"{mnemonic} reads {count} bytes; {self.place(lane)} was never written"
        if segment.absent:
            self._report(Kind.UNSUPPORTED, f"{mnemonic} reads {self.place(lane)}: {segment.absent}")
        else:
            self._hold(Kind.UNINITIALISED, message, undefined)

    def save(self, address: int, terms: Ids, lows: NDArray[np.uint8], mnemonic: str, line: int) -> None:
        """Write bytes; what can't be written is reported and left out."""
        count = len(terms)
        lane = self.locate(address, count, mnemonic, stores=True)
        if lane is None:
            return
        self.log.note(np.arange(lane, lane + count))
        self.lanes.terms[lane : lane + count] = terms
        self.lanes.lows[lane : lane + count] = lows
        self.lines[lane : lane + count] = line

    def note_alignment(self, address: int, alignment: int) -> None:
        """Note that an access needs what it reaches to be aligned."""
        index = bisect_right(self._starts, address) - 1
        if index >= 0:
            name = self._regions[index][1].name
            self.alignments[name] = max(alignment, self.alignments.get(name, 1))


STACK = "the stack"
"""The stack's segment."""

RED_ZONE = 288
"""Bytes below the stack pointer that a function may use (ELFv2 section 2.2.3.4)."""


def buffer_addresses(sizes: Iterable[tuple[str, int, int]]) -> dict[str, int]:
    """Return an address for each (name, bytes, alignment): aligned so, and not better."""
    return _laid_out(sizes, lambda alignment: alignment)


def other_addresses(sizes: Sequence[tuple[str, int, int]]) -> Iterator[dict[str, int]]:
    """Yield addresses in the opposite order, of which the bits above the alignment are others, too.

    Where there are several, then such that each begins next to the end of the one before, in both orders.
    """
    behind = sizes[::-1]
    yield _laid_out(behind, lambda alignment: max(_PAGE, 4 * alignment) - 2 * alignment)
    for each in (sizes, behind) if len(sizes) > 1 else ():
        yield _laid_out(each, lambda alignment: 0, apart=0)


def _laid_out(
    sizes: Iterable[tuple[str, int, int]], offset: Callable[[int], int], apart: int = _STRIDE
) -> dict[str, int]:
    found, address = {}, BUFFERS
    for name, size, alignment in sizes:
        step = max(apart, alignment)
        found[name] = -(-address // step) * step + offset(alignment)
        address = found[name] + size + apart
    return found
