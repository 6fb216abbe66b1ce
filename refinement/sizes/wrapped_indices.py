"""Indices wrapped into a size by kernels, `x % M`, where the last tile of M may be partial.

Where D rows of the tile are there, `x % M` of its row i is i where D is more than i, and else another index
of M, of which nothing else is said, nor whether two rows have the same: a choice by the bit that says so, of
which nothing is said either where no size has the row. Sums and products of it are choices
between what they are in the two cases, and what is loaded from there is one between two elements. Rows that
are stored are there, so that it is settled for them which of the two it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..terms import operations
from ..terms.domains import Domain, Rewriting
from ..terms.interning import Ids
from ..terms.store import CONSTANT, Operation
from .implied_bounds import RestConditions
from .integer_forms import Rows, Truths
from .symbolic_integers import SymbolicIntegers
from .tail_predicates import Rest, compared, more_than

_NONE = -1


def brought_back(store: SymbolicIntegers, rows: Rows, divisors: Rows, width: int) -> Ids:
    """Return rests of integers (n, monomials) by a size, of which some are left of a tile; -1 elsewhere."""
    found = np.full(len(rows), -1, dtype=np.int32)
    for rest in store.rests:
        if not store.symbols.has(rest.other):
            continue
        symbols = store.symbols
        other = np.repeat(symbols.form({(rest.other,): rest.step})[None], len(rows), axis=0)
        room = divisors - other
        room[:, 0] -= rest.step
        other[:, 0] = rows[:, 0] % rest.step  # all sizes are multiples of the step
        even = (rows[:, 1:] % rest.step == 0).all(axis=1)
        some = np.flatnonzero((found < 0) & even & (symbols.bounds(room)[0] >= 0))
        left, behind = symbols.form(rest.form), rows[some] - divisors[some]
        bits = compared(store, symbols, left, rest, behind, "lt")
        some, numbers, bits = some[bits >= 0], (behind[:, 0] + left[0])[bits >= 0], bits[bits >= 0]
        if len(some):
            store.wraps = True
            is_there = store.are(CONSTANT, bits) & (store.constant_values(bits) == 1)
            bits = np.where(is_there, bits, more_than(store, rest, numbers)).astype(np.int32)
            other[some, symbols.column(rest.apart)] = rest.reach_of(numbers) + 1
            inside, outside = store.integers(rows[some], width), store.integers(other[some], width)
            found[some] = store.apply(operations.select(width), bits, inside, outside)
    return found


def choices(store: SymbolicIntegers, terms: Ids) -> Truths:
    """Tell which terms (n,) are choices between integers that depend on symbols, or numbers."""
    found = store.are(operations.SELECT, terms)
    (some,) = np.nonzero(found)
    if len(some):
        cases = store.arguments(terms[some])[:, 1:3]
        known = store.is_integer(cases) | store.are(CONSTANT, cases)
        found[some] = known.all(axis=1)
    return np.asarray(found)


def cases(store: SymbolicIntegers, terms: Ids) -> tuple[Ids, Ids, Ids]:
    """Return terms (n,) where bits are 1 and where they are 0, and the bits; -1 where nothing is."""
    chosen = choices(store, terms)
    arguments = store.arguments(terms)
    first, second = (np.where(chosen, arguments[:, column], terms) for column in (1, 2))
    return first, second, np.where(chosen, arguments[:, 0], -1).astype(np.int32)


def distributed(
    store: SymbolicIntegers, words: Sequence[Ids], compute: Callable[[list[Ids], NDArray[np.intp]], Ids]
) -> Ids | None:
    """Compute with words (n,) of which some choose, in each of the two cases.

    Parameters
    ----------
    store : SymbolicIntegers
        The terms.
    words : sequence of array
        The words.
    compute : callable
        From words of some members, and which these are, to terms.

    Returns
    -------
    array (n,), optional
        Choices, or what both cases have in common; -1 where none chooses, by different bits, or a result is
        no integer. None if none chooses.
    """
    apart = [cases(store, word) for word in words]
    bits = np.max([each[2] for each in apart], axis=0)
    alike = np.logical_and.reduce([(each[2] < 0) | (each[2] == bits) for each in apart])
    some = np.flatnonzero((bits >= 0) & alike)
    if not len(some):
        return None
    one, other = (compute([each[case][some] for each in apart], some) for case in (0, 1))
    width = int(store.widths(one[:1])[0])
    known = np.logical_and.reduce(
        [store.is_integer(each) | store.are(CONSTANT, each) for each in (one, other)]
    )
    found = np.full(len(bits), -1, dtype=np.int32)
    same = known & (one == other)
    found[some[same]] = one[same]
    split = known & ~same
    if split.any():
        chosen = store.apply(operations.select(width), bits[some[split]], one[split], other[split])
        found[some[split]] = chosen
    return found


def settled(store: SymbolicIntegers, terms: Ids, there: Sequence[tuple[Rest, NDArray[np.int64]]]) -> Ids:
    """Return terms (n,) where D of sizes is more than some numbers (n,).

    Those that depend on more of what is left of one of these stay as they are, and so do choices by what is
    left of others.
    """
    bits, found = _Settled(store, {rest.size for rest, _ in there}), terms.copy()
    told = np.ones(len(terms), dtype=bool)
    known = {rest.size: rest.reach_of(numbers) for rest, numbers in there}
    for rest, _ in there:
        told &= _Deciding(store, rest, bits).values(terms) <= known[rest.size]
    found[told] = _Chosen(store, bits).values(terms[told])
    return found


class _Settled:
    """Bits that hold where more than some numbers are left of sizes, and which these are."""

    def __init__(self, store: SymbolicIntegers, sizes: Collection[str]) -> None:
        self._store, self._sizes = store, sizes
        self._said = RestConditions(store, store.rests)
        self._found: dict[int, dict[str, int] | None] = {}

    def of(self, bit: int) -> dict[str, int] | None:
        """Return by size what D has to be more than, so that a bit holds; None if that is not known."""
        if bit not in self._found:
            bounds = dict(self._said.implied(bit))
            known = bool(bounds) and bounds.keys() <= set(self._sizes)
            known = known and self._said.value(bit, bounds) is True
            self._found[bit] = bounds if known else None
        return self._found[bit]

    def numbers(self, bits: Ids, size: str) -> NDArray[np.int64]:
        """Return what D of a size has to be more than (n,), so that bits hold; -1 where nothing is known."""
        distinct, which = np.unique(bits, return_inverse=True)
        found = [(self.of(each) or {}).get(size, _NONE) for each in distinct.tolist()]
        return np.array(found, dtype=np.int64)[which.reshape(-1)]

    def hold(self, bits: Ids) -> Truths:
        """Tell which bits hold where enough is left."""
        distinct, which = np.unique(bits, return_inverse=True)
        found = [self.of(each) is not None for each in distinct.tolist()]
        return np.array(found, dtype=bool)[which.reshape(-1)]


class _Deciding(Domain):
    """The largest number that more has to be left than, for choices below terms."""

    dtype, join = np.int64, np.maximum

    def __init__(self, store: SymbolicIntegers, rest: Rest, bits: _Settled) -> None:
        super().__init__(store)
        self._rest, self._bits = rest, bits

    def leaf(self, operation: Operation, terms: Ids) -> int:
        return _NONE

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        found = super().applied(operation, terms, given)
        if operation.name != operations.SELECT:
            return found
        return np.maximum(found, self._bits.numbers(self.store.arguments(terms)[:, 0], self._rest.size))


class _Chosen(Rewriting):
    """Terms with the first of what they choose by what is left of sizes."""

    def __init__(self, store: SymbolicIntegers, bits: _Settled) -> None:
        super().__init__(store)
        self._bits = bits

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        found = super().applied(operation, terms, given)
        if operation.name != operations.SELECT:
            return found
        return np.where(self._bits.hold(self.store.arguments(terms)[:, 0]), given[1], found).astype(np.int32)
