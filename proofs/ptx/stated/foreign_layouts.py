"""Layouts of fragments as CUTLASS and Triton state them, and loads from shared memory that deliver them.

Sources: CUTLASS, include/cute/atom/mma_traits_sm70.hpp, sm75, sm80, sm89, sm90, sm120 and sm120_sparse;
Triton, lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp (nvidiaMmaTile, nvidiaDotToLinearLayout); PTX
ISA 9.1 section 9.7.14.5.15 (ldmatrix).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

F16 = "f32.f16.f16.f32"


def mma(shape: str, types: str, layouts: str = "row.col", kind: str = "") -> str:
    """Return a dense instruction."""
    return f"mma.sync.aligned.{shape}.{layouts}{kind}.{types}"


_ROWS_8X8 = "((4,8),2):((16,1),8)"
_ROWS_16X8 = "((4,8),(2,2)):((32,1),(16,8))"
_ROWS_8X16 = "((4,8),4):((32,1),8)"
_ONE_8X4 = "((4,8),1):((8,1),0)"
_QUAD_PAIR_ROW = "(8,4):(1,8)"
_QUAD_PAIR_COLUMN = "((4,2),4):((8,4),1)"
_QUAD_PAIR_F16 = "(8,8):(1,8)"
_QUAD_PAIR_F32 = "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))"

MXF4 = mma("m16n8k64", "f32.e2m1.e2m1.f32.ue8m0", kind=".kind::mxf4.block_scale.scale_vec::2X")
NVF4 = mma("m16n8k64", "f32.e2m1.e2m1.f32.ue4m3", kind=".kind::mxf4nvf4.block_scale.scale_vec::4X")
MXF8 = mma("m16n8k32", "f32.e4m3.e2m1.f32.ue8m0", kind=".kind::mxf8f6f4.block_scale.scale_vec::1X")

TRAITS: Mapping[str, Mapping[str, str]] = {
    mma("m16n8k8", F16): {"a": _ROWS_16X8, "b": _ROWS_8X8, "c": _ROWS_16X8, "d": _ROWS_16X8},
    **{
        mma("m16n8k16", types): {
            "a": "((4,8),(2,2,2)):((32,1),(16,8,128))", "b": "((4,8),(2,2)):((16,1),(8,64))", "c": _ROWS_16X8,
        }
        for types in (F16, "f16.f16.f16.f16", "f32.bf16.bf16.f32")
    },
    mma("m16n8k4", "f32.tf32.tf32.f32"): {"a": "((4,8),2):((16,1),8)", "b": _ONE_8X4},
    mma("m16n8k8", "f32.tf32.tf32.f32"): {
        "a": "((4,8),(2,2)):((16,1),(8,64))", "b": "((4,8),2):((8,1),32)",
    },
    mma("m8n8k4", "f64.f64.f64.f64"): {"a": _ONE_8X4, "b": _ONE_8X4, "c": _ROWS_8X8},
    mma("m16n8k4", "f64.f64.f64.f64"): {"a": "((4,8),2):((16,1),8)", "b": _ONE_8X4},
    mma("m16n8k16", "f64.f64.f64.f64"): {
        "a": "((4,8),(2,4)):((16,1),(8,64))", "b": "((4,8),4):((8,1),32)", "c": _ROWS_16X8,
    },
    mma("m8n8k16", "s32.s8.s8.s32"): {"a": _ROWS_8X16, "b": _ROWS_8X16, "c": _ROWS_8X8},
    mma("m16n8k16", "s32.u8.s8.s32"): {"a": "((4,8),(4,2)):((64,1),(16,8))", "b": _ROWS_8X16},
    **{
        mma("m16n8k32", types, kind=kind): {
            "a": "((4,8),(4,2,2)):((64,1),(16,8,256))", "b": "((4,8),(4,2)):((32,1),(8,128))",
        }
        for types, kind in (
            ("s32.s8.s8.s32", ""), ("f32.e4m3.e5m2.f32", ""), ("f32.e2m1.e3m2.f32", ".kind::f8f6f4"),
        )
    },
    mma("m8n8k32", "s32.s4.s4.s32"): {"a": "((4,8),8):((64,1),8)"},
    mma("m16n8k32", "s32.s4.s4.s32"): {"a": "((4,8),(8,2)):((128,1),(16,8))"},
    mma("m8n8k128", "s32.b1.b1.s32.xor.popc"): {"a": "((4,8),32):((256,1),8)"},
    mma("m16n8k256", "s32.b1.b1.s32.and.popc"): {
        "a": "((4,8),(32,2,2)):((512,1),(16,8,2048))", "b": "((4,8),(32,2)):((256,1),(8,1024))",
    },
    MXF4: {
        "a": "((4,8),(8,2,2)):((128,1),(16,8,512))", "b": "((4,8),(8,2)):((64,1),(8,256))", "c": _ROWS_16X8,
    },
}  # fmt: skip
"""(lane, element) to the column-major index of (M, K), (N, K) or (M, N), by instruction and operand."""

SCALED: Mapping[str, Mapping[str, str]] = {
    **{
        each: {
            "scale_a": "((2,2,8),64):((8,0,1),16)", "scale_b": "((4,8),64):((0,1),8)",
        }
        for each in (MXF4, NVF4)
    },
    MXF8: {"scale_a": "((2,2,8),32):((8,0,1),16)", "scale_b": "((4,8),32):((0,1),8)"},
    **{
        mma("m8n8k4", types, f"{a}.{b}"): {
            "a": _QUAD_PAIR_ROW if a == "row" else _QUAD_PAIR_COLUMN,
            "b": _QUAD_PAIR_ROW if b == "col" else _QUAD_PAIR_COLUMN,
            "c": accumulator,
        }
        for a in ("row", "col") for b in ("row", "col")
        for types, accumulator in (("f16.f16.f16.f16", _QUAD_PAIR_F16), (F16, _QUAD_PAIR_F32))
    },
}  # fmt: skip
"""Those of other domains: factors once for each element that they serve, threads of a quad pair."""

_SP = "mma.sp::ordered_metadata.sync.aligned"
_SPARSE_K64 = {
    "a": "((4,8),(8,2,2)):((128,1),(16,8,512))", "metadata": "((2,2,8),32):((8,512,1),16)",
}  # fmt: skip
_SPARSE_K128 = {
    "a": "((4,8),(16,2,2)):((256,1),(16,8,1024))", "metadata": "((2,2,8),(64)):((8,1024,1),(16))",
}  # fmt: skip
SPARSE: Mapping[str, Mapping[str, str]] = {
    f"{_SP}.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32": _SPARSE_K64,
    f"{_SP}.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0": _SPARSE_K64,
    f"{_SP}.m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0": _SPARSE_K128,
}
"""Those that count all of K: an element of A is stored for every two, and metadata belong to both."""

LINEAR: tuple[tuple[str, str, dict[str, list[list[int]]]], ...] = (
    (mma("m16n8k16", F16), "a", {"register": [[0, 1], [8, 0], [0, 8]],
                                 "lane": [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}),
    (mma("m16n8k16", F16), "b", {"register": [[1, 0], [8, 0]],
                                 "lane": [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]]}),
    (mma("m16n8k16", F16), "c", {"register": [[0, 1], [8, 0]],
                                 "lane": [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}),
    (mma("m16n8k32", "s32.s8.s8.s32"), "a", {"register": [[0, 1], [0, 2], [8, 0], [0, 16]],
                                             "lane": [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]]}),
    (mma("m16n8k32", "s32.s8.s8.s32"), "b", {"register": [[1, 0], [2, 0], [16, 0]],
                                             "lane": [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]]}),
    (mma("m16n8k8", "f32.tf32.tf32.f32"), "a", {"register": [[8, 0], [0, 4]],
                                                "lane": [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]]}),
    (mma("m8n8k4", "f64.f64.f64.f64"), "a", {"register": [],
                                             "lane": [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]]}),
    (mma("m8n8k4", "f64.f64.f64.f64"), "c", {"register": [[0, 1]],
                                             "lane": [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}),
)  # fmt: skip
"""Instruction, operand, and Triton's vectors; a register has one element, coordinates are (row, column)."""

X4, X2, X1 = (f"ldmatrix.sync.aligned.m8n8.x{count}.shared.b16" for count in (4, 2, 1))


class Load(NamedTuple):
    """A load of fragments from a tile in shared memory.

    Attributes
    ----------
    operand : str
        ``a`` or ``b``, whose tile is given as (N, K).
    load : str
        The instruction, with the registers that are the operand's.
    registers : tuple of int
        These.
    tile : str
        The layout of the tile in elements, without its swizzle.
    swizzle : (int, int, int)
        B, M and S, zeros for none.
    lanes : str
        The layout of the lanes' addresses, empty where these are derived.
    lanes_swizzled : bool
        Whether the swizzle is applied to these too.
    instruction : str
        Whose fragments they are.
    bits : int
        Width of an element.
    """

    operand: str
    load: str
    registers: tuple[int, ...]
    tile: str
    swizzle: tuple[int, int, int] = (0, 0, 0)
    lanes: str = ""
    lanes_swizzled: bool = False
    instruction: str = mma("m16n8k16", F16)
    bits: int = 16

    @property
    def transposed(self) -> bool:
        """Whether matrices are transposed."""
        return ".trans" in self.load

    def __str__(self) -> str:
        swizzle = f"Swizzle<{','.join(map(str, self.swizzle))}> o " if self.swizzle[0] else ""
        at = f" at {swizzle if self.lanes_swizzled else ''}{self.lanes}" if self.lanes else ""
        return f"{self.load}{at} <- {swizzle}{self.tile}"


def _loads() -> Iterator[Load]:
    all_of_a, all_of_b = (0, 1, 2, 3), (0, 1)
    for swizzle in ((0, 0, 0), (3, 3, 3), (2, 3, 3), (3, 2, 3), (2, 3, -4)):
        yield Load("a", X4, all_of_a, "(16,64):(64,1)", swizzle)
        yield Load("a", X4, all_of_a, "(16,16):(24,1)", swizzle)
        yield Load("b", X4 + "[0,1]", all_of_b, "(16,32):(32,1)", swizzle)
        yield Load("a", X4, all_of_a, "(16,64):(64,1)", swizzle, "(16,2):(64,8)", lanes_swizzled=True)
        yield Load("a", X4, all_of_a, "(16,64):(64,1)", swizzle, "(16,2):(64,8)")
    for tile in ("(16,16):(17,1)", "(16,16):(1,16)", "(16,(8,2)):(8,(1,128))", "((8,2),16):((16,128),1)"):
        yield Load("a", X4, all_of_a, tile)
        yield Load("a", X4.replace(".x4", ".x4.trans"), all_of_a, tile)
    yield Load("b", X2, all_of_b, "(8,64):(64,1)")
    yield Load("b", X2, all_of_b, "(8,64):(64,1)", lanes="(8,2,2):(64,8,0)")
    yield Load("b", X2.replace(".x2", ".x2.trans"), all_of_b, "(8,64):(1,8)")
    yield Load("b", X4 + "[2,3]", (2, 3), "(16,16):(16,1)")
    yield Load("b", X4 + "[0,2]", (0, 2), "(16,16):(16,1)")
    for lanes in ("(8,2,2):(64,8,512)", "(16,2):(64,4)", "(16,2):(64,2048)", "(16,2):(0,8)", "(32,1):(32,0)"):
        yield Load("a", X4, all_of_a, "(16,64):(64,1)", (0, 0, 0), lanes)
    for shape, types, bits, of_a, of_b in _OTHER_WIDTHS:
        of = partial(Load, instruction=mma(shape, types), bits=bits)
        k = int(shape.partition("k")[2])
        for operand, load, lines in (("a", of_a, int(shape[1:].partition("n")[0])), ("b", of_b, 8)):
            if not load:
                continue
            registers = tuple(range(int(load.partition(".x")[2][0])))
            phases, whole = len(registers) * 8 // lines, 16 * 8 // bits
            for tile in (f"({lines},{k}):({k},1)", f"({lines},{k}):(1,{lines})"):
                yield of(operand, load, registers, tile)
            for step in (whole, whole // 2) if bits > 1 else ():
                lanes = f"({lines},{phases}):({2 * k},{step})"
                yield of(operand, load, registers, f"({lines},{2 * k}):({2 * k},1)", lanes=lanes)
            trans = load.replace(".shared", ".trans.shared")
            yield of(operand, trans, registers, f"({lines},{k}):({k},1)")


_OTHER_WIDTHS = (
    # shape, types, bits of an element, what loads A and B
    ("m16n8k32", "s32.s8.s8.s32", 8, X4, X2), ("m8n8k16", "s32.s8.s8.s32", 8, X1, X1),
    ("m16n8k8", "f32.tf32.tf32.f32", 32, X4, X2), ("m16n8k4", "f32.tf32.tf32.f32", 32, X2, X1),
    ("m8n8k32", "s32.s4.s4.s32", 4, X1, ""), ("m16n8k32", "s32.s4.s4.s32", 4, X2, ""),
    ("m8n8k128", "s32.b1.b1.s32.xor.popc", 1, X1, ""), ("m16n8k256", "s32.b1.b1.s32.and.popc", 1, "", X2),
)  # fmt: skip
"""Products of elements that are wider or narrower than those that ``ldmatrix`` moves."""

LOADS = tuple(_loads())
"""Loads with and without swizzles, with addresses given and derived, of tiles that are delivered and not."""

_TF32 = mma("m16n8k8", "f32.tf32.tf32.f32")

SAID: tuple[tuple[str, str, str, str, str], ...] = (
    # instruction, operand, layout, verdict, and what the lines say
    (mma("m16n8k32", "s32.s4.s4.s32"), "b", "((4,8),8):((32,1),8)", "collision",
     "96 elements have too few holders, first (row 20, column 0)"),
    (mma("m16n8k32", "s32.s4.s4.s32"), "b", "((4,8),(8)):((32,1),(8))", "collision",
     "change the stride 32 (coordinate 0 of the lane) to 64: ((4,8),(8)):((64,1),(8))"),
    (mma("m16n8k128", "s32.b1.b1.s32.xor.popc"), "a", "((4,8),(32,2)):((512,1),((16,8)))", "incongruent",
     "with the stride nested as the shape it is equal: ((4,8),(32,2)):((512,1),(16,8))"),
    (MXF4, "scale_a", "((2,2,8),64):((0,8,1),16)", "other-bijection",
     "lane 1, element 0 holds (row 0, k 0), specified is (row 8, k 0)"),
    (mma("m16n8k16", F16), "a", f"{X4} <- Swizzle<3,2,3> o (16,64):(64,1)", "undeliverable",
     "-8 bytes apart"),
    (mma("m16n8k16", F16), "a", f"{X4} <- (16,16):(17,1)", "undeliverable",
     "row 1 of matrix 0 begins at byte 34, no multiple of 16"),
    (mma("m16n8k16", F16), "a", f"{X4} <- (16,16):(8,1)", "collision",
     "elements (0, 8) and (1, 0) of the tile are both at offset 8 of shared memory"),
    (mma("m16n8k16", F16), "a", f"{X4} at (16,2):(64,4) <- (16,64):(64,1)", "undeliverable",
     "lane 16 passes offset 4, byte 8: no multiple of 16"),
    (mma("m16n8k16", F16), "a", f"{X4} at (16,2):(64,2048) <- (16,64):(64,1)", "out-of-range",
     "is read from what lane 16 points to, offset 2048, where no element of the tile is"),
    (mma("m16n8k16", F16), "a", f"{X4} <- Sw<3,4,3> o smem_ptr[16b](unset) o (16,64):(64,1)", "equal",
     "arrives whole, from 4 of 4 tiles in memory"),
    (mma("m16n8k16", F16), "a", f"{X4} <- Sw<3,3,3> o _0 o (_16,_64):(_64,_1)", "equal", "no bank conflicts"),
    *((mma("m16n8k16", F16), "a", f"{X4} <- Sw<3,3,3> {one} {start} {other} (16,64):(64,1)", "equal",
       "no bank conflicts")
      for one in "o∘" for start in ("0", "_0") for other in "o∘"),
    (mma("m16n8k16", F16), "a", f"{X4} <- Swizzle<3,2,3> o (16,16):(32,1)", "undeliverable",
     "8 bytes after (row 1, column 0)"),
    (mma("m16n8k16", F16), "a", f"{X4} <- Sw<1,1,3> o smem_ptr[16b](unset) o (16,64):(64,1)", "undeliverable",
     "2 bytes after (row 0, column 8)"),
    (f"{_SP}.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32", "a",
     "((4,8),(2,2,2,2,2)):((128,1),(16,64,32,8,512))", "other-bijection", "permutation: elements (2 4)(3 5)"),
    (mma("m16n8k16", F16), "a", f"{X4} <- (16,16):(279616,1)", "equal", "bank conflicts"),
    (_TF32, "a", f"{X4} at (16,2):(8,4) <- (16,8):(8,1)", "equal", "2-way bank conflicts"),
    (mma("m16n8k8", F16), "b", f"{X1} <- (8,8):(64,1)", "equal", "8-way bank conflicts"),
    (_TF32, "a", f"{X4.replace('.x4', '.x4.trans')} at (16,2):(8,4) <- (16,8):(8,1)", "undeliverable",
     "lane 0, element 0 gets parts of two elements"),
    (_TF32, "a", f"{X4} at (16,2):(8,2) <- (16,8):(8,1)", "undeliverable", "lane 16 passes offset 2, byte 8"),
    (_TF32, "a", f"{X4} at (16,2):(1,64) <- (16,8):(1,16)", "undeliverable",
     "lane 1 passes offset 1, byte 4"),
    *((mma(shape, "f64.f64.f64.f64"), operand, f"{load} <- {tile}", "undeliverable", "8 neighbouring bytes")
      for shape, operand, load, tile in (
          ("m8n8k4", "a", X1, "(8,4):(4,1)"), ("m16n8k4", "a", X2, "(16,4):(4,1)"),
          ("m8n8k4", "c", X2.replace(".x2", ".x2.trans"), "(8,8):(8,1)"),
          ("m16n8k16", "b", X4, "(8,16):(16,1)"),
      )),
    (_TF32, "a", f"{X4} at (16,2):(8,4) <- Swizzle<1,2,2> o (16,8):(8,1)", "other-bijection",
     "specified is (row"),
)  # fmt: skip
"""Layouts in every notation, what they are, and a part of what is said of them."""

REFUSED: tuple[tuple[str, str], ...] = (
    # operand of m16n8k16, load
    ("a", f"{X2} <- (16,16):(16,1)"), ("b", f"{X4} <- (8,16):(16,1)"), ("b", f"{X4}[0,4] <- (8,16):(16,1)"),
    ("a", f"{X4} <- (16,24):(24,1)"), ("a", f"{X4} <- (16,16,2):(16,1,256)"),
    ("a", f"{X4} <- ((4,4),16):(16,1)"), ("a", f"{X4} <- (16,16):(-16,1)"),
    ("a", f"{X4} <- Sw<1,0,3> o smem_ptr[16b](unset) o (16,64):(64,1)"),
    ("a", f"{X4} <- (16,16):(279632,1)"), ("b", f"{X2} at (8,3):(16,8) <- (8,16):(16,1)"),
    ("a", f"{X4} <- (16,16):(99999999,1)"), ("a", f"{X4} <- (100000,10000):(1,100000)"),
    ("a", f"{X4} at (16,4):(16,1) <- (16,16):(16,1)"), ("a", f"{X4} <- Swizzle<9,3,3> o (16,16):(16,1)"),
    ("a", f"{X4} <- Swizzle<3,3> o (16,16):(16,1)"), ("a", f"{X4} <- Sw<3,3,3> o 16"), ("a", X4),
    ("a", "stmatrix <- (16,16):(16,1)"), ("d", f"{X4} <- (16,16):(16,1)"),
)  # fmt: skip
"""Loads that do not fit the operand."""
