"""The opcodes of the PTX ISA, with whether a kernel with each can be verified.

The opcodes themselves are `mmaproof.spec.ptx.opcode_table`.
"""

from __future__ import annotations

from types import MappingProxyType

from ...spec.ptx.opcode_table import OPCODES
from .instruction_set import DECODERS
from .run.program import SORTS
from .scalar.hints import WITHOUT_EFFECT

REFUSED = MappingProxyType(
    {
        "atom": ("b128",),
        "st": ("bulk",),
    }
)
"""Of an opcode that is modelled in part: modifiers with which it is not."""

_LIMITS = MappingProxyType(
    {
        "atom": "its result is modelled for tickets, locks and .cas loops that update a word",
        "brx": "where .branchtargets lists the labels",
        "clusterlaunchcontrol": "at most three clusters, run in every way to take over others",
        "cp": "not bulk copies of global memory that the kernel has written, nor reductions in shared",
        "createpolicy": "the policy is undefined; instructions that take it ignore it",
        "discard": "the discarded bytes are undefined",
        "elect": "the lowest lane of the mask is taken",
        "fence": "orders accesses for other blocks, and for threads that wait for a word",
        "griddepcontrol": "assumes that the grids it depends on have ended",
        "ld": ".acquire, .relaxed and .volatile wait for words in loops; elsewhere they act as plain loads",
        "mbarrier": "a polling thread may do nothing else; pending counts are known to a sole arriver only",
        "membar": "orders accesses for other blocks, and for threads that wait for a word",
        "setmaxnreg": "waits for registers if the kernel states its number at entry",
        "tcgen05": "not shifts, reducing loads or kept operands",
        "tensormap": "not a map over one that copies may still use",
        "trap": "reaching it is a finding",
    }
)
"""Of an opcode what is to be known besides."""


def _limits(opcode: str) -> str:
    refused = ", ".join(f"not .{each}" for each in REFUSED.get(opcode, ()))
    return "; ".join(each for each in (refused, _LIMITS.get(opcode, "")) if each)


def _status(opcode: str) -> str:
    if opcode in WITHOUT_EFFECT:
        return "ignored: no effect on values"
    return "modelled" if opcode in DECODERS or opcode in SORTS else "unsupported"


def opcode_rows() -> list[dict[str, str]]:
    """Return one row for each opcode: what becomes of it, and of which target it is."""
    return [
        {
            "opcode": name,
            "status": _status(name),
            "limits": _limits(name),
            "targets": opcode.availability.targets.replace("+", " and later"),
            "source": f"PTX ISA {opcode.section}",
        }
        for name, opcode in OPCODES.items()
    ]
