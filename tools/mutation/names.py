"""Who reads the names that modules bind when they are imported."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .blocks import first_line


class Reader(NamedTuple):
    """A function, or a statement of a module outside of functions.

    Attributes
    ----------
    file : str
        Of the module.
    function : int
        First line of the function, 0 outside.
    statement : int
        First line of the module's statement.
    """

    file: str
    function: int
    statement: int


def readers(sources: Mapping[str, str]) -> dict[str, set[Reader]]:
    """Return who reads each name, as a variable or an attribute, in sources by file."""
    found: dict[str, set[Reader]] = defaultdict(set)
    for file, text in sources.items():
        for statement in ast.parse(text).body:
            for name, function in _read(statement, 0):
                found[name].add(Reader(file, function, statement.lineno))
    return found


def bound_at(module: ast.Module, line: int) -> tuple[int, frozenset[str]]:
    """Return the first line of the statement of a module that a line is in, and the names that it binds."""
    for statement in module.body:
        if statement.lineno <= line <= (statement.end_lineno or statement.lineno):
            return statement.lineno, frozenset(_bound(statement))
    raise AssertionError(f"line {line} is in no statement")


def _bound(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name) | ast.ClassDef(name):
            yield name
        case ast.Assign() | ast.AnnAssign():
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for node in (node for target in targets for node in ast.walk(target)):
                if isinstance(node, ast.Name):
                    yield node.id


def _read(node: ast.AST, function: int) -> Iterator[tuple[str, int]]:
    match node:
        case ast.Name(name, ast.Load()) | ast.Attribute(_, name):
            yield name, function
        case ast.alias(name, str()):  # its readers know it by another name
            yield name, 0
        case ast.FunctionDef():
            function = first_line(node)
    for child in ast.iter_child_nodes(node):
        yield from _read(child, function)
