"""Merging of the states of two paths: registers and memory as selects."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...machine.memory import ABSENT, ByteLanes
from ...terms.choices import chosen
from ...terms.interning import Ids
from .registers import Bytes, Registers
from .stores_of_paths import StoreLog, Stores
from .words import Data, Word, WordArithmetic

_LONGEST = 8
"""Bytes that are chosen together, at most."""


class Merging:
    """Merges two states by one condition.

    Parameters
    ----------
    words : WordArithmetic
        Where terms are made.
    condition : int
        A term of one bit: whether the first state is the one.
    """

    def __init__(self, words: WordArithmetic, condition: int) -> None:
        self._words = words
        self._store = words.store
        self._condition = condition

    def registers(self, one: Registers, other: Registers) -> Registers:
        """Return registers chosen from two; both must have the same accumulators primed."""
        found = one.copy()
        found.general = self._each(one.general, other.general, 64)
        found.conditions = self._each(one.conditions, other.conditions, 1)
        found.carry = self._word(one.carry, other.carry, 1)
        found.overflow = self._word(one.overflow, other.overflow, 1)
        found.link = self._word(one.link, other.link, 64)
        found.count = self._word(one.count, other.count, 64)
        found.vector_save = self._word(one.vector_save, other.vector_save, 64)
        pairs = [(found.vectors, one.vectors, other.vectors)]
        if not one.shared:
            pairs.append((found.accumulators, one.accumulators, other.accumulators))
        for result, then, otherwise in pairs:
            result.terms[:], result.lows[:] = self._bytes(
                result, (then.terms, then.lows), (otherwise.terms, otherwise.lows)
            )
        found.lost_by = other.lost_by | one.lost_by
        return found

    def stores(self, log: StoreLog, lanes: ByteLanes, one: Stores, other: Stores) -> Stores:
        """Return what bytes hold that either of two ways stored to."""
        everywhere = np.union1d(one.lanes, other.lanes)
        one, other = log.widened(one, everywhere), log.widened(other, everywhere)
        terms, lows = one.terms.copy(), one.lows.copy()
        ends = [0, *(1 + np.flatnonzero(np.diff(everywhere) != 1)).tolist(), len(everywhere)]
        for first, last in pairwise(ends):
            run = slice(first, last)
            terms[run], lows[run] = self._bytes(
                lanes, (one.terms[run], one.lows[run]), (other.terms[run], other.lows[run])
            )
        lines = np.where(one.lines == 0, other.lines, one.lines)
        return Stores(everywhere, terms, lows, lines)

    def _each(self, one: list[Word], other: list[Word], width: int) -> list[Word]:
        return [self._word(a, b, width) for a, b in zip(one, other, strict=True)]

    def _word(self, one: Word, other: Word, width: int) -> Word:
        if one == other:
            return one
        return self._words.chosen(Data(self._condition), one, other, width)

    def _bytes(self, lanes: ByteLanes, one: Bytes, other: Bytes) -> Bytes:
        """Return neighbouring bytes chosen from two, in pieces as they lie in the terms."""
        terms, lows = one[0].copy(), one[1].copy()
        done = 0
        for at in np.flatnonzero((one[0] != other[0]) | (one[1] != other[1])).tolist():
            if at < done:
                continue
            done = at + max(self._length(*one, at), self._length(*other, at))
            piece = slice(at, done)
            words = [self._joined(lanes, side[0][piece], side[1][piece]) for side in (one, other)]
            choice = chosen(self._store, np.array([self._condition], dtype=np.int32), *words)
            found = lanes.bytes_of(choice)
            terms[piece], lows[piece] = found[0][0], found[1][0]
        return terms, lows

    def _length(self, terms: Ids, lows: NDArray[np.uint8], at: int) -> int:
        """Return how many bytes from one on are neighbours in their term: 1, 2, 4 or 8."""
        if terms[at] == ABSENT:
            return 1
        some = slice(at, at + _LONGEST)
        expected = int(lows[at]) + 8 * np.arange(len(terms[some]))
        apart = np.flatnonzero((terms[some] != terms[at]) | (lows[some] != expected))
        count = int(apart[0]) if len(apart) else len(expected)
        return 1 << (count.bit_length() - 1)

    def _joined(self, lanes: ByteLanes, terms: Ids, lows: NDArray[np.uint8]) -> Ids:
        """Return bytes as one word, undefined where nobody has written."""
        absent = terms == ABSENT
        if absent.all():
            return self._store.undefined(1, 8 * len(terms))
        if absent.any():
            terms, lows = terms.copy(), lows.copy()
            terms[absent], lows[absent] = self._store.undefined(int(absent.sum()), 8), 0
        return lanes.joined(terms[None], lows[None])
