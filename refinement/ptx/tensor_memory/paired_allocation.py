"""``tcgen05.alloc`` and ``dealloc`` of pairs of CTAs: a warp of each comes, and each waits for the other.

Both CTAs get the same columns. That one of the two goes on when the other has come tells it of the allocation
alone, not of memory. Source: PTX ISA 9.1 section 9.7.16 (tcgen05.alloc, tcgen05.dealloc).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...findings.finding import Kind
from ..registers.threads import WARP, Indices
from ..state.execution import Execution
from ..state.held import Held
from ..text.module import InstructionStatement
from .allocation import give, store_addresses, take, wishes_of
from .operands import Written, blocks_of, refuse_on_data, written
from .uses import Clocks

_NAMES = ("alloc", "dealloc")

TOGETHER = (
    "tcgen05.alloc and dealloc with .cta_group::2 complete when a warp of each CTA has reached them, so that "
    "each need only know that its own CTA's columns are no longer used"
)
"""What a verdict rests on where pairs of CTAs allocate: PTX says that they may wait."""


def waits_for_its_pair(instruction: InstructionStatement) -> bool:
    """Tell whether an instruction is one of these."""
    return (
        instruction.opcode == "tcgen05"
        and instruction.has("cta_group::2")
        and any(instruction.has(name) for name in _NAMES)
    )


@dataclass
class _Request:
    """What a warp asks for.

    Attributes
    ----------
    block : int
        Its CTA, as index into the batch's blocks.
    thread : int
        Its first thread.
    name : str
        ``alloc`` or ``dealloc``.
    count : int
        Columns.
    line : int
        Where.
    column : int, optional
        The first of the columns that it gets.
    met : bool
        Whether a warp of the other CTA has come.
    """

    block: int
    thread: int
    name: str
    count: int
    line: int
    column: int | None = None
    met: bool = False


class PairedAllocations(Held):
    """The allocations of pairs that warps of a batch wait for.

    Attributes
    ----------
    ended : int
        How often two warps have met.
    """

    KEY = "allocations of pairs"

    def __init__(self) -> None:
        self._requests: dict[int, _Request] = {}
        self.ended = 0

    def passed(
        self, execution: Execution, instruction: InstructionStatement, active: Indices
    ) -> NDArray[np.bool_]:
        """Return which threads (n active,) have what they ask for; the others wait.

        Raises
        ------
        UnsupportedError
            If data decide over it, or there is no pair.
        """
        text = written(instruction)
        refuse_on_data(execution)
        found = np.ones(len(active), dtype=bool)
        warps = execution.whole_warps(active)
        new = np.array([int(warp[0]) not in self._requests for warp in warps], dtype=bool)
        if new.any():
            self._ask(execution, text, warps[new])
        for warp in warps:
            request = self._requests[int(warp[0])]
            if not request.met:
                found[active // WARP == request.thread // WARP] = False
                continue
            del self._requests[request.thread]
            if request.column is not None:
                store_addresses(execution, text, warp[None, :], [request.column])
        return found

    def _ask(self, execution: Execution, text: Written, warps: Indices) -> None:
        """Note what warps ask for, and let those have it whose other CTA has asked."""
        name = next(name for name in _NAMES if text.instruction.has(name))
        counts, places = wishes_of(execution, text, warps)
        for warp, count, place in zip(warps, counts, places, strict=True):
            block, thread = int(execution.threads.block[warp[0]]), int(warp[0])
            request = _Request(block, thread, name, count, execution.instruction.line)
            mine = (each for each in self._requests.values() if each.block == block and not each.met)
            if any(each.name == name for each in mine):
                execution.unsupported(f"{text.instruction.mnemonic} by two warps of a CTA at once")
            if name == "dealloc":
                take(execution, block, thread, count, place)
            self._requests[thread] = request
            pair = blocks_of(execution, text, block)
            other = next(
                (
                    each
                    for each in self._requests.values()
                    if each.block in pair and each.block != block and each.name == name and not each.met
                ),
                None,
            )
            if other is not None:
                self._meet(execution, pair, request, other)

    def _meet(self, execution: Execution, pair: tuple[int, ...], request: _Request, other: _Request) -> None:
        request.met = other.met = True
        execution.assumptions[TOGETHER] = None
        self.ended += 1
        if request.count != other.count:
            execution.report(
                Kind.UNDEFINED,
                f"{execution.instruction.mnemonic} of {request.count} columns; the other CTA of the pair "
                f"says {other.count} in line {other.line}",
                np.array([request.thread]),
                other_line=other.line,
            )
        elif request.name == "alloc":
            threads = [request.thread, other.thread]
            operation = Clocks.of(execution).allocate_together(execution, threads)
            request.column = other.column = give(execution, pair, request.thread, request.count, operation)

    def report_waiting(self, execution: Execution, active: Indices) -> None:
        """Report threads that wait for ever."""
        execution.report(
            Kind.DEADLOCK,
            f"{execution.instruction.mnemonic} waits for ever: no warp of the other CTA of the pair executes "
            "one",
            active,
        )
