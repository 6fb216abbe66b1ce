"""Tables as they stand in files: rows of named cells, each with its line."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..spec.errors import InputError
from ..spec.findings import Position
from ..spec.text_files import read_text

Cell = Any
"""A cell as JSON has it; every cell of a CSV file is a string."""

_NumberedCells = tuple[int, Mapping[str, Cell]]
"""The line where a row begins, and its cells."""


@dataclass(frozen=True)
class RawRow:
    """A row.

    Attributes
    ----------
    at : Position
        Where it stands.
    cells : mapping of str to cell
        By the names of the file's columns; blank cells of a CSV file are left out.
    """

    at: Position
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class Document:
    """A file of rows.

    Attributes
    ----------
    path : Path
        The file.
    header : mapping of str to cell
        What a JSON document says besides its rows.
    rows : tuple of RawRow
        Its rows.
    """

    path: Path
    header: Mapping[str, Cell]
    rows: tuple[RawRow, ...]

    @classmethod
    def of(
        cls, path: Path, header: Mapping[str, Cell], cells: Iterable[tuple[int, Mapping[str, Cell]]]
    ) -> Document:
        """Return the document whose rows begin in lines, and have cells; and have cells."""
        listed = list(cells)
        sharing = Counter(line for line, _ in listed)
        rows = (
            RawRow(Position(line, number if sharing[line] > 1 else 0), each)
            for number, (line, each) in enumerate(listed, start=1)
        )
        return cls(path, header, tuple(rows))

    @property
    def is_lock(self) -> bool:
        """Whether ``mmaproof tables --format json`` wrote it."""
        return "table" in self.header and "isa" in self.header


def read_document(path: Path) -> Document:
    """Read a table: CSV by its name, else JSON or one JSON object a line.

    Raises
    ------
    InputError
        If it can't be read, or is malformed; it names the line.
    """
    text = read_text(path)
    if path.suffix.lower() in (".csv", ".tsv"):
        return Document.of(path, {}, _csv_rows(path, text))
    return _JsonText(path, text).document()


def _csv_rows(path: Path, text: str) -> Iterator[_NumberedCells]:
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    delimiter = max("\t,;", key=first.count)
    reader = csv.reader(
        text.splitlines(keepends=True), delimiter=delimiter, strict=True, skipinitialspace=True
    )
    titles: list[str] | None = None
    line = 1
    try:
        for fields in reader:
            begin, line = line, reader.line_num + 1
            cells = [field.strip() for field in fields]
            if not any(cells) or cells[0].startswith("#"):
                continue
            if titles is None:
                titles = _titles(cells, f"{path}:{begin}")
                continue
            if len(cells) != len(titles):
                message = f"{len(cells)} cells under {len(titles)} columns ({', '.join(titles)})"
                raise InputError(message, f"{path}:{begin}")
            yield begin, {title: cell for title, cell in zip(titles, cells, strict=True) if cell}
    except csv.Error as reason:
        raise InputError(f"malformed CSV: {reason}", f"{path}:{max(line, reader.line_num)}") from None
    if titles is None:
        raise InputError("no column titles: the file is empty", f"{path}:1")


def _titles(cells: list[str], where: str) -> list[str]:
    if "" in cells:
        raise InputError(f"column {cells.index('') + 1} has no title", where)
    if twice := [title for title in cells if cells.count(title) > 1]:
        raise InputError(f"two columns are called {twice[0]!r}", where)
    return cells


class _NotJsonError(ValueError):
    """What the decoder takes, and JSON is not: a key that stands there twice, NaN."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise _NotJsonError(f"the key {next(n for n in names if names.count(n) > 1)!r} stands there twice")
    return found


def _not_a_number(text: str) -> Any:
    raise _NotJsonError(f"{text} is not JSON")


_BLANK = re.compile(r"[ \t\r\n]*")


class _JsonText:
    """A JSON text that is read value by value, so that the line of every row is known."""

    _decoder = json.JSONDecoder(
        object_pairs_hook=_object,
        parse_float=str,  # PTX 8.10 is not 8.1
        parse_constant=_not_a_number,
    )

    def __init__(self, path: Path, text: str) -> None:
        self._path, self._text = path, text
        self._position = 0
        self._line, self._counted = 1, 0

    def document(self) -> Document:
        """Return the rows, and what stands beside them."""
        match self._peek():
            case "[":
                document = Document.of(self._path, {}, self._rows())
            case "{" if self._path.suffix.lower() != ".jsonl" and not self._one_object_a_line():
                document = self._members()
            case "{":
                return Document.of(self._path, {}, self._lines())
            case _:
                raise self._error(
                    'a table is an array of rows, an object with "rows", or an object a line; '
                    "one of CSV has a name that ends in .csv or .tsv"
                )
        if self._peek():
            raise self._error("text after the end of the document")
        return document

    def _where(self) -> str:
        self._line += self._text.count("\n", self._counted, self._position)
        self._counted = self._position
        return f"{self._path}:{self._line}"

    def _error(self, message: str) -> InputError:
        return InputError(message, self._where())

    def _peek(self) -> str:
        blank = _BLANK.match(self._text, self._position)
        assert blank is not None
        self._position = blank.end()
        return self._text[self._position : self._position + 1]

    def _expect(self, marks: str) -> str:
        found = self._peek()
        if not found or found not in marks:
            wanted = " or ".join(repr(mark) for mark in marks)
            raise self._error(f"not JSON: {wanted} is expected, not {found or 'the end'!r}")
        self._position += 1
        return found

    def _value(self) -> Any:
        self._peek()
        begin = self._where()
        try:
            value, self._position = self._decoder.raw_decode(self._text, self._position)
        except _NotJsonError as reason:
            raise InputError(str(reason), begin) from None
        except json.JSONDecodeError as reason:
            self._position = max(reason.pos, self._counted)
            raise self._error(f"not JSON: {reason.msg}") from None
        except (RecursionError, ValueError) as reason:
            raise InputError(f"not JSON that can be read: {reason}", begin) from None
        return value

    def _row(self) -> _NumberedCells:
        self._peek()
        where = self._where()
        line = self._line
        value = self._value()
        if not isinstance(value, dict):
            raise InputError(f"a row is an object of cells, not {json.dumps(value)[:60]}", where)
        return line, {name: cell for name, cell in value.items() if cell is not None and cell != ""}

    def _rows(self) -> Iterator[_NumberedCells]:
        self._expect("[")
        if self._peek() == "]":
            self._position += 1
            return
        while True:
            yield self._row()
            if self._expect(",]") == "]":
                return

    def _lines(self) -> Iterator[_NumberedCells]:
        while self._peek():
            yield self._row()

    def _one_object_a_line(self) -> bool:
        """Whether the first line is an object, and more follow."""
        first, _, rest = self._text[self._position :].partition("\n")
        return first.rstrip().endswith("}") and rest.lstrip().startswith("{")

    def _members(self) -> Document:
        self._expect("{")
        header: dict[str, Any] = {}
        rows: list[_NumberedCells] | None = None
        if self._peek() == "}":
            raise self._error('a table has "rows"; this object is empty')
        while True:
            self._peek()
            where = self._where()
            name = self._value()
            if not isinstance(name, str):
                raise InputError("not JSON: a key is expected", where)
            self._expect(":")
            if name in header or (name == "rows" and rows is not None):
                raise InputError(f"the key {name!r} stands there twice", where)
            if name == "rows":
                if self._peek() != "[":
                    raise self._error('"rows" is an array of objects')
                rows = list(self._rows())
            else:
                header[name] = self._value()
            if self._expect(",}") == "}":
                break
        if rows is None:
            raise InputError('a table has "rows"', f"{self._path}:1")
        return Document.of(self._path, header, rows)
