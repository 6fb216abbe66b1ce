"""Runs that skip loops of which sizes leave open how often threads go round: what they leave is held.

What a loop that only loads and computes leaves in registers is a number of its own for each thread, of which
nothing is known. What that is has to be shown in another way.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from ....spec.errors import UnsupportedError
from ....spec.formats import FORMATS, Format
from ...sizes.invariant_inference import HELD
from ...terms.store import bits
from ..idioms.branch_regions import COMPUTING, LOADS, results
from ..registers.threads import Indices
from ..registers.values import of_terms
from ..run.if_conversion import Decision
from ..run.program import Decoded, Program, Sort
from ..run.scheduling import Strand
from ..state.execution import Execution
from ..text.module import TYPE_BITS
from .loop_states import Decisions, LoopBatch

_FLOATS = frozenset({"f16", "bf16", "f32", "f64"})


class OpenBranchError(Exception):
    """A branch on sizes that they leave open."""


@dataclass
class Skipped:
    """What was skipped.

    Attributes
    ----------
    meets : list of int
        Where runs went on, in order.
    registers : list of (int, str)
        What is held: by its number divided by the number of threads, behind which of these, and the register.
    """

    meets: list[int] = field(default_factory=list)
    registers: list[tuple[int, str]] = field(default_factory=list)


class _OpenDecisions(Decisions):
    """Tells open branches from other failures."""

    def decide(self, decoded: Decoded, active: Indices) -> Decision:
        """See `Decisions.decide`."""
        try:
            return super().decide(decoded, active)
        except UnsupportedError as error:
            if decoded.sort is Sort.BRANCH:
                raise OpenBranchError from error
            raise


class SkippingBatch(LoopBatch):
    """A batch that goes on behind the loops that open branches decide.

    Attributes
    ----------
    skipped : Skipped
        What it has skipped so far.
    """

    def __init__(
        self, execution: Execution, program: Program, scalars: Collection[int], heads: frozenset[int]
    ) -> None:
        super().__init__(execution, program, scalars, heads)
        self._conversion = _OpenDecisions(execution, program, self._begin, scalars)
        self.skipped = Skipped()

    def _advance(self, strand: Strand) -> None:
        try:
            super()._advance(strand)
        except OpenBranchError as error:
            self._skip(strand)
            self.scheduler.runnable.append(strand)
            del error

    def _skip(self, strand: Strand) -> None:
        """Go on where the ways from an open branch meet; hold what they may leave in registers.

        Raises
        ------
        UnsupportedError
            If they do more than load and compute.
        """
        regions, steps, at = self._program.regions, self._program.steps, strand.at
        branch = steps[at].instruction
        where = f"the guard of {branch.mnemonic} in line {branch.line} depends on sizes"
        if (meet := steps[at].meet) is None or meet >= len(steps):
            raise UnsupportedError(where)
        inside = sorted(regions.between(at))
        for index in inside:
            if steps[index].instruction.opcode not in COMPUTING | LOADS:
                raise UnsupportedError(f"{where}, and controls {steps[index].instruction.mnemonic}")
        kinds: dict[str, set[str]] = {}
        for index in inside:
            instruction = steps[index].instruction
            for name in results(instruction):
                kinds.setdefault(name, set()).update(instruction.types)
        declared, execution = self.execution.function.registers, self.execution
        for name in sorted(regions.live_at([meet]) & kinds.keys()):
            if name not in declared:  # the carry
                raise UnsupportedError(where)
            fmt = _format(declared[name], kinds[name])
            numbers = len(self.skipped.registers) * len(execution.threads) + strand.active
            value = of_terms(execution.store, execution.store.inputs(HELD, fmt, numbers), fmt.bits)
            before = execution.registers.get(name)
            if before is None:
                before = execution.unwritten(name, fmt.bits, len(execution.threads))
            execution.registers[name] = before.updated(strand.active, value)
            self.skipped.registers.append((len(self.skipped.meets), name))
        self.skipped.meets.append(meet)
        strand.at = meet


def _format(declared: str, written: Collection[str]) -> Format:
    """Return the format in which a register is held, by its type and those of what writes it."""
    width = 1 if declared == "pred" else TYPE_BITS[declared]
    floats = [FORMATS[each] for each in (declared, *written) if each in _FLOATS]
    return next((each for each in floats if each.bits == width), bits(width))
