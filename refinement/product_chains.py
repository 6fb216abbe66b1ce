"""Sums of products compared without expanding them: accumulations, the bulk of every matrix kernel.

A chain of accumulations is unrolled into its products, two factors each. Two chains with the same
products, in whatever order, differ by what they started from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .quantities import Piece, Quantifier, Quantities, numbered

Identify = Callable[[Quantities], NDArray[np.int32]]
"""Quantities (n,) to numbers that are equal only for equal polynomials; 0 for the polynomial 0."""

_DROPPED = np.int64((1 << 63) - 1)


class Chain(NamedTuple):
    """Sums of products.

    Attributes
    ----------
    rest : tuple of Quantities (n,)
        What else is added.
    left, right : Quantities (n, K)
        The factors of the products.
    """

    rest: tuple[Quantities, ...]
    left: Quantities
    right: Quantities


def unrolled(quantifier: Quantifier, quantities: Quantities) -> Chain | None:
    """Return quantities (n,) as sums of equally many products; None where they are not."""
    pending, rest = [quantities], []
    left: list[Quantities] = []
    right: list[Quantities] = []
    while pending:
        front = pending.pop()
        pieces = _plain_pieces(quantifier, front)
        if pieces is None:
            rest.append(front)
            continue
        for factors in pieces:
            if len(factors) == 1:
                pending.append(factors[0])
            else:
                x, y = (factor.reshape(len(front), -1) for factor in factors)
                left.append(x)
                right.append(y)
    if not left:
        return None
    # The last product added was met first: back to the order of execution.
    return Chain(tuple(rest), np.concatenate(left[::-1], axis=1), np.concatenate(right[::-1], axis=1))


def _plain_pieces(quantifier: Quantifier, quantities: Quantities) -> list[tuple[Quantities, ...]] | None:
    """Return the factors of addends, and of products of two, if quantities are a sum of nothing else."""
    kinds = quantifier.kinds(quantities)
    if not len(kinds) or (kinds != kinds[0]).any() or quantifier.atomic_kinds()[kinds[0]]:
        return None
    pieces = quantifier.split(quantities)
    if pieces is None or not all(_is_plain(piece) for piece in pieces):
        return None
    return [piece.factors for piece in pieces]


def _is_plain(piece: Piece) -> bool:
    if not isinstance(piece.coefficient, int) or piece.coefficient != 1:
        return False
    return len(piece.factors) == 2 or (len(piece.factors) == 1 and piece.factors[0].ndim == 1)


def same_products(one: Chain, other: Chain, identify: Identify) -> NDArray[np.bool_]:
    """Tell which members of two chains add the same products."""
    if one.left.shape == other.left.shape:
        alike: NDArray[np.bool_] = ((one.left == other.left) & (one.right == other.right)).all(axis=1)
        if alike.all():
            return alike
    factors = [one.left, one.right, other.left, other.right]
    distinct, inverse = numbered(np.concatenate([f.reshape(-1) for f in factors]))
    numbers = identify(distinct)[inverse].astype(np.int64)
    parts = np.split(numbers, np.cumsum([f.size for f in factors])[:-1])
    keys = []
    for (left, right), shape in zip((parts[:2], parts[2:]), (one.left.shape, other.left.shape), strict=True):
        key = (np.minimum(left, right) << np.int64(32)) | np.maximum(left, right)
        keys.append(np.sort(np.where((left == 0) | (right == 0), _DROPPED, key).reshape(shape), axis=1))
    length = max(key.shape[1] for key in keys)
    padded = [np.pad(key, ((0, 0), (0, length - key.shape[1])), constant_values=_DROPPED) for key in keys]
    same: NDArray[np.bool_] = (padded[0] == padded[1]).all(axis=1)
    return same
