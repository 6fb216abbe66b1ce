"""What is NaN or infinite by constants and selects, though over the reals it cancels, and what is not."""

from __future__ import annotations

import pytest

from mmaproof.refinement.findings.result import Verdict

from ..elementwise_kernels import result_of
from ..online_softmax import AFTER, BEFORE, OnlineSoftmax

ARRAYS = {"A": "f32", "M": "s8", "B": "f32", "C": "f32 out"}
MASKED = "setp.ne.s32 %p1, %M, 0; selp.f32 %f1, %A, 0fFF800000, %p1; "
OF_BOTH = MASKED + "selp.f32 %f2, %B, 0fFF800000, %p1; "

LOG_SUM = (
    "selp.f32 %f2, %B, 0fFF800000, %p1; max.f32 %f4, %f1, %f2; {guard} sub.f32 %f5, %f1, %f4; "
    "ex2.approx.f32 %f6, %f5; sub.f32 %f7, %f2, %f4; ex2.approx.f32 %f8, %f7; add.f32 %f9, %f6, %f8; "
    "lg2.approx.f32 %f10, %f9; add.f32 %C, %f10, %f4;"
)
GUARD = "setp.eq.f32 %p2, %f4, 0fFF800000; selp.f32 %f4, 0f00000000, %f4, %p2;"
LOG_SUM_OF_BOTH = "C[i] = log2(exp2(where(M[i] != 0, A[i], -inf)) + exp2(where(M[i] != 0, B[i], -inf)))"

LOST = {
    "the logarithm of a sum, -∞ in the contract": (MASKED + LOG_SUM.format(guard=""), LOG_SUM_OF_BOTH),
    "an infinity times a sum, distributed": (
        MASKED + "mul.f32 %f2, %f1, %A; fma.rn.f32 %f3, %f1, %B, %f2; ex2.approx.f32 %C, %f3;",
        "C[i] = exp2(where(M[i] != 0, A[i], -inf) * (A[i] + B[i]))",
    ),
    "less itself": (MASKED + "sub.f32 %f2, %f1, %f1; add.f32 %C, %f2, %B;", "C[i] = B[i]"),
    "times 0": (MASKED + "mul.f32 %f2, %f1, 0f00000000; add.f32 %C, %f2, %B;", "C[i] = B[i]"),
    "times its reciprocal": (
        MASKED + "rcp.approx.f32 %f2, %f1; mul.f32 %f3, %f2, %f1; mul.f32 %C, %B, %f3;",
        "C[i] = B[i]",
    ),
    "added and taken away": (MASKED + "add.f32 %f2, %f1, %B; sub.f32 %C, %f2, %f1;", "C[i] = B[i]"),
    "chosen by a sign": (
        "setp.gt.f32 %p1, %A, 0f00000000; selp.f32 %f1, %A, 0f7F800000, %p1; "
        "add.f32 %f2, %f1, %B; sub.f32 %C, %f2, %f1;",
        "C[i] = B[i]",
    ),
    "replaced by a number": (
        MASKED + "sub.f32 %f2, %f1, %f1; add.f32 %f3, %f2, %B; max.f32 %C, %f3, 0f00000000;",
        "C[i] = relu(B[i])",
    ),
    "clamped": (
        MASKED + "sub.f32 %f2, %f1, %f1; add.f32 %f3, %f2, %B; cvt.sat.f32.f32 %C, %f3;",
        "C[i] = min(max(B[i], 0), 1)",
    ),
    "compared": (
        MASKED + "add.f32 %f2, %f1, %B; setp.gt.f32 %p2, %f2, %f1; selp.f32 %C, %B, %A, %p2;",
        "C[i] = where(B[i] > 0, B[i], A[i])",
    ),
    "taken for a number": (
        MASKED + "sub.f32 %f2, %f1, %f1; setp.nan.f32 %p2, %f2, %f2; selp.f32 %f3, 0f40000000, %f2, %p2; "
        "add.f32 %C, %f3, %B;",
        "C[i] = B[i]",
    ),
    "divided by what is 0 for half of the data": (
        "max.f32 %f1, %A, 0f00000000; div.rn.f32 %f2, %B, %f1; mul.f32 %f3, %f2, 0f00000000; "
        "add.f32 %C, %f3, %B;",
        "C[i] = B[i]",
    ),
    "divided by a 0 that is chosen": (
        "setp.ne.s32 %p1, %M, 0; selp.f32 %f1, 0f3F800000, 0f00000000, %p1; div.rn.f32 %f2, %A, %f1; "
        "sub.f32 %f3, %f2, %f2; add.f32 %C, %f3, %B;",
        "C[i] = B[i]",
    ),
    "rounded to a narrow format": (
        MASKED + "sub.f32 %f2, %f1, %f1; cvt.rn.satfinite.e4m3x2.f32 %h1, %f2, %f2; "
        "cvt.rn.f16x2.e4m3x2 %r1, %h1; mov.b32 {%h2, %h3}, %r1; cvt.f32.f16 %f3, %h2; "
        "sub.f32 %f4, %f3, %f3; add.f32 %C, %f4, %B;",
        "C[i] = B[i]",
    ),
    "a tile that is masked as a whole": (
        MASKED + "sub.f32 %f2, %f1, %f1; ex2.approx.f32 %f3, %f2; max.f32 %f4, %f1, %B; "
        "sub.f32 %f5, %f1, %f4; ex2.approx.f32 %f6, %f5; mul.f32 %f7, %f3, %f6; sub.f32 %f8, %B, %f4; "
        "ex2.approx.f32 %f9, %f8; add.f32 %f10, %f7, %f9; div.rn.f32 %C, %f9, %f10;",
        "C[i] = exp2(B[i]) / (exp2(where(M[i] != 0, A[i], -inf)) + exp2(B[i]))",
    ),
}

SOFTMAX = (
    "max.f32 %f4, %f1, {other}; sub.f32 %f5, %f1, %f4; ex2.approx.f32 %f6, %f5; sub.f32 %f8, {other}, %f4; "
    "ex2.approx.f32 %f9, %f8; add.f32 %f10, %f6, %f9; div.rn.f32 %C, %f9, %f10;"
)

KEPT = {
    "the logarithm of a guarded sum": (MASKED + LOG_SUM.format(guard=GUARD), LOG_SUM_OF_BOTH),
    "an infinity times a sum": (
        MASKED + "add.f32 %f2, %A, %B; mul.f32 %f3, %f1, %f2; ex2.approx.f32 %C, %f3;",
        "C[i] = exp2(where(M[i] != 0, A[i], -inf) * (A[i] + B[i]))",
    ),
    "one is masked": (
        MASKED + SOFTMAX.format(other="%B"),
        "C[i] = exp2(B[i]) / (exp2(where(M[i] != 0, A[i], -inf)) + exp2(B[i]))",
    ),
    "all are masked: the divisor is 0": (
        OF_BOTH + SOFTMAX.format(other="%f2"),
        "C[i] = exp2(where(M[i] != 0, B[i], -inf)) "
        "/ (exp2(where(M[i] != 0, A[i], -inf)) + exp2(where(M[i] != 0, B[i], -inf)))",
    ),
    "guarded by a comparison with the infinity": (
        MASKED
        + "setp.eq.f32 %p2, %f1, 0fFF800000; selp.f32 %f2, 0f00000000, %f1, %p2; sub.f32 %f3, %f1, %f2; "
        "ex2.approx.f32 %f3, %f3; max.f32 %f4, %f1, %B; sub.f32 %f5, %f2, %f4; ex2.approx.f32 %f6, %f5; "
        "mul.f32 %f7, %f3, %f6; sub.f32 %f8, %B, %f4; ex2.approx.f32 %f9, %f8; add.f32 %f10, %f7, %f9; "
        "div.rn.f32 %C, %f9, %f10;",
        "C[i] = exp2(B[i]) / (exp2(where(M[i] != 0, A[i], -inf)) + exp2(B[i]))",
    ),
    "a NaN that is not chosen": (
        MASKED + "sub.f32 %f2, %f1, %f1; add.f32 %f2, %f2, %B; selp.f32 %C, %f2, %B, %p1;",
        "C[i] = B[i] + A[i] - A[i]",
    ),
    "a number where the contract has none": (
        "mov.f32 %C, %B;",
        "C[i] = B[i] + where(M[i] != 0, A[i], -inf) - where(M[i] != 0, A[i], -inf)",
    ),
    "an infinity multiplied and added": (
        MASKED + "fma.rn.f32 %C, %f1, %B, %B;",
        "C[i] = where(M[i] != 0, A[i], -inf) * B[i] + B[i]",
    ),
    "a magnitude that divides, as the opposite of the least": (
        "min.f32 %f1, %A, 0f00000000; neg.f32 %f1, %f1; max.f32 %f1, %f1, %A; div.rn.f32 %C, %B, %f1;",
        "C[i] = B[i] / abs(A[i])",
    ),
    "another sum": (MASKED + "add.f32 %C, %B, %f1;", "C[i] = where(M[i] != 0, A[i], -inf) + B[i]"),
}


@pytest.mark.parametrize("name", LOST)
def test_what_is_no_number_is_not_verified(name: str) -> None:
    result = result_of(*LOST[name], ARRAYS)
    assert result.verdict is Verdict.REFUTED
    assert "has no real value: where a select yields an infinity" in result.findings[0].message


@pytest.mark.parametrize("name", KEPT)
def test_what_the_contract_has_no_number_for_either_is_verified(name: str) -> None:
    assert result_of(*KEPT[name], ARRAYS).verdict is Verdict.VERIFIED


EXCUSES = {
    "a NaN that is not chosen": "where(M[i] == 0, B[i], {masked} - {masked} + B[i])",
    "an infinity of a sign by data": "B[i] + 0 * exp2(-abs({masked} * B[i]))",
    "a NaN for data of one sign": "B[i] + where(B[i] > 0, {masked}, 0) - where(B[i] > 0, {masked}, 0)",
    "two infinities, one by the sign of data": "B[i] + 0 * tanh({masked} + where(B[i] > 0, {masked}, A[i]))",
}


@pytest.mark.parametrize("name", EXCUSES)
def test_a_contract_that_may_be_nan_is_no_excuse(name: str) -> None:
    formula = EXCUSES[name].format(masked="where(M[i] != 0, A[i], -inf)")
    body = MASKED + "sub.f32 %f2, %f1, %f1; add.f32 %C, %f2, %B;"
    assert result_of(body, f"C[i] = {formula}", ARRAYS).verdict is not Verdict.VERIFIED


FIRST_MASKED, LAST_MASKED = OnlineSoftmax(((0,), (1, 2)), (0,)), OnlineSoftmax(((0, 1), (2,)), (2,))
ALL_MASKED = OnlineSoftmax(((0,), (1,)), (0, 1))


@pytest.mark.parametrize("scale", ["", BEFORE, AFTER])
@pytest.mark.parametrize("kernel", [FIRST_MASKED, ALL_MASKED], ids=["first", "all"])
def test_an_online_softmax_whose_first_tile_may_be_masked_is_refuted(
    kernel: OnlineSoftmax, scale: str
) -> None:
    assert kernel._replace(scale=scale).result().verdict is Verdict.REFUTED


@pytest.mark.parametrize("scale", ["", BEFORE, AFTER])
def test_an_online_softmax_whose_first_tile_has_a_number_is_verified(scale: str) -> None:
    assert LAST_MASKED._replace(scale=scale).result().verdict is Verdict.VERIFIED


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("zeros", [False, True])
def test_a_row_that_may_be_masked_as_a_whole_is_as_its_contract(guarded: bool, zeros: bool) -> None:
    kernel = OnlineSoftmax(((0, 1),), (0, 1), BEFORE, guarded, zeros)
    assert kernel.result().verdict is Verdict.VERIFIED


OF_A = {"A": "f32", "C": "f32 out"}
INFINITY, LEAST, NAN = "0f7F800000", "0fFF800000", "0f7FC00000"


@pytest.mark.parametrize("constant", [INFINITY, LEAST, NAN])
@pytest.mark.parametrize("name", ["ex2.approx", "lg2.approx", "sqrt.rn", "rsqrt.approx", "sin.approx"])
def test_what_is_nan_behind_a_function_is_refuted(name: str, constant: str) -> None:
    """Times 0 it is no 0, whatever the function makes of both infinities: of data of one sign it is NaN."""
    body = f"mul.f32 %f1, %A, {constant}; {name}.f32 %f2, %f1; fma.rn.f32 %C, %f2, 0f00000000, %A;"
    assert result_of(body, "C[i] = A[i]", OF_A).verdict is Verdict.REFUTED


@pytest.mark.parametrize("constant", ["0fBF800000", "0f00000000"])
@pytest.mark.parametrize("name", ["lg2.approx", "rsqrt.approx"])
def test_functions_of_what_they_have_no_value_at_are_refuted(name: str, constant: str) -> None:
    body = f"mov.b32 %f1, {constant}; {name}.f32 %f2, %f1; fma.rn.f32 %C, %f2, 0f00000000, %A;"
    assert result_of(body, "C[i] = A[i]", OF_A).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        (f"max.f32 %C, %A, {NAN};", "A[i]"),
        (f"min.f32 %f1, {NAN}, %A; add.f32 %C, %f1, %A;", "2 * A[i]"),
        (f"mov.b32 %f1, {INFINITY}; tanh.approx.f32 %f2, %f1; sub.f32 %f3, %f2, %f2; "
         "add.f32 %C, %A, %f3;", "A[i]"),
    ],
)  # fmt: skip
def test_what_a_function_makes_a_number_of_is_verified(body: str, formula: str) -> None:
    assert result_of(body, f"C[i] = {formula}", OF_A).verdict is Verdict.VERIFIED


def test_the_maximum_that_propagates_a_nan_is_refuted() -> None:
    assert result_of(f"max.NaN.f32 %C, %A, {NAN};", "C[i] = A[i]", OF_A).verdict is Verdict.REFUTED


EMPTY_SPLIT = (
    "setp.ne.s32 %p1, %M, 0; ex2.approx.f32 %f1, %A; selp.f32 %f2, %f1, 0f00000000, %p1; "
    "mul.f32 %f3, %f2, %D; {quotient} mul.f32 %f5, %f4, %f2; "
    "ex2.approx.f32 %f6, %B; fma.rn.f32 %f7, %f6, %B, %f5; "
    "add.f32 %f8, %f2, %f6; div.rn.f32 %C, %f7, %f8;"
)
SPLIT = "where(M[i] != 0, exp2(A[i]), 0)"
COMBINED = f"C[i] = ({SPLIT} * D[i] + exp2(B[i]) * B[i]) / ({SPLIT} + exp2(B[i]))"


def test_a_function_of_what_nobody_wrote_is_refuted() -> None:
    """It may be a NaN, whatever it is multiplied with."""
    body = ".reg .f32 %u; ex2.approx.f32 %f1, %u; fma.rn.f32 %C, %f1, 0f00000000, %A;"
    assert result_of(body, "C[i] = A[i]", OF_A).verdict is Verdict.REFUTED


def test_the_quotient_of_an_empty_split_is_refuted() -> None:
    """Its weight is 0, and what is weighted is 0 / 0."""
    body = EMPTY_SPLIT.format(quotient="div.rn.f32 %f4, %f3, %f2;")
    result = result_of(body, COMBINED, {**ARRAYS, "D": "f32"})
    assert result.verdict is Verdict.REFUTED
    assert "has no real value" in result.findings[0].message


def test_an_integer_of_what_is_no_number_is_refuted() -> None:
    body = MASKED + "sub.f32 %f2, %f1, %f1; add.f32 %f3, %f2, %B; cvt.rni.s32.f32 %C, %f3;"
    result = result_of(body, "C[i] = s32(round(B[i]))", {**ARRAYS, "C": "s32 out"})
    assert result.verdict is not Verdict.VERIFIED


def test_numbers_that_only_a_rounding_tells_apart_are_not_taken_for_equal() -> None:
    body = "cvt.rn.f16.f32 %h1, %A; cvt.f32.f16 %f1, %h1; setp.eq.f32 %p1, %f1, %A; selp.f32 %C, %A, %B, %p1;"
    assert result_of(body, "C[i] = where(A[i] == A[i], A[i], B[i])", ARRAYS).verdict is not Verdict.VERIFIED


TIMES_A_SUM = MASKED + "{factor}.f32 %f2, %B; mul.f32 %f3, %f1, %f2; add.f32 %C, %f3, %f1;"
OF_THE_SUM = "C[i] = where(M[i] != 0, A[i], -inf) * ({factor}(B[i]) + 1)"


@pytest.mark.parametrize(("instruction", "function"), [("abs", "abs"), ("sqrt.rn", "sqrt")])
def test_what_is_not_negative_may_be_0(instruction: str, function: str) -> None:
    """Where B is 0, -∞ · 0 is NaN, and -∞ · (0 + 1) is not."""
    body, formula = TIMES_A_SUM.format(factor=instruction), OF_THE_SUM.format(factor=function)
    assert result_of(body, formula, ARRAYS).verdict is not Verdict.VERIFIED


def test_an_exponential_is_not_0() -> None:
    body, formula = TIMES_A_SUM.format(factor="ex2.approx"), OF_THE_SUM.format(factor="exp2")
    assert result_of(body, formula, ARRAYS).verdict is Verdict.VERIFIED


def test_a_number_where_the_contract_is_infinite_is_refuted() -> None:
    body = "max.f32 %f1, %A, 0f00000000; rcp.rn.f32 %f2, %f1; min.f32 %C, %f2, 0f7F7FFFFF;"
    assert result_of(body, "C[i] = 1 / max(A[i], 0)", OF_A).verdict is Verdict.REFUTED


def test_the_minimum_with_the_greatest_number_of_f16_is_not_idle() -> None:
    """The checker objected: data of f32 go beyond it."""
    body = "cvt.rn.f16.f32 %h1, %A; mov.b16 %h2, 0x7BFF; min.f16 %h3, %h1, %h2; cvt.f32.f16 %C, %h3;"
    assert result_of(body, "C[i] = f16(A[i])", OF_A).verdict is not Verdict.VERIFIED
