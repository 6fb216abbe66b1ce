"""Texts of PTX instructions: how they are read, what is refused, and how declarations name registers.

Sources: PTX ISA 9.1 chapter 4 (syntax), section 9.7.14 (instructions); the orders of modifiers were tried on
ptxas of CUDA 13.0.
"""

from __future__ import annotations

REFUSED = (
    "", "@p", "add.s32 a, b", "wmma.load.d.sync", "wmma.store.a.sync", "wmma.sync", "mma.sync.foo",
    "mma.kind::mxf5", "mma.scale_vec::8X", "ldmatrix.sp", "mma.sync.sync", "mma.m8n8k4.m8n8k16", "mma.sp.sp",
    "mma.popc.xor", "mma.popc", "mma.m99999n8k4", "mma..sync", "mma {r0", "mma {}", "mma {{r0}}", "mma r0 r1",
    "mma [r0-4]", "mma [r0+r1]", "mma [_]", "mma [p+0.5]", "mma 099", "mma 99999999999999999999",
    "mma 18446744073709551616", "mma -r0", "mma é", "mma r0; mma r0;", "mma r0,", "mma ,r0", "mma [p",
    "mma p]", "mma.x3", "mma.rn.rz", "mma.and.xor", "@!! p mma", "mma 0f3F80000", "mma 0x", "mma a.b",
    "mma @p", "mma {a, [p]}", "mma.trans.trans",
)  # fmt: skip
"""What is no instruction."""


ALIKE = {
    **dict.fromkeys(("mma", "mma.sp", "mma.sp::ordered_metadata"), ("mma",)),
    **dict.fromkeys(("wmma.load.a", "wmma.load.b", "wmma.load.c"), ("wmma.load.a", "wmma.load.c")),
}
"""Instructions of which one is told the modifiers of all."""

UNKNOWN = (
    # no modifier, how it is shown, one that is close to it, how those of its class begin
    ("qq", ".qq", "", ""), ("alignd", ".alignd", "aligned", ""), ("tranz", ".tranz", "trans", ""),
    ("satfin", ".satfin", "satfinite", ""), ("kind::mxf5", ".kind::mxf5", "kind::mxf4", "kind::"),
    ("scale_vec::8X", ".scale_vec::8X", "scale_vec::4X", "scale_vec::"), ("m8n8x", ".m8n8x", "m8n8", "m"),
    ("sp::q", ".sp::q", "", "sp::"), ("q" * 59, "." + "q" * 59, "", ""),
    ("q" * 60, "." + "q" * 58 + "…", "", ""),
)  # fmt: skip
"""What is no modifier; of a long one a line has 60 characters."""

MODIFIERS = {
    "satfinite": ("satfinite", True), "trans": ("trans", True), "block_scale": ("block_scale", True),
    "sync": ("sync", True), "aligned": ("aligned", True),
    "kind::f8f6f4": ("kind", "f8f6f4"), "kind::mxf8f6f4": ("kind", "mxf8f6f4"),
    "kind::mxf4": ("kind", "mxf4"), "kind::mxf4nvf4": ("kind", "mxf4nvf4"), "kind::f16": ("kind", "f16"),
    "kind::tf32": ("kind", "tf32"), "kind::i8": ("kind", "i8"),
    "scale_vec::1X": ("scale_vec", "1X"), "scale_vec::2X": ("scale_vec", "2X"),
    "scale_vec::4X": ("scale_vec", "4X"), "block16": ("scale_vec", "block16"),
    "block32": ("scale_vec", "block32"), "rn": ("rounding", "rn"), "rz": ("rounding", "rz"),
    "rm": ("rounding", "rm"), "rp": ("rounding", "rp"), "rna": ("rounding", "rna"),
    "xor": ("bit_operation", "xor"), "and": ("bit_operation", "and"), "or": ("bit_operation", "or"),
    "x1": ("count", "x1"), "x2": ("count", "x2"), "x4": ("count", "x4"), "x8": ("count", "x8"),
    "x16": ("count", "x16"), "x32": ("count", "x32"), "x64": ("count", "x64"), "x128": ("count", "x128"),
    "global": ("space", "global"), "shared": ("space", "shared"), "shared::cta": ("space", "shared::cta"),
    "shared::cluster": ("space", "shared::cluster"), "local": ("space", "local"),
    "const": ("space", "const"), "param": ("space", "param"), "row": ("layouts", ("row",)),
    "col": ("layouts", ("col",)),
    **{name: ("types", (name,)) for name in (
        "b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "b128", "f16",
        "f16x2", "bf16", "bf16x2", "tf32", "f32", "f64", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "ue8m0",
        "ue4m3", "s4", "u4", "b1", "b8x16", "b6x16_p32", "b4x16_p64",
    )},
}  # fmt: skip
"""The modifiers, and what each says; sync and aligned are absent unless they are there."""

FIRST_WORDS = {
    "mma.sync": "mma", " @p wmma.mma": "wmma", "/* x */ @ !%p\tldmatrix": "ldmatrix",
    "// a\nstmatrix.x": "stmatrix",
    "tcgen05.mma": "tcgen05", "WGMMA.mma": "wgmma", "dp4a.s32": "dp4a", "dp2a": "dp2a", "nvgpu.mma": "nvgpu",
    "nvvm.mma": "nvvm", "movmatrix": "movmatrix", "add.s32": "add", "": "", "{": "",
}  # fmt: skip
"""How a text begins."""

WORDS = {
    "mma",
    "wmma",
    "ldmatrix",
    "stmatrix",
    "movmatrix",
    "wgmma",
    "tcgen05",
    "dp2a",
    "dp4a",
    "nvgpu",
    "nvvm",
}
"""How texts begin that are PTX's."""

DECLARED = "%r<3>:b32, %v:.v4.f32, %p: pred, tile:shared,"
NAMES = {
    "%r0": "b32", "%r2": "b32", "%r3": None, "%r01": None, "%r": None, "%v": "v4.f32", "%v.x": "f32",
    "%v.w": "f32", "%r0.x": None, "%p": "pred", "tile": ".shared", "%q": None, "%tid.x": "u32",
}  # fmt: skip
"""What the names are by these declarations; nothing where none is of it."""

NO_DECLARATIONS = ("%r", "%r<x>:b32", "%r:b33", "%r:b32, %r:f32", "tile<3>:shared")
"""What is refused."""
