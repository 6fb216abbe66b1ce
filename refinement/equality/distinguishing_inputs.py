"""Inputs on which two terms differ as the machine computes them, for the checker to evaluate both exactly.

Thousands of inputs are drawn at once: all values of an argument of at most 16 bits on which a pair depends
alone; else small numbers with ties, ends of formats, powers of two and what the terms compare with, their
halves, and their neighbours, numbers that differ by half of the range, and the ends of all inputs at once.
Where results differ by more than roundings do, the checker looks: it alone says whether that is a fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.float_encoding import decode, encode
from ...spec.formats import FloatFormat, Format, IntegerFormat
from ...spec.rounding import Rounding
from ..checker.numbers import Name
from ..terms.evaluation import Words, evaluate, ones
from ..terms.interning import Ids
from ..terms.store import CONSTANT, INPUT, UNDEFINED, VECTOR, Operation, TermStore
from ..terms.traversal import by_operation, cone, gathered, operands

_OF_ONE, _MOST_TERMS, _MOST_WORDS, _MOST_DRAWN = 3000, 1 << 15, 1 << 23, 4096
"""Terms of a pair, and of pairs that are evaluated together; words that they are in all samples; samples."""

_ENUMERATED = 16
"""Bits of an argument of which all values are tried."""

_OF_PAIR, _IN_ALL = 4, 12
"""Inputs that are proposed for a pair, and in all: the checker takes a millisecond for a hundred terms."""

_ROUNDED = 2.0**-10
"""Relative differences up to here are left to roundings."""

_EXACT = 2.0**53
"""Integers from here on are no numbers of f64."""

_SIZES = 1e-30, 1e30
"""Numbers of f32 and beyond that are far from overflow and underflow."""


_Pair = tuple[int, int]


class DistinguishingInputs:
    """Draws inputs, and keeps those on which terms differ.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    def __init__(self, store: TermStore) -> None:
        self._store = store

    def of(self, pairs: Sequence[tuple[int, int]], fmt: Format) -> Iterator[dict[Name, int]]:
        """Yield the words of inputs on which pairs of terms, read in a format, differ."""
        left = _IN_ALL
        for terms, together in self._groups(pairs):
            if left <= 0:
                return
            words = self._drawn(terms)
            values = self._values(terms, words)
            for one, other in together:
                if one not in values or other not in values:
                    continue
                for place in _differing(values[one], values[other], fmt)[: min(_OF_PAIR, left)]:
                    left -= 1
                    yield {name: int(column[place]) for name, column in words.items()}

    def _groups(self, pairs: Sequence[_Pair]) -> Iterator[tuple[Ids, list[_Pair]]]:
        """Yield pairs that are evaluated together, and all terms that they depend on, not too many.

        Those that depend on one input are apart from others: all its values may be tried.
        """
        groups: dict[bytes, list[tuple[Ids, list[_Pair]]]] = {}
        for pair in pairs:
            terms = cone(self._store, np.array(pair, dtype=np.int32), _OF_ONE)
            if terms is None:
                continue
            leaves = terms[self._store.are(INPUT, terms) | self._store.are(UNDEFINED, terms)]
            alike = groups.setdefault(leaves.tobytes() if len(leaves) == 1 else b"", [])
            together = np.union1d(alike[-1][0], terms) if alike else terms
            if alike and len(together) <= _MOST_TERMS:
                alike[-1] = together, [*alike[-1][1], pair]
            else:
                alike.append((terms, [pair]))
        for alike in groups.values():
            yield from alike

    def _values(self, terms: Ids, words: dict[Name, Words]) -> dict[int, Words]:
        """Return the words of terms for all samples, of those that can be evaluated."""
        store, count = self._store, len(next(iter(words.values()))) if words else 1
        values = np.zeros((len(terms), count), dtype=np.uint64)
        known, left = np.zeros(len(terms), dtype=bool), np.arange(len(terms))
        while True:  # what all arguments are known of
            before = len(left)
            for operation, members in by_operation(store, terms[left]):
                given = [np.searchsorted(terms, each) for each in operands(store, operation, members)]
                if operation.name == VECTOR:
                    given = [*given[0].reshape(len(members), -1).T]
                ready = members[np.logical_and.reduce([known[each] for each in given])] if given else members
                if not len(ready):
                    continue
                places = np.searchsorted(terms, ready)
                known[places] = self._computed(operation, ready, places, terms, words, values)
            left = left[~known[left]]
            if len(left) == before:
                return {int(terms[place]): values[place] for place in np.flatnonzero(known)}

    def _computed(
        self,
        operation: Operation,
        members: Ids,
        places: NDArray[np.intp],
        terms: Ids,
        words: dict[Name, Words],
        values: Words,
    ) -> bool:
        """Compute terms of one operation whose arguments are known; tells whether that is possible."""
        if operation.name in (INPUT, UNDEFINED):
            for term, place in zip(members.tolist(), places.tolist(), strict=True):
                values[place] = words[self._name(operation, term)]
        elif operation.name == CONSTANT:
            values[places] = self._store.constant_values(members)[:, None]
        elif operation.name != VECTOR:
            given = gathered(self._store, operation, members)
            numbers = [values[np.searchsorted(terms, each)].swapaxes(1, -1) for each in given]
            try:
                values[places] = evaluate(operation, numbers)
            except (UnsupportedError, AssertionError):
                return False
        return True

    def _name(self, operation: Operation, term: int) -> Name:
        index = int(self._store.arguments(np.array([term], dtype=np.int32))[0, 0])
        array = str(operation.attribute) if operation.name == INPUT else "undefined"
        return array, operation.result, index

    # -- inputs
    def _drawn(self, terms: Ids) -> dict[Name, Words]:
        """Return the words of all inputs that terms depend on, of each sample."""
        names = {
            self._name(operation, term): term
            for operation, members in by_operation(self._store, terms)
            if operation.name in (INPUT, UNDEFINED)
            for term in members.tolist()
        }
        if len(names) == 1:
            ((name, term),) = names.items()
            if name[1].bits <= _ENUMERATED:
                every = np.arange(1 << name[1].bits, dtype=np.uint64)
                finite = np.isfinite(_numbers(every, name[1]))  # of infinities and NaNs nothing is shown
                return {name: self._admitted(name, term, every[finite])}
        count = max(64, min(_MOST_DRAWN, _MOST_WORDS // max(1, len(terms))))
        source, mined = np.random.default_rng(20260), self._mined(terms)
        shared: dict[Format, Words] = {}
        found = {}
        for name, term in names.items():
            fmt = name[1]
            if fmt not in shared:
                shared[fmt] = _words(source, fmt, count, mined)
            own = _words(source, fmt, count, mined)
            if isinstance(fmt, IntegerFormat):
                half = 1 << fmt.bits - 1
                steps = np.array([0, 0, 1, 2 * half - 1, half, half - 1], dtype=np.uint64)
                near = shared[fmt] + source.choice(steps, count)
            else:
                near = shared[fmt]
            own = np.where(np.arange(count) % 4 == 3, near, own) & ones(fmt.bits)
            found[name] = self._admitted(name, term, own)
            ends = self._ends(name, term)
            found[name][: len(ends)] = ends
        return found

    def _ends(self, name: Name, term: int) -> list[int]:
        """Return the least and the greatest word of an input, which all inputs are at once; of some none.

        A search for the greatest number begins with one, and a sum wraps, where all of them are.
        """
        store, (array, fmt, index) = self._store, name
        if term in store.bounded:
            return [each & (1 << fmt.bits) - 1 for each in store.bounded[term]]
        known = store.ends.get(array)
        if known is None and isinstance(fmt, IntegerFormat):
            return [fmt.minimum & (1 << fmt.bits) - 1, fmt.maximum]
        ends = np.array([-np.inf, np.inf] if known is None else [known.low[index], known.high[index]])
        if isinstance(fmt, FloatFormat):
            ends = np.clip(ends, -_largest(fmt) if fmt.signed else 0.0, _largest(fmt))
        else:
            ends = np.where(np.isfinite(ends), ends, ends[::-1])
        ends = np.where(ends != 0, ends, ends[::-1])  # there are two zeros
        if not ends.all():
            return []
        if isinstance(fmt, FloatFormat):
            words = encode(ends, fmt, Rounding.NEAREST_EVEN)
        elif (np.abs(ends) < _EXACT).all():
            words = ends.astype(np.int64).view(np.uint64) & ones(fmt.bits)
        else:
            return []
        return [int(word) for word in words]

    def _admitted(self, name: Name, term: int, words: Words) -> Words:
        """Return words, of which those are replaced that an input is known not to be."""
        store, (array, fmt, index) = self._store, name
        if term in store.bounded:
            least, greatest = store.bounded[term]
            offsets = words % np.uint64(min(greatest - least, 1 << 20) + 1)
            return (offsets + np.uint64(least & (1 << 64) - 1)) & ones(fmt.bits)
        if array in store.ends:
            ends = store.ends[array]
            numbers = _numbers(words, fmt)
            inside = (numbers >= ends.low[index]) & (numbers <= ends.high[index]) & (numbers != 0)
            some = words[inside] if inside.any() else words
            return np.resize(some, len(words))
        return words

    def _mined(self, terms: Ids) -> NDArray[np.float64]:
        """Return the numbers that terms compare with or compute with, as many as tell."""
        found = []
        for operation, members in by_operation(self._store, terms):
            if operation.name in (CONSTANT, INPUT, UNDEFINED, VECTOR):
                continue
            for column, fmt in zip(
                gathered(self._store, operation, members), operation.operands, strict=False
            ):
                constants = np.unique(column[self._store.are(CONSTANT, column)])
                if len(constants):
                    found.append(_numbers(self._store.constant_values(constants[:64]), fmt))
        numbers = np.unique(np.concatenate([*found, np.array([0.0, 1.0])]))
        finite: NDArray[np.float64] = numbers[np.isfinite(numbers)]
        return finite


def _numbers(words: Words, fmt: Format) -> NDArray[np.float64]:
    if isinstance(fmt, FloatFormat):
        return np.asarray(decode(words.astype(fmt.storage), fmt), dtype=np.float64)
    shift = np.uint64(64 - fmt.bits)
    signed = isinstance(fmt, IntegerFormat) and fmt.signed
    return ((words << shift).view(np.int64) >> np.int64(64 - fmt.bits) if signed else words).astype(
        np.float64
    )


def _words(source: np.random.Generator, fmt: Format, count: int, mined: NDArray[np.float64]) -> Words:
    """Return words of a format (count,), each kind at the same places in all inputs."""
    kinds = (
        _of_float(source, fmt, count, mined)
        if isinstance(fmt, FloatFormat)
        else _of_integer(source, fmt, count, mined)
    )
    return np.choose(np.arange(count) // 4 % len(kinds), kinds) & ones(fmt.bits)


def _of_integer(
    source: np.random.Generator, fmt: Format, count: int, mined: NDArray[np.float64]
) -> list[Words]:
    half = 1 << fmt.bits - 1
    ends = _modulo([0, 1, half - 1, half, half + 1, 2 * half - 1])
    powers = _modulo([1 << each for each in range(fmt.bits)])
    numbers = [int(each) for each in mined if abs(each) < 1 << 62] or [0]
    near = _modulo([*numbers, *(each // 2 for each in numbers), *(each // 2 + half for each in numbers),
                    *(-each for each in numbers)])  # fmt: skip
    steps = _modulo([-1, 0, 1])
    chosen = [
        source.integers(-3, 4, count).astype(np.uint64),
        source.integers(0, 1 << min(fmt.bits, 62), count).astype(np.uint64),
        source.choice(ends, count),
        source.choice(powers, count) + source.choice(steps, count),
        source.choice(near, count) + source.choice(steps, count),
    ]
    return [each & ones(fmt.bits) for each in chosen]


def _modulo(numbers: Sequence[int]) -> Words:
    """Return integers modulo 2^64."""
    return np.array([each & (1 << 64) - 1 for each in numbers], dtype=np.uint64)


def _of_float(
    source: np.random.Generator, fmt: FloatFormat, count: int, mined: NDArray[np.float64]
) -> list[Words]:
    digits = 1 + source.random(count)
    signs = source.choice([-1.0, 1.0], count)
    near = source.choice(mined, count)
    chosen = [
        source.integers(-2, 3, count).astype(np.float64),
        signs * digits * 2.0 ** source.integers(-3, 4, count),
        signs * digits * 2.0 ** source.integers(-30, 31, count),
        near * (1 + source.choice([0.0, 2.0**-8, -(2.0**-8), 2.0**-20, -(2.0**-20)], count)),
        near / 2 + source.choice([0.0, 0.25, -0.25], count),
    ]
    largest = _largest(fmt)
    clipped = [np.clip(each, -largest if fmt.signed else 0.0, largest) for each in chosen]
    return [encode(each, fmt, Rounding.NEAREST_EVEN).astype(np.uint64) for each in clipped]


def _largest(fmt: FloatFormat) -> float:
    return float(fmt.exact(fmt.largest << fmt.padding_bits) or 0)


def _differing(one: Words, other: Words, fmt: Format) -> list[int]:
    """Return the samples in which words differ by more than roundings do, the most first.

    Numbers near the ends of their format come last.
    """
    if not isinstance(fmt, FloatFormat):
        return [int(each) for each in np.flatnonzero((one ^ other) & ones(fmt.bits))]
    left, right = (_numbers(each, fmt) for each in (one, other))
    with np.errstate(all="ignore"):
        sizes = np.maximum(np.abs(left), np.abs(right))
        apart = np.abs(left - right) / sizes
    usable = np.isfinite(apart) & (sizes > _SIZES[0]) & (apart > _ROUNDED)
    places = np.flatnonzero(usable)
    order = np.lexsort((-apart[places], sizes[places] >= _SIZES[1]))
    return [int(place) for place in places[order]]
