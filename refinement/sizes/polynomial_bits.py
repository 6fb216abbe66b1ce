"""Bitwise operations between polynomials in symbols and constants.

Where all coefficients of an integer, but that of 1, are multiples of ``2**s``, its low s bits are known
whatever the symbols are: those of a row of tiles, that an offset within the tile is put into by ``or``. Bits
above stay as they are, are opposite, or all alike, where those of the numbers are all alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..terms.evaluation import ones
from ..terms.truth_tables import Table
from .integer_forms import Rows

_WEIGHTS = (4, 2, 1)


def combined(
    table: Table, width: int, integers: Rows, given: Sequence[NDArray[np.uint64] | None]
) -> tuple[Rows, NDArray[np.bool_]]:
    """Return integers combined with numbers, as rows, and where they are known.

    Parameters
    ----------
    table : int
        As of `truth_tables`.
    width : int
        Of the words.
    integers : Rows (n, monomials)
        The integers, modulo ``2**width``; each depends on a symbol.
    given : sequence of three arrays (n,), or None
        The words: numbers, or None where the integers stand.
    """
    factors = np.bitwise_or.reduce(integers[:, 1:], axis=1)
    step = factors & -factors  # the largest power of two that divides all; negative where it is 2**63
    low = (step - 1).view(np.uint64) & ones(width)
    own = integers[:, 0].view(np.uint64)
    result = np.zeros(len(integers), dtype=np.uint64)
    alike = np.ones(len(integers), dtype=bool)
    at_zero = np.zeros(len(integers), dtype=np.intp)  # the place in the table where the integer's bit is 0
    at_one = at_zero.copy()
    words = [own if each is None else each for each in given]
    for index in range(1 << len(_WEIGHTS)):
        if table >> index & 1:
            parts = [w if index & k else ~w for w, k in zip(words, _WEIGHTS, strict=True)]
            result |= parts[0] & parts[1] & parts[2]
    for each, weight in zip(given, _WEIGHTS, strict=True):
        if each is None:
            at_one += weight
            continue
        high = each & ~low & ones(width)
        full = high == (~low & ones(width))
        alike &= full | (high == 0)
        at_zero += np.where(full, weight, 0)
        at_one += np.where(full, weight, 0)
    zero, one = (table >> place & 1 for place in (at_zero, at_one))
    above = integers.copy()
    above[:, 0] -= (own & low).view(np.int64)
    above *= (one - zero)[:, None]
    # Opposite bits of x are those of -x - 1, of which the low ones are left out; ones are those of -1.
    above[:, 0] -= zero * (low.view(np.int64) + 1)
    above[:, 0] += (result & low).view(np.int64)
    return above, alike & (low < ones(width))
