"""What descriptors of matrices in shared memory take for granted: where shared memory lies, and begins.

PTX has an address in a descriptor as ``(address & 0x3FFFF) >> 4``. Kernels leave the mask out, as no block
has 2^18 bytes of shared memory. Here the window of shared memory begins beyond that, so that no other number
is taken for an address; its bit is in none of a descriptor's fields, and is dropped.
"""

from __future__ import annotations

from ....spec.ptx.matrix_descriptor import ADDRESS_BITS, PATTERN_BYTES, UNIT
from ..state.address_spaces import SHARED_WINDOW
from ..state.execution import Execution

_BIT = SHARED_WINDOW // UNIT


def without_window(execution: Execution, word: int) -> int:
    """Return a descriptor without the bit of an address that was not masked, which is noted."""
    if not word & _BIT:
        return word
    execution.assumptions[
        f"addresses of shared memory are below 2^{ADDRESS_BITS}: a descriptor uses one without masking it"
    ] = None
    return word - _BIT


def note_alignment(execution: Execution, address: int) -> None:
    """Note that the dynamic shared memory at an address is taken to begin where a swizzling pattern does."""
    taken = execution.memory.alignment_taken(address)
    if taken is not None:
        execution.assumptions[
            f"dynamic shared memory begins at a multiple of {PATTERN_BYTES} bytes; {taken[0]} is "
            f"declared with .align {taken[1]}"
        ] = None
