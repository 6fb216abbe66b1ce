"""Terms of a store and the formats that they are read in, as words of 64 bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Quantities = NDArray[np.int64]
"""Terms in the low 32 bits, the number of the format they are read in above."""

TERM = np.int64(0xFFFFFFFF)
"""The bits of the term."""

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
