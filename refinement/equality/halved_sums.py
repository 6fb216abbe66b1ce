"""Sums with half of a range, and low bits of such: the highest bit is flipped.

``(x + 8) & 15`` is ``x & 15`` with the highest of four bits flipped, as compilers write it where such nibbles
are packed: nothing is carried into the bits below, and what is carried out of the highest is dropped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..terms import operations
from ..terms.bit_slices import bitwise, extract, taken_apart
from ..terms.domains import NONE, Rewriting
from ..terms.interning import Ids
from ..terms.slices import Field, Slice, fields, join, slices_of
from ..terms.store import CONCATENATION, CONSTANT, Operation
from ..terms.traversal import by_operation
from ..terms.truth_tables import A


class HalvedSums(Rewriting):
    """Replaces low bits of sums with a constant that is the highest of them.

    Sums of what is packed so are taken apart.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return terms of one operation whose arguments are replaced."""
        found = super().applied(operation, terms, given)
        store = self.store
        if operation.name == operations.RING:
            for made, members in by_operation(store, np.unique(found)):
                places, field = np.flatnonzero(np.isin(found, members)), Field(0, made.result.bits)
                words = self._rest(found[places], field)
                found[places] = taken_apart(store, found[places])
                some = words != NONE
                if some.any():
                    found[places[some]] = join(store, self._flipped(words[some], field))
        elif takes_low_bits(operation):
            parts, own = store.elements(given[0]), fields(operation)
            rests = [self._rest(*each) for each in zip(parts.T, own, strict=True)]
            halved = np.stack([each != NONE for each in rests], axis=1)
            for which in np.unique(halved[halved.any(axis=1)], axis=0):
                some = np.flatnonzero((halved == which).all(axis=1))
                pieces: list[Slice] = []
                for column, rest, field, is_halved in zip(parts.T, rests, own, which, strict=True):
                    whole = [Slice(column[some], field)]
                    pieces += self._flipped(rest[some], field) if is_halved else whole
                found[some] = join(store, pieces)
        return found

    def _flipped(self, words: Ids, field: Field) -> list[Slice]:
        """Return the low bits of words (n,) that a field has, the highest of them flipped."""
        store, pieces = self.store, list[Slice]()
        below, top = field.width - 1, extract(self.store, words, field.width - 1, 1)
        top = bitwise(store, 0xFF ^ A, top, top, top)
        for part in [extract(store, words, 0, below), top] if below else [top]:
            alike = len(np.unique(store.operation_numbers(part))) == 1
            whole = Slice(part, Field(0, int(store.widths(part[:1])[0])))
            pieces += slices_of(store, part) if alike else [whole]
        return pieces

    def _rest(self, words: Ids, field: Field) -> Ids:
        """Return to what half of a field's range is added in words (n,); `NONE` of other words."""
        found = np.full(len(words), NONE, dtype=np.int32)
        if not _may_be_halved(field):
            return found
        half, mask = np.uint64(1 << field.width - 1), np.uint64((1 << field.width) - 1)
        for operation, members in by_operation(self.store, np.unique(words)):
            how = operation.attribute
            if operation.name != operations.RING or not isinstance(how, operations.Sum):
                continue
            if (how.products, how.addends) != (0, 2):
                continue
            some = np.flatnonzero(np.isin(words, members))
            columns = self.store.arguments(words[some])[:, :2].T
            for constant, other in (columns, columns[::-1]):
                is_half = self.store.are(CONSTANT, constant)
                is_half[is_half] = self.store.constant_values(constant[is_half]) & mask == half
                found[some[is_half]] = other[is_half]
        return found


def takes_low_bits(operation: Operation) -> bool:
    """Tell whether an operation puts together low bits of words."""
    return operation.name == CONCATENATION and any(map(_may_be_halved, fields(operation)))


def _may_be_halved(field: Field) -> bool:
    return not field.constant and not field.repeats and field.low == 0
