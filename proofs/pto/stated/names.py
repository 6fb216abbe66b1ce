"""How PTO's texts, tools and headers name things, what takes which operands, and what choices stand for.

Sources: PTO IR manual; pto-isa headers at 3186c381; ptoas at a56b18c3; pto-isa issues 280 and pull 537.
"""

from __future__ import annotations

from ...text_tables import rows

_ELEMENTS = """
name      | bits | bytes | in a unit | format | other names
i8        | 8    | 1     | 1         | s8     | int8_t s8 int8
i16       | 16   | 2     | 1         | s16    | int16_t s16 int16
i32       | 32   | 4     | 1         | s32    | int32_t s32 int32
i64       | 64   | 8     | 1         | s64    | int64_t s64 int64
ui8       | 8    | 1     | 1         | u8     | u8 uint8_t uint8
ui16      | 16   | 2     | 1         | u16    | u16 uint16_t uint16
ui32      | 32   | 4     | 1         | u32    | u32 uint32_t uint32
ui64      | 64   | 8     | 1         | u64    | u64 uint64_t uint64
i4        | 4    | 1     | 2         | s4     | s4 int4
f16       | 16   | 2     | 1         | f16    | half float16 FLOAT16
bf16      | 16   | 2     | 1         | bf16   | bfloat16_t bfloat16
f32       | 32   | 4     | 1         | f32    | float float32 F32
f8E4M3FN  | 8    | 1     | 1         | e4m3   | float8_e4m3_t e4m3 f8e4m3 f8e4m3fn
f8E5M2    | 8    | 1     | 1         | e5m2   | float8_e5m2_t e5m2 f8e5m2
hif8      | 8    | 1     | 1         |        | hifloat8_t hifloat8
f4E2M1x2  | 4    | 1     | 2         | e2m1   | float4_e2m1x2_t e2m1 f4E2M1FN
f4E1M2x2  | 4    | 1     | 2         | e1m2   | float4_e1m2x2_t e1m2
f8E8M0FNU | 8    | 1     | 1         | ue8m0  | float8_e8m0_t e8m0 ue8m0
"""

ELEMENTS = {row.pop("name"): row for row in rows(_ELEMENTS)}
"""Bits of an element, bytes of a unit of storage and elements in one, the format, and further names."""

ROUNDED = {"e8m10": (8, 10), "e8m11": (8, 11)}
"""Exponent and fraction bits that f32 factors are rounded to in A5's and in A2A3's mode."""

_PROFILES = """
name | matrix unit | microscaling | other names
A2A3 | yes         | no           | a2a3 A2 a3 Ascend910B ascend910c dav-2201
A5   | yes         | yes          | a5 Ascend950 dav-3101 DAV-3510
CPU  | no          | yes          | cpu Cpu
"""

PROFILES = {row.pop("name"): row for row in rows(_PROFILES)}

NO_PROFILES = ("A6", "", "ascend", "a4")

_OPERATIONS = """
name            | reads                        | writes | optional     | memory
tmatmul         | a b                          | d      |              |
tmatmul.acc     | c a b                        | d      |              |
tmatmul.bias    | a b bias                     | d      |              |
tmatmul.mx      | a scale_a b scale_b          | d      |              |
tmatmul.mx.acc  | c a scale_a b scale_b        | d      |              |
tmatmul.mx.bias | a scale_a b scale_b bias     | d      |              |
tgemv           | a b                          | d      |              |
tgemv.acc       | c a b                        | d      |              |
tgemv.bias      | a b bias                     | d      |              |
tgemv.mx        | a scale_a b scale_b          | d      |              |
tgemv.mx.acc    | c a scale_a b scale_b        | d      |              |
tgemv.mx.bias   | a scale_a b scale_b bias     | d      |              |
tload           | source                       | target |              | source
tmov            | source                       | target | quantisation |
textract        | source row column            | target | quantisation |
tinsert         | source row column            | target | quantisation |
tstore          | source                       | target | quantisation | target
"""

OPERATIONS = {
    row["name"]: (
        tuple(row["reads"].split()), row["writes"], tuple(row["optional"].split()), row["memory"] or None
    )
    for row in rows(_OPERATIONS)
}  # fmt: skip
"""Operands read, in the order of a text, the one written, optional ones, and which is memory."""

SAID = {"tgemv": "row vector", ".mx": "scaled", ".acc": "accumulator", ".bias": "bias"}
"""What a part of a product's name stands for, in the words of what is said of it."""

SPELLED = {
    "pto.tmatmul": "tmatmul",
    "TMATMUL": "tmatmul",
    "pto.tmatmul_bias": "tmatmul.bias",
    "TGEMV_MX_ACC": "tgemv.mx.acc",
    "pto.tmov.fp": "tmov",
    "tstore_fp": "tstore",
    "textract.fp": "textract",
    "tload.fp": None,
    "tmatmul.fp": None,
    "tmatmul.acc.bias": None,
    "pto.tadd": None,
    "": None,
}
"""Names of operations in titles of pages and texts; None for what is no operation."""

FIRST_WORDS = {
    "pto.tmatmul ins()": "pto",
    '  "pto.tmatmul"(%a)': "pto",
    "%c = tgemv %a": "tgemv",
    "%c, %d:2 = pto.x": "pto",
    "// a comment\n; another\n # a third\n%c = TMATMUL_BIAS": "tmatmul",
    ".arg %x : T": ".arg",
    ".const %x = 1": ".const",
    "!l = T": "!",
    "module {": "module",
    "func.func @f": "func",
    "builtin.module": "builtin",
    "arith.constant": "arith",
    "scf.for": "scf",
    "tload %a": "tload",
    "tmov %a": "tmov",
    "textract %a": "textract",
    "tinsert %a": "tinsert",
    "tstore %a": "tstore",
}
"""What a text begins with, which says that it is one of PTO."""

OTHER_WORDS = {"": "", "mma.sync": "mma", "v_mfma": "v", "xvf32ger": "xvf32ger", "(x": ""}
"""What other texts begin with."""

_CHOICES = """
names            | profile | accumulation | accumulator_rounding | microscaled_sum | accumulator_read | k_tail   | load_fill | tf32  | subnormals | conversion | one_row_scales
-                | A2A3    | seeded       | nearest-even         | accumulator     | in-place         | valid    | granule   | off   | kept       | nearest-even | line
-                | A5      | seeded       | nearest-even         | accumulator     | in-place         | valid    | granule   | off   | kept       | nearest-even | line
-                | CPU     | added-last   | nearest-even         | accumulator     | operand          | valid    | buffer    | off   | kept       | nearest-even | line
npu              | CPU     | seeded       | nearest-even         | accumulator     | in-place         | valid    | granule   | off   | kept       | nearest-even | line
cpu              | A5      | added-last   | nearest-even         | accumulator     | operand          | valid    | buffer    | off   | kept       | nearest-even | line
cpu-2026-07      | A5      | added-last   | nearest-even         | accumulator     | operand          | valid    | buffer    | off   | kept       | nearest-even | line
cpu-2026-06      | A5      | added-last   | nearest-even         | f64             | operand          | valid    | buffer    | off   | kept       | nearest-even | line
unspecified      | A5      | unspecified  | nearest-even         | accumulator     | in-place         | valid    | granule   | off   | kept       | unspecified | line
cpu tf32=e8m11   | A2A3    | added-last   | nearest-even         | accumulator     | operand          | valid    | buffer    | e8m11 | kept       | nearest-even | line
k-tail=granules load-fill=none subnormals=flushed | A5 | seeded | nearest-even         | accumulator | in-place | granules | none    | off   | flushed    | nearest-even | line
accumulator-rounding=toward-zero | A5 | seeded | toward-zero | accumulator | in-place | valid | granule | off | kept | nearest-even | line
one-row-scales=boxes | CPU | added-last | nearest-even | accumulator | operand | valid | buffer | off | kept | nearest-even | boxes
"""  # noqa: E501 (a table)

CHOICES = {(row.pop("names"), row.pop("profile")): row for row in rows(_CHOICES)}
"""What names of choices stand for on a profile: of every open point the option that is taken."""

TYPES: dict[str, tuple[str | None, tuple[str, ...]]] = {
    "!pto.partition_tensor_view<64x128xf16>": ("f16", ("64", "128")),
    "!pto.partition_tensor_view<2xf32>": ("f32", ("2",)),
    "!pto.tensor_view<?x?xf32>": ("f32", ("?", "?")),
    "!pto.tensor_view<1xf32>": ("f32", ("?",)),
    "!pto.tensor_view<2xf32>": ("f32", ("?", "?")),
    "!pto.tensor_view<5xf32>": ("f32", ("?", "?", "?", "?", "?")),
    "!pto.tensor_view<6xf32>": ("f32", ("6",)),
    "!pto.tensor_view<2x3xf32>": ("f32", ("2", "3")),
    "!pto.ptr<f16>": ("f16", ()),
    "!pto.ptr<f32, gm>": ("f32", ()),
    "memref<4x?xbf16, strided<[?, 1]>, a -> b>": ("bf16", ("4", "?")),
    "memref<123456789xf32>": ("f32", ("123456789",)),
    "memref<1234567890xf32>": (None, ()),
    "tensor<4xi1>": (None, ()),
    "<4x4xf32>": ("f32", ("4", "4")),
    "<f32, x>": ("f32", ()),
    "!x.y<(f16, b) -> c, d>": (None, ()),
    "index": (None, ()),
    "i64": (None, ()),
}
"""Types that are no tiles, and the elements and extents that they give; ``<2xf32>`` is a rank."""

_NAMED = (
    *(
        f"!pto.tile<f16, 16, 16, RowMajor, NoneBox, {name}, Null>"
        for name in ("None", "NZ", "ZN", "ZZ", "NN")
    ),
    *(f"!pto.tile<f16, 16, 16, ColMajor, ColMajor, {name}, Zero>" for name in ("FR", "RN")),
    *(
        f"!pto.tile<loc=acc, f32, 16, 16, ColMajor, RowMajor, NZ, {pad}>"
        for pad in ("Null", "Zero", "Max", "Min")
    ),
    *(
        f"!pto.tile_buf<{place}, 16x32xf16>"
        for place in ("vec", "mat", "left", "right", "acc", "bias", "scaling")
    ),
    *(f"!pto.tile_buf<vec, 16x32xf16, pad={pad}, compact={pad}>" for pad in range(4)),
    *(f"!pto.tile_buf<vec, 16x32xf16, slayout={order}>" for order in ("none_box", "row_major", "col_major")),
    *(f"!pto.tile_buf<vec, 16x32xf16, blayout={order}>" for order in ("row_major", "col_major")),
    *(f"!pto.tile_buf<vec, 16x32xf16, valid=?x{size}>" for size in (0, 7, 999999999)),
    "!pto.tile<16x32xbf16>",
    "!pto.tile<...>",
    "!pto.tile_buf<loc=mat, dtype=f16, rows=1, cols=2, v_row=?, v_col=1, blayout=row_major, slayout=none_box, "  # noqa: E501
    "fractal=512, pad=0, compact=1>",
)

TILE_TYPES: dict[str, str | None] = {
    **{text: text for text in _NAMED},
    "!pto.tile< loc = left ,f16,16, 16 >": "!pto.tile<loc=left, f16, 16, 16>",
    "!pto.tile<f16, 16, 16, row_major, none_box, NZ, Invalid>":
        "!pto.tile<f16, 16, 16, RowMajor, NoneBox, NZ, Null>",
    "!pto.tile_buf<vec,16x32xhalf,compact=1,valid=-1x-1>":
        "!pto.tile_buf<vec, 16x32xf16, valid=?x?, compact=1>",
    "<left, 16x32xf16>": "!pto.tile_buf<left, 16x32xf16>",
    "!pto.tile_buf<16x16xf16, config=#x>": None,
    "!pto.tile_buf<16x16xf16, memory_space=#x>": None,
    "<16x16xf16, config=#x>": None,
    "!pto.tile<f16, 16>": None,
    "!pto.tile<f16, 16, 16, RowMajor>": None,
    "!pto.tile<loc=left, f16, 16, x=16>": None,
    "!pto.tile_buf<left, 16x32xf16, valid=1234567890x1>": None,
    "!pto.tile_buf<left, 1234567890x32xf16>": None,
    "!pto.tile_buf<left, ?x32xf16>": None,
    "!pto.tile_buf<loc=mat, dtype=f16, rows=1, cols=2, v_row=?, v_col=1, blayout=row_major, slayout=none_box, "  # noqa: E501
    "fractal=512>": None,
    "!pto.tile_view<16x16xf16>": None,
    "!pto.tile_buf<loc=left>": None,
}  # fmt: skip
"""Types of tiles and how they are printed; None for what is refused."""

PIECES = {
    "a, b<c, d>, (e, f) -> g, [h, i], {j, k},": (
        (0, "a"),
        (2, " b<c, d>"),
        (11, " (e, f) -> g"),
        (24, " [h, i]"),
        (32, " {j, k}"),
        (40, ""),
    ),
    "": ((0, ""),),
    "a<b -> c, d>, e": ((0, "a<b -> c, d>"), (13, " e")),
}
"""What stands between commas outside of brackets, and where; an arrow closes none."""
