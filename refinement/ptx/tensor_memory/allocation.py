"""``tcgen05.alloc``, ``dealloc`` and ``relinquish_alloc_permit``: columns of tensor memory, by whole warps.

Which columns an allocation gets is open: they begin at a multiple of 32 and of no higher power of two, half
of them at the second half, where there is room. Source: PTX ISA 9.1 section 9.7.16 (tcgen05.alloc,
tcgen05.dealloc).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ....spec.ptx.operands import Integer
from ....spec.ptx.tensor_memory.kinds import COLUMNS
from ....spec.ptx.tensor_memory.rows import ALLOCATIONS
from ...findings.finding import Kind
from ..memory.addressing import addresses, space_of
from ..memory.asynchronous_uses import note_addresses
from ..memory.memory_access import store
from ..registers.threads import Indices
from ..state.execution import Execution, Step
from ..state.held import Held
from ..text.module import InstructionStatement
from .cells import Cells
from .operands import Written, of_each_warp, refuse_on_data, written
from .uses import Clocks, Operation, Sort

_UNIT = ALLOCATIONS[0]
"""Columns that allocations are multiples of."""

PLACED = (
    "tcgen05.alloc gives columns that begin at a multiple of 32, and no more than the 512 of one block are "
    "wanted at once, also by other blocks on the same multiprocessor"
)
"""What a verdict on a kernel takes for granted that allocates tensor memory."""


@dataclass
class Allocations(Held):
    """The allocations of a batch.

    Attributes
    ----------
    live : dict of (int, int) to (int, int)
        By block and first column: columns, and the line of the allocation.
    relinquished : dict of int to int
        The blocks that allocate no more, and the line that says so.
    smallest : dict of int to int
        Columns of the last allocation of each block.
    """

    KEY = "allocations of tensor memory"

    live: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    relinquished: dict[int, int] = field(default_factory=dict)
    smallest: dict[int, int] = field(default_factory=dict)

    def report_left(self, execution: Execution) -> None:
        """Report what is allocated still when all threads have ended."""
        for (block, column), (count, line) in self.live.items():
            thread = np.flatnonzero(execution.threads.block == block)[:1]
            execution.report(
                Kind.UNDEFINED,
                f"the kernel ends, and the {count} columns of tensor memory from {column} on that line "
                f"{line} allocates are not freed",
                thread,
                other_line=line,
            )


def _leaves_room(execution: Execution) -> bool:
    """Tell whether all that a kernel allocates fits, once each, with the first columns left free."""
    found = 0
    for each in execution.function.body:
        if each.opcode == "tcgen05" and each.has("alloc"):
            count = each.operands[-1]
            found += count.value if isinstance(count, Integer) else COLUMNS
    return found <= COLUMNS - _UNIT


def _first_free(cells: Cells, blocks: tuple[int, ...], count: int, *, apart: bool) -> int | None:
    """Return where an allocation begins in each of some blocks; None where there is no room.

    Where it is to be `apart` from column 0, it is not there: a kernel that takes the address for 0 uses
    columns that are not its own.
    """
    free = np.logical_and.reduce(cells.owner[list(blocks)] <= 0)
    starts = [at for at in range(0, COLUMNS - count + 1, _UNIT) if free[at : at + count].all()]
    if apart:
        odd = [at for at in starts if at // _UNIT % 2 and count < COLUMNS // 2]
        starts = [*odd, *reversed(starts)]
    return next(iter(starts), None)


def wishes_of(execution: Execution, text: Written, warps: Indices) -> tuple[list[int], list[int]]:
    """Return columns and address (warps,) that whole warps (warps, 32) name."""
    lanes = warps.reshape(-1)
    place = text.operands.get("taddr")
    counts = execution.numbers(text.operands["nCols"], 32, lanes, "the number").astype(np.int64)
    if place is None:
        at = addresses(execution, text.operands["dst"], lanes).astype(np.int64)
    else:
        at = execution.numbers(place, 32, lanes, "the address").astype(np.int64)
    return (
        of_each_warp(execution, counts, warps, "nCols").tolist(),
        of_each_warp(execution, at, warps, "the address").tolist(),
    )


def allocate(instruction: InstructionStatement) -> Step:
    """Decode ``tcgen05.alloc`` of one CTA."""
    text = written(instruction)

    def step(execution: Execution, active: Indices) -> None:
        refuse_on_data(execution)
        warps = execution.whole_warps(active)
        if not len(warps):
            return
        counts, _ = wishes_of(execution, text, warps)
        given = []
        for warp, count in zip(warps, counts, strict=True):
            thread, block = int(warp[0]), int(execution.threads.block[warp[0]])
            operation = Clocks.of(execution).begin(execution, Sort.ALLOCATION, thread)
            given.append(give(execution, (block,), thread, count, operation))
        done = [index for index, column in enumerate(given) if column is not None]
        if done:
            store_addresses(execution, text, warps[done], [given[index] or 0 for index in done])

    return step


def store_addresses(execution: Execution, text: Written, warps: Indices, columns: list[int]) -> None:
    """Store the addresses (warps,) of columns where warps (warps, 32) say."""
    execution.assumptions[PLACED] = None
    _, places = wishes_of(execution, text, warps)
    words = execution.store.constants(np.array(columns, dtype=np.uint64), 32)
    note_addresses(execution)
    space = space_of(execution, text.instruction)
    at = np.array(places, dtype=np.uint64)
    store(execution, space, at, words.reshape(-1, 1), warps[:, 0], by_warps=True)


def give(
    execution: Execution, blocks: tuple[int, ...], thread: int, count: int, operation: Operation
) -> int | None:
    """Allocate columns of some blocks, the same in each, and return the first; None if there are none."""
    found, cells = Allocations.of(execution), Cells.of(execution)
    mnemonic, who = execution.instruction.mnemonic, np.array([thread])
    if count not in ALLOCATIONS:
        allowed = ", ".join(map(str, ALLOCATIONS))
        execution.report(Kind.UNDEFINED, f"{mnemonic} of {count} columns; allowed: {allowed}", who)
        return None
    for block in blocks:
        if (line := found.relinquished.get(block)) is not None:
            message = f"{mnemonic} after line {line} has given up the permit to allocate"
            execution.report(Kind.UNDEFINED, message, who, other_line=line)
            return None
        if count > found.smallest.get(block, count):
            message = (
                f"{mnemonic} of {count} columns after one of {found.smallest[block]}: sizes must not increase"
            )
            execution.report(Kind.UNDEFINED, message, who)
    column = _first_free(cells, blocks, count, apart=_leaves_room(execution))
    if column is None:
        execution.unsupported(f"{mnemonic} waits for {count} columns that are not free when it runs")
    for block in blocks:
        found.smallest[block] = count
        found.live[block, column] = count, execution.instruction.line
        cells.allocate(block, column, count, operation)
    return column


def deallocate(instruction: InstructionStatement) -> Step:
    """Decode ``tcgen05.dealloc`` of one CTA."""
    text = written(instruction)

    def step(execution: Execution, active: Indices) -> None:
        refuse_on_data(execution)
        warps = execution.whole_warps(active)
        if not len(warps):
            return
        for warp, count, at in zip(warps, *wishes_of(execution, text, warps), strict=True):
            take(execution, int(execution.threads.block[warp[0]]), int(warp[0]), count, at)

    return step


def take(execution: Execution, block: int, thread: int, count: int, at: int) -> None:
    """Free the columns of a block that a thread's warp names."""
    found, cells = Allocations.of(execution), Cells.of(execution)
    mnemonic, who = execution.instruction.mnemonic, np.array([thread])
    if (block, at) not in found.live:
        freed = -int(cells.owner[block, at]) if 0 <= at < COLUMNS else 0
        why = f", which line {freed} has freed" if freed > 0 else ", where no allocation begins"
        execution.report(Kind.UNDEFINED, f"{mnemonic} of address {at:#x}{why}", who, other_line=max(0, freed))
        return
    size, line = found.live[block, at]
    if size != count:
        message = f"{mnemonic} of {count} columns; line {line} allocates {size} there"
        execution.report(Kind.UNDEFINED, message, who, other_line=line)
    cells.free(execution, block, at, size, thread)
    del found.live[block, at]


def relinquish(instruction: InstructionStatement) -> Step:
    """Decode ``tcgen05.relinquish_alloc_permit``."""
    written(instruction)

    def step(execution: Execution, active: Indices) -> None:
        refuse_on_data(execution)
        for warp in execution.whole_warps(active):
            block = int(execution.threads.block[warp[0]])
            Allocations.of(execution).relinquished.setdefault(block, execution.instruction.line)

    return step
