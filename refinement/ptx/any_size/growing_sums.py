"""Overflow of sums that a loop goes on with: ranges of what is held after any number of turns.

Each turn adds x, at most c in magnitude, to a sum s that is held as a number of its format. What ``s + x`` is
rounded to is nearest to it, so no further from it than s, which is |x| away: it is within 2·|x| of s. After T
turns the sum is at most ``|before| + 2·T·c``, or ``(1 + u)^n`` times the exact one, of n roundings.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ....spec.formats import FloatFormat
from ...analysis.integer_intervals import Magnitudes
from ...analysis.overflow import Overflow, Overflows
from ...analysis.rounding_depth import roundings
from ...analysis.rounding_errors import coarseness
from ...sizes.invariant_inference import HELD
from ...terms.input_ends import Ends
from ...terms.interning import Ids
from ...terms.store import INPUT, TermStore


class HeldSums(NamedTuple):
    """Floating-point sums that a loop holds.

    Attributes
    ----------
    store : TermStore
        Of the terms.
    held : array (n,)
        The held inputs.
    before, after : array (n,)
        What is held in their place before the first turn, and after a turn.
    fmt : FloatFormat
        In which they are held.
    """

    store: TermStore
    held: Ids
    before: Ids
    after: Ids
    fmt: FloatFormat

    def overflows(self, turns: float, terms: Ids) -> Overflow:
        """Return the roundings of terms, and of what they are made of, that may overflow after some turns."""
        first, each = (self._largest(terms) for terms in (self.before, self.after))
        counts = sum(count for _, count in roundings(self.store, self.after).counts)
        growth = np.exp(min(2 * coarseness(self.fmt) * counts * turns, 1.0))
        with bounded(self, first + min(growth, 2.0) * turns * each):
            return Overflows(self.store, Magnitudes(self.store)).of(terms)

    def last_that_fits(self, most: int, first: int, distance: int, stored: Ids) -> int | None:
        """Return up to which size no rounding may overflow; None if that is all up to `most`.

        What is stored may overflow where the formula is rounded to the output's format, too.

        Parameters
        ----------
        most, first, distance : int
            The largest size, the least one with a turn, and by how much the size grows from turn to turn.
        stored : array (n,)
            What is stored.
        """

        def fits(size: int) -> bool:
            turns = max(size - first, 0) / distance + 1
            inside = self.overflows(turns, self.after).possible
            behind = np.setdiff1d(self.overflows(turns, stored).possible, stored)
            return not (len(inside) or len(behind))

        return None if fits(most) else bisect_left(range(most), True, key=lambda size: not fits(size)) - 1

    def _largest(self, terms: Ids) -> float:
        """Return the greatest magnitude of terms where nothing is held yet."""
        with bounded(self, 0.0):
            ranges = Overflows(self.store, Magnitudes(self.store)).ranges
            ranges.fill(terms)
            return float(np.abs(ranges.read(terms, self.fmt)).max(initial=0.0))


@contextmanager
def bounded(sums: HeldSums, most: float) -> Iterator[None]:
    """Have sums that are held of a magnitude up to some; of what else is held, nothing is known."""
    store, given = sums.store, sums.store.ends
    high = np.full(_count(store), np.inf)
    high[store.arguments(sums.held)[:, 0]] = most
    known = np.zeros(len(high), dtype=bool)
    store.ends = {**given, HELD: Ends(sums.fmt, -high, high, known, known, known)}
    try:
        yield
    finally:
        store.ends = given


def _count(store: TermStore) -> int:
    """Return how many held inputs there are."""
    are_held = np.array(
        [operation.name == INPUT and operation.attribute == HELD for operation in store.operations]
    )
    members = np.flatnonzero(are_held[store.operation_numbers(np.arange(len(store)))])
    return int(store.arguments(members)[:, 0].max()) + 1
