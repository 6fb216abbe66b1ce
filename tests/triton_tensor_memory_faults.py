"""Edits of the kernels that Triton compiled for Blackwell: faults with their findings, and harmless ones."""

from __future__ import annotations

from pathlib import Path

from mmaproof.refinement.findings.finding import Kind

CORPUS = Path(__file__).parent / "kernels" / "triton_tensor_memory"
KERNELS = ("by_pointers", "by_roles", "persistent", "scaled", "attention", "pairs")

_LOADED, _STORED = "tcgen05.wait::ld.sync.aligned;", "tcgen05.wait::st.sync.aligned;"
_PROXY = "fence.proxy.async.shared::cta;"
_POLL = "mbarrier.try_wait.parity.shared::cta.b64 complete, "
_COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
_MMA = "tcgen05.mma.cta_group::1.kind::f16 "
_FACTORS = "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16"

FAULTS = {
    "D is read before the last products": (
        "by_pointers", f"{_POLL}[%r254], %r255;", "setp.eq.u32 complete, %r255, %r255;", Kind.RACE,
    ),
    "a stage is filled under a product": (
        "by_pointers", f"{_POLL}[%r248], %r247;", "setp.eq.u32 complete, %r247, %r247;", Kind.RACE,
    ),
    "no proxy fence": ("by_pointers", _PROXY, "", Kind.PROXY),
    "the zeros are not waited for": ("by_pointers", _STORED, "", Kind.RACE),
    "lanes of another warp": ("by_pointers", "%r13, 21;", "%r13, 22;", Kind.OUT_OF_BOUNDS),
    "M is half": ("by_pointers", "mov.b32 \t%r102, 134807568;", "mov.b32 \t%r102, 67698704;", Kind.RACE),
    "the step of A along K": ("by_pointers", "%r74, 2;", "%r74, 0;", Kind.WRONG_VALUE),
    "all threads of a warp multiply": (
        "by_pointers", f"@%p28 {_MMA}[ %r204 + 0 ], %rd36", f"@%p27 {_MMA}[ %r204 + 0 ], %rd36", Kind.RACE,
    ),
    "D is given back before it is loaded": ("persistent", f"{_LOADED}\n\tbar.sync \t0, 128;", "", Kind.RACE),
    "the other D is loaded": ("persistent", "add.s32 \t%r73, %r76, %r2;", "mov.b32 \t%r73, %r2;", Kind.RACE),
    "more bytes than both boxes have": ("persistent", "_, [%r47], 6144;", "_, [%r47], 8192;", Kind.DEADLOCK),
    "no proxy fence before a tile is stored": ("persistent", _PROXY, "", Kind.PROXY),
    "a tile of c is written while it is stored": (
        "persistent", "cp.async.bulk.wait_group.read \t0;", "", Kind.RACE,
    ),
    "D is never given back": (
        "persistent", "@%p56 mbarrier.arrive.shared::cta.b64 _, [%r171];", "", Kind.DEADLOCK,
    ),
    "the stage is given back at once": (
        "by_roles", f"@%p15 {_COMMIT}[%r34];", "@%p15 mbarrier.arrive.shared::cta.b64 _, [%r34];", Kind.RACE,
    ),
    "the accumulator is not committed": ("by_roles", f"@%p23 {_COMMIT}[%r60];", "", Kind.DEADLOCK),
    "more bytes are expected": ("by_roles", "_, [%r17], 6144;", "_, [%r17], 8192;", Kind.DEADLOCK),
    "the columns of the second half": ("by_roles", "[%r65 + 0], 16;", "[%r65 + 0], 8;", Kind.WRONG_VALUE),
    "scale factors of the next columns": (
        "scaled", "%rd20, %rd21, %r99, [ %r102 + 0 ]", "%rd20, %rd21, %r99, [ %r100 + 0 ]", Kind.WRONG_VALUE,
    ),
    "the scale factors are not waited for": (
        "scaled", f"{_STORED}\n\t{_PROXY}", _PROXY, Kind.RACE,
    ),
    "the type of the scale factors": ("scaled", "134743168;", "143131776;", Kind.WRONG_VALUE),
    "scale factors in the next column": (
        "scaled", "[%r41 + 2], {%r43}", "[%r41 + 1], {%r43}", Kind.UNINITIALISED,
    ),
    "the old D counts not": (
        "scaled", "[ %r103 + 0 ], %p6;", "[ %r103 + 0 ], !%p6;", Kind.WRONG_VALUE,
    ),
    "D is not there when P is multiplied": ("attention", f"{_STORED}\n\t{_PROXY}", _PROXY, Kind.RACE),
    "scores replace those that are loaded": ("attention", f"\t{_LOADED}\n\t{_STORED}\n", "", Kind.RACE),
    "P of other columns": ("attention", "[ %r112 + 0 ], %rd41", "[ %r112 + 4 ], %rd41", Kind.UNINITIALISED),
    "the first D counts not": (
        "attention", "%rd41, %r193, %p28;", "%rd41, %r193, !%p28;", Kind.WRONG_VALUE,
    ),
    "bytes of one CTA are not expected": ("pairs", "_, [%r27], 5120;", "_, [%r27], 4096;", Kind.RACE),
    "each CTA waits at its own barrier": (
        "pairs", "and.b32 \t%r27, %r32, -16777224;", "mov.b32 \t%r27, %r32;", Kind.UNINITIALISED,
    ),
    "the other CTA is not told": ("pairs", "%rs1, 3;", "%rs1, 1;", Kind.DEADLOCK),
    "bytes are to complete on a barrier of another CTA": (
        "pairs", "2d.cta_group::2.shared", "2d.shared", Kind.UNDEFINED,
    ),
    "columns of B behind its end": (
        "pairs", "shl.b32 \t%r31, %r22, 4;", "shl.b32 \t%r31, %r22, 5;", Kind.WRONG_VALUE,
    ),
}  # fmt: skip
"""The kernel, what of its text is replaced once and by what, and the kind of the first finding."""

HARMLESS = {
    "the zeros are not stored": ("by_pointers", "@%p2 tcgen05.st", "@!%p2 tcgen05.st"),
    "copies are waited for sooner": ("by_pointers", "cp.async.wait_group \t2;", "cp.async.wait_group \t0;"),
    "a fence more": ("by_roles", _LOADED, f"{_LOADED}\n\ttcgen05.fence::before_thread_sync;"),
    "a product keeps A": (
        "scaled", f"{_FACTORS} [ %r177 + 0 ], %rd18", f"{_FACTORS}.collector::a::fill [ %r177 + 0 ], %rd18",
    ),
    "a tile of c is stored whole before the next": (
        "persistent", "cp.async.bulk.wait_group.read \t0;", "cp.async.bulk.wait_group \t0;",
    ),
    "D is waited for twice": ("persistent", _LOADED, f"{_LOADED}\n\t{_LOADED}"),
    "loads are waited for twice": ("attention", _LOADED, f"{_LOADED}\n\t{_LOADED}"),
}  # fmt: skip
"""The kernel, and what of its text is replaced once and by what."""


def edited(kernel: str, old: str, new: str) -> str:
    """Return the text of a kernel with one place replaced."""
    text = (CORPUS / f"{kernel}.ptx").read_text(encoding="utf-8")
    assert old in text, old
    return text.replace(old, new, 1)
