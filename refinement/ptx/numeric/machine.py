"""Runs some blocks of a launch on numbers: all their threads side by side, those furthest behind first."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ....spec.errors import UnsupportedError
from ...findings.finding import Kind
from ..registers.threads import Launch
from ..text.module import TYPE_BITS, Function, InstructionStatement, Module
from ..text.operands import Label
from .barriers import Arrivals, barrier_of, is_barrier
from .decoding import decoded, guarded
from .faults import BudgetError, Fault, FaultError
from .layout import Layout, layout
from .memory import Memory, Private, Stored, stored
from .races import Races
from .state import Code, State, Step
from .threads import EVERY, BlockThreads, Lanes

FILLS = (0xFF, 0x7F)
"""Bytes of memory that nobody has written: NaNs, or great numbers."""

NOTHING_WRITTEN: Mapping[str, bytes] = MappingProxyType({})
"""Of constant variables, where the host writes none."""

_ENDS = ("ret", "exit")


@dataclass
class _Segment:
    """Instructions that run one behind the other, and what comes then."""

    steps: list[tuple[InstructionStatement, Step]]
    last: InstructionStatement | None
    following: int
    is_of_warps: bool = False
    target: int = -1
    truth: Any = None
    barrier: Any = None


@dataclass(frozen=True)
class Ran:
    """What came of some blocks.

    Attributes
    ----------
    unknown : int
        How many of them have read numbers that are not known.
    uninitialised : mapping of str to InstructionStatement
        Arrays of which something was read that nobody has written.
    overflowed : bool
        Whether finite numbers became none, where roundings are drawn.
    seconds : float
        Processor time.
    """

    unknown: int
    uninitialised: dict[str, InstructionStatement]
    overflowed: bool
    seconds: float


class Program:
    """A kernel that is decoded for a launch.

    Parameters
    ----------
    module : Module
        Its PTX.
    entry : str
        Its name.
    launch : Launch
        Threads and dynamic shared memory.
    passed : list of bytes
        Its parameters, in order.
    arrays : list of Stored
        What its pointers point into, by number.
    written : mapping of str to bytes
        What the host has written to constant variables.

    Raises
    ------
    UnsupportedError
        If it has something that does not run on numbers.
    """

    def __init__(
        self,
        module: Module,
        entry: str,
        launch: Launch,
        passed: list[bytes],
        arrays: list[Stored],
        written: Mapping[str, bytes] = NOTHING_WRITTEN,
    ) -> None:
        if launch.cluster_blocks > 1:
            raise UnsupportedError("clusters on numbers")
        self.launch = launch
        function = module.functions[entry]
        dynamic = launch.dynamic_shared or 0
        self.layout: Layout = layout(module, function, passed, dynamic, len(arrays), written)
        self._parameters = stored("the parameters", self.layout.parameters, 1)
        self._take(function, arrays)

    def _take(self, function: Function, arrays: list[Stored]) -> None:
        self.function, self.arrays = function, [*arrays, *self.layout.arrays]
        self._segments = _segments(Code(function, self.layout.symbols), function)
        self._unit = _race_unit(function)

    def of(self, part: Function, arrays: list[Stored]) -> Program:
        """Return a part of the kernel, launched alike, on other arrays; raises as the whole does."""
        made = copy(self)
        made._take(part, arrays)
        return made

    def run(
        self,
        blocks: Sequence[int],
        *,
        fill: int,
        until: float,
        random: np.random.Generator | None = None,
    ) -> Ran:
        """Run blocks, side by side.

        Parameters
        ----------
        blocks : sequence of int
            Their linear numbers.
        fill : int
            What bytes are that nobody has written, of `FILLS`.
        until : float
            The processor time of this process at which to stop.
        random : Generator, optional
            Draws how inexact results are rounded.

        Raises
        ------
        FaultError
            If they do what they must not.
        BudgetError
            If it takes longer.
        UnsupportedError
            If something is reached that is not modelled.
        """
        started = time.process_time()
        threads = BlockThreads(self.launch, blocks)
        shared = Private(self.layout.shared, len(blocks), fill, threads.block)
        local = Private(self.layout.local, len(threads), fill, np.arange(len(threads)))
        state = State(threads, Memory(self.arrays, shared, local, self._parameters), random)
        state.declare(self.function)
        if self._unit:
            state.races = Races(len(shared.data), len(blocks), self._unit)
        with np.errstate(all="ignore"):
            self._scheduled(state, until)
        seconds = time.process_time() - started
        return Ran(int(state.unknown.sum()), state.uninitialised, state.overflowed, seconds)

    def _scheduled(self, state: State, until: float) -> None:
        total = len(state.threads)
        waiting: dict[int, list[Lanes]] = {0: [EVERY]}
        arrivals = Arrivals(state)
        while waiting:
            number, lanes = self._next(waiting, arrivals, total)
            if time.process_time() > until:
                raise BudgetError
            segment = self._segments[number]
            for instruction, step in segment.steps:
                state.instruction = instruction
                step(state, lanes)
            self._left(state, segment, lanes, waiting, arrivals)
            if not waiting and arrivals.waiting:
                state.instruction = arrivals.waiting[0].instruction
                what = f"{arrivals.count} threads wait at a barrier that others of their block never reach"
                raise FaultError(
                    Fault(Kind.DEADLOCK, what, state.instruction, depends=bool(state.unknown.any()))
                )

    def _next(self, waiting: dict[int, list[Lanes]], arrivals: Arrivals, total: int) -> tuple[int, Lanes]:
        """Return the first segment that threads can go on with, and which.

        What a warp does together waits for all of its threads, unless nobody else can go on.
        """
        for number in sorted(waiting):
            lanes = _united(waiting[number], total)
            if not self._segments[number].is_of_warps:
                break
            whole, others = arrivals.whole_warps(lanes)
            if whole is not None:
                waiting[number] = [] if others is None else [others]
                if others is None:
                    del waiting[number]
                return number, whole
        else:
            number = min(waiting)
            lanes = _united(waiting[number], total)
        del waiting[number]
        return number, lanes

    def _left(
        self,
        state: State,
        segment: _Segment,
        lanes: Lanes,
        waiting: dict[int, list[Lanes]],
        arrivals: Arrivals,
    ) -> None:
        """Send threads on behind a segment."""
        last = segment.last
        if last is None:
            _send(waiting, segment.following, lanes, self._segments)
            return
        state.instruction = last
        taken, rest = lanes, None
        if segment.truth is not None:
            truth = segment.truth(state, lanes)
            if last.predicate is not None and last.predicate.negated:
                truth = ~truth
            if not truth.all():
                indices = state.indices(lanes)
                taken, rest = (indices[truth] if truth.any() else None), indices[~truth]
        if rest is not None:
            _send(waiting, segment.following, rest, self._segments)
        if taken is None:
            return
        if segment.barrier is not None:
            for number, released in arrivals.arrive(segment.barrier, last, taken, segment.following):
                _send(waiting, number, released, self._segments)
        elif last.opcode in _ENDS:
            for number, released in arrivals.left(taken):
                _send(waiting, number, released, self._segments)
        else:
            _send(waiting, segment.target, taken, self._segments)


def _send(waiting: dict[int, list[Lanes]], number: int, lanes: Lanes, segments: list[_Segment]) -> None:
    if number < len(segments):
        waiting.setdefault(number, []).append(lanes)


def _united(parts: list[Lanes], total: int) -> Lanes:
    lanes = parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))
    return EVERY if lanes is not EVERY and len(lanes) == total else lanes


def _segments(code: Code, function: Function) -> list[_Segment]:
    """Return a kernel in segments: cut at labels, and behind branches and barriers."""
    body = function.body
    starts = {0, *function.labels.values()}
    starts |= {place + 1 for place, each in enumerate(body) if _cuts(each)}
    starts |= {place for place, each in enumerate(body) if _is_of_warps(each)}
    order = sorted(each for each in starts if each < len(body))
    number = {start: place for place, start in enumerate(order)}
    number[len(body)] = len(order)
    found = []
    for start, stop in zip(order, [*order[1:], len(body)], strict=True):
        last = body[stop - 1] if _cuts(body[stop - 1]) else None
        plain = body[start : stop - 1 if last is not None else stop]
        steps = [(each, _step(code, each)) for each in plain]
        segment = _Segment(steps, last, number[stop], _is_of_warps(body[start]))
        if last is not None:
            if last.predicate is not None:
                segment.truth = _truth(code, last)
            if last.opcode == "bra":
                target = last.operands[0]
                if not isinstance(target, Label):
                    raise UnsupportedError(f"line {last.line} of the PTX: {last.text} on numbers")
                segment.target = number[function.labels[target.name]]
            elif last.opcode not in _ENDS:
                segment.barrier = barrier_of(code, last)
        found.append(segment)
    return found


def _is_of_warps(instruction: InstructionStatement) -> bool:
    """Tell whether the threads of a warp do an instruction together."""
    return "sync" in instruction.modifiers and not is_barrier(instruction)


def _cuts(instruction: InstructionStatement) -> bool:
    return instruction.opcode in ("bra", "brx", *_ENDS) or is_barrier(instruction)


def _truth(code: Code, instruction: InstructionStatement) -> Any:
    assert instruction.predicate is not None
    name = instruction.predicate.name
    return lambda state, lanes: state.registers[name][lanes]


def _step(code: Code, instruction: InstructionStatement) -> Step:
    step = decoded(code, instruction)
    if instruction.predicate is None:
        return step
    return guarded(step, _truth(code, instruction), negated=instruction.predicate.negated)


def _race_unit(function: Function) -> int:
    """Return the bytes of the smallest access to shared memory; 0 where barriers are not all that orders."""
    unit = 16
    for each in function.body:
        if is_barrier(each) and not _is_of_all(each):
            return 0
        if each.opcode in ("mbarrier", "fence", "membar", "nanosleep"):
            return 0
        named = [word.partition("::")[0] for word in each.modifiers]
        others = ("global", "local", "param", "const")
        if each.opcode == "atom" and not any(word in others for word in named):
            return 0
        if each.opcode in ("ld", "st") and not any(word in others for word in named):
            if "volatile" in named or "relaxed" in named or "acquire" in named or "release" in named:
                return 0
            unit = min(unit, max(TYPE_BITS[each.types[-1]] // 8, 1))
        if each.opcode == "cp" and "async" in named:
            unit = min(unit, 4)
    return unit


def _is_of_all(instruction: InstructionStatement) -> bool:
    return (
        "sync" in instruction.modifiers and len(instruction.operands) == 1
    ) or "red" in instruction.modifiers
