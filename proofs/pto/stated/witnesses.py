"""For rules on PTO statements, statements that break them and no other, and what repairs them.

Sources: pto-isa headers at 3186c381 (static and run-time assertions of products, tiles and moves); pages
and ptoas for what no header checks.
"""

from __future__ import annotations

_LEFT = "!pto.tile_buf<left, 64x64xf16, blayout=col_major, slayout=row_major>"
_RIGHT = "!pto.tile_buf<right, 64x64xf16, valid=64x64, slayout=col_major>"
_ACC = "!pto.tile_buf<acc, 64x64xf32, valid=64x64, blayout=col_major, slayout=row_major, fractal=1024>"
_MATMUL = f"pto.tmatmul ins(%a, %b : {_LEFT}, {_RIGHT}) outs(%d : {_ACC})"
_BIAS = (
    f"pto.tmatmul.bias ins(%a, %b, %bias : {_LEFT}, {_RIGHT}, !pto.tile_buf<bias, 1x64xf32, valid=1x64>) "
    f"outs(%d : {_ACC})"
)
_LONG = (
    "pto.tmatmul ins(%a, %b : !pto.tile_buf<left, 16x4064xi8, blayout=col_major, slayout=row_major>, "
    "!pto.tile_buf<right, 4064x16xi8, slayout=col_major>) "
    "outs(%d : !pto.tile_buf<acc, 16x16xi32, blayout=col_major, slayout=row_major, fractal=1024>)"
)
_WIDE = (
    "pto.tmatmul ins(%a, %b : !pto.tile_buf<left, 256x16xf16, blayout=col_major, slayout=row_major>, "
    "!pto.tile_buf<right, 16x256xf16, slayout=col_major>) "
    "outs(%d : !pto.tile_buf<acc, 256x256xf32, blayout=col_major, slayout=row_major, fractal=1024>)"
)
_LOAD = (
    "pto.tload ins(%view : !pto.partition_tensor_view<64x128xf16>) "
    "outs(%t : !pto.tile_buf<mat, 64x128xf16, valid=64x128, blayout=col_major, slayout=row_major>)"
)
_PLAIN = (
    "pto.tload ins(%view : !pto.partition_tensor_view<64x64xf16>) "
    "outs(%t : !pto.tile_buf<vec, 64x64xf16, valid=64x32>)"
)
_EXTRACT = (
    "pto.textract ins(%s, 0, 0 : !pto.tile_buf<mat, 64x128xf16, blayout=col_major, slayout=row_major>, "
    "index, index) outs(%t : memref<?xf16>)"
)

_RE_ORDERED = _LOAD + " {layout = #pto.layout<nd>}"
_FILLED = (
    "pto.tmov ins(%s : !pto.tile_buf<mat, 64x128xf16, blayout=col_major, slayout=row_major>) "
    "outs(%t : !pto.tile_buf<right, 64x128xf16, slayout=col_major>)"
)
_STORED = (
    "pto.tstore ins(%s : !pto.tile_buf<acc, 32x48xf32, blayout=col_major, slayout=row_major, fractal=1024>) "
    "outs(%t : !pto.partition_tensor_view<1x3x2x16x16xf32>) {layout = #pto.layout<nz>}"
)

WITNESSES = (
    # rule, profile, what is legal, and the change of it that breaks the rule: each this to that
    ("type-triple", "A5", _MATMUL, "64x64xf32", "64x64xi32"),
    ("type-triple", "CPU", _MATMUL, "64x64xf32", "64x64xf16"),
    ("contraction", "A5", _MATMUL, "right, 64x64xf16, valid=64x64", "right, 64x64xf16, valid=32x64"),
    ("result-extent", "A5", _MATMUL, "xf32, valid=64x64", "xf32, valid=32x64"),
    ("static-shape", "CPU", _MATMUL, "64x64xf32", "128x64xf32"),
    ("size-range", "A5", _LONG, "4064", "4096"),
    ("size-range", "A2A3", _LONG, "4064", "4096"),
    ("capacity", "A5", _WIDE, "A5", "A2A3"),
    ("bias-type", "A5", _BIAS, "1x64xf32", "1x64xf16"),
    ("bias-type", "A2A3", _BIAS, "1x64xf32", "1x64xi32"),
    ("bias-rows", "A5", _BIAS, "1x64xf32", "2x64xf32"),
    ("bias-columns", "A5", _BIAS, "valid=1x64", "valid=1x32"),
    ("valid-extent", "A5", _BIAS, "valid=1x64", "valid=1x65"),
    ("whole-blocks", "A5", _LOAD, "mat, 64x128xf16, valid=64x128", "mat, 72x128xf16, valid=64x128"),
    ("line-alignment", "A5", _PLAIN, "vec, 64x64xf16", "vec, 64x60xf16"),
    ("view-extent", "A5", _LOAD, "view<64x128", "view<32x128"),
    ("move-places", "A5", _LOAD, "<mat", "<left"),
    ("extract-types", "A5", _EXTRACT, "f16", "i64"),
    ("extract-types", "A2A3", _EXTRACT, "128xf16", "128xi64"),
    ("load-layout", "A5", _LOAD, "slayout=row_major", "slayout=col_major"),
    ("load-layout", "A2A3", _RE_ORDERED, "<nd>", "<dn>"),
    ("filled-order", "A2A3", _FILLED, "slayout=col_major", "slayout=row_major"),
    ("store-layout", "A5", _STORED, "<nz>", "<dn>"),
    ("store-extent", "A2A3", _STORED, "1x3x2x16x16", "1x3x4x8x16"),
    ("load-dimensions", "A5", _LOAD, "view<64x128", "view<2x32x128"),
    ("load-dimensions", "A2A3", _LOAD, "view<64x128", "view<?x64x128"),
)
"""Rule, profile, a legal statement, and what of all that is replaced by what."""
