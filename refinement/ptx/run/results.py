"""What a run of the PTX machine leaves, and what it finds wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...findings.finding import KernelFinding, KernelNote, Kind
from ...findings.guard_outcomes import GuardOutcome
from ...machine.memory import ByteLanes, Offsets
from ...terms.interning import Ids
from ..registers.threads import WARP, Threads


@dataclass(frozen=True)
class Contents:
    """The final contents of a buffer.

    Attributes
    ----------
    lanes : ByteLanes
        Its bytes, as its footprint has them.
    lines : int32 array (size,)
        The line of the last store to each of them; 0 where there was none.
    threads : int64 array (size,)
        The thread of it, by its number in the grid; -1 where there was none.
    overwritten : Contents, optional
        One of the stores whose place others took that nothing orders after them.
    """

    lanes: ByteLanes
    lines: NDArray[np.int32]
    threads: NDArray[np.int64]
    overwritten: Contents | None = None


@dataclass(frozen=True)
class Statistics:
    """Counts and times of a run.

    Attributes
    ----------
    instructions : int
        Steps of the machine: an instruction for all the threads that run it together is one.
    thread_instructions : int
        Instructions, counted for every thread.
    threads : int
        Of the grid.
    barriers : int
        Barriers passed, counted for each block.
    terms : int
        Terms in the store.
    seconds : float
        Time.
    """

    instructions: int
    thread_instructions: int
    threads: int
    barriers: int
    terms: int
    seconds: float


@dataclass(frozen=True)
class Run:
    """The result of a run.

    Attributes
    ----------
    contents : mapping of str to Contents
        By the buffer's name.
    findings : tuple of KernelFinding
        The first few of each kind and line.
    occurrences : mapping of (Kind, int) to int
        How often each kind was met at each line, counting every thread.
    loads : mapping of int to array
        The input terms that each line loaded from the kernel's buffers, of a run that is traced.
    shared_loads : mapping of int to array
        Those that each line loaded from shared memory then.
    complete : bool
        Whether every thread came to its end; if not, the contents mean nothing.
    unordered : bool
        Whether floating-point sums may be made in an order (atomics), or fused with products, as PTX leaves
        open.
    reordered : bool
        Whether it is their order.
    alignments : mapping of str to int
        To how many bytes accesses need each buffer to be aligned.
    depends : array
        Terms that kept it from its end: an address or a branch depends on them.
    guards : tuple of GuardOutcome
        What guards were.
    statistics : Statistics
        What it took.
    assumptions : tuple of str
        What is taken for granted of how the blocks run.
    notes : tuple of KernelNote
        What is no fault.
    arrivals : mapping of int to tuple of int
        The threads that come one after the other to counts, in their order, where it matters who is last; by
        their numbers in the grid.
    arrival_line : int
        Where the first such count is.
    locked : frozenset of int
        Which of them are locks, of which the whole order matters.
    path : str
        The kernel's file.
    loose_races : bool
        Whether reads race with stores in ways that leave some value.
    cancelling : int
        The line of the first request to cancel a launch; 0 of none.
    clusters : int
        Clusters of the grid.
    alone : array
        Lanes of words of global memory that one thread alone changes by atomics, if results depend on what
        these return.
    """

    contents: Mapping[str, Contents]
    findings: tuple[KernelFinding, ...]
    occurrences: Mapping[tuple[Kind, int], int]
    loads: Mapping[int, Ids]
    shared_loads: Mapping[int, Ids]
    complete: bool
    unordered: bool
    reordered: bool
    alignments: Mapping[str, int]
    depends: Ids
    guards: tuple[GuardOutcome, ...]
    statistics: Statistics
    _threads: Threads
    assumptions: tuple[str, ...] = ()
    notes: tuple[KernelNote, ...] = ()
    arrivals: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    arrival_line: int = 0
    locked: frozenset[int] = frozenset()
    path: str = ""
    loose_races: bool = False
    cancelling: int = 0
    clusters: int = 1
    alone: Offsets = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def block_threads(self) -> int:
        """How many of `Contents.threads` are those of a block."""
        return self._threads.warps * WARP

    def thread_name(self, number: int) -> str:
        """Return block and thread of `Contents.threads`, for a message."""
        return self._threads.name_in_grid(number)
