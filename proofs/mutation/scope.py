"""Which modules of the specification take faults, and what depends on each."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ... import spec

TEXT = frozenset(
    {"contradictions", "errors", "formula", "formula_algebra", "json_text", "shown_text", "text_files"}
)
"""Modules that say what others specify: texts for people."""


@dataclass(frozen=True)
class SpecificationModule:
    """A module that takes faults.

    Attributes
    ----------
    name : str
        As it is imported.
    path : Path
        Its source.
    shown : str
        How reports name it.
    isa : str
        The instruction set that it belongs to, empty for all.
    """

    name: str
    path: Path
    shown: str
    isa: str

    def concerns(self, identifier: str) -> bool:
        """Whether an obligation may depend on it: one of its instruction set, or any for a generic module."""
        return not self.isa or identifier.startswith(f"{self.isa}/")


def modules_of(isas: Iterable[str]) -> list[SpecificationModule]:
    """Return the modules of instruction sets, and the generic ones that they or their theorems import."""
    package = Path(spec.__path__[0])
    chosen = sorted(set(isas))
    own = [path for isa in chosen for path in sorted((package / isa).glob("*.py"))]
    theorems = [
        path for part in (*chosen, "families") for path in (package.parent / "proofs" / part).glob("*.py")
    ]
    generic = _imported(package, [*own, *theorems, package / "numpy_algebra.py"])
    found = []
    for path in [*sorted(generic), *own]:
        if path.stem not in {*TEXT, "__init__"}:
            inside = path.relative_to(package).with_suffix("").parts
            isa = inside[0] if len(inside) > 1 else ""
            name = ".".join((spec.__name__, *inside))
            found.append(SpecificationModule(name, path, "/".join(("spec", *inside)) + ".py", isa))
    return found


def _imported(package: Path, importers: Iterable[Path]) -> set[Path]:
    """Return the modules directly in a package that others import, and those that these import."""
    found: set[Path] = set()
    waiting = list(importers)
    while waiting:
        importer = waiting.pop()
        if importer.parent == package:
            if importer in found:
                continue
            found.add(importer)
        for node in ast.walk(ast.parse(importer.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                target = importer.parents[node.level - 1].joinpath(*(node.module or "").split("."))
                candidates = [
                    target.with_suffix(".py"),
                    *(target / f"{alias.name}.py" for alias in node.names),
                ]
                waiting += [path for path in candidates if path.parent == package and path.is_file()]
    return found
