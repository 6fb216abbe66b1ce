"""Finite masks in exponents as infinite ones: ``exp(where(c, x, -1e9) - m)`` with -∞ in the place of -1e9.

What is compared is then NaN where a row is masked as a whole, so that a contract that is a number there is
not met; that no other score outweighs the mask is for the verdict to say.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ...spec.float_encoding import decode
from ...spec.formats import F32, F64, FloatFormat
from ..normal_forms.elementary_forms import stem
from ..terms import operations
from ..terms.choices import chosen
from ..terms.domains import Rewriting
from ..terms.interning import Ids
from ..terms.store import CONSTANT, Operation, TermStore

_MASK = -1e4
"""The greatest constant that is taken for a mask: powers of it are 0 in every format."""

_WIDTHS = (F32, F64)
"""Formats of scores: 16 bits do not say which of two formats they are in."""

_READING = (operations.FUSED, operations.NEGATE, operations.EXTREMUM, operations.CONVERT)
"""Operations that read scores as floats."""


class FiniteMasks(Rewriting):
    """Replaces finite masks in the exponents of powers of two.

    Attributes
    ----------
    constants : set of Fraction
        Those that are replaced.
    """

    def __init__(self, store: TermStore) -> None:
        super().__init__(store)
        self._exponents = _Exponents(store)

    @property
    def constants(self) -> set[Fraction]:
        """The masks that have been replaced."""
        return self._exponents.constants

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return terms of one operation whose arguments are replaced."""
        if operation.name == operations.FUNCTION and stem(operation) == "ex2":
            given = [self._exponents.masked(self._exponents.values(given[0]), operation.operands[0])]
        return super().applied(operation, terms, given)


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
        if fmt not in _WIDTHS:
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
