"""The instructions on tensor memory, by what stands behind ``tcgen05.``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ....spec.errors import UnsupportedError
from ..state.execution import Decoder, Decoders, Step
from ..text.module import InstructionStatement
from . import allocation, commits, copies, fences, moves, products

_BY_NAME: Mapping[str, Decoder] = MappingProxyType(
    {
        "alloc": allocation.allocate,
        "dealloc": allocation.deallocate,
        "relinquish_alloc_permit": allocation.relinquish,
        "ld": moves.load,
        "st": moves.store,
        "wait": moves.waits,
        "cp": copies.copy,
        "mma": products.multiply,
        "commit": commits.commit,
        "fence": fences.fence,
    }
)


def _decoded(instruction: InstructionStatement) -> Step:
    words = instruction.mnemonic.split(".")
    decode = _BY_NAME.get(words[1].partition("::")[0]) if len(words) > 1 else None
    if decode is None or "red" in words:
        raise UnsupportedError(f"{instruction.mnemonic} is not modelled")
    return decode(instruction)


HANDLERS: Decoders = MappingProxyType({"tcgen05": _decoded})
"""The instructions of this package."""
