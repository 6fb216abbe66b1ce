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
    some, beyond = equal & (actual != expected), _beyond(forms)
    if not beyond or not some.any():
        return equal, reason
    own = np.setdiff1d(np.array([*beyond], dtype=np.int32), within(forms.store, expected[some]))
    found = Reached(forms.store, own).values(actual)
    some &= found != NONE
    if not some.any():
        return equal, reason
    reason = beyond[int(found[some][0])]
    if equal.all():
        raise UnsupportedError(reason)
    return equal & ~some, reason


def _beyond(forms: NormalForms) -> dict[int, str]:
    """Return functions in the store whose argument may be beyond its limit, and what is said of them."""
    found, ranges = dict[int, str](), forms.overflows.ranges
    for term, (argument, written) in forms.software.limited.items():
        one = np.array([argument], dtype=np.int32)
        ranges.fill(one)
        ((low, high),) = ranges.read(one, F32)
        if not -written.limit < low <= high < written.limit:
            found[term] = (
                f"{written.name} is written out in line {int(forms.store.lines(term))}, which is shown for "
                f"arguments of magnitudes below {written.limit:g} alone: state bounds in [requires]"
            )
    return found
