"""Where dynamic shared memory begins, which swizzled accesses take for granted."""

from __future__ import annotations

from ....spec.ptx.matrix_descriptor import PATTERN_BYTES
from ..state.execution import Execution


def note_alignment(execution: Execution, address: int) -> None:
    """Note that the dynamic shared memory at an address is taken to begin where a swizzling pattern does."""
    taken = execution.memory.alignment_taken(address)
    if taken is not None:
        execution.assumptions[
            f"dynamic shared memory begins at a multiple of {PATTERN_BYTES} bytes; {taken[0]} is "
            f"declared with .align {taken[1]}"
        ] = None
