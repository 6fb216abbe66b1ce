"""What conditions on sizes and indices imply where they hold: how much is left of a size, and facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

import numpy as np

from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import CONSTANT, INPUT
from .integer_forms import Rows
from .open_comparisons import Known, row_of
from .symbolic_integers import SymbolicIntegers
from .tail_predicates import Bounds, Rest, name_of

_MOST_TRIED = 16
"""Numbers that a bit compares what is left of a size with, all of which are tried."""

_NEVER = 1 << 30
"""What is more than is ever left of a size, where a bit can't be as it is said to be."""

_MOST_OPEN = 6
"""Comparisons that are taken one way and the other."""


class RestConditions:
    """What conditions imply: bounds of remainders, and polynomials that are at least 0.

    Parameters
    ----------
    store : TermStore
        The terms.
    rests : sequence of Rest
        The sizes.
    """

    def __init__(self, store: SymbolicIntegers, rests: tuple[Rest, ...]) -> None:
        self._store, self._rests = store, rests
        self._sizes = {name_of(rest.size): rest.size for rest in rests}
        self._implied: dict[tuple[int, bool], dict[str, int]] = {}
        self._facts: dict[int, Rows] = {}
        self._compared: dict[int, Mapping[str, list[int]]] = {}
        self._thresholds_of: dict[int, tuple[str, int] | None] = {}
        self._made: dict[int, list[tuple[int, tuple[int, list[int]] | None]]] = {}
        self._constants: dict[int, bool | None] = {}

    def implied(self, term: int, *, holds: bool = True) -> Bounds:
        """Return what D of each size is more than if a bit is as it is said to be."""
        key = term, holds
        if key not in self._implied:
            self._implied[key] = self._find_implied(term, holds)
        return self._implied[key]

    def _find_implied(self, term: int, holds: bool) -> dict[str, int]:
        """Try what a size may leave in order, from the least, until the bit can be as it is said to be."""
        found: dict[str, int] = {}
        for size, numbers in self._thresholds(term).items():
            for index in range(len(numbers) + 1):
                more = {size: numbers[index - 1]} if index else {}
                most = {size: numbers[index]} if index < len(numbers) else {}
                found |= more
                if self.value(term, more, most) is not (not holds):
                    break
            else:  # it never is
                found[size] = _NEVER
        return found

    def known(self, given: Sequence[Ids]) -> Known:
        """Return what is known where all of several bits (n,) are 1; -1 stands for none."""
        count = len(given[0])
        least = {rest.symbol: np.zeros(count, dtype=np.int64) for rest in self._rests}
        facts: list[Rows] = [np.zeros((0, len(self._store.symbols)), dtype=np.int64)] * count
        for terms in given:
            distinct, which = np.unique(terms, return_inverse=True)
            implied = [self.implied(each) if each >= 0 else {} for each in distinct.tolist()]
            for rest in self._rests:
                bounds = np.array([each.get(rest.size, -1) for each in implied], dtype=np.int64)
                numbers = rest.raised(bounds)[which.reshape(-1)]
                least[rest.symbol] = np.maximum(least[rest.symbol], numbers)
            if self._store.opens:
                own = [self.facts(each) if each >= 0 else facts[0][:0] for each in distinct.tolist()]
                facts = [
                    np.concatenate([each, own[number]]) if len(own[number]) else each
                    for each, number in zip(facts, which.reshape(-1).tolist(), strict=True)
                ]
        return Known(least, facts)

    def facts(self, term: int) -> Rows:
        """Return polynomials (n, monomials) that are at least 0 if a bit is 1; see `open_comparisons`."""
        if term not in self._facts:
            found = []
            for node, _ in self._nodes(term):
                if (row := row_of(self._store, node)) is not None:
                    if self._known(term, {}, {}, {node: False}) is False:
                        found.append(row)
                    elif self._known(term, {}, {}, {node: True}) is False:
                        found.append(-row - self._store.symbols.form({(): 1}))
            none = np.zeros((0, len(self._store.symbols)), dtype=np.int64)
            self._facts[term] = np.array(found) if found else none
        return self._facts[term]

    def _thresholds(self, term: int) -> Mapping[str, list[int]]:
        """Return by size the numbers that a bit compares D with, in order."""
        if term not in self._compared:
            found: dict[str, set[int]] = {}
            for number, _ in self._nodes(term):
                if (own := self._threshold(number)) is not None:
                    found.setdefault(own[0], set()).add(own[1])
            self._compared[term] = {size: sorted(numbers) for size, numbers in found.items()}
        return self._compared[term]

    def _threshold(self, term: int) -> tuple[str, int] | None:
        if term not in self._thresholds_of:
            self._thresholds_of[term] = self._threshold_of(term)
        return self._thresholds_of[term]

    def _threshold_of(self, term: int) -> tuple[str, int] | None:
        one = np.array([term])
        operation = self._store.operations[int(self._store.operation_numbers(one)[0])]
        if operation.name != INPUT or operation.attribute not in self._sizes:
            return None
        return self._sizes[str(operation.attribute)], int(self._store.arguments(one)[0, 0])

    def _nodes(self, term: int) -> list[tuple[int, tuple[int, list[int]] | None]]:
        """Return the bits that a bit combines, operands first, each with its table and operands."""
        if term not in self._made:
            self._made[term] = self._nodes_of(term)
        return self._made[term]

    def _nodes_of(self, term: int) -> list[tuple[int, tuple[int, list[int]] | None]]:
        found: dict[int, tuple[int, list[int]] | None] = {}
        pending = [(term, False)]
        while pending:
            node, is_ready = pending.pop()
            one = np.array([node])
            operation = self._store.operations[int(self._store.operation_numbers(one)[0])]
            if node in found:
                continue
            if operation.name != operations.BITWISE:
                found[node] = None
                continue
            operands = self._store.arguments(one)[0, :3].tolist()
            assert isinstance(operation.attribute, int)
            if is_ready:
                found[node] = operation.attribute, operands
            else:
                pending += [(node, True), *((operand, False) for operand in operands)]
        return list(found.items())

    def value(self, term: int, bounds: Bounds, most: Bounds | None = None) -> bool | None:
        """Return what a bit is where D of each size is more than a number, and at most another.

        None if that is not known.
        """
        return self._value(term, bounds, dict(most or {}), {})

    def _value(self, term: int, bounds: Bounds, ends: Bounds, given: Mapping[int, bool]) -> bool | None:
        """Return what a bit is: told by those that it combines, or in all cases of one of these."""
        if (found := self._known(term, bounds, ends, given)) is not None:
            return found
        cases: list[tuple[Bounds, Bounds, Mapping[int, bool]]] = []
        for size, numbers in self._thresholds(term).items():
            least = bounds.get(size, -1)
            between = [each for each in numbers if least < each < ends.get(size, each + 1)]
            if (
                0 < len(between) <= _MOST_TRIED
            ):  # each number that D may be compared with, one way or the other
                middle = between[len(between) // 2]
                cases = [({**bounds, size: middle}, ends, given), (bounds, {**ends, size: middle}, given)]
                break
        else:
            own = (node for node, _ in self._nodes(term) if row_of(self._store, node) is not None)
            left = [node for node in own if node not in given]
            if left and len(given) < _MOST_OPEN:
                cases = [(bounds, ends, {**given, left[0]: each}) for each in (True, False)]
        results = {self._value(term, *case) for case in cases}
        return results.pop() if len(results) == 1 else None

    def _known(
        self, term: int, bounds: Bounds, most: Bounds, given: Mapping[int, bool] = MappingProxyType({})
    ) -> bool | None:
        """Return what a bit is if it is told by the bits that it combines, each by itself."""
        values: dict[int, bool | None] = {}
        for node, made in self._nodes(term):
            if node in given:
                values[node] = given[node]
            elif made is not None:
                table, operands = made
                alike = tuple(operands.index(operand) for operand in operands)
                values[node] = _combined(table, tuple(values[operand] for operand in operands), alike)
            elif (own := self._threshold(node)) is not None:
                size, number = own
                is_less = size in most and number >= most[size]
                values[node] = True if number <= bounds.get(size, -1) else False if is_less else None
            else:
                values[node] = self._constant(node)
        return values[term]

    def _constant(self, term: int) -> bool | None:
        if term not in self._constants:
            one = np.array([term])
            known = bool(self._store.are(CONSTANT, one)[0])
            self._constants[term] = bool(self._store.constant_values(one)[0]) if known else None
        return self._constants[term]


@cache
def _combined(table: int, values: tuple[bool | None, ...], alike: tuple[int, ...]) -> bool | None:
    """Return what a combination of bits is, of which some are known; None if that is not told.

    Parameters
    ----------
    table : int
        Of truths.
    values : tuple
        The three bits.
    alike : tuple of int
        For each the first that is the same bit, since one can't be both.
    """
    results = set()
    for row in range(8):
        bits = [bool(row >> (2 - place) & 1) for place in range(3)]
        if all(
            value in (None, bit) and bits[first] == bit
            for value, bit, first in zip(values, bits, alike, strict=True)
        ):
            results.add(bool(table >> row & 1))
    return results.pop() if len(results) == 1 else None
