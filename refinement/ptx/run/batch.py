"""Runs the blocks of a batch, instruction by instruction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError
from ...findings.finding import Kind
from ...machine.run_lengths import Limits, RunLength
from ..idioms.endless_loops import EndlessLoops
from ..memory.loads_and_stores import load_awaited
from ..order.warp_reads import WarpReads
from ..registers.dependence import require_known
from ..registers.threads import WARP, Indices
from ..scalar.fences import FENCES
from ..state.absent_threads import AbsentThreadsError
from ..state.execution import Execution
from ..state.remote_accesses import RemoteAccesses
from ..synchronisation import barrier_instructions, cluster_barrier
from ..synchronisation.barrier_objects import BarrierObjects
from ..synchronisation.bulk_stores import BulkStores
from ..synchronisation.cluster_barrier import ClusterBarriers
from ..synchronisation.register_pool import RegisterPool
from ..tensor_memory.allocation import Allocations
from ..tensor_memory.paired_allocation import PairedAllocations
from ..text.module import InstructionStatement
from .guards import Guards
from .if_conversion import Decision, IfConversion, dependence
from .program import Decoded, Program, Sort
from .scheduling import Scheduler, Strand, Waiting

LIMITS = Limits(steps=1 << 20, steps_after_fault=1 << 14)
"""What a batch may take."""

_CHECKED = 256

_WHOLE_BLOCK = -1
_BARRIERS = 16

_POOLS: Mapping[str, type[RegisterPool] | type[PairedAllocations]] = MappingProxyType(
    {"setmaxnreg": RegisterPool, "tcgen05": PairedAllocations}
)
"""What threads wait for besides barriers, by opcode."""


class Batch:
    """A running batch of blocks.

    Parameters
    ----------
    execution : Execution
        Their state.
    program : Program
        The instructions.
    scalars : collection of int
        The inputs that are scalars; see `IfConversion`.
    guards : Guards, optional
        Where it is noted what guards are.

    Attributes
    ----------
    instructions, thread_instructions : int
        How many ran, of each strand and of each thread.
    scheduler : Scheduler
        The strands.
    """

    def __init__(
        self,
        execution: Execution,
        program: Program,
        scalars: Collection[int] = (),
        guards: Guards | None = None,
    ) -> None:
        self._execution = execution
        self._program = program
        self._conversion = IfConversion(execution, program, self._begin, scalars, guards)
        waits = execution.semaphores is not None and bool(execution.semaphores.loops.loads)
        self.scheduler = Scheduler(execution.threads, execution.ordering, execution.alive, apart=waits)
        self.instructions = 0
        self.thread_instructions = 0
        self._length = RunLength(execution.store)
        self._endless = EndlessLoops(execution)
        self._body = [step.instruction for step in program.steps]
        self._parked: list[Strand] = []
        self._polling: list[Strand] = []
        self._ended = 0
        self._gathering: list[Strand] = []
        """Who waits at barriers of clusters, or for registers."""
        self._gathered = 0
        self._lacking: list[Strand] = []
        """Who waits for threads of its warp that wait for something else."""
        self._keep_warp_reads()
        self._written = 0

    def run(self) -> bool:
        """Run to the end, and say whether it was reached: not if threads wait for each other for ever.

        Raises
        ------
        UnsupportedError
            If what happens depends on what is not modelled.
        InputError
            If an instruction is none; the message begins with ``file:line``.
        """
        scheduler = self.scheduler
        while True:
            while scheduler.runnable:
                strand = scheduler.runnable.pop()
                try:
                    self._advance(strand)
                except AbsentThreadsError as error:
                    self._lack(strand, error)
                except InputError as error:
                    where = self._execution.module.where(self._execution.instruction)
                    raise InputError(str(error), where) from error
            if self._wake():
                scheduler.runnable += self._lacking
                self._lacking, self._execution.elsewhere = [], frozenset()
                continue
            parked = [*self._parked, *self._polling, *self._gathering]
            if not scheduler.waiting and not parked:
                if self._execution.semaphores is not None:
                    self._execution.semaphores.settle(np.arange(len(self._execution.threads)))
                BulkStores.of(self._execution).report_unread(self._execution)
                RemoteAccesses.of(self._execution).report_ended(self._execution)
                Allocations.of(self._execution).report_left(self._execution)
                return True
            released = scheduler.release() if scheduler.waiting else []
            self._check_loops(released)
            barrier_instructions.reduce(
                self._execution,
                [
                    (self._program.steps[each.strand.at - 1].instruction, each.strand.active)
                    for each in released
                ],
            )
            if released or not parked:
                self._report_parted_warps(released or scheduler.waiting)
            if not released and not scheduler.stop_meeting(parked):
                self._report_deadlock()
                return False
            if not released:
                self._execution.elsewhere = frozenset(
                    thread for other in parked for thread in other.active.tolist()
                )

    def _lack(self, strand: Strand, error: AbsentThreadsError) -> None:
        """Let a strand wait for threads of its warp that wait for something else.

        Raises
        ------
        AbsentThreadsError
            If some of them don't.
        """
        if error.absent and error.absent <= self._execution.elsewhere:
            self._lacking.append(strand)
        else:
            raise error

    def _advance(self, strand: Strand) -> None:
        """Run a strand until it parts, waits or ends."""
        steps, scheduler = self._program.steps, self.scheduler
        meet = strand.joins[-1].at if strand.joins else None
        while True:
            if strand.at == meet:
                scheduler.arrive(strand)
                return
            if strand.at >= len(steps):
                self._end(strand, strand.active)
                return
            decoded = steps[strand.at]
            self._begin(decoded.instruction, strand.active)
            decision = self._conversion.decide(decoded, strand.active)
            awaited = self._execution.semaphores is not None and self._awaits(decoded, strand, decision)
            if awaited:
                if not self._takes(decoded, strand, decision):
                    return
            elif decoded.sort is Sort.POLL:
                if not self._polls(decoded, strand, decision):
                    return
            elif decoded.sort is Sort.PLAIN:
                self._conversion.act(decoded, decision)
                strand.at += 1
            elif not self._controls(decoded, strand, decision):
                return

    def _begin(self, instruction: InstructionStatement, active: Indices) -> None:
        self._execution.instruction = instruction
        self._execution.store.line = instruction.line
        self._endless.begin(instruction)
        self.instructions += 1
        self.thread_instructions += len(active)
        if self.instructions % _CHECKED == 0:
            excess = self._length.excess(LIMITS, self.instructions, wrong=self._execution.found_wrong)
            if excess:
                self._execution.unsupported(excess)

    def _controls(self, decoded: Decoded, strand: Strand, decision: Decision) -> bool:
        """Move the flow of control, and say whether the strand goes on."""
        acting, data = decision.acting, decision.data
        all_act = len(acting) == len(strand.active)
        if not len(acting) and not len(data):
            strand.at += 1
            return True
        if decoded.sort is Sort.BRANCH and all_act:
            if decoded.target <= strand.at:
                self._endless.jump(self._body, strand.at, decoded.target, strand.active)
            strand.at = decoded.target
            return True
        if len(data):
            return self._chooses(decoded, strand, decision)
        if decoded.sort is Sort.EXIT:
            if all_act:
                self._end(strand, acting)
                return False
            self._execution.alive[acting] = False
            strand.active = np.setdiff1d(strand.active, acting, assume_unique=True)
            strand.at += 1
            return True
        if not all_act:
            there = decoded.target if decoded.sort is Sort.BRANCH else strand.at
            rest = np.setdiff1d(strand.active, acting, assume_unique=True)
            self.scheduler.part(strand, [Strand(there, acting), Strand(strand.at + 1, rest)], decoded.meet)
            return False
        return self._barrier(decoded.instruction, strand)

    def _chooses(self, decoded: Decoded, strand: Strand, decision: Decision) -> bool:
        """Run the threads of which a branch depends on data to where its ways meet; the others part."""
        if decoded.sort is Sort.BARRIER:
            require_known(f"the guard {decoded.guard} of {decoded.instruction.mnemonic}", decision.conditions)
        self._conversion.branch(strand.at, decoded, decision)
        assert decoded.meet is not None
        if len(decision.data) == len(strand.active):
            strand.at = decoded.meet
            return True
        rest = np.setdiff1d(
            strand.active, np.concatenate([decision.acting, decision.data]), assume_unique=True
        )
        ways = ((decoded.meet, decision.data), (decoded.target, decision.acting), (strand.at + 1, rest))
        self.scheduler.part(strand, [Strand(at, some) for at, some in ways if len(some)], decoded.meet)
        return False

    # -- waiting for other blocks
    def _awaits(self, decoded: Decoded, strand: Strand, decision: Decision) -> bool:
        """Tell whether a strand is at a load of what it waits for; keep the semaphores told."""
        semaphores = self._execution.semaphores
        assert semaphores is not None
        at, loops = strand.at, semaphores.loops
        if semaphores.deciding and at not in loops.inside:
            semaphores.settle(strand.active)
        if at in loops.branches:
            semaphores.decide(strand.active)
        if decoded.instruction.opcode in FENCES:
            semaphores.fence(decision.acting, decoded.instruction)
        return at in loops.loads

    def _takes(self, decoded: Decoded, strand: Strand, decision: Decision) -> bool:
        """Run a load of what threads wait for, and say whether the strand goes on."""
        if len(decision.data):
            raise dependence(decoded, decision)
        acting = decision.acting
        ready = load_awaited(self._execution, decoded.instruction, strand.at, acting)
        return self._park(self._parked, strand, acting[~ready], None)

    def _park(self, parked: list[Strand], strand: Strand, waiting: Indices, meet: int | None) -> bool:
        """Let some threads wait where they are, and say whether the strand goes on."""
        if not len(waiting):
            strand.at += 1
            return True
        if len(waiting) == len(strand.active):
            parked.append(strand)
            return False
        rest = np.setdiff1d(strand.active, waiting, assume_unique=True)
        self.scheduler.part(strand, [Strand(strand.at + 1, rest), Strand(strand.at, waiting)], meet)
        return False

    # -- barrier objects
    def _keep_warp_reads(self) -> None:
        """Keep when each warp read shared memory last, of a kernel with barrier objects, or in clusters."""
        shared, ordering = self._execution.memory.shared, self._execution.ordering
        of_cluster = shared.peers is not None
        polls = any(step.sort is Sort.POLL for step in self._program.steps)
        if shared.history is not None and (polls or of_cluster):
            count = len(shared.history.writer)
            shared.history.warp_reads = WarpReads(count, ordering.cluster_warps, of_cluster=of_cluster)

    def _polls(self, decoded: Decoded, strand: Strand, decision: Decision) -> bool:
        """Ask whether a phase of a barrier object is over, and say whether the strand goes on."""
        if len(decision.data):
            raise dependence(decoded, decision)
        if decoded.poll.refusal:
            self._execution.unsupported(
                f"{decoded.instruction.mnemonic} does more than wait: {decoded.poll.refusal}"
            )
        assert decoded.test is not None
        acting = decision.acting
        if decoded.poll.ignored:
            decoded.test.ask_in_vain(self._execution, acting)
            strand.at += 1
            return True
        if decoded.poll.ahead:
            decoded.test.ask_ahead(self._execution, acting, strand.at)
            strand.at += 1
            return True
        passed = decoded.test(self._execution, acting, decoded.poll.repeats)
        return self._park(self._polling, strand, acting[~passed], decoded.meet)

    def _wake(self) -> bool:
        """Let threads go on that wait, if what they wait for may have come, and say whether there are any."""
        if self._gathering:
            clusters = ClusterBarriers.of(self._execution)
            clusters.settle(self._execution)
            changes = clusters.ended + sum(pool.of(self._execution).ended for pool in _POOLS.values())
            if changes != self._gathered:
                self._gathered = changes
                self.scheduler.runnable += self._gathering
                self._gathering = []
                return True
        ended = BarrierObjects.of(self._execution).ended
        if self._polling and ended != self._ended:
            self._ended = ended
            self.scheduler.runnable += self._polling
            self._polling = []
            return True
        semaphores = self._execution.semaphores
        if semaphores is None or not self._parked or semaphores.written == self._written:
            return False
        self._written = semaphores.written
        self.scheduler.runnable += self._parked
        self._parked = []
        return True

    def _check_loops(self, released: Iterable[Waiting]) -> None:
        """Refuse barriers at which threads that wait for other blocks meet threads that do not."""
        semaphores = self._execution.semaphores
        if semaphores is not None and semaphores.loops.together:
            inside = {each.strand.at - 1 in semaphores.loops.inside for each in released}
            if len(inside) > 1:
                self._execution.unsupported("one barrier within a waiting loop, and one outside it")

    def _end(self, strand: Strand, threads: Indices) -> None:
        self._execution.alive[threads] = False
        self.scheduler.end(strand)

    # -- barriers
    def _barrier(self, instruction: InstructionStatement, strand: Strand) -> bool:
        execution, active = self._execution, strand.active
        if instruction.has("cluster"):
            return self._cluster_barrier(instruction, strand)
        if instruction.opcode in _POOLS:
            passed = _POOLS[instruction.opcode].of(execution).passed(execution, instruction, active)
            return self._park(self._gathering, strand, active[~passed], strand.at + 1)
        barriers, counts = self._barrier_operands(instruction, active)
        aligned = instruction.opcode == "bar" or instruction.has("aligned")
        strand.at += 1
        if instruction.has("arrive"):
            self.scheduler.arrive_at_barrier(barriers, active)
            return True
        everybody = len(active) == int(execution.alive.sum())
        if everybody and (counts == _WHOLE_BLOCK).all() and (barriers == barriers[0]).all():
            execution.ordering.block_barriers()
            self.scheduler.barriers += len(execution.threads.blocks)
            barrier_instructions.reduce(execution, [(instruction, active)])
            return True
        self.scheduler.wait(Waiting(strand, barriers, counts, aligned))
        return False

    def _cluster_barrier(self, instruction: InstructionStatement, strand: Strand) -> bool:
        """Arrive at the barrier of the cluster, or wait there; say whether the strand goes on."""
        execution, active = self._execution, strand.active
        waits, orders = cluster_barrier.decoded(execution, instruction, active)
        barriers = ClusterBarriers.of(execution)
        if not waits:
            barriers.arrive(execution, active, releases=orders)
            strand.at += 1
            return True
        passed = barriers.passed(execution, active)
        return self._park(self._gathering, strand, active[~passed], strand.at + 1)

    def _barrier_operands(
        self, instruction: InstructionStatement, active: Indices
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        execution = self._execution
        numbers = [
            execution.numbers(operand, 32, active, "operand").astype(np.int64)
            for operand in barrier_instructions.barrier_of(instruction)
        ]
        if not 1 <= len(numbers) <= 2:
            raise InputError(f"{instruction.mnemonic} takes one or two operands, not {len(numbers)}")
        barriers = numbers[0]
        if (barriers >= _BARRIERS).any():
            raise InputError(f"barrier {int(barriers.max())}: a block has {_BARRIERS}, from 0")
        counts = numbers[1] if len(numbers) == 2 else np.full(len(active), _WHOLE_BLOCK)
        return barriers, counts

    def _report_parted_warps(self, waiting: Iterable[Waiting]) -> None:
        """Report aligned barriers at which only some of a warp's threads are that have not ended."""
        execution = self._execution
        alive = execution.alive.reshape(-1, WARP).sum(axis=1)
        for each in waiting:
            active = each.strand.active
            here = np.bincount(active // WARP, minlength=len(alive))
            partial = (here > 0) & (here < alive)
            if each.aligned and partial.any():
                execution.instruction = self._program.steps[each.strand.at - 1].instruction
                warp = int(np.flatnonzero(partial)[0])
                some = f"{here[warp]} of {alive[warp]} threads of a warp"
                execution.report(
                    Kind.DIVERGENCE,
                    f"{execution.instruction.mnemonic} is executed by {some}",
                    active[partial[active // WARP]],
                )

    def _report_gathering(self) -> None:
        """Report who waits for ever at barriers of clusters, or for registers."""
        execution = self._execution
        for strand in self._gathering:
            execution.instruction = self._program.steps[strand.at].instruction
            lacking = _POOLS.get(execution.instruction.opcode, ClusterBarriers).of(execution)
            lacking.report_waiting(execution, strand.active)

    def _report_deadlock(self) -> None:
        """Report barriers that stay incomplete, or words that never become what is waited for."""
        execution = self._execution
        for strand in self._polling:
            decoded = self._program.steps[strand.at]
            assert decoded.test is not None
            execution.instruction = decoded.instruction
            decoded.test.report_waiting(execution, strand.active)
        if self._polling:
            return
        if self._parked:
            parked = self._parked[0]
            execution.instruction = self._program.steps[parked.at].instruction
            parted = np.concatenate([each.active for each in self._parked])
            what = f"{execution.instruction.mnemonic} waits for a value that none of the {{}} writes"
            if len(execution.threads.blocks) < execution.threads.launch.blocks:
                execution.unsupported(what.format(f"{len(execution.threads.blocks)} blocks that run at once"))
            execution.report(Kind.DEADLOCK, what.format("other threads"), parted)
            return
        self._report_gathering()
        for waiting in self.scheduler.waiting:
            active = waiting.strand.active
            execution.instruction = self._program.steps[waiting.strand.at - 1].instruction
            block = execution.threads.block == execution.threads.block[active[0]]
            here = int(block[active].sum())
            alive = int((block & execution.alive).sum())
            wanted = int(waiting.counts[0])
            awaited = f"all {alive} threads" if wanted < 0 else f"{wanted} threads"
            execution.report(
                Kind.DIVERGENCE,
                f"{here} threads of a block wait at barrier {int(waiting.barriers[0])} for {awaited} of it, "
                "which never come",
                active,
            )
