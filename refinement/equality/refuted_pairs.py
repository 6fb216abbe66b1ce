"""Equality of two arrays of terms, of which those that numbers tell apart are not compared at length.

A wrong kernel is as hard to compare with its formula as a right one, and most of its outputs are wrong: two
sets of numbers show it first. The first pair that they tell apart is compared all the same: if it is shown to
be equal, the numbers are not believed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import Format
from ..normal_forms.forms import NormalForms
from ..terms.domains import NONE
from ..terms.interning import Ids
from .alike_pairs import compare_alike
from .equivalence import Comparison, Refuted, shown

Indices = NDArray[np.intp]


def compare_unrefuted(
    forms: NormalForms,
    actual: Ids,
    expected: Ids,
    fmt: Format,
    every: bool,
    refuted: Refuted,
    *,
    patient: bool = True,
) -> tuple[Comparison, Indices]:
    """Compare terms (n,) as `compare_alike` does, but for those that `refuted` soon tells.

    Parameters, what is returned and what is raised are as there.
    """
    compare = partial(compare_alike, forms, fmt=fmt, every=every, refuted=refuted, patient=patient)
    members = np.flatnonzero(actual != expected)
    wrong = members[refuted(actual[members], expected[members], fmt, soon=True)]
    if not len(wrong):
        return compare(actual, expected)
    some = wrong[:1]
    first, _ = shown(forms, actual[some], expected[some], fmt, patient=patient, refuted=refuted)
    if first.equal.any():
        return compare(actual, expected)
    rest = np.setdiff1d(np.arange(len(actual)), wrong)
    found, few = compare(actual[rest], expected[rest]) if len(rest) else (first, some)
    return _placed(found, rest, actual, expected, first.reason), rest[few] if len(rest) else some


def _placed(found: Comparison, rest: Indices, actual: Ids, expected: Ids, reason: str | None) -> Comparison:
    """Return what is found of some of terms (n,) as found of all: the others are not equal."""
    identical, equal = actual == expected, np.zeros(len(actual), dtype=bool)
    overflowing, read = np.full(len(actual), NONE, dtype=np.int32), (actual.copy(), expected.copy())
    if len(rest):
        identical[rest], equal[rest] = found.identical, found.equal
        if found.overflowing is not None:
            overflowing[rest] = found.overflowing
        for side, terms in zip(read, found.read or (), strict=False):
            side[rest] = terms
    return replace(
        found,
        identical=identical,
        equal=equal,
        reason=found.reason or reason,
        overflowing=overflowing,
        read=read if len(rest) and found.read else None,
        evaluated=None,
    )
