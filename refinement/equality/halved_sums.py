"""Low bits of sums with half of their range: the highest bit is flipped.

``(x + 8) & 15`` is ``x & 15`` with the highest of four bits flipped, as compilers write it where such nibbles
are packed: nothing is carried into the bits below, and what is carried out of the highest is dropped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..terms import operations
from ..terms.bit_slices import bitwise, extract, taken_apart
from ..terms.domains import Rewriting
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
        if operation.name == operations.RING:
            for _, members in by_operation(self.store, np.unique(found)):
                places = np.isin(found, members)
                found[places] = taken_apart(self.store, found[places])
            return found
        if not takes_low_bits(operation):
            return found
        store, parts = self.store, self.store.elements(given[0])
        pieces: list[Slice] = []
        for column, field in zip(parts.T, fields(operation), strict=True):
            words = self._rest(column, field) if _may_be_halved(field) else None
            if words is None:
                pieces.append(Slice(column, field))
                continue
            below, top = field.width - 1, extract(store, words, field.width - 1, 1)
            top = bitwise(store, 0xFF ^ A, top, top, top)
            for part in [extract(store, words, 0, below), top] if below else [top]:
                alike = len(np.unique(store.operation_numbers(part))) == 1
                whole = Slice(part, Field(0, int(store.widths(part[:1])[0])))
                pieces += slices_of(store, part) if alike else [whole]
        return join(store, pieces)

    def _rest(self, words: Ids, field: Field) -> Ids | None:
        """Return to what half of a field's range is added in words (n,); None where it is not in all."""
        operation = self.store.operation(int(words[0]))
        alike = (self.store.operation_numbers(words) == self.store.number(operation)).all()
        how = operation.attribute
        if not alike or operation.name != operations.RING or not isinstance(how, operations.Sum):
            return None
        if (how.products, how.addends) != (0, 2):
            return None
        for constant, other in ((0, 1), (1, 0)):
            columns = self.store.arguments(words)[:, :2].T
            if self.store.are(CONSTANT, columns[constant]).all():
                mask = np.uint64((1 << field.width) - 1)
                values = self.store.constant_values(columns[constant]) & mask
                if (values == np.uint64(1 << field.width - 1)).all():
                    return np.asarray(columns[other])
        return None


def takes_low_bits(operation: Operation) -> bool:
    """Tell whether an operation puts together low bits of words."""
    return operation.name == CONCATENATION and any(map(_may_be_halved, fields(operation)))


def _may_be_halved(field: Field) -> bool:
    return not field.constant and not field.repeats and field.low == 0
