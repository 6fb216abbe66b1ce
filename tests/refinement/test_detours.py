"""Hypotheses about detours of a kernel leave it undecided, unless [requires] rules them out."""

from __future__ import annotations

import struct
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.findings.result import Result

from ..elementwise_kernels import result_of

ONE = {"X": "f32", "Y": "f32 out"}
TWO = {"A": "f32", "B": "f32", "Y": "f32 out"}


def single(number: float) -> str:
    return f"0f{struct.pack('>f', number).hex().upper()}"


def scaled(*factors: float, source: str = "%X") -> str:
    """Return instructions that multiply by one factor after another, into Y."""
    lines = [f"mov.f32 %f1, {source};", *(f"mul.f32 %f1, %f1, {single(factor)};" for factor in factors)]
    return "\n".join([*lines, "mov.f32 %Y, %f1;"])


class Detour(NamedTuple):
    body: str
    formula: str
    arrays: dict[str, str]
    hypothesis: str
    requires: list[str]


DETOURS = {
    "root squared": Detour(
        "sqrt.rn.f32 %f1, %X; mul.f32 %Y, %f1, %f1;", "Y[i] = X[i]", ONE, "negative", ["X[i] >= 0"]
    ),
    "power of a logarithm": Detour(
        "lg2.approx.f32 %f1, %X; ex2.approx.f32 %Y, %f1;", "Y[i] = X[i]", ONE, "negative", ["X[i] > 0"]
    ),
    "logarithm of a power": Detour(
        "ex2.approx.f32 %f1, %X; lg2.approx.f32 %Y, %f1;",
        "Y[i] = X[i]",
        ONE,
        "overflows",
        ["abs(X[i]) <= 100"],
    ),
    "quotient times divisor": Detour(
        "div.rn.f32 %f1, %A, %B; mul.f32 %Y, %f1, %B;",
        "Y[i] = A[i]",
        TWO,
        "divisor",
        ["B[i] != 0", "abs(B[i]) <= 1e30"],
    ),
    "root by its reciprocal": Detour(
        "rsqrt.approx.f32 %f1, %X; mul.f32 %Y, %f1, %X;", "Y[i] = sqrt(X[i])", ONE, "divisor", ["X[i] > 0"]
    ),
    "great and back": Detour(
        scaled(2.0**100, 2.0**-100), "Y[i] = X[i]", ONE, "overflows", ["abs(X[i]) <= 2e8"]
    ),
    "tiny and back": Detour(
        scaled(2.0**-100, 2.0**-100, 2.0**100, 2.0**100), "Y[i] = X[i]", ONE, "underflows", ["X[i] > 1e25"]
    ),
    "sigmoid that overflows": Detour(
        f"mul.f32 %f1, %X, {single(1.442695)}; ex2.approx.f32 %f1, %f1; add.f32 %f2, %f1, {single(1)};"
        "div.rn.f32 %Y, %f1, %f2;",
        "Y[i] = sigmoid(X[i])",
        ONE,
        "overflows",
        ["abs(X[i]) <= 80"],
    ),
    "powers that cancel": Detour(
        "mul.f32 %f1, %A, %A; mul.f32 %f1, %f1, %f1; mul.f32 %f1, %f1, %f1; add.f32 %f2, %f1, %B;"
        "sub.f32 %Y, %f2, %f1;",
        "Y[i] = B[i]",
        TWO,
        "overflows",
        ["abs(A[i]) <= 1"],
    ),
    "one thread alone": Detour(
        f"setp.eq.u32 %p1, %t, 5; mul.f32 %f1, %X, {single(2.0**100)}; mul.f32 %f1, %f1, {single(2.0**-100)};"
        "selp.f32 %Y, %f1, %X, %p1;",
        "Y[i] = X[i]",
        ONE,
        "overflows",
        ["abs(X[i]) <= 1000"],
    ),
}


def refused(result: Result) -> str:
    """Return the message of what leaves a kernel undecided."""
    assert result.verdict == "undecided", result.findings
    return result.findings[0].message


@pytest.mark.parametrize("name", DETOURS)
def test_a_detour_of_the_kernel_is_no_hypothesis_of_a_verdict(name: str) -> None:
    each = DETOURS[name]
    result = result_of(each.body, each.formula, each.arrays)
    message = refused(result)
    assert each.hypothesis in message
    assert "which the formula does not need" in message
    assert result.findings[0].line > 0


@pytest.mark.parametrize("name", DETOURS)
def test_conditions_on_inputs_rule_a_detour_out(name: str) -> None:
    each = DETOURS[name]
    result = result_of(each.body, each.formula, each.arrays, requires=each.requires)
    assert result.verdict == "verified", result.findings
    assert result.requires == tuple(each.requires)


@pytest.mark.parametrize("name", ["root squared", "power of a logarithm", "great and back"])
def test_the_condition_that_is_asked_for_is_enough(name: str) -> None:
    each = DETOURS[name]
    condition = refused(result_of(each.body, each.formula, each.arrays)).split('"')[1]
    result = result_of(each.body, each.formula, each.arrays, requires=[condition])
    assert result.verdict == "verified", (condition, result.findings)


@pytest.mark.parametrize("name", ["root squared", "quotient times divisor"])
def test_a_condition_that_does_not_rule_it_out_is_not_enough(name: str) -> None:
    each = DETOURS[name]
    wide = [f"abs({array}[i]) <= 1e6" for array in each.arrays if array != "Y"]
    refused(result_of(each.body, each.formula, each.arrays, requires=wide))


MADE_BY_THE_FORMULA = {
    "quotient": ("div.rn.f32 %Y, %A, %B;", "Y[i] = A[i] / B[i]", TWO),
    "reciprocal": ("rcp.rn.f32 %f1, %B; mul.f32 %Y, %A, %f1;", "Y[i] = A[i] / B[i]", TWO),
    "root": ("sqrt.rn.f32 %f1, %X; mul.f32 %Y, %f1, %X;", "Y[i] = X[i] * sqrt(X[i])", ONE),
    "square": ("mul.f32 %Y, %X, %X;", "Y[i] = X[i] * X[i]", ONE),
    "logarithm": ("lg2.approx.f32 %Y, %X;", "Y[i] = log2(X[i])", ONE),
    "silu": (
        f"mul.f32 %f1, %X, {single(-1.442695)}; ex2.approx.f32 %f1, %f1; add.f32 %f1, %f1, {single(1)};"
        "rcp.approx.f32 %f1, %f1; mul.f32 %Y, %X, %f1;",
        "Y[i] = silu(X[i])",
        ONE,
    ),
    "tanh": (
        f"mul.f32 %f1, %X, {single(2.8853901)}; ex2.approx.f32 %f1, %f1; add.f32 %f1, %f1, {single(1)};"
        f"rcp.approx.f32 %f1, %f1; fma.rn.f32 %Y, %f1, {single(-2)}, {single(1)};",
        "Y[i] = tanh(X[i])",
        ONE,
    ),
    "variance": (
        "sub.f32 %f1, %A, %B; mul.f32 %Y, %f1, %f1;",
        "Y[i] = A[i] * A[i] - 2 * A[i] * B[i] + B[i] * B[i]",
        TWO,
    ),
    "factored": ("add.f32 %f1, %A, %B; mul.f32 %Y, %f1, %A;", "Y[i] = A[i] * A[i] + A[i] * B[i]", TWO),
    "scaled a little": (scaled(0.125, 3.0), "Y[i] = X[i] * 0.375", ONE),
}


@pytest.mark.parametrize("name", MADE_BY_THE_FORMULA)
def test_what_the_formula_makes_too_is_a_hypothesis_of_the_verdict(name: str) -> None:
    body, formula, arrays = MADE_BY_THE_FORMULA[name]
    result = result_of(body, formula, arrays)
    assert result.verdict == "verified", result.findings


@settings(max_examples=8, deadline=None)
@given(st.integers(60, 126), st.integers(60, 126))
def test_scaling_far_and_back_is_refused_whatever_the_powers(up: int, down: int) -> None:
    factors = (
        2.0**up,
        2.0**-down,
        2.0 ** ((down - up) / 2 // 1),
        2.0 ** ((down - up) - (down - up) / 2 // 1),
    )
    refused(result_of(scaled(*factors), "Y[i] = X[i]", ONE))


@settings(max_examples=6, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=4))
def test_scaling_by_small_powers_stays_verified(powers: list[int]) -> None:
    body = scaled(*(2.0**power for power in powers))
    result = result_of(body, f"Y[i] = X[i] * {2.0 ** sum(powers)}", ONE)
    assert result.verdict == "verified", result.findings


def test_a_kernel_that_meets_its_own_hypothesis_on_no_inputs_is_refuted() -> None:
    zero = scaled(2.0**-140, 2.0**-140, 2.0**126, 2.0**126, 2.0**28)
    result = result_of(zero, "Y[i] = X[i]", ONE)
    assert result.verdict == "refuted", result.findings
    turned = (
        f"add.f32 %f1, %X, {single(1e30)}; setp.gt.f32 %p1, %f1, {single(1e30)};"
        f"selp.f32 %Y, %X, {single(0)}, %p1;"
    )
    assert result_of(turned, "Y[i] = relu(X[i])", ONE).verdict in ("refuted", "undecided")


@pytest.mark.parametrize("value", [1.0, 2.0**-100, 2.0**120])
def test_given_numbers_are_held_against_underflow_as_against_overflow(value: float) -> None:
    tiny = scaled(2.0**-100, 2.0**-100, 2.0**100, 2.0**100)
    great = scaled(2.0**100, 2.0**-100)
    verdicts = [result_of(body, "Y[i] = X[i]", ONE, values={"X": [value]}).verdict for body in (tiny, great)]
    assert verdicts == ["verified" if value > 1 else "undecided", "undecided" if value > 1 else "verified"]


def hypotheses(result: Result) -> set[str]:
    assert result.verdict == "verified", result.findings
    return {hypothesis.name for hypothesis in result.hypotheses}


def test_a_literal_of_f64_that_is_compared_is_told_as_a_comparison() -> None:
    body = "cvt.f64.f32 %d1, %X; setp.gt.f64 %p1, %d1, 0d3FB999999999999A; selp.f32 %Y, %X, 0f00000000, %p1;"
    result = result_of(body, "Y[i] = where(X[i] > 0.1, X[i], 0)", ONE)
    assert result.verdict == "undecided"
    assert "no rounding changes the outcome of a comparison" in result.findings[0].message


def test_what_conditions_imply_is_no_hypothesis() -> None:
    body, formula = "div.approx.f32 %f1, %A, %B; add.f32 %Y, %f1, %A;", "Y[i] = A[i] + A[i] / B[i]"
    free = hypotheses(result_of(body, formula, TWO))
    assert {"finite-inputs", "in-domain"} <= free
    nonzero = hypotheses(result_of(body, formula, TWO, requires=["B[i] != 0"]))
    assert "in-domain" not in nonzero
    assert "finite-inputs" in nonzero
    bounded = hypotheses(result_of(body, formula, TWO, requires=["abs(A[i]) <= 9", "1 <= B[i] <= 2"]))
    assert not {"finite-inputs", "in-domain"} & bounded
    one = hypotheses(result_of(body, formula, TWO, requires=["B[i] >= 0", "abs(A[i]) <= 9"]))
    assert {"finite-inputs", "in-domain"} <= one


def test_the_sign_that_a_root_needs_follows_from_conditions() -> None:
    body, formula = "add.f32 %f1, %A, %B; sqrt.approx.f32 %Y, %f1;", "Y[i] = sqrt(B[i] + A[i])"
    assert "in-domain" in hypotheses(result_of(body, formula, TWO, requires=["A[i] >= 0"]))
    both = result_of(body, formula, TWO, requires=["A[i] >= 0", "B[i] >= 0"])
    assert "in-domain" not in hypotheses(both)


def test_a_number_that_underflows_in_a_format_for_all_inputs_is_not_verified() -> None:
    body = "cvt.rn.f16.f32 %h1, %X; cvt.f32.f16 %Y, %h1;"
    nil = result_of(body, "Y[i] = X[i]", ONE, requires=["abs(X[i]) <= 1e-10"])
    assert "underflows to 0" in refused(nil)
    subnormal = result_of(body, "Y[i] = X[i]", ONE, requires=["abs(X[i]) <= 1e-6"])
    assert "whose least normal number is 6.10352e-05" in refused(subnormal)
    assert result_of(body, "Y[i] = X[i]", ONE, requires=["abs(X[i]) <= 1000"]).verdict == "verified"


def test_a_conversion_that_the_formula_makes_may_make_all_numbers_nil() -> None:
    body = "cvt.rn.f16.f32 %h1, %X; cvt.f32.f16 %Y, %h1;"
    result = result_of(body, "Y[i] = f16(X[i])", ONE, requires=["abs(X[i]) <= 1e-10"])
    assert result.verdict == "verified", result.findings


def test_the_root_of_a_power_that_overflows_alone_is_a_detour() -> None:
    body = f"mul.f32 %f1, %X, {single(2)}; ex2.approx.f32 %f1, %f1; sqrt.rn.f32 %Y, %f1;"
    refused(result_of(body, "Y[i] = exp2(X[i])", ONE))
    assert result_of(body, "Y[i] = exp2(X[i])", ONE, requires=["abs(X[i]) <= 50"]).verdict == "verified"


@pytest.mark.parametrize("mask", [-1e4, -65504.0, -1e6])
def test_the_checker_takes_a_power_of_a_mask_for_nil(mask: float) -> None:
    arrays = {"A": "f32", "B": "f32", "Y": "f32 out"}
    body = f"setp.gt.f32 %p1, %B, {single(0)}; selp.f32 %f1, %A, {single(mask)}, %p1; ex2.approx.f32 %Y, %f1;"
    result = result_of(body, "Y[i] = where(B[i] > 0, exp2(A[i]), 0)", arrays)
    assert result.verdict == "verified", result.findings
    unlike = result_of(body, "Y[i] = where(B[i] > 0, exp2(A[i]), 1)", arrays)
    assert unlike.verdict == "refuted"


@pytest.mark.parametrize(
    "body",
    [
        f"fma.rn.f32 %f1, %X, %X, {single(1)}; neg.f32 %f1, %f1; sqrt.rn.f32 %f1, %f1;",
        "ex2.approx.f32 %f1, %X; neg.f32 %f1, %f1; lg2.approx.f32 %f1, %f1;",
        "mul.f32 %f1, %X, %X; neg.f32 %f1, %f1; rsqrt.approx.f32 %f1, %f1;",
    ],
)
def test_a_function_of_what_is_negative_for_all_inputs_is_refuted(body: str) -> None:
    result = result_of(f"{body} sub.f32 %f1, %f1, %f1; add.f32 %Y, %X, %f1;", "Y[i] = X[i]", ONE)
    assert result.verdict == "refuted", result.findings


def between(least: float, most: float, inside: str) -> str:
    """Return instructions that do something to X only between two numbers, into Y."""
    return (
        f"setp.gt.f32 %p1, %X, {single(least)}; setp.lt.f32 %p2, %X, {single(most)}; and.pred %p1, %p1, %p2;"
        f"{inside} selp.f32 %Y, %f1, %X, %p1;"
    )


class Hidden(NamedTuple):
    body: str
    formula: str
    arrays: dict[str, str]
    hypothesis: str
    requires: list[str]


FAR_AND_BACK = f"mul.f32 %f1, %X, {single(2.0**120)}; mul.f32 %f1, %f1, {single(2.0**-120)};"
BESIDE_1 = (
    f"add.f32 %f1, %X, {single(1)}; setp.gt.f32 %p1, %f1, {single(1)}; selp.f32 %Y, %X, {single(0)}, %p1;"
)
HIDDEN = {
    "a product in a window": Hidden(
        between(2.0**30, 2.0**30 + 4096, FAR_AND_BACK), "Y[i] = X[i]", ONE, "overflows", ["abs(X[i]) <= 100"]
    ),
    "a product in a window of one number": Hidden(
        between(300.0, 300.00006, FAR_AND_BACK), "Y[i] = X[i]", ONE, "overflows", ["abs(X[i]) <= 100"]
    ),
    "an underflow in a window": Hidden(
        between(3.0, 3.000001, scaled(2.0**-120, 2.0**-60, 2.0**120, 2.0**60).replace("%Y", "%f1")),
        "Y[i] = X[i]", ONE, "underflows", ["X[i] >= 1e20"],
    ),
    "a logarithm in a window": Hidden(
        between(-5.5, -5.499999, "lg2.approx.f32 %f1, %X; ex2.approx.f32 %f1, %f1;"),
        "Y[i] = X[i]", ONE, "logarithm", ["X[i] >= 1"],
    ),
    "a root in a window": Hidden(
        between(-5.5, -5.499999, "sqrt.rn.f32 %f1, %X; mul.f32 %f1, %f1, %f1;"),
        "Y[i] = X[i]", ONE, "root", ["X[i] >= 0"],
    ),
    "a power in a window": Hidden(
        between(200.0, 200.00002, "ex2.approx.f32 %f1, %X; lg2.approx.f32 %f1, %f1;"),
        "Y[i] = X[i]", ONE, "overflows", ["abs(X[i]) <= 100"],
    ),
    "a divisor in a window": Hidden(
        between(-1e-30, 1e-30, "div.rn.f32 %f1, %X, %X; mul.f32 %f1, %f1, %X;"),
        "Y[i] = X[i]", ONE, "divisor", ["X[i] != 0"],
    ),
    "a quotient of powers": Hidden(
        "ex2.approx.f32 %f1, %A; ex2.approx.f32 %f2, %B; div.rn.f32 %Y, %f1, %f2;",
        "Y[i] = exp2(A[i] - B[i])", TWO, "overflows", ["abs(A[i]) <= 60", "abs(B[i]) <= 60"],
    ),
    "over f16 and back": Hidden(
        "cvt.rn.f16.f32 %h1, %X; cvt.f32.f16 %Y, %h1;", "Y[i] = X[i]", ONE, "f16", ["abs(X[i]) <= 65504"]
    ),
    "a product over f16": Hidden(
        "mul.f32 %f1, %A, %B; cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %Y, %h1;",
        "Y[i] = A[i] * B[i]", TWO, "f16", ["abs(A[i]) <= 100", "abs(B[i]) <= 100"],
    ),
    "absorbed by 1 in a comparison": Hidden(
        BESIDE_1,
        "Y[i] = relu(X[i])", ONE, "changes the outcome", [],
    ),
    "absorbed by data in a comparison": Hidden(
        f"add.f32 %f1, %A, %B; setp.gt.f32 %p1, %f1, %B; selp.f32 %Y, %A, {single(0)}, %p1;",
        "Y[i] = relu(A[i])", TWO, "changes the outcome", [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HIDDEN)
def test_a_condition_that_is_not_implied_is_found_without_inputs(name: str) -> None:
    each = HIDDEN[name]
    result = result_of(each.body, each.formula, each.arrays)
    message = refused(result)
    assert each.hypothesis in message
    assert "which the formula does not need" in message
    assert result.findings[0].line > 0
    if each.requires:
        implied = result_of(each.body, each.formula, each.arrays, requires=each.requires)
        assert implied.verdict == "verified", implied.findings


IMPLIED = {
    "exp as a power of two": (
        f"mul.f32 %f1, %X, {single(1.442695)}; ex2.approx.f32 %Y, %f1;", "Y[i] = exp(X[i])", ONE,
    ),
    "a bell": (
        f"mul.f32 %f1, %X, %X; mul.f32 %f1, %f1, {single(-1.442695)}; ex2.approx.f32 %Y, %f1;",
        "Y[i] = 1 / exp(X[i] * X[i])", ONE,
    ),
    "a power that is shifted a little": (
        f"add.f32 %f1, %X, {single(8)}; ex2.approx.f32 %f1, %f1; mul.f32 %Y, %f1, {single(2.0**-8)};",
        "Y[i] = exp2(X[i])", ONE,
    ),
    "the product of powers": (
        "add.f32 %f1, %A, %B; ex2.approx.f32 %Y, %f1;", "Y[i] = exp2(A[i]) * exp2(B[i])", TWO,
    ),
    "a root by its reciprocal": (
        "rsqrt.approx.f32 %f1, %B; mul.f32 %Y, %A, %f1;", "Y[i] = A[i] / sqrt(B[i])", TWO,
    ),
    "the root of a sum of squares": (
        "mul.f32 %f1, %A, %A; fma.rn.f32 %f1, %B, %B, %f1; sqrt.rn.f32 %Y, %f1;",
        "Y[i] = sqrt(A[i] * A[i] + B[i] * B[i])", TWO,
    ),
    "a softmax of two": (
        "max.f32 %f9, %A, %B; sub.f32 %f0, %A, %f9; sub.f32 %f3, %B, %f9; ex2.approx.f32 %f1, %f0;"
        "ex2.approx.f32 %f2, %f3; add.f32 %f2, %f2, %f1; div.rn.f32 %Y, %f1, %f2;",
        "Y[i] = exp2(A[i]) / (exp2(A[i]) + exp2(B[i]))", TWO,
    ),
    "a comparison of sums": (
        f"add.f32 %f1, %A, %B; setp.gt.f32 %p1, %f1, {single(0)}; selp.f32 %Y, %f1, {single(0)}, %p1;",
        "Y[i] = relu(A[i] + B[i])", TWO,
    ),
    "a comparison that the formula makes": (
        BESIDE_1,
        "Y[i] = where(X[i] + 1 > 1, X[i], 0)", ONE,
    ),
    "a number in f16 where the formula has it": (
        "cvt.rn.f16.f32 %h1, %X; cvt.f32.f16 %Y, %h1;", "Y[i] = f16(X[i])", ONE,
    ),
    "a great constant of the formula": (
        f"mul.f32 %Y, %X, {single(2.0**100)};", f"Y[i] = X[i] * {2**100}", ONE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", IMPLIED)
def test_a_condition_that_the_formula_implies_is_no_detour(name: str) -> None:
    body, formula, arrays = IMPLIED[name]
    result = result_of(body, formula, arrays)
    assert result.verdict == "verified", result.findings


@settings(max_examples=8, deadline=None)
@given(st.integers(-60, 60), st.integers(-60, 60), st.sampled_from([2.0, 0.5, 3.0, -1.0]))
def test_powers_are_bounded_by_those_of_the_formula_alone(least: int, shift: int, factor: float) -> None:
    """A power of factor·A in a window, divided by itself: its overflow is nothing that the formula has."""
    window = f"setp.gt.f32 %p1, %B, {single(least)}; setp.lt.f32 %p2, %B, {single(least + 2.0**-10)};"
    power = f"fma.rn.f32 %f1, %A, {single(factor)}, {single(shift)}; ex2.approx.f32 %f1, %f1;"
    back = "rcp.rn.f32 %f2, %f1; mul.f32 %f2, %f2, %f1; mul.f32 %f2, %f2, %B;"
    body = f"{window} and.pred %p1, %p1, %p2; {power} {back} selp.f32 %Y, %f2, %B, %p1;"
    refused(result_of(body, "Y[i] = B[i]", TWO))


def test_a_power_that_only_divides_may_be_infinite() -> None:
    body = (
        f"mul.f32 %f1, %X, {single(1.442695)}; ex2.approx.f32 %f1, %f1; add.f32 %f1, %f1, {single(1)};"
        f"rcp.approx.f32 %f1, %f1; sub.f32 %Y, {single(1)}, %f1;"
    )
    result = result_of(body, "Y[i] = sigmoid(X[i])", ONE)
    assert result.verdict == "verified", result.findings
    itself = "ex2.approx.f32 %f1, %X; div.rn.f32 %f1, %f1, %f1; mul.f32 %Y, %f1, %X;"
    refused(result_of(itself, "Y[i] = X[i]", ONE))


HALF = {"X": "f16", "Y": "f32 out"}
HALVES = {"A": "f16", "B": "f16", "Y": "f32 out"}
IN_F16 = {
    "a square": ("mul.f16 %h1, %X, %X; cvt.f32.f16 %Y, %h1;", "Y[i] = X[i] * X[i]", HALF, 200),
    "a product": ("mul.f16 %h1, %A, %B; cvt.f32.f16 %Y, %h1;", "Y[i] = A[i] * B[i]", HALVES, 200),
    "a root of squares": (
        "mul.f16 %h1, %A, %A; fma.rn.f16 %h1, %B, %B, %h1; cvt.f32.f16 %f1, %h1; sqrt.rn.f32 %Y, %f1;",
        "Y[i] = sqrt(A[i] * A[i] + B[i] * B[i])", HALVES, 150,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_F16)
def test_what_f16_can_not_hold_of_its_products_is_found(name: str) -> None:
    """Inputs of f16 go as far as f16: what the formula makes of them in f32 is far from the ends of that."""
    body, formula, arrays, most = IN_F16[name]
    assert "no rounding to f16 overflows" in refused(result_of(body, formula, arrays))
    within = [f"1 <= {array}[i] <= {most}" for array in arrays if array != "Y"]
    result = result_of(body, formula, arrays, requires=within)
    assert result.verdict == "verified", result.findings


def test_a_product_in_f16_that_the_formula_rounds_to_f16_is_no_detour() -> None:
    body = "mul.f16 %h1, %A, %B; cvt.f32.f16 %Y, %h1;"
    result = result_of(body, "Y[i] = f16(A[i] * B[i])", HALVES)
    assert result.verdict == "verified", result.findings


def test_a_maximum_that_begins_with_nil_lets_all_powers_underflow() -> None:
    """All of many numbers are negative in one of so many inputs only that are drawn with either sign."""
    names = "ABCDEFGH"
    most = f"max({', '.join(f'{name}[i]' for name in names)})"
    powers = [f"exp2({name}[i] - {most})" for name in names]
    body = f"mov.f32 %f1, {single(0)}; mov.f32 %f3, {single(0)};"
    body += "".join(f"max.f32 %f1, %f1, %{name};" for name in names)
    body += "".join(
        f"sub.f32 %f2, %{name}, %f1; ex2.approx.f32 %f2, %f2; add.f32 %f3, %f3, %f2;"
        for name in reversed(names)
    )
    result = result_of(
        body + "div.rn.f32 %Y, %f2, %f3;",
        f"Y[i] = {powers[0]} / ({' + '.join(powers)})",
        {**dict.fromkeys(names, "f32"), "Y": "f32 out"},
    )
    assert "divisor" in refused(result)


def test_a_kernel_without_inputs_has_no_detour() -> None:
    body = f"mov.f32 %f1, {single(1.5)}; ex2.approx.f32 %f1, %f1; mul.f32 %Y, %f1, {single(3)};"
    result = result_of(body, "Y[i] = 3 * exp2(1.5)", {"Y": "f32 out"})
    assert result.verdict == "verified", result.findings
