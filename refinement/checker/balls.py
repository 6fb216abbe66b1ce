"""The numbers that terms are on given inputs: exact words, and real numbers as balls of certified radius.

Real numbers are balls of Arb (python-flint): whatever is computed of them lies inside. Sums and products of
small dyadic numbers have radius 0; functions, quotients and literals that no format has get a radius.
Roundings to formats of more than 8 bits are dropped, as a verdict over the reals says; conversions to fewer
bits and to integers are functions with steps, and have a value only where the ball lies within one step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import F32, F64, TF32, FloatFormat, Format, IntegerFormat
from .. import operations
from ..evaluation import evaluate
from ..operations import OUTCOMES, Accumulation, Sum
from ..terms import CONCATENATION, CONSTANT, INPUT, UNDEFINED, VECTOR, Operation, TermStore
from ..traversal import by_operation
from .arguments import gathered
from .meaning import NARROW, is_great, number_of, rounds, stem
from .numbers import STEP, Field, Literal, Lost, Real, Value, decoded, encoded, ends, word_of

_LEAST_EXPONENT = 2**16
"""Powers of two below 2 to minus this are as good as 0, which no format tells from them."""

PRECISION = 192
"""Bits of a ball's midpoint: sums and products of the numbers drawn are exact."""


Draw = Callable[[Operation, int, int], int]
"""From the operation and the index of an input, and its term, to its word."""


class Plan:
    """Terms that are to be evaluated at several points, each after its arguments.

    Parameters
    ----------
    store : TermStore
        The terms.
    terms : array (n,)
        In increasing order; with every term all that it depends on.
    """

    def __init__(self, store: TermStore, terms: NDArray[np.int64]) -> None:
        self.terms: list[int] = terms.tolist()
        self.operations: dict[int, Operation] = {}
        self.arguments: dict[int, list[Any]] = {}
        self.literals: dict[int, Value] = {}
        for operation, members in by_operation(store, terms.astype(np.int32)):
            self.operations.update(dict.fromkeys(members.tolist(), operation))
            if operation.name == CONSTANT:
                words = store.constant_values(members).tolist()
                self.literals.update(zip(members.tolist(), map(Literal, words), strict=True))
                continue
            if operation.name in (INPUT, UNDEFINED):
                columns = [store.arguments(members)[:, 0].tolist()]
            else:
                columns = [each.tolist() for each in gathered(store, operation, members)]
            for term, given in zip(members.tolist(), zip(*columns, strict=True), strict=bool(columns)):
                self.arguments[term] = list(given)

    def inputs(self) -> list[tuple[str, Format, int]]:
        """Return the names of inputs that terms depend on."""
        return [
            (str(operation.attribute), operation.result, self.arguments[term][0])
            for term, operation in self.operations.items()
            if operation.name == INPUT
        ]

    def at(self, draw: Draw) -> Evaluation:
        """Return the values of all terms at a point."""
        ctx.prec = PRECISION
        found = Evaluation(self)
        with np.errstate(all="ignore"):
            for term in self.terms:
                operation = self.operations[term]
                if operation.name == UNDEFINED and isinstance(operation.result, FloatFormat):
                    found.values[term] = Real(arb("nan"), operation.result)
                elif operation.name in (INPUT, UNDEFINED):
                    found.values[term] = draw(operation, self.arguments[term][0], term)
                elif operation.name not in (CONSTANT, VECTOR):
                    found.compute(operation, term)
        return found


class Evaluation:
    """Values of terms at one point.

    Parameters
    ----------
    plan : Plan
        The terms.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.values: dict[int, Value] = dict(plan.literals)
        self.outcomes: dict[int, int] = {}
        """Of comparisons and extrema the sign of the difference of the numbers; of steps which one it is."""
        self.decoded: dict[tuple[int, Format], Any] = {}

    def compute(self, operation: Operation, term: int) -> None:
        """Note the value of a term whose arguments have theirs."""
        rule = _RULES.get(operation.name)
        try:
            if rule is None:
                raise Lost(str(operation))
            self.values[term] = rule(self, operation, term)
        except Lost as reason:
            self.values[term] = reason

    def known(self, term: int) -> int | Real:
        """Return what a term is."""
        value = self.values[term]
        if isinstance(value, Lost):
            raise value.with_traceback(None)
        return value

    def word(self, term: int) -> int:
        """Return the bits of a term."""
        value = self.known(term)
        if not isinstance(value, Real):
            return int(value)
        if (coarse := _coarse(self, term)) is not None:
            return int(coarse)
        return word_of(value.number, value.format)

    def integer(self, term: int, fmt: Format) -> int:
        """Return a term as an integer."""
        assert isinstance(fmt, IntegerFormat)
        word = self.word(term)
        return word - (1 << fmt.bits) if fmt.signed and word >> fmt.bits - 1 else word

    def number(self, term: int, fmt: Format) -> Any:
        """Return a term as a real number, infinite or NaN where a constant is."""
        value = self.known(term)
        assert isinstance(fmt, FloatFormat)
        if isinstance(value, Real):
            if value.format == fmt or {value.format, fmt} == {F32, TF32}:
                return value.number
            return decoded(self.word(term), fmt)
        key = (term, fmt)
        if key not in self.decoded:
            self.decoded[key] = decoded(value, fmt, literal=isinstance(value, Literal))
        return self.decoded[key]


Rule = Callable[[Evaluation, Operation, int], Value]


# -- sums and products
def _fused(e: Evaluation, operation: Operation, term: int) -> Value:
    how = operation.attribute
    assert isinstance(how, Sum) and isinstance(operation.result, FloatFormat)
    terms = e.plan.arguments[term]
    given = [e.number(each, fmt) for each, fmt in zip(terms, operation.operands, strict=True)]
    if len(given) > 1 and any(isinstance(e.values[each], Literal) for each in terms):
        _round_coarse(e, operation, terms, given)
    total = _summed(how, given)
    return Real(total, operation.result) if rounds(operation) else _stepped(e, operation, term, total)


def _summed(how: Sum, given: Sequence[Any]) -> Any:
    pairs = 2 * how.products
    return sum((x * y for x, y in zip(given[:pairs:2], given[1:pairs:2], strict=True)), arb(0)) + sum(
        given[pairs:], arb(0)
    )


def _constant(e: Evaluation, operation: Operation, terms: Sequence[int]) -> Fraction:
    """Return the greatest constant that is an addend of a sum, 0 if there is none."""
    assert isinstance(operation.attribute, Sum)
    found = Fraction(0)
    for term, fmt in list(zip(terms, operation.operands, strict=True))[2 * operation.attribute.products :]:
        value = e.values[term]
        if isinstance(value, Literal) and (number := number_of(value, fmt)) is not None:
            found = max(found, abs(number))
    return found


def _coarse(e: Evaluation, term: int) -> int | None:
    """Return the word of a sum that a great constant rounds to whole numbers; None of other terms.

    Its bits, and what is left where the constant is taken away again, are those of the rounded sum.
    """
    operation, value = e.plan.operations[term], e.values[term]
    fmt, how = operation.result, operation.attribute
    if operation.name == operations.NEGATE and isinstance(fmt, FloatFormat):
        inner = _coarse(e, e.plan.arguments[term][0])
        return None if inner is None else inner ^ fmt.sign_mask
    if operation.name != operations.FUSED or not isinstance(value, Real) or len(operation.operands) < 2:
        return None
    if not is_great(_constant(e, operation, e.plan.arguments[term]), fmt):
        return None
    assert isinstance(how, Sum)
    found = set(encoded(ends(value.number), value.format, how.rounding))
    if len(found) > 1:
        raise Lost(STEP)
    return found.pop()


def _round_coarse(e: Evaluation, operation: Operation, terms: Sequence[int], given: list[Any]) -> None:
    """Round operands that are coarse sums where the constants of both sums cancel."""
    how = operation.attribute
    assert isinstance(how, Sum)
    for at, term in enumerate(terms):
        if (word := _coarse(e, term)) is not None and abs(_summed(how, given)) * 2 <= abs(given[at]):
            fmt = operation.operands[at]
            assert isinstance(fmt, FloatFormat)
            given[at] = decoded(word, fmt)


def _dot(e: Evaluation, operation: Operation, term: int) -> Value:
    how = operation.attribute
    assert isinstance(how, Accumulation)
    *vectors, addend = e.plan.arguments[term]
    *formats, last = operation.operands
    read = e.number if isinstance(operation.result, FloatFormat) else e.integer
    x, y = ([read(each, fmt) for each in part] for part, fmt in zip(vectors, formats, strict=True))
    total = sum((a * b for a, b in zip(x, y, strict=True)), read(addend, last))
    if isinstance(operation.result, FloatFormat):
        return Real(total, operation.result)
    bits = operation.result.bits
    if how.saturate:
        total = max(-(1 << bits - 1), min((1 << bits - 1) - 1, total))
    return int(total) & (1 << bits) - 1


def _scaled_dot(e: Evaluation, operation: Operation, term: int) -> Value:
    *vectors, left, right = e.plan.arguments[term]
    x, y = vectors[0], vectors[1]
    total = e.number(vectors[2], operation.operands[2])
    for at, (a, b) in enumerate(zip(x, y, strict=True)):
        factors = (a, b, left[at * len(left) // len(x)], right[at * len(right) // len(x)])
        formats = (*operation.operands[:2], *operation.operands[3:])
        product = arb(1)
        for each, fmt in zip(factors, formats, strict=True):
            product *= e.number(each, fmt)
        total += product
    assert isinstance(operation.result, FloatFormat)
    return Real(total, operation.result)


def _negate(e: Evaluation, operation: Operation, term: int) -> Value:
    (argument,) = e.plan.arguments[term]
    if isinstance(operation.result, FloatFormat):
        return Real(-e.number(argument, operation.result), operation.result)
    return -e.word(argument) & (1 << operation.result.bits) - 1


def _words(e: Evaluation, operation: Operation, term: int) -> Value:
    """Evaluate an operation on words exactly, as the machine does."""
    given = [
        np.array([e.word(each) for each in part] if isinstance(part, list) else e.word(part), dtype=np.uint64)
        for part in e.plan.arguments[term]
    ]
    return int(evaluate(operation, given))


# -- steps
def _stepped(e: Evaluation, operation: Operation, term: int, number: Any) -> int:
    """Return what a conversion with steps makes of a number, if that is the same for all of its ball."""
    attribute = operation.attribute
    if isinstance(attribute, Sum):
        attribute = Sum(0, 1, attribute.rounding)
    same = Operation(operation.name, operation.result, (F64,), attribute)
    try:
        found = set(evaluate(same, [ends(number).view(np.uint64)]).tolist())
    except (UnsupportedError, AssertionError) as reason:
        raise Lost(str(operation)) from reason
    if len(found) > 1:
        raise Lost(STEP)
    e.outcomes[term] = word = int(found.pop())
    return word


def _convert(e: Evaluation, operation: Operation, term: int) -> Value:
    (argument,), (source,), result = e.plan.arguments[term], operation.operands, operation.result
    if isinstance(source, IntegerFormat):
        if rounds(operation) and isinstance(result, FloatFormat):
            return Real(arb(e.integer(argument, source)), result)
        return _words(e, operation, term)
    number = e.number(argument, source)
    if isinstance(result, FloatFormat) and result.bits > NARROW:
        return Real(number if rounds(operation) else _clamped(number, result), result)
    return _stepped(e, operation, term, number)


def _clamped(number: Any, fmt: FloatFormat) -> Any:
    most = decoded(fmt.largest << fmt.padding_bits, fmt)
    return arb.max(-most if fmt.signed else arb(0), arb.min(most, number))


def _sign(left: Any, right: Any) -> int:
    """Return the sign of a difference; 2 where one is a NaN."""
    if left.is_nan() or right.is_nan():
        return 2
    if left > right or left < right:
        return 1 if left > right else -1
    if left == right:
        return 0
    raise Lost(STEP)


def _ordered(e: Evaluation, operation: Operation, term: int) -> int:
    fmt, given = operation.operands[0], e.plan.arguments[term]
    if isinstance(fmt, FloatFormat):
        found = _sign(*(e.number(each, fmt) for each in given))
    else:
        left, right = (e.integer(each, fmt) for each in given)
        found = (left > right) - (left < right)
    e.outcomes[term] = found
    return found


def _compare(e: Evaluation, operation: Operation, term: int) -> Value:
    relation, order = str(operation.attribute), _ordered(e, operation, term)
    if relation in ("num", "nan"):
        return int((order == 2) == (relation == "nan"))
    plain = relation if relation in OUTCOMES else relation.removesuffix("u")
    return int(relation != plain) if order == 2 else int(OUTCOMES[plain][order + 1])


def _select(e: Evaluation, operation: Operation, term: int) -> Value:
    condition, then, otherwise = e.plan.arguments[term]
    return e.known(then if e.word(condition) & 1 else otherwise)


def _extremum(e: Evaluation, operation: Operation, term: int) -> Value:
    fmt, (left, right) = operation.result, e.plan.arguments[term]
    assert isinstance(operation.attribute, tuple)
    which, propagates, _ = operation.attribute
    if not isinstance(fmt, FloatFormat):
        chosen = left if (_ordered(e, operation, term) > 0) == (which == "max") else right
        return e.word(chosen)
    numbers = [e.number(each, fmt) for each in (left, right)]
    nans = [each for each in numbers if each.is_nan()]
    if nans:
        return Real(
            nans[0] if propagates or len(nans) > 1 else next(n for n in numbers if not n.is_nan()), fmt
        )
    with suppress(Lost):  # the extremum of two balls is a ball
        _ordered(e, operation, term)
    return Real(arb.max(*numbers) if which == "max" else arb.min(*numbers), fmt)


# -- bits
def _concatenation(e: Evaluation, operation: Operation, term: int) -> Value:
    assert isinstance(operation.attribute, tuple)
    (parts,), cut = e.plan.arguments[term], [Field(*each) for each in operation.attribute]
    if (moved := _moved(e, parts, cut, operation.result.bits)) is not None:
        return moved
    word, position = 0, 0
    for part, field in zip(parts, cut, strict=True):
        bits = _sign_bit(e, part) if _is_sign(e, part, field) else e.word(part) >> field.low
        every = (1 << field.width) - 1
        word |= (every * (bits & 1) if field.repeats else bits & every) << position
        position += field.width
    return word


def _is_sign(e: Evaluation, part: int, field: Field) -> bool:
    value = e.known(part)
    if not isinstance(value, Real) or not value.format.signed:
        return False
    return (1 << field.low == value.format.sign_mask) and (field.repeats or field.width == 1)


def _sign_bit(e: Evaluation, part: int) -> int:
    number = e.known(part).number  # type: ignore[union-attr]
    if number > 0 or number < 0:
        return int(number < 0)
    raise Lost(STEP)


def _moved(e: Evaluation, parts: Sequence[int], cut: Sequence[Field], width: int) -> Real | None:
    """Return a real number whose sign alone is changed, or whose bits are padded with zeros; else None."""
    first, last = e.known(parts[0]), e.known(parts[-1])
    if len(parts) != 2:
        return None
    whole = (last, cut[1]) if isinstance(first, Literal) and not first else (first, cut[0])
    value, field = whole
    if not isinstance(value, Real) or field.low or field.repeats:
        return None
    fmt = value.format
    if value is last and field.width == fmt.bits == 16 and width == 32 and fmt.exponent_bits == 8:
        return Real(value.number, F32)
    if value is not first or field.width != fmt.magnitude_bits or width != fmt.bits or cut[1].width != 1:
        return None
    negative = _sign_bit(e, parts[1]) if _is_sign(e, parts[1], cut[1]) else e.word(parts[1]) >> cut[1].low & 1
    return Real(-abs(value.number) if negative else abs(value.number), fmt)


# -- functions
def _function(e: Evaluation, operation: Operation, term: int) -> Value:
    name, fmt = stem(operation), operation.result
    if not isinstance(fmt, FloatFormat):
        return _words(e, operation, term)
    given = [
        e.number(each, read) for each, read in zip(e.plan.arguments[term], operation.operands, strict=True)
    ]
    if name in _INTEGRAL:
        found = set(_INTEGRAL[name](ends(given[0])).tolist())
        if len(found) > 1:
            raise Lost(STEP)
        return Real(arb(found.pop()), fmt)
    if name not in _FUNCTIONS or not (name == "ex2" or all(each.is_finite() for each in given)):
        raise Lost(str(operation))
    return Real(_FUNCTIONS[name](*given), fmt)


def _divided(left: Any, right: Any) -> Any:
    if right.contains(0) and not (right.is_zero() and left.is_zero()):
        raise Lost("a quotient by 0")
    return left / right


def _root(number: Any) -> Any:
    if number < 0:
        return arb("nan")
    if not number >= 0:
        raise Lost("the root of a number next to 0")
    return number.sqrt()


def _logarithm(number: Any) -> Any:
    if number < 0:
        return arb("nan")
    if number.is_zero():
        return arb("-inf")
    if not number > 0:
        raise Lost("the logarithm of a number next to 0")
    return number.log() / arb.const_log2()


def _power(number: Any) -> Any:
    if number < -_LEAST_EXPONENT:  # a mask such as -1e30 stands for minus infinity
        return arb(0, 2.0**-1000)
    if number.is_exact() and number.is_integer() and abs(number) < 2**16:
        return arb(2) ** number
    return (number * arb.const_log2()).exp()


_INTEGRAL: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {"rint": np.rint, "trunc": np.trunc, "floor": np.floor, "ceil": np.ceil}
)

_FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "div": _divided,
        "rcp": lambda number: _divided(arb(1), number),
        "sqrt": _root,
        "rsqrt": lambda number: _divided(arb(1), _root(number)),
        "ex2": _power,
        "lg2": _logarithm,
        "sin": lambda number: number.sin(),
        "cos": lambda number: number.cos(),
        "tanh": lambda number: number.tanh(),
        "erf": lambda number: number.erf(),
    }
)

_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        operations.FUSED: _fused,
        operations.RING: _words,
        operations.NEGATE: _negate,
        operations.EXTEND: _words,
        operations.DOT: _dot,
        operations.SCALED_DOT: _scaled_dot,
        operations.CONVERT: _convert,
        operations.COMPARE: _compare,
        operations.SELECT: _select,
        operations.EXTREMUM: _extremum,
        operations.BITWISE: _words,
        operations.FUNCTION: _function,
        operations.QUOTIENT: _function,
        CONCATENATION: _concatenation,
    }
)
