"""The grid of a kernel of Triton, from the Python call that launches it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

_DEPTH = 8
"""Names that stand for others, one after the other."""

_FUNCTIONS = ("cdiv", "min", "max")
"""Functions of grids that formulas have too, by the last part of their names, each of two arguments."""

Scope = ast.Module | ast.FunctionDef


def launch_grid(
    source: str, kernel: str, parameters: Sequence[str], constants: Mapping[str, object]
) -> tuple[str, ...]:
    """Return a kernel's grid as expressions in its parameters, as far as a source says it.

    What is read is ``kernel[grid](…)``, where ``grid`` is a tuple, a lambda or function of the constants, or
    the name of one of these. Arguments say which parameter a name, ``x.shape[0]`` or ``x.numel()`` is.

    Parameters
    ----------
    source : str
        The text of a Python module.
    kernel : str
        The name of the function.
    parameters : sequence of str
        Its parameters in order, the ``constexpr`` ones too.
    constants : mapping of str to object
        The values of these.

    Returns
    -------
    tuple of str
        One to three extents; none where no launch is found, one says something else, or launches differ.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        return ()
    grids = set()
    for scope, call, grid in _launches(module, kernel):
        try:
            launch = _Launch(module, scope, *_passed(call, parameters, constants))
            grids.add(launch.extents(grid))
        except _NotSaidError:
            return ()
    return grids.pop() if len(grids) == 1 else ()


class _NotSaidError(Exception):
    """A grid is not an expression in the kernel's parameters."""


def _launches(module: ast.Module, kernel: str) -> Iterator[tuple[Scope, ast.Call, ast.expr]]:
    """Yield the calls ``kernel[…](…)``, each with the function that it is in, or the module, and its grid."""
    for scope in ast.walk(module):
        if isinstance(scope, Scope):
            for node in _own(scope):
                match node:
                    case ast.Call(func=ast.Subscript(value=launched, slice=grid)):
                        if ast.unparse(launched).rpartition(".")[2] == kernel:
                            yield scope, node, grid


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is inside a node, but for the bodies of functions in it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.FunctionDef):
            yield from _own(child)


def _passed(
    call: ast.Call, parameters: Sequence[str], constants: Mapping[str, object]
) -> tuple[dict[str, str], dict[str, object]]:
    """Return which parameter each argument is, by its text, and the constants with those of the call."""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return {}, dict(constants)
    bound = [*zip(parameters, call.args, strict=False)]
    bound += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None]
    values, texts = dict(constants), {}
    for name, argument in bound:
        if name not in parameters:
            continue  # an option of the compiler, such as num_warps
        if not isinstance(argument, ast.Constant):
            texts[ast.unparse(argument)] = name
        elif values.setdefault(name, argument.value) != argument.value:
            raise _NotSaidError  # the launch of another specialisation
    return texts, values


@dataclass(frozen=True)
class _Launch:
    """What names around a launch are: parameters, constants, or what is assigned to them."""

    module: ast.Module
    scope: Scope
    arguments: Mapping[str, str]
    constants: Mapping[str, object]

    def extents(self, grid: ast.expr) -> tuple[str, ...]:
        values, meta = self._body(grid)
        return tuple(ast.unparse(self._translated(value, meta, _DEPTH)) for value in values)

    def _body(self, grid: ast.expr) -> tuple[Sequence[ast.expr], str]:
        """Return the extents of a grid, and what it calls the constants."""
        found: ast.expr | ast.FunctionDef | None = grid
        if isinstance(grid, ast.Name):
            found = self._assigned(grid.id)
        meta = ""
        if isinstance(found, ast.Lambda | ast.FunctionDef):
            if len(found.args.args) != 1:
                raise _NotSaidError
            meta = found.args.args[0].arg
            found = found.body if isinstance(found, ast.Lambda) else _returned(found)
        if isinstance(found, ast.Tuple | ast.List) and 1 <= len(found.elts) <= 3:
            return found.elts, meta
        raise _NotSaidError

    def _assigned(self, name: str) -> ast.expr | ast.FunctionDef:
        """Return the one thing that is assigned to a name around the launch, or in the module."""
        for scope in (self.scope, self.module):
            found: list[ast.expr | ast.FunctionDef | None] = []
            for node in _own(scope):
                if isinstance(node, ast.FunctionDef) and node.name == name:
                    found.append(node)
                elif isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [
                    name
                ]:
                    found.append(node.value)
                elif isinstance(node, ast.AugAssign | ast.For | ast.NamedExpr) and name in ast.unparse(
                    node.target
                ):
                    found.append(None)
            if len(found) == 1 and found[0] is not None:
                return found[0]
            if found:
                break
        raise _NotSaidError

    def _translated(self, expression: ast.expr, meta: str, depth: int) -> ast.expr:
        if not depth:
            raise _NotSaidError
        name = self.arguments.get(ast.unparse(expression))
        if name is not None:
            return self._constant(name) if name in self.constants else ast.Name(name)
        match expression:
            case ast.Constant(value=int()):
                return expression
            case ast.Subscript(value=ast.Name(id=owner), slice=ast.Constant(value=str(key))) if owner == meta:
                return self._constant(key)
            case ast.BinOp(
                left, ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() | ast.Mod() as operator, right
            ):
                return ast.BinOp(
                    self._translated(left, meta, depth), operator, self._translated(right, meta, depth)
                )
            case ast.Call(func=ast.Name() | ast.Attribute() as function, args=[left, right], keywords=[]):
                called = ast.unparse(function).rpartition(".")[2]
                if called in _FUNCTIONS:
                    operands = [self._translated(each, meta, depth) for each in (left, right)]
                    return ast.Call(ast.Name(called), operands, [])
            case ast.Name(id=own):
                assigned = self._assigned(own)
                if isinstance(assigned, ast.expr):
                    return self._translated(assigned, meta, depth - 1)
        raise _NotSaidError

    def _constant(self, name: str) -> ast.expr:
        with suppress(KeyError):
            value = self.constants[name]
            if isinstance(value, int):
                return ast.Constant(int(value))
        raise _NotSaidError


def _returned(function: ast.FunctionDef) -> ast.expr | None:
    last = function.body[-1]
    return last.value if isinstance(last, ast.Return) and len(function.body) == 1 else None
