"""Sums as multiples of shared sums: what a polynomial is where a mean is an atom.

An atom ``u`` stands for a sum, ``u = Σ c·x``. Wherever all of ``Σ c·m·x`` is part of a polynomial, it is
``m·u``: of ``Σ (x - u)² / N`` and ``Σ x² / N - u²`` one becomes the other, and no two of the ``x`` are
multiplied.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...spec.formats import Format
from ..normal_forms.forms import NormalForms
from ..normal_forms.polynomials import ExpansionError
from ..normal_forms.sparse_polynomials import Coefficient, Monomial, Sparse, sparse
from ..terms.interning import Ids

_MOST_STEPS = 64
"""Parts of a polynomial that are replaced; a variance has two or three."""


class SumRelations:
    """What atoms stand for, and polynomials with the atoms in place of that.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    """

    def __init__(self, forms: NormalForms) -> None:
        self._forms = forms
        self._sums: dict[int, Sparse] = {}
        self._leads: dict[int, Monomial] = {}
        self.noted = set[int]()
        """The atoms of which something is noted, or nothing is known."""

    def note(self, atom: int, term: int, fmt: Format) -> None:
        """Note that an atom, a quantity, stands for a sum of several products, which a term is."""
        self.noted.add(atom)
        if (polynomial := self._polynomial(term, fmt)) is not None and len(polynomial) > 1:
            self._sums[atom], self._leads[atom] = polynomial, max(polynomial)

    def reduced(self, term: int, fmt: Format) -> Sparse | None:
        """Return the polynomial of a term with atoms in place of sums; None if it is too long."""
        if (polynomial := self._polynomial(term, fmt)) is None:
            return None
        found = dict(polynomial)
        for _ in range(_MOST_STEPS):
            if not any(self._replace(found, atom) for atom in self._sums):
                return found
        return None

    def _polynomial(self, term: int, fmt: Format) -> Sparse | None:
        quantifier = self._forms.quantifier
        patient, quantifier.is_patient = quantifier.is_patient, False
        try:
            found: Ids = np.array([term], dtype=np.int32)
            return sparse(self._forms.thorough.polynomials(found, fmt), 1)[0]
        except ExpansionError:
            return None
        finally:
            quantifier.is_patient = patient

    def _replace(self, polynomial: dict[Monomial, Coefficient], atom: int) -> bool:
        """Replace one multiple of a sum in a polynomial by that of the atom; tells whether there is one."""
        sums, lead = self._sums[atom], self._leads[atom]
        for monomial in [each for each in polynomial if _contains(each, lead)]:
            factor = _divided(monomial, lead)
            times = Fraction(polynomial[monomial]) / Fraction(sums[lead])
            parts = {_times(factor, key): times * value for key, value in sums.items()}
            if all(polynomial.get(key) == value for key, value in parts.items()):
                for key in parts:
                    del polynomial[key]
                whole = _times(factor, (atom,))
                total = polynomial.pop(whole, 0) + times
                if total:
                    polynomial[whole] = total
                return True
        return False


def _contains(monomial: Monomial, part: Monomial) -> bool:
    return all(monomial.count(each) >= part.count(each) for each in part)


def _divided(monomial: Monomial, by: Monomial) -> Monomial:
    left = list(monomial)
    for each in by:
        left.remove(each)
    return tuple(left)


def _times(one: Monomial, other: Monomial) -> Monomial:
    return tuple(sorted((*one, *other), reverse=True))
