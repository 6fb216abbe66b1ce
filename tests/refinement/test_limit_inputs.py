"""Faults that show only where a number is just what it is compared with."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.refinement.examine.limit_inputs import limit_inputs
from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F16, F32, S8, UE8M0

from ..elementwise_kernels import result_of


@pytest.mark.parametrize(
    ("body", "formula", "kind"),
    [
        ("setp.eq.f32 %p0, %X, 0f3F9E04E2; selp.f32 %Y, 0f40E00000, %X, %p0;", "X[i]", "f32"),
        ("setp.le.f32 %p0, %X, 0f4B189680; selp.f32 %Y, %X, 0f40400000, %p0;", "X[i]", "f32"),
        ("setp.eq.s32 %p0, %X, -77777; selp.b32 %Y, 5, %X, %p0;", "X[i]", "s32"),
        ("setp.lt.s32 %p0, %X, 1002; selp.b32 %Y, %X, 1000, %p0;", "min(X[i], 1000)", "s32"),
    ],
    ids=["equal-float", "beyond", "equal-integer", "one-more"],
)
def test_a_branch_that_only_a_limit_takes_is_found(body: str, formula: str, kind: str) -> None:
    result = result_of(body, f"Y[i] = {formula}", {"X": kind, "Y": f"{kind} out"})
    assert result.verdict is Verdict.REFUTED


def test_a_conversion_that_is_cut_to_16_bits_is_refuted_beyond_them() -> None:
    body = """cvt.rni.s32.f32 %r1, %X; cvt.s32.s16 %r1, %r1; min.s32 %r1, %r1, 127;
    max.s32 %Y, %r1, -128;"""
    arrays = {"X": "f32", "Y": "s8 out"}
    assert result_of(body, "Y[i] = s8(round(X[i]))", arrays).verdict is Verdict.REFUTED
    whole = body.replace("cvt.s32.s16 %r1, %r1;", "")
    assert result_of(whole, "Y[i] = s8(round(X[i]))", arrays).verdict is Verdict.VERIFIED


QUANTISED = "max.s32 %r1, %r1, 0; min.s32 %Y, %r1, 255;"


@pytest.mark.parametrize(
    ("body", "rounded", "requires"),
    [
        ("add.f32 %f1, %X, 0f3F000000; cvt.rmi.s32.f32 %r1, %f1;", "s32(round(X[i]))", ["abs(X[i]) <= 1e6"]),
        (
            "fma.rn.f32 %f1, %X, 0f40000000, 0f3F000000; cvt.rmi.s32.f32 %r1, %f1;",
            "s32(round(2 * X[i]))",
            ["abs(X[i]) <= 1e6"],
        ),
        ("cvt.rni.s32.f32 %r1, %X; add.s32 %r1, %r1, 128;", "s32(round(X[i])) + 128", []),
    ],
    ids=["half up", "half up of the double", "a sum that wraps"],
)
def test_a_number_that_is_quantised_in_another_way_is_refuted(
    body: str, rounded: str, requires: list[str]
) -> None:
    formula = f"Y[i] = u8(min(max({rounded}, 0), 255))"
    found = result_of(body + QUANTISED, formula, {"X": "f32", "Y": "u8 out"}, requires=requires)
    assert found.verdict is Verdict.REFUTED


def test_limits_and_what_is_next_to_them_are_tried_in_every_format() -> None:
    store = TermStore()
    limit = store.constants(np.float32(1.5).view(np.uint32), 32)
    store.apply(operations.compare(F32, "lt"), store.inputs("X", F32, [0]), limit)
    formats = {"X": (F32, (64,)), "H": (F16, (64,)), "E": (UE8M0, (8,)), "I": (S8, (8,))}
    first, *_ = limit_inputs(formats, store)
    found = {float(number) for number in first["X"].astype(np.uint32).view(np.float32)}
    near = np.float32(1.5)
    assert found == {
        sign * float(each)
        for sign in (1, -1)
        for each in (near, np.nextafter(near, np.float32(2)), np.nextafter(near, np.float32(1)))
    }
    halves = first["H"].astype(np.uint16).view(np.float16)
    assert set(np.abs(halves)) == {np.float16(1.5), np.float16(1.499), np.float16(1.501)}
    assert set(first["I"].tolist()) == {0} and len(first["E"]) == 8


def test_without_comparisons_there_is_nothing_to_try() -> None:
    assert not list(limit_inputs({"X": (F32, (4,))}, TermStore()))
