"""Tail predicates: conditions on the number of rows of the last tile.

In the last tile of a size the number D of its rows that there are is not known, and neither is how much of a
sum is left for the last turn of a loop. That D is more than x is a
bit of its own for each x, as if it were data; a kernel's masks are made of such bits. What a mask says of D
bounds the addresses where it holds, and whether it holds for a row that there is can be told from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..terms import bit_slices, operations
from ..terms.interning import Ids
from ..terms.operations import select
from ..terms.store import CONSTANT, INPUT, TermStore, bits
from ..terms.truth_tables import A, B
from .integer_forms import Group, Rows

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

    def group(self, most: int) -> Group:
        """Return the symbol alone, where D is any up to a number."""
        return Group((self.symbol,), ((0.0,), (most / self.step - 1.0,)))

    def reach(self, number: int) -> int:
        """Return the largest number that D is more than where it is more than one."""
        return (number // self.step + 1) * self.step - 1

    def reach_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what `reach` says of numbers (n,)."""
        return (numbers // self.step + 1) * self.step - 1

    def raised(self, bounds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what the symbol is at least where D is more than some numbers."""
        return np.maximum(bounds, 0) // self.step


def more_than(store: TermStore, rest: Rest, numbers: NDArray[np.int64]) -> Ids:
    """Return the bits (n,) that say whether D is more than some numbers, one where no D tells them apart."""
    return np.asarray(store.inputs(name_of(rest.size), bits(1), rest.reach_of(numbers)), dtype=np.int32)


def with_zeros(store: TermStore, masks: Sequence[tuple[Rest, NDArray[np.int64]]], terms: Ids) -> Ids:
    """Return terms (n,) where D of each size is more than some numbers, and zeros elsewhere."""
    conditions = store.constants(np.ones(len(terms), dtype=np.uint64), 1)
    for rest, numbers in masks:
        some = np.flatnonzero(numbers >= rest.step)
        more = more_than(store, rest, numbers[some])
        conditions[some] = bit_slices.bitwise(store, A & B, conditions[some], more, more)
    some = np.flatnonzero(~store.are(CONSTANT, conditions))
    if not len(some):
        return terms
    found, width = terms.copy(), int(store.widths(terms[:1])[0])
    zeros = store.constants(np.zeros(len(some), dtype=np.uint64), width)
    found[some] = store.apply(select(width), conditions[some], found[some], zeros)
    return found


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


def compared(store: TermStore, form: Rows, rest: Rest, differences: Rows, relation: str) -> Ids:
    """Return bits (n,) that say how differences of D and a number stand to 0; -1 for other differences.

    Parameters
    ----------
    store : TermStore
        The terms.
    form : Rows (monomials,)
        D.
    rest : Rest
        What D is of.
    differences : Rows (n, monomials)
        The integers.
    relation : str
        What is asked of them.
    """
    found = np.full(len(differences), -1, dtype=np.int32)
    for sign in (-1, 1):
        rule = _THRESHOLDS.get((sign, _SIGNED.get(relation, relation)))
        some = np.flatnonzero((differences[:, 1:] == sign * form[1:]).all(axis=1))
        if rule is None or not len(some):
            continue
        numbers = -sign * (differences[some, 0] - sign * form[0]) + rule[0]
        terms = more_than(store, rest, numbers)
        found[some] = terms if rule[1] else bit_slices.bitwise(store, 0xFF ^ A, terms, terms, terms)
    return found


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

    def implied(self, term: int, *, holds: bool = True) -> Bounds:
        """Return what D of each size is more than if a bit is as it is said to be."""
        key = term, holds
        if key not in self._implied:
            self._implied[key] = self._find_implied(term, holds)
        return self._implied[key]

    def _find_implied(self, term: int, holds: bool) -> dict[str, int]:
        store = self._store
        operation = store.operations[int(store.operation_numbers(np.array([term]))[0])]
        if operation.name == INPUT and operation.attribute in self._sizes:
            number = int(store.arguments(np.array([term]))[0, 0])
            return {self._sizes[str(operation.attribute)]: number} if holds else {}
        if operation.name != operations.BITWISE:
            return {}
        found: dict[str, int] = {}
        for operand, values in self._operands(term, operation.attribute, holds):
            if len(values) == 1:
                for size, number in self.implied(operand, holds=values.pop()).items():
                    found[size] = max(number, found.get(size, number))
        return found

    def _operands(self, term: int, table: object, holds: bool) -> list[tuple[int, set[bool]]]:
        """Return the operands of a combination, and what each can be if the result is as is said."""
        assert isinstance(table, int)
        operands = self._store.arguments(np.array([term]))[0, :3].tolist()
        rows = [row for row in range(8) if bool(table >> row & 1) == holds]
        rows = [row for row in rows if self._possible(operands, row)]
        return [
            (operand, {bool(row >> (2 - place) & 1) for row in rows})
            for place, operand in enumerate(operands)
        ]

    def _possible(self, operands: list[int], row: int) -> bool:
        """Tell whether operands can be what a row of a table says: one can't be both."""
        said: dict[int, bool] = {}
        for place, operand in enumerate(operands):
            bit = bool(row >> (2 - place) & 1)
            if said.setdefault(operand, bit) != bit or self._constant(operand) not in (None, bit):
                return False
        return True

    def _constant(self, term: int) -> bool | None:
        one = np.array([term])
        return bool(self._store.constant_values(one)[0]) if self._store.are(CONSTANT, one)[0] else None

    def value(self, term: int, bounds: Bounds) -> bool | None:
        """Return what a bit is where D of each size is more than a number; None if that is not known."""
        if (known := self._constant(term)) is not None:
            return known
        store, one = self._store, np.array([term])
        operation = store.operations[int(store.operation_numbers(one)[0])]
        if operation.name == INPUT and operation.attribute in self._sizes:
            size = self._sizes[str(operation.attribute)]
            return True if int(store.arguments(one)[0, 0]) <= bounds.get(size, -1) else None
        if operation.name != operations.BITWISE:
            return None
        assert isinstance(operation.attribute, int)
        operands = store.arguments(one)[0, :3].tolist()
        values = [self.value(operand, bounds) for operand in operands]
        results = {
            bool(operation.attribute >> row & 1)
            for row in range(8)
            if self._possible(operands, row)
            and all(each in (None, bool(row >> (2 - place) & 1)) for place, each in enumerate(values))
        }
        return results.pop() if len(results) == 1 else None
