"""What is known of an expression where it stands in a source: names, types, and what it may be worth."""

from __future__ import annotations

import ast
import copy
import itertools
import math
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, cached_property
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, get_args

from mmaproof import spec
from mmaproof.proofs.families import conversions
from mmaproof.spec.formats import FloatFormat, Format, IntegerFormat

from .expression_values import MODES, Evaluation, Known, Unclear, are_equal

MOST = 4096
"""So many combinations of parameters are tried at most, or none."""


_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
"""Statements after which the next one of a block is not executed."""


class Surroundings:
    """Where an expression stands, and what is known of the names in it.

    Parameters
    ----------
    around : list of ast.AST
        The nodes that hold the expression, the module first, the expression last.
    namespace : mapping
        Of the module.
    """

    def __init__(self, around: list[ast.AST], namespace: Mapping[str, Any]) -> None:
        self.around = around
        self.namespace = namespace
        functions = [node for node in around if isinstance(node, ast.FunctionDef)]
        self.function = functions[-1] if functions else None
        top = around[1] if len(around) > 1 else around[0]
        self.local = (
            frozenset(names_bound(top)) if isinstance(top, ast.FunctionDef | ast.ClassDef) else _inside(top)
        )

    @cached_property
    def annotations(self) -> dict[str, Any]:
        """Types of the function's parameters that nothing else binds, as far as they can be told."""
        if self.function is None:
            return {}
        arguments = self.function.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        again = [name for node in self.function.body for name in names_bound(node)]
        found = {
            parameter.arg: _type(parameter.annotation, self.namespace)
            for parameter in parameters
            if parameter.arg not in again
        }
        owners = [node for node in self.around if isinstance(node, ast.ClassDef)]
        if owners and parameters and parameters[0].arg == "self" in found:
            found["self"] = self.namespace.get(owners[-1].name)
        return {name: kind for name, kind in found.items() if kind is not None}

    def is_worth_the_same(self, node: ast.expr, replacement: ast.expr) -> bool:
        """Whether an expression, or one around it, is worth what it is with a replacement in it."""
        for outer in reversed(self.around):
            if not isinstance(outer, ast.expr):
                break
            changed = copy.deepcopy(outer, {id(node): replacement})
            if self.agree(outer, changed):
                return True
        return False

    def agree(
        self,
        one: ast.expr,
        other: ast.expr,
        given: Mapping[str, Any] = types.MappingProxyType({}),
        otherwise: Mapping[str, Any] | None = None,
    ) -> bool:
        """Whether two expressions are worth the same for all that is not known.

        Parameters
        ----------
        one, other : ast.expr
            The two.
        given, otherwise : mapping of str to object
            What expressions in them are worth, by their dumps; the same in both unless told.
        """
        used = {node.id for each in (one, other) for node in ast.walk(each) if isinstance(node, ast.Name)}
        kinds = [(name, kind) for name in sorted(used) if (kind := self._values(name)) is not None]
        rows = self._rows(used)
        if combinations(kinds) * len(rows) > MOST:
            return False
        integers = self._integers(one) | self._integers(other)
        second = given if otherwise is None else otherwise
        reached = False
        for row, values in itertools.product(rows, itertools.product(*(kind for _, kind in kinds))):
            parameters = {dump(name): value for (name, _), value in zip(kinds, values, strict=True)}
            if not self._is_reached(parameters):
                continue
            reached = True
            known = row | parameters
            for width, signed in MODES:
                evaluations = [
                    Evaluation(self.namespace, self.local, {**known, **each}, integers, width, signed)
                    for each in (given, second)
                ]
                try:
                    first, last = evaluations[0].of(one), evaluations[1].of(other)
                    if not are_equal(first, last) or evaluations[0].named != evaluations[1].named:
                        return False
                except Unclear:
                    return False
        return reached

    def _is_reached(self, parameters: Mapping[str, Any]) -> bool:
        """Whether the expression may be evaluated if parameters are worth this."""
        for test, wanted in self._guards:
            try:
                found = Evaluation(self.namespace, self.local, parameters, frozenset(), *MODES[0]).of(test)
            except Unclear:
                continue
            if isinstance(found, Known) and found.value is (not wanted):
                return False
        return True

    @cached_property
    def _guards(self) -> list[tuple[ast.expr, bool]]:
        """What the function has tested on the way to the expression, of parameters that stay what they are.

        A test of an ``if`` around it, or of one before it that leaves the block.
        """
        inside = [] if self.function is None else self.around[self.around.index(self.function) :]
        steps = [step for pair in itertools.pairwise(inside) for step in _tested(*pair)]
        return [(test, wanted) for test, wanted in steps if self._is_of_parameters(test)]

    def _is_of_parameters(self, test: ast.expr) -> bool:
        names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
        return all(name in self.annotations or name not in self.local for name in names)

    def _values(self, name: str) -> tuple[Any, ...] | None:
        return values_of(self.annotations[name]) if name in self.annotations else None

    def _rows(self, used: Collection[str]) -> list[dict[str, Any]]:
        """Return what the variables of a loop over a module's own table may be, row by row."""
        for loop in reversed(self.around):
            if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Name):
                continue
            names = [loop.target] if isinstance(loop.target, ast.Name) else getattr(loop.target, "elts", [])
            variables = [node.id for node in names if isinstance(node, ast.Name)]
            table = self.namespace.get(loop.iter.id)
            once = all(self._bindings.count(name) == 1 for name in variables)
            if set(variables).isdisjoint(used) or len(variables) != len(names) or not once:
                continue
            if loop.iter.id in self.local or not isinstance(table, tuple) or self._leaves(loop):
                continue
            return [
                {dump(name): value for name, value in zip(variables, values, strict=True)}
                for entry in table
                for values in [(entry,) if isinstance(loop.target, ast.Name) else entry]
            ]
        return [{}]

    @cached_property
    def _bindings(self) -> list[str]:
        return [] if self.function is None else list(names_bound(self.function))

    def _leaves(self, loop: ast.For) -> bool:
        """Whether an expression is where a loop's variables are no row's: in what it is over, or after it."""
        after = [loop.iter, *loop.orelse]
        return any(each is node for each in after for node in self.around)

    def _integers(self, node: ast.expr) -> frozenset[str]:
        return frozenset(ast.dump(each) for each in ast.walk(node) if self.is_integer(each))

    def is_integer(self, node: ast.AST) -> bool:
        """Whether an annotation says that it is an integer."""
        match node:
            case ast.Name(name):
                return self.annotations.get(name) is int
            case ast.Attribute(ast.Name(name), attribute):
                return _attribute_type(self.annotations.get(name), attribute) is int
            case ast.Call(ast.Name("len"), _, _):
                return "len" not in self.local and "len" not in self.namespace
        return False


def _tested(outer: ast.AST, inner: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Yield what a statement, or what it executes before one in it, tested, and what came out."""
    for name in ("body", "orelse", "finalbody"):
        body = getattr(outer, name, None)
        if not isinstance(body, list) or inner not in body:
            continue
        if isinstance(outer, ast.If):
            yield outer.test, name == "body"
        for before in body[: body.index(inner)]:
            if isinstance(before, ast.If) and not before.orelse and isinstance(before.body[-1], _LEAVES):
                yield before.test, False


def values_of(kind: Any) -> tuple[Any, ...] | None:
    """Return all values of a type; None if they are too many, or not known."""
    if kind is bool:
        return (False, True)
    if kind is None or kind is type(None):
        return (None,)
    if isinstance(kind, types.UnionType):
        parts = [values_of(argument) for argument in get_args(kind)]
        return None if None in parts else tuple(value for part in parts for value in part or ())
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(kind)
    if kind in (Format, FloatFormat, IntegerFormat):
        return tuple(each for each in _formats() if isinstance(each, kind))
    return None


@cache
def _formats() -> tuple[Format, ...]:
    """Return every float format that specification and statements name, and integers of up to 64 bits."""
    modules = [import_module(found.name) for found in walk_packages(spec.__path__, f"{spec.__name__}.")]
    of_modules = itertools.chain.from_iterable(vars(module).values() for module in modules)
    named = (*of_modules, *conversions.OTHERS, *(fmt for fmt, _ in conversions.HELD.values()))
    floats = {repr(value): value for value in named if isinstance(value, FloatFormat)}
    integers = (
        IntegerFormat(f"{'s' if signed else 'u'}{bits}", bits, signed)
        for bits in range(1, 65)
        for signed in (False, True)
    )
    return (*floats.values(), *integers)


def ancestors(module: ast.Module, node: ast.AST) -> list[ast.AST]:
    """Return the nodes from a module to one in it."""

    def path(at: ast.AST) -> list[ast.AST] | None:
        if at is node:
            return [at]
        for child in ast.iter_child_nodes(at):
            if (found := path(child)) is not None:
                return [at, *found]
        return None

    found = path(module)
    assert found is not None
    return found


def names_bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that are bound anywhere in a node."""
    for each in ast.walk(node):
        match each:
            case ast.Name(name, ast.Store() | ast.Del()):
                yield name
            case ast.arg(name) | ast.FunctionDef(name) | ast.ClassDef(name):
                yield name
            case (
                ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.ExceptHandler(name=str(name))
            ):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name
            case ast.alias(name, alternative):
                yield alternative or name.partition(".")[0]


def _inside(statement: ast.AST) -> frozenset[str]:
    """Return what comprehensions and lambdas of a module's statement bind."""
    held = (ast.comprehension, ast.Lambda, ast.NamedExpr)
    return frozenset(
        name for node in ast.walk(statement) if isinstance(node, held) for name in names_bound(node)
    )


def dump(name: str) -> str:
    """Return how the dump of a variable reads."""
    return ast.dump(ast.Name(name, ast.Load()))


def combinations(kinds: Sequence[tuple[str, Sequence[Any] | None]]) -> int:
    """Return how many combinations of values there are."""
    return math.prod(len(values or ()) for _, values in kinds)


def _type(annotation: ast.expr | None, namespace: Mapping[str, Any]) -> Any:
    if annotation is None:
        return None
    try:
        return eval(compile(ast.unparse(annotation), "", "eval"), dict(namespace))
    except Exception:
        return None


def _attribute_type(owner: Any, attribute: str) -> Any:
    """Return what an annotation says of an attribute of a class, None if nothing."""
    if not isinstance(owner, type):
        return None
    for base in owner.__mro__:
        said: Any = vars(base).get("__annotations__", {}).get(attribute)
        held = vars(base).get(attribute)
        getter = getattr(held, "fget", None) or getattr(held, "func", None)
        if said is None and getter is not None:
            said = getter.__annotations__.get("return")
        if said is not None:
            return int if said in ("int", int) else said
    return None
