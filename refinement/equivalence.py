"""Whether two arrays of terms are equal: as bits, else over the ring or the reals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..spec.formats import Format, IntegerFormat
from .interning import Ids
from .normal_forms import NormalForms
from .polynomials import Polynomials
from .rounding_depth import Roundings, roundings
from .terms import bits


@dataclass(frozen=True)
class Comparison:
    """How terms (n,) compare with what is expected.

    Attributes
    ----------
    identical : array (n,)
        Which are the same bits.
    equal : array (n,)
        Which are equal, as bits or over the reals.
    difference : Polynomials
        Of those that are not shown equal: actual minus expected; owners are their indices.
    roundings : Roundings, optional
        What those that are equal, but not as bits, have undergone.
    """

    identical: NDArray[np.bool_]
    equal: NDArray[np.bool_]
    difference: Polynomials
    roundings: Roundings | None = None


def compare(forms: NormalForms, actual: Ids, expected: Ids, fmt: Format) -> Comparison:
    """Compare terms (n,) with the terms expected, both read in a format.

    Integers are equal as bits where their polynomials are equal modulo ``2**fmt.bits``; floats that are
    not the identical term can only be equal over the reals, where no operation rounds or overflows.
    """
    identical: NDArray[np.bool_] = actual == expected
    others = np.flatnonzero(~identical)
    whole = isinstance(fmt, IntegerFormat)
    read = bits(fmt.bits) if whole else fmt
    found = forms.difference(actual[others], expected[others], read)
    difference = Polynomials(others[found.owners], found.coefficients, found.atoms)
    equal = np.ones(len(actual), dtype=bool)
    equal[difference.owners] = False
    if whole:
        return Comparison(equal, equal, difference)
    rounded = equal & ~identical
    undergone = roundings(forms.store, actual[rounded]) if rounded.any() else None
    return Comparison(identical, equal, difference, undergone)
