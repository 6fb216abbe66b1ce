"""Numbers that a choice makes infinite: where what is computed of them is none, though the reals cancel.

``where(M, S, -∞)`` is no real number where ``M`` does not hold. Less itself it is a NaN, as is the first tile
of a softmax in tiles if all of it is masked. A kernel may be no number only where its contract is none.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..spec.errors import UnsupportedError
from ..spec.formats import BF16, F16, F32, F64, FloatFormat, Format
from . import operations
from .interning import Ids
from .normal_forms import NormalForms
from .terms import CONCATENATION, CONSTANT, NORMAL_FORM, VECTOR, Operation
from .traversal import by_operation, fill, operands

_FORMATS: dict[int, tuple[FloatFormat, ...]] = {16: (F16, BF16), 32: (F32,), 64: (F64,)}
"""What constants may be read in, by their width."""

_MOST = 256
"""Cases, of choices, that are told apart."""

_UNKNOWN = -1

Event = frozenset[frozenset[Hashable]]
"""Cases, in any of which something is so; in each of them some choices come out in one way."""

_NEVER: Event = frozenset()
_ALWAYS: Event = frozenset((frozenset(),))

_BOUNDED = ("tanh", "erf", "sigmoid")
_EXPONENTIALS = ("ex2", "exp")
_LOGARITHMS = ("lg2", "log")


class _When(NamedTuple):
    """When a number is infinite or 0 by a choice, and when something that it is made of is none."""

    positive: Event = _NEVER
    negative: Event = _NEVER
    zero: Event = _NEVER
    none: Event = _NEVER

    @property
    def infinite(self) -> Event:
        return self.positive | self.negative


_PLAIN = _When()


class InfiniteChoices:
    """Tells which terms may be no number because of what is chosen, where others are one.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    """

    def __init__(self, forms: NormalForms) -> None:
        self._forms, self._store = forms, forms.store
        self._known: dict[int, _When] = {}

    def are_none(self, actual: Ids, expected: Ids) -> NDArray[np.bool_]:
        """Tell of which terms (n,) some is no number in cases in which none of the others' is lacking.

        Raises
        ------
        UnsupportedError
            If there are too many cases.
        """
        found = np.zeros(len(actual), dtype=bool)
        if not len(actual) or not self._any() or not self._touched(actual)[actual].any():
            return found
        actual, expected = (self._forms.software.replaced(each) for each in (actual, expected))
        touched = self._touched(np.concatenate([actual, expected]))
        self._compute(touched)
        touched = touched[np.concatenate([actual, expected])]
        for place in np.flatnonzero(touched[: len(actual)]).tolist():
            kernel, contract = (self._of(int(each[place])).none for each in (actual, expected))
            found[place] = any(not any(case <= mine for case in contract) for mine in kernel)
        return found

    # -- what depends on a choice of an infinity
    def _any(self) -> bool:
        """Tell whether there are such choices at all."""
        chosen = self._store.named(operations.SELECT)
        terms = np.arange(len(self._store), dtype=np.int32)
        for operation, members in by_operation(
            self._store, terms[chosen[self._store.operation_numbers(terms)]]
        ):
            sides = self._store.arguments(members)[:, 1:3].reshape(-1)
            if self._infinite(sides, operation.result).any():
                return True
        return False

    def _touched(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell of each term of the store whether some terms depend on it, and it on such a choice."""
        store = self._store
        table = np.full(len(store), _UNKNOWN, dtype=np.int8)

        def compute(operation: Operation, members: Ids, known: NDArray[Any]) -> Any:
            if operation.name == VECTOR:
                return known[store.elements(members)].max(axis=-1)
            given = operands(store, operation, members)
            found = (
                np.max([known[each] for each in given], axis=0) if given else np.zeros(len(members), np.int8)
            )
            if operation.name == operations.SELECT:
                for side in given[1:]:
                    found |= self._infinite(side, operation.result)
            return found

        fill(store, terms, table, _UNKNOWN, lambda each, members: operands(store, each, members), compute)
        touched: NDArray[np.bool_] = table == 1
        return touched

    def _compute(self, touched: NDArray[np.bool_]) -> None:
        for term in np.flatnonzero(touched).tolist():  # arguments come before what is made of them
            if term not in self._known:
                self._known[term] = self._computed(term)

    def _infinite(self, terms: Ids, fmt: Format) -> NDArray[np.bool_]:
        found = np.zeros(len(terms), dtype=bool)
        constants = self._store.are(CONSTANT, terms)
        if constants.any():
            for each in _FORMATS.get(fmt.bits, ()):
                found |= constants & self._forms.quantifier.finiteness.constant(terms, each)
        return found

    def _of(self, term: int) -> _When:
        if (found := self._known.get(term)) is not None:
            return found
        one = np.array([term], dtype=np.int32)
        if not self._store.are(CONSTANT, one)[0]:
            return _PLAIN
        width = int(self._store.widths(one)[0])
        word = int(self._store.constant_values(one)[0])
        if not word & ((1 << (width - 1)) - 1):
            return _When(zero=_ALWAYS)
        if not self._infinite(one, operations.unsigned(width) if width in _FORMATS else F32)[0]:
            return _PLAIN
        return _When(negative=_ALWAYS) if word >> (width - 1) else _When(positive=_ALWAYS)

    # -- operation by operation
    def _computed(self, term: int) -> _When:
        operation = self._store.operation(term)
        if operation.name == NORMAL_FORM:
            return _PLAIN
        if operation.name == operations.SELECT and self._is_finite(term, operation.result):
            return _PLAIN
        one = np.array([term], dtype=np.int32)
        arguments = [int(each) for some in operands(self._store, operation, one) for each in some]
        given = [self._of(each) for each in arguments]
        none = _either([each.none for each in given])
        found = self._value(operation, arguments, given)
        return found._replace(none=_either([none, found.none]))

    def _is_finite(self, term: int, fmt: Format) -> bool:
        """Tell whether a choice by one small element is finite for all its finite values."""
        words = self._forms.element_functions.finite_values(term)
        if words is None:
            return False
        constants = self._store.constants(np.unique(words), fmt.bits)
        return not self._infinite(constants, fmt).any()

    def _value(self, operation: Operation, arguments: Sequence[int], given: Sequence[_When]) -> _When:
        name = operation.name
        if name == operations.SELECT:
            return self._chosen(arguments[0], *given[1:])
        if name == operations.FUSED:
            assert isinstance(operation.attribute, operations.Sum)
            count = 2 * operation.attribute.products
            pairs = zip(
                arguments[:count:2],
                arguments[1:count:2],
                operation.operands[:count:2],
                operation.operands[1:count:2],
                strict=True,
            )
            return _sum([*(self._product(*each) for each in pairs), *given[count:]])
        if name in (operations.DOT, operations.SCALED_DOT):
            left, right = (self._store.elements(np.array([each]))[0].tolist() for each in arguments[:2])
            addend = (
                self._store.elements(np.array([arguments[2]]))[0, 0]
                if name == operations.SCALED_DOT
                else arguments[2]
            )
            return _sum(
                [
                    *(
                        self._product(*each, *operation.operands[:2])
                        for each in zip(left, right, strict=True)
                    ),
                    self._of(int(addend)),
                ]
            )
        if name == operations.NEGATE:
            return _When(given[0].negative, given[0].positive, given[0].zero)
        if name == operations.EXTREMUM:
            assert isinstance(operation.attribute, tuple)
            return _extremum(*given, greatest=operation.attribute[0] == "max")
        if operations.divides(operation) or name == operations.QUOTIENT:
            return _quotient(given[0] if len(given) > 1 else _PLAIN, given[-1])
        if name == operations.COMPARE:
            constant = self._store.are(CONSTANT, np.array(arguments[:2])).any()
            one, other = given[:2]
            return (
                _PLAIN
                if constant
                else _When(
                    none=_either([_both(one.positive, other.positive), _both(one.negative, other.negative)])
                )
            )
        if name == operations.FUNCTION:
            return _function(str(operation.attribute).partition(".")[0], given)
        if name == operations.CONVERT and not (
            isinstance(operation.result, FloatFormat) and isinstance(operation.operands[0], FloatFormat)
        ):
            return _PLAIN
        if name in (operations.CONVERT, CONCATENATION, VECTOR):
            return _When(
                _either([each.positive for each in given]), _either([each.negative for each in given])
            )
        if name == operations.BITWISE:
            infinite = _either([each.infinite for each in given])
            return _When(infinite, infinite)
        return _PLAIN

    def _chosen(self, condition: int, then: _When, otherwise: _When) -> _When:
        number, opposite = self._forms.conditions.of(np.array([condition], dtype=np.int32))
        holds, fails = (
            frozenset((frozenset(((int(number[0]), bool(opposite[0]) == side),)),)) for side in (False, True)
        )
        positive, negative, zero = (
            _either([_both(holds, one), _both(fails, other)])
            for one, other in zip(then[:3], otherwise[:3], strict=True)
        )
        return _When(positive, negative, zero)

    def _product(self, left: int, right: int, one: Format, other: Format) -> _When:
        factors = [self._of(left), self._of(right)]
        zero = _either([each.zero for each in factors])
        if not any(each.infinite for each in factors):
            return _When(zero=zero)
        signs, lost = [], []
        for factor, term, fmt, by in (
            (factors[0], right, other, factors[1]),
            (factors[1], left, one, factors[0]),
        ):
            if not factor.infinite:
                continue
            lost.append(_both(factor.infinite, by.zero))
            constant = np.array([term], dtype=np.int32)
            if self._store.are(CONSTANT, constant)[0]:
                width = int(self._store.widths(constant)[0])
                negative = int(self._store.constant_values(constant)[0]) >> (width - 1)
                signs.append((factor.negative, factor.positive) if negative else factor[:2])
                continue
            (number,) = self._forms.identifiers(constant, fmt).tolist()
            lost.append(_both(factor.infinite, frozenset((frozenset((("zero", number),)),))))
            signs.append((factor.infinite, factor.infinite))
        positive, negative_ = (_either(list(each)) for each in zip(*signs, strict=True))
        return _When(positive, negative_, zero, _either(lost))


def _either(events: Sequence[Event]) -> Event:
    """Return when any of some events is, without cases that are within others."""
    every = reduce(frozenset.union, events, _NEVER)
    if len(every) < 2:
        return every
    if len(every) > _MOST:
        raise UnsupportedError(f"what is chosen makes numbers infinite in more than {_MOST} cases")
    return frozenset(case for case in every if not any(other < case for other in every))


def _both(one: Event, other: Event) -> Event:
    """Return when two events are at once."""
    if not (one and other) or one in (other, _ALWAYS):
        return one and other
    if other == _ALWAYS:
        return one
    if len(one) * len(other) > _MOST * _MOST:
        raise UnsupportedError(f"what is chosen makes numbers infinite in more than {_MOST} cases")
    return _either([frozenset(each for x in one for y in other if not _contradict(each := x | y))])


def _contradict(case: frozenset[Hashable]) -> bool:
    """Tell whether a choice comes out both ways."""
    choices = [each for each in case if isinstance(each, tuple) and isinstance(each[1], bool)]
    return len({each[0] for each in choices}) < len(choices)


def _sum(terms: Sequence[_When]) -> _When:
    positive, negative, lost = _NEVER, _NEVER, [each.none for each in terms]
    for each in terms:
        lost += [_both(positive, each.negative), _both(negative, each.positive)]
        positive, negative = _either([positive, each.positive]), _either([negative, each.negative])
    zero = reduce(_both, (each.zero for each in terms)) if all(each.zero for each in terms) else _NEVER
    return _When(positive, negative, zero, _either(lost))


def _extremum(one: _When, other: _When, *, greatest: bool) -> _When:
    low, high = (1, 0) if greatest else (0, 1)
    first, last = _both(one[low], other[low]), _either([one[high], other[high]])
    zero = _either([_both(x.zero, _either([y.zero, y[low]])) for x, y in ((one, other), (other, one))])
    return _When(last, first, zero) if greatest else _When(first, last, zero)


def _quotient(numerator: _When, divisor: _When) -> _When:
    lost = _either([_both(numerator.infinite, divisor.infinite), divisor.zero])
    zero = _either([numerator.zero, divisor.infinite])
    return _When(numerator.infinite, numerator.infinite, zero, lost)


def _function(name: str, given: Sequence[_When]) -> _When:
    one = given[0]
    if name in _EXPONENTIALS:
        return _When(positive=one.positive, zero=one.negative)
    if name in _LOGARITHMS:
        return _When(one.positive, one.zero, none=one.negative)
    if name in _BOUNDED:
        return _When(zero=one.zero)
    if name == "rcp":
        return _quotient(_PLAIN, one)
    if name in ("sqrt", "rsqrt"):
        lost = one.negative if name == "sqrt" else _either([one.negative, one.zero])
        return (
            _When(one.positive, zero=one.zero, none=lost)
            if name == "sqrt"
            else _When(zero=one.positive, none=lost)
        )
    if name in ("sin", "cos"):
        return _When(none=one.infinite)
    infinite = _either([each.infinite for each in given])
    return _When(infinite, infinite)
