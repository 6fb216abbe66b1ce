"""The listed verdicts on PTO's products, derived a second time from the conditions of the headers.

Nothing of the specification is called: tiles are read from the table, offsets are the formulas of
pto_tile.hpp, distances of blocks those that the matrix unit derives from m, k and n (pto-isa issue 253).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import pytest

from mmaproof.proofs.pto.stated import names as spelling
from mmaproof.proofs.pto.verdicts import stated_table

WIDTHS = {"f16": 2, "bf16": 2, "f32": 4, "i32": 4}
"""Bytes of an element; of others one."""

KIB = {
    "A2A3": {"left": 64, "right": 64, "acc": 128, "bias": 1, "mat": 512, "scaling": 2},
    "A5": {"left": 64, "right": 64, "acc": 256, "bias": 4, "mat": 512, "scaling": 4},
    "CPU": {"left": 64, "right": 64, "acc": 256, "bias": 512, "mat": 512, "scaling": 512},
}
TRIPLES = {("i32", "i8", "i8"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "f32", "f32")}
FP8 = {"f8E4M3FN", "f8E5M2"}
PLACES = {"a": "left", "b": "right", "c": "acc", "d": "acc", "bias": "bias"}
SCALES = {"scale_a": ("scale_left", "Zz"), "scale_b": ("scale_right", "Nn")}


def up(number: int, granule: int) -> int:
    return -(-number // granule) * granule


@dataclass
class Listed:
    """A tile as the table spells it, on a profile."""

    text: str
    profile: str

    def __post_init__(self) -> None:
        self.place, extent, order, *rest = self.text.split()
        rows, columns, self.element = extent.split("x")
        self.rows, self.columns = int(rows), int(columns)
        self.order = spelling.LEFT[self.profile] if order == "L" else order
        named = dict(each.split("=") for each in rest)
        valid = named.get("valid", f"{rows}x{columns}").split("x")
        self.valid = [None if each == "?" else int(each) for each in valid]
        usual = {"acc": 1024, "scale_left": 32, "scale_right": 32}.get(self.place, 512)
        self.fractal, self.compact = int(named.get("fractal", usual)), "compact" in named
        self.width = WIDTHS.get(self.element, 1)
        self.granule = 32 // self.width
        self.by_rows, self.boxed = self.order in ("ND", "Zz", "Zn"), self.order not in ("ND", "DN")
        self.inner_rows = self.order in ("Nz", "Zz")

    @property
    def box(self) -> tuple[int, int]:
        along = {512: self.granule, 1024: 16, 32: 2}[self.fractal]
        return (16, along) if self.inner_rows else (along, 16)

    def offset(self, row: int, column: int) -> int:
        high, wide = self.box
        if self.rows == 1 and self.inner_rows:  # a single row is linear
            return column
        (line, i), (block, j) = divmod(row, high), divmod(column, wide)
        first = (line * self.columns * high, block * high * wide)
        if not self.by_rows:
            first = (block * self.rows * wide, line * high * wide)
        return sum(first) + (i * wide + j if self.inner_rows else j * high + i)


def of_tile(role: str, tile: Listed, profile: str) -> set[str]:
    """What is wrong with a tile by itself."""
    found = set()
    if role in PLACES and tile.place != PLACES[role]:
        found.add("location")
    if not (tile.rows and tile.columns):
        found.add("tile-extent")
    extents = zip(tile.valid, (tile.rows, tile.columns), strict=True)
    if any(valid is not None and not 1 <= valid <= extent for valid, extent in extents):
        found.add("valid-extent")
    if tile.fractal not in (32, 512, 1024):
        found.add("fractal-bytes")
    elif tile.boxed:
        high, wide = tile.box
        ragged = tile.rows % high and tile.rows != 1 and tile.fractal != 32
        if tile.columns % wide or ragged:
            found.add("whole-blocks")
        corners = product({0, tile.rows - 1}, {0, tile.columns - 1})
        size = tile.rows * tile.columns
        if not tile.columns % wide and any(tile.offset(*at) >= size > 0 for at in corners):
            found.add("buffer-range")
    capacity = KIB[profile].get(tile.place, 0 if profile == "A2A3" else 4)
    if tile.rows * tile.columns * tile.width > 1024 * capacity:
        found.add("capacity")
    return found


def of_unit(tiles: dict[str, Listed], sizes: list[int | None], gemv: bool, profile: str) -> set[str]:
    """What the matrix unit of an NPU does not find, or puts somewhere else."""
    found = set()
    (m, k, n), a, b = sizes, tiles["a"], tiles["b"]
    blocks = {"a": 512, "b": 512, "c": 1024, "d": 1024, "scale_a": 32, "scale_b": 32}
    if any(tile.fractal != blocks[role] for role, tile in tiles.items() if role in blocks):
        found.add("fractal-size")
    if not (gemv or a.compact or a.rows == 1 or None in (m, k)):
        apart = up(k, a.granule) != a.columns and m > 16
        if profile == "A5":
            apart = up(m, 16) != a.rows and k > a.granule
        found |= {"left-pitch"} if apart else set()
    if not (b.compact or None in (k, n)) and up(n, 16) != b.columns and k > b.granule:
        found.add("right-pitch")
    for tile in (tile for role, tile in tiles.items() if role in "cd"):
        away = None not in (m, n) and up(m, 16) != tile.rows and n > 16 and not tile.compact
        if away or (tile.fractal in (32, 512) and tile.place == "acc"):
            found.add("accumulator-pitch")
    if (a.columns if k is None else k) > a.granule and gemv != (a.rows == 1):
        found.add("gemv-left" if gemv else "matmul-left")
    if profile == "A2A3" and not gemv and m == 1 and tiles["d"].rows < 16:  # executed as 16 rows
        found.add("row-granule")
    return found


def of_layouts(tiles: dict[str, Listed], microscaled: bool, profile: str) -> set[str]:
    a, found = tiles["a"], set()
    if not a.inner_rows:
        found.add("left-inner")
    if not a.by_rows if profile == "A2A3" else a.by_rows and (profile == "A5" or microscaled):
        found.add("left-blocks")
    if tiles["b"].order != "Zn":
        found.add("right-layout")
    if any(tile.order != "Nz" for role, tile in tiles.items() if role in "cd"):
        found.add("accumulator-layout")
    return found


def of_scales(tiles: dict[str, Listed], sizes: list[int | None], profile: str) -> set[str]:
    (m, k, n), found = sizes, set()
    if tiles["a"].columns % 64:
        found.add("microscaled-columns")
    groups = None if k is None else up(k, 32) // 32
    for (role, (place, order)), extent in zip(SCALES.items(), ((m, groups), (groups, n)), strict=True):
        tile = tiles[role]
        if profile == "A5":
            found |= {"scale-location"} if tile.place != place else set()
            found |= {"scale-layout"} if tile.order != order else set()
        if tile.element != "f8E8M0FNU":
            found.add("scale-type")
        pairs = zip(tile.valid, extent, strict=True)
        if any(None not in pair and pair[0] < pair[1] for pair in pairs):  # type: ignore[operator]
            found.add("scale-extent")
    return found


def sizes_of(a: Listed, b: Listed, gemv: bool, microscaled: bool, profile: str) -> list[int | None]:
    """Return m, k and n."""
    m, k, n = a.valid[0], a.valid[1], b.valid[1]
    if gemv and profile != "CPU":
        m, k = 1, k if microscaled and profile == "A5" else b.valid[0]
    return [m, k, n]


def of_extents(tiles: dict[str, Listed], sizes: list[int | None]) -> set[str]:
    a, b, d = tiles["a"], tiles["b"], tiles["d"]
    found = set()
    if None not in (a.valid[1], b.valid[0]) and a.valid[1] != b.valid[0]:
        found.add("contraction")
    if any(None not in pair and pair[0] != pair[1] for pair in zip(sizes[::2], d.valid, strict=True)):
        found.add("result-extent")
    return found


def of_bias(bias: Listed, d: Listed, n: int | None) -> set[str]:
    found = {"bias-type"} if bias.element != d.element else set()
    found |= {"bias-rows"} if bias.rows != 1 else set()
    found |= {"bias-row-major"} if bias.order != "ND" else set()
    columns = bias.valid[1]
    if columns is not None and n is not None and columns != n:
        found.add("bias-columns" if columns < n else "bias-width")
    return found


def verdict(operation: str, operands: dict[str, str], profile: str) -> tuple[set[str], set[str]]:
    """Return the rules that forbid, and those that are only remarked upon."""
    tiles = {role: Listed(text, profile) for role, text in operands.items()}
    a, b, d = tiles["a"], tiles["b"], tiles["d"]
    simulated, gemv, microscaled = profile == "CPU", operation.startswith("tgemv"), ".mx" in operation
    wrong = set().union(*(of_tile(role, tile, profile) for role, tile in tiles.items()))
    remarked: set[str] = set()
    absent = microscaled and profile == "A2A3"

    narrow = {a.element, b.element} <= FP8 and d.element == "f32"
    triples = {(tiles[role].element, a.element, b.element) for role in "cd" if role in tiles}
    taken = (narrow and (microscaled or profile == "A5")) or (not microscaled and triples <= TRIPLES)
    if not taken and not absent:
        wrong.add("type-triple")
    if taken and narrow and not microscaled and a.element != b.element:
        remarked.add("mixed-fp8")
    if "c" in operands and operands["c"] != operands["d"]:
        wrong.add("accumulator-type")
    if (a.rows, a.columns, b.columns) != (d.rows, b.rows, d.columns):
        (wrong if simulated and not microscaled else remarked).add("static-shape")

    sizes = sizes_of(a, b, gemv, microscaled, profile)
    wrong |= of_extents(tiles, sizes)
    if any(size is not None and not 1 <= size <= 4095 for size in sizes):
        (remarked if simulated and not microscaled else wrong).add("size-range")
    if gemv and a.valid[0] not in (1, None):
        wrong.add("gemv-row")
    if not simulated:
        wrong |= of_unit(tiles, sizes, gemv, profile)
    wrong |= of_layouts(tiles, microscaled, profile)
    if "bias" in tiles:
        asserted = simulated or (profile == "A5" and operation == "tmatmul.bias")
        for rule in of_bias(tiles["bias"], d, sizes[2]):
            forbids = asserted if rule == "bias-row-major" else rule != "bias-width"
            (wrong if forbids else remarked).add(rule)
    if absent:
        wrong.add("profile")
    elif microscaled:
        wrong |= of_scales(tiles, sizes, profile)
    return wrong, remarked


WHOLE, CHANGES = stated_table("products.txt")
PRODUCTS = {
    row["name"]: (row["operation"], dict(each.split(" = ") for each in row["operands"].split(", ")))
    for row in WHOLE
}


@pytest.mark.parametrize("profile", KIB)
def test_each_listed_verdict_is_what_the_headers_conditions_give(profile: str) -> None:
    different = {}
    for row in CHANGES:
        operation, operands = PRODUCTS[row["product"]]
        changes = [] if row["change"] == "-" else [each.split(" = ") for each in row["change"].split(", ")]
        wrong, remarked = verdict(operation, operands | dict(changes), profile)
        derived = wrong | {f"({rule})" for rule in remarked}
        listed = set(row[profile].split()) - {"-"}
        if derived != listed:
            different[row["product"], row["change"]] = derived ^ listed
    assert different == {}
    assert len(CHANGES) > 140
