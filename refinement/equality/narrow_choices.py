"""Choices between floats that were widened before, made in the narrower format: the order is the same.

Kernels convert `f16` and `bf16` to `f32` as soon as they load it and compare that, where formulas compare
what was loaded: ``max(f32(x), f32(y))`` is ``f32(max(x, y))``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...spec.float_encoding import encode
from ...spec.formats import FloatFormat, Format, Special
from ...spec.rounding import Rounding
from ..terms import operations
from ..terms.domains import NONE, Rewriting
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.store import CONSTANT, Operation, bits
from ..terms.traversal import by_operation

_WIDENING = Sum(0, 1)
"""The operation that converts a float to a format that has all numbers of its own."""


class NarrowChoices(Rewriting):
    """Moves conversions of floats to wider formats behind comparisons, extrema, selects and signs."""

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return terms of one operation whose arguments are replaced, of narrow floats where it chooses."""
        found = super().applied(operation, terms, given)
        chooses = operation.name == operations.SELECT
        orders = operation.name in (operations.COMPARE, operations.EXTREMUM, operations.NEGATE)
        flushes = operation.name == operations.EXTREMUM and operation.attribute[2]  # type: ignore[index]
        if flushes or not (chooses or (orders and isinstance(operation.operands[0], FloatFormat))):
            return found
        first = int(chooses)  # what a select chooses by stays
        columns = self.store.arguments(found)[:, : len(operation.operands)]
        for widening, _ in by_operation(self.store, np.unique(columns[:, first:])):
            if widening.attribute != _WIDENING or not _is_within(widening.operands[0], widening.result):
                continue
            narrow = widening.operands[0]
            made = [self._narrowed(each, widening) for each in columns.T[first:]]
            some = np.flatnonzero(np.min(made, axis=0) != NONE)
            sides = [*columns[some, :first].T, *(each[some] for each in made)]
            words = [narrow if orders else bits(narrow.bits)] * len(made)
            result = operation.result if operation.name == operations.COMPARE else words[0]
            chosen = Operation(
                operation.name, result, (*operation.operands[:first], *words), operation.attribute
            )
            if len(some):
                again = self.store.apply(chosen, *sides)
                compares = operation.name == operations.COMPARE
                found[some] = again if compares else self.store.apply(widening, again)
        return found

    def _narrowed(self, words: Ids, widening: Operation) -> Ids:
        """Return what was widened to words (n,), or constants that the narrow format has; else `NONE`."""
        narrow, wide = widening.operands[0], widening.result
        assert isinstance(narrow, FloatFormat) and isinstance(wide, FloatFormat)
        found = np.full(len(words), NONE, dtype=np.int32)
        some = self.store.operation_numbers(words) == self.store.number(widening)
        found[some] = self.store.arguments(words[some])[:, 0]
        for place in np.flatnonzero(self.store.are(CONSTANT, words)):
            number = wide.exact(int(self.store.constant_values(words[place : place + 1])[0]))
            if number:  # zeros have signs, infinities and NaNs are no numbers
                word = int(encode(np.array([float(number)]), narrow, Rounding.NEAREST_EVEN)[0])
                if narrow.exact(word) == number:
                    found[place] = self.store.constants(word, narrow.bits)
        return found


def _is_within(narrow: Format, wide: Format) -> bool:
    """Tell whether a float format has all numbers of another, its infinities and NaNs."""
    return (
        isinstance(narrow, FloatFormat)
        and isinstance(wide, FloatFormat)
        and narrow.special is wide.special is Special.IEEE
        and narrow.bits < wide.bits
        and narrow.exponent_bits <= wide.exponent_bits
        and narrow.fraction_bits <= wide.fraction_bits
    )
