"""Polynomials of terms that are functions of one small input element."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import decode
from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..analysis.rounding_errors import unit_of
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import NORMAL_FORM, Operation
from ..terms.value_tables import TABLE, Affine, LeafFunctions
from .reading_words import Piece, Quantities
from .readings import Quantifier
from .sum_atoms import Groups

_SUMS = (operations.RING, operations.FUSED)
"""Operations whose terms split, although what is taken of one integer may be that integer as a whole."""


class ElementFunctions:
    """Expands functions of one element: a multiple of it and an addend, or else an atom for the table.

    Parameters
    ----------
    quantifier : Quantifier
        Of the store.
    """

    def __init__(self, quantifier: Quantifier) -> None:
        self._quantifier = quantifier
        self._store = quantifier.store
        self._functions = LeafFunctions(quantifier.store)

    def leaves(self, terms: Ids) -> NDArray[np.int64]:
        """Return the one small element that each term depends on; negative where there is no such."""
        return self._functions.leaves(terms)

    def bounds(
        self, terms: Ids, fmt: FloatFormat
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """Return where terms (n,), functions of one element each, lie, and the units of their lowest bits.

        Both ends are infinite where not every value is a number.
        """
        low, high = np.full(len(terms), -np.inf), np.full(len(terms), np.inf)
        units = np.full(len(terms), fmt.quantum, dtype=np.int64)
        leaves, shapes = self._functions.leaves(terms), self._functions.shapes(terms)
        for shape, first in zip(*np.unique(shapes, return_index=True), strict=True):
            words = self._functions.all_values(int(terms[first]), int(leaves[first]))
            values = np.asarray(decode(words.astype(fmt.storage), fmt), dtype=np.float64)
            if np.isfinite(values).all():
                members = shapes == shape
                low[members], high[members] = values.min(), values.max()
                units[members] = unit_of(values).min()
        return low, high, units

    def finite_values(self, term: int) -> NDArray[np.uint64] | None:
        """Return the words that a function of one small element has for its finite values; None of others."""
        (leaf,) = self._functions.leaves(np.array([term], dtype=np.int32)).tolist()
        if leaf < 0:
            return None
        values, natural = self._functions.all_values(term, leaf), self._store.operation(leaf).result
        if not isinstance(natural, FloatFormat):
            return values
        encodings = np.arange(len(values), dtype=np.uint64)
        return values[np.isfinite(decode(encodings.astype(natural.storage), natural))]

    def truths(self, conditions: Ids) -> list[tuple[int, bytes] | None]:
        """Return the integers that bits (n,) are functions of, and what they are for all its values."""
        leaves, shapes = self._functions.leaves(conditions), self._functions.shapes(conditions)
        tables = dict[int, bytes]()
        found: list[tuple[int, bytes] | None] = []
        for condition, leaf, shape in zip(conditions.tolist(), leaves.tolist(), shapes.tolist(), strict=True):
            if leaf < 0 or not isinstance(self._store.operation(leaf).result, IntegerFormat):
                found.append(None)
                continue
            if shape not in tables:
                tables[shape] = self._functions.all_values(condition, leaf).astype(bool).tobytes()
            found.append((leaf, tables[shape]))
        return found

    def expanded(
        self, indices: NDArray[np.intp], terms: Ids, leaves: NDArray[np.int64], fmt: Format
    ) -> Groups:
        """Return the expansions of the terms at some indices, functions of one element each."""
        found: Groups = []
        shapes = self._functions.shapes(terms[indices])
        for shape in np.unique(shapes):
            members = indices[shapes == shape]
            elements = leaves[members].astype(np.int32)
            function = self._functions.function(int(terms[members[0]]), int(elements[0]), fmt)
            if isinstance(function, Affine):
                natural = self._store.operation(int(elements[0])).result
                slope, offset = (np.full(len(members), _plain(number), dtype=object) for number in function)
                pieces = [Piece(slope, (self._quantifier.read(elements, natural),)), Piece(offset, ())]
            else:
                table = Operation(NORMAL_FORM, function.format, attribute=(TABLE, function.values))
                atoms = self._store.apply(table, elements)
                self._quantifier.note(atoms, terms[members])
                pieces = [Piece(1, (self._quantifier.read(atoms, function.format),))]
            found.append((members, pieces))
        return found

    def of_integers(self, quantities: Quantities) -> NDArray[np.bool_]:
        """Tell which quantities of one kind, sums, are a multiple of one integer and an addend.

        However they were made of its bits; summand by summand, each may be another function of it.
        """
        terms, fmt = self._quantifier.terms(quantities), self._quantifier.format(int(quantities[0]))
        found = np.zeros(len(terms), dtype=bool)
        if self._store.operation(int(terms[0])).name not in _SUMS:
            return found
        leaves = self._functions.leaves(terms)
        integer = np.array(
            [isinstance(operation.result, IntegerFormat) for operation in self._store.operations]
        )
        of_integers = integer[self._store.operation_numbers(np.maximum(leaves, 0))]
        members = np.flatnonzero((leaves >= 0) & of_integers)
        if not len(members):
            return found
        shapes = self._functions.shapes(terms[members])
        for shape, first in zip(*np.unique(shapes, return_index=True), strict=True):
            one = members[first]
            function = self._functions.function(int(terms[one]), int(leaves[one]), fmt)
            found[members[shapes == shape]] = isinstance(function, Affine)
        return found


def _plain(number: Fraction) -> Any:
    return number.numerator if number.denominator == 1 else number
