"""Rules on loads and stores: tload and tstore.

Source: pto-isa headers at 3186c381 (TLoad, TStore).
"""

from __future__ import annotations

from ..global_memory import ViewOrder, five_dimensions, view_extents, written_layout
from ..resolution import Resolved
from ..targets import Profile
from ..tile import DYNAMIC, Location, Tile
from .enforcement import Enforcement, Messages, PtoRule, RuleKind, of_moves, on_tiles


def _view_extent(resolved: Resolved, _: Profile) -> Messages:
    view_role = resolved.operation.view or ""
    (tile_role,) = (role for role in resolved.operation.tiles if role != view_role)
    view = resolved.extent(view_role) if view_role not in resolved.tiles else None
    if not resolved.has(tile_role) or view is None:
        return
    tile = resolved.tiles[tile_role]
    wanting = []
    for held in view_extents(view):
        short = [
            f"{tile_role} has {valid} valid {name}, the view {there}"
            for name, valid, there in zip(
                ("rows", "columns"), (tile.valid_rows, tile.valid_columns), held, strict=True
            )
            if isinstance(valid, int) and isinstance(there, int) and valid > there
        ]
        if not short:
            return  # in this order it has them
        wanting.append(short)
    yield from wanting[0] if wanting else ()


@on_tiles("target")
def _load_layout(_: Profile, tile: Tile) -> Messages:
    if tile.location is Location.MAT and tile.boxed and tile.fractal != 32:
        if tile.fractal != 512 or tile.blocks is tile.inner:
            yield f"target is {tile.blocks}, {tile.inner} of {tile.fractal} bytes; loads make Nz or Zn of 512"
        if tile.rows > 16384:
            yield f"target has {tile.rows} rows; a load that re-orders has at most 16384"


def _load_dimensions(resolved: Resolved, _: Profile) -> Messages:
    view = resolved.extent("source")
    if not resolved.has("target") or view is None or len(view) > 5:
        return
    tile, whole = resolved.tiles["target"], five_dimensions(view)
    re_ordered = tile.location is Location.MAT and tile.layout_name in ("Nz", "Zn") and tile.fractal == 512
    if not re_ordered:
        return
    layout = written_layout(resolved.instruction.attributes)
    may_be_fractals = tile.layout_name == "Nz" and layout in (None, ViewOrder.NZ.value)
    box = tile.box if tile.element.bits >= 8 else (DYNAMIC, DYNAMIC)  # C0 of 4-bit elements is open
    fits = all(there == held or DYNAMIC in (there, held) for there, held in zip(whole[3:], box, strict=True))
    of = "x".join(map(str, whole))
    if may_be_fractals and layout is not None:
        if not fits:
            last = "x".join(map(str, box))
            yield f"the view is of {of} in fractals; its last dimensions must be {last}"
    elif any(extent != 1 for extent in whole[:3]) and not (may_be_fractals and fits):
        yield f"the view is of {of}; a load that re-orders takes 1x1x1 of rows and columns, statically"


def _store_extent(resolved: Resolved, _: Profile) -> Messages:
    if resolved.location("source") is Location.ACC:
        tile = resolved.tiles["source"]
        if not 1 <= tile.columns <= 4095:
            yield f"source has {tile.columns} columns; a store of an accumulator has 1 to 4095"
        view = resolved.extent("target")
        in_fractals = view is not None and len(view) == 5 and view[3] == 16
        if tile.rows > (65535 if in_fractals else 8192):
            where, most = ("fractals in", 65535) if in_fractals else ("row-major", 8192)
            yield f"source has {tile.rows} rows; a store to {where} memory has at most {most}"


MEMORY_RULES: tuple[PtoRule[Resolved], ...] = (
    PtoRule(
        "view-extent", "the valid region is in the view of global memory, in any order of its dimensions",
        "pto-isa headers (TLoad, TStore); nothing checks it", _view_extent,
        enforcements=(Enforcement(RuleKind.SILENT, operations=frozenset({"tload", "tstore"})),),
    ),
    PtoRule(
        "load-layout", "a load to boxes in mat makes Nz or Zn", "TLoad.hpp: ND to Nz, DN to Zn", _load_layout,
        enforcements=(of_moves("tload"),),
    ),
    PtoRule(
        "load-dimensions",
        "a load that re-orders takes a view of two dimensions, one from NZ any number of whole fractals",
        "TLoad.hpp: ND to Nz, DN to Zn; NZ to Nz", _load_dimensions, enforcements=(of_moves("tload"),),
    ),
    PtoRule(
        "store-extent",
        "an accumulator that is stored has 1 to 4095 columns, at most 8192 rows (65535 to fractals)",
        "TStore.hpp: CheckAcc2gm", _store_extent, enforcements=(of_moves("tstore"),),
    ),
)  # fmt: skip
"""Rules on loads and stores, besides those on element types."""
