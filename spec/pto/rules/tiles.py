"""Rules on each tile alone, and on where it is placed.

Source: pto-isa headers at 3186c381 (`pto_tile.hpp`, `TASSIGN`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..contradictions import cited
from ..fractal import layout_of
from ..resolution import Resolved
from ..targets import A2A3, A5, CPU, Profile
from ..text.types import TileType
from ..tile import BLOCK_BYTES, FRACTAL_BYTES, LAYOUT_NAMES, Location, Order, Tile
from .enforcement import ALWAYS, Check, Enforcement, Messages, PtoRule, RuleKind

_TILE = "pto_tile.hpp, static assertions of Tile"


def _each(check: Callable[[str, Tile, Profile], Messages]) -> Check:
    """Ask of every tile that is known, of an accumulator of one type read and written only once."""

    def of_statement(resolved: Resolved, profile: Profile) -> Messages:
        for role, tile in resolved.tiles.items():
            if role != "c" or resolved.tiles.get("d") != tile:
                yield from check(role, tile, profile)

    return of_statement


@_each
def _extent(role: str, tile: Tile, _: Profile) -> Messages:
    if tile.rows < 1 or tile.columns < 1:
        yield f"{role} has {tile.rows} rows and {tile.columns} columns"


@_each
def _valid_extent(role: str, tile: Tile, _: Profile) -> Messages:
    for name, valid, extent in (
        ("rows", tile.valid_rows, tile.rows),
        ("columns", tile.valid_columns, tile.columns),
    ):
        if isinstance(valid, int) and not 1 <= valid <= extent:
            yield f"{role} has {valid} valid {name} of {extent}"


@_each
def _known_fractal(role: str, tile: Tile, _: Profile) -> Messages:
    if tile.fractal not in FRACTAL_BYTES:
        allowed = ", ".join(map(str, FRACTAL_BYTES))
        yield f"{role} has fractals of {tile.fractal} bytes; there are {allowed}"


@_each
def _whole_blocks(role: str, tile: Tile, _: Profile) -> Messages:
    if not tile.boxed or tile.fractal not in FRACTAL_BYTES:
        return
    rows, columns = tile.box
    free_rows = tile.location is Location.VEC or tile.fractal == 32 or tile.rows == 1
    if tile.columns % columns:
        yield f"{role} has {tile.columns} columns of {tile.element}, not a multiple of {columns}"
    if tile.rows % rows and not free_rows:
        yield f"{role} has {tile.rows} rows of {tile.element}, not a multiple of {rows}"


@_each
def _aligned_lines(role: str, tile: Tile, _: Profile) -> Messages:
    name, length = ("column", tile.rows) if tile.blocks is Order.COL_MAJOR else ("row", tile.columns)
    size = length * tile.element.storage_bytes
    if not tile.boxed and size % BLOCK_BYTES:
        yield f"a {name} of {role} has {size} bytes, not a multiple of {BLOCK_BYTES}"


@_each
def _inside_buffer(role: str, tile: Tile, _: Profile) -> Messages:
    if not tile.boxed or tile.fractal not in FRACTAL_BYTES or tile.columns % tile.box[1]:
        return
    order, corner = layout_of(tile), (tile.rows - 1, tile.columns - 1)
    last, size = order.offset(*corner, order.pitch(tile.rows, tile.columns)), tile.rows * tile.columns
    if last >= size > 0:
        yield f"element {corner} of {role} is number {last} of {size} ({order.name})"


def _fractal_name(resolved: Resolved, _: Profile) -> Messages:
    for role, operand in resolved.instruction.operands().items():
        written = operand.type
        if not isinstance(written, TileType) or written.fractal_name is None:
            continue
        named = written.fractal_name.upper()
        found = written.blocks and written.inner and LAYOUT_NAMES.get((written.blocks, written.inner))
        if named in ("NZ", "ZN") and found and found.upper() != named:
            yield f"{role} is {written.fractal_name} of {written.blocks} blocks, {written.inner} inside"


def _over_capacity(tile: Tile, profile: Profile) -> Messages:
    capacity = profile.capacities.get(tile.location, 0)
    if not capacity:
        yield f"{profile} has no buffer {tile.location}"
    elif tile.size > capacity:
        yield f"{tile.rows}x{tile.columns} {tile.element} are {tile.size} bytes; {profile} has {capacity}"


@_each
def _capacity(role: str, tile: Tile, profile: Profile) -> Messages:
    yield from (f"{role}: {message}" for message in _over_capacity(tile, profile))


_CAPACITY_KINDS = (Enforcement(RuleKind.STATIC, (A2A3, A5)), Enforcement(RuleKind.RUN_TIME, (CPU,)))

TILE_RULES: tuple[PtoRule[Resolved], ...] = (
    PtoRule(
        "tile-extent", "a tile has rows and columns", _TILE, _extent, enforcements=ALWAYS
    ),
    PtoRule(
        "valid-extent", "the valid region is in the tile and, where static, not empty",
        f"{_TILE}; pto-isa pull request 151 (a static 0 has no accessor)", _valid_extent,
        enforcements=ALWAYS,
    ),
    PtoRule(
        "fractal-bytes", "fractals have 512, 1024 or 32 bytes", _TILE, _known_fractal,
        enforcements=ALWAYS,
    ),
    PtoRule(
        "whole-blocks",
        "a boxed tile is whole blocks; rows are free in vec, for scale factors and for a single row",
        _TILE, _whole_blocks, cited(20), enforcements=ALWAYS,
    ),
    PtoRule(
        "buffer-range", "elements of a tile whose rows are not whole blocks lie in its buffer",
        "pto_tile.hpp, GetTileOffset (one row; of scale factors by one-row-scales=line)", _inside_buffer,
        enforcements=(Enforcement(RuleKind.SILENT),),
    ),
    PtoRule(
        "line-alignment", f"lines of a tile without boxes are multiples of {BLOCK_BYTES} bytes", _TILE,
        _aligned_lines, enforcements=ALWAYS,
    ),
    PtoRule(
        "fractal-name", "the name in a page's tile type is that of its orders",
        "pto-isa layout page; PTOAS at a56b18c3", _fractal_name, cited(20), enforcements=ALWAYS,
    ),
    PtoRule(
        "capacity", "a tile fits in its buffer, which the profile has",
        "pto-isa headers, TASSIGN<Addr>; assertion of the simulator; ptoas memory planner", _capacity,
        cited(24), enforcements=_CAPACITY_KINDS,
    ),
)  # fmt: skip
"""Rules on each tile of a statement."""


@dataclass(frozen=True)
class PlacedTile:
    """A tile and its address.

    Attributes
    ----------
    tile : Tile
        The tile.
    address : int
        Offset in its buffer, in bytes.
    """

    tile: Tile
    address: int


def _placed_capacity(placed: PlacedTile, profile: Profile) -> Messages:
    yield from _over_capacity(placed.tile, profile)


def _placed_inside(placed: PlacedTile, profile: Profile) -> Messages:
    capacity = profile.capacities.get(placed.tile.location, 0)
    end = placed.address + placed.tile.size
    if placed.address < 0 or end > capacity >= placed.tile.size:
        yield (
            f"{placed.tile.location} bytes {placed.address:#x} to {end:#x} are not in the "
            f"{capacity:#x} bytes of {profile}"
        )


def _placed_aligned(placed: PlacedTile, _: Profile) -> Messages:
    if placed.address % BLOCK_BYTES:
        yield f"address {placed.address:#x} is not a multiple of {BLOCK_BYTES}"


_TASSIGN = "pto-isa headers, TASSIGN<Addr>; TASSIGN of a run-time address checks nothing"

ADDRESS_RULES: tuple[PtoRule[PlacedTile], ...] = (
    PtoRule(
        "address-capacity", "a tile fits in its buffer, which the profile has", _TASSIGN, _placed_capacity,
        enforcements=_CAPACITY_KINDS,
    ),
    PtoRule(
        "address-range", "a tile ends inside its buffer", _TASSIGN, _placed_inside, cited(5),
        enforcements=_CAPACITY_KINDS,
    ),
    PtoRule(
        "address-alignment", f"an address is a multiple of {BLOCK_BYTES}", _TASSIGN, _placed_aligned,
        enforcements=(Enforcement(RuleKind.STATIC, (A2A3, A5)),),
    ),
)  # fmt: skip
"""Rules on the address of a tile."""
