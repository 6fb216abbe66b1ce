"""Finite masks in exponents as infinite ones: ``exp(where(c, x, -1e9) - m)`` with -∞ in the place of -1e9.

What is compared is then NaN where a row is masked as a whole, so that a contract that is a number there is
not met; that no other score outweighs the mask is for the verdict to say.
"""

from __future__ import annotations

from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from ...spec.float_encoding import decode
from ...spec.formats import F32, F64, FloatFormat
from ..normal_forms.elementary_forms import stem
from ..terms import operations
from ..terms.choices import chosen
from ..terms.domains import Domain, Rewriting
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.store import CONSTANT, Operation, TermStore

_MASK = -1e4
"""The greatest constant that is taken for a mask."""

_LEAST_EXPONENT = 8192
"""What a mask subtracts at least in an exponent of 2: beside any score a power of it is 0."""

_FLOATS: MappingProxyType[int, FloatFormat] = MappingProxyType({32: F32, 64: F64})
"""Formats of scores by their bits: 16 do not say which of two formats they are in."""

_READING = (operations.FUSED, operations.NEGATE, operations.EXTREMUM)
"""Operations that read scores as floats."""


class FiniteMasks(Rewriting):
    """Replaces finite masks in the exponents of powers of two.

    Of one exponent all are, or none: the maximum that is subtracted is masked as its scores are.

    Attributes
    ----------
    constants : set of Fraction
        Those that are replaced.
    """

    def __init__(self, store: TermStore) -> None:
        super().__init__(store)
        self._exponents, self._sizes = _Exponents(store), _Sizes(store)

    @property
    def constants(self) -> set[Fraction]:
        """The masks that have been replaced."""
        return self._exponents.constants

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return terms of one operation whose arguments are replaced."""
        fmt = _FLOATS.get(operation.result.bits)
        if fmt is not None and operation == operations.function(str(operation.attribute), fmt, fmt):
            sizes = self._sizes.values(given[0])
            masked = (sizes >= _LEAST_EXPONENT) & np.isfinite(sizes)
            if stem(operation) == "ex2" and masked.any():
                exponents = given[0].copy()
                found = self._exponents.values(exponents[masked])
                exponents[masked] = self._exponents.masked(found, fmt)
                given = [exponents]
        return super().applied(operation, terms, given)


class ChosenMasks(Domain):
    """Whether a term depends on a choice, by data, of a finite number that may be a mask."""

    dtype = bool

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return whether an operation chooses such a number, or arguments do."""
        found = self.join.reduce(given, axis=0)
        if operation.name == operations.SELECT and operation.result.bits in _FLOATS:
            for side in self.store.arguments(terms)[:, 1:3].T:
                found = found | (numbers_of(self.store, side) <= _MASK)
        return found


class _Sizes(Domain):
    """How much the least mask in a term subtracts; infinite without any, 0 where that is not known."""

    dtype, unknown, join = np.float64, np.inf, np.minimum

    def leaf(self, operation: Operation, terms: Ids) -> float:
        return np.inf

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        if operation.name == operations.SELECT and operation.result.bits in _FLOATS:
            numbers = [numbers_of(self.store, each) for each in self.store.arguments(terms)[:, 1:3].T]
            masks = [np.where(each <= _MASK, -each, np.inf) for each in numbers]
            return np.minimum.reduce([*masks, given[1], given[2], _lost(given[0])])
        if operation.name not in _READING or operation.result not in _FLOATS.values():
            return _lost(self.join.reduce(given, axis=0))
        numbers = [numbers_of(self.store, each) for each in self.store.arguments(terms).T[: len(given)]]
        sizes, factors = list(given), 0
        if operation.name == operations.FUSED:
            assert isinstance(operation.attribute, Sum)
            factors = 2 * operation.attribute.products
            for place in range(0, factors, 2):
                for one, other in ((place, place + 1), (place + 1, place)):
                    factor = np.abs(numbers[other])
                    scaled = np.full(len(terms), np.inf)
                    np.multiply(given[one], factor, out=scaled, where=np.isfinite(given[one]))
                    sizes[one] = np.where(np.isnan(factor), _lost(given[one]), scaled)
        for place, number in enumerate(numbers[factors:], factors):  # which a scan begins with, say
            sizes[place] = np.where(number <= _MASK, 0.0, sizes[place])
        return self.join.reduce(sizes, axis=0)


def numbers_of(store: TermStore, terms: Ids) -> Any:
    """Return the numbers that constants (n,) are as floats; NaN of other terms and infinities."""
    found = np.full(len(terms), np.nan)
    widths = store.widths(terms)
    for width, fmt in _FLOATS.items():
        some = store.are(CONSTANT, terms) & (widths == width)
        numbers = decode(store.constant_values(terms[some]).astype(fmt.storage), fmt)
        found[some] = np.where(np.isfinite(numbers), numbers, np.nan)
    return found


def _lost(sizes: Any) -> Any:
    """Return sizes of masks that go through what may do anything with them."""
    return np.where(np.isinf(sizes), np.inf, 0.0)


class _Exponents(Rewriting):
    """Terms with -∞ for constants far below 0 that are chosen."""

    def __init__(self, store: TermStore) -> None:
        super().__init__(store)
        self.constants = set[Fraction]()

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        if operation.name in _READING:
            read = zip(given, operation.operands, strict=False)
            given = [self.masked(*each) for each in read] + given[len(operation.operands) :]
        return super().applied(operation, terms, given)

    def masked(self, terms: Ids, fmt: Any) -> Ids:
        """Return terms (n,), read in a format, with -∞ for masks among what is chosen."""
        if fmt not in _FLOATS.values():
            return terms
        assert isinstance(fmt, FloatFormat)
        choices = np.flatnonzero(self.store.are(operations.SELECT, terms))
        if not len(choices):
            return terms
        conditions, *sides = self.store.arguments(terms[choices]).T[:3]
        made = [
            self.masked(np.where(self._are_masks(side, fmt), self._infinity(fmt), side), fmt)
            for side in sides
        ]
        found = terms.copy()
        changed = (made[0] != sides[0]) | (made[1] != sides[1])
        if changed.any():
            found[choices[changed]] = chosen(
                self.store, conditions[changed], made[0][changed], made[1][changed]
            )
        return found

    def _infinity(self, fmt: FloatFormat) -> int:
        assert fmt.infinity is not None
        return int(self.store.constants(fmt.infinity | fmt.sign_mask, fmt.bits))

    def _are_masks(self, terms: Ids, fmt: FloatFormat) -> Any:
        constant = self.store.are(CONSTANT, terms)
        words = np.where(constant, self.store.constant_values(terms), 0)
        numbers = decode(words.astype(fmt.storage), fmt)
        with np.errstate(invalid="ignore"):
            found = constant & (numbers <= _MASK) & np.isfinite(numbers)
        self.constants.update(Fraction(each) for each in np.unique(numbers[found]).tolist())
        return found
