"""Choices between numbers in the proportion of a power of two, as merges of (maximum, sum) pairs make them.

``where(a > b, x + y·exp(b − a), y + x·exp(a − b))`` is ``x·exp(a − m) + y·exp(b − m)``, m = max(a, b): an
online softmax keeps the sum of the pair whose maximum is greater, and scales the other's. In general, if a
term is p where ``a ≥ b`` and q where ``a ≤ b``, and ``q = p·2^(s·(a − b))``, it is
``p·2^(s·(a − max(a, b)))``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...spec.float_encoding import decode, encode
from ...spec.formats import F64, FloatFormat, Format
from ...spec.rounding import Rounding
from ..normal_forms.elementary_forms import stem
from ..normal_forms.sparse_polynomials import Monomial, Sparse, added, without
from ..terms import operations
from ..terms.choices import chosen
from ..terms.domains import Contains, Rewriting
from ..terms.evaluation import apply
from ..terms.interning import Ids
from ..terms.store import CONSTANT, Operation, TermStore

_EXPONENTIAL = "ex2"

_DEPTH = 8
"""Operations between a term and the selects in it, five in a merge."""

_VISITED = 48
"""Terms of a merge that are looked at, which has about fifteen; what is larger is left as it is."""

_MOST_PRODUCTS = 8
"""Products that a case is a sum of; a merge has two."""

_ARITHMETIC = (operations.FUSED, operations.NEGATE)
_SEEN_THROUGH = (*_ARITHMETIC, operations.FUNCTION, operations.EXTREMUM)

_MERGES = (operations.FUSED, operations.SELECT)
"""What may be a merge: a sum of selects, or a select of sums."""


class _Order(NamedTuple):
    """A comparison of two floats: the one that is not less where it holds, and the other.

    Where both are equal, it holds or not (`of_equal`).
    """

    greater: int
    less: int
    format: FloatFormat
    of_equal: bool


class _Product(NamedTuple):
    """``Π factors · 2^exponent``, of terms; the exponent is a polynomial in terms."""

    factors: Monomial
    exponent: Sparse


class _Factor(NamedTuple):
    """The number s: a constant times terms."""

    coefficient: Fraction
    terms: Monomial


class _TooLargeError(Exception):
    """A term that is more than a merge."""


class ProportionalChoices(Rewriting):
    """Replaces choices between numbers in proportion by products with a power of two.

    Over the real numbers they are equal; nothing is said of roundings, nor of infinities and NaNs.

    Attributes
    ----------
    count : int
        How many terms were replaced.
    """

    def __init__(self, store: TermStore) -> None:
        super().__init__(store)
        self._chooses = Contains(store, _is_select)
        self._scales = Contains(store, _is_exponential)
        self._tried: dict[int, int] = {}
        self.count = 0

    @staticmethod
    def may_apply(store: TermStore) -> bool:
        """Tell whether there are a choice and a power of two among all terms of a store."""
        return any(map(_is_select, store.operations)) and any(map(_is_exponential, store.operations))

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return terms of one operation whose arguments are replaced."""
        if operation.name == operations.SELECT:
            found = chosen(self.store, *given)
        else:
            found = super().applied(operation, terms, given)
        if operation.name not in _MERGES:
            return found
        candidates = np.unique(found)
        candidates = candidates[self._chooses.values(candidates) & self._scales.values(candidates)]
        merged = {each: self._merged(each) for each in candidates.tolist()}
        return np.array([merged.get(each, each) for each in found.tolist()], dtype=np.int32)

    def _merged(self, term: int) -> int:
        """Return what a term is if it is a merge; else the term itself."""
        if term not in self._tried:
            order = self._order_within(term)
            merged = None if order is None else self._as_product(term, order)
            self._tried[term] = term if merged is None else merged
            self.count += merged is not None
        return self._tried[term]

    # -- the comparison, and the term in both its cases
    def _order_within(self, term: int) -> _Order | None:
        """Return the nearest comparison by which a term chooses."""
        pending, seen = [term], {term}
        while pending and len(seen) < _VISITED:
            operation, arguments = self._parts(pending.pop(0))
            if operation.name == operations.SELECT:
                if (order := self._order(arguments[0])) is not None:
                    return order
            elif operation.name in _SEEN_THROUGH:
                new = [argument for argument in arguments if argument not in seen]
                seen.update(new)
                pending += new
        return None

    def _parts(self, term: int) -> tuple[Operation, list[int]]:
        """Return the operation that a term is, and its arguments."""
        operation = self.store.operation(term)
        return operation, self.store.arguments(np.array([term]))[0].tolist()[: len(operation.operands)]

    def _order(self, condition: int) -> _Order | None:
        """Return a comparison of floats by their order; None of other conditions."""
        operation, sides = self._parts(condition)
        relation = str(operation.attribute).removesuffix("u")
        which = operations.EXTREMES.get(relation)
        if operation.name != operations.COMPARE or which is None:
            return None
        fmt = operation.operands[0]
        if not isinstance(fmt, FloatFormat):
            return None
        greater, less = sides if which == "max" else sides[::-1]
        return _Order(greater, less, fmt, operations.OUTCOMES[relation][1])

    def _case(self, term: int, order: _Order, *, holds: bool, depth: int = _DEPTH) -> int:
        """Return what a term is where one number is not less than the other (`holds`), or not greater.

        Of equal numbers it is one of the two cases where all comparisons take the same side of them:
        ``a > b ? p : (b > a ? q : r)`` is a third number there.
        """
        operation, arguments = self._parts(term)
        if depth == 0 or operation.name not in (*_SEEN_THROUGH, operations.SELECT):
            return term
        if operation.name == operations.SELECT:
            own = self._order(arguments[0])
            if (
                own is None
                or own.format != order.format
                or {own.greater, own.less} != {order.greater, order.less}
            ):
                return term
            alike = own.greater == order.greater
            if (own.of_equal == alike) != order.of_equal and set(arguments[1:]) != {own.greater, own.less}:
                return term
            side = 1 if alike == holds else 2
            return self._case(arguments[side], order, holds=holds, depth=depth - 1)
        alike = operation.result == order.format and set(arguments) == {order.greater, order.less}
        if operation.name == operations.EXTREMUM and alike:
            assert isinstance(operation.attribute, tuple)
            return order.greater if (operation.attribute[0] == "max") == holds else order.less
        made = [self._case(argument, order, holds=holds, depth=depth - 1) for argument in arguments]
        return term if made == arguments else int(apply(self.store, operation, *([each] for each in made))[0])

    # -- cases as sums of products with powers of two
    def _as_product(self, term: int, order: _Order) -> int | None:
        """Return a term as one of its cases times a power of two; None if its cases are not in proportion."""
        if self.store.widths(np.array([term]))[0] != order.format.bits:
            return None
        first, second = (self._case(term, order, holds=holds) for holds in (True, False))
        if first == second:
            return first
        try:
            shared = self._reached(first) & self._reached(second) | {order.greater, order.less}
            one, other = (self._products(each, shared, order.format) for each in (first, second))
        except _TooLargeError:
            return None
        factor = _proportion(one, other, order)
        return None if factor is None else self._scaled(first, factor, order)

    def _reached(self, term: int) -> set[int]:
        """Return the nearest terms that a case is made of by arithmetic and powers of two."""
        pending, seen = [term], {term}
        while pending and len(seen) < _VISITED:
            operation, arguments = self._parts(pending.pop(0))
            if operation.name in _ARITHMETIC or _is_exponential(operation):
                new = [argument for argument in arguments if argument not in seen]
                seen.update(new)
                pending += new
        return seen

    def _products(self, term: int, shared: set[int], read: Format) -> list[tuple[Fraction, _Product]]:
        """Return the products, with their coefficients, of which a case is the sum.

        Terms that both cases have are not looked into.
        """
        operation, arguments = self._parts(term)
        if operation.name == CONSTANT:
            assert isinstance(read, FloatFormat)
            words = self.store.constant_values(np.array([term])).astype(read.storage)
            number = float(decode(words, read)[0])
            if not np.isfinite(number):
                raise _TooLargeError
            return [(Fraction(number), _Product((), {}))] if number else []
        if operation.name == operations.NEGATE and read == operation.result:  # x and -x may be shared apart
            return [(-number, each) for number, each in self._products(arguments[0], shared, read)]
        if term in shared or read != operation.result:
            return [(Fraction(1), _Product((term,), {}))]
        if _is_exponential(operation):
            return [
                (Fraction(1), _Product((), self._polynomial(arguments[0], shared, operation.operands[0])))
            ]
        if operation.name != operations.FUSED:
            return [(Fraction(1), _Product((term,), {}))]
        parts = [
            self._products(*pair)
            for pair in zip(arguments, [shared] * len(arguments), operation.operands, strict=True)
        ]
        assert isinstance(operation.attribute, operations.Sum)
        paired = 2 * operation.attribute.products
        found = [
            (
                number * times,
                _Product(_sorted(*one.factors, *other.factors), added(one.exponent, other.exponent)),
            )
            for left, right in zip(parts[:paired:2], parts[1:paired:2], strict=True)
            for (number, one), (times, other) in product(left, right)
        ]
        found += [each for addend in parts[paired:] for each in addend]
        if len(found) > _MOST_PRODUCTS:
            raise _TooLargeError
        return found

    def _polynomial(self, term: int, shared: set[int], read: Format) -> Sparse:
        """Return an exponent as a polynomial in terms."""
        found: Sparse = {}
        for number, (factors, exponent) in self._products(term, shared, read):
            if exponent:
                raise _TooLargeError
            found = added(found, {factors: number})
        return found

    def _scaled(self, term: int, factor: _Factor, order: _Order) -> int:
        """Return ``term·2^(s·(greater − max(greater, less)))``."""
        store, fmt = self.store, order.format
        greatest = apply(store, operations.extremum(fmt, "max"), [order.greater], [order.less])
        opposite = apply(store, operations.negate(fmt), greatest)
        exponent = apply(store, operations.fused(fmt, addends=(fmt, fmt)), [order.greater], opposite)
        of_number, word = _constant(factor.coefficient, (fmt, F64))
        number = store.constants(word, of_number.bits)
        exponent = apply(store, operations.fused(F64, ((of_number, fmt),)), number, exponent)
        for each in factor.terms:
            exponent = apply(store, operations.fused(F64, ((fmt, F64),)), [each], exponent)
        power = apply(store, operations.function(_EXPONENTIAL, fmt, F64), exponent)
        return int(apply(store, operations.fused(fmt, ((fmt, fmt),)), [term], power)[0])


def _proportion(
    one: Sequence[tuple[Fraction, _Product]], other: Sequence[tuple[Fraction, _Product]], order: _Order
) -> _Factor | None:
    """Return s if one sum times ``2^(s·(less − greater))``, product by product, is the other; else None.

    Both are the cases of a term; ``greater`` and ``less`` are terms.
    """
    if len(one) != len(other) or not one:
        return None
    difference: Sparse = added({(order.greater,): Fraction(1)}, {(order.less,): Fraction(1)}, -1)
    number, (factors, exponent) = one[0]
    for times, (others, its) in other:
        ratio = added(its, exponent, -1)
        if times != number or others != factors:
            continue
        lead = next((each for each in ratio if order.greater in each), None)
        if lead is None:
            continue
        factor = _Factor(Fraction(ratio[lead]), without(lead, (order.greater,)))
        step = _times(difference, factor)
        moved = Counter((n, f, _frozen(added(e, step))) for n, (f, e) in one)
        is_exact = Fraction(float(factor.coefficient)) == factor.coefficient
        if is_exact and moved == Counter((n, f, _frozen(e)) for n, (f, e) in other):
            return factor
    return None


def _constant(number: Fraction, formats: Sequence[FloatFormat]) -> tuple[FloatFormat, int]:
    """Return the first format that has a number, so that literals stay what they are, and its encoding."""
    for fmt in formats:
        word = encode(np.array([float(number)]), fmt, Rounding.NEAREST_EVEN)
        if Fraction(float(decode(word, fmt)[0])) == number:
            return fmt, int(word[0])
    raise AssertionError(number)


def _is_select(operation: Operation) -> bool:
    return operation.name == operations.SELECT


def _is_exponential(operation: Operation) -> bool:
    return operation.name == operations.FUNCTION and stem(operation) == _EXPONENTIAL


def _sorted(*terms: int) -> Monomial:
    return tuple(sorted(terms, reverse=True))


def _frozen(polynomial: Mapping[Monomial, Any]) -> frozenset[tuple[Monomial, Any]]:
    return frozenset(polynomial.items())


def _times(polynomial: Sparse, factor: _Factor) -> Sparse:
    return {
        _sorted(*monomial, *factor.terms): number * factor.coefficient
        for monomial, number in polynomial.items()
    }
