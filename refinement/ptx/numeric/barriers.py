"""Barriers of a block on numbers: threads that wait, and who lets them go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....spec.errors import UnsupportedError
from ..text.module import InstructionStatement
from .state import Code, Reader, State
from .threads import EVERY, Lanes


@dataclass(frozen=True)
class Barrier:
    """A barrier instruction.

    Attributes
    ----------
    number, count : callable
        What reads its number, and how many threads take part; None of `count`: all of the block.
    waits : bool
        Whether threads wait, or only arrive.
    combine : callable, optional
        What a reduction makes of the truths of all threads of a block: writes it.
    """

    number: Reader
    count: Reader | None
    waits: bool
    combine: Callable[[State, Any], None] | None = None


@dataclass
class _Waiting:
    """Threads that wait, all at one instruction."""

    instruction: InstructionStatement
    barrier: Barrier
    threads: Any
    numbers: Any
    counts: Any
    following: int


def is_barrier(instruction: InstructionStatement) -> bool:
    """Tell whether threads may wait at an instruction for others of their block."""
    return instruction.opcode in ("bar", "barrier") and "warp" not in instruction.modifiers


def barrier_of(code: Code, instruction: InstructionStatement) -> Barrier:
    """Decode a barrier.

    Raises
    ------
    UnsupportedError
        If it is one of a cluster.
    """
    if "cluster" in instruction.modifiers:
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    operands = list(instruction.operands)
    combine = None
    if "red" in instruction.modifiers:
        write, truth = code.writer(operands.pop(0)), code.truth_reader(operands.pop())
        mode = instruction.one_of(("popc", "and", "or"))

        def combine(state: State, threads: Any) -> None:
            blocks = state.threads.block[threads]
            yes = np.bincount(blocks, weights=truth(state, threads), minlength=len(state.threads.blocks))
            every = np.bincount(blocks, minlength=len(state.threads.blocks))
            found = {"popc": yes.astype(np.uint32), "and": yes == every}.get(mode or "", yes > 0)
            write(state, threads, found[blocks])

    number = code.reader(operands[0], 32)
    count = code.reader(operands[1], 32) if len(operands) > 1 else None
    return Barrier(number, count, "arrive" not in instruction.modifiers, combine)


class Arrivals:
    """The threads that wait at barriers.

    Parameters
    ----------
    state : State
        The run.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.waiting: list[_Waiting] = []
        self.alive = np.bincount(state.threads.block, minlength=len(state.threads.blocks))
        self._alive_of_warp = np.bincount(state.threads.warp)

    @property
    def count(self) -> int:
        """How many threads wait."""
        return sum(len(each.threads) for each in self.waiting)

    def arrive(
        self, barrier: Barrier, instruction: InstructionStatement, lanes: Lanes, following: int
    ) -> Iterator[tuple[int, Lanes]]:
        """Let threads arrive; yields those that go on, with where."""
        state = self.state
        threads = state.indices(lanes)
        if not barrier.waits:
            raise UnsupportedError(f"line {instruction.line} of the PTX: {instruction.mnemonic} on numbers")
        if lanes is EVERY and barrier.count is None and not self.waiting and barrier.combine is None:
            self._passed(np.arange(len(state.threads.blocks)))
            yield following, EVERY
            return
        numbers = np.broadcast_to(np.asarray(barrier.number(state, lanes)), threads.shape)
        counts = np.zeros(len(threads), dtype=np.int64)
        if barrier.count is not None:
            counts[:] = barrier.count(state, lanes)
        self.waiting.append(_Waiting(instruction, barrier, threads, numbers, counts, following))
        yield from self._released()

    def left(self, lanes: Lanes) -> Iterator[tuple[int, Lanes]]:
        """Let threads end; yields those that go on as nobody else is missing."""
        state = self.state
        threads = state.indices(lanes)
        self.alive = self.alive - np.bincount(state.threads.block[threads], minlength=len(self.alive))
        warps = state.threads.warp[threads]
        self._alive_of_warp = self._alive_of_warp - np.bincount(warps, minlength=len(self._alive_of_warp))
        if self.waiting:
            yield from self._released()

    def whole_warps(self, lanes: Lanes) -> tuple[Lanes | None, Lanes | None]:
        """Return those threads of which the whole warp is there that has not ended, and the others."""
        if lanes is EVERY:
            return EVERY, None
        warps = self.state.threads.warp[lanes]
        there = np.bincount(warps, minlength=len(self._alive_of_warp)) == self._alive_of_warp
        whole = there[warps]
        if whole.all():
            return lanes, None
        return (lanes[whole] if whole.any() else None), lanes[~whole]

    def _passed(self, blocks: Any) -> None:
        if self.state.races is not None:
            self.state.races.passed(blocks)

    def _released(self) -> Iterator[tuple[int, Lanes]]:
        block_of = self.state.threads.block
        for number in {int(each) for one in self.waiting for each in np.unique(one.numbers)}:
            arrived, needed = np.zeros_like(self.alive), np.zeros_like(self.alive)
            for one in self.waiting:
                here = one.numbers == number
                blocks = block_of[one.threads[here]]
                arrived += np.bincount(blocks, minlength=len(arrived))
                np.maximum.at(needed, blocks, one.counts[here])
            full = (arrived > 0) & (arrived >= np.where(needed > 0, needed, self.alive))
            if not full.any():
                continue
            kept, together = [], []
            for one in self.waiting:
                going = full[block_of[one.threads]] & (one.numbers == number)
                if going.any():
                    together.append((one, one.threads[going]))
                if not going.all():
                    stay = ~going
                    kept.append(
                        _Waiting(
                            one.instruction, one.barrier, one.threads[stay], one.numbers[stay],
                            one.counts[stay], one.following,
                        )
                    )  # fmt: skip
            self.waiting = kept
            self._passed(np.flatnonzero(full))
            for one, threads in together:
                if one.barrier.combine is not None:
                    one.barrier.combine(self.state, threads)
                yield one.following, threads
