"""Equality of floats: what a rounding does to it is not left to a hypothesis."""

from __future__ import annotations

import pytest

from mmaproof.refinement.findings.result import Verdict

from ..elementwise_kernels import Kernel, result_of

FLOATS = {"A": "f32", "B": "f32", "C": "f32 out"}
NARROWED = "cvt.rn.f16.f32 %h1, %A; cvt.f32.f16 %f1, %h1;"
CHOSEN = "selp.f32 %C, %A, 0f00000000, %p1;"

ROUNDED = {
    "narrowed": (f"{NARROWED} setp.eq.f32 %p1, %f1, %B; {CHOSEN}", "A[i] == B[i]"),
    "narrowed, not equal": (f"{NARROWED} setp.neu.f32 %p1, %f1, %B; {CHOSEN}", "A[i] != B[i]"),
    "narrowed, for a number": (f"{NARROWED} setp.eq.f32 %p1, %f1, 0f3DCCCCCD; {CHOSEN}", "A[i] == 0.1"),
    "product": (f"mul.f32 %f1, %A, %B; setp.eq.f32 %p1, %f1, 0f40400000; {CHOSEN}", "A[i] * B[i] / 3 == 1"),
    "sum": (f"add.f32 %f1, %A, 0f3F800000; setp.eq.f32 %p1, %f1, %B; {CHOSEN}", "A[i] == B[i] - 1"),
    "one is added and taken away": (
        f"add.f32 %f1, %A, 0f3F800000; setp.eq.f32 %p1, %f1, 0f3F800000; {CHOSEN}", "A[i] == 0",
    ),
    "sums that cancel": (
        f"add.f32 %f1, %A, %B; sub.f32 %f1, %f1, %A; setp.eq.f32 %p1, %f1, 0f00000000; {CHOSEN}", "B[i] == 0",
    ),
    "only one side narrowed": (f"setp.eq.f32 %p1, %A, %B; {CHOSEN}", "f16(A[i]) == B[i]"),
    "neither less nor greater": (
        f"{NARROWED} setp.ge.f32 %p2, %f1, %B; setp.le.and.f32 %p1, %f1, %B, %p2; {CHOSEN}",
        "A[i] >= B[i] and A[i] <= B[i]",
    ),
    "between two": (
        f"{NARROWED} setp.ge.f32 %p2, %f1, %B; setp.le.and.f32 %p1, %f1, 0f3F800000, %p2; {CHOSEN}",
        "A[i] >= B[i] and A[i] <= 1",
    ),
    "less or greater": (
        f"{NARROWED} setp.lt.f32 %p2, %f1, %B; setp.gt.or.f32 %p1, %f1, %B, %p2; {CHOSEN}",
        "A[i] < B[i] or A[i] > B[i]",
    ),
    "zero put in": (
        "add.f32 %f1, %A, 0f3F800000; setp.eq.f32 %p1, %f1, 0f3F800000; fma.rn.f32 %f2, %A, %B, %B; "
        "selp.f32 %C, %B, %f2, %p1;",
        None,
    ),
}  # fmt: skip

KEPT = {
    "a sum and 0": ("sub.f32 %f1, %A, %B; setp.eq.f32 %p1, %f1, 0f00000000;", "A[i] == B[i]"),
    "a product and 0": ("mul.f32 %f1, %A, %B; setp.eq.f32 %p1, %f1, 0f80000000;", "A[i] * B[i] == 0"),
    "squares and 0": (
        "mul.f32 %f1, %A, %A; fma.rn.f32 %f1, %B, %B, %f1; setp.eq.f32 %p1, %f1, 0f00000000;",
        "B[i] * B[i] + A[i] * A[i] == 0",
    ),
    "a magnitude and 0": (
        "mul.f32 %f1, %A, %B; abs.f32 %f1, %f1; setp.neu.f32 %p2, %f1, 0f00000000; not.pred %p1, %p2;",
        "abs(A[i] * B[i]) == 0",
    ),
    "neither less nor greater, not rounded": (
        "setp.ge.f32 %p2, %A, %B; setp.le.and.f32 %p1, %A, %B, %p2;",
        "B[i] >= A[i] and A[i] >= B[i]",
    ),
    "the same rounding": (f"{NARROWED} setp.eq.f32 %p1, %B, %f1;", "f16(A[i]) == B[i]"),
    "a number that the format has": (f"{NARROWED} setp.eq.f32 %p1, %f1, %A;", "f16(A[i]) == A[i]"),
    "the greatest of rounded ones": (
        "add.f32 %f1, %A, %B; add.f32 %f1, %f1, 0f3F800000; max.f32 %f3, %f1, %A; setp.eq.f32 %p1, %f1, %f3;",
        "A[i] + (B[i] + 1) == max(A[i], A[i] + (B[i] + 1))",
    ),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_an_equality_that_a_rounding_turns_is_not_verified(name: str) -> None:
    body, condition = ROUNDED[name]
    formula = "C[i] = A[i] * B[i] + B[i]" if condition is None else f"C[i] = where({condition}, A[i], 0)"
    assert result_of(body, formula, FLOATS).verdict is not Verdict.VERIFIED


@pytest.mark.parametrize("name", KEPT)
def test_an_equality_that_no_rounding_turns_is_verified(name: str) -> None:
    body, condition = KEPT[name]
    formula = f"C[i] = where({condition}, A[i], 0)"
    requires = ("abs(A[i]) <= 65504",)  # else numbers overflow in f16, which the formula does not have
    assert result_of(f"{body} {CHOSEN}", formula, FLOATS, requires=requires).verdict is Verdict.VERIFIED


@pytest.mark.parametrize("name", KEPT)
def test_its_opposite_is_refuted(name: str) -> None:
    body, condition = KEPT[name]
    kernel = Kernel(f"{body} {CHOSEN}", f"C[i] = where({condition}, 0, A[i])", FLOATS, ("", ""))
    assert kernel.result().verdict is Verdict.REFUTED
