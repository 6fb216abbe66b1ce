"""Integers that are clamped by comparing and choosing are clamped; by another comparison they are not."""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.equality.equivalence import compare
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import S8, S32, U32, IntegerFormat

from ..elementwise_kernels import result_of

PRODUCT = "mul.lo.s32 %r0, %A, %B; "
CLAMP = (
    "setp.gt.s32 %p0, {0}, 127; selp.b32 %r9, 127, {0}, %p0; "
    "setp.lt.s32 %p0, %r9, -128; selp.b32 {1}, -128, %r9, %p0; "
)
CLAMPED = PRODUCT + CLAMP.format("%r0", "%C")
BESIDE = CLAMPED.replace("gt.s32 %p0, %r0, 127", "ge.s32 %p0, %r0, 128").replace(
    "lt.s32 %p0, %r9, -128", "le.s32 %p0, %r9, -129"
)
OTHERWISE = CLAMPED.replace("gt", "le").replace("127, %r0, %p0", "%r0, 127, %p0")
SHIFTED = PRODUCT + "shr.s32 %r1, %r0, 4; " + CLAMP.format("%r1", "%C")
SHIFTED_LATER = PRODUCT + CLAMP.format("%r0", "%r1") + "shr.s32 %C, %r1, 4;"
FORMULA = "C[i] = min(max(A[i] * B[i], -128), 127)"
OF_SHIFTED = FORMULA.replace("A[i] * B[i]", "(A[i] * B[i]) >> 4")


def verdict(body: str, formula: str, out: str) -> str:
    return result_of(body, formula, {"A": "s8", "B": "s8", "C": f"{out} out"}).verdict


@pytest.mark.parametrize("out", ["s32", "s8"])
@pytest.mark.parametrize(
    ("body", "formula"),
    [(CLAMPED, FORMULA), (BESIDE, FORMULA), (OTHERWISE, FORMULA), (SHIFTED, OF_SHIFTED)],
)
def test_choices_that_clamp_are_verified(body: str, formula: str, out: str) -> None:
    assert verdict(body, formula, out) == "verified"


@pytest.mark.sample(5)
@pytest.mark.parametrize("out", ["s32", "s8"])
@pytest.mark.parametrize(
    ("body", "formula"),
    [
        (CLAMPED.replace("127", "126"), FORMULA),
        (CLAMPED.replace("selp.b32 %r9, 127", "selp.b32 %r9, 126"), FORMULA),
        (CLAMPED.replace("gt.s32", "lt.s32"), FORMULA),
        (CLAMPED.replace("gt.s32", "gt.u32"), FORMULA),
        (CLAMPED.replace("lt.s32", "lt.u32"), FORMULA),
        (BESIDE.replace("%r0, 128", "%r0, 900"), FORMULA),
        (SHIFTED_LATER, OF_SHIFTED),
    ],
)
def test_choices_that_clamp_otherwise_are_refuted(body: str, formula: str, out: str) -> None:
    assert verdict(body, formula, out) == "refuted"


def test_a_comparison_of_sums_that_wrap_is_not_of_the_sums() -> None:
    body = "add.s32 %r0, %A, 1; setp.gt.s32 %p0, %r0, %A; selp.b32 %C, %r0, %A, %p0;"
    arrays = {"A": "s32", "C": "s32 out"}
    assert result_of(body, "C[i] = A[i] + 1", arrays).verdict != "verified"


@settings(max_examples=examples(40), deadline=None)
@given(
    relation=st.sampled_from(sorted(operations.EXTREMES)),
    compared=st.sampled_from([S32, U32, S8]),
    which=st.sampled_from(["max", "min"]),
    of=st.sampled_from([S32, U32]),
    limits=st.tuples(*[st.sampled_from([-2, -1, 0, 1, 2])] * 2),
    wide=st.booleans(),
    turned=st.booleans(),
)
def test_a_choice_that_is_called_an_extremum_is_one(
    relation: str,
    compared: IntegerFormat,
    which: str,
    of: IntegerFormat,
    limits: tuple[int, int],
    wide: bool,
    turned: bool,
) -> None:
    """Numbers around 0 and around the turn of the signs, in whole words and in their lowest bits."""
    store = TermStore()
    x = store.inputs("x", S32, np.arange(1))
    compare_to, chosen = (store.constants([limit & 0xFFFFFFFF], 32) for limit in limits)
    tested = (x, compare_to)
    if compared == S8:
        short = operations.convert(S8, S32, None)
        tested = (apply(store, short, x), store.constants([limits[0] & 0xFF], 8))
    condition = apply(store, operations.compare(compared, relation), *tested)
    sides = (chosen, x) if turned else (x, chosen)
    choice = apply(store, operations.select(32), condition, *sides)
    extremum = apply(store, operations.extremum(of, which), x, chosen)
    read = S8 if wide else S32
    left, right = choice, extremum
    if read == S8:
        left, right = (apply(store, operations.convert(S8, S32, None), each) for each in (left, right))
    equal = bool(compare(NormalForms(store), left, right, read).equal.all())
    numbers = [*range(-4, 5), 0x7FFFFFFF, -0x80000000, 0x7FFFFFFE, 127, 128, -128, -129, 255, 256]
    words = [Assignment(store, {"x": np.array([number & 0xFFFFFFFF], np.uint64)}) for number in numbers]
    same = all(word.values(left) == word.values(right) for word in words)
    assert same or not equal
    if same and compared == of == S32 and read == S32 and relation not in operations.UNSIGNED_RELATIONS:
        assert equal
