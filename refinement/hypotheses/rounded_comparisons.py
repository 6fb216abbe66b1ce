"""Comparisons of rounded numbers where the formula compares numbers that nothing rounds.

``2 * x < 2 * z`` is ``x < z`` over the reals, but where both products overflow it does not hold; nor does
``float(i) < float(k)`` of two integers that round to one float. A comparison of sums in which a number
cancels may absorb others. A formula that rounds what it compares needs the same hypothesis as the kernel.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from ...spec.errors import UnsupportedError
from ...spec.formats import FloatFormat, IntegerFormat
from ..analysis.real_ranges import overflow_from
from ..normal_forms.forms import NormalForms
from ..normal_forms.sparse_polynomials import Monomial, Sparse, added
from ..terms import operations
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.store import Operation
from ..terms.traversal import by_operation
from .exact_scalings import is_scaled_exactly, scaling_of
from .term_polynomials import TermPolynomials

Key = frozenset[tuple[Monomial, Fraction | int]]
"""A polynomial."""

_MOST = 1 << 12
"""Comparisons of a formula that are looked at; of formulas of more, only the search tells."""


class RoundedComparisons:
    """Finds comparisons of which a rounding of the kernel's own may change the outcome.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    formula : array (n,)
        The terms of the formula.
    numbers : TermPolynomials
        Of the terms.
    """

    def __init__(self, forms: NormalForms, formula: Ids, numbers: TermPolynomials) -> None:
        self._store, self._ranges, self._numbers = forms.store, forms.overflows.ranges, numbers
        self._computed = forms.quantifier.computed_equality
        self._formula = formula

    def rounded_side(self, operation: Operation, term: int) -> int | None:
        """Return the rounded side of a comparison of floats where the formula rounds none; or None."""
        sides: list[int] = self._store.arguments(term)[:2].tolist()
        left, right = numbers = self._numbers(np.array(sides), operation.operands[0])
        if _pair(left, right) in self._compared:
            return None
        difference = added(left, right, -1)
        summed = [self._is_rounded_sum(side) for side in sides]
        for number, is_sum in zip(numbers, summed, strict=True):
            if is_sum and len(number) > 1 and not number.keys() <= difference.keys():
                return sides[summed.index(True)]
        if self._keeps_sign(*sides) or _scaled(difference) not in self._unrounded:
            return None
        return next((side for side in sides if not self._is_kept(side)), None)

    @cached_property
    def _compared(self) -> set[frozenset[Key]]:
        """The pairs of numbers that the formula compares, or takes the extremum of, one of them rounded."""
        return {_pair(*pair) for pair in self._pairs(self._formula, exact=False)}

    @cached_property
    def _unrounded(self) -> set[Key]:
        """Differences of the numbers that the formula and `[requires]` compare, and that nothing rounds."""
        among = np.union1d(self._formula, self._store.required).astype(np.int32)
        return {_scaled(added(left, right, -1)) for left, right in self._pairs(among, exact=True)}

    def _pairs(self, among: Ids, *, exact: bool) -> list[tuple[Sparse, Sparse]]:
        """Return the polynomials of both sides of comparisons and extrema of exact numbers, or of others."""
        found: list[tuple[Sparse, Sparse]] = []
        for operation, members in by_operation(self._store, among):
            if operation.name not in (operations.COMPARE, operations.EXTREMUM):
                continue
            if len(members) > _MOST:
                raise UnsupportedError("the formula has too many comparisons")
            sides = self._store.arguments(members)[:, :2]
            are_exact = self._computed.are_exact(sides.reshape(-1)).reshape(-1, 2).all(axis=1)
            sides = sides[are_exact == exact]
            left, right = (self._numbers(column, operation.operands[0]) for column in sides.T)
            found += zip(left, right, strict=True)
        return found

    def _is_rounded_sum(self, term: int) -> bool:
        """Tell whether a term is a sum that was rounded; an exact one turns nothing."""
        is_sum = self._store.operation(term).name in (operations.FUSED, operations.DOT)
        return is_sum and not self._computed.is_exact(term)

    def _keeps_sign(self, left: int, right: int) -> bool:
        """Tell whether a comparison with 0 is of a number that has its sign however it was rounded.

        It is a difference of exact numbers whose subnormal results stay (it may overflow, to an infinity of
        its sign), or a product of such that does not underflow.
        """
        for one, other in ((left, right), (right, left)):
            if self._computed.is_zero(other) and (how := self._sum(one)) is not None:
                return how
        return self._computed.is_of_reals(left, right)

    def _sum(self, term: int) -> bool | None:
        """Tell whether a sum is one of two exact numbers that is flushed nowhere; None if it is no sum."""
        flushed = False
        while (operation := self._store.operation(term)).name == operations.FUSED:
            how = operation.attribute
            assert isinstance(how, Sum)
            given = self._store.arguments(term)[: 2 * how.products + how.addends]
            flushed |= how.flush
            if how.products + how.addends > 1:
                exact = bool(self._computed.are_exact(given).all())
                return exact and (how.products, how.addends) == (0, 2) and not flushed
            if how.products:
                break
            term = int(given[0])
        return None

    def _is_kept(self, term: int) -> bool:
        """Tell whether no number changes where a term is computed: integers in their range, or times 2^k.

        Of subnormal inputs that are flushed the verdict says that there are none.
        """
        if self._computed.is_exact(term):
            return True
        operation, how = self._store.operation(term), self._store.operation(term).attribute
        if not isinstance(fmt := operation.result, FloatFormat):
            return False
        if operation.operands == (fmt,) and isinstance(how, Sum) and how.flush:
            return self._is_kept(int(self._store.arguments(term)[0]))
        self._ranges.fill(np.array([term], dtype=np.int32))
        most = float(np.abs(self._ranges.exact[term]).max())
        if operation.name == operations.CONVERT and isinstance(operation.operands[0], IntegerFormat):
            return most <= 2.0**fmt.precision
        scaling = scaling_of(self._store, term)
        if scaling is None or not is_scaled_exactly(self._store, term):
            return False
        source, exponent = scaling
        overflows = most >= overflow_from(fmt) and source.maximum_exponent + exponent > fmt.maximum_exponent
        first = [int(each) for each in self._store.arguments(term)[:2]]
        return not overflows and all(map(self._computed.is_exact, first))


def _pair(left: Sparse, right: Sparse) -> frozenset[Key]:
    return frozenset((frozenset(left.items()), frozenset(right.items())))


def _scaled(difference: Sparse) -> Key:
    """Return a polynomial up to a factor that is a number."""
    lead = Fraction(difference[max(difference)]) if difference else 1
    return frozenset((key, Fraction(value) / lead) for key, value in difference.items())
