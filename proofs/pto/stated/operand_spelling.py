"""How the tables of PTO's statements spell an operand: ``left 64x32xf16 Nz valid=?x32 compact=1``.

A place, an extent with an element type, an order (``L``: the profile's order of A), and what differs from a
tile of that place; a view of memory is ``view 64x32xf16``; any other text is a type as it is.
Source of the orders and of the bytes of a block: pto-isa headers at 3186c381 (pto_tile.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass

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
