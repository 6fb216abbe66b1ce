"""Whole texts of PTO: what is wrong on which line, what can't be decided, and what short types stand for.

Sources: pto-isa headers at 3186c381 (TASSIGN, aliases of tiles, TMATMUL_ACC); PTO IR manual; pypto pull
requests 537 and 2185; PTOAS issues 137 and 345.
"""

from __future__ import annotations

from collections.abc import Mapping

TEXT = """%z = arith.constant 0x20 : i64
%a = pto.alloc_tile addr = %z : !pto.tile_buf<bias, 1x64xf32>
scf.for %i = %z to %z step %z {
  %z = arith.constant 16 : i64
  %b = pto.alloc_tile addr = %z : !pto.tile_buf<bias, 1x64xf32>
}
%c = pto.alloc_tile addr = %z : !pto.tile_buf<bias, 1x64xf32>
pto.tassign %a, @tile(0x3000)
pto.tassign %a, @tile(992)
pto.tassign %unknown, @tile(1)
pto.tassign %c, @tile(17)
%d = pto.alloc_tile addr = %u : !pto.tile_buf<mat, 72x64xf16, blayout=col_major, slayout=row_major>
pto.tmov ins(%s : !pto.tile_buf<vec, 64x128xf16>) outs(%t : !pto.tile_buf<vec, 32x64xf16>)
pto.tadd ins(%a : !pto.tile_buf<vec, 8x8xf32>) outs(%a : !pto.tile_buf<vec, 8x8xf32>)
%e = pto.alloc_tile addr = %z : !pto.ptr<f32>
%f = pto.alloc_tile : !pto.tile_buf<scale_left, 16x2xf8E8M0FNU, slayout=row_major, fractal=32>
%g = arith.constant true
"""

WRONG = {
    "A2A3": (
        "2 alloc_tile %a", "5 alloc_tile %b address-alignment", "7 alloc_tile %c",
        "8 tassign %a address-range", "9 tassign %a address-range", "11 tassign %c address-alignment",
        "12 alloc_tile %d whole-blocks", "13 tmov move-extent", "16 alloc_tile %f capacity",
    ),
    "A5": (
        "2 alloc_tile %a", "5 alloc_tile %b address-alignment", "7 alloc_tile %c",
        "8 tassign %a address-range", "9 tassign %a", "11 tassign %c address-alignment",
        "12 alloc_tile %d whole-blocks", "13 tmov", "16 alloc_tile %f",
    ),
    "CPU": (
        "2 alloc_tile %a", "5 alloc_tile %b", "7 alloc_tile %c", "8 tassign %a", "9 tassign %a",
        "11 tassign %c", "12 alloc_tile %d whole-blocks", "13 tmov move-valid-columns move-valid-rows",
        "16 alloc_tile %f",
    ),
}  # fmt: skip
"""Of each profile: line, what is judged there, and the rules it breaks."""

TWO = "%z = arith.constant 0 : i64\n" + 2 * (
    "%a = pto.alloc_tile addr = %z : !pto.tile_buf<mat, 72x64xf16, blayout=col_major, slayout=row_major>\n"
)
PLACES = ("line 2, alloc_tile %a: ", "line 3, alloc_tile %a: ")
"""A text of two declarations, and what is in front of what is said of them; of one nothing is."""

UNKNOWN = "no rule is known on pto.tadd"
"""What is said of the whole text besides."""

TARGETS: dict[str, str | None] = {
    'module attributes {pto.target_arch = "a5"} {\n}': "a5",
    'module attributes {pto.other = "a5"} {\n  module attributes {pto.target_arch = "a3"} {\n  }\n}': "a3",
    'module {\n  x.y\n  module {\n  }\n  module attributes {pto.target_arch = "a2"} {\n  }\n}': "a2",
    'module attributes {pto.target_arch = "a5"} {\n  module attributes {pto.target_arch = "a3"} {}\n}': "a5",
    'module attributes {pto.target_arch = "a5" : !x.y} {\n}': "a5",
    "module {\n  x.y\n}": None,
    "x.y": None,
}
"""Texts, and the processor that they say they are for."""

_LEFT = "!pto.tile_buf<left, 64x64xf16, blayout=col_major, slayout=row_major>"
_RIGHT = "!pto.tile_buf<right, 64x64xf16, slayout=col_major>"
_ACC = "!pto.tile_buf<acc, 64x64xf32, blayout=col_major, slayout=row_major, fractal=1024>"
_SHORT = "(!pto.tile<16x16xf32>, !pto.tile<16x32xf16>, !pto.tile<32x16xf16>) -> !pto.tile<16x16xf32>"

UNDECIDED = {
    f"pto.tmatmul ins(%a, %b : {_LEFT}, {_RIGHT}) outs(%d : {_ACC})": "",
    f"pto.tmatmul ins(%a, %b : {_LEFT.replace('f16', 'f16, valid=?x64')}, {_RIGHT}) outs(%d : {_ACC})":
        "A2A3 A5 CPU",
    f"pto.tmatmul ins(%a, %b : {_LEFT.replace('f16', 'f16, valid=64x?')}, {_RIGHT}) outs(%d : {_ACC})":
        "A2A3 A5 CPU",
    f"pto.tmatmul ins(%a, %b : {_LEFT}, {_RIGHT}) outs(%d : {_ACC.replace('f32', 'f32, valid=?x?')})": "",
    f"pto.tmatmul ins(%a, %b : !pto.tile_buf<...>, {_RIGHT}) outs(%d : {_ACC})": "A2A3 A5 CPU",
    f"pto.tmatmul.acc ins(%d, %a, %b : {_ACC}, {_LEFT}, {_RIGHT}) outs(%d : {_ACC})": "",
    f"pto.tmatmul.acc ins(%c, %a, %b : {_ACC}, {_LEFT}, {_RIGHT}) outs(%d : {_ACC})": "A2A3 A5",
    f"%d = pto.tmatmul.acc %c, %a, %b : {_SHORT}": "",
    "%d = tmatmul %a, %b": "A2A3 A5 CPU",
    f"pto.tmov ins(%s : {_ACC}) outs(%t : memref<64x64xf32>)": "A2A3 A5 CPU",
}  # fmt: skip
"""Texts of one statement, and the profiles on which something of them can't be decided."""

_PRODUCT = "%d = {} %a, %b : (!pto.tile<{}>, !pto.tile<{}>) -> !pto.tile<{}>"
_WIDE = _PRODUCT.format("tmatmul", "16x32xf16", "32x48xf16", "16x48xf32")
_ROW = _PRODUCT.format("tmatmul", "1x64xf16", "64x32xf16", "1x32xf32")
_VECTOR = _PRODUCT.format("tgemv", "1x256xf16", "256x32xf16", "1x32xf32")
_PLACED = _PRODUCT.format("tmatmul", "loc=mat, f16, 1, 32", "32x48xf16", "16x48xf32")
_SCALED = (
    "pto.tmatmul.mx ins(%a, %x, %b, %y : !pto.tile_buf<left, 16x64xf8E4M3FN, slayout=row_major>, "
    "!pto.tile_buf<scaling, 16x2xf8E8M0FNU, slayout=row_major, fractal=32>, "
    "!pto.tile_buf<right, 64x16xf8E4M3FN, slayout=col_major>, !pto.tile_buf<vec, 2x16xf8E8M0FNU>) "
    f"outs(%d : {_ACC})"
)
_PAGE = (
    "pto.tmov ins(%s : !pto.tile<loc=vec, f16, 16, 32>) "
    "outs(%t : !pto.tile<loc=left, f16, 16, 32, RowMajor, RowMajor, NZ, Max>)"
)
_QUANTISED = (
    "pto.tmov ins(%s, %q : !pto.tile_buf<acc, 16x32xf32>, !pto.tile_buf<scaling, 1x32xui64>) "
    "outs(%t : !pto.tile_buf<mat, 16x32xi8, compact=2>)"
)

_STANDS_FOR = (
    (_WIDE, "a", "A2A3", "left f16 16x32 valid 16x32 row_major row_major 512"),
    (_WIDE, "a", "A5 CPU", "left f16 16x32 valid 16x32 col_major row_major 512"),
    (_WIDE, "b", "A2A3 A5 CPU", "right f16 32x48 valid 32x48 row_major col_major 512"),
    (_WIDE, "d", "A2A3 A5 CPU", "acc f32 16x48 valid 16x48 col_major row_major 1024"),
    (_ROW, "a", "A2A3", "left f16 16x64 valid 1x64 row_major row_major 512"),
    (_ROW, "a", "A5", "left f16 16x64 valid 1x64 col_major row_major 512"),
    (_ROW, "a", "CPU", "left f16 1x64 valid 1x64 col_major row_major 512"),
    (_ROW, "d", "A2A3 A5", "acc f32 16x32 valid 1x32 col_major row_major 1024"),
    (_ROW, "d", "CPU", "acc f32 1x32 valid 1x32 col_major row_major 1024"),
    (_VECTOR, "a", "A2A3", "left f16 1x256 valid 1x256 row_major row_major 512"),
    (_VECTOR, "a", "A5 CPU", "left f16 1x256 valid 1x256 col_major row_major 512"),
    (_VECTOR, "d", "A2A3 A5", "acc f32 16x32 valid 1x32 col_major row_major 1024"),
    (_PLACED, "a", "A2A3 A5 CPU", "mat f16 1x32 valid 1x32 col_major row_major 512"),
    (_SCALED, "scale_a", "A5 CPU", "scale_left f8E8M0FNU 16x2 valid 16x2 row_major row_major 32"),
    (_SCALED, "scale_b", "A5 CPU", "vec f8E8M0FNU 2x16 valid 2x16 row_major none_box 512"),
    (_SCALED, "a", "A5 CPU", "left f8E4M3FN 16x64 valid 16x64 col_major row_major 512"),
    (_PAGE, "source", "A2A3 A5 CPU", "vec f16 16x32 valid 16x32 row_major none_box 512"),
    (_PAGE, "target", "A2A3 CPU", "left f16 16x32 valid 16x32 row_major row_major 512 pad 2"),
    (_PAGE, "target", "A5", "left f16 16x32 valid 16x32 col_major row_major 512 pad 2"),
    (_QUANTISED, "quantisation", "A5", "scaling ui64 1x32 valid 1x32 row_major none_box 512"),
    (_QUANTISED, "target", "A5", "mat i8 16x32 valid 16x32 row_major none_box 512 compact 2"),
    (_QUANTISED, "source", "A5", "acc f32 16x32 valid 16x32 row_major none_box 512"),
)

TILES: Mapping[tuple[str, str, str], str] = {
    (text, role, profile): tile for text, role, profiles, tile in _STANDS_FOR for profile in profiles.split()
}
"""What a type stands for: of a text, an operand's role and a profile. Of A the order is the profile's."""

REPLACED = {
    ("pto.tmov ins(%s : !pto.tile_buf<mat, 16x32xf16>) outs(%t : !pto.tile_buf<left, 16x32xf16, "
     "blayout=row_major>)", on): number
    for on, number in (("A2A3", 0), ("A5", 1), ("CPU", 0))
} | {
    (_WIDE, "A5"): 1,
}  # fmt: skip
"""How many remarks there are on what was filled in or replaced."""

INTEGERS = {
    "12 : i64": 12,
    "1" + "0" * 3999: 10**3999,
    "1" + "0" * 4000: None,
    "-7 : index": -7,
    "0x1F : i32": 31,
    "0x1F": 31,
    "true": 1,
    "false : i1": 0,
    "1.5 : f32": None,
    "3.0": None,
    "0x7F800000 : f32": None,
    "0x7F80 : bf16": None,
    "0x7F80 : tf32": None,
    "4 : memref<4xf32>": 4,
    "dense<1> : tensor<4xi32>": None,
}
"""Constants and their integers: a hexadecimal float is its bits, and none."""

_FROM_PANEL = "%t = textract %p[{}, {}] : (!pto.tile<64x128x{}>, index, index) -> !pto.tile<{}x{}>"

SHORT_MOVES = {
    _FROM_PANEL.format(0, 96, "bf16", "64x32", "bf16"): "",
    _FROM_PANEL.format(0, 112, "bf16", "64x32", "bf16"): "extract-window",
    _FROM_PANEL.format(48, 0, "bf16", "16x128", "bf16"): "",
    _FROM_PANEL.format(48, 0, "bf16", "32x32", "bf16"): "extract-window",
    _FROM_PANEL.format(0, 0, "bf16", "128x64", "bf16"): "extract-window",
    _FROM_PANEL.replace("64x128x{}", "...").format(0, 112, "64x32", "bf16"): "",
    "%t = pto.tmov %s : (!pto.tile<16x32xf32>) -> !pto.tile<loc=left, f16, 16, 32>": "",
    "%t = textract %s[0, 0] : (!pto.tile<64x128xf16>, index, index) -> !pto.tile<loc=left, f32, 64, 32>": "",
    "%t = tinsert %p[32, 96] : (!pto.tile<32x32xf32>, index, index) -> !pto.tile<64x128xf16>": "",
    "%t = tinsert %p[48, 0] : (!pto.tile<32x32xf32>, index, index) -> !pto.tile<64x128xf16>": "insert-window",
}
"""Moves of tiles of which only extents and types are written, and the rules that any profile finds broken."""

UNPLACED = {
    ("f16", "f32"): "", ("bf16", "f32"): "A2A3", ("f32", "f16"): "A2A3 A5", ("f16", "f16"): "",
    ("i32", "f32"): "A2A3 A5", ("f16", "bf16"): "A2A3 A5",
}  # fmt: skip
"""Element types of a row that moves out of mat to who knows where, and where not even a bias takes them."""
