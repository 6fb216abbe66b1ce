"""Normal forms in which choices are multiplied out: ``where(c, x, y)`` is ``[c]·x + (1 - [c])·y``.

``[c]`` is 1 where a condition holds, else 0, so that it is its own square. So a mask is the same as a choice
of 0, as a factor that a choice or a comparison is, and as an integer that is 0 or 1 for all admissible data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, IntegerFormat
from ..terms import operations
from ..terms.evaluation import integers
from ..terms.interning import Ids
from ..terms.store import CONSTANT, INPUT, NORMAL_FORM, Operation, is_raw
from .forms import NormalForms
from .monomial_reduction import MonomialReduction
from .polynomials import ABSENT, Rows, compacted
from .reading_words import Piece, Pieces, Quantities, gathered
from .sparse_polynomials import Monomial, Sparse, added, sparse
from .sum_atoms import Expanded, Groups

_BIT = operations.unsigned(1)
_TRUTH = Operation(NORMAL_FORM, _BIT, attribute=("truth",))
"""The number 1 where a condition holds, else 0."""

_MOST = 16
"""Products that a condition is a sum of; another one is a variable."""


class ChoiceForms(NormalForms):
    """Normal forms with every sum expanded, and choices too.

    Parameters
    ----------
    forms : NormalForms
        Of the same quantities.
    """

    def __init__(self, forms: NormalForms) -> None:
        super().__init__(forms.store, expanded=Expanded.ALL, quantifier=forms.quantifier)
        self.software, self.extrema, self.elementary = forms.software, forms.extrema, forms.elementary
        self.poles = forms.poles
        self._own_squares = set[int]()
        self._truths: dict[int, Sparse] = {}
        self._reduction = _IdempotentReduction(
            self._own_squares, self.quantifier, self.elementary, self.extrema.magnitudes
        )

    def _unsplit(self, quantities: Quantities) -> Groups:
        terms, fmt = self.quantifier.terms(quantities), self.quantifier.format(int(quantities[0]))
        operation = self.store.operation(int(terms[0]))
        if operation.name != operations.SELECT or fmt.bits != operation.result.bits:
            return super()._unsplit(quantities)
        found = self._extremal.expanded(terms, fmt)
        left = np.setdiff1d(
            np.arange(len(terms)), [place for places, _ in found for place in places.tolist()]
        )
        conditions, *sides = self.store.arguments(terms)[:, :3].T
        if isinstance(fmt, FloatFormat):
            infinite = np.logical_or.reduce(
                [self.quantifier.classes.never_finite(each, fmt) for each in sides]
            )
            others = left[infinite[left]]
            left = left[~infinite[left]]
            if len(others):
                found += [(others[places], each) for places, each in super()._unsplit(quantities[others])]
        made = [
            self._multiplied(
                self._truth(int(conditions[place])), [side[place : place + 1] for side in sides], fmt
            )
            for place in left.tolist()
        ]
        return found + [(left[places], each) for places, each in gathered(made)]

    def _multiplied(self, truth: Sparse, sides: list[Ids], fmt: Any) -> Pieces:
        """Return ``y + [c]·(x - y)``."""
        then, otherwise = (self.quantifier.read(side, fmt) for side in sides)
        pieces = [Piece(_number(1), (otherwise,))]
        for monomial, value in truth.items():
            atoms = tuple(np.array([each], dtype=np.int64) for each in monomial)
            pieces += [Piece(_number(value), (*atoms, then)), Piece(_number(-value), (*atoms, otherwise))]
        return pieces

    # -- conditions as numbers
    def _truth(self, condition: int) -> Sparse:
        """Return what is 1 where a condition holds, else 0."""
        if condition not in self._truths:
            found = self._combined(condition)
            if found is None:
                found = self._as_integer(condition)
            self._truths[condition] = self._as_variable(condition) if found is None else found
        return self._truths[condition]

    def _combined(self, condition: int) -> Sparse | None:
        """Return the truth of a function of other bits as that of these; None of other conditions."""
        operation, arguments = self._parts(condition)
        if operation.name == CONSTANT:
            holds = bool(self.store.constant_values(np.array([condition]))[0])
            return {(): 1} if holds else {}
        if operation.name != operations.BITWISE:
            return None
        assert isinstance(operation.attribute, int)
        values = [operation.attribute >> row & 1 for row in range(8)]
        for bit in (1, 2, 4):  # from values to the coefficients of products
            values = [each - values[row ^ bit] if row & bit else each for row, each in enumerate(values)]
        truths = [self._truth(argument) for argument in arguments]
        found: Sparse = {}
        for row, value in enumerate(values):
            product: Sparse = {(): value} if value else {}
            for place, truth in enumerate(truths):
                if row & 4 >> place:
                    product = _product(product, truth)
            found = added(found, product)
            if len(found) > _MOST:
                return None
        return found

    def _as_integer(self, condition: int) -> Sparse | None:
        """Return the truth of a comparison of a multiple of what is 0 or 1 as a polynomial in that."""
        operation, arguments = self._parts(condition)
        if operation.name != operations.COMPARE:
            if operation.name == INPUT:  # as functions of one small element have it
                atom = int(self.quantifier.read(condition, operation.result))
                self._own_squares.add(atom)
                return {(atom,): 1}
            bit = self.store.widths(np.array([condition]))[0] == 1
            found = self._own_square(condition, _BIT) if bit else None
            return found if found and [*found.values()] == [1] else None
        fmt, relation = operation.operands[0], str(operation.attribute)
        if not isinstance(fmt, IntegerFormat) or relation not in operations.OUTCOMES:
            return None
        fmt = operations.unsigned(fmt.bits) if is_raw(fmt) else fmt
        if fmt.signed and relation in operations.UNSIGNED_RELATIONS:
            return None
        for place in (0, 1):
            number, other = np.array([arguments[place]]), np.array([arguments[1 - place]])
            if not self.store.are(CONSTANT, other)[0]:
                continue
            scaled = self._own_square(int(number[0]), fmt)
            if scaled is None:
                return None
            ((of_number, factor),) = scaled.items()
            compared = int(integers(self.store.constant_values(other), fmt)[0])
            differences = [(each - compared) * (1 if place == 0 else -1) for each in (0, int(factor))]
            outcomes = operations.OUTCOMES[relation]
            at_0, at_1 = (outcomes[(difference > 0) - (difference < 0) + 1] for difference in differences)
            constant: Sparse = {(): 1} if at_0 else {}
            return added(constant, {of_number: int(at_1) - int(at_0)}) if at_0 != at_1 else constant
        return None

    def _own_square(self, term: int, fmt: IntegerFormat) -> Sparse | None:
        """Return an integer if it is a multiple of an atom that is 0 or 1, its own square; else None."""
        (found,) = sparse(self.polynomials(np.array([term], dtype=np.int32), fmt), 1)
        if len(found) != 1 or len(monomial := next(iter(found))) != 1:
            return None
        atoms, own = np.array(monomial, dtype=np.int64), self.quantifier.format(monomial[0])
        if not isinstance(own, IntegerFormat) or is_raw(own):
            return None
        (ends,) = self.quantifier.magnitudes.intervals(self.quantifier.terms(atoms), own).tolist()
        if ends != [0, 1]:
            return None
        self._own_squares.update(monomial)
        return found

    def _as_variable(self, condition: int) -> Sparse:
        numbers, opposites = self.conditions.of(np.array([condition], dtype=np.int32))
        atom = int(self.quantifier.read(self.store.apply(_TRUTH, numbers), _BIT)[0])
        self._own_squares.add(atom)
        return {(): 1, (atom,): -1} if opposites[0] else {(atom,): 1}

    def _parts(self, term: int) -> tuple[Operation, list[int]]:
        operation = self.store.operation(term)
        return operation, self.store.arguments(np.array([term]))[0].tolist()[: len(operation.operands)]


class _IdempotentReduction(MonomialReduction):
    """Rewrites monomials, in which some atoms are their own squares."""

    def __init__(self, own_squares: set[int], *given: Any) -> None:
        super().__init__(*given)
        self._own_squares = own_squares

    def reduced(self, rows: Rows) -> Rows:
        """Return rows without repeated atoms that are their own squares."""
        return self._once(super().reduced(self._once(rows)))

    def _once(self, rows: Rows) -> Rows:
        atoms = rows.atoms
        repeated: NDArray[np.bool_] = (atoms[:, 1:] == atoms[:, :-1]) & (atoms[:, 1:] != ABSENT)
        repeated &= np.isin(atoms[:, 1:], np.fromiter(self._own_squares, dtype=np.int64))
        if not repeated.any():
            return rows
        atoms = atoms.copy()
        atoms[:, 1:][repeated] = ABSENT
        return Rows(rows.owners, rows.coefficients, compacted(atoms), rows.pending)


def _number(value: Any) -> NDArray[Any]:
    return np.array([value], dtype=object)


def _product(one: Sparse, other: Sparse) -> Sparse:
    """Return the product of truths, of which every atom is its own square."""
    found: Sparse = {}
    for left, value in one.items():
        for right, times in other.items():
            key: Monomial = tuple(sorted({*left, *right}, reverse=True))
            found = added(found, {key: value * times})
    return found
