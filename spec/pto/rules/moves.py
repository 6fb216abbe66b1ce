"""Rules on the movers of a GEMM: where from and where to, and what moves from buffer to buffer ask for.

The CPU simulator has one loop over elements for every place and layout: what the NPU's headers assert of
moves, it does not. Source: pto-isa headers at 3186c381 (TMov, TExtract, TStore).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..catalogue import INDICES
from ..contradictions import cited
from ..fractal import layout_of
from ..placement import GEMV_CHUNK_BYTES, alignment
from ..resolution import Resolved
from ..targets import A2A3, A5, CPU, Profile, alias
from ..text.types import TileType
from ..tile import DYNAMIC, Location, Tile
from .enforcement import CUBE, Check, Messages, PtoRule, RuleKind, of_moves, on_tiles
from .move_types import quantised, route

_MAT, _VEC, _ACC, _LEFT, _RIGHT = Location.MAT, Location.VEC, Location.ACC, Location.LEFT, Location.RIGHT
_OPERANDS = (_LEFT, _RIGHT)
_SCALES = (Location.SCALE_LEFT, Location.SCALE_RIGHT)

Places = Mapping[tuple[Location | None, Location | None], tuple[Profile, ...]]

PLACES: Mapping[str, Places] = MappingProxyType(
    {
        "tload": {(None, _MAT): CUBE, (None, _VEC): CUBE},
        "tmov": {
            **{(_MAT, target): CUBE for target in (*_OPERANDS, Location.BIAS, Location.SCALING)},
            **{(_MAT, target): (A5,) for target in _SCALES},
            (_ACC, _MAT): CUBE,
            (_ACC, _VEC): (A5,),
            (_VEC, _VEC): CUBE,
            (_VEC, _MAT): (A5,),
        },
        "textract": {
            **{(_MAT, target): CUBE for target in _OPERANDS},
            **{(_MAT, target): (A5,) for target in (*_SCALES, Location.SCALING)},
            (_ACC, _MAT): CUBE,
            **dict.fromkeys(((_ACC, _VEC), (_VEC, _VEC), (_VEC, _MAT)), (A5,)),
        },
        "tinsert": {
            (_ACC, _MAT): CUBE,
            **dict.fromkeys(((_ACC, _VEC), (_VEC, _VEC), (_VEC, _MAT)), (A5,)),
        },
        "tstore": {(_ACC, None): CUBE, (_VEC, None): CUBE, (_MAT, None): (A2A3,)},
    }
)
"""From where to where a move goes on the NPU, and on which profiles; None is global memory."""


_NUMBER = re.compile(r"-?[0-9]{1,18}")


def _to(*locations: Location) -> Callable[[Callable[[Profile, Tile, Tile], Messages]], Check]:
    """Ask of source and target of a move from mat to one of the locations."""

    def of_pair(check: Callable[[Profile, Tile, Tile], Messages]) -> Check:
        @on_tiles("source", "target")
        def of_statement(profile: Profile, source: Tile, target: Tile) -> Messages:
            if source.location is _MAT and target.location in locations:
                yield from check(profile, source, target)

        return of_statement

    return of_pair


def index(resolved: Resolved, role: str) -> int | None:
    """Return the row or column of a block where the text gives it: as a number, or the name of a constant."""
    operand = resolved.instruction.operands().get(role)
    written = "" if operand is None else operand.name
    return int(written) if _NUMBER.fullmatch(written) else resolved.numbers.get(written)


def _places(resolved: Resolved, profile: Profile) -> Messages:
    operation, found = resolved.operation, route(resolved)
    if not resolved.has(*(role for role in ("source", "target") if role != operation.view)):
        return
    allowed = PLACES[operation.name].get(found, ())
    factors = found[1] is not Location.SCALING or resolved.tiles["target"].boxed  # of mx: the same keyword
    if profile not in allowed or not (factors or operation.name == "tmov"):
        on = ", ".join(other.name for other in allowed)
        path = " to ".join("global memory" if place is None else str(place) for place in found)
        yield f"{operation} from {path} is not on {profile}{f', only on {on}' if on else ''}"


def _converts_in_passing(resolved: Resolved) -> bool:
    """Whether a move is an overload of its own, with a quantisation or a relu, which asserts less."""
    relu = any(
        "relu" in name.lower() and "no_relu" not in value for name, value in resolved.instruction.attributes
    )
    return relu or quantised(resolved)


def _equal_extent(resolved: Resolved, profile: Profile) -> Messages:
    if not resolved.has("source", "target"):
        return
    source, target = resolved.tiles["source"], resolved.tiles["target"]
    if source.location is not _MAT and (profile != A2A3 or _converts_in_passing(resolved)):
        return
    if (source.rows, source.columns) != (target.rows, target.columns):
        yield f"source is {source.rows}x{source.columns}, target {target.rows}x{target.columns}"


@on_tiles("source", "target")
def _valid_rows(_: Profile, source: Tile, target: Tile) -> Messages:
    rows = source.valid_rows, target.valid_rows
    if DYNAMIC not in rows and rows[0] != rows[1]:
        yield f"source has {rows[0]} valid rows, target {rows[1]}"


@on_tiles("source", "target")
def _valid_columns(_: Profile, source: Tile, target: Tile) -> Messages:
    if isinstance(source.valid_columns, int) and source.valid_columns > target.columns:
        yield f"{source.valid_columns} columns are moved, those of source; target has {target.columns}"


@_to(*_OPERANDS)
def _source_layout(_: Profile, source: Tile, target: Tile) -> Messages:
    row = source.rows == 1 and not source.boxed and target.location is _LEFT
    if not row and (not source.boxed or source.blocks is source.inner):
        yield f"source is {source.blocks}, {source.inner}; it must be Nz or Zn, or one row for left"


@_to(*_OPERANDS)
def _operand_layout(profile: Profile, _: Tile, target: Tile) -> Messages:
    wanted = alias(profile, target.location, target.element, (target.rows, target.columns))
    if target.layout_name != wanted.layout_name:
        needs = f"on {profile} {target.location} is {wanted.layout_name}"
        yield f"target is {target.blocks}, {target.inner}; {needs}"


@_to(*_OPERANDS)
def _filled_order(profile: Profile, _: Tile, target: Tile) -> Messages:
    wanted = alias(profile, target.location, target.element, (target.rows, target.columns))
    said, filled = layout_of(target), layout_of(wanted)
    if (said.blocks, said.inner) != (filled.blocks, filled.inner):
        yield f"target is {target.layout_name}; {profile} fills {target.location} as {wanted.layout_name}"


@_to(Location.SCALING)
def _scaling_move(profile: Profile, source: Tile, target: Tile) -> Messages:
    if profile.microscaling and target.boxed:
        return  # those of mx have the same keyword
    for role, tile in (("source", source), ("target", target)):
        if tile.rows != 1:
            yield f"{role} has {tile.rows} rows; scale factors of a quantisation are one row"
    if target.element.name not in ("i64", "ui64"):
        yield f"target is {target.element}; scale factors of a quantisation are i64 or ui64"
    elif (size := target.columns * target.element.storage_bytes) % 128:
        yield f"the row of target has {size} bytes, not a multiple of 128"


def _quantisation(resolved: Resolved, profile: Profile) -> Messages:
    operand = resolved.instruction.operands().get("quantisation")
    if operand is None or (source := resolved.location("source")) is None:
        return
    written = operand.type
    scaling = not isinstance(written, TileType) or written.location in (None, Location.SCALING)
    if source is _ACC and not scaling:
        yield f"{operand.name} is in {resolved.tiles['quantisation'].location}; it must be in scaling"
    elif source is not _ACC and (scaling or profile == A2A3):  # A5 has a tmov in vec with a temporary
        yield f"source is in {source}; only an accumulator leaves with a quantisation"


@_to(_LEFT)
def _row_chunks(_: Profile, source: Tile, target: Tile) -> Messages:
    if target.rows == 1 and not source.boxed:
        for role, tile in (("source", source), ("target", target)):
            size = tile.columns * tile.element.storage_bytes
            if size % GEMV_CHUNK_BYTES:
                yield f"the row of {role} has {size} bytes, not a multiple of {GEMV_CHUNK_BYTES}"


@_to(Location.BIAS)
def _bias_move(profile: Profile, source: Tile, target: Tile) -> Messages:
    role, tile = ("source", source) if profile == A2A3 else ("target", target)
    if (size := tile.columns * tile.element.storage_bytes) % 64:
        yield f"the row of {role} has {size} bytes, not a multiple of 64"
    for role, tile in (("source", source), ("target", target)):
        if tile.rows != 1:
            yield f"{role} has {tile.rows} rows; a bias has one"


def _inside(whole: str, part: str) -> Check:
    """Return the check that a block is inside: by physical extents.

    The CPU simulator moves the valid elements of a block; it asks whether the source has them as valid ones,
    and never whether a target has them at all.
    """

    def check(resolved: Resolved, profile: Profile) -> Messages:
        extents = [resolved.extent(role) or () for role in (whole, part)]
        if not profile.cube and resolved.has(whole, part):
            pair = resolved.tiles[whole], resolved.tiles[part]
            valid = [(tile.valid_rows, tile.valid_columns) for tile in pair]
            extents = [valid[0] if whole == "source" else extents[0], valid[1]]
        for role, there, moved in zip(INDICES, *extents, strict=False):
            first = index(resolved, role)
            if isinstance(there, int) and isinstance(moved, int) and (first or 0) + moved > there:
                at = f"from {role} {first}" if first is not None else f"from any {role}"
                yield f"{moved} {role}s {at} of a {whole} with {there}"
            elif first is not None and first < 0:
                yield f"{role} {first} is before the {whole}"

    return check


def _alignment(resolved: Resolved, _: Profile) -> Messages:
    if resolved.has("source", "target"):
        multiples = alignment(resolved.tiles["source"], resolved.tiles["target"])
        for role, multiple in zip(INDICES, multiples, strict=True):
            first = index(resolved, role)
            if first is not None and first % multiple:
                yield f"{role} {first} is not a multiple of {multiple}"


_LEAVES_AS = ("Nz", "ND", "DN")
"""How an accumulator may leave on A5."""


def _leaves(role: str) -> Callable[[Callable[[Profile, Tile], Messages]], Check]:
    """Ask of the source or the target of a move from acc to mat or vec."""

    def of_tile(check: Callable[[Profile, Tile], Messages]) -> Check:
        def of_statement(resolved: Resolved, profile: Profile) -> Messages:
            if route(resolved) in ((_ACC, _MAT), (_ACC, _VEC)):
                yield from check(profile, resolved.tiles[role])

        return of_statement

    return of_tile


@_leaves("target")
def _accumulator_target(profile: Profile, tile: Tile) -> Messages:
    if profile == A2A3:
        if tile.location is _MAT and (tile.layout_name != "Nz" or tile.fractal != 512):
            yield f"target is {tile.blocks}, {tile.inner} of {tile.fractal} bytes; it must be Nz of 512"
    elif tile.layout_name not in _LEAVES_AS:
        yield f"target is {tile.blocks}, {tile.inner}; it must be {', '.join(_LEAVES_AS)}"


@_leaves("target")
def _extracted_columns(_: Profile, tile: Tile) -> Messages:
    if tile.layout_name == "DN":
        yield "target is DN; TExtract.hpp asserts Nz or ND beside the check that tmov has too"


@_leaves("source")
def _accumulator_source(_: Profile, tile: Tile) -> Messages:
    if tile.layout_name != "Nz":
        yield f"source is {tile.blocks}, {tile.inner}; an accumulator is Nz"


_INDEXED = (of_moves("textract", kind=RuleKind.DEBUG_ONLY),)

MOVE_RULES: tuple[PtoRule[Resolved], ...] = (
    PtoRule(
        "move-places", "the operation goes from this buffer to that one",
        "pto-isa headers (between others a tmov of A5 and a textract do nothing); pypto issue 1310 (no move "
        "from acc to acc)", _places, cited(20, 26),
        enforcements=(
            of_moves("tload", "tstore"), of_moves("tmov", "tinsert", profiles=(A2A3,)),
            of_moves("tmov", "textract", "tinsert", kind=RuleKind.SILENT),
        ),
    ),
    PtoRule(
        "move-extent", "tmov keeps the physical extent (A5: out of mat)", "TMov.hpp: TMOV_TILE_IMPL",
        _equal_extent, enforcements=(of_moves("tmov"),),
    ),
    PtoRule(
        "move-valid-rows", "source and target of tmov have as many valid rows", "cpu/TMov.hpp", _valid_rows,
        enforcements=(of_moves("tmov", kind=RuleKind.RUN_TIME, profiles=(CPU,)),),
    ),
    PtoRule(
        "move-valid-columns", "the columns that tmov moves, those of the source, are in the target",
        "cpu/TMov.hpp", _valid_columns,
        enforcements=(of_moves("tmov", kind=RuleKind.SILENT, profiles=(CPU,)),),
    ),
    PtoRule(
        "move-source-layout", "left and right are filled from Nz or Zn, a one-row left also from ND",
        "TMov.hpp, TExtract.hpp", _source_layout, enforcements=(of_moves("tmov", "textract"),),
    ),
    PtoRule(
        "move-target-layout", "left and right are filled in the profile's order",
        "TExtract.hpp: TEXTRACT_TILE_IMPL, TExtractToLeft; TMov.hpp of A5: TMovToLeft, TMovToRight",
        _operand_layout, cited(25, 27),
        enforcements=(of_moves("textract"), of_moves("tmov", profiles=(A5,))),
    ),
    PtoRule(
        "filled-order", "left and right are filled in the profile's order, whatever order their type says",
        "TMov.hpp of A2A3: TMovToLeft and TMovToRight assert none, and move as for the profile's tiles",
        _filled_order, cited(25, 27),
        enforcements=(of_moves("tmov", kind=RuleKind.SILENT, profiles=(A2A3,)),),
    ),
    PtoRule(
        "row-chunks", f"a one-row left is filled in chunks of {GEMV_CHUNK_BYTES} bytes",
        "TMov.hpp, TExtract.hpp", _row_chunks, enforcements=(of_moves("tmov", "textract"),),
    ),
    PtoRule(
        "bias-move",
        "a bias is filled from one row, in units of 64 bytes (A2A3: of the source; A5: of the bias)",
        "TMov.hpp: TMovToBt", _bias_move, enforcements=(of_moves("tmov"),),
    ),
    PtoRule(
        "scaling-move",
        "scale factors of a quantisation are one row of 64-bit integers, in units of 128 bytes",
        "TMov.hpp: TMovToFb", _scaling_move, enforcements=(of_moves("tmov"),),
    ),
    PtoRule(
        "quantisation", "only an accumulator is quantised, by a scalar or a tile in scaling",
        "TMov.hpp, TExtract.hpp, TStore.hpp: the overloads of preQuantScalar and fp", _quantisation,
        enforcements=(of_moves("tmov", "textract", "tinsert", "tstore"),),
    ),
    PtoRule(
        "accumulator-to-mat", "an accumulator leaves for mat as Nz of 512 bytes, on A5 as Nz, ND or DN",
        "CheckTMovAccToMat of A2A3, CheckTMovAccValid of A5", _accumulator_target,
        enforcements=(of_moves("tmov", "textract", "tinsert"),),
    ),
    PtoRule(
        "extract-columns", "textract of an accumulator makes Nz or ND",
        "TExtract.hpp of A5: one assertion allows DN, another does not", _extracted_columns,
        enforcements=(of_moves("textract", kind=RuleKind.UNSPECIFIED, profiles=(A5,)),),
    ),
    PtoRule(
        "accumulator-source", "an accumulator that leaves for mat or vec is Nz",
        "CheckTMovAccToMat of A2A3, CheckTMovAccValid of A5", _accumulator_source,
        enforcements=(of_moves("tmov", "textract", "tinsert"),),
    ),
    PtoRule(
        "extract-window", "the block is inside the source (A2A3, A5: physical extents; CPU: valid ones)",
        "TExtract.hpp", _inside("source", "target"),
        enforcements=(*_INDEXED, of_moves("textract", kind=RuleKind.RUN_TIME, profiles=(CPU,))),
    ),
    PtoRule(
        "insert-window", "the block is inside the target, physically",
        "TInsert.hpp: TINSERT_IMPL (the simulator's checks nothing)", _inside("target", "source"),
        enforcements=(
            of_moves("tinsert", kind=RuleKind.DEBUG_ONLY),
            of_moves("tinsert", kind=RuleKind.SILENT, profiles=(CPU,)),
        ),
    ),
    PtoRule(
        "extract-alignment", "a block begins at whole blocks, also of the transposed ones",
        "TExtract.hpp", _alignment, enforcements=_INDEXED,
    ),
)  # fmt: skip
"""Rules on where moves go, and on those from buffer to buffer."""
