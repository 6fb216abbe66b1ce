"""PTO text in every form that circulates, for the tests of whoever reads it."""

from __future__ import annotations

_LEFT_KEYED = (
    "!pto.tile_buf<loc=left, dtype=f16, rows=32, cols=64, v_row=32, v_col=64, "
    "blayout=col_major, slayout=row_major, fractal=512, pad=0>"
)
_RIGHT_KEYED = (
    "!pto.tile_buf<loc=right, dtype=f16, rows=64, cols=48, v_row=64, v_col=48, "
    "blayout=row_major, slayout=col_major, fractal=512, pad=0>"
)
_ACC_KEYED = (
    "!pto.tile_buf<loc=acc, dtype=f32, rows=32, cols=48, v_row=32, v_col=48, "
    "blayout=col_major, slayout=row_major, fractal=1024, pad=0>"
)
_ACC_PART = (
    "!pto.tile_buf<acc, 32x48xf32, valid=20x48, "
    "blayout=col_major, slayout=row_major, fractal=1024, compact=1>"
)
_ROW = "!pto.tile_buf<acc, 16x32xf32, valid=1x32, blayout=col_major, slayout=row_major, fractal=1024>"

INSTRUCTIONS = {
    "E1": "%c = tmatmul %a, %b : (!pto.tile<16x32xf16>, !pto.tile<32x16xf16>) -> !pto.tile<16x16xf32>",
    "E2": "%c1 = tmatmul.acc %c0, %a, %b : (!pto.tile<16x16xf32>, !pto.tile<16x32xf16>, "
    "!pto.tile<32x16xf16>) -> !pto.tile<16x16xf32>",
    "E3": "%c = tmatmul.bias %a, %b, %bias {accPhase = #pto.acc_phase<final>} : (!pto.tile<16x32xi8>, "
    "!pto.tile<32x16xi8>, !pto.tile<1x16xi32>) -> !pto.tile<16x16xi32>",
    "E4": "%y = tgemv %x, %w : (!pto.tile<1x256xf16>, !pto.tile<256x32xf16>) -> !pto.tile<1x32xf32>",
    "E5": "%t = textract %panel[%z, %kk] : (!pto.tile<64x128xbf16>, index, index) -> !pto.tile<64x32xbf16>",
    "E6": "%c = pto.tmatmul %a, %b : (!pto.tile<loc=left, f16, 16, 16, ColMajor, RowMajor, NZ, Null>, "
    "!pto.tile<loc=right, f16, 16, 16, RowMajor, ColMajor, ZN, Null>) -> "
    "!pto.tile<loc=acc, f32, 16, 16, ColMajor, RowMajor, NZ, Null>",
    "E7": "%y = pto.tgemv.bias %x, %w, %b : (!pto.tile<1x256xbf16>, !pto.tile<256x64xbf16>, "
    "!pto.tile<1x64xf32>) -> !pto.tile<1x64xf32>",
    "E8": f"pto.tmatmul ins(%l, %r : {_LEFT_KEYED}, {_RIGHT_KEYED}) outs(%acc : {_ACC_KEYED})",
    "E9": f"pto.tmatmul.acc ins(%acc, %l, %r : {_ACC_PART}, !pto.tile_buf<left, 32x64xf16, valid=20x64, "
    "blayout=col_major, slayout=row_major, compact=1>, !pto.tile_buf<right, 64x48xf16, "
    f"slayout=col_major>) outs(%acc : {_ACC_PART})",
    "E10": "pto.tmatmul.bias ins(%l, %r, %b : !pto.tile_buf<left, 16x64xi8, blayout=col_major, "
    "slayout=row_major>, !pto.tile_buf<right, 64x32xi8, slayout=col_major>, "
    "!pto.tile_buf<bias, 1x32xi32>) outs(%acc : !pto.tile_buf<acc, 16x32xi32, blayout=col_major, "
    "slayout=row_major, fractal=1024>)",
    "E13 load": "pto.tload ins(%pv : !pto.partition_tensor_view<64x128xf16>) "
    "outs(%am : !pto.tile_buf<mat, 64x128xf16, blayout=col_major, slayout=row_major>)",
    "E13 extract": "pto.textract ins(%am, %c0, %kk : !pto.tile_buf<mat, 64x128xf16, blayout=col_major, "
    "slayout=row_major>, index, index) outs(%l : !pto.tile_buf<left, 64x32xf16, blayout=col_major, "
    "slayout=row_major>)",
    "E14": f"pto.tgemv.acc ins(%y, %x, %w : {_ROW}, !pto.tile_buf<left, 1x256xf16, blayout=col_major, "
    f"slayout=row_major>, !pto.tile_buf<right, 256x32xf16, slayout=col_major>) outs(%y : {_ROW}) "
    "{accPhase = #pto<acc_phase final>}",
    "E15": "pto.tstore ins(%acc : !pto.tile_buf<acc, 32x48xf32, blayout=col_major, slayout=row_major, "
    "fractal=1024>) outs(%o : !pto.partition_tensor_view<32x48xf32>)",
    "E16": "pto.tmatmul.mx ins(%l, %ls, %r, %rs : !pto.tile_buf<left, 16x64xf8E4M3FN, blayout=col_major, "
    "slayout=row_major>, !pto.tile_buf<scaling, 16x2xf8E8M0FNU, slayout=row_major, fractal=32>, "
    "!pto.tile_buf<right, 64x16xf8E4M3FN, slayout=col_major>, !pto.tile_buf<scaling, 2x16xf8E8M0FNU, "
    "blayout=col_major, slayout=col_major, fractal=32>) outs(%c : !pto.tile_buf<acc, 16x16xf32, "
    "blayout=col_major, slayout=row_major, fractal=1024>)",
    "store of level 1": "pto.tstore %t, %memory : (!pto.tile<16x16xf32>, "
    "!pto.partition_tensor_view<16x16xf32>) -> ()",
    "load of an indexed view": "%t = tload %view[%c0, %c0] : (!pto.memref<...>, index, index) -> "
    "!pto.tile<16x16xf16>",
    "older destination passing": "%78 = pto.tmov ins(%2 : !pto.tile_buf<mat, 16x16xf16>) "
    "outs(%79 : !pto.tile_buf<left, 16x16xf16>) -> tensor<16x16xf16>",
}
"""Statements in their canonical spelling; the names are those of reference section D.4."""

OTHER_STATEMENTS = (
    ".arg %x : !pto.tile<1x256xf16>",
    ".const %z = 0 : index",
    "%l = pto.alloc_tile valid_row = %m valid_col = %k : !pto.tile_buf<left, 64x128xbf16, valid=?x?, "
    "blayout=col_major, slayout=row_major>",
    "%acc = pto.alloc_tile addr = %off : !pto.tile_buf<acc, 128x128xf32, blayout=col_major, "
    "slayout=row_major, fractal=1024>",
    "pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]",
    "pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]",
    "pto.record_event[<TLOAD>, <TMATMUL>, <EVENT_ID0>]",
    "pto.barrier <PIPE_ALL>",
    "pto.tsync ins(%e : !pto.event)",
    "%v = pto.make_tensor_view %p, shape = [%m, %n], strides = [%n, %c1] : !pto.tensor_view<2xf32>",
    "%s = arith.select %p, %a, %b : index",
    "%i = arith.index_cast %a : i32 to index",
    "%q = arith.cmpi slt, %a, %b : index",
    "%h = arith.constant 0x7F800000 : f32",
    "%w:2 = pto.unknown %a, %b {mode = [1, 2], pto.unit} : (i32, i32) -> (i32, i32)",
    "%41 = pto.subview %39[%c0, %c0] sizes [8, 8] : !pto.tile_buf<vec, 8x8xf32> -> "
    "!pto.tile_buf<vec, 4x8xf32>",
)
"""Statements besides instructions, in their canonical spelling."""

PAGE_LISTINGS = (
    "%acc = tmatmul.bias %a, %b, %bias : (!pto.tile<...>, !pto.tile<...>, !pto.tile<...>) -> !pto.tile<...>",
    "%c = pto.tmatmul.bias %a, %b, %bias : (!pto.tile<...>, !pto.tile<...>, !pto.tile<...>) -> "
    "!pto.tile<...>",
    "pto.tmatmul.bias ins(%a, %b, %bias : !pto.tile_buf<...>, !pto.tile_buf<...>, !pto.tile_buf<...>) "
    "outs(%c : !pto.tile_buf<...>)",
    "%acc = tgemv %a, %b : (!pto.tile<...>, !pto.tile<...>) -> !pto.tile<...>",
    "%acc1 = tgemv.acc %acc0, %a, %b : (!pto.tile<...>, !pto.tile<...>, !pto.tile<...>) -> !pto.tile<...>",
    "%acc = tgemv.bias %a, %b, %bias : (!pto.tile<...>, !pto.tile<...>, !pto.tile<...>) -> !pto.tile<...>",
    "%c_out = pto.tgemv.acc %c_in, %a, %b : (!pto.tile<...>, !pto.tile<...>, !pto.tile<...>) -> "
    "!pto.tile<...>",
    "pto.tgemv ins(%a, %b : !pto.tile_buf<...>, !pto.tile_buf<...>) outs(%c : !pto.tile_buf<...>)",
    "pto.tgemv.acc ins(%c_in, %a, %b : !pto.tile_buf<...>, !pto.tile_buf<...>, !pto.tile_buf<...>) "
    "outs(%c_out : !pto.tile_buf<...>)",
)
"""The syntax lines of the instruction pages."""

MANUAL_MODE = """\
# Manual mode: bind resources explicitly before issuing the instruction.
# Optional for tile operands:
# pto.tassign %arg0, @tile(0x1000)
# pto.tassign %arg1, @tile(0x2000)
%c = pto.tgemv %a, %b : (!pto.tile<...>, !pto.tile<...>) -> !pto.tile<...>
"""
"""A listing of the instruction pages, with its comments."""
