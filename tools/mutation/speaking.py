"""What of a source only tells: its value goes into messages, and nowhere else.

A message is what is raised, what makes an error, and, in modules on legality, a text with words and values in
it. What modules that make messages read is for people too.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from .blocks import first_line
from .scope import Role, SpecificationModule
from .source_faults import Fault, speaks
from .surroundings import ancestors

_WORDS = re.compile(r"[A-Za-z]{2}.* |^[;,:] | .*[A-Za-z]{2}")


@dataclass(frozen=True)
class _Use:
    """A name that is read: by which function (its first line, 0 for none), and whether in a message."""

    module: SpecificationModule
    function: int
    told: bool
    assigned: tuple[str, ...]


_TEXTS = frozenset({"errors", "expectations", "wording"})
"""Modules that write messages alone; formulas and tables that others print are what users read them for."""


_NO_NUMBERS = (ast.List, ast.ListComp, ast.Tuple, ast.JoinedStr)


class Speech:
    """Who only speaks.

    Parameters
    ----------
    sources : mapping of SpecificationModule to str
        All that may use what another one defines.
    """

    def __init__(self, sources: Mapping[SpecificationModule, str]) -> None:
        self._trees = {module: ast.parse(text) for module, text in sources.items()}

    @cached_property
    def _uses(self) -> dict[str, list[_Use]]:
        found: dict[str, list[_Use]] = defaultdict(list)
        for module, tree in self._trees.items():
            for name, use in _uses(module, tree, 0, module.name.rpartition(".")[2] in _TEXTS, ()):
                found[name].append(use)
        return found

    @cached_property
    def _functions(self) -> dict[tuple[SpecificationModule, int], ast.FunctionDef]:
        return {
            (module, first_line(node)): node
            for module, tree in self._trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
        }

    @cached_property
    def _imported(self) -> frozenset[str]:
        """Names that a module takes from another one."""
        imports = (
            n for tree in self._trees.values() for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)
        )
        return frozenset(alias.name for statement in imports for alias in statement.names)

    def only_tells(self, module: SpecificationModule, fault: Fault) -> bool:
        """Whether a fault is in what only messages tell."""
        function = self._functions.get((module, fault.function))
        if function is None or _may_raise(fault):
            return False
        if self._function_speaks(module, function.name, frozenset()):
            return True
        targets = _assigned(function, fault.line)
        return bool(targets) and all(
            self._local_speaks(module, fault.function, target, frozenset()) for target in targets
        )

    def _function_speaks(self, module: SpecificationModule, name: str, asked: frozenset[object]) -> bool:
        """Whether a function is its module's own, and every use of its name is in a message."""
        if not name.startswith("_") or name.startswith("__") or name in self._imported:
            return False
        named = [each for (at, _), each in self._functions.items() if at == module and each.name == name]
        uses = self._uses.get(name, [])
        if len(named) != 1 or not uses or (module, name) in asked:
            return False
        return all(use.module == module and self._told(use, asked | {(module, name)}) for use in uses)

    def _told(self, use: _Use, asked: frozenset[object]) -> bool:
        if use.told:
            return True
        own = self._functions.get((use.module, use.function))
        if own is not None and self._function_speaks(use.module, own.name, asked):
            return True
        return bool(use.assigned) and all(
            self._local_speaks(use.module, use.function, name, asked) for name in use.assigned
        )

    def _local_speaks(
        self, module: SpecificationModule, function: int, name: str, asked: frozenset[object]
    ) -> bool:
        """Whether every use of a function's variable is in a message."""
        node = self._functions.get((module, function))
        key = (module, function, name)
        if node is None or key in asked:
            return False
        lines = range(function, (node.end_lineno or function) + 1)  # functions inside may use it, too
        uses = [use for use in self._uses.get(name, ()) if use.module == module and use.function in lines]
        return bool(uses) and all(self._told(use, asked | {key}) for use in uses)


def _may_raise(fault: Fault) -> bool:
    """Whether a message might not be made at all: a number may be no index, operands not of an operator.

    Of conditions and texts, either is taken to be of use.
    """
    match fault.node, fault.replacement:
        case ((ast.Compare() | ast.BoolOp() | ast.IfExp() | ast.UnaryOp(ast.Not())), _):
            return False
        case ast.Constant(str()), ast.Constant(str()):
            return False
        case _, ast.BinOp(left, operation, right) if not isinstance(operation, ast.Add):
            if isinstance(left, _NO_NUMBERS) or isinstance(right, _NO_NUMBERS):
                return True
    around = itertools.takewhile(
        lambda node: isinstance(node, ast.expr), reversed(ancestors(fault.module, fault.node)[:-1])
    )
    return any(isinstance(node, ast.Subscript | ast.Call) for node in around)


def _assigned(function: ast.FunctionDef, line: int) -> list[str]:
    """Return the variables that the assignment on a line gives values, if no other one does."""
    for statement in ast.walk(function):
        if isinstance(statement, ast.Assign) and statement.lineno <= line <= (statement.end_lineno or 0):
            names = _targets(statement.targets)
            bound = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id in names]
            once = sum(isinstance(node.ctx, ast.Store) for node in bound) == len(names)
            return names if once else []
    return []


def _targets(targets: list[ast.expr]) -> list[str]:
    """Return the variables of an assignment; none if it has other targets, too."""
    nodes = [node for target in targets for node in ast.walk(target)]
    plain = all(isinstance(node, ast.Name | ast.Tuple | ast.expr_context) for node in nodes)
    return [node.id for node in nodes if isinstance(node, ast.Name)] if plain else []


def _uses(
    module: SpecificationModule, node: ast.AST, function: int, told: bool, assigned: tuple[str, ...]
) -> Iterator[tuple[str, _Use]]:
    match node:
        case ast.Name(name, ast.Load()) | ast.Attribute(_, name) | ast.alias(name):
            yield name, _Use(module, function, told, assigned)
        case ast.ImportFrom():
            return  # the importing module's own uses count
        case ast.FunctionDef():
            function, assigned = first_line(node), ()
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if _are_pairs(targets, values):
            for target, value in zip(targets, values, strict=True):
                yield from _uses(module, ast.Assign([target], value), function, told, ())
            return
        case ast.Assign(targets):
            assigned = tuple(_targets(targets))
        case ast.stmt():
            assigned = ()
    told = told or speaks(node) or (isinstance(node, ast.JoinedStr) and _is_message(module, node))
    for child in ast.iter_child_nodes(node):
        yield from _uses(module, child, function, told, assigned)


def _are_pairs(targets: list[ast.expr], values: list[ast.expr]) -> bool:
    """Whether each of some values becomes that of one variable."""
    plain = all(isinstance(target, ast.Name) for target in targets)
    return plain and len(targets) == len(values) and not any(isinstance(v, ast.Starred) for v in values)


def _is_message(module: SpecificationModule, text: ast.JoinedStr) -> bool:
    said = "…".join(str(part.value) for part in text.values if isinstance(part, ast.Constant))
    return module.role is Role.LEGALITY and _WORDS.search(said) is not None
