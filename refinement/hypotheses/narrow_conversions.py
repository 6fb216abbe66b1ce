"""Roundings to formats of smaller range than those of the formula, behind selects and extrema too.

``f16(max(x, 0))`` overflows where x does. The formula implies that such a rounding does not overflow where it
rounds the same numbers to a format that is as narrow; or bounds do. What is chosen from counts on each side.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from math import inf

import numpy as np

from ...spec.errors import UnsupportedError
from ...spec.formats import FloatFormat, Format, as_float
from ..analysis.quantisation import quantises, widens
from ..analysis.real_ranges import overflow_from
from ..normal_forms.forms import NormalForms
from ..normal_forms.sparse_polynomials import Monomial, Sparse, without
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import INPUT, Operation
from ..terms.traversal import by_operation, leaves_of
from .symbolic_bounds import SymbolicBounds
from .term_polynomials import Number, TermPolynomials

_MOST = 1 << 12
"""Roundings of a formula that are looked at; of formulas of more, only the search tells."""

_SIDES = 64
"""Numbers from which one is chosen, at most."""

_SLACK = 32
"""A rounding of the formula, or an input of a narrow format, stands for that of so many times the number: a
third of the exponents that f16 has above 1. Sums of products with integers of 4 bits are not told of."""

_ROUNDS = (operations.FUSED, operations.CONVERT, operations.DOT)


class NarrowConversions:
    """Finds roundings to narrower formats than those of the formula.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    bounds : SymbolicBounds
        Of their polynomials.
    formula : array (n,)
        The terms of the formula.
    numbers : TermPolynomials
        Of the terms.
    """

    def __init__(
        self,
        forms: NormalForms,
        bounds: SymbolicBounds,
        formula: Ids,
        numbers: TermPolynomials,
    ) -> None:
        self._store, self._ranges, self._bounds = forms.store, forms.overflows.ranges, bounds
        self._numbers = numbers
        self._formula = formula
        self._narrow: dict[int, list[Number]] = {}

    @cached_property
    def _end(self) -> int:
        """The greatest exponent of the formats of the formula."""
        formats = [operation.result for operation, _ in by_operation(self._store, self._formula)]
        ends = [fmt.maximum_exponent for fmt in formats if isinstance(fmt, FloatFormat)]
        return max(ends, default=0)

    def is_one(self, operation: Operation) -> bool:
        """Tell whether an operation rounds to a format that ends before others of the formula, or its own."""
        fmt = operation.result
        if operation.name not in _ROUNDS or not isinstance(fmt, FloatFormat):
            return False
        if widens(operation) or quantises(operation):
            return False
        ends = [
            operand.maximum_exponent for operand in operation.operands if isinstance(operand, FloatFormat)
        ]
        return fmt.maximum_exponent < max([self._end, *ends])

    def prepare(self, operation: Operation, terms: Ids) -> None:
        """Compute the polynomials of terms (n,) that are asked for where they may overflow."""
        if not self.is_one(operation):
            return
        fmt = as_float(operation.result)
        self._ranges.fill(terms)
        wide = terms[np.abs(self._ranges.exact[terms]).max(axis=1) >= overflow_from(fmt)]
        alone = self._is_alone(operation)
        self._numbers.prepare(
            *((self._store.arguments(wide)[:, 0], operation.operands[0]) if alone else (wide, fmt))
        )

    def _is_alone(self, operation: Operation) -> bool:
        """Tell whether one number is rounded."""
        return operation.name != operations.DOT and len(operation.operands) == 1

    def overflows(self, operation: Operation, term: int) -> bool:
        """Tell whether a rounding is not known to be within its format where those of the formula are."""
        fmt = as_float(operation.result)
        if self._is_within(self._ranges.exact[term], fmt) or not self._takes_wide(term, fmt):
            return False
        alone = self._is_alone(operation)
        first = int(self._store.arguments(term)[0]) if alone else term
        read = operation.operands[0] if alone else fmt
        return any(True for _ in self._unbounded(first, read, fmt))

    def _takes_wide(self, term: int, fmt: FloatFormat) -> bool:
        """Tell whether a term is made of inputs that go further than a format.

        Of others, such as sums that are accumulated in f16, nothing is told where the formula has the format.
        """
        if self._end_first > fmt.maximum_exponent:
            return True
        leaves = by_operation(self._store, leaves_of(self._store, np.array([term])))
        inputs = [operation.result for operation, _ in leaves if operation.name == INPUT]
        ends = [each.maximum_exponent for each in inputs if isinstance(each, FloatFormat)]
        return max(ends, default=0) > fmt.maximum_exponent

    @cached_property
    def _end_first(self) -> int:
        """The greatest exponent of the format of the formula that ends first."""
        formats = [operation.result for operation, _ in by_operation(self._store, self._formula)]
        return min((fmt.maximum_exponent for fmt in formats if isinstance(fmt, FloatFormat)), default=0)

    def _is_within(self, ends: object, fmt: FloatFormat) -> bool:
        return bool(np.abs(np.asarray(ends, dtype=np.float64)).max() < overflow_from(fmt))

    def _unbounded(self, term: int, read: Format, fmt: FloatFormat) -> Iterator[Number]:
        """Yield numbers from which a term is chosen that nothing bounds."""
        seen, pending = set[int](), [term]
        while pending:
            one = pending.pop()
            if one in seen:
                continue
            seen.add(one)
            terms = np.array([one], dtype=np.int32)
            self._ranges.fill(terms)
            (number,) = self._numbers(terms, read)
            if self._is_within(self._ranges.read(terms, read), fmt) or self._is_bounded(number, fmt):
                continue
            sides = self._sides(one) if len(seen) < _SIDES else []
            if not sides:
                yield number
            pending += sides

    def _sides(self, term: int) -> list[int]:
        """Return of what a term is one, or the opposite of one."""
        operation = self._store.operation(term)
        first = {operations.SELECT: 1, operations.EXTREMUM: 0, operations.NEGATE: 0}.get(operation.name)
        if operation.name in _ROUNDS and len(operation.operands) == 1:
            first = 0
        if first is None:
            return []
        found: list[int] = self._store.arguments(term)[first : len(operation.operands)].tolist()
        return found

    def _is_bounded(self, number: Sparse, fmt: FloatFormat) -> bool:
        return self._is_rounded(number, fmt) or self._bounds.magnitude(number) < overflow_from(fmt)

    # -- what the formula rounds
    def _is_rounded(self, number: Sparse, fmt: FloatFormat) -> bool:
        """Tell whether the formula has a number, or what it is a part of, in a format that is as narrow."""
        products = {key: abs(Fraction(value)) for key, value in number.items() if key}
        if abs(Fraction(number.get((), 0))) >= overflow_from(fmt):
            return False
        known = self._rounded(fmt)
        for other in known:
            if all(size <= _SLACK * abs(Fraction(other.get(key, 0))) for key, size in products.items()):
                return True
        single = {
            key: abs(Fraction(value)) for each in known if len(each) == 1 for key, value in each.items()
        }
        multiples = (
            size / single[key] if key in single else float(size) * self._multiple(key, fmt)
            for key, size in products.items()
        )
        return sum(multiples) <= _SLACK

    def _multiple(self, monomial: Monomial, fmt: FloatFormat) -> float:
        """Return a bound of a product as a multiple of an input of a narrow format in it."""
        narrow = [atom for atom in monomial if self._is_narrow(atom, fmt)]
        return min((self._bounds.magnitude({without(monomial, (each,)): 1}) for each in narrow), default=inf)

    def _is_narrow(self, atom: int, fmt: FloatFormat) -> bool:
        operation = self._store.operation(atom & 0xFFFFFFFF)
        given = operation.result
        narrow = isinstance(given, FloatFormat) and given.maximum_exponent <= fmt.maximum_exponent
        return operation.name == INPUT and narrow

    def _rounded(self, fmt: FloatFormat) -> list[Number]:
        """Return what the formula rounds to formats that end by another; of choices, each side."""
        if fmt.maximum_exponent not in self._narrow:
            self._narrow[fmt.maximum_exponent] = [
                number for read, terms in self._rounded_terms(fmt) for number in self._numbers(terms, read)
            ]
        return self._narrow[fmt.maximum_exponent]

    def _rounded_terms(self, fmt: FloatFormat) -> Iterator[tuple[Format, Ids]]:
        for operation, members in by_operation(self._store, self._formula):
            result = operation.result
            if operation.name not in _ROUNDS or not isinstance(result, FloatFormat):
                continue
            if result.maximum_exponent > fmt.maximum_exponent:
                continue
            if len(members) > _MOST:
                raise UnsupportedError("the formula has too many roundings")
            yield result, members
            if len(operation.operands) == 1:
                sides = {side for member in members.tolist() for side in self._all_sides(member)}
                yield operation.operands[0], np.array(sorted(sides), dtype=np.int32)

    def _all_sides(self, term: int) -> set[int]:
        seen, pending = set[int](), [term]
        while pending and len(seen) < _SIDES:
            one = pending.pop()
            if one not in seen:
                seen.add(one)
                pending += self._sides(one)
        return seen - {term}
