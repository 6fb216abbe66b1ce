"""Comparisons of indices and sizes that symbols leave open: bits of their own, as if they were data.

The bit of a polynomial says that it is at least 0. Kernel and formula that compare the same come to the
same bit, and where a bit holds its polynomial bounds addresses. That bits depend on each other is not used:
what is equal for all bits is equal for these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..terms import bit_slices
from ..terms.interning import Ids
from ..terms.store import INPUT, Operation, bits
from ..terms.truth_tables import A, B
from .integer_forms import Rows, Symbols
from .symbolic_integers import SymbolicIntegers

OPEN = "comparison of sizes"
"""The input, by name, that stands for such bits; no parameter can have this name."""

_MOST_FACTS = 8
"""Polynomials known to be at least 0 that are tried together, two at a time."""

_SIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def open_bits(store: SymbolicIntegers, differences: Rows, relation: str) -> Ids:
    """Return bits (n,) that say how polynomials stand to 0; -1 where the relation is none of order."""
    relation = _SIGNED.get(relation, relation)
    if relation in ("eq", "ne"):
        low, high = (open_bits(store, differences, each) for each in ("ge", "gt"))
        table = A & (0xFF ^ B)
        return bit_slices.bitwise(store, table if relation == "eq" else 0xFF ^ table, low, high, low)
    if relation not in ("lt", "le", "gt", "ge"):
        return np.full(len(differences), -1, dtype=np.int32)
    rows = differences.copy()
    rows[:, 0] -= relation in ("gt", "le")
    found = _at_least_0(store, rows)
    negated = bit_slices.bitwise(store, 0xFF ^ A, found, found, found)
    return found if relation in ("gt", "ge") else negated


def _at_least_0(store: SymbolicIntegers, rows: Rows) -> Ids:
    """Return bits (n,): of what differs by a positive factor, or is the opposite, one bit and its inverse."""
    low, high = store.symbols.bounds(rows)
    rows = rows.copy()
    divisor = np.maximum(np.gcd.reduce(rows[:, 1:], axis=1), 1)
    rows[:, 1:] //= divisor[:, None]
    rows[:, 0] //= divisor
    first = (rows[:, 1:] != 0).argmax(axis=1)
    falls = rows[np.arange(len(rows)), 1 + first] < 0
    rows[falls] *= -1
    rows[falls, 0] -= 1
    found = store.plain(Operation(INPUT, bits(1), attribute=OPEN), store.row_numbers(rows))
    inverse = bit_slices.bitwise(store, 0xFF ^ A, found, found, found)
    decided = store.constants((low >= 0).astype(np.uint64), 1)
    return np.where((low >= 0) | (high < 0), decided, np.where(falls, inverse, found)).astype(np.int32)


def row_of(store: SymbolicIntegers, term: int) -> Rows | None:
    """Return the polynomial (monomials,) of which a bit says that it is at least 0; None of other terms."""
    one = np.array([term])
    operation = store.operations[int(store.operation_numbers(one)[0])]
    if operation.name != INPUT or operation.attribute != OPEN:
        return None
    found: Rows = store.rows_numbered(store.arguments(one)[:, 0])[0]
    return found


@dataclass(frozen=True)
class Known:
    """What is known of symbols in accesses, by the conditions under which these are made.

    Attributes
    ----------
    least : mapping of str to array (n,)
        For symbols, how many they are at least.
    facts : sequence of Rows (m, monomials)
        For each access, polynomials that are at least 0.
    """

    least: Mapping[str, NDArray[np.int64]]
    facts: Sequence[Rows]

    def of_some(self, members: NDArray[np.intp]) -> Known:
        """Return what is known in some of the accesses."""
        least = {symbol: numbers[members] for symbol, numbers in self.least.items()}
        return Known(least, [self.facts[member] for member in members.tolist()])


Where = Known | None
"""What is known in accesses; None where nothing is."""


def at_least_0(symbols: Symbols, rows: Rows, where: Where, factors: Rows) -> NDArray[np.bool_]:
    """Tell in which accesses polynomials (n, monomials) are at least 0.

    Parameters
    ----------
    symbols : Symbols
        What they depend on.
    rows : Rows
        The polynomials.
    where : Known, optional
        What is known in the accesses.
    factors : Rows (k, monomials)
        What facts may be multiplied by: polynomials that are at least 0.
    """
    found: NDArray[np.bool_] = symbols.bounds(rows)[0] >= 0
    if where is None or found.all():
        return found
    raised = rows
    for symbol, numbers in where.least.items():
        raised = symbols.raised(raised, symbol, numbers)
    found |= symbols.bounds(raised)[0] >= 0
    groups: dict[bytes, list[int]] = {}
    for member in np.flatnonzero(~found).tolist():
        if len(where.facts[member]):
            groups.setdefault(where.facts[member].tobytes(), []).append(member)
    for members in groups.values():  # of the polynomials as they were, as facts are
        found[members] = _by_facts(symbols, rows[members], where.facts[members[0]], factors)
    return found


def _by_facts(symbols: Symbols, rows: Rows, facts: Rows, factors: Rows) -> NDArray[np.bool_]:
    """Tell which polynomials (n, monomials) are at least 0 where all facts (m, monomials) are."""
    known = symbols.bounds(rows)[0] >= 0
    usable = factors[symbols.bounds(factors)[0] >= 0]
    products = [each for fact in facts[:_MOST_FACTS] for each in _multiples(symbols, fact, usable)]
    for several in _subsets(products):
        left = np.flatnonzero(~known)
        if not len(left):
            break
        known[left] = symbols.bounds(rows[left] - sum(several))[0] >= 0
    return np.asarray(known)


def _multiples(symbols: Symbols, fact: Rows, factors: Rows) -> Iterator[Rows]:
    products, possible = symbols.multiplied(np.broadcast_to(fact, factors.shape), factors)
    yield from products[possible]


def _subsets(products: Sequence[Rows]) -> Iterator[tuple[Rows, ...]]:
    yield from ((each,) for each in products)
    yield from combinations(products, 2)
