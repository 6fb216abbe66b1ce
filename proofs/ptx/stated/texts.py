"""Texts of PTX instructions: how they are read, what is refused, and how declarations name registers.

Sources: PTX ISA 9.1 chapter 4 (syntax), section 9.7.14 (instructions); the orders of modifiers were tried on
ptxas of CUDA 13.0.
"""

from __future__ import annotations

PLAIN = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
_LOAD = "ldmatrix.sync.aligned.m8n8.x1.b16"
_GIVEN = "{f0, f1, f2, f3}, {r0, r1}, {r2}, {f0, f1, f2, f3}"

SPELLINGS = (
    ("mma.xor.popc.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32",
     "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc"),
    ("mma.sync.aligned.sp.m16n8k8.row.col.f32.tf32.tf32.f32",
     "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
    ("mma.sync.sp::ordered_metadata.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
     "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
    ("mma.sync.aligned.kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0",
     "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"),
    ("mma.f32.f16.f16.f32.row.col.m16n8k8.aligned.sync", PLAIN),
    (f"@p {PLAIN} {_GIVEN};", f"@p {PLAIN} {_GIVEN};"),
    (f"\t@!%p1\n{PLAIN}\n{_GIVEN.replace(' ', '')} ; // comment", f"@!%p1 {PLAIN} {_GIVEN};"),
    (f"@ ! $p_1 {PLAIN}", f"@!$p_1 {PLAIN}"),
    (f"/* a\nb */ {PLAIN.replace('.row', ' .row')}", PLAIN),
    (f"{_LOAD} {{%r1}},[%rd1+0x10]", f"{_LOAD} {{%r1}}, [%rd1+16];"),
    (f"{_LOAD} {{r}},[sh+-16]", f"{_LOAD} {{r}}, [sh+-16];"),
    (f"{_LOAD} {{r}},[sh+ 4*4 ]", f"{_LOAD} {{r}}, [sh+16];"),
    (f"{_LOAD} {{r}},[64]", f"{_LOAD} {{r}}, [64];"),
    (f"{_LOAD} {{r}}, [sh+0]", f"{_LOAD} {{r}}, [sh];"),
    ("mma {_, WARP_SZ}, 1.50e3, -1.5, 0F3f800000", "mma {_, 32}, 1.50e3, -1.5, 0f3F800000;"),
    ("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {a, b}, [p], 16;",
     "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {a, b}, [p], 16;"),
    ("wmma.store.d.sync.aligned.col.m16n16k16.shared::cta.f32 [p], {a, b}",
     "wmma.store.d.sync.aligned.col.m16n16k16.shared::cta.f32 [p], {a, b};"),
    ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite",
     "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite"),
    ("movmatrix.sync.aligned.m8n8.trans.b16 d, a", "movmatrix.sync.aligned.m8n8.trans.b16 d, a;"),
    ("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [p+8], {a, b, c, d}",
     "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [p+8], {a, b, c, d};"),
    ("ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32 {a, b}, [p]",
     "ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32 {a, b}, [p];"),
)  # fmt: skip
"""A text, and the text of the manual's order."""

OPERANDS = (
    ("a", "register a of b32"), ("q", "register q"), ("v.x", "register v.x"), ("%tid.x", "register %tid.x"),
    ("$a1", "register $a1"), ("_", "sink"), ("_x", "register _x"), ("0f3F800000", "32 bits 3f800000"),
    ("0dBFF0000000000000", "64 bits bff0000000000000"), ("1.5e3", "number 1.5e3"), ("2.", "number 2."),
    ("1e5", "number 1e5"), ("0x1F", "integer 31"), ("0b101", "integer 5"), ("017", "integer 15"),
    ("7U", "integer 7"), ("-3", "integer -3"), ("0", "integer 0"), ("WARP_SZ", "integer 32"),
    ("18446744073709551615", "integer 18446744073709551615"), ("[p+8]", "address p 8"),
    ("[p]", "address p 0"), ("[p+-8]", "address p -8"), ("[t]", "address t 0 in shared"),
    ("{a, 1}", "vector 2"), ("{a, b, c, d, e, f, g, h}", "vector 8"),
)  # fmt: skip
"""An operand, and what it is; a is declared as b32, t as a variable in shared."""

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

_NO_OPERAND = "an operand can't begin with {}; allowed: registers, {{vectors}}, [addresses], constants"
_NO_INSTRUCTION = (
    "an instruction is expected, such as 'mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32', not {}"
)

REASONS = {
    "mma {r0": "expected '}', not the end", "mma [p": "expected ']', not the end",
    "mma [r0-4]": "expected ']', not '-'", "mma r0,": "expected a register, '_' or a constant, not the end",
    "mma {a, [p]}": "expected a register, '_' or a constant, not '['",
    "mma -r0": "expected a number, not 'r0'",
    "mma p]": "expected ',' or the end of the instruction, not ']'",
    "mma r0; mma r0;": "expected ',' or the end of the instruction, not 'mma'",
    "mma 099, r0": _NO_OPERAND.format("'099, r0'"), f"mma {'é' * 61}": _NO_OPERAND.format(f"'{'é' * 59}…'"),
    "mma [_]": "an address must begin with a register or variable, not '_'",
    "mma [p+0.5]": "an address offset must be an integer, not '0.5'",
    "mma.sync.sync": "mma: '.sync' repeats a modifier; only one of its kind is allowed",
    "mma.sp.sp": "mma: '.sp' repeats a modifier; only one of its kind is allowed",
    "mma.popc.xor": "mma: '.popc' must follow '.xor' or '.and'",
    "wmma.load.d.sync": "unknown instruction 'wmma.load.d'; known: mma, wmma.mma, wmma.load.a, wmma.load.b, "
    "wmma.load.c, wmma.store.d, ldmatrix, stmatrix, movmatrix",
    "mma 18446744073709551616": "an integer constant must fit 64 bits, unlike '18446744073709551616'",
    "": _NO_INSTRUCTION.format("''"), "@!p": _NO_INSTRUCTION.format("'@!p'"),
    "mma.m99999n8k4": "'m99999n8k4' is no shape; a shape looks like m16n8k16 or m8n8",
}  # fmt: skip
"""What is no instruction, and what is said of it."""

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

_SCALED = "mma.sync.aligned.{}.row.col.kind::{}.block_scale{}.f32.{}.f32.ue8m0"
_SPARSE = "mma.sp::ordered_metadata.sync.aligned.{}.row.col.kind::{}.block_scale{}.f32.{}.f32.ue8m0"
_NARROW, _MIXED = "e2m1.e2m1", "e4m3.e3m2"

DEFAULTS = {
    form.format(shape, kind, written, types): form.format(shape, kind, f".scale_vec::{vector}", types)
    for form, shape, kind, types, vector in (
        (_SCALED, "m16n8k64", "mxf4", _NARROW, "2X"), (_SCALED, "m16n8k32", "mxf8f6f4", _MIXED, "1X"),
        (_SPARSE, "m16n8k128", "mxf4", _NARROW, "2X"), (_SPARSE, "m16n8k64", "mxf8f6f4", _MIXED, "1X"),
    )
    for written in ("", f".scale_vec::{vector}")
}  # fmt: skip
DEFAULTS |= {
    text: text
    for text in (
        _SCALED.format("m16n8k64", "mxf4nvf4", ".scale_vec::2X", _NARROW),
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "wmma.load.a.sync.aligned.row.m16n16k16.f16",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
    )
}
"""Mnemonics, and the same with the vector size that is the kind's where none is spelled."""
