"""Which pairs of terms are not shown equal: by normal forms, one of each shape, by signs and by orders."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import Format
from ..normal_forms.elementary_forms import OutweighedMaskError
from ..normal_forms.forms import NormalForms
from ..normal_forms.polynomials import ExpansionError
from ..terms.domains import NONE
from ..terms.instances import TermInstances
from ..terms.interning import Ids
from .arg_extrema import ArgExtrema
from .finite_masks import ChosenMasks
from .instances_of_pairs import without_instances
from .order_cases import OrderCases
from .order_statistics import OrderStatistics
from .shared_subterms import SharedSubterms
from .sign_cases import SignCases

Indices = NDArray[np.intp]

_Unequal = Callable[[Ids, Ids, Format], NDArray[Any]]
"""Tells which terms (n,) are not shown equal to others."""

MOST_AT_FIRST, _AT_A_TIME = 8, 512
"""Members that are compared thoroughly at first, and at a time."""

_SAMPLE = 8
"""Members of which one at least must be an instance of another, for all to be compared with that."""

_FEW = 4
"""Part of the members that are done with in one round, below which the others are compared all together."""


def differing_members(
    forms: NormalForms, actual: Ids, expected: Ids, members: Indices, fmt: Format
) -> tuple[Indices, str | None]:
    """Return which terms are not shown equal, and if it is so, that too many products would decide it.

    Where only a thorough comparison can tell, it ends with the first members that differ: all that are
    left then count as not shown.
    """
    plain = ~(forms.are_slow(actual[members]) | forms.are_slow(expected[members]))
    slow, members = members[~plain], members[plain]
    members = without_instances(forms, actual, expected, members, fmt)
    found = forms.difference(actual[members], expected[members], fmt)
    doubtful = members[np.unique(found.owners)]
    if len(forms.certain(found)):
        return np.union1d(doubtful, slow), None
    differing, reason = _thoroughly(forms, actual, expected, doubtful, fmt)
    if len(differing):
        return np.union1d(differing, slow), reason
    return _by_shape(forms, actual, expected, slow, fmt)


def _by_shape(
    forms: NormalForms, actual: Ids, expected: Ids, members: Indices, fmt: Format
) -> tuple[Indices, str | None]:
    """Return which terms are not shown equal, as `differing_members`, of each shape looking at one.

    What is not an instance of that is looked at again, all together if few are: there would be many rounds.
    """
    instances = TermInstances(forms.store)
    pairs = np.stack([actual, expected], axis=1)
    shapes = instances.shapes(pairs[members].reshape(-1)).reshape(-1, 2)
    classes = np.unique(shapes, axis=0, return_inverse=True)[1].reshape(-1)
    while len(members):
        _, first = np.unique(classes, return_index=True)
        first = np.sort(first)[:_AT_A_TIME]
        differing, reason = _thoroughly(forms, actual, expected, members[first], fmt)
        left = np.ones(len(members), dtype=bool)
        left[first] = np.isin(members[first], differing)
        for one in first[~left[first]]:
            others = np.flatnonzero(left & (classes == classes[one]))
            some = others[:: len(others) // _SAMPLE + 1]
            for tried in (some, others):
                same = instances.of(pairs[members[one]], pairs[members[tried]])
                left[tried[same]] = False
                if not same.any():
                    break
        few = _FEW * left.sum() > (_FEW - 1) * len(members)
        members, classes = members[left], classes[left]
        if len(differing):
            return members, reason
        if few:
            return _thoroughly(forms, actual, expected, members, fmt)
    return members, None


def _thoroughly(
    forms: NormalForms, actual: Ids, expected: Ids, members: Indices, fmt: Format
) -> tuple[Indices, str | None]:
    """Return which terms are not shown equal, with as many sums expanded as needed."""
    differing, reason = _at_once(forms, actual, expected, members, fmt)
    if not len(differing):
        return differing, reason
    if OrderStatistics.may_apply(forms.store):
        statistics = OrderStatistics(forms)
        differing = differing[statistics.values(actual[differing]) != statistics.values(expected[differing])]
        apart = statistics.tell_apart(actual[differing], expected[differing], fmt)
        if not len(differing) or (apart.any() and not (forms.store.ends or forms.store.admitted)):
            return differing, reason if len(differing) else None
    at_once = partial(_unequal_at_once, forms)
    signs = SignCases(forms, at_once)
    ways = (ArgExtrema(forms), signs, OrderCases(forms, at_once)) if forms.splits_orders else (signs,)
    for cases in ways:
        differing = differing[cases.unequal(actual[differing], expected[differing], fmt)]
    return differing, reason if len(differing) else None


def _shows_first(unequal: _Unequal, actual: Ids, expected: Ids, fmt: Format) -> bool:
    """Tell whether a comparison shows the first of several terms: it then may show them all at once."""
    if len(actual) < 2:
        return True
    with suppress(OutweighedMaskError, ExpansionError):
        return not len(unequal(actual[:1], expected[:1], fmt))
    return True


def _unequal_at_once(
    forms: NormalForms, actual: Ids, expected: Ids, fmt: Format, *, within: Ids | None = None
) -> Indices:
    """Return which terms (n,) are not shown equal, or not to be numbers for any inputs."""
    differing = _at_once(forms, actual, expected, np.arange(len(actual)), fmt, within=within)[0]
    return (
        np.arange(len(actual)) if with_poles(forms, np.concatenate([actual, expected])).any() else differing
    )


def _unequal_unmasked(
    forms: NormalForms, within: Ids | None, actual: Ids, expected: Ids, fmt: Format
) -> Indices:
    """Return which terms (n,) are not shown equal where finite masks are as good as infinite ones.

    They are not where the formula chooses one by data: where all is masked it is a number, and depends on
    how many there are.
    """
    found = np.arange(len(actual))
    if not forms.elementary.sees_masks:
        return found
    chosen = ChosenMasks(forms.store)
    if within is not None and chosen.values(within).any():
        return found
    some = np.flatnonzero(~chosen.values(expected))
    equal = np.delete(some, forms.unequal_unmasked(actual[some], expected[some], fmt))
    return np.setdiff1d(found, equal)


def _at_once(
    forms: NormalForms,
    actual: Ids,
    expected: Ids,
    members: Indices,
    fmt: Format,
    *,
    within: Ids | None = None,
) -> tuple[Indices, str | None]:
    """Return what `_thoroughly` does where nothing is supposed of what terms choose by.

    Terms may be parts of others that are expected: what these share is not taken for an atom again.
    """
    left = members
    unmasked = partial(_unequal_unmasked, forms, within)
    ways: list[_Unequal] = [forms.unequal, forms.outer.unequal, unmasked]
    if within is None:
        given = actual[left], expected[left], fmt
        shared = SharedSubterms(forms, partial(_unequal_at_once, forms, within=expected[members])).unequal
        begin = next((each for each in (ways[0], unmasked) if _shows_first(each, *given)), shared)
        ways = [begin, *(each for each in (*ways[:1], shared, *ways[1:]) if each is not begin)]
    for unequal in ways:
        with suppress(OutweighedMaskError):
            try:
                left = left[unequal(actual[left], expected[left], fmt)]
            except ExpansionError:
                if not forms.quantifier.is_patient:
                    raise
                break  # the others expand more sums
    start = 0
    while start < len(left):
        some = left[start : start + (_AT_A_TIME if start else MOST_AT_FIRST)]
        try:
            wrong = some[forms.thorough.unequal(actual[some], expected[some], fmt)]
        except ExpansionError as error:
            if not forms.quantifier.is_patient:
                raise
            return left[start:], str(error)
        start += len(some)
        if len(wrong):
            return np.concatenate([wrong, left[start:]]), None
    return left[:0], None


def with_poles(forms: NormalForms, terms: Ids) -> NDArray[np.bool_]:
    """Tell which terms (n,) are no numbers for all inputs, as far as normal forms have come upon that."""
    if not (forms.poles and len(terms)):
        return np.zeros(len(terms), dtype=bool)
    poles = np.array(sorted(forms.poles), dtype=np.int32)
    found: NDArray[np.bool_] = forms.overflows.within(terms, poles) != NONE
    return found
