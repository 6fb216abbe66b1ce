"""Whether two arrays of terms are equal: as bits, else over the ring or the reals."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..spec.formats import FloatFormat, Format, IntegerFormat
from .interning import Ids
from .normal_forms import NormalForms
from .overflow import NONE
from .polynomials import ExpansionError
from .rounding_depth import Roundings, roundings
from .terms import bits
from .traversal import by_operation

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
    roundings : Roundings, optional
        What those that are equal, but not as bits, have undergone.
    reason : str, optional
        Why some of those that are not shown equal may yet be.
    overflowing : array (n,), optional
        Of those whose polynomials are equal, but not they: a rounding that only one side does of what is
        known to go beyond its format; else `overflow.NONE`.
    """

    identical: NDArray[np.bool_]
    equal: NDArray[np.bool_]
    roundings: Roundings | None = None
    reason: str | None = None
    overflowing: Ids | None = None


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
    differing, reason = _differing(forms, actual, expected, others, read)
    equal = np.ones(len(actual), dtype=bool)
    equal[differing] = False
    if isinstance(fmt, FloatFormat):  # of what is no number, only the bits can be equal
        finiteness = forms.quantifier.finiteness
        infinite = finiteness.never(actual, fmt) | finiteness.never(expected, fmt)
        equal &= identical | ~infinite
    rounded = equal & ~identical
    both = np.concatenate([actual[rounded], expected[rounded]])
    if isinstance(fmt, IntegerFormat) and not roundings(forms.store, both).counts:
        return Comparison(equal, equal, None, reason)
    if not rounded.any():
        return Comparison(identical, equal, None, reason)
    undergone = roundings(forms.store, actual[rounded], expected[rounded])
    unknown, alone = _overflows(forms, actual[rounded], expected[rounded])
    undergone = replace(undergone, unbounded=tuple(sorted(map(str, unknown))))
    overflowing = np.full(len(actual), NONE, dtype=np.int32)
    if len(alone):
        sides = [forms.overflows.within(terms[rounded], alone) for terms in (actual, expected)]
        overflowing[rounded] = np.where(sides[0] == NONE, sides[1], sides[0])
        equal &= overflowing == NONE
    return Comparison(identical, equal, undergone, reason, overflowing)


def _overflows(forms: NormalForms, actual: Ids, expected: Ids) -> tuple[set[FloatFormat], Ids]:
    """Return the formats to which roundings may overflow, and the roundings that one side alone does.

    The two sides are equal over the reals. What both round to the same format overflows in both.
    """
    kernel, contract = (forms.overflows.of(terms) for terms in (actual, expected))
    unknown = set(kernel.unknown | contract.unknown)
    alone = [kernel.possible, contract.possible]
    if all(map(len, alone)):
        both = np.isin(actual, kernel.possible) & np.isin(expected, contract.possible)
        both &= forms.store.widths(actual) == forms.store.widths(expected)
        alone = [np.setdiff1d(alone[0], actual[both]), np.setdiff1d(alone[1], expected[both])]
        numbers = [_rounded_quantities(forms, terms) for terms in (kernel.possible, contract.possible)]
        shared = set(numbers[0].values()) & set(numbers[1].values())
        alone = [
            np.array([term for term in terms.tolist() if known[term] not in shared], dtype=np.int32)
            for terms, known in zip(alone, numbers, strict=True)
        ]
        every = np.concatenate([kernel.possible, contract.possible])
        common = np.setdiff1d(every, np.concatenate(alone))
        unknown |= {fmt for _, fmt in _rounded_quantities(forms, common).values()}
    return unknown, np.union1d(*alone).astype(np.int32)


def _rounded_quantities(forms: NormalForms, terms: Ids) -> dict[int, tuple[int, FloatFormat]]:
    """Return what each term is the rounding of, as a number, and to which format."""
    found: dict[int, tuple[int, FloatFormat]] = {}
    for operation, members in by_operation(forms.store, terms):
        fmt = operation.result
        assert isinstance(fmt, FloatFormat)
        numbers = forms.identifiers(members, fmt).tolist()
        found |= {term: (number, fmt) for term, number in zip(members.tolist(), numbers, strict=True)}
    return found


_FIRST, _AT_A_TIME = 8, 512
"""Members that are compared thoroughly at first, and at a time."""


def _differing(
    forms: NormalForms, actual: Ids, expected: Ids, members: Indices, fmt: Format
) -> tuple[Indices, str | None]:
    """Return which terms are not shown equal, and if it is so, that too many products would decide it.

    Where only a thorough comparison can tell, it ends with the first members that differ: all that are
    left then count as not shown.
    """
    found = forms.difference(actual[members], expected[members], fmt)
    doubtful = members[np.unique(found.owners)]
    if len(forms.certain(found)):
        return doubtful, None
    start = 0
    while start < len(doubtful):
        some = doubtful[start : start + (_AT_A_TIME if start else _FIRST)]
        try:
            again = forms.thorough.difference(actual[some], expected[some], fmt)
        except ExpansionError as error:
            return doubtful[start:], str(error)
        start += len(some)
        if len(again):
            return np.concatenate([some[np.unique(again.owners)], doubtful[start:]]), None
    return doubtful[:0], None
