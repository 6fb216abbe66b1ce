"""Limits of the arguments of functions that a kernel writes out: what is shown of them below a magnitude."""

from __future__ import annotations

import numpy as np

from ...spec.formats import F32
from ..normal_forms.forms import NormalForms
from ..terms.interning import Ids
from .own_conditions import OwnCondition


def limited_argument(forms: NormalForms, terms: Ids) -> OwnCondition | None:
    """Return that the argument of one of terms (n,) has to be below its limit, where ranges do not tell."""
    for term, argument, written in forms.software.limits(terms):
        one = np.array([argument], dtype=np.int32)
        forms.overflows.ranges.fill(one)
        ((low, high),) = forms.overflows.ranges.read(one, F32)
        if not -written.limit < low <= high < written.limit:
            hypothesis = f"the argument of {written.name} is below {written.limit:g} in magnitude"
            return OwnCondition(term, argument, hypothesis, f"< {written.limit:g}")
    return None
