"""Signs of numbers computed from data, as decision diagrams over comparisons with 0.

The sign of a product is that of its factors, so that both sides of an equality ask the same comparisons. They
tell which infinity an infinity times data is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...spec.formats import Format
from ..analysis import float_classes as classes
from ..analysis.float_classes import NEGATIVE, NUMBER, POSITIVE, ZERO
from ..conditions.decision_diagrams import Diagrams
from ..normal_forms.forms import NormalForms
from ..normal_forms.polynomials import ExpansionError
from ..normal_forms.sparse_polynomials import Sparse, sparse
from ..terms import operations
from ..terms.store import is_raw


class DataSigns:
    """Makes decision diagrams of the signs of terms.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    diagrams : Diagrams
        Where diagrams are made.
    variable : callable
        Returns the diagram of a condition, a term, that is a variable there.
    """

    def __init__(self, forms: NormalForms, diagrams: Diagrams, variable: Callable[[int], int]) -> None:
        self._forms, self._store = forms, forms.store
        self._diagrams, self._variable = diagrams, variable
        self._known: dict[tuple[int, Format], int] = {}

    def of(self, term: int, fmt: Format) -> int:
        """Return the diagram of whether a term, read in a format, is negative, 0 or positive."""
        if (term, fmt) not in self._known:
            try:
                (number,) = sparse(self._forms.polynomials(np.array([term], dtype=np.int32), fmt), 1)
                self._known[term, fmt] = self._of_polynomial(number, term, fmt)
            except ExpansionError:  # it may be either
                self._known[term, fmt] = NUMBER
        return self._known[term, fmt]

    def _of_polynomial(self, number: Sparse, term: int, fmt: Format) -> int:
        if not number:
            return classes.ZERO
        signs = {value > 0 for value in number.values()}
        if len(number) > 1:
            atoms = {atom for monomial in number for atom in monomial}
            if len(signs) == 1 and all(map(self._forms.extrema.is_not_negative, atoms)):
                positive = any(all(map(self._is_positive, monomial)) for monomial in number)
                return self._one_sided(term, fmt, POSITIVE if signs.pop() else NEGATIVE, never_zero=positive)
            return self._compared(term, fmt, positive=number[max(number)] > 0)
        ((monomial, _),) = number.items()
        found = POSITIVE if signs.pop() else NEGATIVE
        for atom in monomial:
            found = self._diagrams.applied("mul", classes.multiplied, found, self._of_atom(atom))
        return found

    def _is_positive(self, atom: int) -> bool:
        return self._forms.elementary.is_positive(atom)

    def _of_atom(self, atom: int) -> int:
        if self._is_positive(atom):
            return POSITIVE
        quantifier = self._forms.quantifier
        fmt = quantifier.format(atom)
        one_sided = self._forms.extrema.is_not_negative(atom)
        if is_raw(fmt):
            return POSITIVE | ZERO if one_sided else NUMBER
        term = int(quantifier.terms(np.array([atom], dtype=np.int64))[0])
        if one_sided:
            return self._one_sided(term, fmt, POSITIVE)
        return self._compared(term, fmt, positive=True)

    def _one_sided(self, term: int, fmt: Format, sign: int, *, never_zero: bool = False) -> int:
        """Return the sign of a number that has no other but this one, unless it is 0."""
        if never_zero:
            return sign
        condition = self._condition(term, fmt, "gt" if sign == POSITIVE else "lt")
        return self._diagrams.chosen(condition, sign, ZERO, classes.TRUE)

    def _compared(self, term: int, fmt: Format, *, positive: bool) -> int:
        """Return the sign of a number; that of its opposite has the same conditions, in the same order."""
        first, last = (
            self._condition(term, fmt, relation) for relation in (("lt", "gt") if positive else ("gt", "lt"))
        )
        below, above = (NEGATIVE, POSITIVE) if positive else (POSITIVE, NEGATIVE)
        beyond = self._diagrams.chosen(last, above, ZERO, classes.TRUE)
        return self._diagrams.chosen(first, below, beyond, classes.TRUE)

    def _condition(self, term: int, fmt: Format, relation: str) -> int:
        """Return the diagram of a comparison with 0."""
        zero = int(self._store.constants(0, fmt.bits))
        return self._variable(int(self._store.apply(operations.compare(fmt, relation), term, zero)))
