"""Which tables are compared, and how: the command line's options, or ``mmaproof.toml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..spec.errors import InputError
from ..spec.text_files import read_text
from ..spec.toml_text import parse_toml
from . import columns
from .rows import Defaults


@dataclass(frozen=True)
class GivenTable:
    """A file to compare.

    Attributes
    ----------
    path : Path
        The file.
    defaults : Defaults
        What holds for its rows.
    complete : bool
        Whether what it misses is reported.
    """

    path: Path
    defaults: Defaults = field(default_factory=Defaults)
    complete: bool = False


@dataclass(frozen=True)
class GateSettings:
    """A comparison.

    Attributes
    ----------
    tables : tuple of GivenTable
        What is compared.
    allow : Path, optional
        The file of accepted differences.
    allow_undecided : bool
        Whether undecided rows are let pass.
    """

    tables: tuple[GivenTable, ...]
    allow: Path | None = None
    allow_undecided: bool = False


def settings(files: Sequence[Path], defaults: Defaults, complete: bool) -> GateSettings:
    """Return the settings of files, TOML files among them naming further ones.

    Raises
    ------
    InputError
        If a TOML file is wrong, or two of them name files of accepted differences.
    """
    tables: list[GivenTable] = []
    allow: Path | None = None
    undecided = False
    for file in files:
        if file.suffix.lower() != ".toml":
            tables.append(GivenTable(file, defaults, complete))
            continue
        found = read_settings(file, defaults, complete)
        tables += found.tables
        undecided |= found.allow_undecided
        if found.allow is not None and allow is not None:
            raise InputError(f"{allow} is the file of accepted differences already", str(file))
        allow = allow or found.allow
    return GateSettings(tuple(tables), allow, undecided)


_GATE_KEYS = ("allow", "allow-undecided", "complete", "table")


def read_settings(path: Path, defaults: Defaults, complete: bool) -> GateSettings:
    """Read ``mmaproof.toml``; the paths in it are relative to it.

    Raises
    ------
    InputError
        If it is malformed.
    """
    document = parse_toml(read_text(path), str(path))
    gate = document.get("gate")
    if not isinstance(gate, dict):
        raise InputError(
            "it has no [gate], which names tables; rows are written in JSON or CSV (docs/gate.md)", str(path)
        )
    if unknown := sorted(set(gate) - set(_GATE_KEYS)):
        raise InputError(f"[gate] has no {unknown[0]!r}; it has {', '.join(_GATE_KEYS)}", str(path))
    entries = gate.get("table", [])
    if not isinstance(entries, list) or not entries or not all(isinstance(each, dict) for each in entries):
        raise InputError("it names no table: [[gate.table]] with file = …", str(path))
    everything = complete or _flag(path, gate, "complete")
    tables = [table for entry in entries for table in _tables(path, entry, defaults, everything)]
    allow = gate.get("allow")
    if allow is not None and not isinstance(allow, str):
        raise InputError("'allow' is the name of a file", str(path))
    return GateSettings(
        tuple(tables), path.parent / allow if allow else None, _flag(path, gate, "allow-undecided")
    )


def _flag(path: Path, entry: Mapping[str, Any], key: str, default: bool = False) -> bool:
    value = entry.get(key, default)
    if not isinstance(value, bool):
        raise InputError(f"{key!r} is true or false, not {value!r}", str(path))
    return value


def _tables(path: Path, entry: Mapping[str, Any], defaults: Defaults, complete: bool) -> list[GivenTable]:
    rest = dict(entry)
    file, renaming = rest.pop("file", None), rest.pop("columns", {})
    whole = _flag(path, rest, "complete", complete)
    rest.pop("complete", None)
    if not isinstance(file, str):
        raise InputError("[[gate.table]] names a file: file = …", str(path))
    if not isinstance(renaming, dict) or not all(isinstance(new, str) for new in renaming.values()):
        raise InputError(f"{file}: 'columns' is a table of column names", str(path))
    try:
        renamed = {old: columns.renamed(new) for old, new in renaming.items()}
        cells = {columns.column_named(name) or name: cell for name, cell in rest.items()}
    except InputError as reason:
        raise InputError(f"{file}: {reason}", str(path)) from None
    own = Defaults({**cells, **defaults.cells}, {**renamed, **defaults.renamed})
    paths = sorted(path.parent.glob(file)) if any(mark in file for mark in "*?") else [path.parent / file]
    if not paths:
        raise InputError(f"no file is called {file}", str(path))
    return [GivenTable(each, own, whole) for each in paths]
