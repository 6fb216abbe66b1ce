"""Signs that polynomials have whatever the data: by ``[requires]``, and by what their numbers are.

``x <= z`` of ``[requires]`` is that ``z - x`` is not negative, and so of every positive multiple. A sum of
squares is not negative, a quadratic form with a dominant diagonal is one, such as a variance
``E[x²] - E[x]²``. The greatest of some numbers is not less than any of them: ``max(x, y) - x``, and
``1 - x / max(|x|, |y|)``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property

import numpy as np

from ..normal_forms.elementary_forms import RECIPROCAL
from ..normal_forms.forms import NormalForms
from ..normal_forms.sparse_polynomials import Coefficient, Monomial, Sparse, added, sparse, without
from ..terms import operations
from ..terms.traversal import by_operation

Signs = frozenset[int]

ANY: Signs = frozenset((-1, 0, 1))
_CONSTANT: Monomial = ()
_DEPTH = 3
"""Greatest numbers, and divisors, that are looked into at once."""

_MOST_MEMBERS = 64
"""Numbers of which one is the greatest that are put in its place."""

_MOST_PRODUCTS = 64
"""Products of a polynomial in which something is put in."""


class KnownSigns:
    """Tells the signs of polynomials over the real numbers.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    """

    def __init__(self, forms: NormalForms) -> None:
        self._forms, self._store = forms, forms.store
        self._elementary, self._extrema = forms.elementary, forms.extrema

    def of(self, polynomial: Sparse) -> Signs:
        """Return which of -1, 0 and 1 the sign of a polynomial may be."""
        if not polynomial:
            return frozenset((0,))
        found = self._by_requirements(polynomial)
        if self._is_not_negative(polynomial, _DEPTH):
            found -= {-1}
        elif self._is_not_negative(_opposite(polynomial), _DEPTH):
            found -= {1}
        return found

    def _by_requirements(self, polynomial: Sparse) -> Signs:
        """Return the signs that ``[requires]`` leaves to a polynomial."""
        if not self._required:
            return ANY
        key, sign = _canonical(polynomial)
        return frozenset(sign * each for each in self._required.get(key, ANY))

    @cached_property
    def _required(self) -> dict[frozenset[tuple[Monomial, Fraction]], Signs]:
        """Signs that ``[requires]`` leaves to polynomials with a positive lead."""
        found: dict[frozenset[tuple[Monomial, Fraction]], Signs] = {}
        for operation, terms in by_operation(self._store, np.unique(self._store.required)):
            if operation.name != operations.COMPARE:
                continue
            sides = self._store.arguments(terms)[:, :2]
            differences = self._forms.difference(sides[:, 0], sides[:, 1], operation.operands[0])
            outcomes = operations.OUTCOMES[str(operation.attribute)]
            allowed = frozenset(sign for sign, holds in zip((-1, 0, 1), outcomes, strict=True) if holds)
            for each in filter(None, sparse(differences, len(terms))):
                key, sign = _canonical(each)
                found[key] = found.get(key, ANY) & frozenset(sign * one for one in allowed)
        return found

    def _is_not_negative(self, polynomial: Sparse, depth: int) -> bool:
        """Tell whether a polynomial is known not to be negative."""
        if not polynomial:
            return True
        if -1 not in self._by_requirements(polynomial) or self._is_sum_of_squares(polynomial):
            return True
        if not depth or len(polynomial) > _MOST_PRODUCTS:
            return False
        return self._without_divisors(polynomial, depth) or self._without_extrema(polynomial, depth)

    def _is_sum_of_squares(self, polynomial: Sparse) -> bool:
        """Tell whether products that are not negative are added, and a form with a dominant diagonal."""
        if not any(_is_on_diagonal(each) and value > 0 for each, value in polynomial.items()):
            return all(value > 0 and self._is_product(each) for each, value in polynomial.items())
        diagonal: dict[int | None, Coefficient] = {}
        beside: defaultdict[int | None, Coefficient] = defaultdict(int)
        for monomial, value in polynomial.items():
            if self._is_product(monomial) and value > 0:
                if _is_on_diagonal(monomial):
                    diagonal[monomial[0] if monomial else None] = value
                continue
            if not 0 < len(monomial) <= 2 or (monomial[0] == monomial[-1] and len(monomial) == 2):
                return False
            for atom in (monomial[0], monomial[1] if len(monomial) == 2 else None):
                beside[atom] += max(value, -value)
        return all(total <= 2 * diagonal.get(atom, 0) for atom, total in beside.items())

    def _is_product(self, monomial: Monomial) -> bool:
        """Tell whether a product has factors that are not negative, and squares."""
        return all(
            monomial.count(atom) % 2 == 0 or self._extrema.is_not_negative(atom) for atom in set(monomial)
        )

    def _without_divisors(self, polynomial: Sparse, depth: int) -> bool:
        """Tell whether a polynomial times a divisor, which is positive, is known not to be negative."""
        atoms = {atom for monomial in polynomial for atom in monomial}
        for atom in sorted(each for each in atoms if self._elementary.is_a(each, RECIPROCAL)):
            divisor = self._elementary.arguments[atom]
            if len(divisor) * len(polynomial) > _MOST_PRODUCTS or not self._is_not_negative(
                divisor, depth - 1
            ):
                continue
            found: Sparse = {}
            for monomial, value in polynomial.items():
                if atom in monomial:
                    found = added(found, {without(monomial, (atom,)): value})
                else:
                    found = added(found, _product(divisor, monomial, value))
            if self._is_not_negative(found, depth - 1):
                return True
        return False

    def _without_extrema(self, polynomial: Sparse, depth: int) -> bool:
        """Tell whether a polynomial is known not to be negative with a number for one that is an extremum.

        The greatest of some numbers may be replaced by any one of them where it is added, and has to be
        replaced by each of them where it is subtracted.
        """
        for monomial, value in polynomial.items():
            extremum = self._extrema.extremum(monomial[0]) if len(monomial) == 1 else None
            if extremum is None or len(extremum.members) > _MOST_MEMBERS:
                continue
            others = sum(monomial[0] in each for each in polynomial)
            if others > 1:
                continue
            rest = {key: each for key, each in polynomial.items() if key != monomial}
            replaced = (added(rest, dict(member), value) for member in extremum.members)
            holds: Callable[..., bool] = any if (extremum.which == "max") == (value > 0) else all
            if holds(self._is_not_negative(each, depth - 1) for each in replaced):
                return True
        return False


def _canonical(polynomial: Sparse) -> tuple[frozenset[tuple[Monomial, Fraction]], int]:
    """Return a polynomial divided by its leading coefficient, and the sign of that.

    The lead is the greatest monomial that is no constant, if there is one.
    """
    lead = Fraction(polynomial[max(polynomial)])
    return frozenset(
        (key, Fraction(value) / lead) for key, value in polynomial.items()
    ), 1 if lead > 0 else -1


def _is_on_diagonal(monomial: Monomial) -> bool:
    """Tell whether a product is 1, or the square of one atom."""
    return not monomial or (len(monomial) == 2 and monomial[0] == monomial[1])


def _opposite(polynomial: Sparse) -> Sparse:
    return {key: -value for key, value in polynomial.items()}


def _product(polynomial: Sparse, factors: Monomial, number: Coefficient) -> Sparse:
    return {
        tuple(sorted((*key, *factors), reverse=True)): value * number for key, value in polynomial.items()
    }
