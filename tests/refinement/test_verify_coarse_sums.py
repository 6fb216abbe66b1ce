"""Numbers that are rounded to integers by a great constant, which is taken away again."""

from __future__ import annotations

import pytest

from mmaproof.refinement.findings.result import Verdict

from ..elementwise_kernels import result_of

WIDE = {"X": "f32", "Y": "f32 out"}
POWER = """
    max.f32 %f1, %X, 0fC2C80000;           // -100
    min.f32 %f1, %f1, 0f42C80000;
    add.rn.f32 %f2, %f1, 0f4B40007F;       // 1.5·2^23 + 127
    add.rn.f32 %f3, %f2, 0fCB40007F;
    sub.rn.f32 %f4, %f1, %f3;
    ex2.approx.ftz.f32 %f5, %f4;
    mov.b32 %r1, %f2;
    shl.b32 %r1, %r1, 23;
    mov.b32 %f6, %r1;
    mul.rn.f32 %Y, %f5, %f6;
"""
EXP2 = "Y[i] = exp2(min(max(X[i], -100), 100))"


def test_a_power_split_into_an_integer_and_the_rest_is_verified() -> None:
    result = result_of(POWER, EXP2, WIDE)
    assert result.verdict is Verdict.VERIFIED
    assert result.bound is not None and "no known bound" in result.bound


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("sub.rn.f32 %f4, %f1, %f3;", "mov.b32 %f4, 0f00000000;"),
        ("sub.rn.f32 %f4, %f1, %f3;", "sub.rn.f32 %f4, %f1, %f3; add.rn.f32 %f4, %f4, %f4;"),
        ("sub.rn.f32 %f4, %f1, %f3;", "sub.rn.f32 %f4, %f3, %f1;"),
        ("add.rn.f32 %f3, %f2, 0fCB40007F;", "add.rn.f32 %f3, %f2, 0fCB400080;"),
        ("add.rn.f32 %f3, %f2, 0fCB40007F;", "add.rn.f32 %f3, %f1, 0f00000000;"),
    ],
    ids=["rest-dropped", "rest-twice", "rest-negated", "other-constant", "not-rounded"],
)
def test_the_rest_belongs_to_the_integer(right: str, wrong: str) -> None:
    assert right in POWER
    assert result_of(POWER.replace(right, wrong), EXP2, WIDE).verdict is Verdict.REFUTED


ROUNDED = [
    ("f32", "f32", "add.rn.f32 %f1, %X, 0f4B400000; sub.rn.f32 %Y, %f1, 0f4B400000;"),
    ("f32", "f32", "add.rn.f32 %f1, %X, 0fCB400000; add.rn.f32 %Y, %f1, 0f4B400000;"),
    ("f32", "f32", "add.rn.f32 %f1, %X, 0f47C00000; sub.rn.f32 %Y, %f1, 0f47C00000;"),  # to 1/128
    (
        "f32",
        "f32",
        "add.rn.f32 %f1, %X, 0f4B400000; neg.f32 %f1, %f1; add.rn.f32 %f1, %f1, 0f4B400000; neg.f32 %Y, %f1;",
    ),
    (
        "f32",
        "f32",
        "mov.b32 %f2, 0f3F800000; fma.rn.f32 %f1, %X, %f2, 0f4B400000; fma.rn.f32 %Y, %f1, %f2, 0fCB400000;",
    ),
    (
        "f32",
        "f64",
        "cvt.f64.f32 %d1, %X; mov.f64 %d2, 0d4338000000000000; add.f64 %d1, %d1, %d2; sub.f64 %Y, %d1, %d2;",
    ),
    ("f16", "f16", "mov.b16 %h1, 0x6600; add.rn.f16 %h2, %X, %h1; sub.rn.f16 %Y, %h2, %h1;"),
]


@pytest.mark.parametrize(("read", "written", "body"), ROUNDED)
def test_what_is_rounded_to_integers_is_not_the_number(read: str, written: str, body: str) -> None:
    arrays = {"X": read, "Y": f"{written} out"}
    assert result_of(body, "Y[i] = X[i]", arrays).verdict is Verdict.REFUTED


def test_what_rounding_to_integers_leaves_is_not_nothing() -> None:
    body = "add.rn.f32 %f1, %X, 0f4B400000; sub.rn.f32 %f1, %f1, 0f4B400000; sub.rn.f32 %Y, %X, %f1;"
    assert result_of(body, "Y[i] = 0 * X[i]", WIDE).verdict is Verdict.REFUTED


def test_differences_of_rounded_numbers_are_not_those_of_the_numbers() -> None:
    body = "add.rn.f32 %f1, %X, 0f4B400000; add.rn.f32 %f2, %Z, 0f4B400000; sub.rn.f32 %Y, %f1, %f2;"
    arrays = {"X": "f32", "Z": "f32", "Y": "f32 out"}
    assert result_of(body, "Y[i] = X[i] - Z[i]", arrays).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("formula", "body"),
    [
        ("X[i] + 12582912", "add.rn.f32 %Y, %X, 0f4B400000;"),
        ("X[i] - 12582912 * 3", "add.rn.f32 %f1, %X, 0fCB400000; add.rn.f32 %Y, %f1, 0fCBC00000;"),
        (
            "(X[i] + 1) - 1 + X[i]",
            "add.rn.f32 %f1, %X, 0f3F800000; sub.rn.f32 %f1, %f1, 0f3F800000; add.rn.f32 %Y, %f1, %X;",
        ),
    ],
)
def test_a_constant_that_stays_or_is_small_is_only_rounded(formula: str, body: str) -> None:
    assert result_of(body, f"Y[i] = {formula}", WIDE).verdict is Verdict.VERIFIED


def test_a_constant_that_bits_put_beside_a_number_is_taken_away_exactly() -> None:
    body = "or.b32 %r1, %X, 0x4B000000; mov.b32 %f1, %r1; sub.rn.f32 %Y, %f1, 0f4B000000;"
    assert result_of(body, "Y[i] = X[i]", {"X": "u8", "Y": "f32 out"}).verdict is Verdict.VERIFIED
    inner = body.replace("sub.rn.f32 %Y", "sub.rn.f32 %f1") + "add.rn.f32 %Y, %f1, 0f3F800000;"
    assert result_of(inner, "Y[i] = X[i] + 1", {"X": "u8", "Y": "f32 out"}).verdict is Verdict.VERIFIED


def test_no_bound_is_told_of_functions_of_rounded_numbers() -> None:
    inner = "mul.rn.f32 %f1, %X, %X; add.rn.f32 %f1, %f1, %f1; add.rn.f32 %f1, %f1, %X;"
    for function in ("ex2.approx.f32", "sqrt.rn.f32", "rcp.rn.f32", "tanh.approx.f32"):
        name = {"ex2": "exp2", "rcp": "1 /"}.get(stem := function.partition(".")[0], stem)
        exact = result_of(f"{function} %Y, %X;", f"Y[i] = {name}(X[i])", WIDE)
        rounded = result_of(f"{inner} {function} %Y, %f1;", f"Y[i] = {name}(X[i] * (2 * X[i] + 1))", WIDE)
        assert exact.verdict is rounded.verdict is Verdict.VERIFIED
        assert "no bound" not in (exact.bound or "")
        assert (
            rounded.bound is not None
            and f"no known bound, as rounded values are arguments of {stem}" in rounded.bound
        )
