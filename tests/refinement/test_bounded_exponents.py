"""Conditions of a kernel's own: powers of numbers that begin at an end of their format have none."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.refinement.hypotheses.own_conditions import OwnConditions
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32, F64, FloatFormat

LARGEST = float(np.finfo(np.float32).max)


def first(start: float, scale: float, *, data: FloatFormat = F32) -> str | None:
    """Return a condition of ``2^(scale * (start - max(x, y)))``, the product rounded to f64."""
    store = TermStore()
    x, y = (store.inputs("x", data, np.array([each])) for each in (0, 1))
    greatest = apply(store, operations.extremum(data, "max"), x, y)
    less = apply(store, operations.negate(data), greatest)
    word = np.float32(start).view(np.uint32) if data == F32 else np.float64(start).view(np.uint64)
    difference = apply(
        store, operations.fused(data, (), (data, data)), store.constants(word, data.bits), less
    )
    wide = apply(store, operations.fused(F64, (), (F32,)), difference) if data == F32 else difference
    factor = store.constants(np.float64(scale).view(np.uint64), 64)
    exponent = apply(store, operations.fused(F64, ((F64, F64),)), wide, factor)
    power = store.apply(operations.function("ex2", F64, F64), exponent)
    found = OwnConditions(NormalForms(store), np.asarray(power), np.asarray(x)).first()
    return None if found is None else found.hypothesis


@pytest.mark.parametrize(
    ("start", "scale", "data", "holds"),
    [
        (-LARGEST, np.log2(np.e), F32, True),  # a running maximum begins at the least number
        (-LARGEST, 2.0**40, F32, True),
        (-LARGEST / 2, np.log2(np.e), F32, False),  # both maxima may be less
        (LARGEST, np.log2(np.e), F32, False),
        (-LARGEST, -1.0, F32, False),
        (-LARGEST, np.log2(np.e), F64, False),  # which has lesser numbers
        (-1e300, 2.0**40, F64, False),
    ],
)
def test_powers_of_differences(start: float, scale: float, data: FloatFormat, holds: bool) -> None:
    assert (first(start, scale, data=data) is None) == holds
