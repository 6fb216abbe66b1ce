"""Terms evaluated on given inputs: exact words, and real numbers as balls of certified radius.

Real numbers are balls of Arb (python-flint): whatever is computed of them lies inside. Sums and products of
small dyadic numbers have radius 0; functions, quotients and literals that no format has get a radius.
Roundings to formats of more than 8 bits are dropped, as a verdict over the reals says; conversions to fewer
bits and to integers are functions with steps, and have a value only where the ball lies within one step.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from flint import arb, ctx

from ...spec.errors import UnsupportedError
from ...spec.formats import BF16, F32, F64, TF32, FloatFormat, IntegerFormat
from ..terms import operations
from ..terms.evaluation import evaluate
from ..terms.interning import Ids
from ..terms.operations import OUTCOMES, Sum
from ..terms.store import CONCATENATION, CONSTANT, INPUT, UNDEFINED, VECTOR, Operation, TermStore
from ..terms.traversal import by_operation, gathered
from .meaning import NARROW, is_great, number_of, rounds, stem
from .numbers import STEP, Literal, Lost, Name, Real, Value, decoded, encoded, one_step, word_of

_LEAST_EXPONENT = -1100
"""Powers of two with lesser exponents are as good as 0, which no format tells from them."""

_UNREAD = None, None
"""A term that no format has been read in."""

PRECISION = 192
"""Bits of a ball's midpoint: sums and products of the numbers drawn are exact."""


Draw = Callable[[Name, int], int]
"""From the name of an input, and its term, to its word."""


class Plan:
    """An evaluation order of terms for several points, arguments first.

    Parameters
    ----------
    store : TermStore
        The terms.
    terms : array (n,)
        In increasing order; with every term all that it depends on.
    tolerance : float
        How far functions may be from what is written out for them, of their values.
    """

    def __init__(self, store: TermStore, terms: Ids, tolerance: float = 0.0) -> None:
        self.blur = arb(1, tolerance)
        self.operations: dict[int, Operation] = {}
        self.arguments: dict[int, tuple[Any, ...]] = {}
        self.literals: dict[int, Value] = {}
        for operation, members in by_operation(store, terms):
            self.operations.update(dict.fromkeys(members.tolist(), operation))
            if operation.name == CONSTANT:
                words = store.constant_values(members).tolist()
                self.literals.update(zip(members.tolist(), map(Literal, words), strict=True))
            elif operation.name != VECTOR:
                columns = [each.tolist() for each in gathered(store, operation, members)]
                self.arguments.update(zip(members.tolist(), zip(*columns, strict=True), strict=True))
        self.names: dict[int, Name] = {
            term: (
                str(leaf.attribute) if leaf.name == INPUT else UNDEFINED,
                leaf.result,
                *self.arguments[term],
            )
            for term, leaf in self.operations.items()
            if leaf.name in (INPUT, UNDEFINED)
        }

    def at(self, draw: Draw) -> Evaluation:
        """Return the values of all terms at a point."""
        ctx.prec = PRECISION
        found = Evaluation(self, draw)
        with np.errstate(all="ignore"):
            for term in sorted(self.arguments):
                found.values[term] = found.computed(term)
        return found


class Evaluation:
    """Values of terms at one point.

    Parameters
    ----------
    plan : Plan
        The terms.
    draw : callable
        Of inputs.
    """

    def __init__(self, plan: Plan, draw: Draw) -> None:
        self.plan, self.draw = plan, draw
        self.values: dict[int, Value] = dict(plan.literals)
        self._read: dict[int, tuple[Any, Any]] = {}
        self.outcomes: dict[int, int] = {}
        """Of comparisons and extrema the sign of the difference of the numbers; of steps which one it is."""

    def computed(self, term: int) -> Value:
        """Return the value of a term whose arguments have theirs."""
        operation = self.plan.operations[term]
        real = isinstance(operation.result, FloatFormat)
        rule = (_OF_NUMBERS if real else _OF_WORDS).get(operation.name, _words)
        try:
            return rule(self, operation, term)
        except (UnsupportedError, AssertionError):
            return Lost(operation)
        except Lost as reason:
            return reason

    def known(self, term: int) -> int | Real:
        """Return what a term is."""
        value = self.values[term]
        if isinstance(value, Lost):
            raise value.with_traceback(None)
        return value

    def word(self, term: int) -> int:
        """Return the bits of a term: of a sum with a great constant those that it is rounded to."""
        value = self.known(term)
        if isinstance(value, Real) and value.great:
            return one_step(partial(encoded, fmt=value.format, rounding=value.great), value.number)
        return word_of(value.number, value.format) if isinstance(value, Real) else int(value)

    def number(self, term: int, fmt: Any) -> Any:
        """Return a term as a real number, infinite or NaN where a constant is; as an integer."""
        if self._read.get(term, _UNREAD)[0] is not fmt:
            self._read[term] = fmt, self._number(term, fmt)
        return self._read[term][1]

    def _number(self, term: int, fmt: Any) -> Any:
        value = self.known(term)
        if isinstance(fmt, IntegerFormat):
            return number_of(self.word(term), fmt)
        if isinstance(value, Real) and (value.format == fmt or {value.format, fmt} == {F32, TF32}):
            return value.number
        return decoded(self.word(term), fmt, literal=isinstance(value, Literal))

    def numbers(self, operation: Operation, term: int) -> list[Any]:
        """Return the operands of a term as numbers."""
        return list(map(self.number, self.plan.arguments[term], operation.operands))


Rule = Callable[[Evaluation, Operation, int], Value]


# -- sums and products
def _fused(e: Evaluation, operation: Operation, term: int) -> Value:
    how: Any = operation.attribute
    fmt: Any = operation.result
    terms, given, factors = e.plan.arguments[term], e.numbers(operation, term), 2 * how.products
    addends = [(e.values[each], read) for each, read in zip(terms, operation.operands, strict=True)][factors:]
    literals = [number_of(each, read) for each, read in addends if isinstance(each, Literal)]
    total = _summed(factors, given)
    if literals and len(given) > 1:
        great = [isinstance(value := e.values[each], Real) and value.great is not None for each in terms]
        given = [  # where the constant is taken away, what it left
            decoded(e.word(each), read) if rounded and abs(total) * 2 <= abs(number) else number
            for each, read, number, rounded in zip(terms, operation.operands, given, great, strict=True)
        ]
        total = _summed(factors, given)
    if not rounds(operation):
        return _stepped(e, operation, term, total)
    return Real(total, fmt, how.rounding if any(is_great(literal, fmt) for literal in literals) else None)


def _summed(factors: int, given: Sequence[Any]) -> Any:
    return sum(map(operator.mul, given[:factors:2], given[1:factors:2]), sum(given[factors:], arb(0)))


def _dot(e: Evaluation, operation: Operation, term: int) -> Value:
    x, y, addend, *scales = e.plan.arguments[term]
    left, right, last, *others = operation.operands
    vectors = [(x, left), (y, right), *zip(scales, others, strict=True)]
    products = [arb(1)] * len(x)
    for vector, fmt in vectors:
        numbers = [e.number(each, fmt) for each in vector]
        each_own = (numbers[at * len(numbers) // len(x)] for at in range(len(x)))
        products = list(map(operator.mul, products, each_own))
    return Real(sum(products, e.number(addend, last)), operation.result)


def _words(e: Evaluation, operation: Operation, term: int) -> Value:
    """Evaluate an operation on words exactly, as the machine does."""
    given = [
        [e.word(each) for each in part] if isinstance(part, list) else e.word(part)
        for part in e.plan.arguments[term]
    ]
    return int(evaluate(operation, [np.array([each], dtype=np.uint64) for each in given])[0])


# -- steps
def _stepped(e: Evaluation, operation: Operation, term: int, number: Any) -> int:
    """Return what a conversion with steps makes of a number."""
    how = operation.attribute
    same = Operation(
        operation.name, operation.result, (F64,), Sum(0, 1, how.rounding) if isinstance(how, Sum) else how
    )
    e.outcomes[term] = one_step(lambda reals: evaluate(same, [reals.view(np.uint64)]), number)
    return e.outcomes[term]


def _convert(e: Evaluation, operation: Operation, term: int) -> Value:
    (source,), fmt = operation.operands, operation.result
    real = isinstance(fmt, FloatFormat) and fmt.bits > NARROW
    if isinstance(source, IntegerFormat) and not (real and rounds(operation)):
        return _words(e, operation, term)
    (number,) = e.numbers(operation, term)
    if not isinstance(fmt, FloatFormat) or not real:
        return _stepped(e, operation, term, number)
    most = decoded(fmt.largest << fmt.padding_bits, fmt)
    clamped = number if rounds(operation) else arb.max(-most if fmt.signed else arb(0), arb.min(most, number))
    return Real(clamped if isinstance(source, FloatFormat) else _of_integer(int(number), operation), fmt)


def _of_integer(number: int, operation: Operation) -> Any:
    """Return an integer converted to a float: what it is rounded to, and all numbers up to that.

    A constant is rounded where it is converted, once choices between constants are choices between floats; of
    data the rounding is dropped. Both are right.
    """
    source, fmt = operation.operands[0], operation.result
    assert isinstance(fmt, FloatFormat) and isinstance(source, IntegerFormat)
    if abs(number) <= 1 << fmt.precision:
        return arb(number)
    word = np.array([number & (1 << source.bits) - 1], dtype=np.uint64)
    rounded = decoded(int(evaluate(operation, [word])[0]), fmt)
    return arb(number).union(rounded) if rounded.is_finite() else arb(number)


def _ordered(e: Evaluation, operation: Operation, term: int) -> int:
    """Note and return the sign of the difference of two operands; 2 where one is a NaN."""
    left, right = e.numbers(operation, term)
    nan = isinstance(operation.operands[0], FloatFormat) and (left.is_nan() or right.is_nan())
    if not (nan or left > right or left < right or left == right):
        raise Lost(STEP)
    e.outcomes[term] = 2 if nan else (left > right) - (left < right)
    return e.outcomes[term]


def _compare(e: Evaluation, operation: Operation, term: int) -> Value:
    relation, order = str(operation.attribute), _ordered(e, operation, term)
    if relation in ("num", "nan"):
        return int((order == 2) == (relation == "nan"))
    plain = relation if relation in OUTCOMES else relation.removesuffix("u")
    return int(relation != plain) if order == 2 else int(OUTCOMES[plain][order + 1])


def _select(e: Evaluation, _: Operation, term: int) -> Value:
    condition, then, otherwise = e.plan.arguments[term]
    return e.known(then if e.word(condition) & 1 else otherwise)


def _extremum(e: Evaluation, operation: Operation, term: int) -> Value:
    how: Any = operation.attribute
    fmt = operation.result
    with suppress(Lost):  # the extremum of two balls is a ball
        _ordered(e, operation, term)
    if not isinstance(fmt, FloatFormat):
        return _words(e, operation, term)
    numbers = e.numbers(operation, term)
    some = [number for number in numbers if not number.is_nan()]
    if len(some) < 2:
        return Real(some[0] if some and not how[1] else arb("nan"), fmt)
    return Real((arb.max if how[0] == "max" else arb.min)(*numbers), fmt)


# -- bits
def _concatenation(e: Evaluation, operation: Operation, term: int) -> Value:
    cut: Any = operation.attribute
    (parts,) = e.plan.arguments[term]
    if (moved := _moved(e, parts, cut, operation.result.bits)) is not None:
        return moved
    words = [_bits(e, part, *field) for part, field in zip(parts, cut, strict=True)]
    return int(evaluate(operation, [np.array(words, dtype=np.uint64)]))


def _bits(e: Evaluation, part: int, low: int, width: int, _: bool, repeats: bool) -> int:
    """Return the bits of a term; of a number whose rounding was dropped the sign, if that alone is read."""
    value = e.known(part)
    if not isinstance(value, Real) or 1 << low != value.format.sign_mask or not (repeats or width == 1):
        return e.word(part)
    if value.number > 0 or value.number < 0:
        return value.format.sign_mask if value.number < 0 else 0
    raise Lost(STEP)


def _moved(e: Evaluation, parts: Sequence[int], cut: Sequence[Any], width: int) -> Real | None:
    """Return a real number whose sign alone is changed, or whose bits are padded with zeros; else None."""
    first, last = e.known(parts[0]), e.known(parts[-1])
    fields = tuple(each[:2] for each in cut)
    if len(parts) != 2:
        return None
    if first == 0 and isinstance(last, Real) and (width, fields[1], last.format) == (32, (0, 16), BF16):
        return Real(last.number, F32)
    if not isinstance(first, Real) or (width, *fields[0], fields[1][1]) != (
        first.format.bits,
        0,
        first.format.magnitude_bits,
        1,
    ):
        return None
    sign = _bits(e, parts[1], *cut[1]) >> fields[1][0] & 1
    return Real(-abs(first.number) if sign else abs(first.number), first.format)


# -- functions
def _function(e: Evaluation, operation: Operation, term: int) -> Value:
    name, fmt = stem(operation), operation.result
    given = e.numbers(operation, term)
    if name in _INTEGRAL:
        return Real(arb(one_step(_INTEGRAL[name], given[0])), fmt)
    finite = all(each.is_finite() for each in given)
    if name not in _FUNCTIONS or not (finite or name == "ex2"):
        raise Lost(operation)
    found = _FUNCTIONS[name](*given)
    if finite and not found.is_finite():
        raise Lost("a division by 0, or a square root or logarithm of a number that is not positive")
    return Real(found * e.plan.blur, fmt)


def _power(number: Any) -> Any:
    if number < _LEAST_EXPONENT:  # a mask such as -1e30 stands for minus infinity
        return arb(0, 2.0**-1000)
    if number.is_exact() and number.is_integer() and abs(number) < -_LEAST_EXPONENT:
        return arb(2) ** number
    return (number * arb.const_log2()).exp()


_INTEGRAL: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {"rint": np.rint, "trunc": np.trunc, "floor": np.floor, "ceil": np.ceil}
)

_FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "div": operator.truediv,
        "rcp": lambda number: 1 / number,
        "sqrt": arb.sqrt,
        "rsqrt": arb.rsqrt,
        "ex2": _power,
        "lg2": lambda number: number.log() / arb.const_log2(),
        "sin": arb.sin,
        "cos": arb.cos,
        "tanh": arb.tanh,
        "erf": arb.erf,
    }
)

_EITHER: Mapping[str, Rule] = MappingProxyType(
    {
        INPUT: lambda e, _, term: e.draw(e.plan.names[term], term),
        operations.CONVERT: _convert,
        operations.SELECT: _select,
        operations.EXTREMUM: _extremum,
        CONCATENATION: _concatenation,
    }
)

_OF_WORDS: Mapping[str, Rule] = MappingProxyType(
    {**_EITHER, UNDEFINED: _EITHER[INPUT], operations.COMPARE: _compare}
)
"""How words are computed, where not as `evaluation.evaluate` computes them."""

_OF_NUMBERS: Mapping[str, Rule] = MappingProxyType(
    {
        **_EITHER,
        UNDEFINED: lambda e, operation, term: Real(arb("nan"), operation.result),
        operations.FUSED: _fused,
        operations.NEGATE: lambda e, operation, term: Real(-e.numbers(operation, term)[0], operation.result),
        operations.DOT: _dot,
        operations.SCALED_DOT: _dot,
        operations.FUNCTION: _function,
        operations.QUOTIENT: _function,
    }
)
