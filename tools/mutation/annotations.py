"""What only annotations read: a name for a type, which nothing looks at when a program runs."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property


class Annotations:
    """Which names of modules are read outside of annotations.

    Names are compared as they are spelled, whatever module they are of: one that is read anywhere counts for
    all that are called so.

    Parameters
    ----------
    sources : iterable of str
        Of all modules that may read what another one binds.
    """

    def __init__(self, sources: Iterable[str]) -> None:
        self._sources = tuple(sources)

    @cached_property
    def _read(self) -> frozenset[str]:
        read: set[str] = set()
        within: dict[str, set[str]] = defaultdict(set)  # by the name whose value reads it
        for text in self._sources:
            of_source, of_values = _reads(text)
            read |= of_source
            for name, names in of_values.items():
                within[name] |= names
        reached = set(read)
        while reached:
            reached = {each for name in reached for each in within.pop(name, ())}
            read |= reached
        return frozenset(read)

    def alone_read(self, name: str) -> bool:
        """Whether a module-level name is read in annotations only, or in the values of such names."""
        return name not in self._read


@cache
def _reads(source: str) -> tuple[frozenset[str], Mapping[str, frozenset[str]]]:
    """Return the names that a source reads, without those in the values of its names, and those."""
    tree = ast.parse(source)
    unread = _annotations(tree) if _are_deferred(tree) else frozenset()
    read: set[str] = set()
    within: dict[str, frozenset[str]] = {}
    for statement in tree.body:
        match statement:
            case ast.Assign([ast.Name(name)], value):
                within[name] = within.get(name, frozenset()) | set(_names(value, unread))
            case _:
                read.update(_names(statement, unread))
    return frozenset(read), within


def _are_deferred(tree: ast.Module) -> bool:
    return any(
        isinstance(statement, ast.ImportFrom)
        and statement.module == "__future__"
        and any(alias.name == "annotations" for alias in statement.names)
        for statement in tree.body
    )


def _annotations(tree: ast.Module) -> frozenset[int]:
    """Return the ids of the nodes that are annotations."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node.returns)
        elif isinstance(node, ast.AnnAssign | ast.arg):
            found.append(node.annotation)
    return frozenset(id(node) for node in found if node is not None)


def _names(node: ast.AST, unread: frozenset[int]) -> Iterator[str]:
    """Yield the names that are read in a tree, without annotations."""
    if id(node) in unread:
        return
    match node:
        case ast.Name(name, ast.Load()) | ast.Attribute(_, name) | ast.alias(name, str()):
            yield name
        case ast.Constant(str(text)) if text.isidentifier():  # `getattr`, `__all__`
            yield text
    for child in ast.iter_child_nodes(node):
        yield from _names(child, unread)
