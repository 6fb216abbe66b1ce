"""Edits of the kernels that Triton compiled for Hopper: faults with their findings, and harmless ones."""

from __future__ import annotations

from pathlib import Path

from mmaproof.refinement.findings.finding import Kind

CORPUS = Path(__file__).parent / "kernels" / "triton_warpgroup"
KERNELS = ("by_pointers", "by_maps", "by_roles", "by_made_maps", "persistent", "attention")

_PENDING = "wgmma.wait_group.sync.aligned 1;"
_ALL = "wgmma.wait_group.sync.aligned 0;"
_PROXY = "fence.proxy.async.shared::cta;"
_STRIDE = "or.b64 \t%rd4, %rd12, -9223371899415822336;"
_ACQUIRE = "@%p2 fence.proxy.tensormap::generic.acquire.gpu [ %rd11 + 0 ], 0x80;"
_BOX = "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [ %rd9 + 0 ], 0x1, "
_ROWS = "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [ %rd9 + 0 ], 0x1, "
_PARITY = "cvt.u32.u64 \t%r16, %rd9;"
_STORED = "cp.async.bulk.wait_group.read \t0;"
_SWIZZLE = "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [ %rd9 + 0 ], "

FAULTS = {
    "copies are not waited for": (
        "by_pointers", "cp.async.wait_group \t2;", "cp.async.wait_group \t4;", Kind.RACE,
    ),
    "no barrier behind the copies": (
        "by_pointers", "wait_group \t2;\n\tbar.sync \t0;", "wait_group \t2;", Kind.RACE,
    ),
    "no proxy fence": ("by_pointers", _PROXY, "", Kind.PROXY),
    "a tile is refilled under a product": ("by_pointers", _PENDING, "", Kind.RACE),
    "the step of B along K": ("by_pointers", "%r57, %r55, 64;", "%r57, %r55, 2;", Kind.WRONG_VALUE),
    "the last products are not waited for": ("by_pointers", _ALL, "", Kind.PENDING),
    "fewer bytes are expected": ("by_maps", "_, [%r5], 6144;", "_, [%r5], 4096;", Kind.RACE),
    "the parity does not flip": ("by_maps", "xor.b32 \t%r72, %r72, %r27;", "", Kind.RACE),
    "coordinates are swapped": ("by_maps", "{%r91, %r47}", "{%r47, %r91}", Kind.WRONG_VALUE),
    "a box is copied under a product": ("by_maps", _PENDING, "", Kind.RACE),
    "the stride of a descriptor": (
        "by_maps", _STRIDE, _STRIDE.replace("899415822336", "761976868864"), Kind.UNINITIALISED,
    ),
    "no proxy fence before the box is stored": ("by_maps", _PROXY, "", Kind.PROXY),
    "the stored box is not waited for": ("by_maps", "cp.async.bulk.wait_group \t0;", "", Kind.UNDEFINED),
    "too few arrivals give a stage back": ("by_roles", "[%r17], 128;", "[%r17], 64;", Kind.DEADLOCK),
    "the parity of full stages": ("by_roles", "shr.s64 \t%rd9, %rd27, 63;", "mov.b64 \t%rd9, 0;", Kind.RACE),
    "the parity of empty stages": (
        "by_roles", "selp.b32 \t%r107, 1, 0, %p44;", "selp.b32 \t%r107, 0, 1, %p44;", Kind.DEADLOCK,
    ),
    "a stage is given back under a product": ("by_roles", _ALL, _PENDING, Kind.RACE),
    "more bytes are expected": ("by_roles", "_, [%r109], 6144;", "_, [%r109], 8192;", Kind.DEADLOCK),
    "no acquire of a map": ("by_made_maps", _ACQUIRE, "", Kind.PROXY),
    "the box of a made map": ("by_made_maps", _BOX + "%r13;", _BOX + "%r12;", Kind.DEADLOCK),
    "the rows of a made map": ("by_made_maps", _ROWS + "%r14;", _ROWS + "%r12;", Kind.WRONG_VALUE),
    "the swizzle of a made map": ("by_made_maps", _SWIZZLE + "0x2;", _SWIZZLE + "0x0;", Kind.WRONG_VALUE),
    "the stride of made maps": (
        "by_made_maps", "mul.wide.s32 \t%rd14, %r18, 2;", "mul.wide.s32 \t%rd14, %r18, 1;", Kind.WRONG_VALUE,
    ),
    "a tile is no block's": (
        "persistent", "add.s32 \t%r149, %r149, %r3;", "add.s32 \t%r149, %r149, 1;", Kind.MISSING_OUTPUT,
    ),
    "the sums of a tile go on with those before": (
        "persistent", "commit_group;\n\tmov.b32 \t%r129, 0f00000000;", "commit_group;", Kind.WRONG_VALUE,
    ),
    "a tile's products are not waited for": ("persistent", _ALL, _PENDING, Kind.PENDING),
    "a box is written while it is stored": ("persistent", _STORED, "", Kind.RACE),
    "the parity of the next tile": ("persistent", "xor.b32 \t%r124, %r124, %r75;", "", Kind.RACE),
    "scores are not waited for": ("attention", f"{_ALL}\n\tmul.f32", "mul.f32", Kind.PENDING),
    "no proxy fence behind the copies of K": ("attention", _PROXY, "", Kind.PROXY),
    "the copies of K are not waited for": (
        "attention", "cp.async.wait_group \t0;", "cp.async.wait_group \t2;", Kind.RACE,
    ),
    "one sum is not scaled": ("attention", "mul.f32 \t%r182, %r182, %r112;", "", Kind.WRONG_VALUE),
    "two rows have one maximum": (
        "attention", "neg.f32 \t%r94, %r10;", "neg.f32 \t%r94, %r9;", Kind.WRONG_VALUE,
    ),
    "weights of half of the threads": (
        "attention", "add.f32 \t%r122, %r120, %r121;", "mov.b32 \t%r122, %r120;", Kind.WRONG_VALUE,
    ),
    "a fragment of P is another's": (
        "attention", "mov.b32 %r53, %r54;", "mov.b32 %r53, %r52;", Kind.WRONG_VALUE,
    ),
}  # fmt: skip
"""The kernel, what of its text is replaced once and by what, and the kind of the first finding."""

HARMLESS = {
    "copies are waited for sooner": ("by_pointers", "cp.async.wait_group \t2;", "cp.async.wait_group \t0;"),
    "products are waited for sooner": ("by_pointers", _PENDING, _ALL),
    "a product is waited for sooner": ("by_maps", _PENDING, _ALL),
    "bytes are expected in two parts": (
        "by_maps",
        "@%p18 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r23], 6144;",
        "@%p18 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r23], 2048;\n"
        "\t@%p18 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r23], 4096;",
    ),
    "a parity of 0 and 1": ("by_roles", _PARITY, f"{_PARITY}\n\tand.b32 \t%r16, %r16, 1;"),
    "a proxy fence more": ("by_roles", "wgmma.fence.sync.aligned;", f"{_PROXY}\n\twgmma.fence.sync.aligned;"),
    "one warp, that has waited, gives the stage back for its warpgroup": (  # supposed, and named
        "by_roles", "bar.sync \t3, 128;\n\t@%p6", "@%p6",
    ),
    "a map is filled as another": (
        "by_made_maps", _SWIZZLE, f"{_SWIZZLE.replace('swizzle', 'fill')}0x0;\n\t{_SWIZZLE}",
    ),
    "a tile's products are waited for sooner": ("persistent", _PENDING, _ALL),
    "a box is stored whole before the next": ("persistent", _STORED, "cp.async.bulk.wait_group \t0;"),
    "the maximum of a row the other way round": (
        "attention", "max.f32 \t%r9, %r183, %r86;", "max.f32 \t%r9, %r86, %r183;",
    ),
    "one proxy fence is enough": ("attention", f"{_PROXY}\n\tmov.b32 %r51", "mov.b32 %r51"),
    "nothing is committed": ("by_made_maps", "@%p2 cp.async.bulk.commit_group ;", ""),
}  # fmt: skip
"""The kernel, and what of its text is replaced once and by what."""


def edited(kernel: str, old: str, new: str) -> str:
    """Return the text of a kernel with one place replaced."""
    text = (CORPUS / f"{kernel}.ptx").read_text(encoding="utf-8")
    assert old in text
    return text.replace(old, new, 1)
