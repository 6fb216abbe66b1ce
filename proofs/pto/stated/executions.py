"""Statements of PTO that are executed on whole numbers, and tiles by their types.

Sources: PTO IR manual (types of tiles); pto-isa headers at 3186c381 (products, moves, orders of tiles).
"""

from __future__ import annotations

_LEFT = "!pto.tile_buf<left, {}, blayout=col_major, slayout=row_major>"
_RIGHT = "!pto.tile_buf<right, {}, slayout=col_major>"
_ACC = "!pto.tile_buf<acc, {}, blayout=col_major, slayout=row_major, fractal=1024>"
_BIAS = "!pto.tile_buf<bias, {}>"
_ROWS = "!pto.tile_buf<scaling, {}, slayout=row_major, fractal=32>"
_COLUMNS = "!pto.tile_buf<scaling, {}, blayout=col_major, slayout=col_major, fractal=32>"


def _product(operation: str, inputs: tuple[str, ...], result: str) -> str:
    names = [f"%x{place}" for place in range(len(inputs))]
    if operation.endswith(".acc"):
        names[0] = "%d"
    return f"pto.{operation} ins({', '.join(names)} : {', '.join(inputs)}) outs(%d : {result})"


_NPU, _ALL, _SCALING = ("A2A3", "A5"), ("A2A3", "A5", "CPU"), ("A5", "CPU")

PRODUCTS: tuple[tuple[str, tuple[str, ...], tuple[int, int, int], tuple[str, ...]], ...] = (
    (_product("tmatmul", (_LEFT.format("32x64xf16"), _RIGHT.format("64x48xf16")), _ACC.format("32x48xf32")),
     _ALL, (32, 64, 48), ("a", "b")),
    (_product("tmatmul", (_LEFT.format("32x64xf16, valid=20x50"), _RIGHT.format("64x48xf16, valid=50x40")),
              _ACC.format("32x48xf32, valid=20x40")), ("CPU",), (20, 50, 40), ("a", "b")),
    (_product("tmatmul", (_LEFT.format("32x64xi8"), _RIGHT.format("64x32xi8")), _ACC.format("32x32xi32")),
     _ALL, (32, 64, 32), ("a", "b")),
    (_product("tmatmul", (_LEFT.format("16x32xf32"), _RIGHT.format("32x16xf32")), _ACC.format("16x16xf32")),
     _ALL, (16, 32, 16), ("a", "b")),
    (_product("tmatmul", (_LEFT.format("32x64xf8E4M3FN"), _RIGHT.format("64x32xf8E5M2")),
              _ACC.format("32x32xf32")), ("A5",), (32, 64, 32), ("a", "b")),
    (_product("tmatmul.acc", (_ACC.format("32x48xf32"), _LEFT.format("32x64xbf16"),
                              _RIGHT.format("64x48xbf16")),
              _ACC.format("32x48xf32")), _ALL, (32, 64, 48), ("c", "a", "b")),
    (_product("tmatmul.bias", (_LEFT.format("32x64xf16"), _RIGHT.format("64x48xf16"),
                               _BIAS.format("1x48xf32")),
              _ACC.format("32x48xf32")), _ALL, (32, 64, 48), ("a", "b", "bias")),
    (_product("tmatmul.bias", (_LEFT.format("16x64xi8"), _RIGHT.format("64x32xi8"), _BIAS.format("1x32xi32")),
              _ACC.format("16x32xi32")), _ALL, (16, 64, 32), ("a", "b", "bias")),
    (_product("tgemv", (_LEFT.format("1x256xf16"), _RIGHT.format("256x32xf16")),
              _ACC.format("16x32xf32, valid=1x32")), _NPU, (1, 256, 32), ("a", "b")),
    (_product("tmatmul.mx", (_LEFT.format("16x64xf8E4M3FN"), _ROWS.format("16x2xf8E8M0FNU"),
                             _RIGHT.format("64x16xf8E4M3FN"), _COLUMNS.format("2x16xf8E8M0FNU")),
              _ACC.format("16x16xf32")), _SCALING, (16, 64, 16), ("a", "scale_a", "b", "scale_b")),
)  # fmt: skip
"""Statement, profiles, m, k and n, and roles of the operands."""

_MAT = "!pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>"
_VIEW = "!pto.partition_tensor_view<64x64xf16>"
_PART = _LEFT.format("32x32xf16")

MOVES = {
    "load": f"pto.tload ins(%v : {_VIEW}) outs(%t : {_MAT})",
    "move to left": f"pto.tmov ins(%s : {_MAT}) outs(%t : {_LEFT.format('64x64xf16')})",
    "move to right": f"pto.tmov ins(%s : {_MAT}) outs(%t : {_RIGHT.format('64x64xf16')})",
    "extract": f"pto.textract ins(%s, %i, %j : {_MAT}, index, index) outs(%t : {_PART})",
    "store": f"pto.tstore ins(%s : {_ACC.format('32x48xf32')}) "
    "outs(%v : !pto.partition_tensor_view<32x48xf32>)",
}
"""Moves by what they do."""

INSERT = f"pto.tinsert ins(%s, %i, %j : {_PART.replace('left', 'acc')}, index, index) outs(%t : {_MAT})"
"""What is judged and not executed."""

TILES = {
    ("!pto.tile_buf<mat, 64x128xf16>", "A5"):
        "mat f16 64x128 valid 64x128 row_major none_box 512 pad 0 compact 0",
    ("!pto.tile_buf<vec, 16x32xf32, valid=?x20, pad=1>", "A5"):
        "vec f32 16x32 valid ?x20 row_major none_box 512 pad 1 compact 0",
    ("!pto.tile_buf<left, 32x64xbf16, valid=20x64, blayout=col_major, slayout=row_major, compact=1>", "A5"):
        "left bf16 32x64 valid 20x64 col_major row_major 512 pad 0 compact 1",
    ("!pto.tile_buf<left, 32x64xbf16, blayout=col_major, slayout=row_major>", "A2A3"):
        "left bf16 32x64 valid 32x64 row_major row_major 512 pad 0 compact 0",
    ("!pto.tile_buf<right, 64x48xi8, slayout=col_major>", "CPU"):
        "right i8 64x48 valid 64x48 row_major col_major 512 pad 0 compact 0",
    ("!pto.tile_buf<acc, 32x48xf32, blayout=col_major, slayout=row_major, fractal=1024>", "A5"):
        "acc f32 32x48 valid 32x48 col_major row_major 1024 pad 0 compact 0",
    ("!pto.tile_buf<loc=left, dtype=f16, rows=32, cols=64, v_row=32, v_col=?, blayout=col_major, "
     "slayout=row_major, fractal=512, pad=2>", "A5"):
        "left f16 32x64 valid 32x? col_major row_major 512 pad 2 compact 0",
    ("!pto.tile<loc=right, f16, 16, 16, RowMajor, ColMajor, ZN, Zero>", "A5"):
        "right f16 16x16 valid 16x16 row_major col_major 512 pad 1 compact 0",
    ("!pto.tile_buf<scaling, 16x2xf8E8M0FNU, slayout=row_major, fractal=32>", "A5"):
        "scaling f8E8M0FNU 16x2 valid 16x2 row_major row_major 32 pad 0 compact 0",
}  # fmt: skip
"""Types of tiles and profiles, and what they are."""
