"""Spin loops on a word in global memory: semaphores, locks, turns.

What such a loop reads decides when the loop ends, and nothing else: however often it ran, and whatever it
read before, what follows is the same. That is shown here of a kernel's text; `semaphores` says what it means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..instruction_set import POINTWISE
from ..state.semaphore_words import WaitingLoops
from ..text.control_flow import ControlFlow
from ..text.module import Function, InstructionStatement
from ..text.operands import register_names
from .branch_regions import BranchRegions

_STRONG = ("acquire", "relaxed", "volatile")
_OTHER_SPACES = ("shared::cluster", "local", "const", "param")
_SHARED = ("shared", "shared::cta")
_IDLE = frozenset({"nanosleep", "fence", "membar"})
_BARRIERS = frozenset({"bar", "barrier"})


class _Effect(NamedTuple):
    written: frozenset[str]
    read: frozenset[str]


def _effect(instruction: InstructionStatement) -> _Effect:
    """Return the registers that an instruction writes and reads, its guard left out."""
    if instruction.opcode == "bra":
        return _Effect(frozenset(), frozenset())
    writes = instruction.opcode in POINTWISE or instruction.opcode == "ld" or _reduces(instruction)
    operands = instruction.operands
    written = register_names(operands[:1]) if writes else ()
    return _Effect(frozenset(written), frozenset(register_names(operands[1:] if writes else operands)))


def _reduces(instruction: InstructionStatement) -> bool:
    return instruction.opcode in _BARRIERS and instruction.has("red")


def waiting_loops(function: Function, flow: ControlFlow, regions: BranchRegions) -> WaitingLoops:
    """Find the loops in which a kernel waits.

    A loop with a ``.volatile`` load of shared memory that does more than wait is one as any other.
    """
    found, does_more = _among(function, flow, regions, _OTHER_SPACES)
    near = any(function.body[load].one_of(_SHARED) for load in found.loads)
    return _among(function, flow, regions, _OTHER_SPACES + _SHARED)[0] if near and does_more else found


def _among(
    function: Function, flow: ControlFlow, regions: BranchRegions, others: Sequence[str]
) -> tuple[WaitingLoops, bool]:
    """Find the loops in which a kernel waits for words that are in none of some spaces.

    Returned with them is whether one of them does more than wait.
    """
    body = function.body
    strong = [
        index
        for index, each in enumerate(body)
        if each.opcode == "ld"
        and each.one_of(_STRONG)
        and each.one_of(others) is None
        and not _is_vector(each)
    ]
    if not strong:
        return WaitingLoops(), False
    effects = [_effect(instruction) for instruction in body]
    loads = set(strong)
    for _ in range(len(strong) + 1):
        told = _told(effects, body, loads)
        branches = [i for i, each in enumerate(body) if each.opcode == "bra" and _guard(each) & told]
        inside = {at for branch in branches for at in regions.between(branch)}
        weak = {index for index in loads if not body[index].has("acquire")}
        # A volatile or relaxed load is one that waits only if what it reads decides how often it is read.
        plain = {index for index in weak if index not in inside}
        plain -= {index for index in plain if _begins_a_loop(index, loads, effects, body, branches, regions)}
        if not plain:
            break
        loads -= plain
    if not loads:
        return WaitingLoops(), False
    does_more = _not_quiet(body, effects, told, loads, branches, regions, flow)
    refusal = _misused(body, effects, told) or does_more
    together = any(_reduces(body[index]) for index in inside)
    if together and any(
        _guard(body[branch]) & _told(effects, body, loads, alone=True) for branch in branches
    ):
        refusal = refusal or "some threads wait at a barrier, and some alone"
    near = any(body[index].one_of(_SHARED) or not body[index].has("global") for index in loads)
    found = WaitingLoops(frozenset(loads), frozenset(branches), frozenset(inside), together, near, refusal)
    return found, bool(does_more)


def _begins_a_loop(
    at: int,
    loads: set[int],
    effects: list[_Effect],
    body: Sequence[InstructionStatement],
    branches: Sequence[int],
    regions: BranchRegions,
) -> bool:
    """Tell whether a load is the first look, put before it, of a loop that waits for the same word."""

    def decided(by: int) -> Iterable[set[int]]:
        told = _told(effects, body, {by})
        return (regions.between(branch) for branch in branches if _guard(body[branch]) & told)

    again = {load for load in loads - {at} if body[load].operands[1] == body[at].operands[1]}
    waiting = {each for each in again if any(each in inside for inside in decided(each))}
    return any(waiting & inside for inside in decided(at))


def _is_vector(instruction: InstructionStatement) -> bool:
    return instruction.one_of(("v2", "v4", "v8")) is not None


def _guard(instruction: InstructionStatement) -> set[str]:
    return set() if instruction.predicate is None else {instruction.predicate.name}


def _told(
    effects: list[_Effect], body: Iterable[InstructionStatement], loads: set[int], *, alone: bool = False
) -> set[str]:
    """Return the registers whose values descend from what some loads read: `alone`, in the same thread."""
    told = {name for index in loads for name in effects[index].written}
    changed = True
    while changed:
        changed = False
        for effect, instruction in zip(effects, body, strict=True):
            if instruction.opcode == "ld" or (alone and _reduces(instruction)):
                continue
            if effect.read & told and not effect.written <= told:
                told |= effect.written
                changed = True
    return told


def _misused(body: tuple[InstructionStatement, ...], effects: list[_Effect], told: set[str]) -> str:
    """Return for what else than to wait the value of a word is used."""
    for instruction, effect in zip(body, effects, strict=True):
        pure = instruction.opcode in POINTWISE or _reduces(instruction)
        if (effect.read & told and not pure) or (_guard(instruction) & told and instruction.opcode != "bra"):
            return f"{instruction.mnemonic} in line {instruction.line} depends on it"
    return ""


def _not_quiet(
    body: tuple[InstructionStatement, ...],
    effects: list[_Effect],
    told: set[str],
    loads: set[int],
    branches: list[int],
    regions: BranchRegions,
    flow: ControlFlow,
) -> str:
    """Return what a loop does besides waiting."""
    for branch in branches:
        meet = flow.reconvergence(branch)
        if meet is None:
            return f"the paths of the branch in line {body[branch].line} never meet"
        inside = sorted(regions.between(branch) | {branch})
        fixed = _invariant(body, effects, inside, told)
        for index in inside:
            each, effect = body[index], effects[index]
            if index in loads or each.opcode in _IDLE:
                continue
            if each.opcode == "bra":
                if not _guard(each) <= told | fixed:
                    return f"the wait also depends on {each.predicate} in line {each.line}"
            elif each.opcode in _BARRIERS and not each.has("warp"):
                if each.has("arrive") or len(each.operands) > (3 if _reduces(each) else 1):
                    return f"{each.mnemonic} in line {each.line} is within the loop"
            elif each.opcode not in POINTWISE:
                return f"{each.mnemonic} in line {each.line} is within the loop"
            elif not effect.written <= told and effect.written & regions.read_behind(meet):
                return f"{each.mnemonic} in line {each.line} counts the iterations"
        if _remembers(effects, inside, told, loads):
            return f"the branch in line {body[branch].line} depends on more than the value read last"
    return ""


def _invariant(
    body: tuple[InstructionStatement, ...], effects: list[_Effect], inside: list[int], told: set[str]
) -> set[str]:
    """Return the registers that are the same whenever a loop comes to them."""
    varying = set(told)
    changed = True
    while changed:
        changed = False
        for index in inside:
            effect, each = effects[index], body[index]
            varies = bool(effect.read & varying) or bool(_guard(each)) or each.opcode not in POINTWISE
            itself = bool(effect.written & effect.read)
            if (varies or itself) and not effect.written <= varying:
                varying |= effect.written
                changed = True
    everything = {name for effect in effects for name in effect.read | effect.written}
    guards = {name for instruction in body for name in _guard(instruction)}
    return (everything | guards) - varying


def _remembers(effects: list[_Effect], inside: list[int], told: set[str], loads: set[int]) -> bool:
    """Tell whether a value goes from one turn of a loop to the next but by way of what is read."""
    needs: dict[str, set[str]] = {}
    for index in inside:
        if index in loads:
            continue
        for name in effects[index].written & told:
            needs.setdefault(name, set()).update(effects[index].read & told)
    done: set[str] = set()

    def circular(name: str, above: frozenset[str]) -> bool:
        if name in above:
            return True
        if name in done:
            return False
        found = any(circular(each, above | {name}) for each in needs.get(name, ()))
        done.add(name)
        return found

    return any(circular(name, frozenset()) for name in needs)
