"""Tail predicates: conditions on the number of rows of the last tile.

In the last tile of a size the number D of its rows that there are is not known. That D is more than x is a
bit of its own for each x, as if it were data; a kernel's masks are made of such bits. What a mask says of D
bounds the addresses where it holds, and whether it holds for a row that there is can be told from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..terms import bit_slices, operations
from ..terms.interning import Ids
from ..terms.store import CONSTANT, INPUT, TermStore, bits
from ..terms.truth_tables import A, B
from .integer_forms import Rows

Bounds = Mapping[str, int]
"""For sizes, a number that D is known to be more than."""


@dataclass(frozen=True)
class Rest:
    """The remainder of a size from the block's tile on, which may be less than a tile.

    Attributes
    ----------
    size : str
        The size.
    symbol : str
        D is ``step * (symbol + 1)``.
    step : int
        What all numbers of the size are multiples of.
    """

    size: str
    symbol: str
    step: int

    @property
    def other(self) -> str:
        """A symbol: its step times this is a number below the size, of which nothing else is known."""
        return f"another index of {self.size}"

    @property
    def form(self) -> dict[tuple[str, ...], int]:
        """D, by the symbols that are multiplied."""
        return {(self.symbol,): self.step, (): self.step}

    def reach(self, number: int) -> int:
        """Return the largest number that D is more than where it is more than one."""
        return (number // self.step + 1) * self.step - 1

    def reach_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what `reach` says of numbers (n,)."""
        return (numbers // self.step + 1) * self.step - 1

    def raised(self, bounds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what the symbol is at least where D is more than some numbers."""
        return np.maximum(bounds, 0) // self.step


def more_than(store: TermStore, size: str, numbers: NDArray[np.int64]) -> Ids:
    """Return the bits (n,) that say whether D is more than some numbers."""
    return np.asarray(store.inputs(name_of(size), bits(1), numbers), dtype=np.int32)


def name_of(size: str) -> str:
    """Return the input whose elements say of a size whether D is more than their numbers."""
    return f"left of {size}"


_THRESHOLDS: Mapping[tuple[int, str], tuple[int, bool]] = {
    (-1, "lt"): (0, True), (-1, "le"): (-1, True), (-1, "gt"): (-1, False), (-1, "ge"): (0, False),
    (1, "gt"): (0, True), (1, "ge"): (-1, True), (1, "lt"): (-1, False), (1, "le"): (0, False),
}  # fmt: skip
"""For a difference sign·D + c and what is asked of it: what D is compared with, beside -sign·c, and whether
it has to be more."""

_SIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def compared(store: TermStore, form: Rows, size: str, differences: Rows, relation: str) -> Ids:
    """Return bits (n,) that say how differences of D and a number stand to 0; -1 for other differences.

    Parameters
    ----------
    store : TermStore
        The terms.
    form : Rows (monomials,)
        D.
    size : str
        The size.
    differences : Rows (n, monomials)
        The integers.
    relation : str
        What is asked of them.
    """
    found = np.full(len(differences), -1, dtype=np.int32)
    if relation in ("eq", "ne"):
        ends = [compared(store, form, size, differences, each) for each in ("ge", "le")]
        some = np.flatnonzero(np.minimum(*ends) >= 0)
        table = A & B if relation == "eq" else 0xFF ^ (A & B)
        found[some] = bit_slices.bitwise(store, table, ends[0][some], ends[1][some], ends[0][some])
        return found
    for sign in (-1, 1):
        rule = _THRESHOLDS.get((sign, _SIGNED.get(relation, relation)))
        some = np.flatnonzero((differences[:, 1:] == sign * form[1:]).all(axis=1))
        if rule is None or not len(some):
            continue
        numbers = -sign * (differences[some, 0] - sign * form[0]) + rule[0]
        terms = more_than(store, size, numbers)
        always = numbers < form[0]  # D is its step at least
        terms[always] = store.constants(np.ones(int(always.sum()), dtype=np.uint64), 1)
        found[some] = terms if rule[1] else bit_slices.bitwise(store, 0xFF ^ A, terms, terms, terms)
    return found


_MOST_TRIED = 16
"""Numbers that a bit compares what is left of a size with, all of which are tried."""


class RestConditions:
    """Tail predicates: bounds of remainders that conditions imply.

    Parameters
    ----------
    store : TermStore
        The terms.
    rests : sequence of Rest
        The sizes.
    """

    def __init__(self, store: TermStore, rests: tuple[Rest, ...]) -> None:
        self._store = store
        self._sizes = {name_of(rest.size): rest.size for rest in rests}
        self._implied: dict[tuple[int, bool], dict[str, int]] = {}
        self._compared: dict[int, Mapping[str, list[int]]] = {}

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
        return found

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
        one = np.array([term])
        operation = self._store.operations[int(self._store.operation_numbers(one)[0])]
        if operation.name != INPUT or operation.attribute not in self._sizes:
            return None
        return self._sizes[str(operation.attribute)], int(self._store.arguments(one)[0, 0])

    def _nodes(self, term: int) -> list[tuple[int, tuple[int, list[int]] | None]]:
        """Return the bits that a bit combines, operands first, each with its table and operands."""
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
        ends = dict(most or {})
        if (found := self._known(term, bounds, ends)) is not None:
            return found
        for size, numbers in self._thresholds(term).items():
            least = bounds.get(size, -1)
            between = [each for each in numbers if least < each < ends.get(size, each + 1)]
            if (
                0 < len(between) <= _MOST_TRIED
            ):  # each number that D may be compared with, one way or the other
                middle = between[len(between) // 2]
                found = self.value(term, {**bounds, size: middle}, ends)
                also = None if found is None else self.value(term, bounds, {**ends, size: middle})
                return found if found is also else None
        return None

    def _known(self, term: int, bounds: Bounds, most: Bounds) -> bool | None:
        """Return what a bit is if it is told by the bits that it combines, each by itself."""
        values: dict[int, bool | None] = {}
        for node, made in self._nodes(term):
            if made is not None:
                values[node] = self._combined(*made, values)
            elif (own := self._threshold(node)) is not None:
                size, number = own
                is_less = size in most and number >= most[size]
                values[node] = True if number <= bounds.get(size, -1) else False if is_less else None
            else:
                values[node] = self._constant(node)
        return values[term]

    @staticmethod
    def _combined(table: int, operands: list[int], values: Mapping[int, bool | None]) -> bool | None:
        """Return what a combination of bits is, of which some are known; one can't be both."""
        results = set()
        for row in range(8):
            said: dict[int, bool] = {}
            for place, operand in enumerate(operands):
                bit = bool(row >> (2 - place) & 1)
                if values[operand] not in (None, bit) or said.setdefault(operand, bit) != bit:
                    break
            else:
                results.add(bool(table >> row & 1))
        return results.pop() if len(results) == 1 else None

    def _constant(self, term: int) -> bool | None:
        one = np.array([term])
        return bool(self._store.constant_values(one)[0]) if self._store.are(CONSTANT, one)[0] else None
