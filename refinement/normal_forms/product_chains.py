"""Chains: accumulations compared as multisets of products, without expansion.

A chain of accumulations is unrolled into its products, two factors each, vectors of factors wherever a
matrix unit multiplied vectors. Two chains with the same products, in whatever order, differ by what they
started from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import encode
from ...spec.formats import F64, FloatFormat, Format
from ...spec.operand_arrays import blocks
from ...spec.rounding import Rounding
from ..terms.slices import groups
from ..terms.store import CONSTANT
from .reading_words import Piece, Quantities, numbered
from .readings import Quantifier

Identify = Callable[[Quantities], NDArray[np.int32]]
"""Quantities (n,) to numbers that are equal only for equal polynomials; 0 for the polynomial 0."""

Whole = Callable[[Quantities], NDArray[np.bool_]]
"""Tells which quantities (n,) of one kind have a normal form as a whole, although they split."""

DROPPED = np.int64((1 << 63) - 1)
"""In place of a product that is 0; larger than every other number."""

_AT_A_TIME = 1 << 20
"""Products whose keys are held in memory."""


@dataclass(frozen=True)
class Chain:
    """Sums of products that have one structure.

    Attributes
    ----------
    rest : tuple of Quantities (n,)
        What else is added.
    left, right : Quantities (n, parts)
        The factors of the products, in the order of execution: quantities, or vectors of them.
    lengths : tuple of int
        How many products each part has; 0 of one that is no vector.
    """

    rest: tuple[Quantities, ...]
    left: Quantities
    right: Quantities
    lengths: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.left)

    @property
    def products(self) -> int:
        """How many products each sum has."""
        return sum(max(1, length) for length in self.lengths)

    def at(self, places: NDArray[np.intp] | slice) -> Chain:
        """Return the sums at some places."""
        rest = tuple(each[places] for each in self.rest)
        return Chain(rest, self.left[places], self.right[places], self.lengths)

    def with_addends(self, quantifier: Quantifier, fmt: Format) -> Chain:
        """Return the same sums, real numbers, with what else is added as products with 1."""
        assert isinstance(fmt, FloatFormat)
        ones = encode(np.ones(len(self)), fmt, Rounding.NEAREST_EVEN) if fmt != F64 else np.ones(len(self))
        terms = quantifier.store.constants(ones.view(np.uint64) if fmt == F64 else ones, fmt.bits)
        right = np.repeat(quantifier.read(terms, fmt)[:, None], len(self.rest), axis=1)
        left = np.stack(self.rest, axis=1)
        lengths = (*self.lengths, *(0 for _ in self.rest))
        return Chain((), np.hstack([self.left, left]), np.hstack([self.right, right]), lengths)

    def factors(self, quantifier: Quantifier, parts: Quantities) -> Quantities:
        """Return the factors (m, products) of rows (m, parts) of one side."""
        columns = [
            quantifier.elements(parts[:, index]) if length else parts[:, index : index + 1]
            for index, length in enumerate(self.lengths)
        ]
        return np.concatenate([np.empty((len(parts), 0), dtype=np.int64), *columns], axis=1)


@dataclass
class _Unrolling:
    """Quantities of one structure, as far as they are unrolled."""

    members: NDArray[np.intp]
    pending: list[Quantities]
    rest: list[Quantities]
    left: list[Quantities]
    right: list[Quantities]
    lengths: tuple[int, ...] = ()

    def at(self, places: NDArray[np.intp]) -> _Unrolling:
        pending, rest, left, right = (
            [each[places] for each in some] for some in (self.pending, self.rest, self.left, self.right)
        )
        return _Unrolling(self.members[places], pending, rest, left, right, self.lengths)

    def add(self, left: Quantities, right: Quantities, length: int) -> None:
        self.left.append(left)
        self.right.append(right)
        self.lengths += (length,)

    def chain(self) -> Chain:
        # The last product added was met first: back to the order of execution.
        left, right = (
            np.stack(some[::-1], axis=1) if some else np.empty((len(self.members), 0), dtype=np.int64)
            for some in (self.left, self.right)
        )
        return Chain(tuple(self.rest), left, right, self.lengths[::-1])


def unrolled(
    quantifier: Quantifier, quantities: Quantities, whole: Whole
) -> list[tuple[NDArray[np.intp], Chain]]:
    """Return quantities (n,) as sums of products, those of one structure together, with their indices.

    Those of one kind of which any are `whole` are not taken apart.
    """
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
            _unroll(quantifier, current, front, whole)
        finished.append((current.members, current.chain()))
    return finished


def _unroll(quantifier: Quantifier, current: _Unrolling, front: Quantities, whole: Whole) -> None:
    """Take quantities of one kind apart, as far as they are sums of quantities and products of two."""
    if (accumulated := quantifier.accumulated(front)) is not None:
        left, right, addend = accumulated
        if (factors := _summed_products(quantifier, left, right, whole)) is not None:
            for column in range(factors[0].shape[1]):
                current.add(factors[0][:, column], factors[1][:, column], 0)
        else:
            current.add(left, right, quantifier.elements(left[:1]).shape[1])
        current.pending.append(addend)
        return
    pieces = None
    if not quantifier.atomic_kinds()[quantifier.kinds(front[:1])[0]] and not whole(front).any():
        pieces = quantifier.split(front)
    if pieces is None or not all(_is_plain(piece) for piece in pieces):
        current.rest.append(front)
        return
    for piece in pieces:
        first, *others = piece.factors
        if others:
            current.add(first, others[0], 0)
        else:
            current.pending.append(first)


def _summed_products(
    quantifier: Quantifier, left: Quantities, right: Quantities, whole: Whole
) -> tuple[Quantities, Quantities] | None:
    """Return the factors (n, K) of products in vectors (n,) that are multiplied with ones; else None.

    A kernel adds the square of each number, and a formula all squares at once: both have the same factors.
    """
    if not (right == right[0]).all() or not _are_ones(quantifier, quantifier.elements(right[:1])):
        return None
    products = quantifier.elements(left)
    kinds = quantifier.kinds(products.reshape(-1))
    if (kinds != kinds[0]).any() or quantifier.atomic_kinds()[kinds[0]] or whole(products.reshape(-1)).any():
        return None
    pieces = quantifier.split(products.reshape(-1))
    if pieces is None or len(pieces) != 1 or len(pieces[0].factors) != 2 or not _is_plain(pieces[0]):
        return None
    one, other = (factor.reshape(products.shape) for factor in pieces[0].factors)
    return one, other


def _are_ones(quantifier: Quantifier, elements: Quantities) -> bool:
    distinct = np.unique(elements)
    if len(distinct) > 1 or not quantifier.store.are(CONSTANT, quantifier.terms(distinct)).all():
        return False
    pieces = quantifier.split(distinct)
    return pieces is not None and not pieces[0].factors and pieces[0].coefficient[0] == 1


def _is_plain(piece: Piece) -> bool:
    if not isinstance(piece.coefficient, int) or piece.coefficient != 1:
        return False
    return len(piece.factors) in (1, 2) and all(factor.ndim == 1 for factor in piece.factors)


def product_keys(quantifier: Quantifier, chain: Chain, identify: Identify) -> NDArray[np.int64]:
    """Return numbers (n, K), sorted, that are equal for equal products; `DROPPED` for those that are 0."""
    sides = (chain.factors(quantifier, side) for side in (chain.left, chain.right))
    left, right = (identified(each, identify).astype(np.int64) for each in sides)
    keys = (np.minimum(left, right) << np.int64(32)) | np.maximum(left, right)
    return np.sort(np.where((left == 0) | (right == 0), DROPPED, keys), axis=1)


def identified(quantities: Quantities, identify: Identify) -> NDArray[np.int32]:
    """Identify quantities (…), each distinct one once."""
    distinct, inverse = numbered(quantities.reshape(-1))
    return identify(distinct)[inverse].reshape(quantities.shape)


def in_blocks(chain: Chain) -> list[slice]:
    """Return slices of the sums of a chain whose products are held in memory easily."""
    return list(blocks(len(chain), _AT_A_TIME // max(1, chain.products)))
