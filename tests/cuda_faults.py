"""Faults to plant in the CUDA kernels of the corpus, and what is to be found of each."""

from __future__ import annotations

from dataclasses import dataclass

from cuda_contracts import Edit

from mmaproof.refinement.findings.finding import Kind

GEMM = "mma_f16_sm120a.ptx"
DEQUANTISED = "dequantised_s4_f16_sm80.ptx"
SPARSE = "mma_sparse_f16_sm80.ptx"
S4 = "mma_s4_sm80.ptx"
MXF4 = "mma_mxf4_sm120a.ptx"
MXF8 = "mma_mxf8f6f4_sm120a.ptx"
F64 = "mma_f64_sm80.ptx"
GROUPED = "grouped_f32_sm80.ptx"
GEMV = "shuffled_gemv_f32_sm80.ptx"
SIMT = "simt_f32_sm80.ptx"
NF4 = "nf4_f32_sm80.ptx"
WMMA_F16 = "wmma_f16_sm80.ptx"
WMMA_SCALED = "wmma_f16_scaled_sm80.ptx"
WMMA_S4 = "wmma_s4_sm80.ptx"
WMMA_S8 = "wmma_s8_sm80.ptx"

WRONG_VALUE, MISSING = Kind.WRONG_VALUE, Kind.MISSING_OUTPUT
OUT_OF_BOUNDS, MISALIGNED, UNINITIALISED = Kind.OUT_OF_BOUNDS, Kind.MISALIGNED, Kind.UNINITIALISED
RACE, DIVERGENCE, ILLEGAL, UNDEFINED = Kind.RACE, Kind.DIVERGENCE, Kind.ILLEGAL, Kind.UNDEFINED


@dataclass(frozen=True)
class Fault:
    """A fault and what is to be found of it.

    Attributes
    ----------
    name : str
        What is wrong.
    edit : Edit
        How it is planted.
    kind : Kind
        Of the first finding.
    says : str
        A regular expression found in that finding's message.
    """

    name: str
    edit: Edit
    kind: Kind
    says: str


FAULTS = (
    Fault(
        "barrier of a part of the block",
        Edit(SIMT, "bar.sync \t0;", "bar.sync \t0, 64;"),
        RACE,
        r"with no barrier between",
    ),
    Fault(
        "registers of A swapped",
        Edit(GEMM, "{%r112, %r113, %r114, %r115}, {%r122", "{%r112, %r114, %r113, %r115}, {%r122"),
        WRONG_VALUE,
        r"C\[0,0\] uses A\[8,0\]\*B\[8,0\], expected A\[0,8\]\*B\[8,0\]",
    ),
    Fault(
        "registers of B swapped",
        Edit(GEMM, "{%r122, %r123}", "{%r123, %r122}"),
        WRONG_VALUE,
        r"C\[0,0\] uses A\[0,8\]\*B\[0,0\], expected A\[0,0\]\*B\[0,0\]",
    ),
    Fault(
        "no barrier between copy and use",
        Edit(GEMM, "bar.sync \t0;", ""),
        RACE,
        r"reads .*a_tiles.*writes in line \d+, with no barrier between",
    ),
    Fault(
        "no barrier between use and next copy",
        Edit(GEMM, "bar.sync \t0;", "", 2),
        RACE,
        r"writes .*a_tiles.* reads in line \d+, with no barrier between",
    ),
    Fault(
        "cp.async not waited for",
        Edit(GEMM, "cp.async.wait_group 1;", ""),
        RACE,
        r"asynchronous copy of line \d+ is not waited for",
    ),
    Fault(
        "one cp.async group too many left open",
        Edit(GEMM, "cp.async.wait_group 1;", "cp.async.wait_group 2;"),
        RACE,
        r"asynchronous copy of line \d+ is not waited for",
    ),
    Fault(
        "groups of the loop not committed",
        Edit(GEMM, "cp.async.commit_group;", "", 2),
        RACE,
        r"asynchronous copy of line \d+ is not waited for",
    ),
    Fault(
        "wait behind the barrier",
        Edit(
            GEMM,
            "cp.async.wait_group 1;\n\t// end inline asm\n\tbar.sync \t0;",
            "bar.sync \t0;\n\tcp.async.wait_group 1;",
        ),
        RACE,
        r"reads .*a_tiles.*writes in line \d+, with no barrier between",
    ),
    Fault(
        "ldmatrix of B without .trans",
        Edit(
            GEMM, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
        ),
        WRONG_VALUE,
        r"C\[0,0\] uses A\[0,1\]\*B\[0,1\], expected A\[0,1\]\*B\[1,0\]",
    ),
    Fault(
        "last step of K left out",
        Edit(GEMM, "shr.s32 \t%r8, %r45, 5;", "shr.s32 \t%r8, %r45, 5;\n\tadd.s32 \t%r8, %r8, -1;"),
        WRONG_VALUE,
        r"C\[0,0\] lacks A\[0,64\]\*B\[64,0\]",
    ),
    Fault(
        "one tile too many fetched",
        Edit(GEMM, "setp.ge.s32 \t%p4", "setp.gt.s32 \t%p4"),
        OUT_OF_BOUNDS,
        r"cp\.async.* of 16 bytes at A\+0x(\w+) \(A has 0x\1 bytes\)",
    ),
    Fault(
        "swizzle of the reads is not that of the writes",
        Edit(GEMM, "and.b32  \t%r72, %r3, 3;", "and.b32  \t%r72, %r3, 1;"),
        WRONG_VALUE,
        r"C\[4,0\] uses A\[4,16\]\*B\[0,0\], expected A\[4,0\]\*B\[0,0\]",
    ),
    Fault(
        "part of B not fetched",
        Edit(GEMM, "setp.lt.u32 \t%p2, %r276, 128;", "setp.lt.u32 \t%p2, %r276, 0;"),
        UNINITIALISED,
        r"b_tiles",
    ),
    Fault(
        "accumulator cleared in each step",
        Edit(GEMM, "bar.sync \t0;", "bar.sync \t0;\n\tmov.f32 \t%f242, 0f00000000;"),
        WRONG_VALUE,
        r"C\[0,0\] lacks A\[0,0\]\*B\[0,0\]",
    ),
    Fault(
        "accumulator not cleared",
        Edit(GEMM, "mov.f32 \t%f258, %f227;", ""),
        UNINITIALISED,
        r"C\[24,25\] .*undefined",
    ),
    Fault(
        "store left out",
        Edit(GEMM, "st.global.v2.f32 \t[%rd46+96], {%f257, %f258};", ""),
        MISSING,
        r"C\[24,24\] is never written \(256 .*; C\[24,23\], the nearest written element, is written by block",
    ),
    Fault(
        "rows of the store too near each other",
        Edit(GEMM, "shl.b32 \t%r272, %r38, 4;", "shl.b32 \t%r272, %r38, 3;"),
        WRONG_VALUE,
        r"C\[8,0\] uses A\[16,0\]\*B\[0,0\].*C\[24,0\] is never written",
    ),
    Fault(
        "store beside the tile",
        Edit(GEMM, "[%rd46+96]", "[%rd46+224]"),
        OUT_OF_BOUNDS,
        r"st\.global\.v2\.f32 of 8 bytes at C\+",
    ),
    Fault(
        "ldmatrix of a part of the warp",
        Edit(
            GEMM,
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r112",
            "setp.ne.s32 \t%p7, %r2, 31;\n\t@%p7 ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r112",
        ),
        DIVERGENCE,
        r"ldmatrix.* executed by 31 of the 32 threads",
    ),
    Fault(
        "barrier that half of a warp skips",
        Edit(GEMM, "bar.sync \t0;", "setp.lt.u32 \t%p7, %r1, 16;\n\t@%p7 bar.sync \t0;"),
        DIVERGENCE,
        r"bar\.sync",
    ),
    Fault(
        "rows for ldmatrix not aligned",
        Edit(GEMM, "add.s32 \t%r121, %r116, 1024;", "add.s32 \t%r121, %r116, 1032;"),
        MISALIGNED,
        r"ldmatrix.* no multiple of 16",
    ),
    Fault(
        "target older than the instructions",
        Edit("mma_f16_sm80.ptx", ".target sm_80", ".target sm_75"),
        ILLEGAL,
        r"needs sm_80\+, not sm_75",
    ),
    Fault(
        "a scale factor's selectors without braces",
        Edit(MXF8, "%r52, {0, 0}, %r53, {0, 0};", "{%r52}, {0, 0}, %r53, 0;"),
        ILLEGAL,
        r"selectors_b must be a brace-enclosed pair",
    ),
    Fault(
        "target without the instructions of its architecture",
        Edit(MXF4, ".target sm_120a", ".target sm_120"),
        ILLEGAL,
        r"needs sm_120a, .*, not sm_120; so in lines ",
    ),
    Fault(
        "mask of the wrong nibble",
        Edit(DEQUANTISED, "%r46, %r42, 15728880", "%r46, %r42, 983055"),
        WRONG_VALUE,
        r"lacks A\[0,1\]\*W\[0,1\]\*scale\[0\]",
    ),
    Fault(
        "shift by the wrong number of nibbles",
        Edit(DEQUANTISED, "shr.u32 \t%r64, %r42, 8;", "shr.u32 \t%r64, %r42, 4;"),
        WRONG_VALUE,
        r"uses A\[0,2\]\*W\[0,1\]\*scale\[0\], expected A\[0,2\]\*W\[0,2\]\*scale\[0\]",
    ),
    Fault(
        "magic number without the weights' offset",
        Edit(DEQUANTISED, "mov.u32 \t%r62, 1678271496;", "mov.u32 \t%r62, 1677747200;"),
        WRONG_VALUE,
        r"lacks -8\*A\[0,0\]\*scale\[0\]",
    ),
    Fault(
        "nibbles exchanged after conversion",
        Edit(DEQUANTISED, "{%r43, %r48}", "{%r48, %r43}"),
        WRONG_VALUE,
        r"uses A\[0,1\]\*W\[0,0\]\*scale\[0\], expected A\[0,0\]\*W\[0,0\]\*scale\[0\]",
    ),
    Fault(
        "byte selector of prmt",
        Edit(DEQUANTISED, "mov.u32 \t%r96, 30258;", "mov.u32 \t%r96, 30256;"),
        WRONG_VALUE,
        r"C\[0,0\] ",
    ),
    Fault(
        "scale of the neighbouring column",
        Edit(DEQUANTISED, "[%rd47+4]", "[%rd47]"),
        WRONG_VALUE,
        r"C\[0,1\] .*scale\[0\]",
    ),
    Fault(
        "vector load not aligned",
        Edit(DEQUANTISED, "%r78}, [%rd56];", "%r78}, [%rd56+8];"),
        MISALIGNED,
        r"ld\.global\.v4\.u32 at .* no multiple of 16",
    ),
    Fault(
        "byte id of a scale",
        Edit(MXF4, "%r154, {2, 0}", "%r154, {0, 0}"),
        WRONG_VALUE,
        r"SA\[0,2\]\*SB\[0,0\], expected A\[0,64\]\*B\[64,0\]\*SA\[0,2\]\*SB\[0,2\]",
    ),
    Fault(
        "scale registers exchanged",
        Edit(MXF8, "%r249, {1, 0}, %r250, {1, 0}", "%r250, {1, 0}, %r249, {1, 0}"),
        WRONG_VALUE,
        r"C\[0,1\] .*SA\[0,1\]\*SB\[1,1\]",
    ),
    Fault(
        "scales loaded by the wrong thread of four",
        Edit(MXF4, "shl.b32 \t%r40, %r1, 3;", "shl.b32 \t%r40, %r1, 2;"),
        WRONG_VALUE,
        r"C\[8,0\] uses A\[8,0\]\*B\[0,0\]\*SA\[0,0\]\*SB\[0,0\], expected .*SA\[8,0\]",
    ),
    Fault(
        "elements read as another format",
        Edit(MXF8, "f32.e4m3.e5m2.f32", "f32.e5m2.e4m3.f32", 25),
        WRONG_VALUE,
        r"C\[0,0\] .*lacks A\[0,0\]\*B\[0,0\]",
    ),
    Fault(
        "metadata of the other threads",
        Edit(SPARSE, "selp.b32 \t%r9, 30258, 21520, %p2;", "selp.b32 \t%r9, 21520, 30258, %p2;"),
        WRONG_VALUE,
        r"C\[0,0\] uses X\[0,0\]\*B\[1,0\], expected X\[0,0\]\*B\[0,0\]",
    ),
    Fault(
        "registers of A in the order of memory",
        Edit(S4, "{%r96, %r97, %r98, %r99}", "{%r96, %r98, %r97, %r99}"),
        WRONG_VALUE,
        r"C\[0,0\] uses A\[8,0\]\*B\[32,0\], expected A\[0,32\]\*B\[32,0\]",
    ),
    Fault(
        "signed elements read as unsigned",
        Edit(S4, "s32.s4.s4.s32", "s32.u4.s4.s32"),
        WRONG_VALUE,
        r"expected A\[0,0\]\*B\[0,0\]",
    ),
    Fault(
        "remainder of K left out",
        Edit(S4, "setp.eq.s32 \t%p4, %r185, 0;", "setp.ge.s32 \t%p4, %r185, 0;"),
        WRONG_VALUE,
        r"C\[0,0\] lacks A\[0,512\]\*B\[512,0\]",
    ),
    Fault(
        "outputs of a thread exchanged",
        Edit(F64, "{%fd65, %fd66}, {%fd37}", "{%fd66, %fd65}, {%fd37}"),
        WRONG_VALUE,
        r"C\[0,0\] uses A\[0,(\d+)\]\*B\[\1,1\], expected A\[0,\1\]\*B\[\1,0\]",
    ),
    Fault(
        "result of the neighbouring column stored",
        Edit(F64, "[%rd32], %fd65;", "[%rd32], %fd66;"),
        WRONG_VALUE,
        r"C\[i,j\] holds what C\[i,j\+1\] should for even j",
    ),
    Fault(
        "tile of B read a row further down",
        Edit(SIMT, "[%r9+64];", "[%r9+128];"),
        WRONG_VALUE,
        r"C\[0,0\] uses A\[0,1\]\*B\[2,0\]\*alpha, expected A\[0,1\]\*B\[1,0\]\*alpha",
    ),
    Fault(
        "distance of a shuffle",
        Edit(GEMV, "mov.u32 \t%r34, 8;", "mov.u32 \t%r34, 4;"),
        WRONG_VALUE,
        r"y\[0\] has 2\*A\[0,0\]\*x\[0\], expected A\[0,0\]\*x\[0\]",
    ),
    Fault(
        "guard of the rows one too far",
        Edit(GEMV, "setp.ge.s32 \t%p1, %r3, %r15;", "setp.gt.s32 \t%p1, %r3, %r15;"),
        OUT_OF_BOUNDS,
        r"ld\.global\.v4\.f32 of 16 bytes at A\+0x(\w+) \(A has 0x\1 bytes\)",
    ),
    Fault(
        "no barrier after the tiles are written",
        Edit(SIMT, "bar.sync \t0;", ""),
        RACE,
        r"reads .*_tile.* with no barrier between",
    ),
    Fault(
        "barrier of a warp in place of one of the block",
        Edit(SIMT, "bar.sync \t0;", "bar.warp.sync \t-1;"),
        RACE,
        r"reads .*_tile.* with no barrier between",
    ),
    Fault(
        "no barrier before the tiles are written again",
        Edit(SIMT, "bar.sync \t0;", "", 2),
        RACE,
        r"writes .*_tile.* reads in line \d+, with no barrier between",
    ),
    Fault(
        "ragged K of A not guarded",
        Edit(SIMT, "or.pred  \t%p4, %p3, %p2;", "or.pred  \t%p4, %p3, %p3;"),
        OUT_OF_BOUNDS,
        r"ld\.global\.f32 of 4 bytes at A\+0x(\w+) \(A has 0x\1 bytes\)",
    ),
    Fault(
        "block ids exchanged",
        Edit(SIMT, "mov.u32 \t%r23, %ctaid.y;", "mov.u32 \t%r23, %ctaid.x;"),
        RACE,
        r"writes C\+0x0, which block \(0, 1, 0\), thread 0 reads",
    ),
    Fault(
        "beta is alpha",
        Edit(SIMT, "mul.f32 \t%f62, %f61, %f9;", "mul.f32 \t%f62, %f61, %f8;"),
        WRONG_VALUE,
        r"C\[0,0\] uses C\[0,0\]\*alpha, expected C\[0,0\]\*beta",
    ),
    Fault(
        "tile never written",
        Edit(SIMT, "st.shared.f32 \t[%r7], %f66;", ""),
        UNINITIALISED,
        r"b_tile\+0x0, some of them never written",
    ),
    Fault(
        "a wrong number in a table",
        Edit(NF4, "177, 57, 50, 191", "177, 57, 50, 63"),
        WRONG_VALUE,
        r"C\[0,0\] uses",
    ),
    Fault(
        "half a table filled",
        Edit(NF4, "setp.gt.u32 \t%p1, %r1, 15;", "setp.gt.u32 \t%p1, %r1, 7;"),
        UNINITIALISED,
        r"nf4_f32.*table\+0x20, some of them never written",
    ),
    Fault(
        "the next entry of a table",
        Edit(NF4, "ld.shared.f32 \t%f13, [%r46];", "ld.shared.f32 \t%f13, [%r46+4];"),
        OUT_OF_BOUNDS,
        r"ld\.shared\.f32 of 4 bytes at .*table\+0x40",
    ),
    Fault(
        "the other nibble",
        Edit(NF4, "and.b32  \t%r44, %r43, 60;", "shr.u32 \t%r44, %r43, 4; and.b32 %r44, %r44, 60;"),
        WRONG_VALUE,
        r"C\[0,0\] uses",
    ),
    Fault(
        "row distance of a fragment",
        Edit(WMMA_F16, "[%rd48], %r18;", "[%rd48], %r17;"),
        WRONG_VALUE,
        r"C\[1,0\] uses A\[1,32\]\*B\[128,0\], expected A\[1,128\]\*B\[128,0\]",
    ),
    Fault(
        "fragment loaded in the other order",
        Edit(
            WMMA_F16,
            "wmma.load.b.sync.aligned.row.m16n16k16.global.f16 \t{%r43",
            "wmma.load.b.sync.aligned.col.m16n16k16.global.f16 \t{%r43",
        ),
        UNDEFINED,
        r"is no fragment m16n16k16 b row",
    ),
    Fault(
        "one element of a fragment scaled otherwise",
        Edit(WMMA_SCALED, "mul.f32 \t%f61, %f52, %f75;", "mul.f32 \t%f61, %f52, %f76;"),
        UNDEFINED,
        r"is no fragment m16n16k16 accumulator whose elements are all treated alike",
    ),
    Fault(
        "no barrier between staging and use",
        Edit(WMMA_SCALED, "bar.sync \t0;", "", 2),
        RACE,
        r"reads .*a_tile.* with no barrier between",
    ),
    Fault(
        "elements of four bits addressed as bytes",
        Edit(WMMA_S4, "shr.s32 \t%r112, %r111, 1;", "shr.s32 \t%r112, %r111, 0;"),
        OUT_OF_BOUNDS,
        r"wmma\.load\.a.* of 16 bytes at A\+0x1500 \(A has 0x1400 bytes\)",
    ),
    Fault(
        "fragments of A and B exchanged",
        Edit(WMMA_S8, "{%r151, %r152}, {%r153, %r154}", "{%r153, %r154}, {%r151, %r152}"),
        UNDEFINED,
        r"\{%r153, %r154\} is no fragment m16n16k16 a row",
    ),
    Fault(
        "C left out where beta is not 0, and read where it is",
        Edit(GROUPED, "setp.eq.f32 \t%p13, %f10", "setp.neu.f32 \t%p13, %f10"),
        WRONG_VALUE,
        r"^if beta ≠ 0: C\[0,0\]",
    ),
    Fault(
        "alpha forgotten where beta is 0",
        Edit(GROUPED, "st.global.f32 \t[%rd7], %f8", "st.global.f32 \t[%rd7], %f67"),
        WRONG_VALUE,
        r"^if beta = 0: C\[0,0\]",
    ),
    Fault(
        "address of A's group taken for B",
        Edit(GROUPED, "%rd24, [%rd3]", "%rd24, [%rd2]"),
        OUT_OF_BOUNDS,
        r"A[01]",
    ),
    Fault(
        "addresses of C four bytes apart",
        Edit(GROUPED, "shl.b64 \t%rd29, %rd1, 3;", "shl.b64 \t%rd29, %rd1, 2;"),
        MISALIGNED,
        r"no multiple of 8",
    ),
    Fault(
        "depth of the next group",
        Edit(GROUPED, "%r1, [%rd17]", "%r1, [%rd17+4]"),
        OUT_OF_BOUNDS,
        r"depths\+0x8",
    ),
)
