"""Blocks of a function: runs of statements that are executed one after the other, unless one raises."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_BRANCHING = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
"""After one of these a new block begins: inside, the function may have ended."""


def first_line(function: ast.FunctionDef) -> int:
    """Return the line on which a function begins, with its decorators."""
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])


def bodies(function: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    """Yield the lists of statements in a function, but for those of functions and classes inside it."""
    waiting: list[ast.AST] = [function]
    while waiting:
        node = waiting.pop()
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                yield body
                waiting += [st for st in body if isinstance(st, _BRANCHING)]
        waiting += [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]


def blocks_of(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a list of statements."""
    block: list[ast.stmt] = []
    for statement in body:
        block.append(statement)
        if isinstance(statement, _BRANCHING):
            yield block
            block = []
    if block:
        yield block


def block_lines(function: ast.FunctionDef) -> dict[int, int]:
    """Return the first line of the innermost block of each line of a function."""
    found: dict[int, int] = {}
    for body in bodies(function):  # outer ones first
        for block in blocks_of(body):
            for statement in block:
                lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
                found |= dict.fromkeys(lines, block[0].lineno)
    return found
