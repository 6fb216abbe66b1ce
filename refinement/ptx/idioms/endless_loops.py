"""Loops that do not terminate: an iteration changes nothing that the exit depends on.

A weak load that polls a word is in such a loop. PTX lets a compiler read the word once, and another thread's
store need never be seen; only a strong load (``.volatile``, ``.relaxed``, ``.acquire``) waits for it. A loop
that polls and gives up after many turns changes nothing but the count of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..instruction_set import POINTWISE
from ..outline.descents import read, written
from ..scalar.specified import TAKE_CARRY
from ..text.module import InstructionStatement
from ..text.operands import register_names

if TYPE_CHECKING:
    from ..registers.threads import Indices
    from ..state.execution import Execution

_LOOKED_AT = 256
"""Jumps back by the same branch after which two turns are compared: most loops have ended before."""

_POLLED = 1 << 12
"""Turns of a loop that only counts and polls, after which it is given up: seconds. A right kernel would have
to do nothing but count so often, with a load that always reads the same."""

_CHANGE_NOTHING = frozenset({*POINTWISE, "ld", "bra", "nanosleep", "fence", "membar"}) - TAKE_CARRY
_STRONG = ("volatile", "relaxed", "acquire", "mmio")

_Register = tuple[NDArray[np.uint64], NDArray[np.int32] | None]
_State = dict[str, _Register]


class _Turn(NamedTuple):
    """A turn that is watched: the loop's instructions; the threads and registers at the beginning."""

    inside: frozenset[int]
    active: NDArray[np.intp]
    state: _State


class EndlessLoops:
    """Examines loops that have run for long.

    Parameters
    ----------
    execution : Execution
        Whose registers are compared.
    """

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._jumps: dict[int, int] = {}
        self._turns: dict[int, _Turn] = {}

    def begin(self, instruction: InstructionStatement) -> None:
        """Note that an instruction is run: one beside a loop is in no turn of it."""
        if self._turns:
            self._turns = {at: turn for at, turn in self._turns.items() if id(instruction) in turn.inside}

    def jump(self, body: list[InstructionStatement], branch: int, target: int, active: Indices) -> None:
        """Note that all threads of a strand jump back.

        Parameters
        ----------
        body : list of InstructionStatement
            The instructions.
        branch, target : int
            Indices of the branch, and of where it jumps.
        active : array
            The threads.

        Raises
        ------
        UnsupportedError
            If a turn changed nothing that decides about the next one, or, after many turns, counts alone.
        """
        count = self._jumps[branch] = self._jumps.get(branch, 0) + 1
        before = self._turns.pop(branch, None)
        if count % _LOOKED_AT > 1:
            return
        inside = body[target : branch + 1]
        if any(each.opcode not in _CHANGE_NOTHING for each in inside):
            return
        state = self._registers(active)
        if count % _LOOKED_AT == 0:
            self._turns[branch] = _Turn(frozenset(map(id, inside)), active.copy(), state)
            return
        if before is None or not np.array_equal(before.active, active):
            return
        changed = _changed(before.state, state)
        if not changed & deciding_registers(inside):
            self._execution.unsupported(_told(inside, "repeats the same state for ever"))
        polls = any(each.opcode == "ld" for each in inside)
        if polls and count > _POLLED and changed <= counting_registers(inside):
            self._execution.unsupported(_told(inside, f"only counted for {count} iterations"))

    def _registers(self, active: Indices) -> _State:
        return {
            name: (value.numbers[active].copy(), None if value.terms is None else value.terms[active].copy())
            for name, value in self._execution.registers.items()
        }


def _changed(one: _State, other: _State) -> set[str]:
    """Return the names of the registers that are not the same in two states."""
    return {
        name
        for name in one.keys() | other.keys()
        if name not in one or name not in other or not _is_same(one[name], other[name])
    }


def _is_same(one: _Register, other: _Register) -> bool:
    (numbers, terms), (other_numbers, other_terms) = one, other
    if terms is None or other_terms is None:
        return terms is other_terms and np.array_equal(numbers, other_numbers)
    return np.array_equal(numbers, other_numbers) and np.array_equal(terms, other_terms)


def _told(inside: list[InstructionStatement], what: str) -> str:
    """Say which loop it is, and which load it may be that was to see what others write."""
    where = f"the loop of lines {inside[0].line} to {inside[-1].line} {what}"
    loads = [each for each in inside if each.opcode == "ld"]
    for each in loads:
        if each.one_of(_STRONG) is None:
            return (
                f"{where}: {each.mnemonic} in line {each.line} is weak and may never see what other threads "
                f"write; a loop that waits for them needs .volatile, .relaxed or .acquire"
            )
    if loads:
        load = f"{loads[0].mnemonic} in line {loads[0].line}"
        return f"{where}: when {load} sees the writes of other threads is not modelled"
    return f"{where}: it changes nothing that its condition depends on"


_STEPS = ("mov", "add", "sub")


def deciding_registers(loop: Sequence[InstructionStatement]) -> frozenset[str]:
    """Return the registers on which the loop's branches depend, from turn to turn.

    Parameters
    ----------
    loop : sequence of InstructionStatement
        The instructions of the loop; none writes memory, or reads the condition code.
    """
    found = {name for instruction in loop if instruction.opcode == "bra" for name in _guard(instruction)}
    while True:
        more = {
            name for instruction in loop if found & _results(instruction) for name in _sources(instruction)
        }
        if more <= found:
            return frozenset(found)
        found |= more


def counting_registers(loop: Sequence[InstructionStatement]) -> frozenset[str]:
    """Return the registers to which a turn adds the same, which only comparisons with what stays read.

    Parameters
    ----------
    loop : sequence of InstructionStatement
        The instructions of the loop.
    """
    changing = frozenset(name for instruction in loop for name in _results(instruction))
    found = changing - {
        name for instruction in loop if instruction.opcode not in _STEPS for name in _results(instruction)
    }
    while True:
        wrong = {
            name
            for instruction in loop
            for name in (_results(instruction) | _sources(instruction)) & found
            if not _counts(instruction, found, changing)
        }
        if not wrong:
            return found
        found -= wrong


def _counts(instruction: InstructionStatement, counting: frozenset[str], changing: frozenset[str]) -> bool:
    """Tell whether an instruction makes counts of counts, or compares one with what stays."""
    sources = _sources(instruction)
    if instruction.opcode == "setp":
        return sources & changing <= counting
    return (
        instruction.opcode in _STEPS
        and not _guard(instruction)
        and len(sources & changing) == 1
        and sources & changing <= counting
        and _results(instruction) <= counting
    )


def _guard(instruction: InstructionStatement) -> set[str]:
    return set() if instruction.predicate is None else {instruction.predicate.name}


def _results(instruction: InstructionStatement) -> set[str]:
    return set(written(instruction))


def _sources(instruction: InstructionStatement) -> set[str]:
    return {*register_names(read(instruction)), *_guard(instruction)}
