"""The cells of tensor memory: 128 lanes of 512 columns of 32 bits for each block, allocated by columns.

A cell holds a term, or nothing. Of each cell is kept which operation wrote it last, and of operations that
read, which cells they do. A use is in order behind another if whoever issues it knows that to be over; a few
pairs follow each other in the order in which they are issued (`pipelined`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ....spec.ptx.tensor_memory.kinds import COLUMNS, CTA_LANES
from ...findings.finding import Kind
from ...machine.memory import ABSENT
from ...terms.interning import Ids
from ..order.snapshots import Snapshot
from ..state.execution import Execution
from ..state.held import Held
from .uses import (
    COPIES_FOLLOW,
    NAMES,
    NO_FENCE,
    ONE_THREAD,
    WAITS,
    Clocks,
    Operation,
    Sort,
    is_issued,
    is_over,
)

LANE_BITS = 16
"""An address has the lane above these bits, the column below."""

CELL_BITS = 32


Places = NDArray[np.int64]
"""Cells of a block: 512 times the lane, and the column."""


@dataclass(frozen=True)
class _Reading:
    """An operation that reads cells of a block, ascending."""

    operation: Operation
    block: int
    places: Places


def spelled(place: int) -> str:
    """Describe a cell for a message."""
    lane, column = divmod(place, COLUMNS)
    return f"lane {lane}, column {column} of tensor memory"


class Cells(Held):
    """The tensor memory of the blocks of a batch.

    Attributes
    ----------
    owner : array (blocks, 512)
        The line of the allocation that each column belongs to; 0 where nobody had it, negative where it was
        freed: the line where.
    """

    KEY = "tensor memory"

    def __init__(self, blocks: int) -> None:
        self._terms: Ids = np.full((blocks, CTA_LANES * COLUMNS), ABSENT, dtype=np.int32)
        self._writer = np.zeros((blocks, CTA_LANES * COLUMNS), dtype=np.int32)
        self.owner = np.zeros((blocks, COLUMNS), dtype=np.int64)
        self._operations: list[Operation] = []
        self._readings: list[_Reading] = []

    @classmethod
    def begun(cls, execution: Execution) -> Self:
        """See `Held.begun`."""
        return cls(len(execution.threads.blocks))

    # -- snapshots
    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`; what cells hold is left out."""
        snapshot.take(self.owner)
        snapshot.take(self._terms != ABSENT)
        numbers, last = np.unique(self._writer, return_inverse=True)
        snapshot.take(last)
        snapshot.take([self._operations[number - 1] for number in numbers.tolist() if number])
        snapshot.take(self._readings)

    @property
    def contents(self) -> Ids:
        """What the cells hold that hold something."""
        found: Ids = self._terms[self._terms != ABSENT]
        return found

    def put(self, words: Ids) -> None:
        """Let them hold something else."""
        self._terms[self._terms != ABSENT] = words

    # -- columns
    def allocate(self, block: int, column: int, count: int, operation: Operation) -> None:
        """Give columns to a block, with nothing in them."""
        self.owner[block, column : column + count] = operation.line
        places = _whole(column, count)
        self._terms[block, places] = ABSENT
        self._operations.append(operation)
        self._writer[block, places] = len(self._operations)

    def free(self, execution: Execution, block: int, column: int, count: int, thread: int) -> None:
        """Take columns back; whoever uses them must be over for the thread."""
        places = _whole(column, count)
        for other in self._former_writers(block, places):
            if not is_over(execution, [thread], other, as_read=True):
                self._report(execution, "frees", other, block, places, thread)
                break
        self._check_readers(execution, [thread], block, places, "frees")
        self._readings = [
            reading
            for reading in self._readings
            if reading.block != block or not np.isin(reading.places, places).any()
        ]
        self.owner[block, column : column + count] = -execution.instruction.line
        self._terms[block, places] = ABSENT
        self._writer[block, places] = 0

    def inside(self, execution: Execution, block: int, lanes: Places, columns: Places, thread: int) -> bool:
        """Tell whether cells are of columns that are allocated; report others."""
        uses = f"{execution.instruction.mnemonic} uses"
        beyond = (lanes < 0) | (lanes >= CTA_LANES) | (columns < 0) | (columns >= COLUMNS)
        if beyond.any():
            lane, column = int(lanes[beyond][0]), int(columns[beyond][0])
            cell = f"lane {lane}, column {column} of tensor memory"
            message = f"{uses} {cell}, which has {CTA_LANES} lanes of {COLUMNS} columns"
            execution.report(Kind.OUT_OF_BOUNDS, message, np.array([thread]))
            return False
        owners = self.owner[block, columns]
        if (owners <= 0).any():
            at = int(np.flatnonzero(owners <= 0)[0])
            freed = -int(owners[at])
            why = f"line {freed} has freed" if freed else "is not allocated"
            message = f"{uses} column {int(columns[at])} of tensor memory, which {why}"
            execution.report(Kind.OUT_OF_BOUNDS, message, np.array([thread]), other_line=freed)
            return False
        return True

    # -- contents
    def read(
        self,
        execution: Execution,
        block: int,
        places: Places,
        operation: Operation,
        threads: list[int],
        *,
        pipelined: tuple[Sort, ...] = (),
        kept: bool = True,
        needed: bool = False,
    ) -> Ids:
        """Return the words (n,) that cells hold for an operation that threads issue, and note that it reads.

        What `pipelined` sorts of operations wrote need only be issued before. With `kept` others must not
        write there until the operation is known to be over. With `needed` it is wrong to read what nobody has
        written, even where nothing comes to depend on it.
        """
        for other in self._former_writers(block, places):
            if not self._follows(execution, operation, threads, other, pipelined):
                self._report(execution, "reads", other, block, places, threads[0])
                break
        if kept:
            self._keep(execution, _Reading(operation, block, np.unique(places)), threads)
        words: Ids = self._terms[block, places]
        absent = words == ABSENT
        if absent.any():
            undefined = execution.store.undefined(int(absent.sum()), CELL_BITS)
            words = words.copy()
            words[absent] = undefined
            message = (
                f"{execution.instruction.mnemonic} reads {spelled(int(places[absent][0]))}, "
                "which was never written"
            )
            execution.report(
                Kind.UNINITIALISED, message, np.array(threads[:1]), undefined=None if needed else undefined
            )
        return words

    def write(
        self,
        execution: Execution,
        block: int,
        places: Places,
        words: Ids,
        operation: Operation,
        threads: list[int],
        *,
        pipelined: tuple[Sort, ...] = (),
    ) -> None:
        """Put words (n,) into cells, for an operation that threads issue."""
        for other in self._former_writers(block, places):
            if self._follows(execution, operation, threads, other, pipelined):
                continue
            if operation.sort is other.sort is Sort.STORE and operation.agent == other.agent:
                execution.unsupported(
                    f"{execution.instruction.mnemonic} writes cells that line {other.line} writes, with no "
                    "tcgen05.wait::st between: their order is not documented"
                )
            self._report(execution, "writes", other, block, places, threads[0], operation=operation)
            break
        self._check_readers(execution, threads, block, places, "writes", operation)
        self._terms[block, places] = words
        self._operations.append(operation)
        self._writer[block, places] = len(self._operations)

    # -- order
    def _former_writers(self, block: int, places: Places) -> list[Operation]:
        numbers = np.unique(self._writer[block, places])
        return [self._operations[number - 1] for number in numbers.tolist() if number]

    def _follows(
        self,
        execution: Execution,
        operation: Operation,
        threads: list[int],
        other: Operation,
        pipelined: tuple[Sort, ...],
    ) -> bool:
        if other.sort in pipelined and operation.shape == (other.shape or operation.shape):
            return all(is_issued(execution, thread, other) for thread in threads)
        over = is_over(execution, threads, other)
        if over:
            self._look_for_fences(execution, threads, other)
        return over or self._is_queued(execution, operation, other)

    @staticmethod
    def _is_queued(execution: Execution, operation: Operation, other: Operation) -> bool:
        """Tell whether an operation is a copy that is taken to follow another one of its thread."""
        if operation.sort is not Sort.COPY or operation.agent != other.agent:
            return False
        taken = NAMES[Sort.COPY] in execution.mended
        if taken:
            execution.assumptions[COPIES_FOLLOW] = None
        return taken

    def _look_for_fences(self, execution: Execution, threads: list[int], other: Operation) -> None:
        """Report, or take for granted, a use that is in order only if no fence is needed."""
        clocks = Clocks.of(execution)
        lacking = [thread for thread in threads if not clocks.has_fences(execution, thread, other)]
        if lacking and execution.instruction.opcode in execution.mended:
            execution.assumptions[NO_FENCE] = None
        elif lacking:
            execution.report(
                Kind.RACE,
                f"{execution.instruction.mnemonic} uses what {NAMES[other.sort]} of line {other.line} used, "
                "with no tcgen05.fence::before_thread_sync and after_thread_sync around the barrier between",
                np.array(lacking[:1]),
                other_line=other.line,
            )

    def _keep(self, execution: Execution, reading: _Reading, threads: list[int]) -> None:
        """Keep what reads; what reads no other cells, and is over for the threads, is forgotten."""
        self._readings = [
            each
            for each in self._readings
            if each.block != reading.block
            or not is_over(execution, threads, each.operation)
            or not np.isin(each.places, reading.places, assume_unique=True).all()
        ]
        self._readings.append(reading)

    def _check_readers(
        self,
        execution: Execution,
        threads: list[int],
        block: int,
        places: Places,
        does: str,
        operation: Operation | None = None,
    ) -> None:
        for reading in self._readings:
            if reading.block != block:
                continue
            shared = places[np.isin(places, reading.places)]
            if len(shared) and is_over(execution, threads, reading.operation, as_read=True):
                if does == "writes":
                    self._look_for_fences(execution, threads, reading.operation)
            elif len(shared) and not (operation and self._is_queued(execution, operation, reading.operation)):
                self._report(
                    execution,
                    does,
                    reading.operation,
                    block,
                    shared,
                    threads[0],
                    reads=True,
                    operation=operation,
                )
                return

    def _report(
        self,
        execution: Execution,
        does: str,
        other: Operation,
        block: int,
        places: Places,
        thread: int,
        *,
        reads: bool = False,
        operation: Operation | None = None,
    ) -> None:
        """Report a use of cells that another one has not done with."""
        if not reads:
            numbers = self._writer[block, places]
            mine = [number for number in np.unique(numbers).tolist() if number]
            wanted = next(number for number in mine if self._operations[number - 1] is other)
            places = places[numbers == wanted]
        may = "read" if reads else "write"
        mnemonic, cell = execution.instruction.mnemonic, spelled(int(places[0]))
        same = operation is not None and operation.sort is Sort.COPY and operation.agent == other.agent
        execution.report(
            Kind.RACE,
            f"{mnemonic} {does} {cell}, which {NAMES[other.sort]} of line {other.line} may still {may}: "
            f"no {WAITS[other.sort]} and what tells the thread of it lie between{ONE_THREAD * same}",
            np.array([thread]),
            other_line=other.line,
        )


def uses_cells(execution: Execution) -> bool:
    """Tell whether tensor memory has been used."""
    return Cells.KEY in execution.state


def _whole(column: int, count: int) -> Places:
    return (np.arange(CTA_LANES)[:, None] * COLUMNS + np.arange(column, column + count)).reshape(-1)


def split_address(address: int) -> tuple[int, int]:
    """Return lane and column of an address."""
    return address >> LANE_BITS, address & ((1 << LANE_BITS) - 1)
