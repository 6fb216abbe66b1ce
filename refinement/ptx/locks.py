"""Locks that any block may take first: ``while (atomicCAS(&lock, 0, 1) != 0);`` … ``atomicExch(&lock, 0)``.

Blocks run one after the other here, so that a lock is always free when it is taken; who takes it after whom
is tried in every order, see `arrivals`. On hardware a thread may go round the loop before: that makes no
difference, as is shown here of the kernel's text, if a turn of the loop leaves nothing that the next one, or
what is behind the loop, reads, but for what its last turn leaves.
"""

from __future__ import annotations

from collections.abc import Mapping

from .branch_regions import BranchRegions, results
from .control_flow import ControlFlow
from .instruction_set import POINTWISE
from .module import Function, InstructionStatement

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
    body = function.body
    loops = []
    for branch, each in enumerate(body):
        if each.opcode == "bra" and each.predicate is not None:
            inside = regions.between(branch)
            if branch in inside and at in inside:
                loops.append((len(inside), branch, inside))
    if not loops:
        return "what it returns decides over more than how long it is waited for"
    _, branch, inside = min(loops)
    for index in sorted(inside):
        if index != at and not _is_quiet(body[index]):
            return f"{body[index].mnemonic} in line {body[index].line} is within the loop"
    starts = [flow.blocks[flow.block_of[index]].start for index in inside]
    head = min(starts)
    for index in sorted(inside):
        if body[index].opcode == "bra":
            target = function.labels[str(body[index].operands[0])]
            if target <= index and target != head:
                return f"the loop in line {body[branch].line} has another in it"
    written = {name for index in inside for name in results(body[index])}
    if carried := sorted(regions.read_behind(head) & written):
        return f"{carried[0]} goes from one turn of the loop in line {body[branch].line} to the next"
    return ""


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
