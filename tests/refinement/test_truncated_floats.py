"""High bits of an f32 are what the conversion toward zero gives: one function, one verdict."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mmaproof.refinement.equality.equivalence import compare
from mmaproof.refinement.equality.truncated_floats import TruncatedFloats
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.bit_slices import bitwise, extract, zero_extend
from mmaproof.refinement.terms.slices import Field, Slice, filled, join
from mmaproof.refinement.terms.store import TermStore
from mmaproof.refinement.terms.truth_tables import A
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
    assert "finite-inputs" in [
        hypothesis.name for hypothesis in found.hypotheses
    ]  # a NaN may turn into an infinity


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


def test_dropped_bits_are_a_rounding_where_equality_is_not_shown() -> None:
    """No identity tells that sines repeat: that numbers differ by the bits dropped refutes nothing."""
    body = """sin.approx.f32 %f1, %A; mov.b32 %r1, %f1; and.b32 %r1, %r1, 0xffff0000; mov.b32 %C, %r1;"""
    wanted = "C[i] = 3 * sin(A[i] / 3) - 4 * sin(A[i] / 3) * sin(A[i] / 3) * sin(A[i] / 3)"
    assert result_of(body, wanted, F32_OUT).verdict == "undecided"
    assert result_of(body, wanted.replace("3 *", "3.1 *"), F32_OUT).verdict == "refuted"


SIGNS = {
    "magnitude": ("and.b32 %r1, %r1, 0x7fffffff;", "abs(A[i])"),
    "minus the magnitude": ("or.b32 %r1, %r1, 0x80000000;", "-abs(A[i])"),
    "negation": ("xor.b32 %r1, %r1, 0x80000000;", "-A[i]"),
}
STORED = {
    "whole": ("mov.b32 %C, %r1;", F32_OUT),
    "shifted": ("shr.u32 %r2, %r1, 16; cvt.u16.u32 %C, %r2;", BF16_OUT),
    "masked": ("and.b32 %r1, %r1, 0xffff0000; mov.b32 %C, %r1;", F32_OUT),
    "converted": ("mov.b32 %f1, %r1; cvt.rz.bf16.f32 %C, %f1;", BF16_OUT),
}


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("sign", SIGNS)
def test_a_sign_that_is_set_is_a_magnitude_or_a_negation(sign: str, stored: str) -> None:
    (change, wanted), (store, arrays) = SIGNS[sign], STORED[stored]
    body = f"mov.b32 %r1, %A; {change} {store}"
    assert result_of(body, f"C[i] = {wanted}", arrays).verdict == "verified"
    for other, (_, wrong) in SIGNS.items():
        if other != sign:
            assert result_of(body, f"C[i] = {wrong}", arrays).verdict == "refuted"


@pytest.mark.parametrize(
    ("body", "formula", "arrays"),
    [
        ("mov.b32 %r1, %A; and.b32 %r1, %r1, 0xbfffffff; mov.b32 %C, %r1;", "C[i] = abs(A[i])", F32_OUT),
        ("mov.b32 %r1, %A; shl.b32 %r1, %r1, 1; mov.b32 %C, %r1;", "C[i] = abs(A[i])", F32_OUT),
        ("mov.b32 %r1, %A; xor.b32 %r1, %r1, 0x80000001; mov.b32 %C, %r1;", "C[i] = -A[i]", F32_OUT),
        ("xor.b16 %C, %A, 0x8000;", "C[i] = f32(A[i]) - 32768", {"A": "u16", "C": "f16 out"}),
        ("mov.b32 %r1, %A; mov.b32 %r2, %B; and.b32 %r1, %r1, 0x7fffffff; and.b32 %r2, %r2, 0x80000000; "
         "xor.b32 %r2, %r2, 0x80000000; or.b32 %r1, %r1, %r2; mov.b32 %C, %r1;",
         "C[i] = -A[i]", {"A": "f32", "B": "f32", "C": "f32 out"}),
    ],
)  # fmt: skip
def test_other_bits_are_no_sign(body: str, formula: str, arrays: dict[str, str]) -> None:
    assert result_of(body, formula, arrays).verdict == "refuted"


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


@settings(max_examples=examples(60), deadline=None)
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


def signed(store: TermStore, words: NDArray[np.int32], top: int, kind: str) -> NDArray[np.int32]:
    """Return words with another highest bit."""
    bit = extract(store, words, top, 1)
    sign = {
        "0": filled(store, len(words), 0, 1),
        "1": filled(store, len(words), 1, 1),
        "flipped": Slice(bitwise(store, 0xFF ^ A, bit, bit, bit), Field(0, 1)),
    }[kind]
    return join(store, [Slice(words, Field(0, top)), sign])


@pytest.mark.parametrize("kind", ["0", "1", "flipped"])
@pytest.mark.parametrize("fmt", [F16, BF16])
def test_signs_of_all_words_of_16_bits(fmt: FloatFormat, kind: str) -> None:
    store = TermStore()
    inputs = store.inputs("A", fmt, np.arange(1 << 16))
    word = signed(store, inputs, 15, kind)
    made = TruncatedFloats(store).converted(word, fmt)
    assert (made != word).all()
    given_words = {"A": np.arange(1 << 16, dtype=np.uint16)}
    before, after = (Assignment(store, given_words).values(each) for each in (word, made))
    assert (before == after)[~is_nan(given_words["A"], fmt)].all()


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(WORDS, min_size=8, max_size=8),
    st.sampled_from([F32, TF32, BF16]),
    st.sampled_from(["0", "1", "flipped"]),
)
def test_signs_of_words_and_of_their_high_halves(words: list[int], fmt: FloatFormat, kind: str) -> None:
    store = TermStore()
    inputs = store.inputs("A", F32, np.arange(len(words)))
    word = signed(store, inputs, 31, kind)
    if fmt == BF16:
        word = extract(store, word, 16, 16)
    made = TruncatedFloats(store).converted(word, fmt)
    given_words = {"A": np.array(words, dtype=np.uint32)}
    before, after = (Assignment(store, given_words).values(each) for each in (word, made))
    same = before == after
    if fmt == TF32:  # which has no such bits
        same |= (before ^ after) < 1 << 13
    assert (made != word).all() and same[~is_nan(given_words["A"], F32)].all()


ROWS = {"bf16": (16, 8), "tf32": (13, 11)}


@pytest.mark.parametrize("fmt", ROWS)
def test_a_cut_is_the_conversion_toward_zero_for_all_words(fmt: str) -> None:
    z3 = pytest.importorskip("z3")
    low, precision = ROWS[fmt]
    narrow, word = z3.FPSort(8, precision), z3.BitVec("word", 32)
    number = z3.fpBVToFP(word, z3.Float32())
    cut = z3.fpBVToFP(z3.Extract(31, low, word), narrow)
    solver = z3.Solver()
    solver.add(z3.Not(z3.fpIsNaN(number)), cut != z3.fpFPToFP(z3.RTZ(), number, narrow))
    assert solver.check() == z3.unsat


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


RANDOM = {"A": "f32", "R": "u32", "C": "bf16 out"}
ADDED = (
    "mov.b32 %r1, %A; and.b32 %r2, %R, 0xffff; add.s32 %r3, %r1, %r2; shr.u32 %r4, %r3, 16;"
    " cvt.u16.u32 %C, %r4;"
)


@pytest.mark.parametrize("formula", ["C[i] = bf16(A[i])", "C[i] = A[i]"])
def test_random_bits_that_are_added_round_to_a_neighbour(formula: str) -> None:
    assert result_of(ADDED, formula, RANDOM).verdict == "verified"


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0xffff;", "0x1ffff;"),
        ("0xffff;", "0xffff; add.s32 %r2, %r2, 1;"),
        ("0xffff;", "0xffff; shl.b32 %r2, %r2, 1;"),
        ("and.b32 %r2, %R, 0xffff;", "shr.s32 %r2, %R, 16;"),
        ("and.b32 %r2, %R, 0xffff;", "mov.b32 %r2, %R;"),
        ("add.s32 %r3, %r1, %r2", "sub.s32 %r3, %r1, %r2"),
        ("add.s32 %r3, %r1, %r2", "add.s32 %r3, %r1, %r2; add.s32 %r3, %r3, %r2"),
        ("add.s32 %r3, %r1, %r2", "add.s32 %r3, %r1, %r2; add.s32 %r3, %r3, 0x8000"),
        ("%r3, 16;", "%r3, 15;"),
        ("shr.u32 %r4, %r3, 16", "shr.u32 %r4, %r2, 16"),
    ],
)
def test_other_sums_of_bits_are_no_rounding(old: str, new: str) -> None:
    assert old in ADDED
    assert result_of(ADDED.replace(old, new), "C[i] = bf16(A[i])", RANDOM).verdict != "verified"


@pytest.mark.parametrize("name", ROWS)
def test_random_bits_round_to_what_a_choice_of_conversions_does(name: str) -> None:
    store, places = TermStore(), np.arange(4096)
    width, _ = ROWS[name]
    words, added = store.inputs("A", F32, places), store.inputs("R", F32, places)
    below = zero_extend(store, extract(store, added, 0, width), 32)
    total = store.apply(operations.ring(32, 0, 2), words, below)
    cut = extract(store, total, 16, 16)
    fmt: FloatFormat = BF16
    if name == "tf32":
        cut, fmt = join(store, [filled(store, len(places), 0, 13), Slice(total, Field(13, 19))]), TF32
    made = TruncatedFloats(store).converted(cut, fmt)
    random = np.random.default_rng(7)
    given_words = {each: random.integers(0, 1 << 32, len(places)).astype(np.uint32) for each in "AR"}
    given_words["A"][:64] &= np.uint32(0x807FFFFF)  # zeros and subnormal numbers
    given_words["A"][64:128] |= np.uint32(0x7F7F0000)  # beyond the greatest number
    given_words["A"][128:192] &= np.uint32(0xFFFF0000)
    before, after = (Assignment(store, given_words).values(each) for each in (cut, made))
    kept = ~is_nan(given_words["A"], F32)
    if fmt == TF32:
        after &= np.uint64(0xFFFFE000)
    assert (made != cut).all()
    assert (before == after)[kept].all()
