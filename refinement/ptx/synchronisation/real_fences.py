"""Fences that put a thread's own accesses in order, and so may make up for an arrival that does not."""

from __future__ import annotations

from ..scalar.hints import FENCES
from ..state.execution import Execution

_OTHERS = ("proxy", "mbarrier_init")
"""Of proxies, or of barrier objects alone."""


def has_fences(execution: Execution) -> bool:
    """Tell whether a kernel has fences that order what a thread does."""
    return any(each.opcode in FENCES and each.one_of(_OTHERS) is None for each in execution.function.body)


def refuse_fences(execution: Execution) -> None:
    """Refuse what is ``.relaxed`` where fences may make up for it."""
    if has_fences(execution):
        execution.unsupported(f"{execution.instruction.mnemonic} of a kernel with fences")
