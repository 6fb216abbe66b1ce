"""Where the elements of an operand lie in a buffer, by who looks for them.

A layout gives the order; what executors add is the pitch. Movers take it from a tile's physical extent, of a
compact tile from its valid extent rounded up to whole blocks. The matrix unit receives addresses and m, k, n,
and no stride: it derives the pitches from those. The CPU simulator takes physical extents everywhere.
Extents, coordinates and offsets may be ints, numpy arrays or Z3 terms.

Source: pto-isa headers at 3186c381, pto-isa issue 253; see the open point unit-pitches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import UnsupportedError
from .catalogue import ROLE_LOCATIONS, Operation
from .choices import Choices
from .element_types import ElementType
from .fractal import FractalLayout, layout_of
from .sizes import Sizes, gemv_mode, operand_extents, rounded_up
from .targets import A5, Profile, alias
from .tile import DYNAMIC, Compact, Location, Order, Tile, c0

LINEAR = FractalLayout(Order.ROW_MAJOR, Order.NONE_BOX, (1, 1))
"""Row after row, without boxes."""

DEFAULTS = Choices()

ACCUMULATORS = ("c", "d", "bias")
"""Operands whose pitches in the matrix unit maintainers confirm, or that have one row."""

GEMV_CHUNK_BYTES = 512
"""A mover fills a one-row left tile in chunks of so many bytes."""


@dataclass(frozen=True)
class Placement:
    """Where the elements of a matrix lie in a buffer.

    Attributes
    ----------
    layout : FractalLayout
        Their order.
    pitch : int or term
        Elements between neighbouring rows (Z) or columns (N) of blocks.
    """

    layout: FractalLayout
    pitch: Any

    def offset(self, row: Any, column: Any) -> Any:
        """Return the element offset of (row, column)."""
        return self.layout.offset(row, column, self.pitch)


def physical(tile: Tile) -> Placement:
    """Return the placement that a tile's physical extent gives."""
    order = layout_of(tile)
    return Placement(order, order.pitch(tile.rows, tile.columns))


def rounded(layout: FractalLayout, rows: Any, columns: Any) -> Placement:
    """Return the placement that an extent rounded up to whole blocks gives."""
    box_rows, box_columns = layout.box
    return Placement(layout, layout.pitch(rounded_up(rows, box_rows), rounded_up(columns, box_columns)))


def unit_layout(operation: Operation, profile: Profile, role: str, element: ElementType) -> FractalLayout:
    """Return the order in which the matrix unit takes an operand, whatever the tile's type says.

    It is that of the profile's alias; but A is one linear row in the GEMV mode.
    """
    if role == "a" and gemv_mode(operation, profile):
        return LINEAR
    tile = alias(profile, ROLE_LOCATIONS[role], element, (1, 1))
    return FractalLayout(tile.blocks, tile.inner, tile.box)


def unit_placement(
    operation: Operation, profile: Profile, role: str, element: ElementType, m: Any, k: Any, n: Any
) -> Placement:
    """Return where the matrix unit takes an operand from, or puts its result, derived from m, k and n."""
    return rounded(unit_layout(operation, profile, role, element), *operand_extents(m, k, n)[role])


def operand_placement(
    operation: Operation, profile: Profile, role: str, tile: Tile, sizes: Sizes, choices: Choices = DEFAULTS
) -> Placement:
    """Return where a profile's executor of products takes an operand from, or puts its result."""
    if not profile.cube:
        return physical(tile)
    if choices.unit_pitches == "physical" and role not in ACCUMULATORS:
        order = unit_layout(operation, profile, role, tile.element)
        return Placement(order, order.pitch(tile.rows, tile.columns))
    return unit_placement(operation, profile, role, tile.element, *sizes)


def mover_placement(profile: Profile, tile: Tile, valid: tuple[Any, Any]) -> Placement:
    """Return where a profile's movers put, or find, the elements of a tile.

    Parameters
    ----------
    profile, tile : Profile, Tile
        Whose mover, and what it moves.
    valid : (rows, columns)
        The tile's valid extent, which a compact tile's pitch comes from.

    Raises
    ------
    UnsupportedError
        For the compact modes of vector tiles.
    """
    if not profile.cube or tile.compact is Compact.NULL:
        return physical(tile)
    if tile.compact is not Compact.NORMAL:
        raise UnsupportedError(f"the pitch of compact mode {tile.compact.name} is not modelled")
    return rounded(layout_of(tile), *valid)


def source_placement(
    operation: Operation, profile: Profile, source: Tile, valid: tuple[Any, Any]
) -> Placement:
    """Return where a move finds the elements of its source.

    A5's ``tmov`` out of the accumulator takes a run-time number of valid rows for the physical one.
    """
    open_rows = source.location is Location.ACC and source.valid_rows is DYNAMIC
    if profile == A5 and operation.name == "tmov" and open_rows:
        return rounded(layout_of(source), *valid)
    return mover_placement(profile, source, valid)


def alignment(source: Tile, target: Tile) -> tuple[int, int]:
    """Return what the row and the column of a ``textract`` must be multiples of on the NPU.

    Only moves from L1 into the left and the right buffer are restricted.
    """
    if source.location is not Location.MAT or target.location not in (Location.LEFT, Location.RIGHT):
        return 1, 1
    if target.rows == 1 and target.location is Location.LEFT and not source.boxed:
        return 1, GEMV_CHUNK_BYTES // target.element.storage_bytes
    if source.inner is not target.inner:
        return (32, 32) if target.element.storage_bytes == 1 else (16, 16)
    k0 = c0(target.element)
    return (16, k0) if target.location is Location.LEFT else (k0, 16)
