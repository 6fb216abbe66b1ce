"""Bounds of rounding errors on given inputs, for every behaviour that hardware leaves open.

The exact value of a term is what it would be if nothing that rounds a floating-point number did. A sum of
products is off by what its arguments are, plus its own rounding; that is nothing where all that is added
up are multiples of a power of two that the format still has, so that sums of small integers are exact in
any order. Else the rounding is u·S, S the sum of the magnitudes, as in `rounding_bound`; a matrix unit
rounds K + 1 times, each as coarsely as toward zero. Conversions to 8 bits or fewer and to integers are
functions with steps, not roundings: what is inexact before one may be a step off behind it. So are sums
with a constant that is taken away again after most of the number has been rounded away (`magic_constants`).

Bits that are moved about are exact where what they are taken from is; else nothing is known of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format
from ..analysis.rounding_errors import Reals
from ..terms import operations
from ..terms.assignments import FILLINGS
from ..terms.interning import Ids
from ..terms.store import CONCATENATION, CONSTANT, LEAVES, VECTOR, Operation, TermStore
from .error_rules import RULES, absorbed, of_bits
from .error_table import ErrorTable

_DIVIDING = ("rcp", "div")
"""Functions whose last argument divides; that it is not 0 is a hypothesis, unless it always is."""


class ErrorBounds(ErrorTable):
    """Values and error bounds of terms on given inputs.

    Parameters
    ----------
    store : TermStore
        The terms.
    inputs : mapping of str to array
        The encodings of each input's elements by linear index.
    overflows : bool
        Whether a result that is no finite number, of arguments that are, is known to be none. If not,
        nothing is known of it: an overflow is excluded by hypothesis.
    """

    def __init__(
        self,
        store: TermStore,
        inputs: Mapping[str, NDArray[Any]],
        *,
        overflows: bool = True,
        undefined: int = FILLINGS[0],
    ) -> None:
        super().__init__(store, inputs, undefined)
        self._overflows = overflows

    def errors(self, terms: Ids) -> Reals:
        """Return how far each term (n,) can be from its exact value; inf where that is not known.

        Raises
        ------
        UnsupportedError
            If a term has no value that can be computed.
        """
        return self.values(np.asarray(terms))["error"]

    def sizes(self, terms: Ids) -> Reals:
        """Return the sum of the magnitudes of what is added up in each term; raises as `errors`."""
        return self.values(np.asarray(terms))["size"]

    def fill(self, terms: Ids, read: Format | None = None) -> None:
        """Note the values and errors of terms; raises as `errors`."""
        self._assignment.fill(terms)
        with np.errstate(all="ignore"):
            super().fill(terms, read)

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> None:
        """Note the errors of terms of one operation."""
        self.known_kinds[terms] = self.kind(operation.result)
        if operation.name in LEAVES or operation.name == VECTOR:
            self.known_sizes[terms] = self._magnitudes(operation, terms)
            return
        rule = RULES.get(operation.name, of_bits)
        errors, sizes = rule(self, operation, terms)
        lost = ~np.isfinite(self.reals(terms, operation.result))
        self.known_sizes[terms] = np.where(lost, np.inf, sizes)
        if lost.any():
            certain = (of_bits(self, operation, terms)[0] == 0) & self._is_certain(operation, terms)
            certain |= absorbed(self, operation, terms)
            errors = np.where(lost, np.where(certain, 0.0, np.inf), errors)
        if len(zeros := self._zeros(terms)):
            errors[zeros] = np.where(self.reals(terms[zeros], operation.result) == 0, 0.0, errors[zeros])
        self.known_errors[terms] = np.where(np.isnan(errors), np.inf, errors)

    def _is_certain(self, operation: Operation, terms: Ids) -> NDArray[np.bool_]:
        """Tell which results that are no finite numbers are no hypothesis's violation."""
        if operation.name in (operations.DOT, operations.SCALED_DOT):
            return np.zeros(len(terms), dtype=bool)
        known = np.full(len(terms), self._overflows)
        for index, fmt in enumerate(operation.operands):
            if isinstance(fmt, FloatFormat) and operation.name != CONCATENATION:
                known |= ~np.isfinite(self.argument(terms, index, fmt)[0])
        if operation.name == operations.FUNCTION and str(operation.attribute).partition(".")[0] in _DIVIDING:
            divisors = self.store.arguments(terms)[:, len(operation.operands) - 1]
            zero = self.reals(divisors, operation.operands[-1]) == 0
            always = self.store.are(CONSTANT, divisors)
            always[self._zeros(divisors)] = True
            known &= ~zero | always
        return known

    def _zeros(self, terms: Ids) -> NDArray[np.intp]:
        """Return the places of terms (n,) that are shown to be 0 for all inputs, roundings aside."""
        zeros = self.store.zeros
        return np.flatnonzero([each in zeros for each in terms.tolist()] if zeros else [])

    def _magnitudes(self, operation: Operation, terms: Ids) -> Any:
        if operation.name == VECTOR or not isinstance(operation.result, FloatFormat):
            return 0.0
        return np.abs(self.reals(terms, operation.result))
