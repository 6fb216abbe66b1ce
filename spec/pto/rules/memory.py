"""Rules on loads and stores: tload and tstore.

Source: pto-isa headers at 3186c381 (TLoad, TStore).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ..element_types import ElementType
from ..global_memory import ViewOrder, five_dimensions, view_extents, written_layout
from ..resolution import Resolved
from ..targets import A2A3, Profile
from ..tile import DYNAMIC, Extent, Location, Tile
from .enforcement import Enforcement, Messages, PtoRule, RuleKind, of_moves


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


def _layouts(resolved: Resolved) -> tuple[str, ...]:
    """Return what a view of global memory may be: what the text says, or each of what it leaves open."""
    written = written_layout(resolved.instruction.attributes)
    return resolved.layouts or tuple(ViewOrder) if written is None else (written,)


_KEPT: Mapping[str, tuple[str, ...]] = MappingProxyType({"ND": ("ND",), "DN": ("DN",), "NZ": ("Nz",)})
_RE_ORDERED = MappingProxyType({"ND": ("ND", "Nz"), "DN": ("DN", "Zn"), "NZ": ("Nz",)})
LOADED: Mapping[tuple[str, Location], Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        ("A2A3", Location.VEC): _KEPT,
        ("A5", Location.VEC): _KEPT,
        ("A2A3", Location.MAT): _RE_ORDERED,
        ("A5", Location.MAT): MappingProxyType({**_RE_ORDERED, "DN": ("DN", "Zn", "Nz")}),
    }
)
"""The orders that a load to a buffer makes of a view's; other views are not known here."""

_REACH = 16384
"""Lines of a re-ordered tile in mat."""


def _load_layout(resolved: Resolved, profile: Profile) -> Messages:
    if not resolved.has("target"):
        return
    tile, layouts = resolved.tiles["target"], _layouts(resolved)
    made = LOADED.get((profile.name, tile.location), {})
    if tile.fractal == 32 or not made.keys() >= set(layouts):
        return  # scale factors of a microscaled product; a view or a place that is not known
    orders = list(dict.fromkeys(order for layout in layouts for order in made[layout]))
    if tile.layout_name not in orders:
        of = " or ".join(layouts)
        yield f"target is {tile.layout_name}; a load of {of} to {tile.location} makes {', '.join(orders)}"
    if tile.location is Location.MAT and tile.boxed:
        if tile.fractal != 512:
            yield f"target has blocks of {tile.fractal} bytes; a load makes blocks of 512"
        name, lines = ("columns", tile.columns) if _across(profile, tile) else ("rows", tile.rows)
        if lines > _REACH:
            yield f"target has {lines} {name}; a load that re-orders has at most {_REACH}"


def _across(profile: Profile, tile: Tile) -> bool:
    """Whether the lines that are counted are columns: A2A3 counts those of memory, A5 rows of the tile."""
    return profile == A2A3 and tile.layout_name == "Zn"


def _load_dimensions(resolved: Resolved, _: Profile) -> Messages:
    view = resolved.extent("source")
    if not resolved.has("target") or view is None or len(view) > 5:
        return
    tile, whole = resolved.tiles["target"], five_dimensions(view)
    re_ordered = tile.location is Location.MAT and tile.layout_name in ("Nz", "Zn") and tile.fractal == 512
    if not re_ordered:
        return
    layouts = _layouts(resolved)
    may_be_fractals = tile.layout_name == "Nz" and ViewOrder.NZ in layouts
    box = tile.box if tile.element.bits >= 8 else (DYNAMIC, DYNAMIC)  # C0 of 4-bit elements is open
    fits = all(there == held or DYNAMIC in (there, held) for there, held in zip(whole[3:], box, strict=True))
    of = "x".join(map(str, whole))
    if may_be_fractals and len(layouts) == 1:
        if not fits:
            last = "x".join(map(str, box))
            yield f"the view is of {of} in fractals; its last dimensions must be {last}"
    elif any(extent != 1 for extent in whole[:3]) and not (may_be_fractals and fits):
        yield f"the view is of {of}; a load that re-orders takes 1x1x1 of rows and columns, statically"


_STORED_AS: Mapping[str, str] = MappingProxyType({"ND": "ND", "DN": "DN", "NZ": "Nz"})


def _store_layout(resolved: Resolved, _: Profile) -> Messages:
    if not resolved.has("source"):
        return
    tile, layouts = resolved.tiles["source"], _layouts(resolved)
    if tile.location is Location.ACC:
        if layouts == (ViewOrder.DN.value,):
            yield "target is DN; an accumulator is stored as ND or NZ"
    elif tile.location in (Location.VEC, Location.MAT) and set(layouts) <= _STORED_AS.keys():
        line = tile.rows == 1 or tile.columns == 1
        if not line and tile.layout_name not in {_STORED_AS[layout] for layout in layouts}:
            yield f"source is {tile.layout_name}, target {' or '.join(layouts)}; a store keeps the order"


_FRACTAL_ROWS = 16


def _store_extent(resolved: Resolved, _: Profile) -> Messages:
    if resolved.location("source") is not Location.ACC:
        return
    tile = resolved.tiles["source"]
    if not 1 <= tile.columns <= 4095:
        yield f"source has {tile.columns} columns; a store of an accumulator has 1 to 4095"
    wrong: list[list[str]] = []
    for layout in _layouts(resolved):
        if layout == ViewOrder.ND:
            over = tile.rows > 8192
            wrong.append([f"source has {tile.rows} rows; a store to ND has at most 8192"] * over)
        elif layout == ViewOrder.NZ:
            wrong.append(list(_to_fractals(tile, resolved.extent("target"), resolved.element("target"))))
    if all(wrong):  # whichever of them it is
        yield from wrong[0] if wrong else ()


def _to_fractals(tile: Tile, view: Sequence[Extent] | None, element: ElementType | None) -> Messages:
    if tile.rows > 65535:
        yield f"source has {tile.rows} rows; a store to NZ has at most 65535"
    if tile.columns % 16:
        yield f"source has {tile.columns} columns; a store to NZ has a multiple of 16"
    if view is not None and element is not None:
        width = 32 // element.storage_bytes
        last = dict.fromkeys((width, 16) if element.storage_bytes == 4 else (width,))
        if len(view) != 5 or view[3] not in (_FRACTAL_ROWS, DYNAMIC) or view[4] not in (*last, DYNAMIC):
            ends = " or ".join(f"{_FRACTAL_ROWS}x{each}" for each in last)
            yield f"target is {'x'.join(map(str, view))}; a view of NZ has five dimensions, the last {ends}"


MEMORY_RULES: tuple[PtoRule[Resolved], ...] = (
    PtoRule(
        "view-extent", "the valid region is in the view of global memory, in any order of its dimensions",
        "pto-isa headers (TLoad, TStore); nothing checks it", _view_extent,
        enforcements=(Enforcement(RuleKind.SILENT, operations=frozenset({"tload", "tstore"})),),
    ),
    PtoRule(
        "load-layout",
        "a load keeps the order of its view, or, to mat, makes Nz of ND and Zn of DN (A5: Nz of DN too)",
        "TLoad.hpp: ND2ND, DN2DN, NZ2NZ, ND2NZ, DN2ZN (A5: DN2NZ)", _load_layout,
        enforcements=(of_moves("tload"),),
    ),
    PtoRule(
        "load-dimensions",
        "a load that re-orders takes a view of two dimensions, one from NZ any number of whole fractals",
        "TLoad.hpp: ND to Nz, DN to Zn; NZ to Nz (a later one takes dimension 2 of ND to be stacked)",
        _load_dimensions, enforcements=(of_moves("tload"),),
    ),
    PtoRule(
        "store-layout",
        "a store of vec or mat keeps the order, but of one line; an accumulator becomes ND or NZ",
        "TStore.hpp: CheckStaticForVecAndMat, CheckAcc2gm", _store_layout, enforcements=(of_moves("tstore"),),
    ),
    PtoRule(
        "store-extent",
        "an accumulator has 1 to 4095 columns and, stored as ND, at most 8192 rows; stored as NZ, a multiple "
        "of 16 columns and at most 65535 rows, in fractals of 16",
        "TStore.hpp: CheckAcc2gm", _store_extent, enforcements=(of_moves("tstore"),),
    ),
)  # fmt: skip
"""Rules on loads and stores, besides those on element types."""
