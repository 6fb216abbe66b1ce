"""Conditions that the formula does not imply, in windows that no tried inputs meet, and their right twins."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ..elementwise_kernels import result_of
from ..forced_equality import equality_forced
from .test_detours import FAR_AND_BACK, ONE, TWO, between, refused, scaled, single

OUT_F16 = {"X": "f32", "Y": "f16 out"}
MIXED = {"A": "f32", "B": "f16", "Y": "f32 out"}
RELU = "max.f32 %f1, %X, 0f00000000;"
GATE = f"setp.gt.f32 %p1, %B, {single(0)}; selp.f32 %f1, %A, {single(1)}, %p1;"
CLAMP = f"max.f32 %f1, %X, {single(-100)}; min.f32 %f1, %f1, {single(100)};"
SOFTMAX = (
    "max.f32 %f9, %A, %B; sub.f32 %f0, %A, %f9; sub.f32 %f3, %B, %f9; ex2.approx.f32 %f1, %f0;"
    "ex2.approx.f32 %f2, %f3; add.f32 %f2, %f2, %f1;"
)
SHARE = "Y[i] = exp2(A[i]) / (exp2(A[i]) + exp2(B[i]))"


def over_f16(source: str, into: str) -> str:
    return f"cvt.rn.f16.f32 %h1, {source}; cvt.f32.f16 {into}, %h1;"


def inside(register: str, least: float, most: float, body: str) -> str:
    """Return instructions whose %f2 is Y only where a register is between two numbers, else B."""
    return (
        f"setp.gt.f32 %p1, {register}, {single(least)}; setp.lt.f32 %p2, {register}, {single(most)};"
        f"and.pred %p1, %p1, %p2; {body} selp.f32 %Y, %f2, %B, %p1;"
    )


class Case(NamedTuple):
    body: str
    formula: str
    arrays: dict[str, str]
    requires: tuple[str, ...]
    """What rules it out."""


DIVIDED = "rcp.rn.f32 %f2, %f1; mul.f32 %f2, %f2, %f1; mul.f32 %f2, %f2, %B;"
EIGHTH = "mul.f32 %f1, %A, %A; mul.f32 %f1, %f1, %f1; mul.f32 %f1, %f1, %f1;"
HALVED = "sqrt.rn.f32 %f1, %f1;" * 3
OWN = {
    "f16 behind an extremum": Case(
        RELU + over_f16("%f1", "%Y"), "Y[i] = relu(X[i])", ONE, ("X[i] <= 65504", "X[i] >= -9e4")
    ),
    "f16 of a magnitude": Case(
        "abs.f32 %f1, %X;" + over_f16("%f1", "%Y"), "Y[i] = abs(X[i])", ONE, ("abs(X[i]) <= 65504",)
    ),
    "f16 of a choice": Case(
        GATE + over_f16("%f1", "%Y"), "Y[i] = where(B[i] > 0, A[i], 1)", TWO, ("abs(A[i]) <= 65504",)
    ),
    "f16 in a window": Case(
        RELU.replace("%f1", "%f9")
        + between(7e4, 70001.0, over_f16("%f9", "%f1")).replace("%f1, %X, %p1", "%f1, %f9, %p1"),
        "Y[i] = relu(X[i])", ONE, ("abs(X[i]) <= 65504",),
    ),
    "f16 before the formula scales": Case(
        over_f16("%X", "%f1") + f"mul.f32 %f1, %f1, {single(2.0**-14)}; cvt.rn.f16.f32 %Y, %f1;",
        f"Y[i] = X[i] * {2.0**-14}", OUT_F16, ("abs(X[i]) <= 65504",),
    ),
    "f16 beside an input of f16": Case(
        RELU.replace("%X", "%A") + over_f16("%f1", "%f1") + "cvt.f32.f16 %f2, %B; mul.f32 %Y, %f1, %f2;",
        "Y[i] = relu(A[i]) * B[i]", MIXED, ("abs(A[i]) <= 65504",),
    ),
    "a product in f16": Case(
        "cvt.rn.f16.f32 %h1, %A; cvt.rn.f16.f32 %h2, %B; mul.f16 %h3, %h1, %h2; cvt.f32.f16 %Y, %h3;",
        "Y[i] = f16(A[i]) * f16(B[i])", TWO, ("abs(A[i]) <= 200", "abs(B[i]) <= 200"),
    ),
    "another power than the one that the formula rounds": Case(
        f"ex2.approx.f32 %f1, %A; {over_f16('%f1', '%f1')} ex2.approx.f32 %f2, %B;"
        f"{over_f16('%f2', '%f2')} add.f32 %Y, %f1, %f2;",
        "Y[i] = f16(exp2(A[i])) + exp2(B[i])", TWO, ("B[i] <= 15",),
    ),
    "a root in f16 beside a number that the formula rounds": Case(
        f"sqrt.rn.f32 %f1, %A; {over_f16('%f1', '%f1')} {over_f16('%B', '%f2')} mul.f32 %Y, %f1, %f2;",
        "Y[i] = f16(B[i]) * sqrt(A[i])", TWO, ("0 <= A[i] <= 9", "abs(B[i]) <= 9"),
    ),
    "a reciprocal in f16 beside a number that the formula rounds": Case(
        f"rcp.rn.f32 %f1, %A; {over_f16('%f1', '%f1')} {over_f16('%B', '%f2')} mul.f32 %Y, %f1, %f2;",
        "Y[i] = f16(B[i]) / A[i]", TWO, ("1 <= A[i] <= 9", "abs(B[i]) <= 9"),
    ),
    "a power of an extremum": Case(
        inside("%B", -3.0, -2.999, "max.f32 %f1, %A, %B; ex2.approx.f32 %f1, %f1;" + DIVIDED),
        "Y[i] = B[i]", TWO, ("abs(A[i]) <= 9", "abs(B[i]) <= 9"),
    ),
    "a power beside an extremum": Case(
        inside("%B", -3.0, -2.999,
               f"max.f32 %f1, %B, {single(0)}; add.f32 %f1, %f1, %A; ex2.approx.f32 %f1, %f1;" + DIVIDED),
        "Y[i] = B[i]", TWO, ("abs(A[i]) <= 9", "abs(B[i]) <= 9"),
    ),
    "a power less an extremum of something else": Case(
        inside("%B", -3.0, -2.999,
               f"max.f32 %f1, %B, {single(0)}; sub.f32 %f1, %A, %f1; ex2.approx.f32 %f1, %f1;" + DIVIDED),
        "Y[i] = B[i]", TWO, ("abs(A[i]) <= 9", "abs(B[i]) <= 9"),
    ),
    "a power less the smaller of two": Case(
        inside("%B", -3.0, -2.999,
               "min.f32 %f1, %A, %B; sub.f32 %f1, %A, %f1; ex2.approx.f32 %f1, %f1;" + DIVIDED),
        "Y[i] = B[i]", TWO, ("abs(A[i]) <= 9", "abs(B[i]) <= 9"),
    ),
    "an eighth power in a window": Case(
        inside("%A", 2.0**30, 2.0**30 + 4096, EIGHTH + "add.f32 %f2, %f1, %B; sub.f32 %f2, %f2, %f1;"),
        "Y[i] = B[i]", TWO, ("abs(A[i]) <= 1000",),
    ),
    "steps up in a window": Case(
        between(1e25, 1.00001e25, scaled(*[2.0**27] * 2, *[2.0**-27] * 2).replace("%Y", "%f1")),
        "Y[i] = X[i]", ONE, ("abs(X[i]) <= 1e20",),
    ),
    "steps down in a window": Case(
        between(1e-25, 1.00001e-25, scaled(*[2.0**-27] * 2, *[2.0**27] * 2).replace("%Y", "%f1")),
        "Y[i] = X[i]", ONE, ("X[i] >= 1e-15",),
    ),
    "a divisor of squares": Case(
        inside("%B", -3.0, -2.999, "mul.f32 %f1, %A, %A; fma.rn.f32 %f1, %B, %B, %f1;" + DIVIDED),
        "Y[i] = B[i]", TWO, ("1 <= A[i] <= 9", "-9 <= B[i] <= -1"),
    ),
    "a divisor that is an extremum": Case(
        inside("%B", -3.0, -2.999, "max.f32 %f1, %A, %B;" + DIVIDED),
        "Y[i] = B[i]", TWO, ("1 <= A[i] <= 1e9",),
    ),
    "a power beside what is opaque": Case(
        inside("%B", -3.0, -2.999,
               "sin.approx.f32 %f1, %B; add.f32 %f1, %f1, %A; ex2.approx.f32 %f1, %f1;" + DIVIDED),
        "Y[i] = B[i]", TWO, ("abs(A[i]) <= 9",),
    ),
    "a comparison beside what is opaque": Case(
        f"sin.approx.f32 %f1, %B; add.f32 %f2, %A, %f1; setp.gt.f32 %p1, %f2, %f1;"
        f"selp.f32 %Y, %A, {single(0)}, %p1;",
        "Y[i] = relu(A[i])", TWO, (),
    ),
    "roots of what an infinity divides": Case(
        between(20.0, 20.001, f"mul.f32 %f1, %X, {single(8)}; ex2.approx.f32 %f1, %f1; rcp.rn.f32 %f1, %f1;"
                + HALVED + "neg.f32 %f2, %X; ex2.approx.f32 %f2, %f2;")
        .replace("%f1, %X, %p1", "%f1, %f2, %p1"),
        "Y[i] = exp2(-X[i])", ONE, ("abs(X[i]) <= 10",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OWN)
def test_a_condition_of_the_kernel_alone_is_asked_for(name: str) -> None:
    each = OWN[name]
    assert "which the formula does not need" in refused(result_of(each.body, each.formula, each.arrays))


@pytest.mark.parametrize("name", [name for name, each in OWN.items() if each.requires])
def test_inputs_that_rule_a_condition_out_are_enough(name: str) -> None:
    each = OWN[name]
    result = result_of(each.body, each.formula, each.arrays, requires=each.requires)
    assert result.verdict == "verified", result.findings


RIGHT = {
    "the formula rounds the extremum": (RELU + over_f16("%f1", "%Y"), "Y[i] = f16(relu(X[i]))", ONE),
    "the formula rounds before": (RELU + over_f16("%f1", "%Y"), "Y[i] = relu(f16(X[i]))", ONE),
    "the kernel rounds before": (
        over_f16("%X", "%f1") + "max.f32 %Y, %f1, 0f00000000;", "Y[i] = f16(relu(X[i]))", ONE,
    ),
    "the formula rounds a side": (
        GATE + over_f16("%f1", "%Y"), "Y[i] = where(B[i] > 0, f16(A[i]), 1)", TWO,
    ),
    "clamped": (CLAMP + over_f16("%f1", "%Y"), "Y[i] = min(max(X[i], -100), 100)", ONE),
    "the output is narrow": (
        "cvt.rn.f16.f32 %h1, %X; mov.b16 %h2, 0; max.f16 %Y, %h1, %h2;", "Y[i] = relu(X[i])", OUT_F16,
    ),
    "powers below 1 in f16": (SOFTMAX + over_f16("%f1", "%f1") + "div.rn.f32 %Y, %f1, %f2;", SHARE, TWO),
    "a share in f16": (SOFTMAX + "div.rn.f32 %f1, %f1, %f2;" + over_f16("%f1", "%Y"), SHARE, TWO),
    "four times an input of f16 in f16": (
        f"cvt.f32.f16 %f1, %B; mul.f32 %f1, %f1, {single(4)};" + over_f16("%f1", "%f1")
        + "mul.f32 %Y, %f1, %A;", "Y[i] = 4 * A[i] * B[i]", MIXED,
    ),
    "the power of an extremum of the formula": (
        f"max.f32 %f1, %B, {single(0)}; ex2.approx.f32 %f1, %f1; ex2.approx.f32 %f2, %A;"
        "mul.f32 %Y, %f1, %f2;", "Y[i] = exp2(A[i]) * exp2(max(B[i], 0))", TWO,
    ),
    "a power up to a constant": (
        f"min.f32 %f1, %A, {single(10)}; ex2.approx.f32 %f1, %f1; mul.f32 %Y, %f1, %B;",
        "Y[i] = exp2(min(A[i], 10)) * B[i]", TWO,
    ),
    "a part of a running maximum": (
        f"max.f32 %f9, %A, %B; max.f32 %f8, %f9, {single(3)}; sub.f32 %f1, %f9, %f8;"
        "ex2.approx.f32 %f1, %f1; neg.f32 %f8, %f8; ex2.approx.f32 %f2, %f8; sub.f32 %Y, %f1, %f2;",
        "Y[i] = exp2(max(A[i], B[i]) - max(A[i], B[i], 3)) - exp2(-max(A[i], B[i], 3))", TWO,
    ),
    "over bf16": (
        RELU + "cvt.rn.bf16.f32 %h1, %f1; cvt.f32.bf16 %Y, %h1;", "Y[i] = relu(X[i])", ONE,
    ),
    "a power of the formula": (
        EIGHTH.replace("%A", "%X") + "mov.f32 %Y, %f1;", "Y[i] = " + " * ".join(["X[i]"] * 8), ONE,
    ),
    "scaled in steps": (scaled(*[2.0**20] * 2), f"Y[i] = X[i] * {2**40}", ONE),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_what_the_formula_implies_stays_verified(name: str) -> None:
    body, formula, arrays = RIGHT[name]
    result = result_of(body, formula, arrays)
    assert result.verdict == "verified", result.findings


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 31))
def test_one_element_of_many_is_found_wherever_it_is(thread: int) -> None:
    window = between(2.0**30, 2.0**30 + 4096, FAR_AND_BACK)
    window = window.replace("selp.f32 %Y", "and.pred %p1, %p1, %p3; selp.f32 %Y")
    result = result_of(f"setp.eq.u32 %p3, %t, {thread}; {window}", "Y[i] = X[i]", ONE)
    assert f"Y[{thread}] is right only if no rounding to f32 overflows" in refused(result)


@settings(max_examples=6, deadline=None)
@given(st.floats(1.0, 1e5, width=32))
def test_a_clamp_is_enough_up_to_the_largest_number_of_f16(limit: float) -> None:
    body = CLAMP.replace(single(100), single(limit)).replace(single(-100), single(-limit))
    result = result_of(body + over_f16("%f1", "%Y"), f"Y[i] = min(max(X[i], {-limit!r}), {limit!r})", ONE)
    assert (result.verdict == "verified") == (limit < 65520), result.findings


def by_f16(power: int, kind: str) -> str:
    """Return instructions that scale X by a power of 2, round it to f16, and scale it back."""
    widened = "cvt.f32.f16 %f1, %X;" if kind == "f16" else "mov.f32 %f1, %X;"
    there, back = single(2.0**power), single(2.0**-power)
    return f"{widened} mul.f32 %f1, %f1, {there}; {over_f16('%f1', '%f1')} mul.f32 %Y, %f1, {back};"


@settings(max_examples=10, deadline=None)
@given(st.integers(-24, -8), st.sampled_from(["f16", "f32"]))
def test_what_is_scaled_below_the_normal_numbers_of_f16_is_a_detour(power: int, kind: str) -> None:
    """Small integers are exact there, most other numbers are not."""
    arrays = {"X": kind, "Y": "f32 out"}
    result = result_of(by_f16(power, kind), "Y[i] = X[i]", arrays, requires=["abs(X[i]) <= 9e4"])
    refused(result)
    if power >= -14:
        least = 2.0 ** (-14 - power)
        result = result_of(by_f16(power, kind), "Y[i] = X[i]", arrays, requires=[f"{least} <= X[i] <= 6e4"])
        assert result.verdict == "verified", result.findings


def test_numbers_that_the_formula_scales_as_far_are_no_detour() -> None:
    body = f"cvt.f32.f16 %f1, %X; mul.f32 %f1, %f1, {single(2.0**-12)}; {over_f16('%f1', '%Y')}"
    result = result_of(body, "Y[i] = f16(X[i] / 4096)", {"X": "f16", "Y": "f32 out"})
    assert result.verdict == "verified", result.findings


def test_scaling_down_in_f16_alone_is_a_detour() -> None:
    body = "mov.b16 %h1, 0x0C00; mul.f16 %h2, %X, %h1; mov.b16 %h1, 0x6C00; mul.f16 %Y, %h2, %h1;"
    result = result_of(body, "Y[i] = X[i]", {"X": "f16", "Y": "f16 out"})
    assert "no rounding to f16 underflows" in refused(result)


INTEGERS = {"A": "s32", "B": "s32", "Y": "f32 out"}
LESS = "Y[i] = where(A[i] < B[i], 2, 1)"
CHOSEN = f"selp.f32 %Y, {single(2)}, {single(1)}, %p1;"


def compared(left: str, right: str, relation: str = "setp.lt.f32") -> str:
    """Return instructions that compare two numbers, %f1 and %f2, made of A and B."""
    return f"{left} {right} {relation} %p1, %f1, %f2; {CHOSEN}"


def both(operation: str) -> str:
    return compared(operation.format("%f1", "%A"), operation.format("%f2", "%B"))


ROUNDED = {
    "twice a number may overflow": both("add.f32 {0}, {1}, {1};"),
    "half a number may underflow": both("mul.f32 {0}, {1}, 0f3F000000;"),
    "three times a number rounds": both("mul.f32 {0}, {1}, 0f40400000;"),
    "bf16": both("cvt.rn.bf16.f32 %h1, {1}; cvt.f32.bf16 {0}, %h1;"),
    "a flushed difference": compared("sub.ftz.f32 %f1, %A, %B;", "mov.f32 %f2, 0f00000000;"),
}
KEPT = {
    "the numbers themselves": both("mov.f32 {0}, {1};"),
    "a difference": compared("sub.f32 %f1, %A, %B;", "mov.f32 %f2, 0f00000000;"),
    "subnormal inputs alone are flushed": both("mov.f32 {0}, {1};").replace("lt.f32", "lt.ftz.f32"),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_a_formula_that_compares_inputs_does_not_ask_for_comparisons_of_rounded_numbers(name: str) -> None:
    message = refused(result_of(ROUNDED[name], LESS, TWO))
    assert "no rounding changes the outcome of a comparison" in message


@pytest.mark.parametrize("name", KEPT)
def test_comparisons_that_no_rounding_turns_stay_verified(name: str) -> None:
    assert result_of(KEPT[name], LESS, TWO).verdict == "verified"


def test_a_formula_that_compares_rounded_numbers_asks_for_it() -> None:
    result = result_of(both("mul.f32 {0}, {1}, 0f40400000;"), "Y[i] = where(3 * A[i] < 3 * B[i], 2, 1)", TWO)
    assert result.verdict == "verified"


def test_twice_a_number_that_can_not_overflow_is_the_number() -> None:
    result = result_of(
        ROUNDED["twice a number may overflow"], LESS, TWO, requires=["abs(A[i]) <= 1e30", "abs(B[i]) <= 1e30"]
    )
    assert result.verdict == "verified"


@pytest.mark.parametrize(("most", "verdict"), [(2**24, "verified"), (2**25, "undecided")])
def test_integers_that_floats_have_are_compared_as_floats(most: int, verdict: str) -> None:
    """The engine does not yet compare them; that it says equal must not be enough."""
    requires = [f"abs(A[i]) <= {most}", f"abs(B[i]) <= {most}"]
    with equality_forced():
        assert (
            result_of(both("cvt.rn.f32.s32 {0}, {1};"), LESS, INTEGERS, requires=requires).verdict == verdict
        )


@pytest.mark.parametrize("factor", [0.125, 2.0, -4.0])
def test_powers_of_two_times_numbers_of_f16_are_compared_as_the_numbers(factor: float) -> None:
    scaled_side = f"cvt.f32.f16 {{0}}, {{1}}; mul.f32 {{0}}, {{0}}, {single(factor)};"
    formula = LESS if factor > 0 else LESS.replace("<", ">")
    arrays = {"A": "f16", "B": "f16", "Y": "f32 out"}
    assert result_of(both(scaled_side), formula, arrays).verdict == "verified"
