"""Sums of products compared without expanding them: accumulations, the bulk of every matrix kernel.

A chain of accumulations is unrolled into its products, two factors each. Two chains with the same
products, in whatever order, differ by what they started from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .bit_slices import groups
from .quantities import Piece, Quantifier, Quantities, numbered

Identify = Callable[[Quantities], NDArray[np.int32]]
"""Quantities (n,) to numbers that are equal only for equal polynomials; 0 for the polynomial 0."""

DROPPED = np.int64((1 << 63) - 1)
"""In place of a product that is 0; larger than every other number."""


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

    def at(self, places: NDArray[np.intp]) -> Chain:
        """Return the sums at some places."""
        return Chain(tuple(each[places] for each in self.rest), self.left[places], self.right[places])


@dataclass
class _Unrolling:
    """Quantities of one structure, as far as they are unrolled."""

    members: NDArray[np.intp]
    pending: list[Quantities]
    rest: list[Quantities]
    left: list[Quantities]
    right: list[Quantities]

    def at(self, places: NDArray[np.intp]) -> _Unrolling:
        lists = ([each[places] for each in some] for some in (self.pending, self.rest, self.left, self.right))
        return _Unrolling(self.members[places], *lists)

    def chain(self) -> Chain:
        # The last product added was met first: back to the order of execution.
        columns = (
            np.concatenate(some[::-1], axis=1) if some else np.empty((len(self.members), 0), dtype=np.int64)
            for some in (self.left, self.right)
        )
        return Chain(tuple(self.rest), *columns)


def unrolled(quantifier: Quantifier, quantities: Quantities) -> list[tuple[NDArray[np.intp], Chain]]:
    """Return quantities (n,) as sums of products, those of one structure together, with their indices."""
    if not len(quantities):
        return []
    finished = []
    working = [_Unrolling(np.arange(len(quantities)), [quantities], [], [], [])]
    while working:
        current = working.pop()
        while current.pending:
            front = current.pending[-1]
            alike = list(groups(quantifier.kinds(front)))
            if len(alike) > 1:
                working += [current.at(places) for places in alike[1:]]
                current = current.at(alike[0])
                continue
            current.pending.pop()
            _unroll(quantifier, current, front)
        finished.append((current.members, current.chain()))
    return finished


def _unroll(quantifier: Quantifier, current: _Unrolling, front: Quantities) -> None:
    """Take quantities of one kind apart, as far as they are sums of quantities and products of two."""
    pieces = None
    if not quantifier.atomic_kinds()[quantifier.kinds(front[:1])[0]]:
        pieces = quantifier.split(front)
    if pieces is None or not all(_is_plain(piece) for piece in pieces):
        current.rest.append(front)
        return
    for piece in pieces:
        if len(piece.factors) == 1:
            current.pending.append(piece.factors[0])
        else:
            x, y = (factor.reshape(len(front), -1) for factor in piece.factors)
            current.left.append(x)
            current.right.append(y)


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
    keys = [product_keys(chain, identify) for chain in (one, other)]
    length = max(key.shape[1] for key in keys)
    padded = [np.pad(key, ((0, 0), (0, length - key.shape[1])), constant_values=DROPPED) for key in keys]
    same: NDArray[np.bool_] = (padded[0] == padded[1]).all(axis=1)
    return same


def product_keys(chain: Chain, identify: Identify) -> NDArray[np.int64]:
    """Return numbers (n, K), sorted, that are equal for equal products; `DROPPED` for those that are 0."""
    distinct, inverse = numbered(np.concatenate([chain.left.reshape(-1), chain.right.reshape(-1)]))
    left, right = np.split(identify(distinct)[inverse].astype(np.int64), 2)
    keys = (np.minimum(left, right) << np.int64(32)) | np.maximum(left, right)
    return np.sort(np.where((left == 0) | (right == 0), DROPPED, keys).reshape(chain.left.shape), axis=1)
