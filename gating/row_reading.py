"""Reading the rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..spec.errors import InputError, UnsupportedError
from ..spec.findings import Position
from . import columns
from .cell_reading import statement_of, vocabulary_of
from .columns import INSTRUCTION, ISA, LAYOUT, LEGAL, OPERAND, PTX, SHAPE, TARGET, TYPES
from .documents import Document, RawRow
from .rows import AnyRow, Defaults, LayoutRow, Row, Undecidable, place_words


def read_rows(document: Document, defaults: Defaults) -> Iterator[AnyRow]:
    """Read the rows of a table.

    Raises
    ------
    InputError
        If one is malformed; it names the line.
    """
    try:
        own = _header(document.header, defaults)
    except InputError as reason:
        raise InputError(str(reason), f"{document.path}:1") from None
    for raw in document.rows:
        try:
            yield _row(raw, own)
        except InputError as reason:
            raise InputError(str(reason), f"{document.path}:{raw.at}") from None


_BESIDES = ("schema", "defaults", "columns", "title")
"""Members of a JSON table besides its rows and the values of columns."""


def _header(header: Mapping[str, Any], defaults: Defaults) -> Defaults:
    if header.get("schema", 1) != 1:
        raise InputError(f"schema {header['schema']!r} is not known; this mmaproof reads schema 1")
    renaming = header.get("columns", {})
    if not isinstance(renaming, Mapping) or not all(isinstance(new, str) for new in renaming.values()):
        raise InputError('"columns" is an object of column names')
    renamed = {**{old: columns.renamed(new) for old, new in renaming.items()}, **defaults.renamed}
    stated = header.get("defaults", {})
    if not isinstance(stated, Mapping):
        raise InputError('"defaults" is an object of cells')
    beside = {name: cell for name, cell in header.items() if name not in _BESIDES}
    return Defaults({**defaults.cells, **_named({**beside, **stated}, renamed)}, renamed)


def _named(cells: Mapping[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    """Return the cells by the names of the columns; those of a cell of types by themselves."""
    found: dict[str, Any] = {}
    for title, cell in cells.items():
        name = renamed[title] if title in renamed else columns.column_named(title)
        if not name:
            continue
        if name in found:
            raise InputError(f"two columns mean {name!r}; one is {title!r}")
        found[name] = columns.as_stated(name, title, cell)
    if TYPES in found:
        for title, cell in columns.type_columns(found.pop(TYPES)).items():
            name = columns.column_named(title)
            if name and found.setdefault(name, cell) != cell:
                raise InputError(f"'types' says {name} = {cell}, the column {found[name]}")
    extents = {name: found.pop(name) for name in "mnk" if name in found}
    if extents:
        if SHAPE in found:
            raise InputError("a shape is one column, or m, n and k")
        found[SHAPE] = extents
    return found


def _row(raw: RawRow, defaults: Defaults) -> AnyRow:
    stated = _named(raw.cells, defaults.renamed)
    if not stated:
        raise InputError("the row states nothing")
    if OPERAND in stated:
        return _layout_row(raw.at, {**defaults.cells, **stated})
    if stated.keys() <= {TARGET, PTX, LEGAL, ISA}:
        raise InputError("the row states no instruction, shape or element type")
    cells = {**defaults.cells, **stated}
    legal = columns.truth(cells.pop(LEGAL, True))
    target = columns.listed(TARGET, cells.pop(TARGET)) if TARGET in cells else ()
    ptx = columns.listed(PTX, cells.pop(PTX)) if PTX in cells else ()
    try:
        statement = statement_of(cells, target[0] if target else "")
    except UnsupportedError as reason:
        return _undecidable(raw.at, cells, place_words(target, ptx), legal, reason)
    return Row(raw.at, statement, legal, target, ptx)


def _undecidable(
    at: Position, cells: Mapping[str, Any], where: str, legal: bool, reason: UnsupportedError
) -> Undecidable:
    named = " ".join(str(cell) if name == INSTRUCTION else f"{name}={cell}" for name, cell in cells.items())
    return Undecidable(at, f"{named}{where}", "legal" if legal else "illegal", str(reason))


def _layout_row(at: Position, cells: dict[str, Any]) -> LayoutRow | Undecidable:
    missing = [name for name in (INSTRUCTION, OPERAND, LAYOUT) if name not in cells]
    if missing:
        raise InputError(
            f"a layout row has an instruction, an operand and a layout; {missing[0]!r} is missing"
        )
    instruction, operand, target = cells[INSTRUCTION], cells[OPERAND], cells.get(TARGET)
    if not isinstance(instruction, str) or not isinstance(operand, str):
        raise InputError("the instruction and the operand of a layout row are text")
    if target is not None and not isinstance(target, str):
        raise InputError("the target of a layout row is text")
    legal = columns.truth(cells.pop(LEGAL, True))
    try:
        words = vocabulary_of(cells.get(ISA), instruction, target or "")
        words.name_of(instruction)
        if target is not None:
            words.targets(target)
    except UnsupportedError as reason:
        return _undecidable(at, cells, "", legal, reason)
    return LayoutRow(at, " ".join(instruction.split()), operand.strip(), cells[LAYOUT], target, legal)
