"""Aligned dot products: sums of products compared factor by factor, by rows and columns.

In a matrix product the left factors of a sum are one of M rows, the right ones one of N columns. Two sums
have the same products if, with the factors of one side in increasing order and those of the other in the
order that this gives them, both sides are the same. That is seen of M + N rows instead of M·N·K products.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..terms.interning import RowTable
from .product_chains import DROPPED, Chain, Identify, identified, in_blocks, product_keys
from .readings import Quantifier

Numbers = NDArray[np.int32]
"""Of polynomials, of rows of them, or of rows among distinct ones."""

_UNKNOWN = -1

MOST_FACTORS = 1 << 22
"""Factors of distinct rows for which keys are made."""

MOST_LISTED = 1 << 20
"""Products of sums with keys that are looked at one by one, so that sums without keys can be the same."""

_MOST_ORDERS = 16
"""Different orders of the factors, and patterns of zeros, for which keys are made."""

_FEW = 1 << 12
"""Products of sums up to which these are compared one by one, as keys of rows cost more than they save."""


class FactoredProducts:
    """Numbers sums of products: equal numbers only for equal multisets of products.

    Parameters
    ----------
    quantifier : Quantifier
        Of the factors.
    identify : callable
        Numbers them.
    """

    def __init__(self, quantifier: Quantifier, identify: Identify) -> None:
        self._quantifier = quantifier
        self._identify = identify
        self._rows: dict[int, RowTable] = {}
        self._pairs = RowTable(3)
        self._listed: dict[bytes, int] = {}
        self._of_keys: dict[int, int] = {}

    def same(self, one: Chain, other: Chain) -> NDArray[np.bool_]:
        """Tell which members of two chains add the same products; of those that have keys, by the keys alone.

        Products of which some have their factors exchanged may have another key: then they are not seen to
        be the same.
        """
        if one.lengths == other.lengths:
            alike: NDArray[np.bool_] = np.all((one.left == other.left) & (one.right == other.right), axis=1)
            if alike.all():
                return alike
        longest = max((one, other), key=lambda chain: chain.products)
        few = len(one) * longest.products <= _FEW
        left, right = (
            np.full(len(one), _UNKNOWN, dtype=np.int32) if few else self.keys(chain) for chain in (one, other)
        )
        same: NDArray[np.bool_] = (left == right) & (left != _UNKNOWN)
        doubtful = np.flatnonzero((left == _UNKNOWN) | (right == _UNKNOWN))
        for block in in_blocks(longest.at(doubtful)):
            some = doubtful[block]
            keys = [product_keys(self._quantifier, each.at(some), self._identify) for each in (one, other)]
            length = max(key.shape[1] for key in keys)
            padded = [
                np.pad(key, ((0, 0), (0, length - key.shape[1])), constant_values=DROPPED) for key in keys
            ]
            same[some] = (padded[0] == padded[1]).all(axis=1)
        return same

    def numbers(self, chain: Chain) -> tuple[Numbers, Numbers]:
        """Return numbers of sums (n,), the same only for the same products, and how many products that are.

        Sums with the same products may have different numbers, if they are so many that only their keys are
        compared, and some have none.
        """
        keys = self.keys(chain)
        counts = self._pairs.rows[keys, 0] if len(self._pairs) else np.zeros(len(chain), dtype=np.int32)
        numbers, counts = np.full(len(chain), _UNKNOWN, dtype=np.int32), counts.copy()
        listed = np.flatnonzero(keys == _UNKNOWN)
        for member, (number, count) in zip(listed, self._list(chain.at(listed)), strict=True):
            numbers[member], counts[member] = number, count
        keyed = np.flatnonzero(keys != _UNKNOWN)
        distinct, first = np.unique(keys[keyed], return_index=True)
        new = np.array([int(key) not in self._of_keys for key in distinct], dtype=bool)
        if new.sum() * chain.products <= MOST_LISTED:
            found = [number for number, _ in self._list(chain.at(keyed[first[new]]))]
        else:
            found = (2 * distinct[new]).tolist()
        self._of_keys.update(zip(distinct[new].tolist(), found, strict=True))
        numbers[keyed] = [self._of_keys[key] for key in keys[keyed].tolist()]
        return numbers, counts

    def _list(self, chain: Chain) -> list[tuple[int, int]]:
        """Return odd numbers of sums, made of each of their products, and how many products that are."""
        found = []
        for block in in_blocks(chain):
            for row in product_keys(self._quantifier, chain.at(np.arange(len(chain))[block]), self._identify):
                kept = row[row != DROPPED]
                number = self._listed.setdefault(kept.tobytes(), len(self._listed))
                found.append((2 * number + 1, len(kept)))
        return found

    def keys(self, chain: Chain) -> Numbers:
        """Return the number of each sum (n,); -1 where none is found, or not cheaply."""
        keys = np.full(len(chain), _UNKNOWN, dtype=np.int32)
        rows = [_distinct(np.ascontiguousarray(each).view(np.int32)) for each in (chain.left, chain.right)]
        if sum(len(row.distinct) for row in rows) * chain.products > MOST_FACTORS:
            return keys
        sides = [self._side(chain, row) for row in rows]
        patterns = [_distinct((side.factors == 0).astype(np.int32)) for side in sides]
        if len(patterns[0].distinct) * len(patterns[1].distinct) > _MOST_ORDERS:
            return keys
        classes = [pattern.which[side.which] for pattern, side in zip(patterns, sides, strict=True)]
        for first, zeros in enumerate(patterns[0].distinct):
            for second, others in enumerate(patterns[1].distinct):
                members = np.flatnonzero((classes[0] == first) & (classes[1] == second))
                if len(members):
                    kept = np.flatnonzero((zeros == 0) & (others == 0))
                    keys[members] = self._of_pattern([side.at(members, kept) for side in sides])
        return keys

    def _side(self, chain: Chain, rows: _Distinct) -> _Side:
        parts = np.ascontiguousarray(rows.distinct).view(np.int64)
        return _Side(identified(chain.factors(self._quantifier, parts), self._identify), rows.which)

    def _of_pattern(self, sides: list[_Side]) -> Numbers:
        """Return the numbers of sums none of whose factors is 0."""
        orders = [_Order(side.factors) for side in sides]
        strict = [order.strict[side.which] for order, side in zip(orders, sides, strict=True)]
        least = [order.least[side.which] for order, side in zip(orders, sides, strict=True)]
        rows = [self._number(order.ordered)[side.which] for order, side in zip(orders, sides, strict=True)]
        before = (least[0] > least[1]) | ((least[0] == least[1]) & (rows[0] >= rows[1]))
        by_left = strict[0] & (~strict[1] | before)
        by_right = strict[1] & ~by_left
        keys = np.full(len(sides[0].which), _UNKNOWN, dtype=np.int32)
        for chosen, leading, order, following in (
            (by_left, sides[0], orders[0], sides[1]),
            (by_right, sides[1], orders[1], sides[0]),
        ):
            members = np.flatnonzero(chosen)
            if len(members) and len(order.distinct) <= _MOST_ORDERS:
                keys[members] = self._by_order(leading.of(members), order, following.of(members))
        return keys

    def _by_order(self, leading: _Side, order: _Order, following: _Side) -> Numbers:
        """Return numbers made of the leading side in increasing order, the other one in the order of that."""
        sorted_rows = self._number(order.ordered)
        arranged = np.stack([self._number(following.factors[:, each]) for each in order.distinct])
        lengths = np.full(len(leading.which), leading.factors.shape[1], dtype=np.int32)
        second = arranged[order.which[leading.which], following.which]
        return self._pairs.numbers(np.stack([lengths, sorted_rows[leading.which], second], axis=1))

    def _number(self, rows: Numbers) -> Numbers:
        length = rows.shape[1]
        if not length:
            return np.zeros(len(rows), dtype=np.int32)
        return self._rows.setdefault(length, RowTable(length)).numbers(np.ascontiguousarray(rows))


class _Distinct(NamedTuple):
    """Distinct rows (m, …), and which of them each row (n,) is."""

    distinct: NDArray[np.int32]
    which: Numbers


def _distinct(rows: NDArray[np.int32]) -> _Distinct:
    if not rows.shape[1]:
        return _Distinct(rows[:1], np.zeros(len(rows), dtype=np.int32))
    table = RowTable(rows.shape[1])
    which = table.numbers(rows)
    return _Distinct(table.rows, which)


class _Side:
    """The factors of one side: those (m, K) of distinct rows, and which row each sum (n,) has."""

    def __init__(self, factors: Numbers, which: Numbers) -> None:
        self.factors = factors
        self.which = which

    def of(self, members: NDArray[np.intp]) -> _Side:
        """Return the side of some sums."""
        return _Side(self.factors, self.which[members])

    def at(self, members: NDArray[np.intp], kept: NDArray[np.intp]) -> _Side:
        """Return the side of some sums, their rows alone, without some products."""
        rows, which = np.unique(self.which[members], return_inverse=True)
        return _Side(self.factors[rows][:, kept], which.astype(np.int32))


class _Order:
    """The increasing orders of rows (m, K)."""

    def __init__(self, factors: Numbers) -> None:
        self.orders = np.argsort(factors, axis=1, kind="stable")
        self.ordered = np.take_along_axis(factors, self.orders, axis=1)
        self.strict: NDArray[np.bool_] = np.all(np.diff(self.ordered, axis=1) > 0, axis=1)
        self.least = self.ordered[:, 0] if factors.shape[1] else np.zeros(len(factors), dtype=np.int32)
        self.distinct, self.which = _distinct(self.orders.astype(np.int32))
