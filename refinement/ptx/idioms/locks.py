"""Locks that any block may take first: ``while (atomicCAS(&lock, 0, 1) != 0);`` … ``atomicExch(&lock, 0)``.

Blocks run one after the other here, so that a lock is always free when it is taken; who takes it after whom
is tried in every order, see `every_order`. On hardware a thread may go round the loop before: that makes no
difference, as is shown here of the kernel's text, if a turn of the loop leaves nothing that the next one, or
what is behind the loop, reads, but for what its last turn leaves. Compilers put the first turn before the
loop, where that has more to do, such as to sleep for ever longer times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..instruction_set import POINTWISE
from ..text.control_flow import ControlFlow
from ..text.module import Function, InstructionStatement
from ..text.operands import register_names
from .branch_regions import BranchRegions, results

_OTHERWISE = frozenset({"nanosleep", "fence", "membar"})
_SHARED = ("shared", "shared::cta")


def lock_loops(function: Function, flow: ControlFlow, regions: BranchRegions) -> Mapping[int, str]:
    """Return the places of ``atom.cas`` in loops, and why each is none that only waits, or nothing."""
    return {
        index: _refusal(index, function, flow, regions)
        for index, each in enumerate(function.body)
        if each.opcode == "atom" and each.has("cas")
    }


def _refusal(at: int, function: Function, flow: ControlFlow, regions: BranchRegions) -> str:
    """Return why an ``atom.cas`` is not modelled as one that takes a lock; empty if it is."""
    found = _innermost(at, function, regions)
    if found is None:
        return _refusal_of_first(at, function, flow, regions)
    body, (branch, inside) = function.body, found
    for index in sorted(inside):
        if index != at and not _is_quiet(body[index]):
            return f"{body[index].mnemonic} in line {body[index].line} is within the loop"
    starts = [flow.blocks[flow.block_of[index]].start for index in inside]
    head = min(starts)
    for index in sorted(inside):
        if body[index].opcode == "bra":
            target = function.labels[str(body[index].operands[0])]
            if target <= index and target != head:
                return f"the loop in line {body[branch].line} contains another loop"
    written = {name for index in inside for name in results(body[index])}
    carried = regions.read_behind(head) & written
    if told := sorted(carried & _that_matter(body, inside, regions.read_behind(_meet(flow, branch)))):
        return f"{told[0]} is carried from one iteration of the loop in line {body[branch].line} to the next"
    return ""


def _innermost(at: int, function: Function, regions: BranchRegions) -> tuple[int, set[int]] | None:
    """Return the branch of the innermost loop that an instruction is in, and the loop's instructions."""
    loops = []
    for branch, each in enumerate(function.body):
        if each.opcode == "bra" and each.predicate is not None:
            inside = regions.between(branch)
            if branch in inside and at in inside:
                loops.append((len(inside), branch, inside))
    return min(loops)[1:] if loops else None


def _refusal_of_first(at: int, function: Function, flow: ControlFlow, regions: BranchRegions) -> str:
    """Return why an ``atom.cas`` is not the first turn, put before it, of a loop that takes a lock.

    Who finds the lock free goes on; others come to a loop that asks for it again, and then to the same place.
    """
    refusal = "its result controls more than the wait for the lock"
    body, stop = function.body, flow.blocks[flow.block_of[at]].stop
    branch = stop - 1
    if body[branch].opcode != "bra" or body[branch].predicate is None:
        return refusal
    meet, inside = _meet(flow, branch), regions.between(branch)
    again = [index for index in inside if body[index].opcode == "atom"]
    if len(again) != 1 or not body[again[0]].has("cas") or at in inside:
        return refusal
    loop = _innermost(again[0], function, regions)
    if loop is None or _meet(flow, loop[0]) != meet:
        return refusal
    for index in sorted(inside):
        if index != again[0] and not _is_quiet(body[index]):
            return f"its result controls {body[index].mnemonic} in line {body[index].line}"
    written = {name for index in (at, *inside) for name in results(body[index])}
    if told := sorted(regions.read_behind(meet) & written):
        return f"{told[0]}, which depends on the number of attempts, is used after it"
    return _refusal(again[0], function, flow, regions)


def _meet(flow: ControlFlow, branch: int) -> int:
    meet = flow.reconvergence(branch)
    return flow.end if meet is None else meet


def _that_matter(
    body: Sequence[InstructionStatement], inside: set[int], behind: frozenset[str]
) -> frozenset[str]:
    """Return the registers on which more depends than how long threads sleep between turns of a loop."""
    found = set(behind)
    for index in inside:
        each = body[index]
        found |= set() if each.predicate is None else {each.predicate.name}
        if each.opcode not in POINTWISE and each.opcode not in _OTHERWISE:
            found |= set(register_names(each.operands))
    changed = True
    while changed:
        before = len(found)
        for index in inside:
            if body[index].opcode in POINTWISE and results(body[index]) & found:
                found |= set(register_names(body[index].operands[1:]))
        changed = len(found) > before
    return frozenset(found)


def _is_quiet(instruction: InstructionStatement) -> bool:
    """Tell whether an instruction leaves nothing but registers and shared memory."""
    match instruction.opcode:
        case "bra":
            return True
        case "bar" | "barrier":
            return not instruction.has("arrive") and not instruction.has("red")
        case "ld" | "st":
            return instruction.one_of(_SHARED) is not None
    return instruction.opcode in POINTWISE or instruction.opcode in _OTHERWISE
