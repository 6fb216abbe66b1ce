"""CAS loops: ``do now = atomicCAS(p, was = now, f(was)); while (…);``.

Such a loop reads a word, computes from it what the word becomes, and swaps that in if nobody has changed the
word since; else it goes round with what it found. However often that is, and whatever it read first, the word
becomes `f` of what it was just before, once: the loop is an atomic operation that PTX has not got (floats'
maxima, sums in bf16). That is shown here of a kernel's text; `cas_updates` says what it means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ....spec.ptx.operands import Register
from ..instruction_set import POINTWISE
from ..text.control_flow import ControlFlow
from ..text.module import Function, InstructionStatement
from ..text.operands import register_names
from .branch_regions import BranchRegions, results

_COMPARED = tuple(f"{sort}{width}" for sort in "bsu" for width in (16, 32, 64))
_HEAD = "at the head: "
_FOUND = "what the swap found"


@dataclass(frozen=True)
class SwapLoop:
    """A CAS loop on a word.

    Attributes
    ----------
    test : int
        Index of the comparison of what was expected with what was found.
    ends : bool
        What it gives where the loop ends.
    guesses : frozenset of int
        Indices of the loads of what is expected first; whatever they read, the word becomes the same.
    refusal : str
        Why it is no such loop; empty if it is one.
    """

    test: int = 0
    ends: bool = False
    guesses: frozenset[int] = frozenset()
    refusal: str = ""


class _RefusedError(Exception):
    """Why a loop is not one that updates a word."""


def swap_loops(function: Function, flow: ControlFlow, regions: BranchRegions) -> Mapping[int, SwapLoop]:
    """Return the loops around each ``atom.cas``, by its index, that expect next what it found."""
    found = {}
    for index, each in enumerate(function.body):
        if each.opcode == "atom" and each.has("cas"):
            block = flow.blocks[flow.block_of[index]]
            inside = range(block.start, block.stop)
            branch = function.body[inside[-1]]
            around = branch.opcode == "bra" and function.labels.get(str(branch.operands[0])) == block.start
            if around and (carried := _carried(function, index, inside)):
                try:
                    found[index] = _loop(function, regions, index, inside, carried)
                except _RefusedError as error:
                    found[index] = SwapLoop(refusal=str(error))
    return found


def _copied(instruction: InstructionStatement) -> Register | None:
    """Return the register that an instruction copies to another one."""
    if instruction.opcode != "mov" or len(instruction.operands) != 2 or instruction.predicate is not None:
        return None
    source = instruction.operands[1]
    return source if isinstance(source, Register) else None


def _carried(function: Function, swap: int, inside: range) -> str:
    """Return the register of what a loop expects, if that is next what it found; else nothing."""
    where, carried = dict[str, str](), ""
    for index in inside:
        each = function.body[index]
        source = _copied(each)
        if index == swap:
            found, _, expected, _ = each.taking(4, 4)
            carried = _held(where, expected).removeprefix(_HEAD)
            where |= dict.fromkeys(register_names([found]), _FOUND)
        else:
            told = "made" if source is None else _held(where, source)
            where |= dict.fromkeys(results(each), told)
    return carried if where.get(carried) == _FOUND else ""


def _loop(function: Function, regions: BranchRegions, swap: int, inside: range, carried: str) -> SwapLoop:
    body = function.body
    where, tests = dict[str, str](), list[tuple[int, bool]]()
    for index in inside[:-1]:
        each = body[index]
        if each.predicate is not None or (each.opcode not in POINTWISE and index != swap):
            raise _RefusedError(f"{each.mnemonic} in line {each.line} is within the loop")
        source = _copied(each)
        told = f"index {index}" if source is None else _held(where, source)
        if index == swap:
            told = _FOUND
        elif (equal := _test(each, where, carried)) is not None:
            tests.append((index, equal))
        where |= dict.fromkeys(results(each), told)
    guard = body[inside[-1]].predicate
    if len(tests) != 1 or guard is None or where.get(guard.name) != f"index {tests[0][0]}":
        raise _RefusedError("it must repeat only if the word has changed")
    test, equal = tests[0]
    if equal is not guard.negated:
        raise _RefusedError("it repeats after it has changed the word")
    _check_registers(function, regions, inside, carried)
    return SwapLoop(test, equal, frozenset(_guesses(function, inside, carried)))


def _held(where: Mapping[str, str], operand: object) -> str:
    """Return what a register holds in a turn of a loop: what at the head, if nothing else is known."""
    name = operand.name if isinstance(operand, Register) else ""
    return where.get(name, _HEAD + name)


def _test(instruction: InstructionStatement, where: Mapping[str, str], carried: str) -> bool | None:
    """Tell whether an instruction tests if the word is what was expected, or if not; None if neither."""
    if instruction.opcode != "setp" or len(instruction.operands) != 3:
        return None
    relation = instruction.one_of(("eq", "ne"))
    if relation is None or instruction.one_of(_COMPARED) is None:
        return None
    sides = {_held(where, operand) for operand in instruction.operands[1:]}
    return relation == "eq" if sides == {_FOUND, _HEAD + carried} else None


def _check_registers(function: Function, regions: BranchRegions, inside: range, carried: str) -> None:
    written = {name for index in inside for name in results(function.body[index])}
    if more := sorted(regions.read_behind(inside.start) & written - {carried}):
        raise _RefusedError(f"{more[0]} is carried from one iteration to the next")
    if used := sorted(regions.read_behind(inside.stop) & written):
        raise _RefusedError(
            f"{used[0]}, which depends on earlier updates of other threads, is used after the loop"
        )


def _guesses(function: Function, inside: range, carried: str) -> set[int]:
    """Return the loads of what a loop expects first, whose results are used for nothing else."""
    pending, found = [carried], set[int]()
    while pending:
        name = pending.pop()
        for index, each in enumerate(function.body):
            if index in inside:
                continue
            reads = set(register_names(each.operands[1:] if results(each) else each.operands))
            copied = _copied(each) if results(each) == {carried} else None
            if name in reads and copied is None:
                raise _RefusedError(f"{name}, its first expected value, is also used in line {each.line}")
            if name not in results(each):
                continue
            if each.predicate is not None:
                raise _RefusedError(f"{each.mnemonic} in line {each.line} is conditional")
            if copied is not None:
                pending.append(copied.name)
            elif each.opcode == "ld" and isinstance(each.operands[0], Register):
                found.add(index)
            else:
                raise _RefusedError(f"its first expected value is computed in line {each.line}, not loaded")
    if not found:
        raise _RefusedError("its first expected value is not loaded")
    return found
