"""The map of the engine: the folders of `refinement`, from the bottom up, and what each may import.

`docs/engine.md` has it as a table, which is read here; a module that lies in no folder is a row of its own.
"""

from __future__ import annotations

import re
from pathlib import Path

from source_modules import REPOSITORY

from tools.measure import Graph

PACKAGE = "mmaproof.refinement"

LANGUAGES = ("ptx", "power", "pto")
"""Folders with folders of their own."""

PAGE = REPOSITORY / "docs" / "engine.md"

_ROW = re.compile(r"^\| `(?P<place>[\w.]+)` \| (?P<imports>[^|]*) \| (?P<what>[^|]+) \|$", re.MULTILINE)


def place(module: str) -> str:
    """Return the row that a module of the engine belongs to, by its absolute name."""
    parts = module.removeprefix(PACKAGE + ".").split(".")
    return ".".join(parts[:2]) if parts[0] in LANGUAGES else parts[0]


def rows(page: Path = PAGE) -> dict[str, frozenset[str]]:
    """Return what each row of the map may import, from the bottom up."""
    found = _ROW.finditer(page.read_text(encoding="utf-8"))
    return {each["place"]: frozenset(re.findall(r"`([\w.]+)`", each["imports"])) for each in found}


def descriptions(page: Path = PAGE) -> dict[str, str]:
    """Return what the map says that each row is for."""
    return {each["place"]: each["what"] for each in _ROW.finditer(page.read_text(encoding="utf-8"))}


def source(row: str) -> Path:
    """Return the file whose docstring describes a row: a module, or the `__init__` of a folder."""
    path = REPOSITORY / "refinement" / row.replace(".", "/")
    module = path.with_suffix(".py")
    return module if module.exists() else path / "__init__.py"


def edges(graph: Graph) -> dict[str, set[str]]:
    """Return the rows that modules of each row import of."""
    own = {name for name in graph if name.startswith(PACKAGE + ".") and _is_code(name)}
    found: dict[str, set[str]] = {place(name): set() for name in own}
    for name in own:
        found[place(name)] |= {place(target) for target in graph[name] & own} - {place(name)}
    return found


def _is_code(module: str) -> bool:
    return place(module) not in LANGUAGES
