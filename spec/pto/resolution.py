"""What a text means for a profile: its operands by role, with what the texts leave out filled in.

The short types of documents (``!pto.tile<16x32xf16>``) stand for the profile's alias of the operand's role;
the types of the assembler (``!pto.tile_buf<…>``) have the assembler's defaults. The blayout of a Left tile is
the NPU profile's, whatever is written, as ptoas does (contradiction 27); the headers of the
simulator keep what is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

from ..errors import InputError
from ..legality import Note, NoteKind
from .catalogue import ROLE_LOCATIONS, Operation, OperationKind
from .element_types import ElementType
from .targets import Profile, alias
from .text.statements import InstructionStatement, TextualForm
from .text.syntax import TypedValue
from .text.types import Spelling, TileType, Type
from .tile import Extent, Location, Order, Tile

Value = TypeVar("Value")

_ASSEMBLER = (Spelling.KEYED, Spelling.COMPACT)
"""Spellings whose defaults are ptoas's; the others are the documents'."""


@dataclass(frozen=True)
class Resolved:
    """An instruction as a profile sees it.

    Attributes
    ----------
    instruction : InstructionStatement
        What was written.
    profile : Profile
        For whom.
    tiles : mapping of str to Tile
        Tiles by role, as far as the text gives them.
    open : mapping of str to str
        Roles of tiles that the text does not give, and why.
    notes : tuple of Note
        What was filled in or replaced.
    layouts : tuple of str
        What the view of global memory may be, as far as its definition tells; empty where it is not known.
    numbers : mapping of str to int
        Constants by name.
    """

    instruction: InstructionStatement
    profile: Profile
    tiles: Mapping[str, Tile]
    open: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    layouts: tuple[str, ...] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)

    @property
    def operation(self) -> Operation:
        """The operation."""
        return self.instruction.operation

    def has(self, *roles: str) -> bool:
        """Whether the tiles of all these roles are known."""
        return all(role in self.tiles for role in roles)

    def location(self, role: str) -> Location | None:
        """Return where the tile of a role is, as far as it is known."""
        return self.tiles[role].location if role in self.tiles else None

    def type_of(self, role: str) -> Type | None:
        """Return the type of an operand as written; None where there is none."""
        operand = self.instruction.operands().get(role)
        return None if operand is None else operand.type

    def element(self, role: str) -> ElementType | None:
        """Return the element type of a tile or tensor view, as far as it is known."""
        if role in self.tiles:
            return self.tiles[role].element
        written = self.type_of(role)
        if written is None or not (isinstance(written, TileType) or role == self.operation.view):
            return None
        return written.element

    def extent(self, role: str) -> tuple[Extent, ...] | None:
        """Return the physical extent of a tile, or the extents of a tensor view, as far as they are known."""
        if role in self.tiles:
            return self.tiles[role].rows, self.tiles[role].columns
        written = self.type_of(role)
        if isinstance(written, TileType):
            rows, columns = written.rows, written.columns
            return None if rows is None or columns is None else (rows, columns)
        return None if written is None or not written.extents else written.extents


def resolve(instruction: InstructionStatement, profile: Profile) -> Resolved:
    """Fill in what a text leaves out, and require that every tile is then known.

    Raises
    ------
    InputError
        If the text does not give a tile's type.
    """
    resolved = resolve_known(instruction, profile)
    for role, reason in resolved.open.items():
        raise InputError(f"{instruction.operation}: {role} can't be resolved: {reason}")
    return resolved


def resolve_known(instruction: InstructionStatement, profile: Profile) -> Resolved:
    """Fill in what a text leaves out; tiles that it does not determine are listed as `Resolved.open`."""
    tiles: dict[str, Tile] = {}
    types: dict[str, TileType] = {}
    unknown: dict[str, str] = {}
    operands = instruction.operands()
    optional = [role for role in instruction.operation.optional if _is_a_tile(operands.get(role))]
    for role in (*instruction.operation.tiles, *optional):
        written = operands[role].type if role in operands else None
        if written is not None and not isinstance(written, TileType):
            if role != instruction.operation.view:
                unknown[role] = f"{written.text} does not say where a tile is, and in what order"
            continue
        if written is None or written.spelling is Spelling.OPAQUE:
            unknown[role] = f"{Spelling.OPAQUE} says nothing" if written else "its type is not written"
            continue
        tile = tile_of_type(written, profile, _location(instruction.operation, role, written))
        if tile is None:
            unknown[role] = f"{written.spelling} does not say where the tile is; write loc=…"
        else:
            tiles[role] = _in_blocks(tile, written, instruction.operation, profile)
            types[role] = written
    notes = tuple(Note(NoteKind.FILLED_IN, text) for text in _filled_in(profile, tiles, types))
    return Resolved(instruction, profile, MappingProxyType(tiles), MappingProxyType(unknown), notes)


def applied(operation: Operation, tiles: Mapping[str, Tile], profile: Profile) -> Resolved:
    """Return an operation on tiles as a C++ program declares them: nothing is filled in or replaced.

    An accumulator ``c`` that is not given is ``d``.
    """
    if operation.accumulates and "c" not in tiles and "d" in tiles:
        tiles = {"c": tiles["d"], **tiles}

    def operand(role: str) -> TypedValue:
        storage = operation.output if role == "c" else role
        return TypedValue(f"%{storage}", written_type(tiles[role]) if role in tiles else None)

    instruction = InstructionStatement(
        operation, TextualForm.F3, tuple(map(operand, operation.inputs)), (operand(operation.output),)
    )
    missing = {role: "it is not given" for role in operation.tiles if role not in tiles}
    return Resolved(instruction, profile, MappingProxyType(dict(tiles)), MappingProxyType(missing))


def written_type(tile: Tile) -> TileType:
    """Return a tile's type with nothing left out."""
    return TileType(
        Spelling.KEYED, tile.location, tile.element, tile.rows, tile.columns, tile.valid_rows,
        tile.valid_columns, tile.blocks, tile.inner, tile.fractal, tile.pad, tile.compact,
    )  # fmt: skip


def _is_a_tile(operand: TypedValue | None) -> bool:
    return operand is not None and isinstance(operand.type, TileType)


def _location(operation: Operation, role: str, written: TileType) -> Location | None:
    if operation.kind is OperationKind.MOVE:
        return written.location
    wanted = ROLE_LOCATIONS[role]
    if role.startswith("scale_") and written.location is Location.SCALING:
        return wanted  # the assembler has one keyword for the three
    return written.location or wanted


def tile_of_type(written: TileType, profile: Profile, location: Location | None = None) -> Tile | None:
    """Return the tile that a type stands for; None where neither it nor the operand's role says where it is.

    Parameters
    ----------
    written : TileType
        The type.
    profile : Profile
        For whom.
    location : Location, optional
        Where the tile is, instead of what the type says.
    """
    location = location or written.location
    if location is None or written.element is None or written.rows is None or written.columns is None:
        return None
    extent = written.rows, written.columns
    if written.spelling in _ASSEMBLER:
        default = Tile(location, written.element, *extent, *extent)
    else:
        default = alias(profile, location, written.element, extent)
    return replace(
        default,
        valid_rows=_or(written.valid_rows, default.valid_rows),
        valid_columns=_or(written.valid_columns, default.valid_columns),
        blocks=_blocks(written, profile, location, default.blocks),
        inner=_or(written.inner, default.inner),
        fractal=_or(written.fractal, default.fractal),
        pad=_or(written.pad, default.pad),
        compact=_or(written.compact, default.compact),
    )


def _blocks(written: TileType, profile: Profile, location: Location, default: Order) -> Order:
    if location is not Location.LEFT:
        return _or(written.blocks, default)
    return profile.left_blocks if profile.cube else _or(written.blocks, profile.left_blocks)


def _in_blocks(tile: Tile, written: TileType, operation: Operation, profile: Profile) -> Tile:
    """Give a document's type of one row, which says nothing of its place, the block that kernels give it.

    The matrix unit writes blocks of 16 rows, and reads them but in its GEMV mode: a tile that really has one
    row would be illegal (pypto pull request 2185).
    """
    read_in_blocks = tile.location is Location.LEFT and operation.kind is OperationKind.MATMUL
    in_blocks = profile.cube and tile.boxed and (read_in_blocks or tile.location is Location.ACC)
    if in_blocks and written.location is None and tile.rows == 1:
        return replace(tile, rows=tile.box[0])
    return tile


def _filled_in(profile: Profile, tiles: Mapping[str, Tile], written: Mapping[str, TileType]) -> Iterator[str]:
    """Say what was filled in, and what replaced."""
    filled = [
        f"{role} {tile.location} {tile.rows}x{tile.columns} {tile.layout_name}"
        for role, tile in tiles.items()
        if written[role].location is None
    ]
    if filled:
        yield f"by the aliases of {profile}: {', '.join(filled)}"
    for role, tile in tiles.items():
        if written[role].blocks not in (None, tile.blocks):
            yield f"{role}: blayout {written[role].blocks} is replaced by {tile.blocks} (contradiction 27)"


def _or(written: Value | None, default: Value) -> Value:
    return default if written is None else written
