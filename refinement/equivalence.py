"""Whether two arrays of terms are equal: as bits, else over the ring or the reals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..spec.formats import FloatFormat, Format, IntegerFormat
from ..spec.operand_arrays import blocks
from .interning import Ids
from .normal_forms import NormalForms
from .polynomials import Polynomials
from .rounding_depth import Roundings, roundings
from .terms import bits

Indices = NDArray[np.intp]


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


def compared_as(fmt: Format) -> Format:
    """Return the format in which outputs of a format are compared: integers modulo a power of two."""
    return bits(fmt.bits) if isinstance(fmt, IntegerFormat) else fmt


def compare(forms: NormalForms, actual: Ids, expected: Ids, fmt: Format) -> Comparison:
    """Compare terms (n,) with the terms expected, both read in a format.

    Integers are equal as bits where their polynomials are equal modulo ``2**fmt.bits`` and no float is
    rounded on the way; what is not the identical term can otherwise only be equal over the reals, where no
    operation rounds or overflows.
    """
    identical: NDArray[np.bool_] = actual == expected
    others = np.flatnonzero(~identical)
    read = compared_as(fmt)
    difference = _difference(forms, actual, expected, others, read)
    equal = np.ones(len(actual), dtype=bool)
    equal[difference.owners] = False
    if isinstance(fmt, FloatFormat):  # of what is no number, only the bits can be equal
        finiteness = forms.quantifier.finiteness
        infinite = finiteness.never(actual, fmt) | finiteness.never(expected, fmt)
        equal &= identical | ~infinite
    rounded = equal & ~identical
    both = np.concatenate([actual[rounded], expected[rounded]])
    if isinstance(fmt, IntegerFormat) and not roundings(forms.store, both).counts:
        return Comparison(equal, equal, difference)
    undergone = roundings(forms.store, actual[rounded], expected[rounded]) if rounded.any() else None
    return Comparison(identical, equal, difference, undergone)


CHUNK = 512
"""Members that are compared thoroughly at a time."""


def _difference(forms: NormalForms, actual: Ids, expected: Ids, members: Indices, fmt: Format) -> Polynomials:
    """Return the difference of some terms; made thoroughly where that may make it vanish."""
    found = forms.difference(actual[members], expected[members], fmt)
    doubtful = members[np.unique(found.owners)]
    if forms.is_exact(found) or not len(doubtful):
        return Polynomials(members[found.owners], found.coefficients, found.atoms)
    thorough = NormalForms(forms.store, thorough=True)
    for chunk in blocks(len(doubtful), CHUNK):
        some = doubtful[chunk]
        again = thorough.difference(actual[some], expected[some], fmt)
        if len(again):
            kept = np.isin(members[found.owners], doubtful[chunk.start :])
            return Polynomials(members[found.owners[kept]], found.coefficients[kept], found.atoms[kept])
    return Polynomials(members[:0], found.coefficients[:0], found.atoms[:0])
