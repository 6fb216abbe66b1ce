"""High bits of an f32 are what the conversion toward zero gives: one function, one verdict."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement import operations
from mmaproof.refinement.assignments import Assignment
from mmaproof.refinement.bit_slices import extract
from mmaproof.refinement.equivalence import compare
from mmaproof.refinement.normal_forms import NormalForms
from mmaproof.refinement.slices import Field, Slice, filled, join
from mmaproof.refinement.terms import TermStore
from mmaproof.refinement.truncated_floats import TruncatedFloats
from mmaproof.spec.float_encoding import is_nan
from mmaproof.spec.formats import BF16, F16, F32, TF32, FloatFormat
from mmaproof.spec.rounding import Rounding

from ..elementwise_kernels import result_of
from .test_verify_accuracy import elementwise

BF16_OUT, F32_OUT = {"A": "f32", "C": "bf16 out"}, {"A": "f32", "C": "f32 out"}
CONVERTED = "cvt.rz.bf16.f32 %C, %A;"
WIDENED = "cvt.rz.bf16.f32 %h1, %A; cvt.f32.bf16 %C, %h1;"
MASKED = "mov.b32 %r1, %A; and.b32 %r1, %r1, 0xffff0000; mov.b32 %C, %r1;"

HIGH_HALVES = {
    "shift": "mov.b32 %r1, %A; shr.u32 %r2, %r1, 16; cvt.u16.u32 %C, %r2;",
    "arithmetic shift": "mov.b32 %r1, %A; shr.s32 %r2, %r1, 16; cvt.u16.u32 %C, %r2;",
    "prmt": "mov.b32 %r1, %A; prmt.b32 %r2, %r1, 0, 0x7732; cvt.u16.u32 %C, %r2;",
    "mov": "mov.b32 {%h1, %h2}, %A; mov.b16 %C, %h2;",
}


@pytest.mark.parametrize("body", HIGH_HALVES.values(), ids=HIGH_HALVES)
def test_a_high_half_has_the_verdict_of_the_conversion(body: str) -> None:
    found, wanted = (result_of(each, "C[i] = A[i]", BF16_OUT) for each in (body, CONVERTED))
    assert (found.verdict, found.equality, found.hypotheses, found.bound) == (
        wanted.verdict,
        wanted.equality,
        wanted.hypotheses,
        wanted.bound,
    )
    assert found.verdict == "verified"
    assert "finite-inputs" in [each.name for each in found.hypotheses]  # a NaN may turn into an infinity


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        (MASKED, "C[i] = A[i]"),
        (MASKED.replace("ffff0000", "ffffe000"), "C[i] = A[i]"),
        (
            "mov.b32 %r1, %A; and.b32 %r1, %r1, 0xffff0000; mov.b32 %f1, %r1; mul.f32 %C, %f1, %A;",
            "C[i] = A[i] * A[i]",
        ),
    ],
)
def test_a_float_whose_low_bits_are_masked_is_truncated(body: str, formula: str) -> None:
    assert result_of(body, formula, F32_OUT).verdict == "verified"


FAULTS = {
    "one bit too low": (HIGH_HALVES["shift"].replace(", 16", ", 15"), "C[i] = A[i]", BF16_OUT),
    "one bit too high": (HIGH_HALVES["shift"].replace(", 16", ", 17"), "C[i] = A[i]", BF16_OUT),
    "the low half": (HIGH_HALVES["mov"].replace("%C, %h2", "%C, %h1"), "C[i] = A[i]", BF16_OUT),
    "no sign": (HIGH_HALVES["mov"] + "and.b16 %C, %C, 0x7fff;", "C[i] = A[i]", BF16_OUT),
    "the other sign": (HIGH_HALVES["shift"], "C[i] = -A[i]", BF16_OUT),
    "another format": (HIGH_HALVES["shift"], "C[i] = A[i]", {"A": "f32", "C": "f16 out"}),
    "no fraction": (MASKED.replace("ffff0000", "ff800000"), "C[i] = A[i]", F32_OUT),
    "a bit of the exponent": (MASKED.replace("ffff0000", "ff000000"), "C[i] = A[i]", F32_OUT),
    "ones behind": (MASKED + "or.b32 %r1, %r1, 65535; mov.b32 %C, %r1;", "C[i] = -A[i]", F32_OUT),
    "an integer": (
        "shr.u32 %r2, %A, 16; cvt.u16.u32 %C, %r2;",
        "C[i] = f32(A[i])",
        {"A": "u32", "C": "bf16 out"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "formula", "arrays"), FAULTS.values(), ids=FAULTS)
def test_other_bits_are_no_truncation(body: str, formula: str, arrays: dict[str, str]) -> None:
    assert result_of(body, formula, arrays).verdict != "verified"


@pytest.mark.parametrize(("limit", "verified"), [("0.0079", True), ("0.0039", False), ("0.0077", False)])
def test_truncation_counts_as_the_conversion_does(limit: str, verified: bool, tmp_path: Path) -> None:
    for body in (MASKED, WIDENED):
        found = elementwise(body, "C[i] = A[i]", f"max_relative = {limit}", tmp_path)
        assert (found.verdict == "verified") == verified, found.findings


WORDS = st.one_of(
    st.integers(0, (1 << 32) - 1),
    st.sampled_from([0, 1, 0xFFFF, 0x10000, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000]),
    st.integers(0, (1 << 23) - 1).map(lambda low: low | 0xFF000000),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, min_size=16, max_size=16), st.sampled_from([BF16, TF32, F32]), st.booleans())
def test_conversions_have_the_same_bits_but_of_nans(
    words: list[int], fmt: FloatFormat, is_positive: bool
) -> None:
    store = TermStore()
    inputs = store.inputs("A", F32, np.arange(len(words)))
    low = 13 if fmt == TF32 else 16
    sign = filled(store, len(words), 0, 1) if is_positive else Slice(inputs, Field(31, 1))
    sliced = [Slice(inputs, Field(low, 31 - low)), sign]
    if fmt != BF16:
        sliced.insert(0, filled(store, len(words), 0, low))
    cut = join(store, sliced)
    made = TruncatedFloats(store).converted(cut, fmt)
    assert (made != cut).all()
    given_words = {"A": np.array(words, dtype=np.uint32)}
    before, after = (Assignment(store, given_words).values(each) for each in (cut, made))
    nan = is_nan(given_words["A"], F32)
    assert (before[~nan] == after[~nan]).all()


@pytest.mark.parametrize("low", [1, 8, 12, 14, 15, 17, 24])
def test_no_other_bits_are_read_as_a_float(low: int) -> None:
    store = TermStore()
    inputs = store.inputs("A", F32, np.arange(4))
    word = join(store, [filled(store, 4, 0, low), Slice(inputs, Field(low, 32 - low))])
    ones = join(store, [filled(store, 4, 1, 16), Slice(inputs, Field(16, 16))])
    halves = extract(store, inputs, min(low, 16) - (low == 16), 16)
    floats = TruncatedFloats(store)
    assert (floats.converted(word, F32) == word).all()
    assert (floats.converted(ones, F32) == ones).all()
    assert (floats.converted(extract(store, inputs, 16, 16), F16) == extract(store, inputs, 16, 16)).all()
    if low < 16:
        assert (floats.converted(halves, BF16) == halves).all()


def test_the_bits_of_a_high_half_are_not_those_of_a_conversion() -> None:
    store = TermStore()
    inputs = store.inputs("A", F32, np.arange(4))
    half = extract(store, inputs, 16, 16)
    converted = store.apply(operations.fused(BF16, (), (F32,), Rounding.TOWARD_ZERO), inputs)
    found = compare(NormalForms(store), half, converted, BF16)
    assert found.equal.all()
    assert not found.identical.any()
    assert found.roundings is not None
