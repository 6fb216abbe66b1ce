"""Exchanges between the threads of a warp: shuffles, votes, reductions.

Source: PTX ISA 9.1 sections 9.7.9.6 (shfl) and 9.7.13.9 to 9.7.13.14 (vote, match, activemask, redux).
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.formats import F32
from ....spec.ptx.open_results import INACTIVE_LANE
from ....spec.ptx.scalar.bits import BOOLEANS
from ...findings.finding import Kind
from ...terms import operations
from ...terms.chosen_words import word_at
from ...terms.evaluation import Words
from ...terms.slices import groups
from ...terms.store import TermStore
from ..memory.table_lookups import possible_values
from ..registers.threads import WARP, Indices
from ..registers.value_operations import applied, combined, constant, left_unknown
from ..registers.values import Value, known, of_terms
from ..scalar.floating import absolute
from ..scalar.specified import results
from ..state.execution import Decoders, Execution, Step
from ..state.handlers import Modifiers
from ..text.module import TYPE_BITS, InstructionStatement
from ..text.operands import Operand

Members = NDArray[np.bool_]
"""Which lanes (n active, 32) a thread exchanges with."""


def _bits(masks: Words) -> Members:
    found: Members = (masks[:, None] >> np.arange(WARP, dtype=np.uint64)) & np.uint64(1) != 0
    return found


def _members(execution: Execution, mask: Operand | None, active: Indices) -> Members:
    """Return the lanes that take part for each active thread: those of a mask that run, or all that run.

    A thread that its own mask leaves out is reported.

    Raises
    ------
    UnsupportedError
        If a mask names threads that have not ended and don't run this instruction now.
    """
    running = np.zeros(len(execution.threads), dtype=bool)
    running[active] = True
    beside = running.reshape(-1, WARP)[active // WARP]
    if mask is None:
        return beside
    opcode = execution.instruction.opcode
    named = _bits(execution.numbers(mask, 32, active, "the mask"))
    own = named[np.arange(len(active)), active % WARP]
    if not own.all():
        execution.report(Kind.UNDEFINED, f"{opcode} by a thread outside its mask {mask}", active[~own])
    if (named & execution.alive.reshape(-1, WARP)[active // WARP] & ~beside).any():
        execution.unsupported(f"{opcode} waits for threads of its mask that have diverged")
    return named & beside


# -- shuffles


def _shfl(instruction: InstructionStatement) -> Step:
    """Decode a shuffle; which lane a thread reads may depend on one small element: a table of lanes."""
    modifiers = Modifiers(instruction)
    synchronised = modifiers.flag("sync")
    mode = modifiers.one_of(("up", "down", "bfly", "idx"))
    modifiers.type(("b32",))
    modifiers.finish()
    destination, given, *steering = modifiers.operands(5 if synchronised else 4)
    first, second = results(destination)
    mask = steering[2] if synchronised else None

    def step(execution: Execution, active: Indices) -> None:
        held = execution.read(given, 32, active)
        lanes = execution.read(steering[0], 32, active)
        c = execution.numbers(steering[1], 32, active, "the lane of shfl").astype(np.int64)
        members = _members(execution, mask, active)
        everyone = np.arange(len(active))
        result, inside = _taken(execution, mode, held, (members, active), everyone, lanes.numbers, c)
        if lanes.terms is not None:
            for some, keys, codes, entries in possible_values(execution, lanes, "the lane"):
                words = []
                for b in entries.T:
                    each, within = _taken(execution, mode, held, (members, active), some, b, c)
                    words.append(each.as_terms(execution.store))
                    if second is not None and (within != inside[some]).any():
                        execution.unsupported(
                            f"{instruction.mnemonic}: whether a source lane is in range depends on data"
                        )
                    inside[some] = within
                chosen = word_at(execution.store, keys, codes, np.stack(words, axis=1)[:, :, None])
                result = result.updated(some, of_terms(execution.store, chosen[:, 0], 32))
        execution.write(first, result, active)
        if second is not None:
            execution.write(second, known(inside, 1), active)

    return step


def _taken(
    execution: Execution,
    mode: str,
    held: Value,
    warp: tuple[Members, Indices],
    some: NDArray[np.intp],
    b: Words,
    c: NDArray[np.int64],
) -> tuple[Value, NDArray[np.bool_]]:
    """Return what some of the active threads get of what all hold, and whether from the lane asked for.

    Parameters
    ----------
    execution : Execution
        The state of the threads.
    mode : str
        Of the shuffle.
    held : Value
        What the active threads hold.
    warp : (array, array)
        Which lanes take part for each active thread, and these.
    some : array (n,)
        Which of the active threads.
    b, c : array (n,), array (n active,)
        What steers it: the lane or distance, and the segment.
    """
    members, active = warp
    lane = active[some] % WARP
    source, inside = _source(mode, lane, b.astype(np.int64), c[some])
    place = np.zeros(len(execution.threads), dtype=np.int64)
    place[active] = np.arange(len(active))
    taken = members[some, source]
    result = held.at(place[np.where(taken, active[some] - lane + source, active[some])])
    return left_unknown(execution.store, result, ~taken, INACTIVE_LANE), inside


def _source(
    mode: str, lane: NDArray[np.int64], b: NDArray[np.int64], c: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the lane that each thread reads, and whether it is the one asked for, not the thread's own."""
    amount, limit, segment = b & 0x1F, c & 0x1F, c >> 8 & 0x1F
    least = lane & segment
    greatest = least | limit & ~segment
    match mode:
        case "up":
            source = lane - amount
            inside = source >= greatest
        case "down":
            source = lane + amount
            inside = source <= greatest
        case "bfly":
            source = lane ^ amount
            inside = source <= greatest
        case _:
            source = least | amount & ~segment
            inside = source <= greatest
    return np.where(inside, source, lane), inside


# -- votes


def _vote(instruction: InstructionStatement) -> Step:
    modifiers = Modifiers(instruction)
    synchronised = modifiers.flag("sync")
    mode = modifiers.one_of(("all", "any", "uni", "ballot"))
    modifiers.type(("b32",) if mode == "ballot" else ("pred",))
    modifiers.finish()
    destination, given, *masks = modifiers.operands(3 if synchronised else 2)

    def step(execution: Execution, active: Indices) -> None:
        answers = execution.numbers(given, 1, active, "the predicate").astype(bool)
        members = _members(execution, masks[0] if masks else None, active)
        yes = _beside(execution, answers, active) & members
        if mode == "ballot":
            execution.write(destination, known(_packed(yes), 32), active)
            return
        everyone, anyone = (yes == members).all(axis=1), yes.any(axis=1)
        found = {"all": everyone, "any": anyone, "uni": everyone | ~anyone}[mode]
        execution.write(destination, known(found, 1), active)

    return step


def _beside(execution: Execution, answers: NDArray[np.bool_], active: Indices) -> Members:
    """Return the answers of the whole warp, for each active thread."""
    found = np.zeros(len(execution.threads), dtype=bool)
    found[active] = answers
    return found.reshape(-1, WARP)[active // WARP]


def _packed(lanes: Members) -> Words:
    words: Words = (lanes.astype(np.uint64) << np.arange(WARP, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    return words


def _match(instruction: InstructionStatement) -> Step:
    modifiers = Modifiers(instruction)
    modifiers.one_of(("sync",))
    mode = modifiers.one_of(("any", "all"))
    width = TYPE_BITS[modifiers.type(("b32", "b64"))]
    modifiers.finish()
    destination, given, mask = modifiers.operands(3)
    first, second = results(destination)
    if second is not None and mode == "any":
        raise modifiers.unsupported("has one result")

    def step(execution: Execution, active: Indices) -> None:
        numbers = execution.numbers(given, width, active, "the operand")
        members = _members(execution, mask, active)
        whole = np.zeros(len(execution.threads), dtype=np.uint64)
        whole[active] = numbers
        alike = (whole.reshape(-1, WARP)[active // WARP] == numbers[:, None]) & members
        if mode == "any":
            execution.write(first, known(_packed(alike), 32), active)
            return
        every = (alike == members).all(axis=1)
        execution.write(first, known(np.where(every, _packed(members), np.uint64(0)), 32), active)
        if second is not None:
            execution.write(second, known(every, 1), active)

    return step


def _activemask(instruction: InstructionStatement) -> Step:
    modifiers = Modifiers(instruction)
    modifiers.type(("b32",))
    modifiers.finish()
    (destination,) = modifiers.operands(1)

    def step(execution: Execution, active: Indices) -> None:
        # PTX promises no convergence: the mask may leave out any lane but the one that asks.
        execution.assumptions[
            f"activemask in line {instruction.line} finds all lanes converged that its branches bring there"
        ] = None
        execution.write(destination, known(_packed(_members(execution, None, active)), 32), active)

    return step


# -- reductions

Combine = Callable[[TermStore, Value, Value], Value]


def _redux(instruction: InstructionStatement) -> Step:
    modifiers = Modifiers(instruction)
    modifiers.one_of(("sync",))
    combine, magnitudes = _reduction(modifiers)
    modifiers.finish()
    destination, given, mask = modifiers.operands(3)

    def step(execution: Execution, active: Indices) -> None:
        store = execution.store
        held = execution.read(given, 32, active)
        if magnitudes:
            held = absolute(store, held, F32)
        members = _members(execution, mask, active)
        place = np.zeros(len(execution.threads), dtype=np.int64)
        place[active] = np.arange(len(active))
        result = constant(0, 32, held)
        for threads in groups(members):
            lanes = np.flatnonzero(members[threads[0]])
            if not len(lanes):
                continue
            warps, own = np.unique(active[threads] // WARP, return_inverse=True)
            total, *others = (held.at(place[warps * WARP + lane]) for lane in lanes)
            for other in others:
                total = combine(store, total, other)
            result = result.updated(threads, total.at(own))
        execution.write(destination, result, active)

    return step


def _reduction(modifiers: Modifiers) -> tuple[Combine, bool]:
    name = modifiers.one_of(("add", "min", "max", "and", "or", "xor"))
    if name in BOOLEANS:
        modifiers.type(("b32",))
        table = BOOLEANS[name]
        return (lambda store, a, b: combined(store, table, a, b)), False
    kind = modifiers.type(("u32", "s32") if name == "add" else ("u32", "s32", "f32"))
    if name == "add":
        total = operations.ring(32, 0, 2)
        return (lambda store, a, b: applied(store, total, a, b)), False
    if kind == "f32":
        magnitudes, nan = modifiers.flag("abs"), modifiers.flag("NaN")
        operation = operations.extremum(F32, name, nan=nan)
        return (lambda store, a, b: applied(store, operation, a, b)), magnitudes
    fmt = operations.signed(32) if kind == "s32" else operations.unsigned(32)
    return (lambda store, a, b: applied(store, operations.extremum(fmt, name), a, b)), False


HANDLERS: Decoders = MappingProxyType(
    {"shfl": _shfl, "vote": _vote, "match": _match, "activemask": _activemask, "redux": _redux}
)
"""Decoders of this module's instructions."""
