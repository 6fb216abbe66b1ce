"""Texts, constants, launches and targets of PTX, and what ptxas takes against the manual.

Sources: PTX ISA 9.1 chapter 4 (syntax), section 9.7.14 (instructions); the orders of modifiers were tried on
ptxas of CUDA 13.0.

Sources: NVIDIA's CCCL at 004ad198, ``cuda/__device/arch_traits.h``; messages of ptxas 13.0 for parameters.

Source: PTX ISA 9.1, the ``.target`` directive and the release notes (chapter 13); ptxas.
"""

from __future__ import annotations

from ...text_tables import table

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
    "wgmma.mma_async.sp": ("wgmma.mma_async",),
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
    "%v.w": "f32", "%r0.x": None, "%p": "pred", "tile": ".shared", "%q": None, "%tid.x": ".special",
}  # fmt: skip
"""What the names are by these declarations; nothing where none is of it."""

NO_DECLARATIONS = ("%r", "%r<x>:b32", "%r:b33", "%r:b32, %r:f32", "tile<3>:shared")
"""What is refused."""


TAKEN = """
(1)
16+16
-(-1)
- -1
1?2:3
WARP_SZ*2
7 % 3
(.s64)3
( .u64 )-1>5
1.0<2.0
!0
1&&0||1
((((1))))
+1
18446744073709551615
""".strip().splitlines()
"""What ptxas takes for an element of C of integers."""

REFUSED_CONSTANTS = """
7%3
5/0
5%0
1.0+2
1<2?3.0:4.0
1 2
1+
*2
(1
1)
1?2
1:2
!1.5
~1.5
b32_0+1
(b32_0)
0f00000000+0f00000000
1.0/0.0
-0f3F800000
(0d3FF0000000000000)+1
1.0<<2
1.0%2.0
1?2:3.0
1?2.0:3
0?2.0:3
1.0?2:3
99999999999999999999
08
0b2
0f3F80000
0d3FF
.5
1.5U
7u
7UU
""".strip().splitlines()
"""What it does not."""


RULES = {
    "shape": "fp8-sparse-m16n8k32 wgmma-integer-n",
    "multiplicand-types": "mixed-signedness fp8-sparse-m16n8k32 tf32-m16n8k16 bf16-m8n8k4 "
    "wgmma-mixed-signedness",
    "element-type": "wmma-integer-shapes-f32",
    "kind": "f8f6f4-m16n8k16 mx-kinds-without-scale",
    "block-scale": "mx-kinds-without-scale",
    "layout": "layout-of-moves layout-of-wgmma",
    "rounding": "mma-f64-rounding wmma-f64-rounding-position",
    "bit-operation": "b1-operation-position bit-operation-on-4-bit-integers",
    "metadata-variant": "fp8-sparse-f16-accumulators",
    "transposition": "stmatrix-m16n8-trans",
    "count": "x8",
    "target-version": "sm-88-version",
    "target": "f8f6f4-targets",
    "ptx-version": "scale-vec-4x-ue8m0 f8f6f4-targets",
    "operand-sort": "braced-register",
    "braces": "braced-register",
    "register-count": "fp8-m16n8k16-b wmma-f64-fragment example-operands",
    "register-class": "unchecked-register-classes",
    "constant": "unchecked-constants",
    "sink": "refused-sink",
    "selector": "f16-sparsity-selector wgmma-sparse-selector",
    "stride": "wmma-stride",
    "aligned": "wgmma-aligned",
    "distinct-registers": "wgmma-repeated-registers",
}
"""The contradictions on each rule, of those that have any."""

_MANUAL, _BOTH = ("manual", "ptxas"), ("manual", "manual", "ptxas")

SIDES = {
    **dict.fromkeys((
        "f16-sparsity-selector", "f8f6f4-m16n8k16", "mx-kinds-without-scale", "bf16-m8n8k4", "f8f6f4-targets",
        "bit-operation-on-4-bit-integers", "x8", "wmma-integer-shapes-f32", "wmma-f64-rounding-position",
        "wmma-stride", "tf32-m16n8k16", "layout-of-moves", "unchecked-constants", "refused-sink",
        "repeated-modifier", "wgmma-aligned", "layout-of-wgmma", "wgmma-repeated-registers",
    ), _MANUAL),
    **dict.fromkeys((
        "mixed-signedness", "fp8-sparse-m16n8k32", "fp8-sparse-f16-accumulators", "stmatrix-m16n8-trans",
        "wmma-f64-fragment", "mma-f64-rounding", "b1-operation-position", "example-operands",
        "wgmma-integer-n", "wgmma-mixed-signedness", "wgmma-sparse-selector",
    ), _BOTH),
    **dict.fromkeys(("ldmatrix-m16n16-addresses", "wmma-default-stride"), ("manual", "manual")),
    "m16n8k256-a-columns": ("manual", "the bijection", "CuTe"),
    "fp8-m16n8k16-b": ("manual", "ptxas of CUDA 13.5", "ptxas of CUDA 13.0"),
    "scale-vec-4x-ue8m0": ("manual", "manual", "ptxas of CUDA 13.5", "ptxas of CUDA 13.0"),
    "unchecked-register-classes": ("manual", "ptxas", "ptxas", "ptxas"),
    "braced-register": ("manual", "ptxas", "inline assembly of CUTLASS and others", "ptxas"),
    "sm-88-version": ("manual", "LLVM", "ptxas of CUDA 13.5", "ptxas of CUDA 13.0"),
    "wgmma-k-major-32-byte-example": ("manual", "the layout"),
    "wmma-line-alignment": ("PTX manual", "CUDA C++ guide"),
    "fp8-accumulation-on-hopper": ("MMA-Sim", "machine code by ptxas for sm_90"),
}  # fmt: skip
"""Who contradicts whom, up to the place; no two say the same."""

SHOWN_ON = {
    "f8f6f4-targets": ("sm_100a", "8.6"), "sm-88-version": ("sm_88", "7.8"),
    **dict.fromkeys(("wgmma-aligned", "layout-of-wgmma", "wgmma-repeated-registers"), ("sm_90a", "9.0")),
}  # fmt: skip
"""The least target and version that takes an example, where the newest does not show it."""

_PAIR = r"\.(e4m3|e5m2)\.(e4m3|e5m2)\."
_BITS = r"\.(s4|u4)\.(s4|u4)\."

KINDS_OF_EXCEPTIONS = (
    # contradiction, rules that it explains, opcode with its modifiers and types, targets
    ("f16-sparsity-selector", "selector", r"mma\.sp(?=.*\.m16n8k32\.).*\.f32\.f16\.f16\.f32\.$", ""),
    ("f8f6f4-m16n8k16", "kind", rf"mma(?=.*\.m16n8k16\.)(?=.*::f8f6f4\.).*{_PAIR}", ""),
    ("mx-kinds-without-scale",
     "kind block-scale scale-type accumulator-types operand-count register-count register-class "
     "ptx-version target", rf"(?!.*block_scale)mma(?=.*::mx).*{_PAIR}", ""),
    ("f8f6f4-targets", "target ptx-version kind", rf"mma(?=.*::f8f6f4\.).*{_PAIR}", "sm_1(00|01|03|10)[af]"),
    ("bf16-m8n8k4", "multiplicand-types register-class",
     r"w?mma(?=.*\.m8n8k4\.).*\.f32\.bf16\.bf16\.f32\.$", ""),
    ("bit-operation-on-4-bit-integers", "bit-operation popc", rf"mma\.(?!sp).*{_BITS}", ""),
    ("fp8-m16n8k16-b", "register-count", rf"mma(?=.*\.m16n8k16\.).*{_PAIR}", ""),
    ("x8", "count", r"(ld|st)matrix.*\.x8", ""),
    ("layout-of-moves", "layout", r"(ld|st|mov)matrix", ""),
    ("wmma-integer-shapes-f32", "element-type register-class",
     r"wmma\.(load\.c|store\.d)(?=.*\.m8n8k(32|128)\.).*\.f32\.$", ""),
    ("wmma-stride", "stride", "", ""),
    ("unchecked-register-classes", "register-class", "SIZES", ""),
    ("unchecked-register-classes", "register-class", "PREDICATES", ""),
    ("unchecked-register-classes", "register-class", r".*\.block_scale", ""),
    ("unchecked-register-classes", "register-class", "NARROW", ""),
    ("unchecked-constants", "constant", "", ""),
    ("unchecked-constants", "operand-sort", r"(?!ldmatrix|wmma\.load)", ""),
    ("wgmma-aligned", "aligned", r"wgmma\.", ""),
    ("layout-of-wgmma", "layout", r"wgmma\.mma_async", ""),
    ("wgmma-repeated-registers", "distinct-registers", r"wgmma\.mma_async", ""),
    ("sm-88-version", "target-version", "", "sm_88"),
)  # fmt: skip
"""What ptxas takes although a rule excludes it. SIZES: registers have as many bits as they must; PREDICATES:
of ``wgmma`` those that are no right ones are predicates, as metadata or in A of integers; NARROW: a
register of 8 or 16 bits is an address or near one, in a state space that is spelled."""

REFUSED_BRACES = (
    # types of A, whether metadata are ordered too, targets
    ("s4 u4", True, ("sm_90", "sm_90a", "sm_100", "sm_101", "sm_103", "sm_110", "sm_120", "sm_121")),
    ("f16 s8 u8", False, ("sm_100", "sm_101", "sm_103", "sm_110", "sm_120", "sm_121")),
    ("e4m3 e5m2", True, ("sm_90", "sm_90a", "sm_100", "sm_101", "sm_103", "sm_110")),
)
"""Sparse products without a kind whose metadata ptxas takes without braces only; also with a and f."""


SHARED = {
    target: 1024 * int(row["KiB"])
    for row in table(__package__, "shared")
    for target in row["targets"].split()
}
"""Bytes of shared memory that a block can have; unknown targets have what the most capable one has."""

CLUSTERS = frozenset({"sm_90", "sm_90a", "sm_100", "sm_100a", "sm_101", "sm_103", "sm_110", "sm_120",
                      "sm_120a", "sm_121", "sm_121a", "sm_999", "future"})  # fmt: skip
"""Targets with clusters, of up to 16 blocks."""

SMALL_PARAMETERS = frozenset({"sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62"})
"""Targets whose kernels have 4352 bytes of parameters in every version; others 32764 from PTX 8.1 on."""

EVERYWHERE = {
    "grid": (2147483647, 65535, 65535), "block": (1024, 1024, 64), "threads": 1024, "static_shared": 49152,
    "local": 524288, "constant": 65536,
}  # fmt: skip
"""What is the same for all."""


def version(text: str) -> tuple[int, int]:
    """Return a version as a pair of numbers."""
    major, _, minor = text.partition(".")
    return int(major), int(minor)


SINCE = {
    row["target"] + suffix.removeprefix("plain"): version(row[suffix])
    for row in table(__package__, "since")
    for suffix in ("plain", "a", "f")
    if row[suffix]
}
"""The lowest PTX version of every target."""

GROUPS = {
    "120 family": ("sm_120a", "sm_120f", "sm_121a", "sm_121f"),
    "120a 121a": ("sm_120a", "sm_121a"),
    "90a": ("sm_90a",),
    "a and f": tuple(
        f"sm_{chip}{suffix}" for chip in ("100", "101", "103", "110", "120", "121") for suffix in ("a", "f")
    ),
}
"""What the notes name besides ``sm_80 or higher``."""


def named(group: str) -> tuple[str, ...]:
    """Return the targets that ``sm_80+`` or a name of `GROUPS` means."""
    if group in GROUPS:
        return GROUPS[group]
    least = int(group.removeprefix("sm_").removesuffix("+"))
    return tuple(name for name in SINCE if int(name.removeprefix("sm_").rstrip("af")) >= least)
