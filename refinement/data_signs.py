"""Signs of numbers that are computed from data, as decision diagrams over comparisons with 0.

The sign of a product is that of its factors, so that both sides of an equality ask the same comparisons. They
tell which infinity an infinity times data is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..spec.formats import Format
from . import float_classes as classes
from . import operations
from .decision_diagrams import Diagrams
from .normal_forms import NormalForms
from .polynomials import ExpansionError
from .sparse_polynomials import Sparse, sparse
from .terms import is_raw


class DataSigns:
    """Makes the diagrams of signs.

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
                self._known[term, fmt] = classes.NUMBER
        return self._known[term, fmt]

    def _of_polynomial(self, number: Sparse, term: int, fmt: Format) -> int:
        signs = {value > 0 for value in number.values()}
        if len(number) > 1:
            positive = all(self._forms.extrema.is_not_negative(atom) for key in number for atom in key)
            if positive and len(signs) == 1:
                return classes.POSITIVE if signs.pop() else classes.NEGATIVE
            return self._compared(term, fmt, positive=number[max(number)] > 0)
        if not number:
            return classes.ZERO
        ((monomial, _),) = number.items()
        found = classes.POSITIVE if signs.pop() else classes.NEGATIVE
        for atom in monomial:
            found = self._diagrams.applied("mul", classes.multiplied, found, self._of_atom(atom))
        return found

    def _of_atom(self, atom: int) -> int:
        if self._forms.extrema.is_not_negative(atom):
            return classes.POSITIVE
        quantifier = self._forms.quantifier
        fmt = quantifier.format(atom)
        if is_raw(fmt):
            return classes.NUMBER
        term = int(quantifier.terms(np.array([atom], dtype=np.int64))[0])
        return self._compared(term, fmt, positive=True)

    def _compared(self, term: int, fmt: Format, *, positive: bool) -> int:
        """Return the sign of a number; that of its opposite has the same conditions, in the same order."""
        zero = int(self._store.constants(0, fmt.bits))
        first, last = (
            self._variable(int(self._store.apply(operations.compare(fmt, relation), term, zero)))
            for relation in (("lt", "gt") if positive else ("gt", "lt"))
        )
        below, above = (
            (classes.NEGATIVE, classes.POSITIVE) if positive else (classes.POSITIVE, classes.NEGATIVE)
        )
        beyond = self._diagrams.chosen(last, above, classes.ZERO, classes.TRUE)
        return self._diagrams.chosen(first, below, beyond, classes.TRUE)
