"""Identities over the reals: repeated quantisation, maxima with -∞ or NaN."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import BF16, F16, F32, F64, FloatFormat, Format
from ..analysis.float_classes import NAN, of_word
from ..analysis.quantisation import quantises, unchanged
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import CONCATENATION, CONSTANT, Operation
from ..terms.traversal import alike_within, by_operation, leaves_of
from ..terms.widened_words import NONE, narrower
from .polynomials import ABSENT
from .reading_words import Piece, Quantities
from .readings import Quantifier
from .sum_atoms import Groups


class IdleOperations:
    """Finds terms that equal one of their arguments, or 0.

    Parameters
    ----------
    quantifier : Quantifier
        Of the store.
    identifiers : callable
        Numbers the polynomials of terms that are read in a format.
    """

    def __init__(
        self, quantifier: Quantifier, identifiers: Callable[[Ids, Format], NDArray[np.int32]]
    ) -> None:
        self._quantifier = quantifier
        self._store = quantifier.store
        self._identifiers = identifiers
        self._classes = quantifier.classes
        self._numbers: dict[int, bool] = {}
        self._identified: set[tuple[int, Format]] = set()

    def equal(self, terms: Ids, fmt: Format) -> Quantities:
        """Return what terms of one operation are equal to, `ABSENT` where they do something."""
        operation = self._store.operation(int(terms[0]))
        found = np.full(len(terms), ABSENT)
        if operation.name == operations.SELECT and fmt.bits == operation.result.bits:
            return self._chosen(terms, fmt, found)
        if operation.name == CONCATENATION:
            return self._widened(operation, terms, fmt, found)
        if fmt != operation.result or not isinstance(fmt, FloatFormat):
            return found
        arguments = self._store.arguments(terms)
        if quantises(operation) and len(operation.operands) == 1:
            (source,) = operation.operands
            kept = unchanged(self._quantifier.magnitudes, arguments[:, 0], source, fmt)
            found[kept] = self._quantifier.read(arguments[kept, 0], source)
        elif operation.name == operations.FUNCTION and str(operation.attribute).startswith("ex2"):
            nothing = self._classes.infinite(arguments[:, 0], operation.operands[0]) < 0
            found[nothing] = self._quantifier.read(self._store.constants(0, fmt.bits), fmt)  # 2^-∞
        elif operation.name == operations.EXTREMUM:
            assert isinstance(operation.attribute, tuple)
            for within in alike_within(self._store, terms, lambda each: (each, fmt) in self._identified):
                self._identified.update((each, fmt) for each in within.tolist())
                self._identifiers(within, fmt)
            # Both at once: a tree of extrema has few levels, but many paths.
            left, right = np.split(self._identifiers(arguments[:, :2].T.reshape(-1), fmt), 2)
            alike = left == right
            found[alike] = self._quantifier.read(arguments[alike, 0], operation.operands[0])
            neutral = _NEUTRAL[str(operation.attribute[0])]
            for column in (0, 1):  # the least number, or the greatest, beside another one
                bound = self._classes.infinite(arguments[:, column], operation.operands[column]) == neutral
                limit = np.flatnonzero(self._is_limit(arguments[:, column], fmt, neutral))
                bound[limit] |= self._is_number(arguments[limit, 1 - column])
                if not operation.attribute[1]:  # of a number and a NaN, it is the number
                    bound |= self._is_nan(arguments[:, column], operation.operands[column])
                found[bound] = self._quantifier.read(arguments[bound, 1 - column], fmt)
        return found

    def expanded(self, terms: Ids, fmt: Format) -> Groups:
        """Return choices (n,), of one operation, between floats that are the same real number as that."""
        operation = self._store.operation(int(terms[0]))
        if operation.name != operations.SELECT or not isinstance(fmt, FloatFormat):
            return []
        one, other = self._store.arguments(terms)[:, 1:3].T
        numbers = self._identifiers(np.concatenate([one, other]), fmt)
        alike = np.flatnonzero(numbers[: len(terms)] == numbers[len(terms) :])
        return [(alike, [Piece(1, (self._quantifier.read(one[alike], fmt),))])] if len(alike) else []

    def _is_limit(self, terms: Ids, fmt: FloatFormat, sign: int) -> NDArray[np.bool_]:
        """Tell which terms (n,) are the greatest number of a format, or if `sign` is negative the least.

        That of f16 is none that data stay below: the minimum with it does something.
        """
        if fmt.maximum_exponent < F32.maximum_exponent:
            return np.zeros(len(terms), dtype=bool)
        word = fmt.largest | (fmt.sign_mask if sign < 0 and fmt.signed else 0)
        limit = self._store.constants(word << fmt.padding_bits, fmt.bits)
        return np.asarray(terms == int(limit))

    def _is_nan(self, terms: Ids, fmt: Format) -> NDArray[np.bool_]:
        """Tell which terms (n,) are constants that are NaNs."""
        found: NDArray[np.bool_] = self._store.are(CONSTANT, terms)
        words = np.unique(self._store.constant_values(terms[found]))
        nans = [word for word in words.tolist() if of_word(word, fmt) == NAN]
        found[found] = np.isin(self._store.constant_values(terms[found]), nans)
        return found

    def _is_number(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell in which terms (n,) no constant is an infinity, which would be beyond the limit."""
        found = np.zeros(len(terms), dtype=bool)
        for place, term in enumerate(terms.tolist()):
            if term not in self._numbers:
                leaves = leaves_of(self._store, np.array([term], dtype=np.int32))
                constants = leaves[self._store.are(CONSTANT, leaves)]
                widths = self._store.widths(constants)
                infinite = (
                    self._classes.infinite(constants[widths == each.bits], each).any()
                    for each in (F16, BF16, F32, F64)
                )
                self._numbers[term] = not any(infinite)
            found[place] = self._numbers[term]
        return found

    def _widened(self, operation: Operation, terms: Ids, fmt: Format, found: Quantities) -> Quantities:
        """Find the numbers that zeros were put behind."""
        numbers = narrower(self._store, operation, terms, fmt)
        words = np.flatnonzero(numbers != NONE)
        for each, _ in by_operation(self._store, np.unique(numbers[words])):
            chosen = words[self._store.operation_numbers(numbers[words]) == self._store.number(each)]
            found[chosen] = self._quantifier.read(numbers[chosen], each.result)
        return found

    def _chosen(self, terms: Ids, fmt: Format, found: Quantities) -> Quantities:
        """Find the numbers that are greater than -∞, or less than ∞, and chosen for that."""
        if not isinstance(fmt, FloatFormat):
            return found
        choices = self._store.arguments(terms)
        compared = self._store.arguments(choices[:, 0])
        for operation, conditions in by_operation(self._store, np.unique(choices[:, 0])):
            which = operations.EXTREMES.get(str(operation.attribute).removesuffix("u"))
            if operation.name != operations.COMPARE or operation.operands[0] != fmt or which is None:
                continue
            of_these = np.isin(choices[:, 0], conditions)
            for name, sides in ((which, (1, 2)), (operations.OPPOSITE_EXTREMES[which], (2, 1))):
                same = of_these & (choices[:, sides] == compared[:, :2]).all(axis=1)
                for column in (0, 1):
                    bound = same.copy()
                    bound[same] = self._classes.infinite(compared[same, column], fmt) == _NEUTRAL[name]
                    found[bound] = self._quantifier.read(compared[bound, 1 - column], fmt)
        return found


_NEUTRAL = MappingProxyType({"max": -1, "min": 1})
"""The sign of the infinity beside which another number is the extremum."""
