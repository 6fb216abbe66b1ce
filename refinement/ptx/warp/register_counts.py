"""``setmaxnreg``: how many registers the threads of a warpgroup may have, of those of their block.

It changes no value. An increase waits until the block's other warpgroups have given enough back. Source: PTX
ISA 9.1 section 9.7.20 (setmaxnreg).
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from ....spec.errors import InputError
from ....spec.ptx.operands import Integer
from ....spec.ptx.variant import WARPGROUP_WARPS
from ...findings.finding import Kind
from ..registers.threads import WARP, Indices
from ..state.execution import Decoders, Execution, Step
from ..state.handlers import Modifiers
from ..text.module import InstructionStatement

REGISTERS = 1 << 16
"""Registers of a multiprocessor."""

_LEAST, _MOST, _UNIT = 24, 256, 8

GIVEN = "the launch gives a block the registers that setmaxnreg.inc waits for"
"""What a verdict on a kernel rests on whose warpgroups ask for more: PTX does not say how many it begins with."""


def _set(instruction: InstructionStatement) -> Step:
    modifiers = Modifiers(instruction)
    increases = modifiers.one_of(("inc", "dec")) == "inc"
    for each in ("sync", "aligned"):
        if not modifiers.flag(each):
            raise modifiers.unsupported(f"lacks .{each}")
    modifiers.type(("u32",))
    modifiers.finish()
    (count,) = modifiers.operands(1)
    if not isinstance(count, Integer) or count.value not in range(_LEAST, _MOST + 1, _UNIT):
        raise InputError(
            f"{instruction.mnemonic} takes a multiple of {_UNIT} from {_LEAST} to {_MOST}, not {count}"
        )
    number = count.value

    def set_count(execution: Execution, active: Indices) -> None:
        counts = execution.state.setdefault("register counts", {})
        assert isinstance(counts, dict)
        for group in _warpgroups(execution, active):
            counts[group] = number if increases else min(number, counts.get(group, number))
        if not increases:
            return
        execution.assumptions[GIVEN] = None
        blocks = execution.threads.warps
        for block in np.unique(active // WARP // blocks).tolist():
            mine = [each for (of_block, _), each in counts.items() if of_block == block]
            needed = sum(mine) * WARPGROUP_WARPS * WARP
            if needed > REGISTERS:
                execution.report(
                    Kind.DEADLOCK,
                    f"{instruction.mnemonic} waits for ever: the warpgroups of a block ask for {needed} registers "
                    f"together, and a multiprocessor has {REGISTERS}",
                    active,
                )

    return set_count


def _warpgroups(execution: Execution, active: Indices) -> list[tuple[int, int]]:
    """Return the warpgroups, by block and number, whose warps are all there; report the others."""
    warps, counts = np.unique(active // WARP, return_counts=True)
    exist = execution.threads.exist.reshape(-1, WARP).sum(axis=1)
    whole = set(warps[counts == exist[warps]].tolist())
    of_block, found = execution.threads.warps, list[tuple[int, int]]()
    for block, group in sorted({divmod(warp, of_block) for warp in warps.tolist()}):
        first = group // WARPGROUP_WARPS * WARPGROUP_WARPS
        members = range(first, min(first + WARPGROUP_WARPS, of_block))
        if any(block * of_block + each not in whole for each in members):
            execution.report(
                Kind.DIVERGENCE,
                f"{execution.instruction.mnemonic} is executed by some of the threads of a warpgroup",
                active,
            )
            continue
        if (block, first) not in found:
            found.append((block, first))
    return found


HANDLERS: Decoders = MappingProxyType({"setmaxnreg": _set})
"""The instruction of this module."""
