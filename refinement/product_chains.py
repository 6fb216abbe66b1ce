"""Sums of products compared without expanding them: accumulations, the bulk of every matrix kernel.

A chain of accumulations is unrolled into its products, two factors each. Two chains with the same
products, in whatever order, differ by what they started from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .quantities import Pieces, Quantifier, Quantities, numbered

Identify = Callable[[Quantities], NDArray[np.int32]]
"""Quantities (n,) to numbers that are equal only for equal polynomials; 0 for the polynomial 0."""

_DROPPED = np.int64((1 << 63) - 1)


class Chain(NamedTuple):
    """Sums of products.

    Attributes
    ----------
    start : Quantities (n,)
        What the products are added to.
    left, right : Quantities (n, K)
        The factors of the products.
    """

    start: Quantities
    left: Quantities
    right: Quantities


def unrolled(quantifier: Quantifier, quantities: Quantities) -> Chain | None:
    """Return quantities (n,) as chains of equal length; None where they are not."""
    left: list[Quantities] = []
    right: list[Quantities] = []
    start = quantities
    while (step := _step(quantifier, start)) is not None:
        x, y, start = step
        left.append(x)
        right.append(y)
    if not left:
        return None
    # The last product added was met first: back to the order of execution.
    return Chain(start, np.concatenate(left[::-1], axis=1), np.concatenate(right[::-1], axis=1))


def _step(quantifier: Quantifier, quantities: Quantities) -> tuple[Quantities, Quantities, Quantities] | None:
    kinds = quantifier.kinds(quantities)
    if not len(kinds) or (kinds != kinds[0]).any():
        return None
    pieces = quantifier.split(quantities)
    if pieces is None or not _accumulates(pieces):
        return None
    product, addend = pieces
    x, y = (factor.reshape(len(quantities), -1) for factor in product.factors)
    return x, y, addend.factors[0]


def _accumulates(pieces: Pieces) -> bool:
    shapes = [len(piece.factors) for piece in pieces]
    plain = all(isinstance(piece.coefficient, int) and piece.coefficient == 1 for piece in pieces)
    return plain and shapes == [2, 1] and pieces[1].factors[0].ndim == 1


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
