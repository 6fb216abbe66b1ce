"""Which files of tests depend on a module, by what they import, the nearest first."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path


def dependent_tests(module: str, package: Path, folder: Path) -> list[Path]:
    """Return the files of tests that import a module, or something that does.

    Those come first that need the fewest steps, and of these the ones whose folder mirrors the module's.
    A test that imports nothing of it, but mirrors its folder, comes last.

    Parameters
    ----------
    module : str
        Such as ``package.part.module``.
    package : Path
        The folder of the package that the module's name begins with.
    folder : Path
        Where tests are, in files that pytest collects by their names.
    """
    importers = _importers(package, folder)
    steps = {module: 0}
    waiting = [module]
    for name in waiting:  # grows: a search in breadth
        for importer in sorted(importers.get(name, ())):
            if importer not in steps:
                steps[importer] = steps[name] + 1
                waiting.append(importer)
    inside = module.split(".")[1:-1]
    found = []
    for path in sorted([*folder.rglob("test_*.py"), *folder.rglob("*_test.py")]):
        shared = _shared(inside, path.relative_to(folder).parts[:-1])
        far = steps.get(_of_test(path), 0)
        if far or (inside and shared == len(inside)):
            found.append((far or len(steps), -shared, path))
    return [path for _, _, path in sorted(found)]


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many parts two paths have in common from the beginning."""
    same = [first == second for first, second in zip(one, other, strict=False)]
    return (*same, False).index(False)


@cache
def _importers(package: Path, folder: Path) -> Mapping[str, frozenset[str]]:
    """Return who imports each module of a package, or of what tests share."""
    sources: dict[str, Path] = {}
    packages = set()
    for path in sorted(package.rglob("*.py")):
        parts = (package.name, *path.relative_to(package).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        sources[name] = path
        if parts[-1] == "__init__":
            packages.add(name)
    for path in sorted(folder.rglob("*.py")):
        beside = path.parent == folder and not path.stem.startswith("test_")
        sources[path.stem if beside else _of_test(path)] = path
    found: dict[str, set[str]] = defaultdict(set)
    for name, path in sources.items():
        inside = name if name in packages else name.rpartition(".")[0]
        for imported in _imports(ast.parse(path.read_text(encoding="utf-8")), inside):
            if imported in sources and imported != name:
                found[imported].add(name)
    return {name: frozenset(each) for name, each in found.items()}


def _of_test(path: Path) -> str:
    """Return a name for a file of tests that no module has."""
    return str(path)


def _imports(tree: ast.Module, inside: str) -> Iterator[str]:
    """Yield what may be the name of a module that a source in a package imports, here or in a function."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(aliases):
                yield from (alias.name for alias in aliases)
            case ast.ImportFrom(module, aliases, level):
                base = _absolute("." * (level or 0) + (module or ""), inside)
                yield base
                yield from (f"{base}.{alias.name}" for alias in aliases)
            case ast.Constant(str(text)) if text.replace(".", "").replace("_", "").isalnum():
                yield _absolute(text, inside)  # `import_module`, and tables of what it is given


def _absolute(name: str, inside: str) -> str:
    level = len(name) - len(name.lstrip("."))
    if not level:
        return name
    base = inside.split(".")
    return ".".join([*base[: len(base) - level + 1], *filter(None, [name[level:]])])
