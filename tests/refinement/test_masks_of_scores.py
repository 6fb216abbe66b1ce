"""Masks: inputs of two numbers, and finite numbers in the place of -∞ in the exponents of a softmax."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "B": "f32", "M": "u8", "L": "u8", "C": "f32 out"}
SMALL = ["abs(A[i]) <= 50", "abs(B[i]) <= 50"]
SOFTMAX = """setp.ne.u32 %p1, %M, 0; setp.ne.u32 %p2, %L, 0;
selp.f32 %f1, %A, MASK, %p1; selp.f32 %f2, %B, MASK, %p2; max.f32 %f3, %f1, %f2;
sub.f32 %f1, %f1, %f3; mul.f32 %f1, %f1, 0f3FB8AA3B; ex2.approx.f32 %f1, %f1;
sub.f32 %f2, %f2, %f3; mul.f32 %f2, %f2, 0f3FB8AA3B; ex2.approx.f32 %f2, %f2;
add.f32 %f2, %f1, %f2; EPSILON div.rn.f32 %C, %f1, %f2;"""
KEPT, OTHER = "where(M[i] != 0, exp(A[i]), 0)", "where(L[i] != 0, exp(B[i]), 0)"
SMALL_KEPT, SMALL_OTHER = (each.replace("exp(", "exp(0.0009765625 * ") for each in (KEPT, OTHER))
MAXIMUM, BOUNDED = "max.f32 %f3, %f1, %f2;", "max.f32 %f3, %f1, %f2; max.f32 %f3, %f3, 0fCE6E6B28;"
EPSILON = "add.f32 %f2, %f2, 0f3F800000;"
BILLION, TEN_THOUSAND, TWENTY = "0fCE6E6B28", "0fC61C4000", "0fC1A00000"


def softmax(mask: str = BILLION, epsilon: str = "") -> str:
    """Return a softmax of two scores that two bytes keep."""
    return SOFTMAX.replace("MASK", mask).replace("EPSILON", epsilon)


def test_a_finite_mask_is_infinite_where_a_row_without_scores_may_be_anything() -> None:
    found = result_of(softmax(), f"C[i] = {KEPT} / ({KEPT} + {OTHER})", ARRAYS, requires=SMALL)
    assert found.verdict == "verified"
    assert "-1e+09 for -∞ as a mask" in str(found.document())


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        (softmax(mask=TWENTY), f"{KEPT} / ({KEPT} + {OTHER})"),
        (softmax().replace("%A, 0fCE6E6B28, %p1", "0fCE6E6B28, %A, %p1"), f"{KEPT} / ({KEPT} + {OTHER})"),
        (
            softmax(mask=TEN_THOUSAND).replace("0f3FB8AA3B", "0f3AB8AA3B"),
            f"{SMALL_KEPT} / ({SMALL_KEPT} + {SMALL_OTHER})",
        ),
        (softmax(epsilon=EPSILON).replace(MAXIMUM, BOUNDED), f"{KEPT} / ({KEPT} + {OTHER} + 1)"),
        (softmax(epsilon=EPSILON), f"{KEPT} / ({KEPT} + {OTHER} + 1)"),
        (softmax(), f"where(M[i] == 0 and L[i] == 0, 0, {KEPT} / ({KEPT} + {OTHER}))"),
    ],
    ids=[
        "no mask",
        "the other scores",
        "a mask that is scaled",
        "a maximum that is not masked",
        "a number of its own",
        "a row without scores is 0",
    ],
)
def test_other_masks_are_not(body: str, formula: str) -> None:
    assert result_of(body, f"C[i] = {formula}", ARRAYS, requires=SMALL).verdict != "verified"


@pytest.mark.parametrize(
    ("requires", "verdict"),
    [([], "undecided"), (["abs(A[i]) <= 50"], "undecided"), (["abs(B[i]) <= 50"], "verified")],
    ids=["any scores", "the other is bounded", "bounded"],
)
def test_what_scores_may_outweigh_is_no_mask(requires: list[str], verdict: str) -> None:
    body = f"""setp.gt.f32 %p1, %A, 0f00000000; selp.f32 %f1, %A, {TEN_THOUSAND}, %p1;
    max.f32 %f2, %f1, %B; sub.f32 %f1, %f1, %f2; ex2.approx.f32 %C, %f1;"""
    formula = "C[i] = where(A[i] > 0, exp2(A[i] - max(A[i], B[i])), 0)"
    found = result_of(body, formula, {"A": "f32", "B": "f32", "C": "f32 out"}, requires=requires)
    assert found.verdict == verdict, found.findings
    if verdict == "undecided":
        assert "right only if no value outweighs the mask -10000" in found.findings[0].message


@pytest.mark.parametrize(
    ("score", "computed", "requires"),
    [
        ("A[i] * B[i]", "mul.f32 %f2, %A, %B;", ["0 <= A[i] <= 4e4", "-4e4 <= B[i] <= 10"]),
        ("A[i]", "mov.f32 %f2, %A;", ["A[i] == -1e9"]),
    ],
    ids=["where both factors are at an end", "at all inputs"],
)
def test_a_mask_is_outweighed_where_requirements_allow_it(
    score: str, computed: str, requires: list[str]
) -> None:
    body = f"""setp.ne.u32 %p1, %M, 0; {computed} selp.f32 %f1, {BILLION}, %f2, %p1;
    max.f32 %f3, %f1, %f2; sub.f32 %f1, %f1, %f3; ex2.approx.f32 %f1, %f1; sub.f32 %f2, %f2, %f3;
    ex2.approx.f32 %f2, %f2; add.f32 %f2, %f1, %f2; div.rn.f32 %C, %f1, %f2;"""
    power = f"where(M[i] != 0, 0, exp2({score} - {score}))"
    formula = f"C[i] = {power} / ({power} + exp2({score} - {score}))"
    found = result_of(body, formula, {**ARRAYS, "L": "f32"}, requires=requires)
    assert found.verdict == "undecided", found.findings
    assert "right only if no value outweighs the mask -1e+09" in found.findings[0].message


def test_a_masked_number_may_outweigh_what_is_added_to_it() -> None:
    """All other numbers are low then: numbers that are low alone are the same with a mask added to some."""
    body = f"""setp.ne.u32 %p1, %M, 0; selp.f32 %f4, 0f00000000, {TEN_THOUSAND}, %p1; add.f32 %f1, %A, %f4;
    max.f32 %f3, %f1, %B; sub.f32 %f1, %f1, %f3; ex2.approx.f32 %C, %f1;"""
    formula = "C[i] = where(M[i] != 0, exp2(A[i] - max(A[i], B[i])), 0)"
    arrays = {"A": "f32", "B": "f32", "M": "u8", "C": "f32 out"}
    small = [f"abs({each}[i]) <= 10 if i != 7" for each in "AB"]
    some = [f"abs({each}[7]) <= 1e5" for each in "AB"]
    assert result_of(body, formula, arrays, requires=small + some).verdict != "verified"
    none = [f"abs({each}[7]) <= 4000" for each in "AB"]
    assert result_of(body, formula, arrays, requires=small + none).verdict == "verified"


def test_where_the_formula_masks_as_a_number_another_mask_counts() -> None:
    """Where both are masked, an element beside them that is a mask, too, weighs as much as they do."""
    body = softmax(
        epsilon=f"""mov.f32 %f5, {BILLION}; sub.f32 %f5, %f5, %f3; mul.f32 %f5, %f5, 0f3FB8AA3B;
    ex2.approx.f32 %f5, %f5; add.f32 %f2, %f2, %f5;"""
    )
    one, other = "where(M[i] != 0, A[i], -1e9)", "where(L[i] != 0, B[i], -1e9)"
    power, rest = (f"exp({each} - max({one}, {other}))" for each in (one, other))
    formula = f"C[i] = {power} / ({power} + {rest})"
    assert result_of(body, formula, ARRAYS, requires=SMALL).verdict == "refuted"


def test_a_power_of_what_may_outweigh_a_mask_is_not_0() -> None:
    """``exp(x - 1e9 + 1e9 * m)``, with the mask as a product."""
    body = """mov.f32 %f1, 0f3F800000; sub.f32 %f1, %f1, %B; fma.rn.f32 %f1, %f1, 0fCE6E6B28, %A;
    add.f32 %f1, %f1, 0f40A00000; ex2.approx.f32 %C, %f1;"""
    conditions = ["B[i] == 0 or B[i] == 1", "abs(A[i]) <= 5"]
    arrays = {"A": "f32", "B": "f32", "C": "f32 out"}
    found = result_of(body, "C[i] = exp2(A[i] + (1 - B[i]) * -1e9)", arrays, requires=conditions)
    assert found.verdict == "refuted"


BODIES = {
    "product": ("mul.f32 %C, %A, %M;", "where(M[i] == HIGH, HIGH * A[i], 0)"),
    "opposite": (
        "mov.f32 %f1, 0f3F800000; sub.f32 %f1, %f1, %M; fma.rn.f32 %C, %f1, 0fC4800000, %A;",
        "where(M[i] == 0, A[i] - 1024, A[i] + 1024 * (HIGH - 1))",
    ),
    "bits": ("setp.eq.u32 %p1, %M, 0; selp.f32 %C, 0f00000000, %A, %p1;", "where(M[i] == 0, 0, A[i])"),
}


@pytest.mark.parametrize("high", [1, 2])
@pytest.mark.parametrize("name", BODIES)
def test_inputs_of_two_numbers_are_choices_where_they_are_read_as_numbers(name: str, high: int) -> None:
    body, formula = BODIES[name]
    arrays = {"A": "f32", "M": "f32", "C": "f32 out"}
    conditions = [f"M[i] == {high} or 0 == M[i]"]
    right = result_of(body, f"C[i] = {formula.replace('HIGH', str(high))}", arrays, requires=conditions)
    assert right.verdict == ("refuted" if name == "bits" else "verified")  # -0 has other bits
    wrong = result_of(body, f"C[i] = {formula.replace('HIGH', '3')}", arrays, requires=conditions)
    assert wrong.verdict == "refuted"


def test_integers_of_two_numbers_are_choices() -> None:
    body = "cvt.rn.f32.s32 %f1, %M; mul.f32 %C, %A, %f1;"
    arrays = {"A": "f32", "M": "s32", "C": "f32 out"}
    formula = "C[i] = where(M[i] == 5, 5 * A[i], -A[i])"
    for conditions, verdict in ((["M[i] == -1 or M[i] == 5"], "verified"), (["-1 <= M[i] <= 5"], "refuted")):
        assert result_of(body, formula, arrays, requires=conditions).verdict == verdict
