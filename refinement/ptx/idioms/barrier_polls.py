"""Polls of barrier objects: a failed test only asks again.

``mbarrier.test_wait`` and ``try_wait`` say whether a phase is over, which depends on when they are asked. A
kernel is run here as if they waited. That is what it does on hardware if whoever is told that the phase is
not over comes to ask the same of the same barrier again, has done nothing in between, and leaves with the
same registers as who was told at once, of those that are read behind. This is shown here of a kernel's text,
way by way: both ways of a branch that depends on how often was asked, or on a clock.

Whoever asks ahead does other things before it looks at the answer, and asks again then if the phase was not
over. That is run as if the answer was no: what it does in between does not depend on the answer, and whoever
is told yes knows no less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

from ....spec.ptx.open_results import SPECIAL_REGISTERS as OPEN_REGISTERS
from ....spec.ptx.operands import Address, Integer, Negated, Register
from ..instruction_set import POINTWISE
from ..scalar.hints import WITHOUT_EFFECT
from ..text.module import Function, InstructionStatement
from ..text.operands import Operand, SpecialRegister, Symbol, register_names
from .branch_regions import BranchRegions

POLLS = ("test_wait", "try_wait")
"""What asks whether a phase is over."""

_LONGEST = 4096
"""Instructions on all ways from one question to the next, at most."""

_EXIT = 64
"""Instructions between the answer and where all who were told go on together, at most."""

_SMALL = 1 << 15
"""Numbers below this are the same in every integer type."""

_LEAVING = ("brx", "call", "exit", "ret")
"""Opcodes after which another instruction may come than the next."""

_Value = object
"""A number, what a register held at first, or what an instruction makes of such."""


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
    """

    meet: int | None = None
    refusal: str = ""
    ignored: bool = False
    again: frozenset[int] = frozenset()
    ahead: bool = False


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
    return {index: _with_next(function, index, polls) for index in asked}


def _with_next(function: Function, at: int, polls: Mapping[int, Poll]) -> Poll:
    """Return a poll, refused where one that is asked again in its place does not wait."""
    reached, pending = {at}, [at]
    while pending:
        for each in polls[pending.pop()].again - reached:
            reached.add(each)
            pending.append(each)
            line = function.body[each].line
            if polls[each].ignored or polls[each].ahead > polls[at].ahead:
                return Poll(None, f"nobody waits for the answer of line {line}, which asks again")
            if polls[each].refusal:
                return Poll(None, polls[each].refusal)
    return polls[at]


class _RefusalError(Exception):
    """A question in vain is not without consequence."""


@dataclass
class _State:
    """What registers hold, of those that were written since.

    Attributes
    ----------
    held : dict of str to value
        By their names.
    decided : dict of value to int
        What guards that are not known are taken for on this way: other branches on the same go along.
    """

    held: dict[str, _Value] = field(default_factory=dict)
    decided: dict[_Value, int] = field(default_factory=dict)

    def copy(self) -> _State:
        return _State(dict(self.held), dict(self.decided))

    def deciding(self, value: _Value, holds: int) -> _State:
        found = self.copy()
        found.decided[value] = holds
        return found


class _Ways:
    def __init__(self, function: Function, regions: BranchRegions, leaders: frozenset[int]) -> None:
        self._body = function.body
        self._labels = function.labels
        self._regions = regions
        self._leaders = leaders
        self._fresh = count()
        self._constants = dict[str, _Value]()
        self._find_constants()

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
        told = self._answered(state, answer, at, 1)
        failed = self._answered(state, answer, at, 0)
        meets, again_at = self._asks_again(self._question(at, state), (at + 1, told), (at + 1, failed))
        return Poll(meets.pop() if len(meets) == 1 else None, again=frozenset(again_at))

    def _asks_again(
        self, question: tuple[_Value, ...], told: tuple[int, _State], failed: tuple[int, _State]
    ) -> tuple[set[int], set[int]]:
        """Return where who was told no meets who was told yes, and the polls that it asks again before."""
        meets, again_at = set[int](), set[int]()
        for again, other in self._asked_next(*failed):
            if self._body[again].predicate is not None or self._question(again, other) != question:
                raise _RefusalError(f"line {self._body[again].line} polls something else after a failed poll")
            again_at.add(again)
            answer = next(register_names(self._body[again].operands[:1]), "")
            meets |= self._meets(told, again + 1, self._answered(other, answer, again, 1))
        return meets, again_at

    def _asked_ahead(self, at: int) -> Poll:
        """Return a poll whose answer is looked at later, by who then asks again if it was no."""
        instruction, state = self._body[at], self._before(at)
        guard = instruction.predicate
        if guard is not None:  # whose guard does not hold has not asked
            state = state.deciding(self._held(state, guard.name), int(not guard.negated))
        answer = next(register_names(instruction.operands[:1]), "")
        question, again_at = self._question(at, state), set[int]()
        yes, no = (self._answered(state, answer, at, value) for value in (1, 0))
        pending, steps = [(at + 1, yes, no)], 0
        while pending:
            index, told, failed = pending.pop()
            while self._differing(told, failed, index):
                steps += 1
                if steps > _LONGEST or index >= len(self._body):
                    raise _RefusalError("what runs before the answer is looked at is too long")
                parted = self._parting(index, told, failed)
                if parted is not None:
                    again_at |= self._asks_again(question, (parted[0], told), (parted[1], failed))[1]
                    break
                nexts = self._in_step(index, told, failed)
                pending += nexts[1:]
                index, told, failed = nexts[0]
        return Poll(None, again=frozenset(again_at), ahead=True)

    def _parting(self, at: int, told: _State, failed: _State) -> tuple[int, int] | None:
        """Return where who was told yes goes, and who was told no, if a branch parts them."""
        instruction = self._body[at]
        guard = instruction.predicate
        if instruction.opcode != "bra" or guard is None:
            return None
        yes, no = (self._held(each, guard.name) for each in (told, failed))
        if yes == no:
            return None
        if not isinstance(yes, int) or not isinstance(no, int):
            raise _RefusalError(f"line {instruction.line} depends on the answer of a poll")
        target = self._labels[next(register_names(instruction.operands[:1]))]
        one, other = (target if each == int(not guard.negated) else at + 1 for each in (yes, no))
        return one, other

    def _in_step(self, at: int, told: _State, failed: _State) -> list[tuple[int, _State, _State]]:
        """Run an instruction for who was told yes and who was told no, for whom it must be the same."""
        instruction = self._body[at]
        guard = () if instruction.predicate is None else (instruction.predicate.name,)
        written = _written(instruction)
        used = {*register_names(instruction.operands), *guard}.difference(() if guard else written)
        same = all(self._held(told, name) == self._held(failed, name) for name in used)
        if instruction.opcode == "bra" or instruction.opcode in POINTWISE:
            ways = [self._nexts(at, each.copy()) for each in (told, failed)]
            found = [(index, one, other) for (index, one), (_, other) in zip(*ways, strict=True)]
            for _, one, other in found if same and instruction.opcode != "bra" else ():
                other.held |= {name: self._held(one, name) for name in written}
            return found
        if instruction.opcode in _LEAVING or not same:
            raise _RefusalError(f"line {instruction.line} depends on the answer of a poll")
        for name in written:
            told.held[name] = failed.held[name] = 1 if self._waits(at) else self._unknown()
        return [(at + 1, told, failed)]

    def _waits(self, at: int) -> bool:
        """Tell whether a question is asked until it is told that the phase is over."""
        try:
            return is_poll(self._body[at]) and bool(self._asked_until_told(at))
        except _RefusalError:
            return False

    def _meets(self, at_once: tuple[int, _State], after: int, later: _State) -> set[int]:
        """Return where who was told later meets who was told at once, with the same registers, way by way."""
        found, pending, steps = set[int](), [(after, later)], 0
        while pending:
            index, state = pending.pop()
            start, told = at_once
            early = dict(self._trace(start, _State(dict(told.held), dict(state.decided))))
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
        return "threads whose first poll succeeds continue elsewhere than those that poll again"

    def _differing(self, early: _State, late: _State, index: int) -> list[str]:
        """Return the registers that are read behind an instruction and hold something else there."""
        differ = {
            name
            for name in early.held.keys() | late.held.keys()
            if self._held(early, name) != self._held(late, name)
        }
        return sorted(differ & self._regions.live_at([index]))

    # -- ways through the text
    def _asked_next(self, at: int, state: _State) -> Iterator[tuple[int, _State]]:
        """Yield the questions that come next on every way, and what registers hold there."""
        pending, steps = [(at, state)], 0
        while pending:
            at, state = pending.pop()
            while not (at < len(self._body) and is_poll(self._body[at])):
                steps += 1
                if steps > _LONGEST:
                    raise _RefusalError("what runs before it is asked again is too long")
                nexts = self._nexts(at, state)
                if not nexts:
                    raise _RefusalError(self._acts(at))
                pending += nexts[1:]
                at, state = nexts[0]
            yield at, state

    def _acts(self, at: int) -> str:
        if at >= len(self._body):
            return "the kernel ends where the phase may not be over"
        each = self._body[at]
        return f"{each.mnemonic} in line {each.line} runs where the phase may not be over"

    def _trace(self, at: int, state: _State) -> Iterator[tuple[int, _State]]:
        """Yield what comes one after the other, up to where that is not known, and registers before it."""
        for _ in range(_EXIT):
            yield at, state.copy()
            nexts = self._nexts(at, state)
            if len(nexts) != 1:
                return
            at, state = nexts[0]

    def _nexts(self, at: int, state: _State) -> list[tuple[int, _State]]:
        """Run an instruction on registers, and return what may come next; nothing if it does more."""
        if at >= len(self._body) or is_poll(self._body[at]):
            return []
        instruction = self._body[at]
        guard = instruction.predicate
        holds = None if guard is None else self._held(state, guard.name)
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
                self._compute(instruction, state, certain=bool(acts))
        elif instruction.opcode not in WITHOUT_EFFECT:
            return []
        return [(at + 1, state)]

    # -- what registers hold
    def _before(self, at: int) -> _State:
        """Return what registers hold at an instruction, by what they did where its basic block begins."""
        start = max(each for each in self._leaders if each <= at)
        state = _State()
        for index in range(start, at):
            instruction = self._body[index]
            if instruction.opcode in POINTWISE:
                self._compute(instruction, state, certain=instruction.predicate is None)
            else:
                for name in _written(instruction):
                    state.held[name] = self._unknown()
        return state

    def _answered(self, state: _State, answer: str, at: int, value: int) -> _State:
        answered = state.copy()
        answered.held[answer] = value
        return answered

    def _question(self, at: int, state: _State) -> tuple[_Value, ...]:
        instruction = self._body[at]
        place, phase = instruction.operands[1:3]
        if not isinstance(place, Address):
            raise _RefusalError(f"{instruction.mnemonic} takes an [address]")
        base = place.base
        where = base.value if isinstance(base, Integer) else self._of(base, state)
        return (where, place.offset, instruction.has("parity"), self._of(phase, state))

    def _held(self, state: _State, name: str) -> _Value:
        if name in state.held:
            return state.held[name]
        return self._constants.get(name, ("register", name))

    def _of(self, operand: Operand, state: _State) -> _Value:
        match operand:
            case SpecialRegister(name=name):
                return self._unknown() if name in OPEN_REGISTERS else ("special", name)
            case Symbol(name=name):
                return ("symbol", name)
            case Register(name=name):
                return self._held(state, name)
            case Integer(value=value):
                return value
            case Negated(register=register):
                found = self._held(state, register.name)
                return 1 - found if isinstance(found, int) else ("not", found)
        names = tuple(self._held(state, name) for name in register_names([operand]))
        base = operand.base if isinstance(operand, Address) else None
        if isinstance(base, Symbol):
            return ("in memory", str(operand))
        return (str(operand), *names)

    def _unknown(self) -> _Value:
        return ("unknown", next(self._fresh))

    def _compute(self, instruction: InstructionStatement, state: _State, *, certain: bool) -> None:
        """Write what an instruction makes of registers; nobody knows what where it may not run."""
        written = _written(instruction)
        given = [self._of(each, state) for each in instruction.operands[1:]]
        for place, name in enumerate(written):
            made = _made(instruction, given) if not place else None
            if made is None:
                made = (instruction.mnemonic, place, *given)
            state.held[name] = made if certain else self._unknown()

    def _find_constants(self) -> None:
        """Find registers that hold one value wherever they hold any."""
        definitions = dict[str, list[InstructionStatement]]()
        for each in self._body:
            for name in _written(each):
                definitions.setdefault(name, []).append(each)
        single = {
            name: found[0]
            for name, found in definitions.items()
            if len(found) == 1
            and found[0].predicate is None
            and (found[0].opcode in POINTWISE or _is_parameter(found[0]))
            and isinstance(found[0].operands[0], Register)
        }
        changed = True
        while changed:
            changed = False
            for name, instruction in single.items():
                if name in self._constants:
                    continue
                given = [self._of(each, _State(dict(self._constants))) for each in instruction.operands[1:]]
                if not any(_varies(each) for each in given):
                    made = _made(instruction, given)
                    self._constants[name] = (instruction.mnemonic, 0, *given) if made is None else made
                    changed = True


def _varies(value: _Value) -> bool:
    """Tell whether a value is not the same at all times."""
    if not isinstance(value, tuple):
        return False
    return value[:1] in (("register",), ("unknown",)) or any(_varies(each) for each in value[1:])


def _written(instruction: InstructionStatement) -> list[str]:
    """Return the registers that an instruction writes: its first operand's, if that is no address."""
    first = instruction.operands[:1]
    return [] if first and isinstance(first[0], Address) else list(register_names(first))


def _is_parameter(instruction: InstructionStatement) -> bool:
    """Tell whether an instruction loads a parameter of the kernel."""
    return instruction.opcode == "ld" and instruction.one_of(("param", "param::entry")) is not None


def _made(instruction: InstructionStatement, given: list[_Value]) -> _Value | None:
    """Return what an instruction gives that passes an answer on, None if it does not say."""
    opcode = instruction.opcode
    if not isinstance(instruction.operands[0], Register):
        return None
    if opcode == "mov" and len(given) == 1:
        return given[0]
    if opcode == "selp" and len(given) == 3 and isinstance(given[2], int):
        return given[0] if given[2] else given[1]
    integers = [each for each in given if isinstance(each, int)]
    if len(integers) < len(given) or not all(0 <= each < _SMALL for each in integers):
        return None
    if opcode == "setp" and len(given) == 2 and instruction.one_of(("eq", "ne")) is not None:
        return int((integers[0] == integers[1]) == instruction.has("eq"))
    if opcode == "cvt" and integers[0] in (0, 1) and not {"f16", "f32", "f64"} & {*instruction.modifiers}:
        return integers[0]
    if len(given) == 2 and opcode in ("and", "or", "xor"):
        one, other = integers
        return {"and": one & other, "or": one | other, "xor": one ^ other}[opcode]
    return 1 - integers[0] if opcode == "not" and instruction.has("pred") else None
