"""Polls of barrier objects: a failed test only asks again.

``mbarrier.test_wait`` and ``try_wait`` say whether a phase is over, which depends on when they are asked. A
kernel is run here as if they waited. That is what it does on hardware if whoever is told that the phase is
not over comes to ask the same of the same barrier again, has done nothing in between, and leaves with the
same registers as who was told at once, of those that are read behind. This is shown here of a kernel's text,
way by way: both ways of a branch that depends on how often was asked, or on a clock.

Whoever asks ahead does other things before it looks at the answer, and asks again then if the phase was not
over. That is run as if the answer was no: what it does in between does not depend on the answer, and whoever
is told yes knows no less, as long as both questions are about one phase: see `questions_ahead`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace

from ....spec.ptx.operands import Address, Integer
from ..instruction_set import POINTWISE
from ..scalar.fences import FENCES
from ..scalar.hints import WITHOUT_EFFECT
from ..text.module import Function, InstructionStatement
from ..text.operands import register_names
from .branch_regions import BranchRegions
from .followed_registers import FollowedRegisters, RegisterState, Value, read_registers, written_registers

POLLS = ("test_wait", "try_wait")
"""What asks whether a phase is over."""

_LONGEST = 4096
"""Instructions on all ways from one question to the next, at most."""

_EXIT = 64
"""Instructions between the answer and where all who were told go on together, at most."""

_SHARED = ("shared", "shared::cta", "shared::cluster")

_QUIET = WITHOUT_EFFECT.keys() - FENCES - {"griddepcontrol"}
"""Opcodes of what neither changes values nor orders anything: one way has them, and another has not."""

_LEAVING = ("brx", "call", "exit", "ret")
"""Opcodes after which another instruction may come than the next."""


@dataclass(frozen=True)
class Poll:
    """A poll of a barrier.

    Attributes
    ----------
    meet : int, optional
        Index of the instruction at which all come together who asked, if it is known.
    refusal : str
        Why it is not as if the thread waited; empty if it is.
    ignored : bool
        Whether nobody looks at the answer, so that nobody waits for it.
    again : frozenset of int
        Indices of the polls that are asked next when this one fails.
    ahead : bool
        Whether it may be taken to fail: where the answer is looked at, the same is asked again.
    repeats : frozenset of int
        Indices of the polls ahead that ask the same before.
    """

    meet: int | None = None
    refusal: str = ""
    ignored: bool = False
    again: frozenset[int] = frozenset()
    ahead: bool = False
    repeats: frozenset[int] = frozenset()


NOT_ASKED = Poll()
"""Of what is no question."""


def is_poll(instruction: InstructionStatement) -> bool:
    """Tell whether an instruction asks whether a phase of a barrier object is over."""
    return instruction.opcode == "mbarrier" and instruction.one_of(POLLS) is not None


def barrier_polls(function: Function, regions: BranchRegions, leaders: frozenset[int]) -> Mapping[int, Poll]:
    """Find the questions of a kernel, by their indices in its body.

    Parameters
    ----------
    function : Function
        The kernel.
    regions : BranchRegions
        Of its branches.
    leaders : frozenset of int
        Where its basic blocks begin.
    """
    asked = [index for index, each in enumerate(function.body) if is_poll(each)]
    if not asked:
        return {}
    ways = _Ways(function, regions, leaders)
    polls = {index: ways.poll(index) for index in asked}
    polls = {index: _with_next(function, index, polls) for index in asked}
    return {index: replace(polls[index], repeats=_repeated(index, polls)) for index in asked}


def _repeated(at: int, polls: Mapping[int, Poll]) -> frozenset[int]:
    """Return the polls ahead that ask the same before, also with others ahead in between."""
    repeated, pending = set[int](), [at]
    while pending:
        which = pending.pop()
        more = {index for index, each in polls.items() if each.ahead and which in each.again} - repeated
        repeated |= more
        pending += more
    return frozenset(repeated)


def _with_next(function: Function, at: int, polls: Mapping[int, Poll]) -> Poll:
    """Return a poll, refused where one that is asked again in its place does not wait."""
    reached, pending = {at}, [at]
    while pending:
        for each in polls[pending.pop()].again - reached:
            reached.add(each)
            pending.append(each)
            line = function.body[each].line
            if polls[each].ignored or polls[each].ahead > polls[at].ahead:
                return Poll(None, f"no branch waits for the result of line {line}, which polls again")
            if polls[each].refusal:
                return Poll(None, polls[each].refusal)
    return polls[at]


class _RefusalError(Exception):
    """A question in vain is not without consequence."""


class _Ways:
    def __init__(self, function: Function, regions: BranchRegions, leaders: frozenset[int]) -> None:
        self._body = function.body
        self._labels = function.labels
        self._regions = regions
        self._leaders = leaders
        self._registers = FollowedRegisters(function)

    def poll(self, at: int) -> Poll:
        """Return what is so of a question."""
        answers = set(register_names(self._body[at].operands[:1]))
        if not answers & self._regions.live_at([at + 1]):
            return Poll(ignored=True)
        try:
            return self._asked_until_told(at)
        except _RefusalError as error:
            try:
                return self._asked_ahead(at)
            except _RefusalError:
                return Poll(None, str(error))

    def _asked_until_told(self, at: int) -> Poll:
        instruction = self._body[at]
        if instruction.predicate is not None:
            raise _RefusalError(f"{instruction.mnemonic} has a guard")
        state = self._before(at)
        answer = next(register_names(instruction.operands[:1]), "")
        told = state.holding(answer, 1)
        failed = state.holding(answer, 0)
        meets, again_at = self._asks_again(
            self._question(at, state), (at + 1, told), (at + 1, failed), WITHOUT_EFFECT.keys()
        )
        return Poll(meets.pop() if len(meets) == 1 else None, again=frozenset(again_at))

    def _asks_again(
        self,
        question: tuple[Value, ...],
        told: tuple[int, RegisterState],
        failed: tuple[int, RegisterState],
        idle: Set[str],
    ) -> tuple[set[int], set[int]]:
        """Return where who was told no meets who was told yes, and the polls that it asks again before.

        Opcodes of `idle` may come before it asks again.
        """
        meets, again_at = set[int](), set[int]()
        for again, other in self._asked_next(*failed, idle):
            if self._body[again].predicate is not None or self._question(again, other) != question:
                raise _RefusalError(f"line {self._body[again].line} polls something else after a failed poll")
            again_at.add(again)
            answer = next(register_names(self._body[again].operands[:1]), "")
            meets |= self._meets(told, again + 1, other.holding(answer, 1))
        return meets, again_at

    def _asked_ahead(self, at: int) -> Poll:
        """Return a poll whose answer is looked at later, by who then asks again if it was no."""
        instruction, state = self._body[at], self._before(at)
        guard = instruction.predicate
        if guard is not None:  # whose guard does not hold has not asked
            state = state.deciding(self._registers.held(state, guard.name), int(not guard.negated))
        answer = next(register_names(instruction.operands[:1]), "")
        question, again_at = self._question(at, state), set[int]()
        yes, no = (state.holding(answer, value) for value in (1, 0))
        pending, steps = [(at + 1, yes, no)], 0
        while pending:
            index, told, failed = pending.pop()
            while self._differing(told, failed, index):
                steps += 1
                if steps > _LONGEST or index >= len(self._body):
                    raise _RefusalError("too many instructions run before the result is tested")
                parted = self._parting(index, told, failed)
                if parted is not None:
                    again_at |= self._asks_again(question, (parted[0], told), (parted[1], failed), _QUIET)[1]
                    break
                nexts = self._in_step(index, told, failed)
                pending += nexts[1:]
                index, told, failed = nexts[0]
        return Poll(None, again=frozenset(again_at), ahead=True)

    def _parting(self, at: int, told: RegisterState, failed: RegisterState) -> tuple[int, int] | None:
        """Return where who was told yes goes, and who was told no, if a branch parts them."""
        instruction = self._body[at]
        guard = instruction.predicate
        if instruction.opcode != "bra" or guard is None:
            return None
        yes, no = (self._registers.held(each, guard.name) for each in (told, failed))
        if yes == no:
            return None
        if not isinstance(yes, int) or not isinstance(no, int):
            raise _RefusalError(f"line {instruction.line} depends on the result of a poll")
        target = self._labels[next(register_names(instruction.operands[:1]))]
        one, other = (target if each == int(not guard.negated) else at + 1 for each in (yes, no))
        return one, other

    def _in_step(
        self, at: int, told: RegisterState, failed: RegisterState
    ) -> list[tuple[int, RegisterState, RegisterState]]:
        """Run an instruction for who was told yes and who was told no, for whom it must be the same."""
        instruction, registers = self._body[at], self._registers
        written = written_registers(instruction)
        read = read_registers(instruction)
        same = all(registers.held(told, name) == registers.held(failed, name) for name in read)
        if instruction.opcode == "bra" or instruction.opcode in POINTWISE:
            ways = [self._nexts(at, each.copy()) for each in (told, failed)]
            found = [(index, one, other) for (index, one), (_, other) in zip(*ways, strict=True)]
            for _, one, other in found if same and instruction.opcode != "bra" else ():
                other.values |= {name: registers.held(one, name) for name in written}
            return found
        if instruction.opcode in _LEAVING or not same:
            raise _RefusalError(f"line {instruction.line} depends on the result of a poll")
        for name in written:
            told.values[name] = failed.values[name] = 1 if self._waits(at) else registers.unknown()
        return [(at + 1, told, failed)]

    def _waits(self, at: int) -> bool:
        """Tell whether a question is asked until it is told that the phase is over."""
        try:
            return is_poll(self._body[at]) and bool(self._asked_until_told(at))
        except _RefusalError:
            return False

    def _meets(self, at_once: tuple[int, RegisterState], after: int, later: RegisterState) -> set[int]:
        """Return where who was told later meets who was told at once, with the same registers, way by way."""
        found, pending, steps = set[int](), [(after, later)], 0
        while pending:
            index, state = pending.pop()
            start, told = at_once
            early = dict(self._trace(start, RegisterState(dict(told.values), dict(state.decided))))
            differing = list[str]()
            for _ in range(_EXIT):
                steps += 1
                if index in early:
                    differing = self._differing(early[index], state, index)
                    if not differing:
                        found.add(index)
                        break
                nexts = self._nexts(index, state) if steps <= _LONGEST else []
                if len(nexts) > 1:
                    pending += nexts
                    break
                if not nexts:
                    raise _RefusalError(self._never_meet(differing))
                index, state = nexts[0]
            else:
                raise _RefusalError(self._never_meet(differing))
        return found

    @staticmethod
    def _never_meet(differing: list[str]) -> str:
        if differing:
            return f"{differing[0]} depends on the number of polls"
        return "threads whose first poll succeeds take another path than those that poll again"

    def _differing(self, early: RegisterState, late: RegisterState, index: int) -> list[str]:
        """Return the registers that are read behind an instruction and hold something else there."""
        registers = self._registers
        differ = {
            name
            for name in early.values.keys() | late.values.keys()
            if registers.held(early, name) != registers.held(late, name)
        }
        return sorted(differ & self._regions.live_at([index]))

    # -- ways through the text
    def _asked_next(
        self, at: int, state: RegisterState, idle: Set[str]
    ) -> Iterator[tuple[int, RegisterState]]:
        """Yield the questions that come next on every way, and what registers hold there."""
        pending, steps = [(at, state)], 0
        while pending:
            at, state = pending.pop()
            while not (at < len(self._body) and is_poll(self._body[at])):
                steps += 1
                if steps > _LONGEST:
                    raise _RefusalError("too many instructions run before it polls again")
                nexts = self._nexts(at, state, idle)
                if not nexts:
                    raise _RefusalError(self._acts(at))
                pending += nexts[1:]
                at, state = nexts[0]
            yield at, state

    def _acts(self, at: int) -> str:
        if at >= len(self._body):
            return "the kernel ends before the phase is known to be over"
        each = self._body[at]
        return f"{each.mnemonic} in line {each.line} runs before the phase is known to be over"

    def _trace(self, at: int, state: RegisterState) -> Iterator[tuple[int, RegisterState]]:
        """Yield what comes one after the other, up to where that is not known, and registers before it."""
        for _ in range(_EXIT):
            yield at, state.copy()
            nexts = self._nexts(at, state)
            if len(nexts) != 1:
                return
            at, state = nexts[0]

    def _nexts(
        self, at: int, state: RegisterState, idle: Set[str] = _QUIET
    ) -> list[tuple[int, RegisterState]]:
        """Run an instruction on registers, and return what may come next; nothing if it does more."""
        if at >= len(self._body) or is_poll(self._body[at]):
            return []
        instruction = self._body[at]
        guard = instruction.predicate
        holds = None if guard is None else self._registers.held(state, guard.name)
        decided = state.decided.get(holds)
        if not isinstance(holds, int) and decided is not None:
            holds = decided
        acts = guard is None or (holds == int(not guard.negated) if isinstance(holds, int) else None)
        if instruction.opcode == "bra":
            target = self._labels[next(register_names(instruction.operands[:1]))]
            if acts is not None:
                return [(target if acts else at + 1, state)]
            assert guard is not None
            taken = int(not guard.negated)
            return [(target, state.deciding(holds, taken)), (at + 1, state.deciding(holds, 1 - taken))]
        if instruction.opcode in POINTWISE:
            if acts is not False:
                self._registers.compute(instruction, state, certain=bool(acts))
        elif instruction.opcode not in idle:
            return []
        return [(at + 1, state)]

    # -- questions
    def _before(self, at: int) -> RegisterState:
        """Return what registers hold at an instruction, by what they did where its basic block begins."""
        start = max(leader for leader in self._leaders if leader <= at)
        state = RegisterState()
        for index in range(start, at):
            instruction = self._body[index]
            if instruction.opcode in POINTWISE:
                self._registers.compute(instruction, state, certain=instruction.predicate is None)
            else:
                for name in written_registers(instruction):
                    state.values[name] = self._registers.unknown()
        return state

    def _question(self, at: int, state: RegisterState) -> tuple[Value, ...]:
        """Return all that decides what is asked, and what whoever is told yes knows."""
        instruction, registers = self._body[at], self._registers
        place, phase = instruction.operands[1:3]
        if not isinstance(place, Address):
            raise _RefusalError(f"{instruction.mnemonic} takes an [address]")
        base = place.base
        where = base.value if isinstance(base, Integer) else registers.value(base, state)
        space = instruction.one_of(_SHARED) is not None
        tells = (instruction.has("relaxed"), instruction.has("cluster"))
        return (where, place.offset, space, instruction.has("parity"), *tells, registers.value(phase, state))
