"""Absolute values of exact terms, as terms: |x·y| = |x|·|y|."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import F64, Format
from ..normal_forms.forms import NormalForms
from ..normal_forms.polynomials import ExpansionError, Polynomials
from ..normal_forms.sparse_polynomials import Coefficient, Monomial, Sparse, common_atoms, sparse, without
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import CONSTANT, INPUT, NORMAL_FORM, Operation

_MULTIPLY = operations.fused(F64, ((F64, F64),))
_EXPANDED = 1 << 19
"""Products that polynomials may have all together to be told apart product by product."""

_OPAQUE = ("reading", "fields")
"""Normal forms of bits that floats are taken for, or made of: of their errors nothing is known."""


class AbsolutePolynomials:
    """Makes f64 terms of the absolute values of exact terms.

    Equal exact terms have equal absolute values, as far as their normal forms tell.

    Parameters
    ----------
    forms : NormalForms
        Of the store.
    relaxed : bool
        Give the sum of the absolute values of what is added up for that of the sum, which is no less.
    """

    def __init__(self, forms: NormalForms, *, relaxed: bool = False) -> None:
        self._forms, self._relaxed = forms, relaxed
        self._store = forms.store
        self._quantifier = forms.quantifier
        self._found: dict[frozenset[tuple[Monomial, Coefficient]], int] = {}
        self._atoms: dict[int, int | None] = {}

    def of(self, terms: Ids, fmt: Format) -> tuple[Ids, NDArray[np.bool_]]:
        """Return the absolute values of terms (n,) read in a format, and of which of them they are known."""
        found, known = np.empty(len(terms), dtype=np.int32), np.ones(len(terms), dtype=bool)
        plain = self._store.are(INPUT, terms)
        plain[plain] = [result == fmt for result in self._results(terms[plain])]
        if plain.any():
            found[plain] = self._store.apply(_absolute(fmt), terms[plain])
        others = np.flatnonzero(~plain)
        distinct, inverse = np.unique(terms[others], return_inverse=True)
        if len(distinct):
            each = [self._of(one) for one in sparse(self._polynomials(distinct, fmt), len(distinct))]
            known[others] = np.array([one is not None for one in each])[inverse]
            found[others] = np.array([0 if one is None else one for one in each], dtype=np.int32)[inverse]
        return found, known

    def _polynomials(self, terms: Ids, fmt: Format) -> Polynomials:
        """Return polynomials with every sum expanded, unless they are too long."""
        with suppress(ExpansionError):
            found = self._forms.thorough.polynomials(terms, fmt)
            if self._relaxed or len(found) <= _EXPANDED:
                return found
        return self._forms.polynomials(terms, fmt)

    def multiplied(self, magnitudes: Ids, others: Ids) -> Ids:
        """Return products."""
        return self._store.apply(_MULTIPLY, magnitudes, others)

    def scaled(self, magnitudes: Ids, factor: float) -> Ids:
        """Return multiples by a positive number."""
        return self.multiplied(magnitudes, np.full(len(magnitudes), self._constant(factor)))

    def _results(self, terms: Ids) -> list[Format]:
        return [self._store.operations[number].result for number in self._store.operation_numbers(terms)]

    def _constant(self, number: float) -> int:
        return int(self._store.constants(np.float64(number).view(np.uint64), 64))

    def _of(self, polynomial: Sparse) -> int | None:
        key = frozenset(polynomial.items())
        if key not in self._found:
            parts = self._summed(polynomial) if self._relaxed else self._factored(polynomial)
            if parts is None:
                return None
            self._found[key] = parts
        return self._found[key]

    def _summed(self, polynomial: Sparse) -> int | None:
        products = [self._factored({monomial: factor}) for monomial, factor in polynomial.items()]
        if any(product is None for product in products):
            return None
        result = self._constant(0.0)
        for product in products:
            result = int(self._store.apply(operations.fused(F64, (), (F64, F64)), result, product))
        return result

    def _factored(self, polynomial: Sparse) -> int | None:
        if not polynomial:
            return self._constant(0.0)
        shared = common_atoms(list(polynomial))
        leading = abs(Fraction(polynomial[min(polynomial)]))
        if Fraction(float(leading)) != leading:
            leading = Fraction(1)
        sign = -1 if polynomial[min(polynomial)] < 0 else 1
        rest = {
            without(monomial, shared): sign * Fraction(factor) / leading
            for monomial, factor in polynomial.items()
        }
        factors: list[int | None] = [self._atom(atom) for atom in shared]
        if rest != {(): 1}:
            factors.append(self._sum(rest))
        result = self._constant(float(leading))
        for each in factors:
            if each is None:
                return None
            result = int(self._store.apply(_MULTIPLY, result, each))
        return result

    def _sum(self, polynomial: dict[Monomial, Fraction]) -> int | None:
        """Return the absolute value of a sum that has no common factor."""
        if any(self._atom(atom) is None for monomial in polynomial for atom in monomial):
            return None
        key = tuple(sorted((monomial, str(factor)) for monomial, factor in polynomial.items()))
        return int(self._store.apply(Operation(NORMAL_FORM, F64, attribute=("absolute sum", key))))

    def _atom(self, quantity: int) -> int | None:
        """Return the absolute value of an atom of polynomials."""
        if quantity not in self._atoms:
            (term,) = self._quantifier.terms(np.array([quantity], dtype=np.int64))
            operation, attribute = self._store.operation(int(term)), None
            if operation.name == NORMAL_FORM and isinstance(operation.attribute, tuple):
                attribute = operation.attribute[0]
            opaque = attribute in _OPAQUE or operation.name not in (INPUT, CONSTANT, NORMAL_FORM)
            fmt = self._quantifier.format(quantity)
            self._atoms[quantity] = None if opaque else int(self._store.apply(_absolute(fmt), term))
        return self._atoms[quantity]


def _absolute(fmt: Format) -> Operation:
    return Operation(NORMAL_FORM, F64, attribute=("absolute", fmt))
