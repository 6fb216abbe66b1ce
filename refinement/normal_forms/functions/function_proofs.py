"""Proofs that a term of one f32 word is a given function, for all of its 2^32 values.

The words are cut into pieces of one sign and binade, a piece into sixteen until affine arithmetic shows what
is asked of it (`piece_evaluation`); pieces of a few words, zeros and infinities are computed one by one. What
deals apart with one number, however few there are about it, is thus found: there is no piece that is sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...enclosures.affine_numbers import Affine, Reals, exactly
from ...enclosures.float_enclosures import Floats, floats_of
from ...enclosures.function_enclosures import parabola
from ...enclosures.piece_evaluation import PieceEvaluation
from ...terms.store import TermStore
from .library_functions import LibraryFunction, values

Words = NDArray[np.uint64]

OVERFLOWING = (1 - 2.0**-20) * 2.0**128
"""From where on infinity may stand for a number."""

FLUSHED = 2.0**-125
"""What values of subnormal numbers are less than, about: such numbers may be taken for zeros."""

_PARTS = 16
"""Into how many pieces one is cut, and how many words are computed one by one."""

_MARGIN = 0.1
"""By how much more than the cube root of an excess a piece is cut, as a power of two: roundings add up."""

_AT_A_TIME = 1 << 12
"""Pieces that are looked at together: so many numbers as caches hold."""

_MOST_PIECES, _MOST_WORDS = 1 << 20, 1 << 18
"""Pieces and single words after which nothing is shown: some ten times what libraries' functions need."""

_SIGN, _INFINITY, _BINADE = 1 << 31, 0x7F800000, 1 << 23


class Proof(NamedTuple):
    """A proof that terms are a given function.

    Attributes
    ----------
    error : float
        By how much of a value they are off at most.
    words : int
        For how many words, not counting NaNs.
    """

    error: float
    words: int


class Domain(NamedTuple):
    """The interval of an argument, and whether it may be NaN."""

    least: float
    greatest: float
    nan: bool


Compute = Callable[[NDArray[np.uint64]], Reals]
"""From words of the argument to the numbers of f32 that the terms are, exactly as they are computed."""


Given = Mapping[int, int]
"""Words by term."""


def proved(
    store: TermStore,
    argument: int,
    result: int,
    function: LibraryFunction,
    domain: Domain,
    compute: Compute,
    most: float,
    given: Given = MappingProxyType({}),
) -> Proof | None:
    """Show that terms are a function of their argument, but for an error.

    Parameters
    ----------
    store : TermStore
        The terms.
    argument, result : int
        What all depends on, a number of f32, and what is to be the function.
    function : LibraryFunction
        The function.
    domain : Domain
        What the argument may be.
    compute : callable
        Computes the result for single words.
    most : float
        The greatest error, as a part of a value; below `FLUSHED` it is no error.
    given : mapping of int to int
        Words that other terms are.

    Returns
    -------
    Proof, optional
        None where that is not shown.

    Raises
    ------
    UnsupportedError
        If an operation can't be enclosed.
    """
    if domain.nan and not _keeps_nans(store, argument, result, given):
        return None
    worst, pieces, singles = 0.0, 0, 0
    pending = [_pieces(function, domain)]
    while pending:
        first, last = pending.pop()
        if len(first) > _AT_A_TIME:
            pending.append((first[:-_AT_A_TIME], last[:-_AT_A_TIME]))
            first, last = first[-_AT_A_TIME:], last[-_AT_A_TIME:]
        few = last - first < _PARTS
        for words in _each(first[few], last[few]):
            singles += len(words)
            error = error_of(function, words.astype(np.uint32).view(np.float32), compute(words))
            if not error <= most or singles > _MOST_WORDS:
                return None
            worst = max(worst, error)
        first, last = first[~few], last[~few]
        if not len(first):
            continue
        pieces += len(first)
        found = PieceEvaluation(store, argument, first, last, given).floats(result)
        errors = _errors(function, first, last, found)
        shown = errors <= most
        worst = max([worst, *errors[shown]])
        if not shown.all():
            if pieces > _MOST_PIECES:
                return None
            pending += _cut(first[~shown], last[~shown], errors[~shown] / most)
    return Proof(worst, count(*_ends(function, domain)))


def error_of(function: LibraryFunction, numbers: NDArray[np.float32], got: Reals) -> float:
    """Return how far values are off at most, as a part: nothing where both overflow, or nearly underflow.

    It is no number where a value is none, and infinite where there is none. At the ends of where the function
    has values it may be infinite.
    """
    inside = (numbers >= function.least) & (numbers <= function.greatest)
    if not inside.any():
        return 0.0
    got, wanted = got[inside], values(function, numbers[inside])
    with np.errstate(all="ignore"):
        off = np.abs(got - wanted)
        relative = np.where(off <= FLUSHED, 0.0, off / np.abs(wanted))
    beyond = (np.abs(wanted) >= OVERFLOWING) & np.isinf(got) & ((got > 0) == (wanted > 0))
    return float(np.where(beyond, 0.0, relative).max())


def _ends(function: LibraryFunction, domain: Domain) -> tuple[float, float]:
    return max(function.least, domain.least), min(function.greatest, domain.greatest)


def _pieces(function: LibraryFunction, domain: Domain) -> tuple[Words, Words]:
    """Return pieces of what is asked for.

    Infinities are among them where they are in the function's domain and the argument's.
    """
    return pieces(*_ends(function, domain))


def pieces(least: float, greatest: float) -> tuple[Words, Words]:
    """Return the first and last words (n,) of the numbers between two, in pieces of one sign and exponent."""
    exponents = np.arange(0, _INFINITY, _BINADE, dtype=np.int64)
    sizes = (
        np.concatenate([exponents, [0, _INFINITY]]),
        np.concatenate([exponents + _BINADE - 1, [0, _INFINITY]]),
    )
    sizes[0][0] = 1  # zeros are pieces of their own
    found = []
    for sign, (low, high) in ((0, (least, greatest)), (_SIGN, (-greatest, -least))):
        if high < 0:
            continue
        first, last = sizes
        if low > 0:
            first = np.maximum(first, _word(low))
        last = np.minimum(last, _word(high))
        some = first <= last
        found.append((first[some] + sign, last[some] + sign))
    return _words(np.concatenate([each[0] for each in found])), _words(
        np.concatenate([each[1] for each in found])
    )


def _word(number: float) -> int:
    return int(np.float32(abs(number)).view(np.uint32))


def _words(numbers: NDArray[np.int64]) -> Words:
    return numbers.astype(np.uint64)


def count(least: float, greatest: float) -> int:
    """Return how many numbers are between two."""
    first, last = pieces(least, greatest)
    return int((last - first + np.uint64(1)).sum())


def _each(first: Words, last: Words) -> Iterator[Words]:
    """Yield all words of short pieces."""
    for start in range(0, len(first), _AT_A_TIME):
        part = slice(start, start + _AT_A_TIME)
        words = (first[part, None] + np.arange(_PARTS, dtype=np.uint64)).astype(np.uint64)
        yield words[words <= last[part, None]]


def _cut(first: Words, last: Words, excess: Reals) -> Iterator[tuple[Words, Words]]:
    """Yield pieces cut into as many parts as their errors, which shrink with the cube, are too great for."""
    parts = np.clip(2 ** np.ceil(np.log2(np.cbrt(excess)) + _MARGIN), 2, _PARTS).astype(np.uint64)
    length = last - first + np.uint64(1)
    for count in np.unique(parts):
        some = parts == count
        steps = np.arange(int(count) + 1, dtype=np.uint64)
        ends: Words = (first[some, None] + length[some, None] * steps // count).astype(np.uint64)
        yield ends[:, :-1].reshape(-1), (ends[:, 1:] - np.uint64(1)).astype(np.uint64).reshape(-1)


def _errors(function: LibraryFunction, first: Words, last: Words, found: Floats) -> Reals:
    """Return how far off terms may be in pieces, as a part; infinite where nothing is known."""
    with np.errstate(all="ignore"):
        wanted = _values(function, first, last)
        got = found.form
        symbols = {*wanted.parts, *got.parts}
        off = np.abs(got.middle - wanted.middle) + got.off + wanted.off
        for symbol in symbols:
            off = off + np.abs(got.parts.get(symbol, 0.0) - wanted.parts.get(symbol, 0.0))
        spread = wanted.spread
        least = np.abs(wanted.middle) - spread
        most = np.abs(wanted.middle) + spread
        off = np.minimum(
            off, np.maximum(got.high, wanted.middle + spread) - np.minimum(got.low, wanted.middle - spread)
        )
        errors = np.where(off <= FLUSHED, 0.0, np.where(least > 0, off / least, np.inf))
        infinite = got.is_constant & np.isinf(got.low) & (np.sign(got.low) == np.sign(wanted.middle))
        ends = [
            np.abs(values(function, floats_of(exactly(each.astype(np.float64))).low))
            for each in (first, last)
        ]
        beyond = infinite & (np.minimum(*ends) >= OVERFLOWING)  # no function turns within one sign
        errors = np.where(beyond, 0.0, errors)
    return np.where(found.nan | ~found.number | np.isnan(errors) | (np.isnan(most)), np.inf, errors)


def _values(function: LibraryFunction, first: Words, last: Words) -> Affine:
    """Return the function's own values for pieces, without their ranges."""
    low, high = first.astype(np.float64), last.astype(np.float64)
    half = (high - low) / 2
    words = Affine(low + half, {0: half}, np.zeros(len(low)), low, high)
    return parabola(function.curve, floats_of(words).form)


def _keeps_nans(store: TermStore, argument: int, result: int, given: Given) -> bool:
    """Tell whether every NaN makes a NaN."""
    found = PieceEvaluation(store, argument, *nans(), given).floats(result)
    return bool((found.nan & ~found.number).all())


def nans() -> tuple[Words, Words]:
    """Return the first and last words (2,) of the NaNs of each sign."""
    first = _words(np.array([_INFINITY + 1, _INFINITY + 1 + _SIGN]))
    return first, _words(np.array([_SIGN - 1, 2 * _SIGN - 1]))
