"""Reduction of monomials with repeated functions: powers of two combine, roots and magnitudes square away.

An atom and its reciprocal are 1: what divides is not 0. ``2^x / (1 + 2^x)`` is ``1 - 1 / (1 + 2^x)``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..terms.store import Operation
from .elementary_forms import POWER, RECIPROCAL, ROOT, ElementaryForms
from .extrema import Member
from .polynomials import ABSENT, Rows, compacted, concatenated, rows_of
from .reading_words import Quantities
from .readings import Quantifier
from .sparse_polynomials import Coefficient, Monomial, Sparse, added

Products = list[tuple[int, Coefficient, Monomial]]
"""Owners, coefficients and monomials."""


class MonomialReduction:
    """Rewrites the monomials of polynomials.

    Parameters
    ----------
    quantifier : Quantifier
        Of the atoms.
    forms : ElementaryForms
        Which made those that are functions.
    magnitudes : mapping of int to Member
        The numbers of which atoms are the magnitudes; it grows.
    """

    def __init__(
        self, quantifier: Quantifier, forms: ElementaryForms, magnitudes: Mapping[int, Member]
    ) -> None:
        self._quantifier = quantifier
        self._forms = forms
        self._magnitudes = magnitudes

    def reduced(self, rows: Rows) -> Rows:
        """Return rows, of which nothing is pending, with one power of two at most and no squared root.

        Nor is there a power of two above a divisor that is 1 beside it.
        """
        if not (self._forms.arguments or self._magnitudes or self._quantifier.literals):
            return rows
        rows = self._with_one_power(rows)
        while True:
            rows = self._cancelled(rows)
            products: Products = []
            wrong = self._quotients(rows, products)
            squares = self._squares(rows) & ~wrong
            wrong |= squares
            if not wrong.any():
                return rows
            for row in np.flatnonzero(squares).tolist():
                products += self._simplified(*_product(rows, row))
            rows = self._with_one_power(concatenated([rows.where(~wrong), rows_of(products)]))

    def _are(self, operation: Operation, atoms: Quantities) -> NDArray[np.bool_]:
        numbers = self._quantifier.store.operation_numbers(self._quantifier.terms(np.maximum(atoms, 0)))
        found: NDArray[np.bool_] = (numbers == self._quantifier.store.number(operation)) & (atoms != ABSENT)
        return found

    def _with_one_power(self, rows: Rows) -> Rows:
        powers = self._are(POWER, rows.atoms)
        several = np.flatnonzero(powers.sum(axis=1) > 1)
        if not len(several):
            return rows
        among = compacted(np.where(powers[several], rows.atoms[several], ABSENT))
        distinct, inverse = np.unique(among, axis=0, return_inverse=True)
        found = [
            self._forms.combined(tuple(each for each in row if each != ABSENT)) for row in distinct.tolist()
        ]
        coefficients = rows.coefficients
        if any(factor != 1 for factor, _ in found):
            coefficients = coefficients.astype(object)
            factors = np.array([factor for factor, _ in found], dtype=object)
            coefficients[several] *= factors[inverse.reshape(-1)]
        left = np.array([atom[0] if atom else int(ABSENT) for _, atom in found], dtype=np.int64)
        atoms = np.concatenate([rows.atoms, np.full((len(rows), 1), ABSENT)], axis=1)
        atoms[several, :-1] = np.where(powers[several], ABSENT, rows.atoms[several])
        atoms[several, -1] = left[inverse.reshape(-1)]
        return Rows(rows.owners, coefficients, compacted(atoms), rows.pending[:, :0])

    def _cancelled(self, rows: Rows) -> Rows:
        """Leave out atoms together with their reciprocals."""
        inverses = np.array(sorted(self._forms.inverses.items()), dtype=np.int64)
        while rows.atoms.shape[1] > 1:
            place = np.minimum(np.searchsorted(inverses[:, 0], rows.atoms), len(inverses) - 1)
            of, column = np.nonzero(inverses[place, 0] == rows.atoms)
            others = rows.atoms[of] == inverses[place[of, column], 1][:, None]
            of, column, others = (each[others.any(axis=1)] for each in (of, column, others))
            if not len(of):
                break
            of, first = np.unique(of, return_index=True)  # one of each row at a time
            atoms = rows.atoms.copy()
            atoms[of, column[first]] = ABSENT
            atoms[of, others[first].argmax(axis=1)] = ABSENT
            rows = Rows(rows.owners, rows.coefficients, compacted(atoms), rows.pending)
        return rows

    def _quotients(self, rows: Rows, products: Products) -> NDArray[np.bool_]:
        """Tell which monomials have a power of two above a divisor of two terms; append what they are."""
        found = np.zeros(len(rows), dtype=bool)
        if not self._forms.binomials:
            return found
        divided = np.isin(rows.atoms, np.fromiter(self._forms.binomials, dtype=np.int64)).any(axis=1)
        for row in np.flatnonzero(divided & self._are(POWER, rows.atoms).any(axis=1)).tolist():
            owner, coefficient, monomial = _product(rows, row)
            quotient = self._forms.quotient(monomial)
            if quotient is not None:
                products += [(owner, coefficient * factor, key) for factor, key in quotient]
                found[row] = True
        return found

    def _squares(self, rows: Rows) -> NDArray[np.bool_]:
        """Tell which monomials have a root or a magnitude twice; equal atoms are beside each other."""
        twice = rows.atoms[:, 1:] == rows.atoms[:, :-1]
        if not twice.any():
            return np.zeros(len(rows), dtype=bool)
        some = self._are(ROOT, rows.atoms[:, 1:])
        if self._magnitudes:
            some |= np.isin(rows.atoms[:, 1:], np.fromiter(self._magnitudes, dtype=np.int64))
        found: NDArray[np.bool_] = (twice & some).any(axis=1)
        return found

    def _simplified(self, owner: int, coefficient: Coefficient, monomial: Monomial) -> Products:
        atoms = list(monomial)
        for atom in monomial:
            if atoms.count(atom) < 2 or (square := self._square(atom)) is None:
                continue
            argument, rest = square, _without(atoms, [atom, atom])
            inverse = self._reciprocal_of(argument, rest)
            if inverse is not None:  # sqrt(x)² / x = 1
                return [(owner, coefficient, _sorted(_without(rest, [inverse])))]
            return [(owner, coefficient * value, _sorted([*rest, *key])) for key, value in argument.items()]
        raise AssertionError(monomial)

    def _square(self, atom: int) -> Sparse | None:
        """Return what the square of a root or of a magnitude is; None of other atoms."""
        if self._forms.is_a(atom, ROOT):
            return self._forms.arguments[atom]
        if (number := self._magnitudes.get(atom)) is None:
            return None
        square: Sparse = {}
        for one, value in number:
            for other, times in number:
                square = added(square, {_sorted([*one, *other]): value * times})
        return square

    def _reciprocal_of(self, argument: Sparse, atoms: list[int]) -> int | None:
        """Return the reciprocal of a polynomial among atoms, if it is there."""
        for atom in atoms:
            if self._forms.is_a(atom, RECIPROCAL) and self._forms.arguments[atom] == argument:
                return atom
        return None


def _product(rows: Rows, row: int) -> tuple[int, Coefficient, Monomial]:
    """Return a row as a product."""
    (coefficient,) = rows.coefficients[row : row + 1].tolist()  # not of numpy: of any size
    monomial = tuple(each for each in rows.atoms[row].tolist() if each != ABSENT)
    return int(rows.owners[row]), coefficient, monomial


def _without(atoms: list[int], removed: list[int]) -> list[int]:
    left = list(atoms)
    for atom in removed:
        left.remove(atom)
    return left


def _sorted(atoms: list[int]) -> Monomial:
    return tuple(sorted(atoms, reverse=True))
