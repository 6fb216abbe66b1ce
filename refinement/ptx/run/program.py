"""A kernel's instructions, each decoded once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType

from ....spec.errors import InputError, UnsupportedError
from ....spec.ptx.operands import Predicate
from ...findings.finding import Kind
from ...machine.observations import Observations
from ..idioms import cas_updates
from ..idioms.barrier_polls import NOT_ASKED, Poll, barrier_polls, is_poll
from ..idioms.branch_regions import BranchRegions
from ..idioms.cas_loops import swap_loops
from ..idioms.locks import lock_loops
from ..idioms.waiting_loops import waiting_loops
from ..instruction_set import DECODERS, POINTWISE
from ..registers.threads import Indices
from ..scalar.address_values import narrow_addresses, watched
from ..state.asynchronous_products import touching
from ..state.execution import Execution, Step
from ..state.tickets import takes_tickets
from ..synchronisation.mbarrier import Test, decoded_poll
from ..tensor_memory.paired_allocation import waits_for_its_pair
from ..text import asynchronous_legality
from ..text.control_flow import control_flow
from ..text.module import Function, InstructionStatement, Module
from ..text.operands import Label
from ..text.product_registers import descriptor_registers, product_registers
from ..text.scalar_legality import require_spelled
from ..text.variables import misplaced, variable_spaces
from ..warp import matrix


class Sort(Enum):
    """The effect of an instruction on control flow."""

    PLAIN = auto()
    BRANCH = auto()
    EXIT = auto()
    BARRIER = auto()
    POLL = auto()


SORTS: Mapping[str, Sort] = MappingProxyType(
    {
        "bra": Sort.BRANCH,
        "brx": Sort.BRANCH,  # of a table, as `plain_text` writes it
        "ret": Sort.EXIT,
        "exit": Sort.EXIT,
        "bar": Sort.BARRIER,
        "barrier": Sort.BARRIER,
        "setmaxnreg": Sort.BARRIER,
    }
)


_AVAILABILITY = frozenset(
    {"target-version", "target", "ptx-version", "cta-version"}
    | {"async-target-version", "async-target", "async-version"}
)
"""Rules of which an instruction that violates them still has a meaning."""


@dataclass(frozen=True)
class Decoded:
    """A decoded instruction.

    Attributes
    ----------
    instruction : InstructionStatement
        As it was read.
    sort : Sort
        What becomes of the flow of control.
    step : callable, optional
        What a plain instruction does.
    guard : Predicate, optional
        Where it does it.
    target, meet : int, optional
        Where a branch, or an exit, goes, and where threads that it parts come together.
    selectable : bool
        Whether it only writes registers, from the same thread's.
    test : Test, optional
        What a question to a barrier object asks.
    poll : Poll
        Whether who asks it does nothing but wait.
    """

    instruction: InstructionStatement
    sort: Sort
    step: Step | None = None
    guard: Predicate | None = None
    target: int = 0
    meet: int | None = None
    selectable: bool = False
    test: Test | None = None
    poll: Poll = NOT_ASKED


class Program:
    """The instructions of a kernel.

    Parameters
    ----------
    module : Module
        Whose kernel it is.
    function : Function
        The kernel.

    Attributes
    ----------
    steps : tuple of Decoded
        The instructions.
    regions : BranchRegions
        What lies between branches and where their ways meet.
    waiting : WaitingLoops
        The loops in which it waits for other blocks.
    takes_tickets : bool
        Whether it looks at what an atomic operation on integers returns.
    locks : mapping of int to str
        By the lines of what takes locks, why it is not modelled, or nothing.
    """

    def __init__(self, module: Module, function: Function) -> None:
        self._module = module
        self._function = function
        require_spelled(module, function)
        self._illegal = dict(self._illegal_instructions())
        self._flow = control_flow(function, module.path)
        self.regions = BranchRegions(function, self._flow)
        self.waiting = waiting_loops(function, self._flow, self.regions)
        locks = dict(lock_loops(function, self._flow, self.regions))
        swaps = swap_loops(function, self._flow, self.regions)
        locks |= {index: each.refusal for index, each in swaps.items()}
        self.locks = {function.body[index].line: why for index, why in locks.items()}
        self._swaps = {index: each for index, each in swaps.items() if not each.refusal}
        self.takes_tickets = takes_tickets(function)
        leaders = frozenset(block.start for block in self._flow.blocks)
        self._polls = barrier_polls(function, self.regions, leaders)
        self._narrow = narrow_addresses(module, function)
        self._descriptors = descriptor_registers(function)
        self._product_registers = product_registers(function)
        self.steps = tuple(self._decoded(index) for index in range(len(function.body)))

    def check_legality(self, observations: Observations) -> None:
        """Report instructions that are illegal in the module, executed or not."""
        for index, violated in self._illegal.items():
            for _, message in violated:
                observations.add(Kind.ILLEGAL, message, self._function.body[index].line)

    def _illegal_instructions(self) -> Iterator[tuple[int, list[tuple[str, str]]]]:
        """Yield the indices of illegal instructions, with the rules that they violate and messages."""
        spaces = variable_spaces(self._module, self._function)
        for index, mixed in asynchronous_legality.mixed_groups(self._function):
            yield index, [(mixed.rule.id, mixed.message)]
        for index, instruction in enumerate(self._function.body):
            in_tensor_memory = instruction.opcode == asynchronous_legality.TENSOR_MEMORY
            if not instruction.is_matrix_instruction and not in_tensor_memory:
                found = [("address-space", message) for message in misplaced(instruction, spaces)]
                misspelt = asynchronous_legality.misspelt(instruction)
                found += [(each.rule.id, each.message) for each in misspelt]
            else:
                illegal = asynchronous_legality.illegal if in_tensor_memory else matrix.illegal
                try:
                    violated = illegal(self._module, instruction, spaces)
                    found = [(each.rule.id, each.message) for each in violated]
                except InputError as error:
                    found = [("syntax", str(error))]
            if found:
                yield index, found

    def _decoded(self, index: int) -> Decoded:
        instruction = self._function.body[index]
        sort = Sort.POLL if is_poll(instruction) else SORTS.get(instruction.opcode, Sort.PLAIN)
        if waits_for_its_pair(instruction):
            sort = Sort.BARRIER
        if sort is Sort.BARRIER and instruction.has("warp"):
            sort = Sort.PLAIN
        guard = instruction.predicate
        if sort is Sort.BRANCH:
            target = instruction.operands[0]
            assert isinstance(target, Label)
            return Decoded(
                instruction,
                sort,
                guard=guard,
                target=self._function.labels[target.name],
                meet=self._flow.reconvergence(index),
            )
        if sort is Sort.EXIT:
            end, meet = len(self._function.body), self._flow.reconvergence(index)
            return Decoded(instruction, sort, guard=guard, target=end, meet=meet)
        if sort is Sort.POLL:
            return self._decoded_poll(index)
        if sort is not Sort.PLAIN:
            return Decoded(instruction, sort, guard=guard, meet=index + 1)
        selectable = instruction.opcode in POINTWISE
        step = self._step_of_swap(index) or _step(instruction)
        step = watched(instruction, step, self._function, self._narrow, self._descriptors)
        step = touching(instruction, step, self._product_registers)
        step = self._synchronising(instruction, step)
        if any(rule not in _AVAILABILITY for rule, _ in self._illegal.get(index, ())):
            step = _refusing(UnsupportedError(f"{instruction.mnemonic} is illegal, so it has no semantics"))
        return Decoded(instruction, sort, step, guard, selectable=selectable)

    def _synchronising(self, instruction: InstructionStatement, step: Step) -> Step:
        """Return a step that lets warps come together first, where barrier objects are polled."""
        if not self._polls or not instruction.has("sync"):
            return step

        def run(execution: Execution, active: Indices) -> None:
            execution.ordering.come_together(active)
            step(execution, active)

        return run

    def _decoded_poll(self, index: int) -> Decoded:
        """Decode a question to a barrier object."""
        instruction, poll = self._function.body[index], self._polls[index]
        guard = instruction.predicate
        try:
            test = decoded_poll(instruction)
        except (UnsupportedError, InputError) as error:
            return Decoded(instruction, Sort.PLAIN, _refusing(error), guard)
        return Decoded(instruction, Sort.POLL, None, guard, meet=poll.meet, test=test, poll=poll)

    def _step_of_swap(self, index: int) -> Step | None:
        """Return what an instruction of a loop does that updates a word by compare-and-swap."""
        instruction = self._function.body[index]
        for at, loop in self._swaps.items():
            if index == at:
                return cas_updates.swap(instruction)
            if index == loop.test:
                return cas_updates.test(instruction, loop)
            if index in loop.guesses:
                return cas_updates.guess(instruction)
        return None


def _step(instruction: InstructionStatement) -> Step:
    """Decode an instruction; what is not modelled is refused when it runs."""
    decoder = DECODERS.get(instruction.opcode)
    try:
        if decoder is None:
            raise UnsupportedError(f"{instruction.mnemonic} is not modelled")
        return decoder(instruction)
    except (UnsupportedError, InputError) as error:
        return _refusing(error)


def _refusing(error: UnsupportedError | InputError) -> Step:
    def refused(execution: Execution, active: Indices) -> None:
        raise type(error)(str(error))

    return refused
