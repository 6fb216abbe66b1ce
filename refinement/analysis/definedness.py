"""Definedness, bit by bit: which bits of terms depend on undefined leaves.

An undefined bit flows: through what moves bits it stays one bit, a sum carries it upwards, a mask of zeros
ends it, and a float computed from it is undefined as a whole. Where it ends up is for others to judge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import Format, IntegerFormat
from ..terms import operations
from ..terms.domains import Domain
from ..terms.interning import Ids
from ..terms.slices import Field, fields
from ..terms.store import CONCATENATION, CONSTANT, Operation, TermStore
from ..terms.traversal import leaves_of, operands

Masks = NDArray[np.uint64]
"""One bit for each of a term's up to 64; a wider term has all or none."""

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_NONE = np.uint64(0)
_WIDEST = 64


class Definedness(Domain):
    """Definedness of the terms of a store, bit by bit, with respect to given leaves.

    Parameters
    ----------
    store : TermStore
        The terms.
    leaves : array
        Those of which nothing is known: undefined terms, or inputs.
    """

    dtype = np.uint64

    def __init__(self, store: TermStore, leaves: Ids) -> None:
        super().__init__(store)
        self._leaves = np.unique(leaves)

    def undefined_bits(self, terms: Ids) -> Masks:
        """Return the bits (n,) of terms that may depend on the leaves.

        A bit that is 0 here is the same whatever the leaves are.
        """
        return self.values(terms)

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Masks:
        """Return the bits of terms of one operation."""
        width = operation.result.bits
        if operation.name == CONCATENATION:
            found = self._joined(operation, terms)
        else:
            found = super().transfer(operation, terms, read)
        return found & _ones(width or _WIDEST)

    def leaf(self, operation: Operation, terms: Ids) -> Masks:
        """Return all bits of the leaves of which nothing is known."""
        return np.where(np.isin(terms, self._leaves), _ALL, _NONE)

    def applied(self, operation: Operation, terms: Ids, given: list[Masks]) -> Masks:
        """Return the bits of terms by those of their arguments."""
        arguments, masks = operands(self.store, operation, terms), given
        if operation.result.bits <= _WIDEST:
            match operation.name:
                case operations.BITWISE:
                    return self._combined(operation, arguments, masks)
                case operations.RING:
                    return _carried(self._of_products(operation, arguments, masks))
                case operations.NEGATE if isinstance(operation.result, IntegerFormat):
                    return _carried(masks)
                case operations.EXTEND:
                    return _extended(masks[0], operation.operands[0].bits)
                case operations.SELECT:
                    differ = arguments[1] != arguments[2]
                    return np.where((masks[0] != 0) & differ, _ALL, masks[1] | masks[2])
        return _whole(np.logical_or.reduce([mask != 0 for mask in masks]))

    def _joined(self, operation: Operation, terms: Ids) -> Masks:
        parts = self.store.elements(self.store.arguments(terms)[:, 0])
        if operation.result.bits > _WIDEST:
            return _whole((self.table()[parts] != 0).any(axis=-1))
        found, at = np.zeros(len(terms), dtype=np.uint64), 0
        for index, field in enumerate(fields(operation)):
            found |= self._cut(parts[:, index], field) << np.uint64(at)
            at += field.width
        return found

    def _cut(self, parts: Ids, field: Field) -> Masks:
        masks = self.table()[parts]
        if (self.store.widths(parts) > _WIDEST).any():
            return _whole(masks != 0) & _ones(field.width)
        own = masks >> np.uint64(field.low)
        if field.repeats:
            return _whole(own & np.uint64(1) != 0) & _ones(field.width)
        return own & _ones(field.width)

    def _of_products(self, operation: Operation, given: list[Ids], masks: list[Masks]) -> list[Masks]:
        """Return the bits from which products and addends are undefined: a constant factor moves them up."""
        found = list(masks)
        assert isinstance(operation.attribute, operations.Sum)
        for first in range(0, 2 * operation.attribute.products, 2):
            for place, factor in ((first, given[first + 1]), (first + 1, given[first])):
                constant = self.store.are(CONSTANT, factor)
                moved = _lowest(masks[place]) * _lowest(self.store.constant_values(factor))
                found[place] = np.where(constant, moved, masks[place])
        return found

    def _combined(self, operation: Operation, given: list[Ids], masks: list[Masks]) -> Masks:
        """Return the bits of a truth table's results that some undefined bit alone may change."""
        table = operation.attribute
        assert isinstance(table, int)
        possible = []
        for each in given:
            constant = self.store.are(CONSTANT, each)
            values = self.store.constant_values(each)
            possible.append((np.where(constant, ~values, _ALL), np.where(constant, values, _ALL)))
        found = np.zeros(len(given[0]), dtype=np.uint64)
        for position in range(3):
            for one in range(8):
                other = one ^ 4 >> position
                if one < other and (table >> one & 1) != (table >> other & 1):
                    reached = masks[position].copy()
                    for place in range(3):
                        if place != position:
                            reached &= possible[place][one >> 2 - place & 1]
                    found |= reached
        return found


def _ones(width: int) -> np.uint64:
    return _ALL if width >= _WIDEST else np.uint64((1 << width) - 1)


def _whole(which: NDArray[np.bool_]) -> Masks:
    return np.where(which, _ALL, _NONE)


def _lowest(masks: Masks) -> Masks:
    return masks & (~masks + np.uint64(1))


def _carried(masks: list[Masks]) -> Masks:
    """Return the bits of sums and products: from the lowest undefined one of any operand upwards."""
    either = np.bitwise_or.reduce(masks)
    lowest = _lowest(either)
    return np.where(either != 0, ~(lowest - np.uint64(1)), _NONE)


def _extended(mask: Masks, width: int) -> Masks:
    sign = mask >> np.uint64(width - 1) & np.uint64(1)
    return mask | (_whole(sign != 0) & ~_ones(width))


def bytes_at(lows: NDArray[Any]) -> Masks:
    """Return the bits of bytes (n,) by the lowest one of each; of wider terms all."""
    low = lows.astype(np.uint64)
    return np.where(low < _WIDEST, np.uint64(0xFF) << np.minimum(low, np.uint64(_WIDEST - 1)), _ALL)


def reaching(store: TermStore, leaves: Ids, terms: Ids, wanted: Masks | None = None) -> Ids:
    """Return the leaves on which wanted bits of some terms may depend.

    Parameters
    ----------
    store : TermStore
        The terms.
    leaves : array
        Undefined terms, or inputs, of which nothing is known.
    terms : array (n,)
        What is looked at.
    wanted : uint64 array (n,), optional
        Which bits of it count; all by default.
    """
    if not len(leaves) or not len(terms):
        return np.zeros(0, dtype=np.int32)
    met = np.intersect1d(leaves_of(store, np.unique(terms)), leaves)
    if not len(met):
        return met
    masks = Definedness(store, met).undefined_bits(terms)
    used = terms[masks & (_ALL if wanted is None else wanted) != 0]
    return np.intersect1d(leaves_of(store, np.unique(used)), met)
