"""Rows of a table in the words of an instruction set: what each of them claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any

from ...spec.errors import InputError, UnsupportedError
from ...spec.instruction_set import NAMES, instruction_set, of_instruction, of_target
from . import columns
from .columns import INSTRUCTION, ISA, LAYOUT, LEGAL, OPERAND, PTX, SHAPE, TARGET, TYPES, Values
from .documents import Document, RawRow
from .vocabulary import Vocabulary, first_word, vocabulary


@dataclass(frozen=True)
class Defaults:
    """What holds for every row that does not say otherwise.

    Attributes
    ----------
    cells : mapping of str to cell
        By column.
    renamed : mapping of str to str
        The columns that titles of the file mean; "" for one to ignore.
    """

    cells: Mapping[str, Any] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Statement:
    """What a row is about; rows with the same cells share it.

    Attributes
    ----------
    vocabulary : Vocabulary
        Of its instruction set.
    text : str, optional
        The instruction, where it is written in full.
    cells : mapping of str to Values
        What its columns state, where it is not.
    """

    vocabulary: Vocabulary
    text: str | None
    cells: Mapping[str, Values]

    @cached_property
    def words(self) -> str:
        """The statement in words."""
        return self.text if self.text is not None else _describe(self.cells)


@dataclass(frozen=True)
class Row:
    """What a row claims.

    Attributes
    ----------
    line : int
        Where it begins.
    statement : Statement
        What it is about.
    legal : bool
        Whether it calls that legal.
    target, ptx : Values
        As written; empty where nothing is said.
    """

    line: int
    statement: Statement
    legal: bool
    target: Values
    ptx: Values

    @property
    def subject(self) -> str:
        """The row in words."""
        return f"{self.statement.words}{_where(self.target, self.ptx)}"

    @property
    def verdict(self) -> str:
        """What it says."""
        return "legal" if self.legal else "illegal"


@dataclass(frozen=True)
class LayoutRow:
    """A row that states a layout.

    Attributes
    ----------
    line : int
        Where it begins.
    instruction, operand : str
        Whose layout.
    layout : cell
        As another tool writes it.
    target : str, optional
        Where layouts depend on it.
    legal : bool
        Whether it is said to be the layout.
    """

    line: int
    instruction: str
    operand: str
    layout: Any
    target: str | None
    legal: bool

    @property
    def subject(self) -> str:
        """The row in words."""
        return f"{self.operand} of {self.instruction}"


@dataclass(frozen=True)
class Undecidable:
    """A row about something that is not modelled.

    Attributes
    ----------
    line : int
        Where it begins.
    subject : str
        The row in words.
    verdict : str
        What it says.
    because : str
        What is not modelled.
    """

    line: int
    subject: str
    verdict: str
    because: str


AnyRow = Row | LayoutRow | Undecidable


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
            raise InputError(str(reason), f"{document.path}:{raw.line}") from None


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
        found[name] = cell
    if TYPES in found:
        for name, cell in columns.type_columns(found.pop(TYPES)).items():
            if found.setdefault(columns.column_named(name) or name, cell) != cell:
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
        return _layout_row(raw.line, {**defaults.cells, **stated})
    if stated.keys() <= {TARGET, PTX, LEGAL, ISA}:
        raise InputError("the row states no instruction, shape or element type")
    cells = {**defaults.cells, **stated}
    legal = columns.truth(cells.pop(LEGAL, True))
    target = columns.listed(TARGET, cells.pop(TARGET)) if TARGET in cells else ()
    ptx = columns.listed(PTX, cells.pop(PTX)) if PTX in cells else ()
    try:
        statement = _statement(cells, target[0] if target else "")
    except UnsupportedError as reason:
        named = " ".join(
            str(cell) if name == INSTRUCTION else f"{name}={cell}" for name, cell in cells.items()
        )
        verdict = "legal" if legal else "illegal"
        return Undecidable(raw.line, f"{named}{_where(target, ptx)}", verdict, str(reason))
    return Row(raw.line, statement, legal, target, ptx)


def _statement(cells: Mapping[str, Any], target: str) -> Statement:
    items = tuple(cells.items())
    return (
        _shared_statement(items, target)
        if all(type(cell) is str for _, cell in items)
        else _read(items, target)
    )


@lru_cache(maxsize=1 << 17)
def _shared_statement(items: tuple[tuple[str, str], ...], target: str) -> Statement:
    return _read(items, target)


def _read(items: tuple[tuple[str, Any], ...], target: str) -> Statement:
    cells = dict(items)
    text = cells.get(INSTRUCTION)
    words = _vocabulary(cells.pop(ISA, None), text, target)
    if isinstance(text, str) and _is_full(words, text, cells):
        return _of_text(words, text, cells)
    return Statement(words, None, {name: _values(words, name, cell) for name, cell in cells.items()})


@lru_cache(maxsize=4096)
def _where(target: Values, ptx: Values) -> str:
    """Return where a row says that an instruction is legal or not, in words."""
    at = f" on {'|'.join(target)}" if target else ""
    return at + (f", PTX {'|'.join(ptx)}" if ptx else "")


def _isa_of(text: str, target: str) -> str:
    if not target:
        return of_instruction(text, None).name
    if re.match(r"\s*>?=?\s*(sm|compute|cc)?[_ ]?\d", target.lower()) or target.lower().startswith("sm"):
        return "ptx"
    if re.match(r"\s*(pwr|power_?)\d", target.lower()):
        return "power"
    if "*" in target or "?" in target or target.endswith("+"):
        return of_instruction(text, None).name
    return of_target(target).name


_PTX_WORDS = ("mma", "wmma", "ldmatrix", "stmatrix", "movmatrix", "wgmma", "tcgen05", "nvgpu", "nvvm")


def _vocabulary(isa: Any, text: Any, target: str) -> Vocabulary:
    if isa is not None:
        if isa not in NAMES:
            raise InputError(f"unknown ISA {isa!r}; known: {', '.join(NAMES)}")
        return vocabulary(isa)
    first = text if isinstance(text, str) else str(text[0]) if isinstance(text, list) and text else ""
    if not target and (not first or first_word(first) in _PTX_WORDS):
        return vocabulary("ptx")
    return vocabulary(_isa_of(first, target))


def _is_full(words: Vocabulary, text: str, stated: Mapping[str, Any]) -> bool:
    """Whether an instruction is written in full, not only named."""
    plain = text.strip()
    if len(stated) == 1 and words.isa.name != "ptx":
        return not columns.is_pattern(plain)
    if columns.is_pattern(plain) or "|" in plain:
        return False
    return words.normal(INSTRUCTION, plain) not in _names(words) if words.isa.name != "pto" else "%" in plain


@cache
def _names(words: Vocabulary) -> frozenset[str]:
    return frozenset(point.cells[INSTRUCTION] for point in words.points())


def _of_text(words: Vocabulary, text: str, cells: Mapping[str, Any]) -> Statement:
    words.name_of(text)
    plain = " ".join(text.split())
    read = words.read(plain)
    for name, cell in cells.items():
        if name == INSTRUCTION or read is None:
            continue
        said = _values(words, name, cell)
        if read.get(name) not in said:
            raise InputError(
                f"column {name!r} says {'|'.join(said)}, the instruction {read.get(name, 'nothing')}"
            )
    return Statement(words, plain, {})


def _values(words: Vocabulary, name: str, cell: Any) -> Values:
    if name == SHAPE:
        return columns.shapes(cell)
    values = tuple(_normal(words, name, value) for value in columns.listed(name, cell))
    if name == INSTRUCTION:
        for value in values:
            if value not in _names(words) and not columns.is_pattern(value):
                words.name_of(value)
    return values


@lru_cache(maxsize=65536)
def _normal(words: Vocabulary, name: str, value: str) -> str:
    return value if columns.is_pattern(value) else words.normal(name, value)


def _describe(values: Mapping[str, Values]) -> str:
    alone = (INSTRUCTION, SHAPE)
    parts = ["|".join(values[name]) for name in alone if name in values]
    parts += [f"{name}={'|'.join(value)}" for name, value in values.items() if name not in alone]
    return " ".join(parts)


def _layout_row(line: int, cells: Mapping[str, Any]) -> LayoutRow:
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
    if target is not None and target not in instruction_set(of_instruction(instruction).name).targets:
        of_target(target)
    legal = columns.truth(cells.get(LEGAL, True))
    return LayoutRow(line, " ".join(instruction.split()), operand.strip(), cells[LAYOUT], target, legal)
