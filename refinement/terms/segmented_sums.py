"""SIMD within a register: sums of packed numbers, split where every carry is known.

``__vsub4`` and its like subtract the four bytes of a word at once, with bits set between them that take the
borrows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import operations
from .evaluation import apply
from .interning import Ids
from .slices import Field, Slice, constant_slice, cut, groups, join, ones, slices_of, values
from .store import TermStore

_WIDEST = 32
"""Bits of a segment; the bounds of wider ones do not fit the words that they are reckoned in."""


def segmented(store: TermStore, summands: Sequence[Ids]) -> Ids:
    """Return the sums modulo a power of two of words (n,), as concatenations where carries are known.

    Parameters
    ----------
    store : TermStore
        Of the terms.
    summands : sequence of array
        Two or more, of one width.

    Returns
    -------
    array (n,)
        -1 where no carry is known, so that there is nothing to take apart.
    """
    stacked = np.stack(summands, axis=-1).astype(np.int32)
    result = np.full(len(stacked), -1, dtype=np.int32)
    for members in groups(store.operation_numbers(stacked)):
        sliced = [slices_of(store, column) for column in stacked[members].T]
        if not all(any(part.constant for part in words) for words in sliced):
            continue  # a whole number that is cut would be no term of a sum any more
        known = [values(store, part) for words in sliced for part in words if part.constant]
        alike = groups(np.stack(known, axis=-1)) if known else [np.arange(len(members))]
        for some in alike:  # whose carries are known in the same places
            chosen = [[part.at(some) for part in words] for words in sliced]
            parts = _parts(store, chosen, len(some))
            if len(parts) > 1:
                result[members[some]] = join(store, [each for part in parts for each in part])
    return result


def _parts(store: TermStore, sliced: Sequence[Sequence[Slice]], count: int) -> list[list[Slice]]:
    """Return the slices of sums (n,) from one known carry to the next, least significant first."""
    edges = sorted({edge for words in sliced for edge in np.cumsum([word.width for word in words]).tolist()})
    parts: list[list[Slice]] = []
    start, carry = 0, np.zeros(count, dtype=np.uint64)
    for end in edges:
        width = end - start
        if width > _WIDEST:
            return []
        cuts = [cut(words, start, width) for words in sliced]
        bounds = [_bounds(store, each, count) for each in cuts]
        least = sum((low for low, _ in bounds), start=carry) >> np.uint64(width)
        most = sum((high for _, high in bounds), start=carry) >> np.uint64(width)
        if end == edges[-1] or (least == most).all():
            parts.append(_sum(store, cuts, carry, width))
            start, carry = end, least
    return parts


def _bounds(
    store: TermStore, sliced: Sequence[Slice], count: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the least and greatest numbers (n,) that slices may be."""
    least, most = np.zeros(count, dtype=np.uint64), np.zeros(count, dtype=np.uint64)
    start = 0
    for part in sliced:
        low, high = (values(store, part),) * 2 if part.constant else (np.uint64(0), ones(part.width))
        least = least | low << np.uint64(start)
        most = most | high << np.uint64(start)
        start += part.width
    return least, most


def _sum(
    store: TermStore, cuts: Sequence[Sequence[Slice]], carry: NDArray[np.uint64], width: int
) -> list[Slice]:
    """Return a sum of slices and a known carry as slices."""
    known = [each for each in cuts if all(part.constant for part in each)]
    others = [each for each in cuts if any(not part.constant for part in each)]
    total = carry.copy()
    for each in known:
        total = total + _bounds(store, each, len(carry))[0]
    total &= ones(width)
    if not others:
        return [constant_slice(store, total, width)]
    if len(others) == 1 and not total.any():
        return list(others[0])
    words = [join(store, other) for other in others]
    if total.any():
        words.append(store.constants(total, width))
    found = apply(store, operations.ring(width, 0, len(words)), *words)
    return [Slice(found, Field(0, width))]
