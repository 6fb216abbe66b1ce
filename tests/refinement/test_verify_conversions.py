"""Only roundings vanish over the reals: clamping, quantising and loss of sign are functions of their own."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.refinement.findings.result import Equality, Result, Verdict
from mmaproof.spec.float_encoding import decode, encode
from mmaproof.spec.formats import FORMATS, FloatFormat, IntegerFormat
from mmaproof.spec.rounding import Rounding

from ..elementwise_kernels import result_of

COPY = "mov.b32 %C, %A;"
NARROWED = "cvt.rn.satfinite.{to}.f32 %h1, %A, %A; cvt.u32.u16 %C, %h1;"
THROUGH_HALF = (
    "cvt.rn.f16.f32 %h1, %A; mov.b32 %r1, {{%h1, %h1}}; "
    "cvt.rn.satfinite.{to}.f16x2 %h2, %r1; cvt.u32.u16 %C, %h2;"
)


def verdict(body: str, formula: str, of: str = "f32", to: str = "f32") -> Verdict:
    return result_of(body, formula, {"A": of, "C": f"{to} out"}, target="sm_100a").verdict


@pytest.mark.parametrize("narrow", ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "ue8m0", "ue4m3"])
def test_a_copy_is_no_conversion_to_a_narrow_format(narrow: str) -> None:
    assert verdict(COPY, f"C[i] = {narrow}(A[i])") is Verdict.REFUTED
    assert verdict(COPY, f"C[i] = A[i] + {narrow}(A[i]) - {narrow}(A[i])") is Verdict.VERIFIED


@pytest.mark.parametrize("wide", ["f16", "bf16", "tf32", "f64"])
def test_a_rounding_to_a_wide_format_vanishes(wide: str) -> None:
    assert verdict(COPY, f"C[i] = {wide}(A[i])") is Verdict.VERIFIED


@pytest.mark.parametrize("body", [COPY, "add.rn.f32 %C, %A, %A;", "cvt.rna.tf32.f32 %C, %A;"])
def test_an_output_of_a_type_that_drops_digits_is_not_compared(body: str) -> None:
    """Reading f32 as tf32 cuts what is stored off, by twice what a rounding to nearest is off by."""
    found = result_of(body, "C[i] = A[i] + A[i]", {"A": "f32", "C": "tf32 out"})
    assert found.verdict is Verdict.UNSUPPORTED
    assert "tf32 drops digits of the stored value" in found.findings[0].message
    assert result_of(COPY, "C[i] = A[i]", {"A": "tf32", "C": "tf32 out"}).verdict is Verdict.VERIFIED


@pytest.mark.parametrize("to", ["e4m3", "e5m2"])
def test_a_conversion_is_what_it_is_of_whatever_was_rounded(to: str) -> None:
    """Which wide format the number was rounded to before is a rounding; which it is quantised to is not."""
    other = "e5m2" if to == "e4m3" else "e4m3"
    for body in (NARROWED.format(to=f"{to}x2"), THROUGH_HALF.format(to=f"{to}x2")):
        assert verdict(body, "C[i] = A[i]", to=to) is Verdict.VERIFIED
        assert verdict(body, f"C[i] = {to}(f16(A[i]))", to=to) is Verdict.VERIFIED
        assert verdict(body, f"C[i] = f16({to}({to}(A[i])))", to=to) is Verdict.VERIFIED
        assert verdict(body, f"C[i] = {other}(A[i])", to=to) is Verdict.REFUTED
        assert verdict(body, "C[i] = A[i] / 2", to=to) is Verdict.REFUTED


def given(body: str, formula: str, numbers: list[float], to: str = "f32") -> Result:
    arrays = {"A": "f32", "C": f"{to} out"}
    return result_of(body, f"C[i] = {formula}", arrays, values={"A": numbers}, target="sm_100a")


def test_given_numbers_may_be_rounded_like_any() -> None:
    assert given(COPY, "f16(A[i])", [1.0001220703125, 3.0]).equality is Equality.VALUE
    assert given(COPY, "f16(A[i])", [1.0, 3.0]).equality is Equality.BITS
    assert given(COPY, "e4m3(A[i])", [1.0001220703125]).verdict is Verdict.REFUTED
    assert given(COPY, "A[i] * 1.0001220703125", [1.0]).verdict is Verdict.REFUTED


def test_given_numbers_show_where_a_hypothesis_does_not_hold() -> None:
    """They overflow the contract's f16, and are on a tie of e4m3 when they are rounded to f16 before."""
    for body, formula, number, to in (
        (COPY, "f16(A[i])", 1e6, "f32"),
        (THROUGH_HALF.format(to="e4m3x2"), "A[i]", 1.0626220703125, "e4m3"),
        ("max.ftz.f32 %C, %A, 0fFF800000;", "A[i]", 2.0**-140, "f32"),
    ):
        found = given(body, formula, [1.0, number], to)
        assert found.verdict is Verdict.UNDECIDED
        assert "not on the values given" in found.findings[0].message
        assert given(body, formula, [1.0, 2.0], to).verdict is Verdict.VERIFIED


@pytest.mark.parametrize("body", ["max.ftz.f32 %C, %A, 0fFF800000;", "add.ftz.f32 %C, %A, 0f80000000;"])
def test_flushing_is_named(body: str) -> None:
    result = result_of(body, "C[i] = A[i]", {"A": "f32", "C": "f32 out"})
    assert result.verdict is Verdict.VERIFIED
    assert result.bound is not None and "no subnormal f32 is flushed to 0" in result.bound


def test_signs_of_scale_factors() -> None:
    body = (
        "cvt.u16.u32 %h1, %A; cvt.rn.bf16x2.ue8m0x2 %r1, %h1; mov.b32 {%h2, %h3}, %r1; "
        "mov.b32 %f1, {0, %h2}; neg.f32 %C, %f1;"
    )
    assert verdict(body, "C[i] = -A[i]", "ue8m0") is Verdict.VERIFIED
    assert verdict(body, "C[i] = A[i]", "ue8m0") is Verdict.REFUTED


def test_a_rounding_before_may_turn_a_conversion_to_a_narrow_format() -> None:
    arrays = {"A": "f32", "C": "e4m3 out"}
    once, twice = (
        result_of(body.format(to="e4m3x2"), "C[i] = A[i]", arrays, target="sm_100a")
        for body in (NARROWED, THROUGH_HALF)
    )
    assert once.bound is None
    assert twice.bound is not None and "changes the outcome of a conversion to e4m3" in twice.bound


@pytest.mark.parametrize(
    ("of", "to", "body"),
    [
        ("e4m3", "e4m3", "cvt.u16.u32 %h1, %A; cvt.rn.f16x2.e4m3x2 %r1, %h1; "
                         "cvt.rn.satfinite.e4m3x2.f16x2 %h2, %r1; cvt.u32.u16 %C, %h2;"),
        ("e5m2", "e5m2", "cvt.u16.u32 %h1, %A; cvt.rn.f16x2.e5m2x2 %r1, %h1; "
                         "cvt.rn.satfinite.e5m2x2.f16x2 %h2, %r1; cvt.u32.u16 %C, %h2;"),
        ("f32", "f32", NARROWED.format(to="e4m3x2").replace("%C", "%r3") + "cvt.u16.u32 %h3, %r3;"
                       "cvt.rn.f16x2.e4m3x2 %r4, %h3; mov.b32 {%h4, %h5}, %r4; cvt.f32.f16 %C, %h4;"),
    ],
)  # fmt: skip
def test_what_a_format_has_already_is_not_quantised_again(of: str, to: str, body: str) -> None:
    narrow = to if to != "f32" else "e4m3"
    assert verdict(body, f"C[i] = {narrow}(A[i])", of, to) is Verdict.VERIFIED
    assert verdict(body, f"C[i] = {narrow}(f32({narrow}(A[i])))", of, to) is Verdict.VERIFIED
    for other in {"e2m1", "e4m3", "e5m2"} - {narrow}:
        assert verdict(body, f"C[i] = {other}({narrow}(A[i]))", of, to) is Verdict.REFUTED


def test_small_integers_are_not_quantised() -> None:
    converted = "cvt.rn.f32.s32 %f1, %A; cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f1; cvt.u32.u16 %C, %h1;"
    masked = "and.b32 %r1, %A, 15; cvt.rn.f32.s32 %C, %r1;"
    assert verdict(converted, "C[i] = A[i]", "s32", "e4m3") is Verdict.VERIFIED
    assert verdict(converted, "C[i] = A[i]", "s8", "e4m3") is Verdict.VERIFIED
    assert verdict(masked, "C[i] = e4m3(u4(A[i]))", "u8") is Verdict.VERIFIED
    assert verdict(masked.replace("15", "31"), "C[i] = e4m3(u8(A[i]))", "u8") is Verdict.REFUTED


@pytest.mark.parametrize(
    "body",
    [
        "add.sat.f32 %C, %A, %f1;",
        "mul.sat.f32 %C, %A, 0f3F800000;",
        "fma.rn.sat.f32 %C, %A, 0f3F800000, %f1;",
        "cvt.sat.f32.f32 %C, %A;",
        "max.f32 %C, %A, 0f00000000;",
        "abs.f32 %C, %A;",
        *(f"cvt.{name}.f32.f32 %C, %A;" for name in ("rni", "rzi", "rmi", "rpi")),
        "cvt.rni.s32.f32 %r1, %A; cvt.rn.f32.s32 %C, %r1;",
    ],
)
def test_what_changes_numbers_is_no_copy(body: str) -> None:
    assert verdict(f"mov.f32 %f1, 0f80000000; {body}", "C[i] = A[i]") is Verdict.REFUTED


def test_a_conversion_that_clamps_is_no_rounding() -> None:
    clamped = "cvt.rn.satfinite.f16.f32 %C, %A;"
    assert verdict(clamped, "C[i] = A[i]", to="f16") is not Verdict.VERIFIED
    assert verdict("cvt.rn.f16.f32 %C, %A;", "C[i] = A[i]", to="f16") is Verdict.VERIFIED
    # Of f32, bf16 has the whole range.
    assert verdict("cvt.rn.satfinite.bf16.f32 %C, %A;", "C[i] = A[i]", to="bf16") is Verdict.VERIFIED


LARGEST = {"f32": 2.0**127, "f16": 65504.0}

KERNELS = [
    ("f32", "f32", COPY),
    ("f32", "f32", "cvt.rn.f16.f32 %h1, %A; cvt.f32.f16 %C, %h1;"),
    ("f32", "f32", "cvt.rn.satfinite.f16.f32 %h1, %A; cvt.f32.f16 %C, %h1;"),
    ("f32", "f32", "cvt.rn.bf16.f32 %h1, %A; mov.b32 %C, {0, %h1};"),
    ("f32", "f32", "cvt.rna.tf32.f32 %C, %A;"),
    ("f32", "f32", "cvt.sat.f32.f32 %C, %A;"),
    ("f32", "f32", "cvt.rni.f32.f32 %C, %A;"),
    ("f32", "f32", "neg.f32 %C, %A;"),
    *(("f32", to, form.format(to=f"{to}x2")) for to in ("e4m3", "e5m2") for form in (NARROWED, THROUGH_HALF)),
    ("f32", "s8", "cvt.rni.s8.f32 %r1, %A; mov.b32 %C, %r1;"),
    ("f32", "u8", "cvt.rzi.u8.f32 %r1, %A; mov.b32 %C, %r1;"),
    ("f16", "e4m3", "mov.b32 %r1, {%A, %A}; cvt.rn.satfinite.e4m3x2.f16x2 %h1, %r1; cvt.u32.u16 %C, %h1;"),
    ("f16", "f32", "cvt.f32.f16 %C, %A;"),
    ("s32", "f16", "cvt.rn.f16.s32 %C, %A;"),
    ("s32", "f32", "cvt.rn.f32.s32 %C, %A;"),
    ("s32", "s8", "mov.b32 %C, %A;"),
    ("s32", "s8", "cvt.sat.s8.s32 %r1, %A; mov.b32 %C, %r1;"),
    ("s16", "e4m3", "cvt.rn.f32.s16 %f1, %A; "
                    "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f1; cvt.u32.u16 %C, %h1;"),
]  # fmt: skip
NARROWINGS = [f"{name}(A[i])" for name in ("f16", "bf16", "tf32", "e4m3", "e5m2", "e2m1", "ue8m0")]
FORMULAS = {
    ("float", "float"): ["A[i]", "-A[i]", *NARROWINGS, "e4m3(f16(A[i]))", "e5m2(e4m3(A[i]))", "relu(A[i])",
                         "f32(s32(round(A[i])))"],
    ("float", "integer"): ["s8(round(A[i]))", "s8(A[i])", "u8(A[i])", "s32(round(f16(A[i])))"],
    ("integer", "float"): ["A[i]", "-A[i]", *NARROWINGS, "f32(s8(A[i]))", "e4m3(f32(A[i]))"],
    ("integer", "integer"): ["A[i]", "-A[i]", "s8(A[i])", "max(min(A[i], 127), -128)",
                               "s32(round(f16(A[i])))"],
}  # fmt: skip
"""By the kinds of what is read and of what is stored."""

DATA = [
    *(1.0, 0.0, -3.0, 500.0, 2.0, -1.0),
    *(1.375, -0.6875, 7.5, 11.0, 300.0, -300.0),
    *(28672.0, 0.0078125, -5.0, 2.5, 0.5, -0.5),
    *(1.0001220703125, 10001.0, -3.0009765625, 1.0626220703125, -77.06298828125, 29999.0),
    *(70000.0, -1e5, 2.0**60, 65519.0, 2.0**-60, -(2.0**30)),
]
"""Numbers that f16, bf16 and tf32 have, so that no rounding explains a difference; that they have to round,
on ties of narrower formats too; and that are too large or small for some of them."""


def kind(name: str) -> str:
    return "integer" if name[0] in "su" and name[1].isdigit() else "float"


def representable(number: float, name: str) -> float:
    """Return a number of a format near to another one."""
    fmt = FORMATS[name]
    if isinstance(fmt, IntegerFormat):
        return max(fmt.minimum, min(fmt.maximum, int(number)))
    assert isinstance(fmt, FloatFormat)
    clipped = np.clip(np.array([number]), -LARGEST[name], LARGEST[name])
    return float(decode(encode(clipped, fmt, Rounding.NEAREST_EVEN), fmt)[0])


PAIRS = [(*kernel, formula) for kernel in KERNELS for formula in FORMULAS[kind(kernel[0]), kind(kernel[1])]]


@pytest.mark.parametrize("step", [16, pytest.param(1, marks=pytest.mark.sweep)])
def test_all_data_are_not_right_where_given_data_are_wrong(step: int) -> None:
    verified = 0
    for of, to, body, formula in PAIRS[::step]:
        arrays = {"A": of, "C": f"{to} out"}
        if result_of(body, f"C[i] = {formula}", arrays, target="sm_100a").verdict is Verdict.VERIFIED:
            verified += 1
            data = [representable(number, of) for number in DATA]
            some = result_of(body, f"C[i] = {formula}", arrays, values={"A": data}, target="sm_100a")
            assert some.verdict is not Verdict.REFUTED, (body, formula)
    assert verified > 30 // step


BF16 = "mov.b16 %h0, 0; cvt.rn.bf16.f32 %h1, %f0;"
WIDENED = {
    "moved": f"mov.b32 %f0, %X; {BF16} mov.b32 %Y, {{%h0, %h1}};",
    "shifted": f"mov.b32 %f0, %X; {BF16} cvt.u32.u16 %r1, %h1; shl.b32 %Y, %r1, 16;",
    "used": f"mov.b32 %f0, %X; {BF16} mov.b32 %f1, {{%h0, %h1}}; neg.f32 %f1, %f1; neg.f32 %Y, %f1;",
    "of-a-sum": f"add.rn.f32 %f0, %X, %X; {BF16} mov.b32 %f1, {{%h0, %h1}}; mul.rn.f32 %Y, %f1, 0f3F000000;",
}


@pytest.mark.parametrize("way", WIDENED)
def test_zeros_behind_a_rounded_number_change_nothing(way: str) -> None:
    arrays = {"X": "f32", "Y": "f32 out"}
    result = result_of(WIDENED[way], "Y[i] = X[i]", arrays)
    assert result.verdict is Verdict.VERIFIED
    assert result.bound is not None and "to bf16" in result.bound
    assert result_of(WIDENED[way], "Y[i] = 2 * X[i]", arrays).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("right", "wrong"), [("mov.b16 %h0, 0;", "mov.b16 %h0, 64;"), ("{%h0, %h1}", "{%h1, %h0}")]
)
def test_other_bits_behind_a_rounded_number_are_another_one(right: str, wrong: str) -> None:
    arrays = {"X": "f32", "Y": "f32 out"}
    body = WIDENED["of-a-sum"].replace(right, wrong)
    assert result_of(body, "Y[i] = X[i]", arrays).verdict is not Verdict.VERIFIED
