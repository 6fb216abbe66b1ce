"""TOML documents in which every value knows its line and every key has to be known."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ...spec.errors import InputError
from ...spec.text_files import read_text
from ...spec.toml_text import parse_toml

KeyPath = tuple[str | int, ...]

_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.\-\s\"']+?)\s*\]\]?")
_KEY = re.compile(r"\s*([\w\-]+|\"[^\"]*\"|'[^']*')\s*=")
_SHOWN = 60


def shown(value: Any) -> str:
    """Return a value as a message shows it."""
    text = str(value) if isinstance(value, bool | int | float) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


@dataclass(frozen=True)
class Table:
    """A table of a document.

    Attributes
    ----------
    values : mapping
        What is in it.
    file : str
        The document.
    lines : mapping
        The lines of tables and keys by their paths.
    path : tuple
        Of this table: names, and numbers in arrays of tables.
    """

    values: Mapping[str, Any]
    file: str
    lines: Mapping[KeyPath, int]
    path: KeyPath = ()

    def where(self, key: str | None = None) -> str:
        """Return ``file:line`` of a key, or of the table; ``file`` where the line is not known."""
        path = self.path if key is None else (*self.path, key)
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.file}:{self.lines[path]}" if path else self.file

    def error(self, key: str | None, message: str) -> InputError:
        """Return an error about a key, or about the table."""
        return InputError(message, self.where(key))

    @property
    def name(self) -> str:
        """The table as its header spells it."""
        names = ".".join(part for part in self.path if isinstance(part, str))
        return f"[[{names}]]" if any(isinstance(part, int) for part in self.path) else f"[{names}]"

    def check_keys(self, allowed: Collection[str]) -> None:
        """Refuse keys that are not allowed."""
        for key in self.values:
            if key not in allowed:
                close = get_close_matches(key[:_SHOWN], allowed, n=1)
                hint = f"did you mean {close[0]}?" if close else f"allowed: {', '.join(allowed)}"
                inside = f" in {self.name}" if self.path else ""
                raise self.error(key, f"unknown key {shown(key)}{inside}; {hint}")

    def require(self, key: str, what: str) -> Any:
        """Return the value of a key that must be there."""
        if key not in self.values:
            raise self.error(None, f"{self.name} has no {key}: {what}")
        return self.values[key]

    def text(self, key: str) -> str | None:
        """Return a string, or None where there is none."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise self.error(key, f"{key} must be a string, not {shown(value)}")
        return value

    def choice(self, key: str, allowed: Collection[str], default: str) -> str:
        """Return one of the strings allowed."""
        value = self.values.get(key, default)
        if not isinstance(value, str) or value not in allowed:
            raise self.error(key, f"{key} must be one of {', '.join(allowed)}, not {shown(value)}")
        return value

    def integer(self, key: str, least: int, most: int, default: int) -> int:
        """Return an integer in a range."""
        value = self.values.get(key, default)
        if not is_integer(value) or not least <= value <= most:
            raise self.error(key, f"{key} must be an integer from {least} to {most}, not {shown(value)}")
        found: int = value
        return found

    def without(self, key: str) -> Table:
        """Return the table without a key."""
        return replace(self, values={name: value for name, value in self.values.items() if name != key})

    def table(self, key: str) -> Table:
        """Return a table in this one; an empty one where there is none."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, f"{key} must be a table [{key}], not {shown(value)}")
        return Table(value, self.file, self.lines, (*self.path, key))

    def tables(self, key: str) -> list[Table]:
        """Return an array of tables, or a single table as one."""
        value = self.values.get(key, [])
        if isinstance(value, dict):
            return [self.table(key)]
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.error(key, f"{key} must be tables [[{key}]], not {shown(value)}")
        return [
            Table(each, self.file, self.lines, (*self.path, key, number)) for number, each in enumerate(value)
        ]


def is_integer(value: Any) -> bool:
    """Tell whether a value is an integer (a truth value is not)."""
    return isinstance(value, int) and not isinstance(value, bool)


def read_document(path: Path) -> Table:
    """Read a TOML file.

    Raises
    ------
    InputError
        If the file can't be read, or is no TOML; the message names the line.
    """
    return parse_document(read_text(path), str(path))


def parse_document(text: str, file: str) -> Table:
    """Read TOML text; raises as `read_document`."""
    return Table(parse_toml(text, file), file, _lines(text.split("\n")))


def _lines(texts: Sequence[str]) -> dict[KeyPath, int]:
    """Return the lines of table headers and of keys at the beginning of a line."""
    lines: dict[KeyPath, int] = {}
    counts: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for number, text in enumerate(texts, start=1):
        if header := _HEADER.match(text):
            table = ()
            for name in header[2].strip("\"' ").split("."):
                if table in counts:
                    table = (*table, counts[table] - 1)
                table = (*table, name)
            lines.setdefault(table, number)
            if header[1] == "[[":
                counts[table] = counts.get(table, 0) + 1
                table = (*table, counts[table] - 1)
                lines.setdefault(table, number)
        elif key := _KEY.match(text):
            lines.setdefault((*table, key[1].strip("\"'")), number)
    return lines
