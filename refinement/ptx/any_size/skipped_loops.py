"""Runs that skip loops of which sizes leave open how often threads go round: what they leave is held.

What a loop that only loads and computes leaves in registers is a number of its own for each thread, of which
nothing is known. What that is has to be shown in another way.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ....spec.errors import UnsupportedError
from ....spec.formats import FORMATS, Format
from ...sizes.invariant_inference import HELD
from ...terms.store import bits
from ..idioms.branch_regions import COMPUTING, LOADS, results
from ..registers.threads import Indices
from ..registers.values import KNOWN, of_terms
from ..run.if_conversion import Begin, Decision
from ..run.program import Decoded, Program, Sort
from ..run.scheduling import Strand
from ..state.execution import Execution
from ..text.module import TYPE_BITS
from .loop_states import Decisions, LoopBatch

_FLOATS = frozenset({"f16", "bf16", "f32", "f64"})


class OpenBranchError(Exception):
    """A branch on sizes that they leave open.

    Parameters
    ----------
    branch : Decoded
        The branch.
    """

    def __init__(self, branch: Decoded) -> None:
        super().__init__(branch)
        self.branch = branch


class Skipped:
    """What was skipped: registers of threads, each by a number for all threads that come to one place.

    Attributes
    ----------
    registers : list of (int, str)
        By that number, where these went on, and the register.
    last, threads : int
        The last place where threads went on, and the number behind that of the last thread.
    conditions : set of (int, int)
        Threads, and the bits under which they were there; negative where they surely were.
    """

    def __init__(self) -> None:
        self.registers: list[tuple[int, str]] = []
        self.last = self.threads = 0
        self.conditions: set[tuple[int, int]] = set()
        self._threads: list[set[int]] = []

    def numbered(self, meet: int, name: str, threads: Indices) -> int:
        """Return the number of a register of some threads, which is another one where they come again."""
        own = set(threads.tolist())
        for number, (register, others) in enumerate(zip(self.registers, self._threads, strict=True)):
            if register == (meet, name) and not others & own:
                others.update(own)
                return number
        self.registers.append((meet, name))
        self._threads.append(own)
        return len(self.registers) - 1


class _Skipping(Decisions):
    """Decisions of guards, where what open branches decide is skipped."""

    def __init__(
        self, execution: Execution, program: Program, begin: Begin, scalars: Collection[int]
    ) -> None:
        super().__init__(execution, program, begin, scalars)
        self.skipped = Skipped()

    def decide(self, decoded: Decoded, active: Indices) -> Decision:
        """See `Decisions.decide`."""
        try:
            return super().decide(decoded, active)
        except UnsupportedError as error:
            if decoded.sort is Sort.BRANCH:
                raise OpenBranchError(decoded) from error
            raise

    def _run(self, at: int, threads: Indices, stop: int) -> None:
        while True:
            try:
                super()._run(at, threads, stop)
            except OpenBranchError as error:
                at = self.skip(error.branch, threads)
            else:
                return

    def skip(self, branch: Decoded, threads: Indices) -> int:
        """Hold what the ways from an open branch may leave in registers; return where they meet.

        Raises
        ------
        UnsupportedError
            If they do more than load and compute.
        """
        regions, steps, execution = self._program.regions, self._program.steps, self._execution
        self.skipped.threads = max(self.skipped.threads, int(threads.max()) + 1)
        path = np.full(len(threads), KNOWN) if execution.path is None else execution.path.at(threads).terms
        bits_of = np.full(len(threads), KNOWN) if path is None else path
        self.skipped.conditions.update(zip(threads.tolist(), bits_of.tolist(), strict=True))
        instruction, meet = branch.instruction, branch.meet
        where = f"the guard of {instruction.mnemonic} in line {instruction.line} depends on sizes"
        if meet is None or meet >= len(steps):
            raise UnsupportedError(where)
        at = next(index for index, each in enumerate(steps) if each is branch)
        kinds: dict[str, set[str]] = {}
        for index in sorted(regions.between(at)):
            inside = steps[index].instruction
            if inside.opcode not in COMPUTING | LOADS:
                raise UnsupportedError(f"{where}, and controls {inside.mnemonic}")
            for name in results(inside):
                kinds.setdefault(name, set()).update(inside.types)
        declared = execution.function.registers
        for name in sorted(regions.live_at([meet]) & kinds.keys()):
            if name not in declared:  # the carry
                raise UnsupportedError(where)
            fmt = _format(declared[name], kinds[name])
            numbers = self.skipped.numbered(meet, name, threads) * len(execution.threads) + threads
            value = of_terms(execution.store, execution.store.inputs(HELD, fmt, numbers), fmt.bits)
            before = execution.registers.get(name)
            if before is None:
                before = execution.unwritten(name, fmt.bits, len(execution.threads))
            execution.registers[name] = before.updated(threads, value)
        self.skipped.last = max(self.skipped.last, meet)
        return meet


class SkippingBatch(LoopBatch):
    """A batch that goes on behind the loops that open branches decide."""

    def __init__(
        self, execution: Execution, program: Program, scalars: Collection[int], heads: frozenset[int]
    ) -> None:
        super().__init__(execution, program, scalars, heads)
        self._skipping = self._conversion = _Skipping(execution, program, self._begin, scalars)

    @property
    def skipped(self) -> Skipped:
        """What it has skipped so far."""
        return self._skipping.skipped

    @property
    def divides(self) -> bool:
        """Whether threads go round a loop that it has skipped each as often as their numbers say."""
        return self._skipping.divides

    def _advance(self, strand: Strand) -> None:
        try:
            super()._advance(strand)
        except OpenBranchError as error:
            strand.at = self._skipping.skip(error.branch, strand.active)
            self.scheduler.runnable.append(strand)


def _format(declared: str, written: Collection[str]) -> Format:
    """Return the format in which a register is held, by its type and those of what writes it."""
    width = 1 if declared == "pred" else TYPE_BITS[declared]
    floats = [FORMATS[each] for each in (declared, *written) if each in _FLOATS]
    return next((each for each in floats if each.bits == width), bits(width))
