"""The listed verdicts on PTO's moves, derived a second time.

Nothing of the specification is called. Of 957 cells 517 have something broken or remarked upon. A cell
is derived in three steps, each with further conditions, and counts for the first whose verdict is listed:

- 744 (340 of the 517) from the written reference alone: capacities, boxes, index formulas, the
  table of data movers, the grammar's operands;
- 70 (51) with the decision tables of routes and element types that were written down from the headers;
- 143 (126) with definitions taken over from the specification, which `TAKEN_OVER` names: of these the table
  shows that they stay, not that a document has them.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import product

import pytest

from mmaproof.proofs.pto.stated import names as spelling
from mmaproof.proofs.pto.stated import tables
from mmaproof.proofs.pto.verdicts import stated_table
from tests.pto_listed_moves import WIDTHS, Extents, Listed, Move, View, read

PROFILES = ("A2A3", "A5", "CPU")
KIB = {
    "A2A3": {"vec": 192, "mat": 512, "left": 64, "right": 64, "acc": 128, "bias": 1, "scaling": 2},
    "A5": {"vec": 256, "mat": 512, "left": 64, "right": 64, "acc": 256, "bias": 4, "scaling": 4},
    "CPU": {"vec": 512, "mat": 512, "left": 64, "right": 64, "acc": 256, "bias": 512, "scaling": 512},
}
"""Of the buffers; those of scale factors have 4 KiB, on A2A3 none."""

ROUTES = {
    ("tload", "memory", "mat"): "A2A3 A5",
    ("tload", "memory", "vec"): "A2A3 A5",
    ("tmov", "mat", "left"): "A2A3 A5",
    ("tmov", "mat", "right"): "A2A3 A5",
    ("tmov", "mat", "bias"): "A2A3 A5",
    ("tmov", "mat", "scaling"): "A2A3 A5",
    ("tmov", "acc", "mat"): "A2A3 A5",
    ("tmov", "acc", "vec"): "A5",
    ("textract", "mat", "left"): "A2A3 A5",
    ("textract", "mat", "right"): "A2A3 A5",
    ("textract", "acc", "mat"): "A2A3 A5",
    ("tinsert", "acc", "mat"): "A2A3 A5",
    ("tinsert", "acc", "vec"): "A5",
    ("tinsert", "vec", "vec"): "A5",
    ("tinsert", "vec", "mat"): "A5",
    ("tstore", "acc", "memory"): "A2A3 A5",
    ("tstore", "vec", "memory"): "A2A3 A5",
    ("tstore", "mat", "memory"): "A2A3",
}
"""Where the reference has moves go; the headers have more of them."""

CAST = {("f32", "f16"), ("f32", "bf16")}
STORED = {("f32", "f32"), ("f32", "f16"), ("f32", "bf16"), ("i32", "i32")}


class Step(IntEnum):
    """What a verdict is derived from, and all before it."""

    REFERENCE = 0
    HEADERS = 1
    SPECIFICATION = 2


TAKEN_OVER = {
    "move-extent": "of bias and scale factors, and on A2A3 of vec and acc without a quantisation or relu",
    "accumulator-source": "an accumulator that moves to mat or vec is Nz",
    "accumulator-to-mat": "on A5 it leaves as Nz, ND or DN, to vec too",
    "extract-columns": "one header has two assertions on DN",
    "scaling-move": "one row of 64-bit integers, of 128 bytes; on A5 boxes are of a microscaled product",
    "quantisation": "A5 has a tmov in vec with a temporary tile",
    "move-valid-rows": "the simulator's tmov",
    "move-valid-columns": "the simulator's tmov",
    "move-types": "the simulator's tload asserts the size too",
    "move-conversion": "what is remarked upon and forbids nothing",
    "vec-size": "a tmov in vec copies elements of one size",
    "load-layout": "boxes of 32 bytes are loaded as they are",
    "view-extent": "a view of one dimension or of more than five is no matrix, and nothing is said of it",
    "operand-type": "a memref is an operand of unknown extent",
}


def of_tile(tile: Listed) -> set[str]:
    """What is wrong with a tile by itself."""
    found = set()
    if tile.boxed:
        high, wide = tile.box
        ragged = tile.rows % high and tile.rows != 1 and tile.fractal != 32 and tile.place != "vec"
        if tile.columns % wide or ragged:
            found.add("whole-blocks")
        elif tile.last() >= tile.rows * tile.columns:
            found.add("buffer-range")
    elif (tile.columns if tile.order == "ND" else tile.rows) * tile.width % 32:
        found.add("line-alignment")
    capacity = KIB[tile.profile].get(tile.place, 0 if tile.profile == "A2A3" else 4)
    return found | ({"capacity"} if tile.rows * tile.row_bytes > 1024 * capacity else set())


def of_operands(move: Move, operands: tuple[str, str], step: Step) -> set[str]:
    """Return whether an end is neither a tile nor, of a load or store, a view."""
    for text, end in zip(operands, (move.source, move.target), strict=True):
        seen = (move.operation, end is move.source) in (("tload", True), ("tstore", False))
        memref = text.startswith("memref") and step == Step.SPECIFICATION
        if not memref and not isinstance(end, View if seen else Listed):
            return {"operand-type"}
    return set()


def of_places(move: Move, step: Step) -> set[str]:
    if move.simulated or "" in move.route:
        return set()
    route = (move.operation, *move.route)
    known = move.profile in ROUTES.get(route, "").split()
    if step >= Step.HEADERS:
        known = (*route, move.profile) in tables.ROUTES
        if isinstance(move.target, Listed) and move.target.place == "scaling" and move.operation != "tmov":
            known &= move.target.boxed
    return set() if known else {"move-places"}


def of_types(move: Move, step: Step) -> set[str]:
    """What the element types break on an NPU."""
    if not (move.source and move.target):
        return set()
    pair, found = (move.source.element, move.target.element), set()
    here, there = move.route
    memory = "memory" if there == "memory" else "buffer"
    same_size = move.source.width == move.target.width
    if here == "acc":
        known = pair in (STORED if there == "memory" else CAST)
        if move.quantised:
            known = pair[0] in ("f32", "i32") and WIDTHS[pair[1]] == 1
        if step >= Step.HEADERS:
            known = (memory, move.quantised, *pair, move.profile) in tables.FROM_ACCUMULATOR
    elif "memory" in move.route:
        known = same_size
    elif there == "bias":
        known = (*pair, move.profile) in tables.TO_BIAS
    else:
        known = pair[0] == pair[1]
        if (move.operation, *move.route) == ("tmov", "vec", "vec") and step == Step.SPECIFICATION:
            known, found = True, set() if same_size else {"vec-size"}
    found |= set() if known else {"move-types"}
    taken = tables.EXTRACTED[move.profile]
    if step >= Step.HEADERS and move.route == ("vec", "vec"):
        taken |= tables.IN_VEC
    checked = move.operation == "textract"
    if step >= Step.HEADERS and move.profile == "A5" and move.operation == "tmov":
        checked = move.route == ("vec", "mat") or (here == "mat" and there not in ("bias", "scaling"))
    if checked and pair[1] not in taken and not move.quantised:
        found.add("extract-types")
    return found


def of_quantisation(move: Move, step: Step) -> set[str]:
    by = move.given.get("q", "").split()[:1]
    if not by:
        return set()
    if move.route[0] == "acc":
        return set() if move.quantised else {"quantisation"}
    temporary = step == Step.SPECIFICATION and move.profile == "A5" and not move.quantised
    return set() if temporary else {"quantisation"}


def of_filling(move: Move, source: Listed, target: Listed, step: Step) -> set[str]:
    """What filling left, right, a bias and scale factors out of mat breaks on an NPU."""
    found, row = set(), not source.boxed and source.rows == 1
    if target.place in ("left", "right"):
        if source.order not in ("Nz", "Zn") and not (row and target.place == "left"):
            found.add("move-source-layout")
        wanted = {"left": spelling.LEFT[move.profile], "right": "Zn"}[target.place]
        linear = target.rows == 1 and (not target.boxed or target.inner_rows)
        if target.order != wanted and (move.profile == "A5" or move.operation == "textract"):
            found.add("move-target-layout")
        elif target.order != wanted and not linear:
            found.add("filled-order")
    whole = not (source.row_bytes % 512 or target.row_bytes % 512)
    if target.place == "left" and target.rows == 1 and not source.boxed and not whole:
        found.add("row-chunks")
    if target.place == "bias" and move.operation == "tmov":
        counted = source if move.profile == "A2A3" else target
        if counted.row_bytes % 64 or {source.rows, target.rows} != {1}:
            found.add("bias-move")
    if target.place == "scaling" and move.operation == "tmov" and step == Step.SPECIFICATION:
        integers = target.element in ("i64", "ui64") and not target.row_bytes % 128
        microscaled = move.profile == "A5" and target.boxed
        if not microscaled and not (integers and {source.rows, target.rows} == {1}):
            found.add("scaling-move")
    return found


def of_leaving(move: Move, source: Listed, target: Listed, step: Step) -> set[str]:
    """What leaving the accumulator for mat or vec breaks on an NPU."""
    found = set()
    if move.profile == "A2A3" and target.place == "mat" and (target.order, target.fractal) != ("Nz", 512):
        found.add("accumulator-to-mat")
    if step == Step.SPECIFICATION and move.route in (("acc", "mat"), ("acc", "vec")):
        if source.order != "Nz":
            found.add("accumulator-source")
        if move.profile == "A5" and target.order not in ("Nz", "ND", "DN"):
            found.add("accumulator-to-mat")
        if move.profile == "A5" and target.order == "DN" and move.operation == "textract":
            found.add("(extract-columns)")
    return found


def of_extents(move: Move, source: Listed, target: Listed, step: Step) -> set[str]:
    """Return whether a tmov between tiles of other extents is refused."""
    if move.operation != "tmov":
        return set()
    if move.simulated:
        found = set()
        if step == Step.SPECIFICATION:
            if None not in (source.valid[0], target.valid[0]) and source.valid[0] != target.valid[0]:
                found.add("move-valid-rows")
            if (source.valid[1] or 0) > target.columns:
                found.add("move-valid-columns")
        return found
    equal = source.place == "mat" and target.place in ("left", "right")
    if step == Step.SPECIFICATION:
        relu = "no_relu" not in move.given.get("reluPreMode", "no_relu")
        equal = source.place == "mat" or (move.profile == "A2A3" and not (relu or move.quantised))
    return {"move-extent"} if equal and source.extent != target.extent else set()


def of_window(move: Move, source: Listed, target: Listed) -> set[str]:
    """Return whether a block leaves its tile, or begins inside a box."""
    first = (move.index("row"), move.index("column"))
    if move.operation == "tinsert":
        moved: Extents = source.valid if move.simulated else source.extent
        return outside("insert-window", first, moved, target.extent)
    if move.operation != "textract":
        return set()
    if move.simulated:
        return outside("extract-window", first, target.valid, source.valid)
    found = outside("extract-window", first, target.extent, source.extent)
    if target.place not in ("left", "right") or source.place != "mat":
        return found
    granule = 32 // target.width
    multiples = (16, granule) if target.place == "left" else (granule, 16)
    if not source.boxed and source.rows == 1:
        multiples = (1, 512 // source.width)
    elif source.boxed and source.inner_rows != (target.place == "left"):
        multiples = (32, 32) if target.width == 1 else (16, 16)
    if any(at % multiple for at, multiple in zip(first, multiples, strict=True)):
        found.add("extract-alignment")
    return found


def outside(rule: str, first: Extents, part: Extents, whole: Extents) -> set[str]:
    """Return the rule if a block of `part` at `first` is not inside `whole`; None is open."""
    for at, size, limit in zip(first, part, whole, strict=True):
        if at is not None and (at < 0 or (size is not None and limit is not None and at + size > limit)):
            return {rule}
    return set()


def of_view(tile: Listed, view: View, step: Step) -> set[str]:
    """Return whether the valid region is in the view."""
    known = 2 <= view.rank <= 5
    holds = known and view.holds(tile.valid[0], tile.valid[1])
    return set() if holds or (not known and step == Step.SPECIFICATION) else {"view-extent"}


LOADS = {"ND": {"nd"}, "DN": {"dn"}, "Nz": {"nd", "nz"}, "Zn": {"dn"}}
"""Which views the reference has a load to mat make an order of."""
KEPT = {"ND": {"nd"}, "DN": {"dn"}, "Nz": {"nz"}}


def layouts(move: Move) -> set[str]:
    """Return what the view may be, as the text says; all that are known where it says nothing."""
    written = move.given.get("layout", "?").removeprefix("#pto.layout<").rstrip(">")
    return {"nd", "dn", "nz"} if written == "?" else {written}


def of_load(move: Move, view: View, tile: Listed, step: Step) -> set[str]:
    """What a load into a buffer breaks on an NPU."""
    if (tile.fractal == 32 and step == Step.SPECIFICATION) or not layouts(move) <= {"nd", "dn", "nz"}:
        return set()
    found, made = set(), LOADS.get(tile.order, set())
    if step >= Step.HEADERS and (move.profile, tile.order) == ("A5", "Nz"):
        made = made | {"dn"}
    if tile.place == "vec":
        made = KEPT.get(tile.order, set()) if step >= Step.HEADERS else layouts(move)
    if tile.place in ("mat", "vec") and not made & layouts(move):
        found.add("load-layout")
    if tile.place != "mat" or not tile.boxed:
        return found
    known = tile.order in ("Nz", "Zn") and tile.fractal == 512
    across = step >= Step.HEADERS and (move.profile, tile.order) == ("A2A3", "Zn")
    if not known or (tile.columns if across else tile.rows) > 16384:
        found.add("load-layout")
    if not known or view.rank > 5:
        return found
    last = zip(view.shape[3:], tile.box, strict=True)
    fits = "x2" in tile.element or all(there in (None, held) for there, held in last)  # C0 of 4 bits is open
    of_boxes = tile.order == "Nz" and "nz" in layouts(move)
    flat = view.shape[:3] == [1, 1, 1]
    if of_boxes and layouts(move) == {"nz"}:
        flat = fits
    if not flat and not (of_boxes and fits):
        found.add("load-dimensions")
    return found


def of_store(move: Move, tile: Listed, step: Step) -> set[str]:
    """What a store breaks on an NPU."""
    found = set()
    if tile.place in ("vec", "mat") and step >= Step.HEADERS:
        line = 1 in tile.extent or not KEPT.get(tile.order, set()).isdisjoint(layouts(move))
        found |= set() if line else {"store-layout"}
    if tile.place != "acc":
        return found
    found |= {"store-layout"} if layouts(move) == {"dn"} else set()
    fitting = {"nd": tile.rows <= 8192, "nz": tile.rows <= 65535 and tile.columns % 16 == 0}
    if isinstance(move.target, View):
        last = {32 // move.target.width, 16 if move.target.width == 4 else 32 // move.target.width, None}
        fitting["nz"] &= move.target.rank == 5 and move.target.shape[3] in (16, None)
        fitting["nz"] &= step < Step.HEADERS or move.target.shape[4] in last
    judged = [fitting[layout] for layout in layouts(move) if layout in fitting]
    if not 1 <= tile.columns <= 4095 or (judged and not any(judged)):
        found.add("store-extent")
    return found


def remarks(move: Move) -> set[str]:
    """Return whether it is remarked that nothing documents what becomes of an element."""
    source, target = move.source, move.target
    if source is None or target is None or source.element == target.element:
        return set()
    bytes_copied = "memory" in move.route or (move.operation, *move.route) == ("tmov", "vec", "vec")
    if move.simulated:
        remarked = move.operation == "tmov" or not move.quantised
    elif move.route[0] == "acc":
        undefined = {("i32", "f32"), ("i32", "f16"), ("i32", "bf16"), ("f32", "i32")}
        pair = (source.element, target.element)
        remarked = move.operation == "tstore" and not move.quantised and pair in undefined
    else:
        remarked = bytes_copied and source.width == target.width
    return {"(move-conversion)"} if remarked else set()


def verdict(row: dict[str, str], profile: str, step: Step) -> set[str]:
    """Return the rules that forbid, and in parentheses those that are only remarked upon."""
    ends = (row["source"], row["target"])
    source, target = (read(text, profile) for text in ends)
    given = {} if row["with"] == "-" else dict(each.split(" = ") for each in row["with"].split(", "))
    move = Move(row["operation"], source, target, given, profile)
    quantising = read(given.get("q", ""), profile)
    found = of_operands(move, ends, step) | of_places(move, step)
    for tile in (source, target, quantising):
        found |= of_tile(tile) if isinstance(tile, Listed) else set()
    if step == Step.SPECIFICATION:
        found |= remarks(move)
        if move.simulated and move.operation == "tload" and source and target:
            found |= {"move-types"} if source.width != target.width else set()
    if move.tiles:
        found |= of_extents(move, *move.tiles, step) | of_window(move, *move.tiles)
    for tile, view in ((source, target), (target, source)):
        if isinstance(tile, Listed) and isinstance(view, View):
            found |= of_view(tile, view, step)
    if move.simulated:
        return found
    found |= of_types(move, step) | of_quantisation(move, step)
    if move.tiles and move.route[0] == "mat":
        found |= of_filling(move, *move.tiles, step)
    if move.tiles and move.route[0] == "acc":
        found |= of_leaving(move, *move.tiles, step)
    if isinstance(source, View) and isinstance(target, Listed):
        found |= of_load(move, source, target, step)
    if move.operation == "tstore" and isinstance(source, Listed):
        found |= of_store(move, source, step)
    return found


(MOVES,) = stated_table("moves.txt")
CELLS = {
    (*(row[part] for part in ("operation", "source", "target", "with")), profile): (
        set(row[profile].split()) - {"-"},
        [verdict(row, profile, step) for step in Step],
    )
    for row, profile in product(MOVES, PROFILES)
}
"""The listed verdict of a cell, and what each step derives."""


@pytest.mark.parametrize("profile", PROFILES)
def test_each_listed_verdict_is_derived(profile: str) -> None:
    cells = {at: found for at, found in CELLS.items() if at[-1] == profile}
    assert {at: found[-1] ^ listed for at, (listed, found) in cells.items() if found[-1] != listed} == {}


def test_most_verdicts_are_those_of_the_reference_alone() -> None:
    first = [found.index(listed) for listed, found in CELLS.values()]
    assert [first.count(step) for step in Step] == [744, 70, 143]
    breaking = [found.index(listed) for listed, found in CELLS.values() if listed]
    assert [breaking.count(step) for step in Step] == [340, 51, 126]


def test_only_named_definitions_are_taken_over() -> None:
    changed = [found[Step.HEADERS] ^ found[Step.SPECIFICATION] for _, found in CELLS.values()]
    assert {rule.strip("()") for rules in changed for rule in rules} == set(TAKEN_OVER)


def test_the_headers_have_the_routes_of_the_reference() -> None:
    routes = {(*route, profile) for route, profiles in ROUTES.items() for profile in profiles.split()}
    assert routes < tables.ROUTES
