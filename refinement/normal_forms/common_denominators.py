"""Sums of quotients compared by cross-multiplication.

``A / B = C / D`` where ``A·D = C·B``, if neither B nor D is 0. What divides and is the polynomial 0 is
never multiplied with.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from .elementary_forms import RECIPROCAL, ElementaryForms
from .monomial_reduction import MonomialReduction
from .polynomials import Polynomials, Rows, combined, compacted, rows_of
from .readings import Quantifier
from .sparse_polynomials import Sparse, added, sparse

MOST_PRODUCTS = 1 << 17
"""Products of a polynomial that is multiplied with what divides; more are not looked at."""


class CommonDenominators:
    """Decides which polynomials with quotients are 0.

    Parameters
    ----------
    quantifier : Quantifier
        Of the atoms.
    forms : ElementaryForms
        Which made the reciprocals.
    reduction : MonomialReduction
        Of products.
    """

    def __init__(self, quantifier: Quantifier, forms: ElementaryForms, reduction: MonomialReduction) -> None:
        self._quantifier = quantifier
        self._forms = forms
        self._reduction = reduction
        self._depths: dict[int, int] = {}
        self._known: dict[int, bool] = {}

    def vanish(self, found: Polynomials) -> NDArray[np.int64]:
        """Return the owners of polynomials, none of them 0 as it stands, that are 0 crosswise.

        After the first that are not, no more are looked at.
        """
        vanished = []
        for owner in np.unique(found.owners).tolist():
            (polynomial,) = sparse(_of(found, owner), 1)
            if not self._is_zero(polynomial):
                break
            vanished.append(owner)
        return np.array(vanished, dtype=np.int64)

    def _is_zero(self, polynomial: Sparse) -> bool:
        while polynomial:
            divisors = [atom for atom in {each for key in polynomial for each in key} if self._divides(atom)]
            if not divisors:
                return False
            cleared = self._cleared(polynomial, max(divisors, key=self._depth))
            if cleared is None:
                return False
            polynomial = cleared
        return True

    def _divides(self, atom: int) -> bool:
        """Tell whether an atom is the reciprocal of a polynomial that is not 0."""
        if not self._forms.is_a(atom, RECIPROCAL):
            return False
        if atom not in self._known:
            self._known[atom] = not self._is_zero(self._forms.arguments[atom])
        return self._known[atom]

    def _depth(self, atom: int) -> int:
        """Return how many reciprocals are within each other."""
        if atom not in self._depths:
            inner = {each for key in self._forms.arguments[atom] for each in key if self._divides(each)}
            self._depths[atom] = 1 + max(map(self._depth, inner), default=0)
        return self._depths[atom]

    def _cleared(self, polynomial: Sparse, atom: int) -> Sparse | None:
        """Return a polynomial times what an atom is the reciprocal of, as often as it takes."""
        divisor = self._forms.arguments[atom]
        powers = {monomial: Counter(monomial)[atom] for monomial in polynomial}
        most = max(powers.values())
        if most == min(powers.values()):  # all of it is divided
            return {_without(key, atom): value for key, value in polynomial.items()}
        done: Sparse = {}
        for power in range(most + 1):  # Horner's scheme: what is divided least is multiplied most
            if len(done) * len(divisor) > MOST_PRODUCTS:
                return None
            done = self._multiplied(done, divisor) if done else done
            some = {_without(key, atom): value for key, value in polynomial.items() if powers[key] == power}
            done = added(done, some)
        return done

    def _multiplied(self, one: Sparse, other: Sparse) -> Sparse:
        left, right = (rows_of([(0, value, key) for key, value in each.items()]) for each in (one, other))
        first, second = np.repeat(np.arange(len(left)), len(right)), np.tile(np.arange(len(right)), len(left))
        atoms = np.concatenate([left.atoms[first], right.atoms[second]], axis=1)
        coefficients = left.coefficients[first] * right.coefficients[second]
        rows = Rows(np.zeros(len(first), dtype=np.int64), coefficients, compacted(atoms), atoms[:, :0])
        return sparse(combined(self._reduction.reduced(rows)), 1)[0]


def _of(found: Polynomials, owner: int) -> Polynomials:
    chosen = found.owners == owner
    return Polynomials(
        np.zeros(chosen.sum(), dtype=np.int64), found.coefficients[chosen], found.atoms[chosen]
    )


def _without(monomial: tuple[int, ...], atom: int) -> tuple[int, ...]:
    return tuple(each for each in monomial if each != atom)
