"""Functions that a kernel writes out and that are shown only for arguments below a magnitude."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import F32
from ..normal_forms.forms import NormalForms
from ..terms.domains import NONE, Reached
from ..terms.interning import Ids
from ..terms.traversal import within


def without_limited(
    forms: NormalForms, actual: Ids, expected: Ids, equal: NDArray[np.bool_], reason: str | None
) -> tuple[NDArray[np.bool_], str | None]:
    """Return which terms (n,) are equal to others without arguments beyond a limit, and why others are not.

    What both sides compute in the same way may be anything.

    Raises
    ------
    UnsupportedError
        If all terms are equal but for that.
    """
    some = equal & (actual != expected)
    own = np.setdiff1d(within(forms.store, actual[some]), within(forms.store, expected[some]))
    beyond = forms.software.recognised and _beyond(forms, own)
    if not beyond:
        return equal, reason
    some &= Reached(forms.store, np.array([*beyond], dtype=np.int32)).values(actual) != NONE
    reason = next(iter(beyond.values()))
    if equal.all() and some.any():
        raise UnsupportedError(reason)
    return equal & ~some, reason


def _beyond(forms: NormalForms, terms: Ids) -> dict[int, str]:
    """Return functions among terms (n,) whose argument may be beyond its limit, and what is said of them."""
    found, ranges = dict[int, str](), forms.overflows.ranges
    for term, argument, written in forms.software.limits(terms):
        one = np.array([argument], dtype=np.int32)
        ranges.fill(one)
        ((low, high),) = ranges.read(one, F32)
        if not -written.limit < low <= high < written.limit:
            found[term] = (
                f"{written.name} is written out in line {int(forms.store.lines(term))}, which is shown for "
                f"arguments of magnitudes below {written.limit:g} alone: state bounds in [requires]"
            )
    return found
