"""Comparisons are decided where every admissible input decides them so, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.equality.decided_comparisons import DecidedComparisons
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.store import CONSTANT, TermStore, bits
from mmaproof.spec.formats import S32

from ..elementwise_kernels import result_of

CHOSEN = "selp.f32 %C, %A, 0f00000000, %p1;"
FLOATS = {"A": "f32", "C": "f32 out"}
LARGEST, INFINITY, BOUND = "0fFF7FFFFF", "0fFF800000", "0fC2C80000"  # -100
POSITIVE_INFINITY, ZERO = "0f7F800000", "0f00000000"
SMALL, SUBNORMAL = "0f0082AB1E", "0f00366C7D"  # 1.2e-38 and 5e-39
BOUNDED = ["abs(A[i]) <= 100"]


@pytest.mark.parametrize(
    ("comparison", "requires", "holds"),
    [
        (f"setp.gt.f32 %p1, %A, {INFINITY};", [], True),
        (f"setp.gt.f32 %p1, %A, {LARGEST};", [], False),
        (f"setp.gt.f32 %p1, %A, {LARGEST};", BOUNDED, True),
        (f"setp.gt.f32 %p1, %A, {BOUND};", BOUNDED, False),
        (f"setp.leu.f32 %p1, {BOUND}, %A;", BOUNDED, False),
        (f"setp.gt.f32 %p1, %A, {BOUND};", ["abs(A[i]) < 100"], True),
        (f"setp.neu.f32 %p1, %A, {LARGEST};", BOUNDED, True),
        ("setp.num.f32 %p1, %A, %A;", [], True),
        ("mul.f32 %f1, %A, %A; setp.lt.f32 %p1, %f1, 0f461C4400;", BOUNDED, True),  # 10001
        ("mul.f32 %f1, %A, %A; setp.lt.f32 %p1, %f1, 0f461C4000;", BOUNDED, False),  # 10000
        (f"mul.f32 %f1, %A, %A; setp.neu.f32 %p1, %f1, {POSITIVE_INFINITY};", BOUNDED, True),
        (f"mul.f32 %f1, %A, %A; setp.neu.f32 %p1, %f1, {POSITIVE_INFINITY};", ["abs(A[i]) <= 1e30"], False),
        (f"setp.gt.ftz.f32 %p1, %A, {ZERO};", ["1e-40 <= A[i] <= 1"], False),
        (f"setp.gt.ftz.f32 %p1, %A, {ZERO};", ["1e-37 <= A[i] <= 1"], True),
        (
            f"sub.ftz.f32 %f1, {SMALL}, %A; setp.lt.f32 %p1, %f1, {SUBNORMAL};",
            ["1e-38 <= A[i] <= 1.1e-38"],
            False,
        ),
    ],
)
def test_a_comparison_is_decided_for_all_inputs(comparison: str, requires: list[str], holds: bool) -> None:
    result = result_of(comparison + CHOSEN, "C[i] = A[i]", FLOATS, requires=requires)
    assert (result.verdict == "verified") == holds, result.findings


@pytest.mark.parametrize(
    ("requires", "verdict"),
    [
        ("A[i] == 0 if i >= 16", "verified"),
        ("A[i] == 0 if i >= 17", "refuted"),
        ("A[i] == 1 if i >= 16", "refuted"),
    ],
)
@pytest.mark.parametrize("kind", ["f32", "s32"])
def test_what_conditions_make_0_need_not_be_read(kind: str, requires: str, verdict: str) -> None:
    body = "setp.lt.u32 %p1, %t, 16; selp.b32 %C, %A, 0, %p1;"
    arrays = {"A": kind, "C": f"{kind} out"}
    assert result_of(body, "C[i] = A[i]", arrays, requires=[requires]).verdict == verdict


@pytest.mark.parametrize(
    ("formula", "requires", "verdict"),
    [
        ("C[i] = max(A[i], 0)", "A[i] >= 0", "verified"),
        ("C[i] = max(A[i], 0)", "A[i] >= -0.5", "refuted"),
        ("C[i] = min(max(A[i], -1), 6)", "-1 <= A[i] <= 6", "verified"),
        ("C[i] = min(max(A[i], -1), 5.5)", "-1 <= A[i] <= 6", "refuted"),
        ("C[i] = -abs(A[i])", "A[i] <= 0", "verified"),
        ("C[i] = -abs(A[i])", "A[i] <= 1", "refuted"),
    ],
)
def test_an_extremum_is_the_side_that_is_never_beyond(formula: str, requires: str, verdict: str) -> None:
    arrays = {"A": "f32", "C": "f32 out"}
    assert result_of("mov.f32 %C, %A;", formula, arrays, requires=[requires]).verdict == verdict


@pytest.mark.parametrize("least", [0, -1])
def test_an_extremum_of_integers_is_the_side_that_is_never_beyond(least: int) -> None:
    arrays, requires = {"A": "s32", "C": "s32 out"}, [f"A[i] >= {least}"]
    result = result_of("mov.b32 %C, %A;", "C[i] = max(A[i], 0)", arrays, requires=requires)
    assert result.verdict == ("refuted" if least else "verified")


def test_the_greater_of_two_zeros_has_bits_of_its_own() -> None:
    body = "max.f32 %f1, %A, 0f00000000; mov.b32 %r1, %f1; mov.b32 %r2, %A; sub.s32 %C, %r1, %r2;"
    arrays = {"A": "f32", "C": "s32 out"}
    assert result_of(body, "C[i] = 0", arrays, requires=["A[i] >= 0"]).verdict == "refuted"


@pytest.mark.parametrize("body", ["mov.b32 %C, %A;", "mul.rn.f32 %f1, %A, 0f3F800000; mov.b32 %C, %f1;"])
def test_the_bits_of_what_conditions_make_0_are_not_known(body: str) -> None:
    arrays = {"A": "f32", "C": "s32 out"}
    assert result_of(body, "C[i] = 0", arrays, requires=["A[i] == 0"]).verdict == "refuted"


def test_the_reciprocal_of_what_conditions_make_0_is_none() -> None:
    arrays = {"A": "f32", "B": "f32", "C": "f32 out"}
    result = result_of("rcp.rn.f32 %C, %A;", "C[i] = 1 / B[i]", arrays, requires=["A[i] == 0", "B[i] == 0"])
    assert result.verdict != "verified"


def test_what_is_decided_for_finite_inputs_is_said_to_be_of_those() -> None:
    result = result_of(f"setp.gt.f32 %p1, %A, {INFINITY}; {CHOSEN}", "C[i] = A[i]", FLOATS)
    assert result.equality == "value"
    assert any("finite" in str(hypothesis) for hypothesis in result.hypotheses)


PARTS = st.lists(st.sampled_from(["x", "y", "-x", "-y", "1", "6", "7"]), min_size=1, max_size=4)


@settings(max_examples=examples(40), deadline=None)
@given(PARTS, PARTS, st.sampled_from(["eq", "ne"]))
def test_equalities_of_sums_stay_what_they_are(left: list[str], right: list[str], relation: str) -> None:
    width = 3
    store = TermStore()
    leaves = {
        name: store.inputs(name, operations.signed(width), np.arange(64, dtype=np.int64)) for name in "xy"
    }

    def part(text: str) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        name = text.lstrip("-")
        found = leaves.get(name)
        if found is None:
            found = store.constants(np.full(64, int(name)), width)
        return found if name == text else store.apply(operations.negate(bits(width)), found)

    sides = []
    for texts in (left, right):
        total = part(texts[0])
        for each in texts[1:]:
            total = store.apply(operations.ring(width, 0, 2), total, part(each))
        sides.append(total)
    compared = store.apply(operations.compare(operations.signed(width), relation), *sides)
    solved = DecidedComparisons(NormalForms(store)).values(compared)
    x, y = (each.reshape(-1).astype(np.uint64) for each in np.meshgrid(np.arange(8), np.arange(8)))
    values = Assignment(store, {"x": x, "y": y})
    assert (values.values(compared) == values.values(solved)).all()


def test_an_equality_of_a_difference_is_one_of_words() -> None:
    store = TermStore()
    x = store.inputs("x", S32, np.arange(1))
    zero, five = (store.constants(np.array([each]), 32) for each in (0, 5))
    less = store.apply(operations.negate(bits(32)), x)
    equal = operations.compare(S32, "eq")
    one = store.apply(equal, store.apply(operations.ring(32, 0, 2), five, less), zero)
    other = store.apply(equal, x, five)
    found = DecidedComparisons(NormalForms(store)).values(np.concatenate([one, other]))
    assert found[0] == found[1] and not store.are(CONSTANT, found).any()


PAIRS = {"A": "f32", "C": "e4m3 out"}
CONVERTED = "cvt.rn.satfinite.e4m3x2.f32 %h1, 0f00000000, %f1; cvt.u32.u16 %C, %h1; and.b32 %C, %C, 255;"


@pytest.mark.parametrize(
    ("limit", "holds"), [("0f43E00000", True), ("0f43E08000", True), ("0f43D00000", False)]
)
def test_a_clamp_to_what_a_conversion_saturates_at_is_none(limit: str, holds: bool) -> None:
    opposite = limit.replace("0f4", "0fC")
    body = f"max.f32 %f1, %A, {opposite}; min.f32 %f1, %f1, {limit}; {CONVERTED}"
    assert (result_of(body, "C[i] = e4m3(A[i])", PAIRS).verdict == "verified") == holds


def test_a_comparison_of_what_may_overflow_is_not_decided_by_the_range_of_a_wider_format() -> None:
    body = (
        "mul.f32 %f1, %A, %A; cvt.f64.f32 %d1, %f1; setp.lt.f64 %p1, %d1, 0d7E37E43C8800759C; "
        "selp.f32 %C, %A, 0f00000000, %p1;"
    )
    assert result_of(body, "C[i] = A[i]", {"A": "f32", "C": "f32 out"}).verdict != "verified"


def test_a_quotient_by_its_own_magnitude_is_no_number_at_0() -> None:
    body = (
        "abs.f32 %f1, %A; div.rn.f32 %f2, %A, %f1; setp.lt.f32 %p1, %f2, 0f40000000; "
        "selp.f32 %C, 0f3F800000, 0f00000000, %p1;"
    )
    assert result_of(body, "C[i] = 1.0", {"A": "f32", "C": "f32 out"}).verdict != "verified"


@pytest.mark.parametrize(
    "asks",
    [
        "setp.nan.f32 %p1, %A, %A;",
        "mov.b32 %r0, %A; and.b32 %r1, %r0, 2147483647; setp.gt.u32 %p1, %r1, 2139095040;",
    ],
)
def test_an_integer_that_a_nan_decides_over_supposes_that_inputs_are_finite(asks: str) -> None:
    found = result_of(f"{asks} selp.b32 %C, 7, 3, %p1;", "C[i] = 3", {"A": "f32", "C": "s32 out"})
    assert found.verdict == "verified"
    assert "every input is finite" in [hypothesis.statement for hypothesis in found.hypotheses]
