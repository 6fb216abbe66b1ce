"""Sines and cosines by quadrants are recognised, below the limit of their reduction, and nothing else is."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.normal_forms.functions.quadrants import _HALF_PI, _nearest

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "C": "f32 out"}
BOUNDED = ["abs(A[i]) <= 10000"]
SIN = """mul.f32 %f0, %A, 0f3F22F983; cvt.rni.s32.f32 %r0, %f0; cvt.rn.f32.s32 %f1, %r0;
fma.rn.f32 %f2, %f1, 0fBFC90FDA, %A; fma.rn.f32 %f2, %f1, 0fB3A22168, %f2;
fma.rn.f32 %f2, %f1, 0fA7C234C5, %f2; and.b32 %r1, %r0, 1; setp.eq.s32 %p1, %r1, 0;
selp.f32 %f3, %f2, 0f3F800000, %p1; mul.rn.f32 %f4, %f2, %f2; fma.rn.f32 %f5, 0f37CBAC00, %f4, 0fBAB607ED;
selp.f32 %f5, 0fB94D4153, %f5, %p1; selp.f32 %f6, 0f3C0885E4, 0f3D2AAABB, %p1;
fma.rn.f32 %f5, %f5, %f4, %f6; selp.f32 %f6, 0fBE2AAAA8, 0fBEFFFFFF, %p1;
fma.rn.f32 %f5, %f5, %f4, %f6; fma.rn.f32 %f7, %f4, %f3, 0f00000000; fma.rn.f32 %f8, %f5, %f7, %f3;
and.b32 %r2, %r0, 2; setp.eq.s32 %p2, %r2, 0; fma.rn.f32 %f9, %f8, 0fBF800000, 0f00000000;
selp.f32 %C, %f8, %f9, %p2;"""
"""The sine of the device library, without its reduction of great arguments."""

COS = SIN.replace("and.b32 %r1", "add.s32 %r3, %r0, 1; and.b32 %r1").replace("%r1, %r0, 1", "%r1, %r3, 1")
COS = COS.replace("and.b32 %r2, %r0", "and.b32 %r2, %r3")
GREAT = """abs.f32 %f10, %A; setp.ltu.f32 %p0, %f10, 0f47CE4780; mul.f32 %f11, %A, 0f00000000;
selp.f32 %f2, %f2, %f11, %p0; selp.b32 %r0, %r0, 0, %p0; and.b32 %r1"""
"""Another reduction, a wrong one, of arguments from 105615 on."""


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        (SIN, "C[i] = sin(A[i])"),
        (COS, "C[i] = cos(A[i])"),
        (SIN + "neg.f32 %C, %C;", "C[i] = sin(-A[i])"),
        (SIN + "mul.f32 %C, %C, %C;", "C[i] = sin(A[i]) ** 2"),
        (SIN.replace("and.b32 %r1", GREAT, 1), "C[i] = sin(A[i])"),
    ],
)
def test_it_is_recognised(body: str, formula: str) -> None:
    result = result_of(body, formula, ARRAYS, requires=BOUNDED)
    assert result.verdict == "verified", result.findings
    assert any("written out" in hypothesis.statement for hypothesis in result.hypotheses)


def test_its_argument_may_be_computed() -> None:
    body = "mul.f32 %f12, %A, %B;" + SIN.replace("%A", "%f12")
    bounds = ["abs(A[i]) <= 100", "abs(B[i]) <= 1000"]
    result = result_of(body, "C[i] = sin(A[i] * B[i])", ARRAYS | {"B": "f32"}, requires=bounds)
    assert result.verdict == "verified", result.findings


@pytest.mark.parametrize(
    ("body", "limit", "bounds"),
    [
        (SIN, 131072, []),
        (SIN.replace("and.b32 %r1", GREAT, 1), 105615, []),
        (SIN.replace("and.b32 %r1", GREAT, 1), 105615, ["abs(A[i]) <= 105615"]),
    ],
)
def test_the_limit_of_its_argument_is_asked_for(body: str, limit: int, bounds: list[str]) -> None:
    result = result_of(body, "C[i] = sin(A[i])", ARRAYS, requires=bounds)
    assert result.verdict == "unsupported"
    assert any(f"below {limit} alone: state bounds" in each.message for each in result.findings)


def test_the_limit_holds_where_a_comparison_is_decided_by_the_function() -> None:
    body = SIN.replace("and.b32 %r1", GREAT, 1) + (
        "setp.le.f32 %p1, %C, 0f40000000; selp.f32 %C, 0f3F800000, %C, %p1;"
    )
    assert result_of(body, "C[i] = where(sin(A[i]) <= 2, 1, A[i])", ARRAYS).verdict != "verified"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("0f3C0885E4", "0f3C0985E4"),  # a coefficient
        ("0fBF800000, 0f", "0f3F800000, 0f"),  # the sign of the lower half of the period
        ("%r2, %r0, 2", "%r2, %r0, 1"),
        ("%r2, %r0, 2", "%r2, %r0, 4"),
        ("%r1, %r0, 1", "%r1, %r0, 3"),
        ("selp.f32 %f3, %f2, 0f3F800000", "selp.f32 %f3, 0f3F800000, %f2"),
        ("0fBFC90FDA", "0fBFC90FDB"),  # the first part of π/2
        ("0fB3A22168", "0f33A22168"),
        ("0fA7C234C5", "0f00000000"),  # near multiples of π/2 alone
        ("cvt.rni", "cvt.rzi"),
        ("0f3F22F983", "0f3F22F000"),
        ("fma.rn.f32 %f2, %f1, 0fA7C234C5, %f2", "fma.rn.f32 %f2, %f0, 0fA7C234C5, %f2"),
    ],
)
def test_a_fault_is_not_verified(right: str, wrong: str) -> None:
    assert right in SIN
    result = result_of(SIN.replace(right, wrong, 1), "C[i] = sin(A[i])", ARRAYS, requires=BOUNDED)
    assert result.verdict != "verified"


def test_the_places_of_pi_are_those_of_pi() -> None:
    with mpmath.workprec(400):
        off = mpmath.mpf(_HALF_PI.numerator) / _HALF_PI.denominator - mpmath.pi / 2
        assert abs(off) < mpmath.mpf(2) ** -192


@settings(max_examples=examples(100))
@given(st.integers(1, 60_000), st.integers(-1, 1))
def test_no_number_is_nearer_to_a_multiple(multiple: int, step: int) -> None:
    near = np.float32(multiple * np.pi / 2)
    near = near if not step else np.nextafter(near, np.float32(step * np.inf))
    distance = abs((float(near) - multiple * (np.pi / 2)) - multiple * 6.123233995736766e-17)
    assert distance >= _nearest(2.0**17) * (1 - 2.0**-20)
