"""Rank-k updates on batches of encodings in one pass: decoded once, computed on values, encoded once.

Only which NaN a result is can't be seen of values: those elements are computed again, on encodings.
Integers are computed on encodings from the beginning, and so is what takes one operation: there is
nothing to save.
"""

from __future__ import annotations

import numpy as np

from ..algebra import Algebra, Array
from ..float_encoding import decode, encode, is_nan
from ..formats import Bits, FloatFormat, as_float
from ..numpy_algebra import NumpyAlgebra
from ..operand_arrays import blocks
from ..rounding import Rounding
from ..value_algebra import ValueAlgebra
from .catalogue import FloatFamily, RankKUpdate
from .choices import Choices
from .rank_k_update import Live, rank_k_update

ENCODINGS = NumpyAlgebra()
VALUES = ValueAlgebra()

_BLOCK = 1024
"""Updates computed at a time: their temporaries stay in a core's cache."""


def rank_k_updates(
    update: RankKUpdate,
    x: Bits,
    y: Bits,
    acc: Bits,
    live: Live,
    rounding: Rounding,
    choices: Choices,
    alg: Algebra = ENCODINGS,
) -> Bits:
    """Return `rank_k_update` of encodings x (batch, 4, k), y (batch, n, k) and acc (batch, 4, n).

    There is one batch axis or none. The masks `live` are those of one instruction; `acc` may be a single 0
    where it is not looked at. A single update is computed by `alg`.
    """
    family, read = update.family, (x, y, acc)
    floats = isinstance(family, FloatFamily)
    if x.ndim == 2 or (floats and family.rank == 1):
        return rank_k_update(alg, update, *read, live, rounding, choices)
    result = np.empty((len(x), 4, family.columns), dtype=family.result.storage)
    compute = _on_values if floats else _on_encodings
    with np.errstate(all="ignore"):
        for block in blocks(len(x), _BLOCK):
            parts = tuple(bits[block] if bits.ndim else bits for bits in read)
            result[block] = compute(update, parts, live, rounding, choices)
        if floats and choices.nan == "operand-order":
            _restore_nans(update, read, result, live, rounding, choices)
    return result


def _on_encodings(
    update: RankKUpdate, operands: tuple[Bits, ...], live: Live, rounding: Rounding, choices: Choices
) -> Bits:
    x, y, acc = operands
    return rank_k_update(ENCODINGS, update, x, y, acc, live, rounding, choices)


def _on_values(
    update: RankKUpdate, operands: tuple[Bits, ...], live: Live, rounding: Rounding, choices: Choices
) -> Bits:
    family = update.family
    assert isinstance(family, FloatFamily)
    formats = (family.x, family.y, family.result)
    x, y, acc = (_values(bits, fmt) for bits, fmt in zip(operands, formats, strict=True))
    total = rank_k_update(VALUES, update, x, y, acc, live, rounding, choices)
    return encode(total.transpose(1, 2, 0), family.result, rounding).transpose(2, 0, 1)


def _values(bits: Bits, fmt: FloatFormat) -> Array:
    """Decode with the batch along memory: operations that broadcast short rows then loop along it."""
    if not bits.ndim:
        return decode(bits, fmt)
    return decode(np.ascontiguousarray(bits.transpose(1, 2, 0)), fmt).transpose(2, 0, 1)


def _restore_nans(
    update: RankKUpdate,
    operands: tuple[Bits, ...],
    result: Bits,
    live: Live,
    rounding: Rounding,
    choices: Choices,
) -> None:
    """Compute again those elements that are NaNs, each as an update of one row and one column."""
    fmt = as_float(update.family.result)
    places = np.flatnonzero(is_nan(result, fmt))
    at, i, j = np.unravel_index(places, result.shape)
    x, y, acc = operands
    acc = acc[at, i, j, None, None] if acc.ndim else acc
    one = Live(live.rows[i, None], live.columns[j, None], live.products)
    again = rank_k_update(ENCODINGS, update, x[at, i, None], y[at, j, None], acc, one, rounding, choices)
    result[at, i, j] = again[:, 0, 0]
