"""Readings packed into 64-bit words: a term and the format that it is read in."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Quantities = NDArray[np.int64]
"""Terms in the low 32 bits, the number of the format they are read in above."""

TERM = np.int64(0xFFFFFFFF)
"""The bits of the term."""

Coefficient = int | Fraction

Monomial = tuple[int, ...]
"""Quantities that don't split, in decreasing order; a power repeats them."""

_SPARSE = 32
"""How many numbers there may be for each quantity in a table of all."""


def numbered(quantities: Quantities) -> tuple[Quantities, NDArray[np.int64]]:
    """Return the distinct quantities (m,), in increasing order, and where in them each quantity is.

    As `numpy.unique`, but in linear time where they are many: terms and formats are small numbers.
    """
    if not len(quantities):
        return quantities, quantities
    terms, formats = quantities & TERM, quantities >> np.int64(32)
    size = int(terms.max(initial=0)) + 1
    every = (int(formats.max(initial=0)) + 1) * size
    if every > _SPARSE * len(quantities):
        distinct, inverse = np.unique(quantities, return_inverse=True)
        return distinct, inverse.reshape(quantities.shape)
    places = formats * size + terms
    present = np.zeros(every, dtype=bool)
    present[places] = True
    found = np.flatnonzero(present)
    ranks = np.cumsum(present, dtype=np.int64) - 1
    return (found // size << 32) | found % size, ranks[places]


class Piece(NamedTuple):
    """A product in the expansion of readings (n,).

    Attributes
    ----------
    coefficient : int, or object array (n,)
        An exact number.
    factors : tuple of Quantities
        Each (n,), or (n, K) in a piece that stands for a sum of K products.
    """

    coefficient: Any
    factors: tuple[Quantities, ...]


Pieces = list[Piece]


class Accumulated(NamedTuple):
    """Dot products of vectors, and their accumulators.

    Attributes
    ----------
    left, right : Quantities (n,)
        Terms that stand for vectors, read as their elements are.
    addend : Quantities (n,)
        What else is added.
    """

    left: Quantities
    right: Quantities
    addend: Quantities


def gathered(found: Sequence[Pieces]) -> list[tuple[NDArray[np.intp], Pieces]]:
    """Return the expansions of single quantities as those of groups of them."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for index, pieces in enumerate(found):
        groups.setdefault(tuple(len(piece.factors) for piece in pieces), []).append(index)
    result = []
    for lengths, indices in groups.items():
        pieces = [
            Piece(
                np.concatenate([found[index][place].coefficient for index in indices]),
                tuple(
                    np.concatenate([found[index][place].factors[factor] for index in indices])
                    for factor in range(length)
                ),
            )
            for place, length in enumerate(lengths)
        ]
        result.append((np.array(indices, dtype=np.intp), pieces))
    return result
