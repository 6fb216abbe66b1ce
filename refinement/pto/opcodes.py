"""The operations of PTO text, with whether a kernel with each can be verified.

Source: PTO IR manual; ptoas at a56b18c3.
"""

from __future__ import annotations

from types import MappingProxyType

from ...spec.pto.catalogue import OPERATIONS
from .run.other_statements import HANDLERS, WITHOUT_EFFECT
from .text.cores import SECTIONS

_OF_TEXT = (
    "pto.alloc_tile", "pto.make_tensor_view", "pto.partition_view", "pto.set_flag", "pto.wait_flag",
    "pto.record_event", "pto.wait_event", "pto.barrier", "scf.for", "scf.if", "scf.yield", "func.func",
    "func.return", "arith.constant", "arith.addi", "arith.subi", "arith.muli", "arith.divsi", "arith.remsi",
    "arith.minsi", "arith.maxsi", "arith.cmpi", "arith.select", "arith.index_cast", "arith.extsi",
)  # fmt: skip
"""What the spec has classes of its own for."""

_UNMODELLED = (
    "pto.tsync", "pto.subview", "pto.tgather", "pto.tscatter", "pto.mgather", "pto.mscatter", "pto.tsort32",
    "pto.tmrgsort", "pto.timg2col", "pto.get_buf", "pto.rls_buf", "pto.sync.set", "pto.sync.wait",
    "scf.while",
)  # fmt: skip
"""What public kernels use besides."""

_LIMITS = MappingProxyType(
    {
        "tload": "not of 4-bit elements",
        "tstore": "without a quantisation",
        "tmov": "without a quantisation, not of 4-bit elements",
        "textract": "without a quantisation, not of 4-bit elements",
        "tinsert": "without a quantisation, not of 4-bit elements",
        "pto.barrier": "of one pipe: orders nothing more than that pipe does",
    }
)
"""Of an operation that is modelled in part: what part."""


def opcode_rows() -> list[dict[str, str]]:
    """Return one row for each operation: what becomes of it."""
    status = {
        **{f"pto.{name}": "modelled" for name in OPERATIONS},
        **dict.fromkeys((*_OF_TEXT, *SECTIONS, *HANDLERS), "modelled"),
        **dict.fromkeys(WITHOUT_EFFECT, "ignored: no effect on values"),
        **dict.fromkeys(sorted(set(_UNMODELLED) - HANDLERS.keys()), "unsupported"),
    }
    return [
        {
            "opcode": name,
            "status": found,
            "limits": _LIMITS.get(name.removeprefix("pto."), _LIMITS.get(name, "")),
            "source": "PTO IR manual",
        }
        for name, found in sorted(status.items())
    ]
