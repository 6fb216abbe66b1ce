"""How PTO's texts, tools, headers and these tables name things, and which operands they have.

Sources: PTO IR manual; pto-isa headers at 3186c381; ptoas at a56b18c3; pto-isa issues 280 and pull 537.

A place, an extent with an element type, an order (``L``: the profile's order of A), and what differs from a
tile of that place; a view of memory is ``view 64x32xf16``; any other text is a type as it is.
Source of the orders and of the bytes of a block: pto-isa headers at 3186c381 (pto_tile.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass

from ...text_tables import table

ELEMENTS = {row.pop("name"): row for row in table(__package__, "elements")}
"""Bits of an element, bytes of a unit of storage and elements in one, the format, and further names."""

ROUNDED = {"e8m10": (8, 10), "e8m11": (8, 11)}
"""Exponent and fraction bits that f32 factors are rounded to in A5's and in A2A3's mode."""


PROFILES = {row.pop("name"): row for row in table(__package__, "profiles")}

NO_PROFILES = ("A6", "", "ascend", "a4")


OPERATIONS = {
    row["name"]: (
        tuple(row["reads"].split()), row["writes"], tuple(row["optional"].split()), row["memory"] or None
    )
    for row in table(__package__, "operations")
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


CHOICES = {(row.pop("names"), row.pop("profile")): row for row in table(__package__, "choices")}
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


ORDERS = {
    "ND": ("row_major", "none_box"),
    "DN": ("col_major", "none_box"),
    "Nz": ("col_major", "row_major"),
    "Zz": ("row_major", "row_major"),
    "Zn": ("row_major", "col_major"),
    "Nn": ("col_major", "col_major"),
}
"""Order of the blocks and order inside a block, by name."""

LEFT = {"A2A3": "Zz", "A5": "Nz", "CPU": "Nz"}
"""The order of A."""

_BLOCK_BYTES = {"acc": 1024, "scale_left": 32, "scale_right": 32}


@dataclass(frozen=True)
class SpelledTile:
    """A tile as a table spells it.

    Attributes
    ----------
    place, element, blocks, inner : str
        As the assembler names them.
    rows, columns : int
        Physical extent.
    valid : (str, str)
        Valid extent, ``?`` where it is open.
    fractal, compact : int
        Bytes of a block, and the compact mode.
    """

    place: str
    element: str
    rows: int
    columns: int
    valid: tuple[str, str]
    blocks: str
    inner: str
    fractal: int
    compact: int

    def __str__(self) -> str:
        valid = "x".join(self.valid)
        return (
            f"!pto.tile_buf<{self.place}, {self.rows}x{self.columns}x{self.element}, valid={valid}, "
            f"blayout={self.blocks}, slayout={self.inner}, fractal={self.fractal}, compact={self.compact}>"
        )


def operand(text: str, profile: str) -> SpelledTile | str:
    """Return the tile that a text spells for a profile, or the text of a type that is none."""
    place, *rest = text.split()
    if place == "view":
        return f"!pto.partition_tensor_view<{rest[0]}>"
    if len(rest) < 2:
        return text
    extent, order, *other = rest
    rows, columns, element = extent.split("x", 2)
    given = dict(each.split("=") for each in other)
    blocks, inner = ORDERS[LEFT[profile] if order == "L" else order]
    rows_valid, _, columns_valid = given.get("valid", f"{rows}x{columns}").partition("x")
    return SpelledTile(
        place, element, int(rows), int(columns), (rows_valid, columns_valid), blocks, inner,
        int(given.get("fractal", _BLOCK_BYTES.get(place, 512))), int(given.get("compact", 0)),
    )  # fmt: skip


def named(text: str) -> dict[str, str]:
    """Return the parts of ``a = …, b = …`` by name; none for ``-``."""
    parts = [part.partition(" = ") for part in text.split(", ")] if text != "-" else []
    return {name: value for name, _, value in parts}


def statement(operation: str, source: str, target: str, other: str, profile: str) -> str:
    """Return the text of a move; `other` has its row, column, quantisation, and attributes."""
    given = named(other)
    inputs = [("%s", str(operand(source, profile)))]
    if operation in ("textract", "tinsert"):
        inputs += [(given.pop("row", "%r"), "index"), (given.pop("column", "%c"), "index")]
    if "q" in given:
        inputs.append(("%q", str(operand(given.pop("q"), profile))))
    names, types = (", ".join(part) for part in zip(*inputs, strict=True))
    attributes = ", ".join(f"{name} = {value}" for name, value in given.items())
    behind = f" {{{attributes}}}" if attributes else ""
    return f"pto.{operation} ins({names} : {types}) outs(%t : {operand(target, profile)}){behind}"
