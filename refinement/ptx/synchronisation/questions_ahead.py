"""Which phases of barrier objects threads have asked for ahead.

A question ahead is answered by no, see `barrier_polls`, though a machine may say yes. Who is told yes goes
on, and who is told no asks again: that is the same only if both are about one phase. A barrier that has come
to another one in between, of the same parity, tells more to who asks again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..registers.threads import Indices
from ..state.held import Held
from .barrier_objects import BarrierObject

if TYPE_CHECKING:
    from ..order.snapshots import Snapshot
    from ..state.execution import Execution

_Question = tuple[int, int, str, int]
"""The index of the instruction, the block and place of the barrier, and the parity."""


class QuestionsAhead(Held):
    """Questions that were answered by no, and are to be asked again."""

    KEY = "questions ahead"

    def __init__(self) -> None:
        self._phases: dict[_Question, dict[int, set[tuple[BarrierObject, int, int]]]] = {}

    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`; phases are told from where their barriers are."""
        for question in sorted(self._phases):
            for thread, asked in sorted(self._phases[question].items()):
                phases = sorted(phase - barrier.phase for barrier, phase, _ in asked)
                snapshot.take([*question, thread, phases])

    def ask(
        self, execution: Execution, index: int, barrier: BarrierObject, threads: Indices, parity: int
    ) -> None:
        """Let threads ask whether the phase of a parity that is the last or the current one is over.

        Parameters
        ----------
        execution : Execution
            What runs.
        index : int
            Of the instruction.
        barrier : BarrierObject
            Which one.
        threads : int array (n,)
            Who asks.
        parity : int
            Of the phase.
        """
        phase = barrier.phase - (parity != barrier.phase % 2)
        asked = self._phases.setdefault((index, barrier.block, barrier.place, parity), {})
        for thread in threads.tolist():
            asked.setdefault(thread, set()).add((barrier, phase, execution.instruction.line))

    def repeat(
        self, execution: Execution, ahead: Iterable[int], barrier: BarrierObject, threads: Indices
    ) -> None:
        """Let threads be told that the last phase is over, which they may have asked for ahead.

        Parameters
        ----------
        execution : Execution
            What runs.
        ahead : iterable of int
            Indices of the instructions that ask the same ahead.
        barrier : BarrierObject
            Which one.
        threads : int array (n,)
            Who is told.

        Raises
        ------
        UnsupportedError
            If it was another phase.
        """
        over = barrier.phase - 1
        for index in ahead:
            asked = self._phases.get((index, barrier.block, barrier.place, over % 2), {})
            for thread in threads.tolist():
                for before, phase, line in asked.pop(thread, ()):
                    if before is not barrier or phase != over:
                        execution.unsupported(
                            f"{execution.instruction.mnemonic} waits for phase {over} of the barrier at "
                            f"{barrier.place}, but line {line} has already polled for phase {phase}"
                        )
