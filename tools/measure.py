"""Size and shape of the package: statements, modules, imports, obligations on the engine.

``python -m tools.measure [ROOT] [--tsv]`` prints them for a checkout, by default the one of this file.

A statement is one of Python's (`ast.stmt`, imports and those inside of others too) that is no docstring. An
import counts wherever it stands: at the start, inside of a function, for type checkers only. A circle is a
strongly connected component of two or more modules; a chain is as long as the modules on it, of a circle all.
"""

from __future__ import annotations

import argparse
import ast
import gc
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PACKAGE = "mmaproof"

LAYERS = ("spec", "smt", "refinement", "proofs", "gating", "reports", "api", "cli")
"""The folders that are installed, besides `DOORS`."""

DOORS = "package"
"""The folder of the package's own modules."""

ENGINE = "engine/"
"""How the ids of obligations on the verifier itself begin."""

Graph = Mapping[str, frozenset[str]]
"""The modules that each module imports."""


def measures(root: Path) -> list[tuple[str, int]]:
    """Return the measures of a checkout by name, in the order in which they are printed."""
    found = module_files(root)
    trees = parsed(found)
    count = {name: statements(tree) for name, tree in trees.items()}
    graph = import_graph(trees, {name for name, path in found.items() if path.stem == "__init__"})
    circles = [part for part in components(graph) if len(part) > 1]
    rows = [("statements", sum(count.values())), ("modules", len(count))]
    for layer in LAYERS:
        own = [name for name in count if name.split(".")[1:2] == [layer]]
        rows += [
            (f"statements of {layer}", sum(count[name] for name in own)),
            (f"modules of {layer}", len(own)),
        ]
    return [
        *rows,
        ("modules flat in refinement", len(list((root / "refinement").glob("*.py")))),
        ("longest import chain", longest_chain(graph)),
        ("circles of imports", len(circles)),
        ("modules in circles", sum(map(len, circles))),
        ("obligations on the engine", _obligations(root / "proofs" / "pinned_obligations.txt")),
    ]


def parsed(files: Mapping[str, Path]) -> dict[str, ast.Module]:
    """Return the trees of modules. Most of the time would go into looking for garbage among them."""
    gc.disable()
    try:
        return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in files.items()}
    finally:
        gc.enable()


def statements(tree: ast.Module) -> int:
    """Return how many statements a module has, docstrings not counted."""
    return sum(isinstance(node, ast.stmt) and not _is_text(node) for node in ast.walk(tree))


def import_graph(trees: Mapping[str, ast.Module], packages: set[str]) -> Graph:
    """Return what modules of the package import of it, by absolute name.

    Parameters
    ----------
    trees : mapping
        The modules by absolute name; a package has its own name.
    packages : set of str
        Those that are packages.
    """
    return {
        name: frozenset(_imported(tree, name if name in packages else name.rpartition(".")[0], trees))
        - {name}
        for name, tree in trees.items()
    }


def components(graph: Graph) -> list[frozenset[str]]:
    """Return the strongly connected components, each after those that it imports (Tarjan, 1972)."""
    found: list[frozenset[str]] = []
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_names: list[str] = []
    for first in graph:
        path = [] if first in number else [(first, iter(sorted(graph[first])))]
        while path:
            name, targets = path[-1]
            if name not in number:
                number[name] = low[name] = len(number)
                open_names.append(name)
            for target in targets:
                if target not in number:
                    path.append((target, iter(sorted(graph[target]))))
                    break
                if target in open_names:
                    low[name] = min(low[name], low[target])
            else:
                path.pop()
                if low[name] == number[name]:
                    at = open_names.index(name)
                    found.append(frozenset(open_names[at:]))
                    del open_names[at:]
                elif path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[name])
    return found


def longest_chain(graph: Graph) -> int:
    """Return how many modules are on the longest chain of imports; a circle on it counts whole."""
    parts = components(graph)
    of = {name: part for part in parts for name in part}
    length: dict[frozenset[str], int] = {}
    for part in parts:
        below = {of[target] for name in part for target in graph[name]} - {part}
        length[part] = len(part) + max((length[each] for each in below), default=0)
    return max(length.values(), default=0)


def module_files(root: Path) -> dict[str, Path]:
    """Return the files of the package's modules in a checkout, by absolute name."""
    folders = [(DOORS, (PACKAGE,)), *((layer, (PACKAGE, layer)) for layer in LAYERS)]
    found = {}
    for folder, prefix in folders:
        for path in sorted((root / folder).rglob("*.py")):
            inside = path.relative_to(root / folder).with_suffix("").parts
            found[".".join((*prefix, *(part for part in inside if part != "__init__")))] = path
    return found


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a module or of a part of it, those inside of others too, but no expressions."""
    for field in ("body", "orelse", "handlers", "cases", "finalbody"):
        for node in getattr(tree, field, ()):
            if isinstance(node, ast.stmt):
                yield node
            yield from _statements(node)


def _imported(tree: ast.Module, package: str, known: Mapping[str, object]) -> Iterator[str]:
    for node in _statements(tree):
        match node:
            case ast.Import(names):
                targets = [(alias.name, "") for alias in names]
            case ast.ImportFrom(module, names, level):
                parts = package.split(".")
                base = ".".join([*parts[: len(parts) + 1 - level] * bool(level), *filter(None, [module])])
                targets = [(base, alias.name) for alias in names]
            case _:
                continue
        for base, name in targets:
            inner = f"{base}.{name}"
            if inner in known:
                yield inner
            elif base in known:
                yield base


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _obligations(pinned: Path) -> int:
    lines = pinned.read_text(encoding="utf-8").splitlines() if pinned.exists() else []
    return sum(any(word.startswith(ENGINE) for word in line.split()) for line in lines)


def main(arguments: Sequence[str]) -> None:
    """Print the measures of a checkout."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.measure", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--tsv", action="store_true", help="tabs between name and number")
    options = parser.parse_args(arguments)
    if not (options.root / DOORS / "__init__.py").is_file():
        parser.error(f"{options.root} is no checkout of {PACKAGE}")
    rows = measures(options.root)
    width = max(len(name) for name, _ in rows)
    for name, number in rows:
        print(f"{name}\t{number}" if options.tsv else f"{name:{width}} {number:8,}")


if __name__ == "__main__":
    main(sys.argv[1:])
