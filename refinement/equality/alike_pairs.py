"""Equality of two arrays of terms, of which most are instances of a few: only these are looked at.

Outputs of a kernel are mostly one function of different elements. What is shown of a pair of terms holds of
every pair that is the same but for which inputs it takes, if the same is known of those (`terms.instances`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import Format
from ..normal_forms.forms import NormalForms
from ..terms.domains import NONE
from ..terms.instances import TermInstances
from ..terms.interning import Ids
from ..terms.store import TermStore
from .equivalence import Comparison, Refuted, compare, evaluated_again, shown

Indices = NDArray[np.intp]

_ELEMENTS, _SHAPES, _OF_SHAPE = 16, 64, 4
"""Elements that are looked at from everywhere; and shapes of terms, with so many elements each."""

_MOST_PATTERNS = 64
"""Pairs of which all others are instances."""

_PART = 2
"""How many pairs there are for one that is looked at, at least."""


def some_of_each_shape(store: TermStore, terms: Ids) -> Indices:
    """Return some of terms (n,): a few from everywhere, and a few of each shape."""
    found = [np.linspace(0, len(terms) - 1, _ELEMENTS).astype(np.intp)]
    shapes = TermInstances(store).shapes(terms)
    for shape in np.unique(shapes)[:_SHAPES]:
        places = np.flatnonzero(shapes == shape)
        found.append(places[np.linspace(0, len(places) - 1, _OF_SHAPE).astype(np.intp)])
    return np.unique(np.concatenate(found))


def compare_alike(
    forms: NormalForms,
    actual: Ids,
    expected: Ids,
    fmt: Format,
    every: bool,
    refuted: Refuted | None = None,
    *,
    patient: bool = True,
) -> tuple[Comparison, Indices]:
    """Compare terms (n,) as `compare` does, if possible by a few of which all others are instances.

    The checker evaluates all of them again. In `Comparison.read`, what is not looked at is as it is.

    Parameters
    ----------
    every : bool
        Whether all are to be looked at.
    refuted, patient
        As of `compare`.

    Returns
    -------
    tuple of Comparison and array
        What is found of all, and the indices of what was looked at.

    Raises
    ------
    ObjectionError, ExpansionError
        As `compare`.
    """
    members = np.flatnonzero(actual != expected)
    few = None if every else _patterns(forms.store, actual, expected, members)
    found = None if few is None else _of_few(forms, actual, expected, fmt, few, patient, refuted)
    if few is None or found is None:
        return compare(forms, actual, expected, fmt, patient=patient, refuted=refuted), np.arange(len(actual))
    return found, few


def _patterns(store: TermStore, actual: Ids, expected: Ids, members: Indices) -> Indices | None:
    """Return some members of pairs of terms, of which all others are instances; None if they are many."""
    if len(members) < _PART * _ELEMENTS:
        return None
    pairs = np.stack([actual, expected], axis=1)[members]
    instances, patterns, left = TermInstances(store), list[int](), np.arange(len(members))
    most = min(_MOST_PATTERNS, len(members) // _PART)
    while len(left):
        if len(patterns) == most:
            return None
        patterns.append(int(left[0]))
        left = np.delete(left, instances.renamings(pairs[left]))
    few = np.union1d(patterns, some_of_each_shape(store, actual[members]))
    return None if len(few) * _PART > len(members) else members[few]


def _of_few(
    forms: NormalForms,
    actual: Ids,
    expected: Ids,
    fmt: Format,
    few: Indices,
    patient: bool,
    refuted: Refuted | None,
) -> Comparison | None:
    """Return what is found of all terms by a few of them; None if these do not tell.

    The checker then evaluates all of them at once: the few are of the shapes of the others.
    """
    found, nans = shown(forms, actual[few], expected[few], fmt, patient=patient, refuted=refuted)
    overflows = found.overflowing is not None and (found.overflowing != NONE).any()
    if not found.equal.all() or overflows or found.evaluated is not None:
        return None
    members = np.setdiff1d(np.arange(len(actual)), few[nans])
    again = evaluated_again(forms, actual, expected, fmt, members)
    read = found.read
    if read is not None:
        sides = actual.copy(), expected.copy()
        sides[0][few], sides[1][few] = read
        read = sides
    return replace(
        found,
        identical=(actual == expected) | found.identical.all(),
        equal=np.full(len(actual), True),
        overflowing=None,
        checked=again,
        read=read,
    )
