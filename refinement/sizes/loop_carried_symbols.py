"""Loop-carried symbols that a term depends on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...spec.errors import UnsupportedError
from ...spec.formats import FloatFormat, Format
from ..terms import operations
from ..terms.domains import Domain
from ..terms.interning import Ids
from ..terms.store import INPUT, Operation, TermStore
from .invariant_inference import HELD

_NONE, _FIRST_OF_SEVERAL = -1, -2


class _Held(Domain):
    """The held input that a term depends on, or the number of a set of them."""

    def __init__(self, store: TermStore) -> None:
        super().__init__(store)
        self.several: dict[int, frozenset[int]] = {}
        self._numbered: dict[frozenset[int], int] = {}

    def leaf(self, operation: Operation, terms: Ids) -> Any:
        return terms if operation.name == INPUT and operation.attribute == HELD else _NONE

    def vector(self, elements: Ids) -> Ids:
        found = np.full(len(elements), _NONE, dtype=np.int32)
        for part in elements.T:
            clash = np.flatnonzero((found != part) & (part != _NONE) & (found != _NONE))
            both = zip(found[clash].tolist(), part[clash].tolist(), strict=True)
            united = [self._united(*pair) for pair in both]
            found = np.where(found == _NONE, part, found).astype(np.int32)
            found[clash] = united
        return found

    def applied(self, operation: Operation, terms: Ids, given: list[Ids]) -> Ids:
        return self.vector(np.stack(given, axis=-1))

    def _united(self, one: int, other: int) -> int:
        """Return the number of what two terms depend on; numbers of several are below those of one."""
        union = self.several.get(one, frozenset((one,))) | self.several.get(other, frozenset((other,)))
        number = self._numbered.setdefault(union, _FIRST_OF_SEVERAL - len(self._numbered))
        self.several[number] = union
        return number


def held_by(store: TermStore, terms: Ids) -> Ids:
    """Return the held inputs (n, count) that each of some terms (n,) depends on.

    Raises
    ------
    UnsupportedError
        If one depends on none, or two depend on different numbers of them.
    """
    held = _Held(store)
    found = held.values(terms).tolist()
    sets = [sorted(held.several.get(each, () if each == _NONE else (each,))) for each in found]
    counts = {len(each) for each in sets}
    if len(counts) != 1 or not all(sets):
        raise UnsupportedError("output elements are made of different numbers of loop-carried sums")
    return np.array(sets, dtype=np.int32)


def format_of(store: TermStore, held: Ids) -> Format:
    """Return the format in which sums are held.

    Raises
    ------
    UnsupportedError
        If there are several.
    """
    numbers = np.unique(store.operation_numbers(held))
    formats: set[Format] = {store.operations[number].result for number in numbers.tolist()}
    if len(formats) != 1:
        raise UnsupportedError("loop-carried sums have several formats")
    return formats.pop()


def sums_of(store: TermStore, terms: Ids, fmt: Format) -> Ids:
    """Return the sums (n,) of terms (n, count), over the real numbers or the ring."""
    how = (
        operations.fused(fmt, (), (fmt, fmt))
        if isinstance(fmt, FloatFormat)
        else operations.ring(fmt.bits, 0, 2)
    )
    total = terms[:, 0]
    for column in terms.T[1:]:
        total = np.asarray(store.apply(how, total, column), dtype=np.int32)
    return total


def looked_up(wanted: Ids, inputs: Ids, values: Ids) -> Ids:
    """Return what stands in the place of held inputs (n,), of all those that have something there.

    Raises
    ------
    UnsupportedError
        If one has nothing.
    """
    order = np.argsort(inputs)
    places = np.minimum(np.searchsorted(inputs[order], wanted), len(inputs) - 1)
    if not len(inputs) or (inputs[order][places] != wanted).any():
        raise UnsupportedError("the loop-carried values that are stored are held in memory, not in registers")
    found: Ids = values[order][places]
    return found
