"""What an expression of a source is worth: an object, a word or a truth of z3, or a name for what it is.

Words are what bitwise operators are applied to, and integers by their annotations. They are taken to have
some width, signed or not; what is claimed of integers is claimed for each of `MODES`.
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import z3

from mmaproof import spec

MODES = tuple((width, signed) for width in (64, 128) for signed in (True, False))
"""Widths of words, and whether they are signed."""

_PURE = frozenset({"abs", "bool", "float", "int", "len", "max", "min", "pow", "sorted", "tuple"})
"""Built-ins that may be called with known arguments."""

_OF_OBJECTS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Is: operator.is_, ast.IsNot: operator.is_not, ast.In: lambda x, y: x in y,
    ast.NotIn: lambda x, y: x not in y, ast.Not: operator.not_, ast.USub: operator.neg,
    ast.UAdd: operator.pos, ast.Invert: operator.invert,
}  # fmt: skip
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_OF_WORDS = (ast.Add, ast.Sub, ast.Mult, *_BITWISE)
_LARGEST = 1 << 12
"""No constant is shifted or raised further: a fault may make it of any size."""


class Known(NamedTuple):
    """An object of Python."""

    value: Any


class Word(NamedTuple):
    """A word, and the types of numpy that its operands bring along: a result of other types is another."""

    term: z3.BitVecRef
    types: frozenset[str] = frozenset()


class Truth(NamedTuple):
    """A truth value."""

    term: z3.BoolRef


class Named(NamedTuple):
    """What is not known but by this name."""

    name: str


Value = Known | Word | Truth | Named


class Unclear(Exception):  # noqa: N818 (an answer, no failure)
    """An expression may be worth anything, or raises."""


@dataclass(frozen=True)
class Evaluation:
    """How expressions are read.

    Attributes
    ----------
    namespace : mapping
        What names of the module stand for.
    local : collection of str
        Names that are bound where the expression stands: not those of the module.
    given : mapping of str to object
        What expressions are worth, by their dumps.
    integers : collection of str
        Expressions that are integers, by their dumps.
    width, signed : int, bool
        Of words.
    named : set of str
        What was found that is not known. Two expressions that are worth the same must need the same: what
        one of them does not need may raise, or have another shape.
    """

    namespace: Mapping[str, Any]
    local: Collection[str]
    given: Mapping[str, Any]
    integers: Collection[str]
    width: int
    signed: bool
    named: set[str] = field(default_factory=set)

    def of(self, node: ast.expr) -> Value:  # noqa: PLR0912 (a case each)
        """Return what an expression is worth.

        Raises
        ------
        Unclear
            If it binds a name, or raises.
        """
        said = ast.dump(node)
        if said in self.given:
            return Known(self.given[said])
        match node:
            case ast.Constant(value):
                return Known(value)
            case ast.Name(name):
                return self._name(name, said)
            case ast.Attribute(base, name):
                return self._attribute(self.of(base), name, said)
            case ast.Subscript(base, index) if not isinstance(index, ast.Slice):
                return self._item(self.of(base), self.of(index), said)
            case ast.BinOp(left, operation, right):
                return self._binary(operation, self.of(left), self.of(right))
            case ast.UnaryOp(operation, operand):
                return self._unary(operation, self.of(operand))
            case ast.Compare(left, [operation], [right]):
                return self._compare(operation, self.of(left), self.of(right))
            case ast.BoolOp(operation, values):
                return self._junction(operation, values)
            case ast.IfExp(test, body, other):
                return self._either(self.of(test), body, other)
            case ast.Call(function, arguments, keywords):
                return self._call(node, function, arguments, keywords)
            case ast.Tuple(entries) if not any(isinstance(each, ast.Starred) for each in entries):
                return self._tuple([self.of(entry) for entry in entries])
            case ast.NamedExpr() | ast.Await() | ast.Yield() | ast.YieldFrom():
                raise Unclear
        for each in ast.walk(node):
            if isinstance(each, ast.NamedExpr) or (self.given and ast.dump(each) in self.given):
                raise Unclear
        return self._opaque(said, said)

    def _opaque(self, said: str, name: str) -> Value:
        self.named.add(name)
        return Word(z3.BitVec(name, self.width)) if said in self.integers else Named(name)

    def _name(self, name: str, said: str) -> Value:
        if name in self.local:
            return self._opaque(said, said)
        if name in self.namespace:
            return Known(self.namespace[name])
        return Known(getattr(builtins, name)) if hasattr(builtins, name) else self._opaque(said, said)

    def _attribute(self, base: Value, name: str, said: str) -> Value:
        if isinstance(base, Known):
            return _tried(lambda: getattr(base.value, name))
        return self._opaque(said, f"{_key(base)}.{name}")

    def _item(self, base: Value, index: Value, said: str) -> Value:
        if isinstance(base, Known) and isinstance(index, Known):
            return _tried(lambda: base.value[index.value])
        return self._opaque(said, f"{_key(base)}[{_key(index)}]")

    def _binary(self, operation: ast.operator, left: Value, right: Value) -> Value:
        if isinstance(left, Known) and isinstance(right, Known):
            distance = _integer(right)
            far = distance is None or abs(distance) > _LARGEST
            if far and isinstance(operation, ast.LShift | ast.Pow):
                raise Unclear
            return _computed(operation, left, right)
        if isinstance(operation, ast.FloorDiv) and isinstance(left, Word) and _is(right, 1):
            return left
        if isinstance(operation, _BITWISE):
            left, right = self._as_word(left), self._as_word(right)
        if isinstance(operation, _OF_WORDS) and isinstance(left, Word | Known):
            found = self._of_words(operation, left, right)
            if found is not None:
                return found
        return Named(f"{type(operation).__name__}({_key(left)}, {_key(right)})")

    def _as_word(self, value: Value) -> Value:
        return Word(z3.BitVec(value.name, self.width)) if isinstance(value, Named) else value

    def _of_words(self, operation: ast.operator, left: Value, right: Value) -> Value | None:
        """Return a word; None where an operand is none, or a shift's distance is not known."""
        if isinstance(operation, ast.LShift | ast.RShift):
            distance = _integer(right)
            if not isinstance(left, Word) or distance is None or not 0 <= distance < self.width:
                return None
            types = left.types | _types(right)
            if isinstance(operation, ast.LShift):
                return Word(left.term << distance, types)
            return Word(left.term >> distance if self.signed else z3.LShR(left.term, distance), types)
        terms = [self._term(left), self._term(right)]
        if terms[0] is None or terms[1] is None:
            return None
        return Word(_OF_OBJECTS[type(operation)](*terms), _types(left) | _types(right))

    def _term(self, value: Value) -> z3.BitVecRef | None:
        if isinstance(value, Word):
            return value.term
        number = _integer(value)
        if number is None or not -(1 << (self.width - 1)) <= number < 1 << self.width:
            return None
        return z3.BitVecVal(number, self.width)

    def _unary(self, operation: ast.unaryop, operand: Value) -> Value:
        if isinstance(operand, Known):
            return _computed(operation, operand)
        if isinstance(operation, ast.Not) and isinstance(operand, Truth):
            return Truth(z3.Not(operand.term))
        if isinstance(operation, ast.Invert):
            operand = self._as_word(operand)
        if isinstance(operand, Word) and isinstance(operation, ast.Invert | ast.USub):
            return Word(_OF_OBJECTS[type(operation)](operand.term), operand.types)
        return Named(f"{type(operation).__name__}({_key(operand)})")

    def _compare(self, operation: ast.cmpop, left: Value, right: Value) -> Value:
        if isinstance(left, Known) and isinstance(right, Known):
            return _computed(operation, left, right)
        terms = [self._term(left), self._term(right)]
        if (
            terms[0] is None
            or terms[1] is None
            or isinstance(operation, ast.Is | ast.IsNot | ast.In | ast.NotIn)
        ):
            return Named(f"{type(operation).__name__}({_key(left)}, {_key(right)})")
        unsigned = {ast.Lt: z3.ULT, ast.LtE: z3.ULE, ast.Gt: z3.UGT, ast.GtE: z3.UGE}
        compared = _OF_OBJECTS[type(operation)] if self.signed else None
        return Truth((compared or unsigned.get(type(operation)) or _OF_OBJECTS[type(operation)])(*terms))

    def _junction(self, operation: ast.boolop, nodes: list[ast.expr]) -> Value:
        """Return ``and`` or ``or``: what comes after the operand that decides is not evaluated."""
        values: list[Value] = []
        decides = isinstance(operation, ast.Or)
        for node in nodes:
            value = self.of(node)
            if isinstance(value, Known) and _true(value) is not decides and node is not nodes[-1]:
                continue
            values.append(value)
            if isinstance(value, Known) and _true(value) is decides:
                break
        if len(values) == 1:
            return values[0]
        terms = [_truth(value) for value in values]
        if all(term is not None for term in terms):
            return Truth(z3.Or(*terms) if decides else z3.And(*terms))
        return Named(f"{type(operation).__name__}({', '.join(map(_key, values))})")

    def _either(self, test: Value, body: ast.expr, other: ast.expr) -> Value:
        if isinstance(test, Known):
            return self.of(body if _true(test) else other)
        first, second = self.of(body), self.of(other)
        terms = [self._term(first), self._term(second)]
        if isinstance(test, Truth) and None not in terms and _types(first) == _types(second):
            return Word(z3.If(test.term, *terms), _types(first))
        return Named(f"IfExp({_key(test)}, {_key(first)}, {_key(second)})")

    def _call(
        self, node: ast.Call, function: ast.expr, arguments: list[ast.expr], keywords: list[ast.keyword]
    ) -> Value:
        if any(isinstance(argument, ast.Starred) for argument in arguments) or any(
            k.arg is None for k in keywords
        ):
            raise Unclear
        called = self.of(function)
        values = [self.of(argument) for argument in arguments]
        named = {str(keyword.arg): self.of(keyword.value) for keyword in keywords}
        every = [*values, *named.values()]
        known = all(isinstance(each, Known) for each in every)
        if known and isinstance(called, Known) and _may_be_called(called.value):
            given = [value.value for value in values if isinstance(value, Known)]
            by_name = {name: value.value for name, value in named.items() if isinstance(value, Known)}
            return _tried(lambda: called.value(*given, **by_name))
        listed = [*map(_key, values), *(f"{name}={_key(value)}" for name, value in named.items())]
        return self._opaque(ast.dump(node), f"{_key(called)}({', '.join(listed)})")

    def _tuple(self, values: list[Value]) -> Value:
        if all(isinstance(value, Known) for value in values):
            return Known(tuple(value.value for value in values if isinstance(value, Known)))
        return Named(f"({', '.join(map(_key, values))})")


def are_equal(one: Value, other: Value) -> bool:
    """Whether two values are shown to be equal."""
    if isinstance(one, Word) != isinstance(other, Word):
        one, other = (_beside(*pair) for pair in ((one, other), (other, one)))
    match one, other:
        case Known(first), Known(second):
            return same(first, second)
        case Named(first), Named(second):
            return first == second
        case (Word(first, types), Word(second, others)) if types == others:
            return _proved(first == second)
        case Truth(first), Truth(second):
            return _proved(first == second)
    return False


def _beside(value: Value, word: Value) -> Value:
    """Return what is only named as a word, as wide as one that it is compared with."""
    if isinstance(value, Named) and isinstance(word, Word):
        return Word(z3.BitVec(value.name, word.term.size()))
    return value


def same(one: Any, other: Any) -> bool:
    """Whether two objects are the same value of the same type."""
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        equal = one.dtype == other.dtype and one.shape == other.shape
        return bool(equal and one.tobytes() == other.tobytes() and not one.dtype.hasobject)
    try:
        return repr(one) == repr(other) if isinstance(one, float) else bool(one == other)
    except Exception:
        return False


def _proved(claim: Any) -> bool:
    solver = z3.Solver()
    solver.set("timeout", 2000)
    solver.add(z3.Not(claim))
    return bool(solver.check() == z3.unsat)


def _computed(operation: ast.AST, *operands: Known) -> Known:
    return _tried(lambda: _OF_OBJECTS[type(operation)](*(operand.value for operand in operands)))


def _tried(compute: Callable[[], Any]) -> Known:
    try:
        return Known(compute())
    except Exception as reason:
        raise Unclear from reason


def _true(value: Known) -> bool:
    return bool(_tried(lambda: bool(value.value)).value)


def _truth(value: Value) -> z3.BoolRef | None:
    if isinstance(value, Truth):
        return value.term
    return z3.BoolVal(value.value) if isinstance(value, Known) and isinstance(value.value, bool) else None


def _integer(value: Value) -> int | None:
    if isinstance(value, Known) and isinstance(value.value, int | np.integer):
        return int(value.value)
    return None


def _is(value: Value, number: int) -> bool:
    return isinstance(value, Known) and type(value.value) is int and value.value == number


def _types(value: Value) -> frozenset[str]:
    if isinstance(value, Word):
        return value.types
    if isinstance(value, Known) and isinstance(value.value, np.generic):
        return frozenset({value.value.dtype.str})
    return frozenset()


def _key(value: Value) -> str:
    match value:
        case Known(known):
            return f"{type(known).__qualname__}:{known!r}:{id(known) if callable(known) else ''}"
        case Word(term, types):
            return f"{z3.simplify(term).sexpr()}:{sorted(types)}"
        case Truth(term):
            return str(z3.simplify(term).sexpr())
        case Named(name):
            return name


def _may_be_called(function: Any) -> bool:
    """Whether calling it with known arguments has no effect but its result."""
    name = getattr(function, "__name__", "")
    if name and getattr(builtins, name, None) is function:
        return name in _PURE
    if isinstance(function, type):
        return issubclass(function, np.generic)
    return str(getattr(function, "__module__", "")).startswith(f"{spec.__name__}.")
