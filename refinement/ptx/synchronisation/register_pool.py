"""``setmaxnreg``: warpgroups that give registers back to their block, and others that wait for these.

A block has as many registers as its threads have when it begins. That is known where the kernel says it
(``.maxnreg``), or how many threads a multiprocessor must hold (``.minnctapersm`` with ``.maxntid`` or
``.reqntid``); elsewhere ptxas ignores the instruction (advisory C7508). Source: PTX ISA 9.1 section 9.7.20
(setmaxnreg); ptxas 13.0.
"""

from __future__ import annotations

from math import prod
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError
from ....spec.ptx.operands import Integer
from ...findings.finding import Kind
from ..registers.threads import WARP, Indices
from ..state.execution import Execution
from ..state.handlers import Modifiers
from ..state.held import Held
from ..text.module import Function, InstructionStatement

REGISTERS = 65536
"""Registers of a multiprocessor. Source: CUDA C++ Programming Guide, technical specifications."""

MOST = 255
"""Registers of a thread at entry."""

_IGNORED = (
    "setmaxnreg.inc never waits: the kernel does not say how many registers it has at entry (.maxnreg, or "
    ".minnctapersm with .maxntid), so that ptxas ignores it (advisory C7508)"
)

_STEP = 8
"""Registers of a thread are allotted by this number."""


def registers_at_entry(function: Function) -> int | None:
    """Return the registers of a thread when a kernel begins; None if its text does not tell."""
    limits = function.limits
    if "maxnreg" in limits:
        return limits["maxnreg"][0]
    threads = limits.get("reqntid", limits.get("maxntid"))
    if "minnctapersm" not in limits or threads is None or not prod(threads):
        return None
    held = prod(threads) * max(1, limits["minnctapersm"][0])
    return min(REGISTERS // held, MOST) // _STEP * _STEP


class RegisterPool(Held):
    """The registers of the blocks of a batch.

    Parameters
    ----------
    execution : Execution
        What runs.

    Attributes
    ----------
    ended : int
        How often registers were given back.
    """

    KEY = "register pool"

    def __init__(self, execution: Execution) -> None:
        self._entry = registers_at_entry(execution.function)
        self._warps = execution.threads.warps
        self._held = np.full(len(execution.threads) // WARP, self._entry or 0, dtype=np.int64)
        self.ended = 0

    @classmethod
    def begun(cls, execution: Execution) -> Self:
        """See `Held.begun`."""
        return cls(execution)

    def passed(
        self, execution: Execution, instruction: InstructionStatement, active: Indices
    ) -> NDArray[np.bool_]:
        """Return which threads (n active,) have the registers that they ask for; the others wait."""
        grows, count = _decoded(instruction)
        execution.whole_warps(active)
        if self._entry is None:
            if grows:
                execution.assumptions[_IGNORED] = None
            return np.ones(len(active), dtype=bool)
        found, warps = np.zeros(len(active), dtype=bool), active // WARP
        for warp in np.unique(warps).tolist():
            more = count - int(self._held[warp])
            if more < 0 if grows else more > 0:
                execution.unsupported(
                    f"{instruction.mnemonic} {count} of threads that have {int(self._held[warp])} registers"
                )
            if more > self._free(warp):
                continue
            self._held[warp] = count
            self.ended += more < 0
            found[warps == warp] = True
        return found

    def _free(self, warp: int) -> int:
        """Return how many registers a thread of a warp can get more."""
        first = warp // self._warps * self._warps
        assert self._entry is not None
        return int(self._entry * self._warps - self._held[first : first + self._warps].sum())

    def report_waiting(self, execution: Execution, active: Indices) -> None:
        """Report threads that wait for ever."""
        _, count = _decoded(execution.instruction)
        warp = int(active[0]) // WARP
        free = self._free(warp)
        execution.report(
            Kind.DEADLOCK,
            f"{execution.instruction.mnemonic} waits for ever for {count} registers for each thread: its "
            f"warp has {int(self._held[warp])} for each, and its block {free} more of {self._entry} for each "
            f"thread of its {self._warps} warps",
            active,
        )


def _decoded(instruction: InstructionStatement) -> tuple[bool, int]:
    """Return whether threads get more registers, and how many they are to have."""
    modifiers = Modifiers(instruction)
    grows = modifiers.one_of(("inc", "dec")) == "inc"
    for each in ("sync", "aligned"):
        modifiers.flag(each)
    modifiers.type(("u32",))
    modifiers.finish()
    (count,) = modifiers.operands(1)
    if not isinstance(count, Integer):
        raise InputError(f"{instruction.mnemonic} takes an integer literal, not {count}")
    return grows, count.value
