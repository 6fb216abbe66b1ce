"""Rules on the movers of a GEMM: tload, tmov, textract and tstore.

Source: pto-isa headers at 3186c381; reference A.7, B.7 and E.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from .contradictions import cited
from .elements import ELEMENT_TYPES, ElementType
from .movers import GEMV_CHUNK_BYTES, alignment
from .profiles import A2A3, A5, CPU, Profile
from .resolution import Resolved
from .rules import CUBE, PtoRule, RuleKind, Standing
from .tile import Location, Order, Tile

Messages = Iterator[str]

_MAT, _VEC, _ACC, _LEFT, _RIGHT = Location.MAT, Location.VEC, Location.ACC, Location.LEFT, Location.RIGHT
_OPERANDS = (_LEFT, _RIGHT)
_SCALES = (Location.SCALE_LEFT, Location.SCALE_RIGHT)
_LATER = (A5, CPU)
_EVERYONE = (A2A3, A5, CPU)

Places = Mapping[tuple[Location | None, Location | None], tuple[Profile, ...]]

PLACES: Mapping[str, Places] = MappingProxyType(
    {
        "tload": {(None, _MAT): _EVERYONE, (None, _VEC): _EVERYONE},
        "tmov": {
            **{(_MAT, target): _EVERYONE for target in (*_OPERANDS, Location.BIAS, Location.SCALING)},
            **{(_MAT, target): _LATER for target in _SCALES},
            (_ACC, _MAT): _EVERYONE,
            (_ACC, _VEC): _LATER,
            (_VEC, _VEC): _EVERYONE,
            (_VEC, _MAT): _LATER,
        },
        "textract": {
            **{(_MAT, target): _EVERYONE for target in _OPERANDS},
            **{(_MAT, target): _LATER for target in _SCALES},
            (_ACC, _MAT): _EVERYONE,
        },
        "tstore": {(_ACC, None): _EVERYONE, (_VEC, None): _EVERYONE, (_MAT, None): (A2A3,)},
    }
)
"""From where to where a move goes, and on which profiles; None is global memory."""


_NUMBER = re.compile(r"-?[0-9]{1,18}")


def _types(*names: str) -> frozenset[ElementType]:
    return frozenset(ELEMENT_TYPES[name] for name in names)


_BIAS_SOURCES = MappingProxyType({"i32": _types("i32"), "f32": _types("f32", "f16")})
_BIAS_SOURCES_LATER = MappingProxyType({**_BIAS_SOURCES, "f32": _types("f32", "f16", "bf16")})
_STORED = MappingProxyType({"f32": _types("f32", "f16", "bf16"), "i32": _types("i32")})
_EXTRACTED = _types("i8", "f16", "bf16", "f32")
_EXTRACTED_LATER = _EXTRACTED | _types("f8E4M3FN", "f8E5M2", "hif8", "f4E2M1x2", "f4E1M2x2", "f8E8M0FNU")
_LEAVES_ACC_A2A3 = frozenset(
    entry for entry in ELEMENT_TYPES.values() if entry.bits <= 8 or entry.name in ("f16", "bf16")
)


def _location(resolved: Resolved, role: str) -> Location | None:
    return resolved.tiles[role].location if resolved.has(role) else None


def _quantised(resolved: Resolved) -> bool:
    return any("quant" in name.lower() for name, _ in resolved.instruction.attributes)


def _to(resolved: Resolved, *locations: Location) -> tuple[Tile, Tile] | None:
    """Return source and target of a move from mat to one of the locations."""
    if not resolved.has("source", "target"):
        return None
    source, target = resolved.tiles["source"], resolved.tiles["target"]
    return (source, target) if source.location is _MAT and target.location in locations else None


def index(resolved: Resolved, role: str) -> int | None:
    """Return the row or column of a block where the text gives it as a number."""
    operand = resolved.instruction.operands().get(role)
    written = "" if operand is None else operand.name
    return int(written) if _NUMBER.fullmatch(written) else None


def _places(resolved: Resolved, profile: Profile) -> Messages:
    allowed = PLACES[resolved.operation.name]
    known = [role for role in ("source", "target") if resolved.has(role)]
    found = _location(resolved, "source"), _location(resolved, "target")
    ends = {"tload": ("target",), "tstore": ("source",)}.get(resolved.operation.name, ("source", "target"))
    if not known or any(role not in known for role in ends):
        return
    if profile not in allowed.get(found, ()):
        on = ", ".join(other.name for other in allowed.get(found, ()))
        route = " to ".join("global memory" if place is None else str(place) for place in found)
        yield f"{resolved.operation} from {route} is not on {profile}{f', only on {on}' if on else ''}"


def _element_types(resolved: Resolved, profile: Profile) -> Messages:
    source, target = resolved.element("source"), resolved.element("target")
    if source is None or target is None or _quantised(resolved):
        return
    places = _location(resolved, "source"), _location(resolved, "target")
    message = f"{source} to {target}"
    if places[1] is Location.BIAS:
        allowed = _BIAS_SOURCES if profile == A2A3 else _BIAS_SOURCES_LATER
        if source not in allowed.get(target.name, ()):
            yield f"{message}; the bias takes i32 from i32, f32 from {_spell(allowed['f32'])}"
    elif places[0] is _ACC:
        if source.name not in _STORED:
            yield f"{message}; an accumulator is {' or '.join(_STORED)}"
        elif resolved.operation.name == "tstore":
            if target not in _STORED[source.name]:
                yield f"{message}; without quantisation {source} is stored as {_spell(_STORED[source.name])}"
        elif profile == A2A3 and target not in _LEAVES_ACC_A2A3:
            yield f"{message}; an accumulator leaves for mat as f16, bf16 or 8 bits"
    elif source != target:
        yield f"{message}; the move does not convert"


def _spell(types: frozenset[ElementType]) -> str:
    return ", ".join(entry.name for entry in ELEMENT_TYPES.values() if entry in types)


def _extract_types(resolved: Resolved, profile: Profile) -> Messages:
    allowed = _EXTRACTED if profile == A2A3 else _EXTRACTED_LATER
    source, place = resolved.element("source"), _location(resolved, "source")
    if source is not None and place in (None, _MAT) and source not in allowed:
        yield f"textract of {source}; {profile} has {_spell(allowed)}"


def _equal_extent(resolved: Resolved, _: Profile) -> Messages:
    if (pair := _to(resolved, *_OPERANDS)) is not None:
        source, target = pair
        if (source.rows, source.columns) != (target.rows, target.columns):
            yield f"source is {source.rows}x{source.columns}, target {target.rows}x{target.columns}"


def _view_extent(resolved: Resolved, _: Profile) -> Messages:
    tile_role, view_role = (
        ("target", "source") if resolved.operation.name == "tload" else ("source", "target")
    )
    view = resolved.extent(view_role) if view_role not in resolved.tiles else None
    if not resolved.has(tile_role) or view is None or len(view) < 2:
        return
    tile = resolved.tiles[tile_role]
    for name, valid, there in (
        ("rows", tile.valid_rows, view[-2]), ("columns", tile.valid_columns, view[-1]),
    ):  # fmt: skip
        if isinstance(valid, int) and isinstance(there, int) and valid > there:
            yield f"{tile_role} has {valid} valid {name}, the view {there}"


def _load_layout(resolved: Resolved, _: Profile) -> Messages:
    if not resolved.has("target") or (tile := resolved.tiles["target"]).location is not _MAT:
        return
    if tile.boxed and tile.fractal != 32:
        if tile.fractal != 512 or tile.blocks is tile.inner:
            yield f"target is {tile.blocks}, {tile.inner} of {tile.fractal} bytes; loads make Nz or Zn of 512"
        if tile.rows > 16384:
            yield f"target has {tile.rows} rows; a load that re-orders has at most 16384"


def _source_layout(resolved: Resolved, _: Profile) -> Messages:
    if (pair := _to(resolved, *_OPERANDS)) is not None:
        source, target = pair
        row = source.rows == 1 and not source.boxed and target.location is _LEFT
        if not row and (not source.boxed or source.blocks is source.inner):
            yield f"source is {source.blocks}, {source.inner}; it must be Nz or Zn, or one row for left"


def _extract_left(resolved: Resolved, profile: Profile) -> Messages:
    if (pair := _to(resolved, _LEFT)) is not None and pair[1].blocks is not profile.left_blocks:
        yield f"the blocks of target are {pair[1].blocks}; they must be {profile.left_blocks}"


def _row_chunks(resolved: Resolved, _: Profile) -> Messages:
    if (pair := _to(resolved, _LEFT)) is not None and pair[1].rows == 1 and not pair[0].boxed:
        for role, tile in zip(("source", "target"), pair, strict=True):
            size = tile.columns * tile.element.storage_bytes
            if size % GEMV_CHUNK_BYTES:
                yield f"the row of {role} has {size} bytes, not a multiple of {GEMV_CHUNK_BYTES}"


def _bias_move(resolved: Resolved, profile: Profile) -> Messages:
    if (pair := _to(resolved, Location.BIAS)) is not None:
        role, tile = ("source", pair[0]) if profile == A2A3 else ("target", pair[1])
        if (size := tile.columns * tile.element.storage_bytes) % 64:
            yield f"the row of {role} has {size} bytes, not a multiple of 64"
        for name, each in zip(("source", "target"), pair, strict=True):
            if each.rows != 1:
                yield f"{name} has {each.rows} rows; a bias has one"


def _window(resolved: Resolved, profile: Profile) -> Messages:
    source, target = resolved.extent("source"), resolved.extent("target")
    if not profile.cube and resolved.has("source", "target"):
        source, target = (
            (tile.valid_rows, tile.valid_columns)
            for tile in (resolved.tiles["source"], resolved.tiles["target"])
        )
    if source is None or target is None:
        return
    for role, there, taken in zip(("row", "column"), source, target, strict=False):
        first = index(resolved, role)
        if isinstance(there, int) and isinstance(taken, int) and (first or 0) + taken > there:
            at = f"from {role} {first}" if first is not None else f"from any {role}"
            yield f"{taken} {role}s {at} of a source with {there}"
        elif first is not None and first < 0:
            yield f"{role} {first} is before the source"


def _alignment(resolved: Resolved, _: Profile) -> Messages:
    if resolved.has("source", "target"):
        multiples = alignment(resolved.tiles["source"], resolved.tiles["target"])
        for role, multiple in zip(("row", "column"), multiples, strict=True):
            first = index(resolved, role)
            if first is not None and first % multiple:
                yield f"{role} {first} is not a multiple of {multiple}"


def _store_extent(resolved: Resolved, _: Profile) -> Messages:
    if _location(resolved, "source") is _ACC:
        tile = resolved.tiles["source"]
        if not 1 <= tile.columns <= 4095:
            yield f"source has {tile.columns} columns; a store of an accumulator has 1 to 4095"
        if tile.rows > 8192:
            yield f"source has {tile.rows} rows; a store to row-major memory has at most 8192"


def _accumulator_target(resolved: Resolved, _: Profile) -> Messages:
    if _location(resolved, "source") is _ACC and _location(resolved, "target") is _MAT:
        tile = resolved.tiles["target"]
        if (tile.blocks, tile.inner, tile.fractal) != (Order.COL_MAJOR, Order.ROW_MAJOR, 512):
            yield f"target is {tile.blocks}, {tile.inner} of {tile.fractal} bytes; it must be Nz of 512"


def _standing(
    *operations: str, kind: RuleKind = RuleKind.STATIC, profiles: tuple[Profile, ...] = _EVERYONE
) -> Standing:
    return Standing(kind, profiles, frozenset(operations))


_ALL = ("tload", "tmov", "textract", "tstore")
_INDEXED = (_standing("textract", kind=RuleKind.DEBUG_ONLY, profiles=CUBE),)

MOVE_RULES: tuple[PtoRule[Resolved], ...] = (
    PtoRule(
        "move-places", "the operation goes from this buffer to that one",
        "pto-isa headers; pypto issue 1310 (no move from acc to acc); reference B.7", _places, cited(20, 26),
        standings=(_standing(*_ALL),),
    ),
    PtoRule(
        "move-types", "element types are equal, or a pair that the move converts", "pto-isa headers",
        _element_types, standings=(_standing(*_ALL),),
    ),
    PtoRule(
        "extract-types", "textract has the element type", "TExtract.hpp of each profile", _extract_types,
        standings=(_standing("textract"),),
    ),
    PtoRule(
        "move-extent", "tmov to left and right keeps the physical extent", "TMov.hpp of each profile",
        _equal_extent, standings=(_standing("tmov"),),
    ),
    PtoRule(
        "view-extent", "the valid region is in the view of global memory", "reference B.7; nothing checks it",
        _view_extent, standings=(_standing("tload", "tstore", kind=RuleKind.SILENT),),
    ),
    PtoRule(
        "load-layout", "a load to boxes in mat makes Nz or Zn", "TLoad.hpp: ND to Nz, DN to Zn", _load_layout,
        standings=(_standing("tload"),),
    ),
    PtoRule(
        "move-source-layout", "left and right are filled from Nz or Zn, a one-row left also from ND",
        "TMov.hpp, TExtract.hpp", _source_layout, standings=(_standing("tmov", "textract"),),
    ),
    PtoRule(
        "extract-left-blocks", "textract to left on A2A3 makes Zz", "TExtract.hpp of A2A3", _extract_left,
        cited(25, 27), standings=(_standing("textract", profiles=(A2A3,)),),
    ),
    PtoRule(
        "row-chunks", f"a one-row left is filled in chunks of {GEMV_CHUNK_BYTES} bytes",
        "TMov.hpp, TExtract.hpp; reference A.7", _row_chunks,
        standings=(_standing("tmov", "textract", profiles=CUBE),),
    ),
    PtoRule(
        "bias-move",
        "a bias is filled from one row, in units of 64 bytes (A2A3: of the source; A5: of the bias)",
        "TMov.hpp", _bias_move, standings=(_standing("tmov", profiles=CUBE),),
    ),
    PtoRule(
        "accumulator-to-mat", "an accumulator leaves for mat as Nz", "TMov.hpp, TExtract.hpp",
        _accumulator_target, standings=(_standing("tmov", "textract", profiles=CUBE),),
    ),
    PtoRule(
        "extract-window", "the block is inside the source (A2A3, A5: physical extents; CPU: valid ones)",
        "TExtract.hpp", _window,
        standings=(*_INDEXED, _standing("textract", kind=RuleKind.RUN_TIME, profiles=(CPU,))),
    ),
    PtoRule(
        "extract-alignment", "a block begins at whole blocks, also of the transposed ones",
        "TExtract.hpp; reference B.7", _alignment, standings=_INDEXED,
    ),
    PtoRule(
        "store-extent", "an accumulator that is stored has 1 to 4095 columns, and at most 8192 rows",
        "TStore.hpp", _store_extent, standings=(_standing("tstore"),),
    ),
)  # fmt: skip
"""Rules on moves."""
