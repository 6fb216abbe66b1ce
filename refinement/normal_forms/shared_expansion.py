"""Expansion from the outside in: each quantity is a variable until all that is made of it is multiplied out.

A running mean, a compensated sum or a variance merged from parts is made of the last few numbers several
times over. Its products are as many as the paths through it, its monomials few: what was computed last is
replaced first, in all monomials at once, so that equal ones meet before they are multiplied any further.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from flint import fmpq

from .reading_words import TERM, Coefficient, Monomial, Quantities

MOST_ROWS = 1 << 18
"""Products in one step of all quantities together: each is a Python object here, so many take a second."""

MOST_SUMMANDS = 1 << 20
"""Products that are added up in one call: a few seconds."""


class Product(NamedTuple):
    """A product in the expansion of a quantity by one step."""

    coefficient: Coefficient
    atoms: Monomial
    factors: tuple[int, ...]
    """Quantities that split further."""


Step = Callable[[Quantities], list[list[Product]]]
"""Quantities that split, to the products of each."""

_Rational: TypeAlias = Any  # flint.fmpq, which has no type for checkers

_Number = Coefficient | _Rational

_Polynomial = dict[Monomial, _Number]


class TooManyProductsError(Exception):
    """What is multiplied out has too many products, whatever is shared."""


def polynomials(roots: Iterable[int], step: Step) -> dict[int, dict[Monomial, Coefficient]]:
    """Return the polynomials of quantities.

    Raises
    ------
    TooManyProductsError
        If they are too long.
    """
    wanted = sorted(set(roots))
    elimination = _Elimination(_all_products(wanted, step))
    return {
        each: {monomial: _coefficient(value) for monomial, value in elimination.polynomial(each).items()}
        for each in wanted
    }


def _all_products(wanted: list[int], step: Step) -> dict[int, list[Product]]:
    """Return the products of quantities, and of all that these are made of, each split once."""
    products: dict[int, list[Product]] = {}
    missing, rows = wanted, 0
    while missing:
        made = step(np.array(missing, dtype=np.int64))
        rows += sum(map(len, made))
        if rows > MOST_ROWS:
            raise TooManyProductsError
        products.update(zip(missing, made, strict=True))
        inner = {factor for some in made for each in some for factor in each.factors}
        missing = sorted(inner - products.keys())
    return products


class _Elimination:
    """Replaces quantities by what they are made of, from what was computed last to inputs.

    Parameters
    ----------
    products : dict
        The products of each quantity that splits, by one step.
    """

    def __init__(self, products: dict[int, list[Product]]) -> None:
        self._products = products
        self._steps: dict[int, _Polynomial] = {}
        self._summands = 0

    def polynomial(self, quantity: int) -> _Polynomial:
        """Return the polynomial of one quantity."""
        total = dict(self._step(quantity))
        containing: dict[int, set[Monomial]] = {}
        for monomial in total:
            self._note(monomial, containing)
        pending = [-_order(each) for each in containing]
        heapify(pending)
        while pending:
            latest = _quantity(-heappop(pending))
            known = set(containing)
            changed: _Polynomial = {}
            for monomial in containing.pop(latest):
                value = total.pop(monomial)
                for each in set(monomial) & containing.keys():
                    containing[each].discard(monomial)
                self._add_replaced(changed, monomial, value, latest)
            for monomial, value in changed.items():
                if monomial not in total:
                    total[monomial] = value
                    self._note(monomial, containing)
                elif sums := total[monomial] + value:
                    total[monomial] = sums
                else:
                    del total[monomial]
                    for each in set(monomial) & containing.keys():
                        containing[each].discard(monomial)
            for each in containing.keys() - known:
                heappush(pending, -_order(each))
        return total

    def _note(self, monomial: Monomial, containing: dict[int, set[Monomial]]) -> None:
        for each in set(monomial) & self._products.keys():
            containing.setdefault(each, set()).add(monomial)

    def _add_replaced(self, into: _Polynomial, monomial: Monomial, value: _Number, latest: int) -> None:
        """Add a monomial with what a quantity in it is made of in its place."""
        step = self._step(latest)
        made: _Polynomial = {tuple(each for each in monomial if each != latest): value}
        for power in range(monomial.count(latest), 0, -1):
            self._summands += len(made) * len(step)
            if self._summands > MOST_SUMMANDS:
                raise TooManyProductsError
            longer = into if power == 1 else {}
            for one, times in made.items():
                for other, factor in step.items():
                    _add(longer, _merged(one, other), times * factor)
            made = longer

    def _step(self, quantity: int) -> _Polynomial:
        """Return what a quantity is made of: sums that split, and atoms.

        What is a single product is replaced at once, so that monomials that are equal but for it meet.
        """
        if quantity not in self._steps:
            made: _Polynomial = {}
            for product in self._products[quantity]:
                coefficient = _fast(product.coefficient)
                monomial, factors = [*product.atoms], [*product.factors]
                while factors and coefficient:
                    factor = factors.pop()
                    if len(self._products[factor]) > 1:
                        monomial.append(factor)
                        continue
                    inner = self._products[factor][0] if self._products[factor] else _NOTHING
                    coefficient *= _fast(inner.coefficient)
                    monomial += inner.atoms
                    factors += inner.factors
                _add(made, tuple(sorted(monomial, reverse=True)), coefficient)
            self._steps[quantity] = made
        return self._steps[quantity]


_NOTHING = Product(0, (), ())


def _fast(coefficient: Coefficient) -> _Number:
    """Return a coefficient whose arithmetic takes a twentieth of the time of `Fraction`."""
    return fmpq(*coefficient.as_integer_ratio()) if isinstance(coefficient, Fraction) else coefficient


def _coefficient(number: _Number) -> Coefficient:
    if isinstance(number, fmpq):
        return Fraction(int(number.p), int(number.q)) if number.q != 1 else int(number.p)
    return number


def _order(quantity: int) -> int:
    """Return a number of a quantity that is greater if its term is later."""
    return (quantity & int(TERM)) << 32 | quantity >> 32


def _quantity(order: int) -> int:
    return _order(order)


def _merged(one: Monomial, other: Monomial) -> Monomial:
    return tuple(sorted((*one, *other), reverse=True)) if one and other else one or other


def _add(into: _Polynomial, monomial: Monomial, value: _Number) -> None:
    total = into.get(monomial, 0) + value
    if total:
        into[monomial] = total
    else:
        into.pop(monomial, None)
