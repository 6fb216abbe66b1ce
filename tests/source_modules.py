"""The modules of the package as they stand in the repository, parsed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tools.measure import module_files

REPOSITORY = Path(__file__).parent.parent
MODULE_FILES = module_files(REPOSITORY)
"""Of the package, by absolute name."""

RANKS = {"spec": 0, "smt": 1, "refinement": 2, "proofs": 2, "gating": 2, "reports": 3, "api": 4, "cli": 5}
"""How high each layer lies; those of one height don't know each other."""

LAYERS = tuple(RANKS)


@dataclass(frozen=True)
class Import:
    """One imported module, absolute, and whether importing the importer is enough to run it."""

    target: str
    line: int
    at_start: bool


@dataclass(frozen=True)
class Module:
    """A source file of the package.

    Attributes
    ----------
    path : Path
        Relative to the repository.
    text : str
        Its source.
    """

    path: Path
    text: str

    @property
    def name(self) -> str:
        return ".".join(("mmaproof", *self.path.with_suffix("").parts))

    @property
    def layer(self) -> str:
        return self.path.parts[0]

    def imports(self) -> list[Import]:
        """Return its imports, relative ones resolved; those for type checkers only are left out."""
        return self._imported

    @cached_property
    def _imported(self) -> list[Import]:
        package = ("mmaproof", *self.path.parts[:-1])
        return list(_imports(ast.parse(self.text), package, at_start=True))


def modules() -> list[Module]:
    """Return every module of every layer."""
    paths = sorted(path for layer in LAYERS for path in (REPOSITORY / layer).rglob("*.py"))
    return [Module(path.relative_to(REPOSITORY), path.read_text(encoding="utf-8")) for path in paths]


def _imports(node: ast.AST, package: tuple[str, ...], at_start: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                for alternative in child.orelse:
                    yield from _imports(alternative, package, at_start)
            case ast.Import(names):
                yield from (Import(alias.name, child.lineno, at_start) for alias in names)
            case ast.ImportFrom(module, names, level):
                base = package[: len(package) + 1 - level] if level else ()
                prefix = ".".join((*base, *([module] if module else [])))
                yield from (Import(f"{prefix}.{alias.name}", child.lineno, at_start) for alias in names)
            case _:
                function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
                yield from _imports(child, package, at_start and not function)
