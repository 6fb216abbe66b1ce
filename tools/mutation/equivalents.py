"""Faults that are shown to change nothing: no verdict can notice them, and they are no part of a score.

Each way is a proof as far as Python's objects are what their annotations say, and expressions have no effect
but their value:

- the source compiles to the very instructions that were there;
- the expression, or one around it, is worth the same: for every format, member of an enumeration and truth
  value of the parameters in it, and by Z3 for all words of 64 and of 128 bits, signed or not;
- a comparison of integers with a number, of which the two sides differ at few numbers only, where the two
  branches that it chooses between do the same;
- a constant of one module, where every expression that reads it is worth the same;
- a function of parameters of few values that returns the same, or raises the same kind of error, for all;
- a name for a type, which only annotations read;
- only messages of errors tell what is computed, which are left alone: no equivalence, but no part of a score;
- the extent -1 that numpy computes, for which it takes any negative one.
"""

from __future__ import annotations

import ast
import copy
import itertools
import re
import signal
import threading
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mmaproof import spec

from .annotations import Annotations
from .expression_values import same
from .scope import SpecificationModule
from .source_faults import Fault
from .speaking import Speech
from .surroundings import MOST, Surroundings, ancestors, combinations, dump, names_bound, values_of

BYTECODE = "compiles to the same instructions"
EXPRESSION = "an expression that is worth the same"
BRANCHES = "both branches do the same where the comparisons differ"
CONSTANT = "every expression that reads the constant is worth the same"
FUNCTION = "the function returns the same for all it may be given"
ANNOTATED = "only annotations read the name"
SPEECH = "only messages tell what is computed"
EXTENT = "numpy computes the extent, whichever negative number stands for it"

_SECONDS = 5.0
"""Processor time that one fault may take: what is changed may be of any size, or not end."""

_PACKAGE = Path(spec.__path__[0]).parent
"""All that may read what the specification binds."""

_OTHERS = ("proofs", "smt")
"""Layers that read it while obligations are decided; what others only mention counts as read."""

_UPPER = ("refinement", "gating", "reports", "api", "cli")
"""The other layers."""

_WINDOW = 3
"""Comparisons with a number that was changed by one differ no further from it."""


class Equivalents:
    """Recognises faults that change nothing.

    Parameters
    ----------
    modules : sequence of SpecificationModule
        All that may read what another one binds.
    """

    def __init__(self, modules: Sequence[SpecificationModule]) -> None:
        self._sources = {module: module.path.read_text(encoding="utf-8") for module in modules}

    @cached_property
    def _speech(self) -> Speech:
        return Speech(self._sources)

    def how(self, module: SpecificationModule, fault: Fault) -> str:
        """Return how a fault is shown to change nothing, empty if it is not."""
        if fault.is_equivalent():
            return BYTECODE
        if isinstance(fault.node, ast.expr) and self._speech.only_tells(module, fault):
            return SPEECH
        if self._names_a_type(module, fault):
            return ANNOTATED
        if _is_extent_left(fault):
            return EXTENT
        try:
            namespace = vars(import_module(module.name))
        except ImportError:
            return ""
        with np.errstate(all="ignore"), suppress(_TooLong), _limited():
            return _how(fault, namespace)
        return ""

    @cached_property
    def _annotations(self) -> Annotations:
        others = (path for layer in _OTHERS for path in sorted((_PACKAGE / layer).rglob("*.py")))
        return Annotations([*self._sources.values(), *(path.read_text(encoding="utf-8") for path in others)])

    @cached_property
    def _mentioned(self) -> frozenset[str]:
        """Words in the sources of upper layers."""
        files = (file for layer in _UPPER for file in sorted((_PACKAGE / layer).rglob("*.py")))
        texts = (file.read_text(encoding="utf-8") for file in files)
        return frozenset(word for text in texts for word in re.findall(r"\w+", text))

    def _names_a_type(self, module: SpecificationModule, fault: Fault) -> bool:
        """Whether a fault is in the value of a name that only annotations read, and is a value still."""
        around = ancestors(fault.module, fault.node)
        if len(around) < 2 or fault.function:
            return False
        if any(isinstance(node, ast.Call) for node in around):  # of an object, or for who reads annotations
            return False
        match around[1]:
            case ast.Assign([ast.Name(name)], value) if (
                name not in self._mentioned and self._annotations.alone_read(name)
            ):
                changed = copy.deepcopy(value, {id(fault.node): fault.replacement})
                with suppress(Exception):
                    eval(compile(ast.unparse(changed), "", "eval"), dict(vars(import_module(module.name))))
                    return True
        return False


def _is_extent_left(fault: Fault) -> bool:
    """Whether a fault makes an argument of numpy's `reshape` another negative number."""
    if not isinstance(fault.replacement, ast.Constant) or type(fault.replacement.value) is not int:
        return False
    match ancestors(fault.module, fault.node)[-3:]:
        case [ast.Call(ast.Attribute(_, "reshape"), arguments), ast.UnaryOp(ast.USub()) as sign, _]:
            return fault.replacement.value > 0 and sign in arguments
    return False


class _TooLong(BaseException):
    """A fault took too long; no `Exception`, which whoever evaluates an expression takes for its answer."""


@contextmanager
def _limited() -> Iterator[None]:
    """Raise `_TooLong` once the processor time is used up; signals are to be had in the main thread only."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _how(fault: Fault, namespace: Mapping[str, Any]) -> str:
    around = ancestors(fault.module, fault.node)
    place = Surroundings(around, namespace)
    if not (isinstance(fault.node, ast.expr) and isinstance(fault.replacement, ast.expr)):
        return FUNCTION if _functions_agree(place, fault) else ""
    if place.is_worth_the_same(fault.node, fault.replacement):
        return EXPRESSION
    if _branches_agree(place, fault):
        return BRANCHES
    if _readers_agree(place, fault):
        return CONSTANT
    return FUNCTION if _functions_agree(place, fault) else ""


def _branches_agree(place: Surroundings, fault: Fault) -> bool:
    """Whether a comparison was changed that chooses between branches which do the same where it matters."""
    found = _compared(place, fault)
    if found is None:
        return False
    value, points = found
    for outer in reversed(place.around):
        if isinstance(outer, ast.IfExp) and _holds(outer.test, fault.node):
            pairs = [(outer.body, outer.orelse)]
        elif isinstance(outer, ast.If) and _holds(outer.test, fault.node):
            pairs = list(_alternatives(outer, place))
        else:
            continue
        given = [{ast.dump(value): point} for point in points]
        return bool(pairs) and all(place.agree(*pair, each) for pair in pairs for each in given)
    return False


def _compared(place: Surroundings, fault: Fault) -> tuple[ast.expr, list[int]] | None:
    """Return an integer that is compared with a number, and where the fault makes a difference."""
    compare = next((node for node in reversed(place.around) if isinstance(node, ast.Compare)), None)
    if compare is None or len(compare.ops) != 1:
        return None
    changed = copy.deepcopy(compare, {id(fault.node): fault.replacement})
    if not isinstance(changed, ast.Compare) or ast.dump(compare.left) != ast.dump(changed.left):
        return None
    sides = [_number(each.comparators[0]) for each in (compare, changed)]
    if sides[0] is None or sides[1] is None or not _is_whole(place, compare.left, 0):
        return None
    near = range(min(sides) - _WINDOW, max(sides) + _WINDOW + 1)  # type: ignore[type-var, operator]
    tests = [
        compile(ast.fix_missing_locations(ast.Expression(_at(each))), "", "eval")
        for each in (compare, changed)
    ]
    differ = [x for x in near if eval(tests[0], {"x": x}) != eval(tests[1], {"x": x})]
    if near[0] in differ or near[-1] in differ:  # on one side of the number they are opposites
        return None
    return compare.left, differ


def _at(compare: ast.Compare) -> ast.Compare:
    return ast.Compare(ast.Name("x", ast.Load()), compare.ops, compare.comparators)


def _number(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None


def _is_whole(place: Surroundings, node: ast.expr, depth: int) -> bool:
    """Whether an expression is an integer, from annotations and, of a local name, its only assignment."""
    if depth > 4:
        return False
    if place.is_integer(node) or _number(node) is not None:
        return True
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() | ast.Mod(), right):
            return _is_whole(place, left, depth + 1) and _is_whole(place, right, depth + 1)
        case ast.Name(name) if place.function is not None:
            bindings = [each for each in ast.walk(place.function) if _binds(each, name)]
            match bindings:
                case [ast.Assign([ast.Name()], value)]:
                    return _is_whole(place, value, depth + 1)
    return False


def _binds(node: ast.AST, name: str) -> bool:
    """Whether a statement, or what else binds names, binds this one."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr | ast.For):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(isinstance(each, ast.Name) and each.id == name for t in targets for each in ast.walk(t))
    if isinstance(node, ast.comprehension | ast.withitem | ast.ExceptHandler | ast.match_case | ast.arg):
        return name in set(names_bound(node))
    return False


def _alternatives(statement: ast.If, place: Surroundings) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what must be worth the same for two branches to do the same; nothing if that is unclear."""
    other = statement.orelse
    if not other and isinstance(statement.body[0], ast.Return):
        other = _next(statement, place)[:1]
    match statement.body, other:
        case [ast.Return(ast.expr() as one)], [ast.Return(ast.expr() as another)]:
            yield one, another
        case [ast.Assign([ast.Name(name)], one)], [ast.Assign([ast.Name(again)], another)] if name == again:
            yield one, another
        case [ast.Assign([ast.Name(name)], one)], []:
            yield one, ast.Name(name, ast.Load())
        case [ast.AugAssign(ast.Name(name), operation, one)], []:
            read = ast.Name(name, ast.Load())
            yield ast.BinOp(read, operation, one), read


def _next(statement: ast.stmt, place: Surroundings) -> list[ast.stmt]:
    """Return the statements after one in its body."""
    for outer in place.around:
        for name in ("body", "orelse", "finalbody"):
            body = getattr(outer, name, None)
            if isinstance(body, list) and statement in body:
                return body[body.index(statement) + 1 :]
    return []


def _readers_agree(place: Surroundings, fault: Fault) -> bool:
    """Whether a module's own constant was changed, and whatever reads it is worth the same."""
    if len(place.around) < 3 or fault.function:
        return False
    match place.around[1]:
        case ast.Assign([ast.Name(name)], value) if name.startswith("_"):
            pass
        case _:
            return False
    if sum(name in set(names_bound(statement)) for statement in fault.module.body) != 1:
        return False
    changed = copy.deepcopy(value, {id(fault.node): fault.replacement})
    try:
        new = eval(compile(ast.unparse(changed), "", "eval"), dict(place.namespace))
    except Exception:
        return False
    read = [n for n in ast.walk(fault.module) if isinstance(n, ast.Name | ast.Attribute | ast.alias)]
    if any(isinstance(n, ast.Attribute) and n.attr == name for n in read):
        return False
    loads = [n for n in read if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    return bool(loads) and all(_reads_the_same(fault.module, load, place.namespace, new) for load in loads)


def _reads_the_same(module: ast.Module, load: ast.Name, namespace: Mapping[str, Any], new: Any) -> bool:
    at = Surroundings(ancestors(module, load), namespace)
    if load.id in at.local:
        return False
    expressions = itertools.takewhile(lambda node: isinstance(node, ast.expr), reversed(at.around))
    known = {dump(load.id): namespace[load.id]}
    return any(
        at.agree(expression, expression, known, {dump(load.id): new})
        for expression in expressions
        if isinstance(expression, ast.expr)
    )


def _functions_agree(place: Surroundings, fault: Fault) -> bool:
    """Whether the function returns the same for all that its parameters may be."""
    function = place.function
    if function is None or place.around[1] is not function or function.args.vararg or function.args.kwarg:
        return False
    names = [
        argument.arg
        for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    ]
    kinds = [(name, values_of(place.annotations.get(name, object))) for name in names]
    if not names or any(values is None for _, values in kinds) or combinations(kinds) > MOST:
        return False
    changed = copy.deepcopy(function, {id(fault.node): fault.replacement})
    calls = [_callable(each, place.namespace) for each in (function, changed)]
    for values in itertools.product(*(values or () for _, values in kinds)):
        given = dict(zip(names, values, strict=True))
        if not same(_outcome(calls[0], given), _outcome(calls[1], given)):
            return False
    return True


def _callable(function: ast.FunctionDef, namespace: Mapping[str, Any]) -> Any:
    """Return a function from its tree, without decorators: nothing is remembered."""
    bare = copy.deepcopy(function)
    bare.decorator_list = []
    module = ast.fix_missing_locations(ast.Module([bare], []))
    inside = dict(namespace)
    exec(compile("from __future__ import annotations\n" + ast.unparse(module), "", "exec"), inside)
    return inside[function.name]


def _outcome(function: Any, given: Mapping[str, Any]) -> tuple[str, Any]:
    try:
        value = function(**given)
        return "value", list(value) if isinstance(value, types.GeneratorType) else value
    except Exception as reason:
        return "error", type(reason)


def _holds(test: ast.expr, node: ast.AST) -> bool:
    return any(each is node for each in ast.walk(test))
