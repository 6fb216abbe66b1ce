"""Loops that never end by themselves: a turn that changes nothing is followed by the same turn.

A weak load that polls a word is such a loop. PTX lets a compiler read the word once, and another thread's
store need never be seen; only a strong load (``.volatile``, ``.relaxed``, ``.acquire``) waits for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .instruction_set import POINTWISE
from .module import InstructionStatement

if TYPE_CHECKING:
    from .execution import Execution
    from .threads import Indices

_LOOKED_AT = 256
"""Jumps back by the same branch after which two turns are compared: most loops have ended before."""

_CHANGE_NOTHING = frozenset({*POINTWISE, "ld", "bra", "nanosleep", "fence", "membar"})
_STRONG = ("volatile", "relaxed", "acquire", "mmio")

_State = dict[str, tuple[NDArray[np.uint64], NDArray[np.int32] | None]]


class EndlessLoops:
    """Looks at loops that have run for long.

    Parameters
    ----------
    execution : Execution
        Whose registers are compared.
    """

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._jumps: dict[int, int] = {}
        self._state: tuple[int, int, Indices, _State] | None = None

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
            If they did so before, with the same in all registers, and nothing was written in between.
        """
        count = self._jumps[branch] = self._jumps.get(branch, 0) + 1
        if count % _LOOKED_AT > 1:
            return
        before, self._state = self._state, None
        inside = body[target : branch + 1]
        if any(each.opcode not in _CHANGE_NOTHING for each in inside):
            return
        state = self._registers(active)
        if count % _LOOKED_AT == 0 or before is None:
            self._state = (branch, count, active.copy(), state)
            return
        same = before[:2] == (branch, count - 1) and np.array_equal(before[2], active)
        if same and _are_equal(before[3], state):
            self._execution.unsupported(_told(inside))

    def _registers(self, active: Indices) -> _State:
        return {
            name: (value.numbers[active].copy(), None if value.terms is None else value.terms[active].copy())
            for name, value in self._execution.registers.items()
        }


def _are_equal(one: _State, other: _State) -> bool:
    return one.keys() == other.keys() and all(
        np.array_equal(numbers, other[name][0])
        and (terms is None) == (other[name][1] is None)
        and (terms is None or np.array_equal(terms, np.asarray(other[name][1])))
        for name, (numbers, terms) in one.items()
    )


def _told(inside: list[InstructionStatement]) -> str:
    """Say which loop it is, and which load it may be that was to see what others write."""
    where = f"the loop of lines {inside[0].line} to {inside[-1].line} does the same for ever"
    for each in inside:
        if each.opcode == "ld" and each.one_of(_STRONG) is None:
            return (
                f"{where}: {each.mnemonic} in line {each.line} is weak, and need not see what other threads "
                f"write; a loop that waits for them needs .volatile, .relaxed or .acquire"
            )
    return f"{where}: nothing in it changes what it depends on"
