"""The opcodes of the PTX ISA, and of each whether a kernel with it can be verified.

Source: PTX ISA 9.1 (CUDA 13.0) section 9.7.
"""

from __future__ import annotations

from types import MappingProxyType

from .hints import WITHOUT_EFFECT
from .instruction_set import DECODERS
from .program import SORTS

_SECTIONS = MappingProxyType(
    {
        "9.7.1 integers": "abs add bfe bfi bfind bmsk brev clz div dp2a dp4a fns mad mad24 max min mul mul24 "
        "neg popc rem sad sub szext",
        "9.7.2 extended precision": "addc madc subc",
        "9.7.3 to 9.7.5 floats": "copysign cos ex2 fma lg2 rcp rsqrt sin sqrt tanh testp",
        "9.7.6, 9.7.7 comparison and selection": "selp set setp slct",
        "9.7.8 logic and shifts": "and cnot lop3 not or shf shl shr xor",
        "9.7.9 data movement": "applypriority createpolicy cvt cvta discard getctarank isspacep ld ldu "
        "mapa mov multimem prefetch prefetchu prmt shfl st tensormap",
        "9.7.9.25 asynchronous copies": "cp",
        "9.7.10 textures": "istypep tex tld4 txq",
        "9.7.11 surfaces": "suld suq sured sust",
        "9.7.12 control flow": "bra brx call exit ret",
        "9.7.13 synchronisation": "activemask atom bar barrier clusterlaunchcontrol elect fence "
        "griddepcontrol match mbarrier membar red redux vote",
        "9.7.14 matrices": "ldmatrix mma movmatrix stmatrix wmma",
        "9.7.15 warpgroup matrices": "wgmma",
        "9.7.16 tensor memory": "tcgen05",
        "9.7.17 stack": "alloca stackrestore stacksave",
        "9.7.18, 9.7.19 video": "vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax "
        "vmax2 vmax4 vmin vmin2 vmin4 vset vset2 vset4 vshl vshr vsub vsub2 vsub4",
        "9.7.20 others": "brkpt nanosleep pmevent setmaxnreg trap",
    }
)

_FIRST_TARGETS = MappingProxyType(
    {
        "sm_75": "ldmatrix movmatrix tanh",
        "sm_80": "applypriority cp createpolicy discard mbarrier redux",
        "sm_90": "elect getctarank griddepcontrol mapa multimem setmaxnreg stmatrix tensormap wgmma",
        "sm_100": "clusterlaunchcontrol tcgen05",
    }
)
"""Opcodes that sm_70 lacks, by the first target that has them."""

REFUSED = MappingProxyType(
    {
        "atom": ("b128", "shared::cluster"),
        "barrier": ("cluster",),
        "cp": ("bulk",),
        "ld": ("b128", "shared::cluster"),
        "mbarrier": ("expect_tx", "complete_tx", "shared::cluster"),
        "red": ("async", "shared::cluster"),
        "st": ("b128", "async", "bulk", "shared::cluster"),
    }
)
"""Of an opcode that is modelled in part: modifiers with which it is not."""

_LIMITS = MappingProxyType(
    {
        "atom": "what it returns is known of tickets, of locks and where a loop updates a word by .cas",
        "createpolicy": "the policy is undefined; what takes it ignores it",
        "discard": "what it leaves is undefined",
        "fence": "orders what threads of other blocks, or who waits for a word, may see",
        "ld": ".acquire, .relaxed and .volatile wait for words in loops, and are as others elsewhere",
        "mbarrier": "who polls may do nothing else; pending counts are known of who arrives alone",
        "membar": "orders what threads of other blocks, or who waits for a word, may see",
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
    first = {opcode: target for target, listed in _FIRST_TARGETS.items() for opcode in listed.split()}
    return [
        {
            "opcode": opcode,
            "status": _status(opcode),
            "limits": _limits(opcode),
            "targets": f"{first.get(opcode, 'sm_70')} and later",
            "source": f"PTX ISA {section}",
        }
        for section, listed in _SECTIONS.items()
        for opcode in listed.split()
    ]
