"""Tail predicates: conditions on the number of rows of the last tile.

In the last tile of a size the number D of its rows that there are is not known, and neither is how much of a
sum is left for the last turn of a loop. That D is more than x is a
bit of its own for each x, as if it were data; a kernel's masks are made of such bits. What a mask says of D
bounds the addresses where it holds, and whether it holds for a row that there is can be told from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..terms import bit_slices
from ..terms.interning import Ids
from ..terms.store import TermStore, bits
from ..terms.truth_tables import A, B
from .integer_forms import Group, Rows, Symbols

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
    def apart(self) -> str:
        """A symbol that is 0: its factor tells such numbers of different rows apart."""
        return f"rows behind {self.size}"

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


def compared(
    store: TermStore, symbols: Symbols, form: Rows, rest: Rest, differences: Rows, relation: str
) -> Ids:
    """Return bits (n,) that say how differences of D and a number stand to 0; -1 for other differences.

    Parameters
    ----------
    store : TermStore
        The terms.
    symbols : Symbols
        What D depends on.
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
    if relation in ("eq", "ne"):
        ends = [compared(store, symbols, form, rest, differences, each) for each in ("ge", "le")]
        some = np.flatnonzero(np.minimum(*ends) >= 0)
        table = A & B if relation == "eq" else 0xFF ^ (A & B)
        found[some] = bit_slices.bitwise(store, table, ends[0][some], ends[1][some], ends[0][some])
        return found
    (least,), (most,) = symbols.bounds(form[None])
    differences = _multiplied(differences, rest.step)
    for sign in (-1, 1):
        rule = _THRESHOLDS.get((sign, _SIGNED.get(relation, relation)))
        some = np.flatnonzero((differences[:, 1:] == sign * form[1:]).all(axis=1))
        if rule is None or not len(some):
            continue
        numbers = -sign * (differences[some, 0] - sign * form[0]) + rule[0]
        terms = more_than(store, rest, numbers)
        terms = np.where((numbers >= least) & (numbers < most), terms, store.constants(numbers < least, 1))
        found[some] = terms if rule[1] else bit_slices.bitwise(store, 0xFF ^ A, terms, terms, terms)
    return found


def _multiplied(differences: Rows, step: int) -> Rows:
    """Return differences (n, monomials), those by parts of a step times as many as these are of one.

    Whether they are above 0 stays: ``i < n // 4`` is ``4 * i < n`` where n is a multiple of four.
    """
    parts = np.gcd.reduce(differences[:, 1:], axis=1)
    factors = np.where((parts > 0) & (step % np.maximum(parts, 1) == 0), step // np.maximum(parts, 1), 1)
    return differences * factors[:, None]
