"""Conditions of a kernel's own: powers of numbers that begin at an end of their format have none."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.refinement.hypotheses.own_conditions import OwnConditions
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.normal_forms.functions.library_functions import FUNCTIONS, Arithmetic, approximate
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


def softplus(a: Arithmetic, store: TermStore) -> int:
    """Return ``x > 20 ? x : log(1 + exp(min(x, 20)))``, as PyTorch writes it."""
    limit = a.number(20)
    least = int(apply(store, operations.extremum(F32, "min"), a.x, limit))
    grown = a.logarithm(a.plus(a.number(1), a.exponential(least)))
    above = apply(store, operations.compare(F32, "gt"), a.x, limit)
    return int(apply(store, operations.select(32), above, a.x, grown))


@pytest.mark.parametrize(
    ("name", "holds"), [("log(1 + exp(x))", True), ("exp", False), ("exp(x) - 1", False)]
)
@pytest.mark.parametrize("offset", [0.0, -0.5])
def test_powers_in_functions_that_are_written_out(name: str, holds: bool, offset: float) -> None:
    """``log(1 + exp(x))`` is as great as x, whatever the power is in what stands for it."""
    store = TermStore()
    x = Arithmetic(store, F32, int(store.inputs("x", F32, np.array([0]))[0]))
    x.x = x.plus(x.x, x.number(offset)) if offset else x.x
    function = next(each for each in FUNCTIONS if each.name == name)
    actual = np.array([approximate(store, function, x.x)])
    formula = x.times(x.x, x.function("tanh", softplus(x, store)))
    found = OwnConditions(NormalForms(store), actual, np.array([formula])).first()
    assert (found is None) == holds
    if found is not None:
        assert found.hypothesis == "no rounding to f64 overflows"
