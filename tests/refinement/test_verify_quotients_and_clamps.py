"""Quotients of terms, which are products with reciprocals; bounds that only large or small numbers reach."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "B": "f32", "C": "f32 out"}


@pytest.mark.parametrize("how", ["rn", "full", "approx.ftz"])
@pytest.mark.parametrize(
    ("body", "formula"),
    [
        ("div.{how}.f32 %C, %A, %B;", "A[i] * rcp(B[i])"),
        (
            "add.f32 %f0, %A, %B; div.{how}.f32 %f1, %B, %f0; mul.f32 %C, %f1, %A;",
            "A[i] * B[i] * rcp(A[i] + B[i])",
        ),
        ("mov.f32 %f0, 0f3F800000; div.{how}.f32 %f1, %f0, %B; mul.f32 %C, %f1, %A;", "A[i] * rcp(B[i])"),
    ],
)
def test_a_quotient_is_a_product_with_a_reciprocal(body: str, formula: str, how: str) -> None:
    result = result_of(body.format(how=how), f"C[i] = {formula}", ARRAYS)
    assert (result.verdict, result.equality) == ("verified", "value")
    swapped = formula.replace("A", "X").replace("B", "A").replace("X", "B")
    wrong = result_of(body.format(how=how), f"C[i] = {swapped} * A[i]", ARRAYS)
    assert wrong.verdict == "refuted"


@pytest.mark.parametrize("how", ["rn", "full"])
def test_a_quotient_by_zero_equals_nothing(how: str) -> None:
    body = f"mov.f32 %f0, 0f00000000; div.{how}.f32 %f1, %A, %f0; sub.f32 %C, %f1, %f1;"
    assert result_of(body, "C[i] = 0.0", {"A": "f32", "C": "f32 out"}).verdict != "verified"


@pytest.mark.parametrize("how", ["rn", "full"])
def test_a_quotient_of_an_infinity_equals_nothing(how: str) -> None:
    body = f"mov.f32 %f0, 0f7F800000; div.{how}.f32 %f1, %f0, %A; sub.f32 %C, %f1, %f1;"
    assert result_of(body, "C[i] = 0.0", {"A": "f32", "C": "f32 out"}).verdict != "verified"


APPROXIMATIONS_OF_NO_NUMBER = {
    "rcp.approx.f32": "0f00000000",
    "rcp.approx.ftz.f32": "0f80000000",
    "rcp.rz.f32": "0f80000000",
    "rsqrt.approx.f32": "0f00000000",
    "rsqrt.approx.ftz.f32": "0fBF800000",
    "sqrt.approx.f32": "0f7F800000",
    "lg2.approx.f32": "0f00000000",
    "lg2.approx.ftz.f32": "0fC0000000",
    "ex2.approx.f32": "0f7F800000",
    "sin.approx.f32": "0fFF800000",
}


@pytest.mark.parametrize("function", APPROXIMATIONS_OF_NO_NUMBER)
def test_a_function_that_is_no_number_equals_nothing(function: str) -> None:
    number = APPROXIMATIONS_OF_NO_NUMBER[function]
    body = f"mov.f32 %f0, {number}; {function} %f1, %f0; mul.f32 %f2, %A, %f1; sub.f32 %C, %f2, %f2;"
    assert result_of(body, "C[i] = 0.0", {"A": "f32", "C": "f32 out"}).verdict != "verified"


@pytest.mark.parametrize(
    ("function", "number", "value"),
    [("rcp.approx.f32", "0f7F800000", 0), ("ex2.approx.f32", "0fFF800000", 0),
     ("tanh.approx.f32", "0f7F800000", 1), ("ex2.approx.ftz.f32", "0f00000000", 1),
     ("sqrt.approx.f32", "0f00000000", 0)],
)  # fmt: skip
def test_a_function_of_a_special_value_is_the_number_that_the_manual_says(
    function: str, number: str, value: int
) -> None:
    body = f"mov.f32 %f0, {number}; {function} %f1, %f0; fma.rn.f32 %C, %A, %f1, %A;"
    assert result_of(body, f"C[i] = {1 + value} * A[i]", {"A": "f32", "C": "f32 out"}).verdict == "verified"
    assert result_of(body, f"C[i] = {2 - value} * A[i]", {"A": "f32", "C": "f32 out"}).verdict == "refuted"


@pytest.mark.parametrize("bound", [0.0, 0.001, 100.0, 400.0])
@pytest.mark.parametrize("which", ["min", "max"])
def test_a_wrong_bound_is_shown_by_numbers_on_either_side_of_it(bound: float, which: str) -> None:
    arrays = {"A": "f32", "C": "f32 out"}
    clamp = f"{which}(A[i], {{}})"
    body = f"mov.f32 %f0, {bound}; {which}.f32 %C, %A, %f0;"
    assert result_of(body, f"C[i] = {clamp.format(bound)}", arrays).verdict == "verified"
    assert result_of(body, f"C[i] = {clamp.format(2 * bound + 0.001)}", arrays).verdict == "refuted"
    assert result_of(body, "C[i] = A[i]", arrays).verdict == "refuted"


ZERO = "sub.f32 %f0, %A, %A; "


@pytest.mark.parametrize("formula", ["C[i] = A[i] - A[i]", "C[i] = 1"])
@pytest.mark.parametrize(
    "body",
    [
        ZERO + "div.rn.f32 %C, %f0, %f0;",
        ZERO + "rcp.rn.f32 %f1, %f0; mul.f32 %C, %f0, %f1;",
        ZERO + "rsqrt.approx.f32 %f1, %f0; mul.f32 %C, %f0, %f1;",
        ZERO + "lg2.approx.f32 %f1, %f0; mul.f32 %C, %f0, %f1;",
    ],
)
def test_nothing_is_equal_to_what_has_0_as_divisor_for_all_inputs(body: str, formula: str) -> None:
    """Under the hypothesis that no divisor is 0, anything would be."""
    result = result_of(body, formula, {"A": "f32", "C": "f32 out"})
    assert result.verdict in ("refuted", "undecided")


ZEROS = {
    "a product with 0": "mul.f32 %f0, %A, 0f00000000;",
    "a difference": "sub.f32 %f0, %A, %A;",
    "a fused product with 0": "fma.rn.f32 %f0, %A, 0f00000000, 0f00000000;",
    "a difference times data": "sub.f32 %f0, %A, %A; mul.f32 %f0, %f0, %B;",
    "a difference of what is rounded": "mul.f32 %f0, %A, 0f3EAAAAAB; mul.f32 %f9, %A, 0f3EAAAAAB; "
    "sub.f32 %f0, %f0, %f9;",
    "a sum of zeros": "mul.f32 %f0, %A, 0f00000000; mul.f32 %f9, %B, 0f00000000; add.f32 %f0, %f0, %f9;",
}
SPECIAL = {
    "0 / 0": "div.rn.f32 %f1, %f0, %f0;",
    "0 * (1 / 0)": "rcp.rn.f32 %f1, %f0; mul.f32 %f1, %f1, %f0;",
    "1/0 - 1/0": "rcp.approx.f32 %f1, %f0; sub.f32 %f1, %f1, %f1;",
    "0 * inf": "mul.f32 %f1, %f0, 0f7F800000;",
    "inf - inf": "add.f32 %f1, %f0, 0f7F800000; sub.f32 %f1, %f1, %f1;",
    "0 * rsqrt(0)": "rsqrt.approx.f32 %f1, %f0; mul.f32 %f1, %f1, %f0;",
    "0 * log2(0)": "lg2.approx.f32 %f1, %f0; mul.f32 %f1, %f1, %f0;",
}
USES = {
    "an addend": "add.f32 %C, %f1, %B;",
    "a fused addend": "fma.rn.f32 %C, %B, 0f3F800000, %f1;",
    "in a power": "ex2.approx.f32 %f1, %f1; mul.f32 %C, %f1, %B;",
    "in a maximum that keeps NaN": "max.NaN.f32 %C, %f1, %B;",
    "chosen by data": "setp.gt.f32 %p1, %A, 0f00000000; selp.f32 %f1, %f1, 0f00000000, %p1; "
    "add.f32 %C, %f1, %B;",
    "summed over the warp": "add.f32 %f1, %f1, %B; shfl.sync.bfly.b32 %f2, %f1, 16, 31, 0xffffffff; "
    "add.f32 %C, %f1, %f2; sub.f32 %C, %C, %f2;",
}


@pytest.mark.sample(14)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("special", SPECIAL)
@pytest.mark.parametrize("zero", ["a product with 0", "a difference of what is rounded"])
def test_what_is_nan_for_all_inputs_is_refuted(zero: str, special: str, use: str) -> None:
    body = " ".join((ZEROS[zero], SPECIAL[special], USES[use]))
    assert result_of(body, "C[i] = B[i]", {"A": "f32", "B": "f32", "C": "f32 out"}).verdict == "refuted"


@pytest.mark.parametrize("zero", ZEROS)
def test_every_0_that_divides_for_all_inputs_is_found(zero: str) -> None:
    body = " ".join((ZEROS[zero], SPECIAL["0 / 0"], USES["an addend"]))
    assert result_of(body, "C[i] = B[i]", {"A": "f32", "B": "f32", "C": "f32 out"}).verdict == "refuted"


def test_what_is_0_for_some_inputs_only_stays_a_hypothesis() -> None:
    body = "sub.f32 %f0, %A, %B; div.rn.f32 %C, %B, %f0;"
    arrays = {"A": "f32", "B": "f32", "C": "f32 out"}
    assert result_of(body, "C[i] = B[i] / (A[i] - B[i])", arrays).verdict == "verified"
