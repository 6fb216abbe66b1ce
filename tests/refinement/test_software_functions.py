"""Functions that a library writes out are taken for what they are, and nothing else is."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

LOG2 = """setp.lt.f32 %p1, %A, 0f00800000; mul.f32 %f0, %A, 0f4B000000; selp.f32 %f1, %f0, %A, %p1;
selp.f32 %f2, 0fC1B80000, 0f00000000, %p1; mov.b32 %r0, %f1; add.s32 %r1, %r0, -1060439283;
and.b32 %r2, %r1, -8388608; sub.s32 %r3, %r0, %r2; cvt.rn.f32.s32 %f3, %r2;
fma.rn.ftz.f32 %f4, %f3, 0f34000000, %f2; mov.b32 %f5, %r3; add.f32 %f6, %f5, 0fBF800000;
fma.rn.ftz.f32 %f7, 0f3DC6B27F, %f6, 0fBE2C7F30; fma.rn.ftz.f32 %f7, %f7, %f6, 0f3E2FCF2A;
fma.rn.ftz.f32 %f7, %f7, %f6, 0fBE374E43; fma.rn.ftz.f32 %f7, %f7, %f6, 0f3E520BF4;
fma.rn.ftz.f32 %f7, %f7, %f6, 0fBE763C8B; fma.rn.ftz.f32 %f7, %f7, %f6, 0f3E93BF99;
fma.rn.ftz.f32 %f7, %f7, %f6, 0fBEB8AA49; fma.rn.ftz.f32 %f7, %f7, %f6, 0f3EF6384A;
fma.rn.ftz.f32 %f7, %f7, %f6, 0fBF38AA3B; mul.f32 %f7, %f6, %f7; mul.f32 %f7, %f6, %f7;
fma.rn.ftz.f32 %f7, %f6, 0f3FB8AA3B, %f7; add.f32 %f7, %f4, %f7;
setp.gt.u32 %p3, %r0, 2139095039; fma.rn.f32 %f8, %f1, 0f7F800000, 0f7F800000; selp.f32 %f7, %f8, %f7, %p3;
setp.eq.f32 %p2, %f1, 0f00000000; selp.f32 %C, 0fFF800000, %f7, %p2;"""
"""The logarithm of the device library to base 2."""

TANH = """abs.ftz.f32 %f0, %A; mul.f32 %f1, %f0, 0f4038AA3B; ex2.approx.ftz.f32 %f2, %f1;
add.f32 %f3, %f2, 0f3F800000; rcp.approx.ftz.f32 %f4, %f3;
fma.rn.ftz.f32 %f5, %f4, 0fC0000000, 0f3F800000; setp.ge.f32 %p1, %f0, 0f41102CB4;
selp.f32 %f6, 0f3F800000, %f5, %p1; mov.b32 %r0, %f6; mov.b32 %r1, %A; and.b32 %r1, %r1, -2147483648;
or.b32 %r0, %r0, %r1; mov.b32 %f6, %r0; mul.f32 %f7, %A, %A;
fma.rn.ftz.f32 %f8, 0f3C80F082, %f7, 0fBD563CAE; fma.rn.ftz.f32 %f8, %f8, %f7, 0f3E085941;
fma.rn.ftz.f32 %f8, %f8, %f7, 0fBEAAA9ED; fma.rn.ftz.f32 %f8, %f8, %f7, 0f00000000;
fma.rn.ftz.f32 %f8, %f8, %A, %A; setp.ge.f32 %p2, %f0, 0f3F19999A; selp.f32 %C, %f6, %f8, %p2;"""
"""The hyperbolic tangent of the device library."""

EXP = """fma.rn.f32 %f0, %A, 0f3BBB989D, 0f3F000000; cvt.sat.f32.f32 %f0, %f0;
fma.rm.f32 %f1, %f0, 0f437C0000, 0f4B400001; add.f32 %f2, %f1, 0fCB40007F; neg.f32 %f2, %f2;
fma.rn.f32 %f3, %A, 0f3FB8AA3B, %f2; fma.rn.f32 %f3, %A, 0f32A57060, %f3; mov.b32 %r0, %f1;
shl.b32 %r0, %r0, 23; mov.b32 %f4, %r0; ex2.approx.ftz.f32 %f5, %f3; mul.f32 %C, %f5, %f4;"""
"""The exponential of the device library: of the integer part by the bits of an exponent."""

NEGATED_LOG = LOG2.replace("selp.f32 %C, 0fFF800000, %f7, %p2", (
    "mul.f32 %f7, %f7, 0f3F317218; neg.f32 %f7, %f7; selp.f32 %C, 0f7F800000, %f7, %p2"
))  # fmt: skip
"""A logarithm negated before what is chosen for 0."""

QUARTER = """abs.f32 %f0, %A; mul.rn.f32 %f1, %f0, 0f3FB8AA3B; cvt.rzi.f32.f32 %f2, %f1; abs.f32 %f3, %f2;
setp.gt.f32 %p1, %f3, 0f42FC0000; mov.f32 %f4, 0f42FC0000; copysign.f32 %f5, %f2, %f4;
selp.f32 %f6, %f5, %f2, %p1; fma.rn.f32 %f7, %f6, 0fBF317218, %f0; fma.rn.f32 %f7, %f6, 0f3102E308, %f7;
mul.f32 %f7, %f7, 0f3FB8AA3B; add.f32 %f8, %f6, 0f4B40007D; mov.b32 %r0, %f8; shl.b32 %r0, %r0, 23;
mov.b32 %f9, %r0; ex2.approx.ftz.f32 %f10, %f7; mul.f32 %f9, %f10, %f9;"""
"""The fourth part of an exponential of a magnitude, a product with a power that is made of bits."""

COSH = QUARTER + "div.approx.ftz.f32 %f0, 0f3E000000, %f9; fma.rn.f32 %C, 0f40000000, %f9, %f0;"
"""The hyperbolic cosine of the device library."""

SINH = (
    QUARTER
    + """div.approx.ftz.f32 %f0, 0fBE000000, %f9; fma.rn.f32 %f0, 0f40000000, %f9, %f0;
mul.f32 %f1, %A, %A; fma.rn.f32 %f2, 0f363D0ADA, %f1, 0f394FFF49; fma.rn.f32 %f2, %f2, %f1, 0f3C08889A;
fma.rn.f32 %f2, %f2, %f1, 0f3E2AAAAB; mul.f32 %f2, %f1, %f2; fma.rn.f32 %f2, %f2, %A, %A; abs.f32 %f3, %A;
setp.ge.f32 %p2, %f3, 0f3F800000; copysign.f32 %f4, %A, %f0; selp.f32 %C, %f4, %f2, %p2;"""
)
"""The hyperbolic sine of the device library."""

ROOT = """abs.f32 %f0, %A; lg2.approx.f32 %f1, %f0; mul.f32 %f1, %f1, 0fBF2AAAAB; ex2.approx.ftz.f32 %f1, %f1;
mul.f32 %f2, %f0, %f1; mul.f32 %f3, %f1, %f2; neg.f32 %f3, %f3; fma.rn.f32 %f3, %f2, %f3, 0f3F800000;
mul.f32 %f3, %f3, 0f3EAAAAAB; fma.rn.f32 %f2, %f2, %f3, %f2; setp.lt.f32 %p0, %A, 0f00000000;
neg.f32 %f3, %f2; selp.f32 %f2, %f3, %f2, %p0; add.f32 %f3, %A, %A; setp.eq.f32 %p1, %f3, %A;
selp.f32 %C, %f3, %f2, %p1;"""
"""The cube root of the device library."""

EXP_LESS_1 = """mul.f32 %f0, %A, 0f3FB8AA3B; cvt.rni.f32.f32 %f0, %f0; abs.f32 %f1, %A;
setp.lt.f32 %p0, %f1, 0f3ED1EB85; selp.f32 %f0, 0f00000000, %f0, %p0; neg.f32 %f1, %f0;
fma.rn.f32 %f2, %f1, 0f3F317200, %A; fma.rn.f32 %f2, %f1, 0f35BFBE8E, %f2; setp.eq.f32 %p1, %f0, 0f43000000;
add.f32 %f1, %f0, 0fBF800000; selp.f32 %f0, %f1, %f0, %p1; fma.rn.f32 %f3, 0f3AB5EBE6, %f2, 0f3C095663;
fma.rn.f32 %f3, %f3, %f2, 0f3D2AABE3; fma.rn.f32 %f3, %f3, %f2, 0f3E2AA9F6;
fma.rn.f32 %f3, %f3, %f2, 0f3EFFFFFE; mul.f32 %f3, %f2, %f3; fma.rn.f32 %f3, %f3, %f2, %f2;
ex2.approx.f32 %f4, %f0; add.f32 %f5, %f4, 0fBF800000; fma.rn.f32 %f5, %f3, %f4, %f5; add.f32 %f6, %f5, %f5;
selp.f32 %f5, %f6, %f5, %p1; setp.gt.f32 %p2, %f0, 0f43000000; selp.f32 %f5, 0f7F800000, %f5, %p2;
setp.lt.f32 %p3, %f0, 0fC1C80000; selp.f32 %f5, 0fBF800000, %f5, %p3; setp.eq.f32 %p4, %A, 0f00000000;
add.f32 %f6, %A, %A; selp.f32 %C, %f6, %f5, %p4;"""
"""The exponential less 1 of the device library."""

CUBE_ROOT = "C[i] = where(A[i] < 0, -1, 1) * abs(A[i]) ** 0.3333333333"

ARRAYS = {"A": "f32", "C": "f32 out"}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("body", "formula", "name"),
    [
        (LOG2, "C[i] = log2(A[i])", "log2"),
        (LOG2 + "mul.f32 %C, %C, 0f3F317218;", "C[i] = log(A[i])", "log2"),
        (TANH, "C[i] = tanh(A[i])", "tanh"),
        (TANH, "C[i] = 1 - 2 / (exp(2 * A[i]) + 1)", "tanh"),
        (NEGATED_LOG, "C[i] = -log(A[i])", "-1 * (log)"),
        (COSH, "C[i] = (exp(A[i]) + exp(-A[i])) / 2", "0.25 * (exp)"),
        (SINH, "C[i] = (exp(A[i]) - exp(-A[i])) / 2", "(exp(x) - exp(-x)) / 2"),
        (ROOT, CUBE_ROOT, "sign(x) * abs(x)^0.333333"),
        (EXP_LESS_1, "C[i] = exp(A[i]) - 1", "exp(x) - 1"),
    ],
)
def test_a_function_that_is_written_out_is_that_function(body: str, formula: str, name: str) -> None:
    result = result_of(body, formula, ARRAYS)
    assert result.verdict == "verified", result.findings
    assert any(f"{name} written out" in hypothesis.statement for hypothesis in result.hypotheses)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("body", "formula", "old", "new"),
    [
        (LOG2, "C[i] = log2(A[i])", "0f3EF6384A", "0f3EF6584A"),  # a coefficient
        (LOG2, "C[i] = log2(A[i])", "0fC1B80000", "0fC1C00000"),  # what is added for subnormal numbers
        (LOG2, "C[i] = log2(A[i])", "-1060439283", "-1065353216"),  # where mantissas are split
        (LOG2, "C[i] = log(A[i])", "", ""),
        (LOG2, "C[i] = log2(2 * A[i])", "", ""),
        (TANH, "C[i] = tanh(A[i])", "0fC0000000", "0fBF800000"),
        (TANH, "C[i] = tanh(A[i])", "0f3F19999A", "0f3F99999A"),  # up to where there is a polynomial
        (TANH, "C[i] = tanh(A[i])", "and.b32 %r1, %r1, -2147483648", "and.b32 %r1, %r1, 0"),  # the sign
        (TANH, "C[i] = tanh(2 * A[i])", "", ""),
        (NEGATED_LOG, "C[i] = log(A[i])", "", ""),
        (NEGATED_LOG, "C[i] = -log(A[i])", "0f7F800000, %f7, %p2", "0fFF800000, %f7, %p2"),
        (NEGATED_LOG, "C[i] = -log(A[i])", "0f3F317218", "0f3F317318"),
        (COSH, "C[i] = (exp(A[i]) + exp(-A[i])) / 2", "0f3E000000", "0f3E800000"),
        (COSH, "C[i] = (exp(A[i]) + exp(-A[i])) / 2", "0f4B40007D", "0f4B40007E"),
        (COSH, "C[i] = (exp(A[i]) + exp(-A[i])) / 2", "0fBF317218", "0fBF317200"),
        (COSH, "C[i] = (exp(A[i]) + exp(-A[i])) / 2", "abs.f32 %f0, %A", "mov.f32 %f0, %A"),
        (COSH, "C[i] = (exp(A[i]) + exp(-A[i])) / 2", "mov.f32 %f4, 0f42FC0000", "mov.f32 %f4, 0f42C00000"),
        (SINH, "C[i] = (exp(A[i]) - exp(-A[i])) / 2", "0f3F800000", "0f40400000"),
        (SINH, "C[i] = (exp(A[i]) - exp(-A[i])) / 2", "copysign.f32 %f4, %A, %f0", "mov.f32 %f4, %f0"),
        (SINH, "C[i] = (exp(A[i]) + exp(-A[i])) / 2", "", ""),
        (ROOT, "C[i] = abs(A[i]) ** 0.3333333333", "", ""),
        (ROOT, CUBE_ROOT, "setp.lt.f32 %p0, %A, 0f00000000", "setp.lt.f32 %p0, %A, 0f80800000"),
        (EXP_LESS_1, "C[i] = exp(A[i])", "", ""),
    ],
)
def test_another_function_is_not(body: str, formula: str, old: str, new: str) -> None:
    assert old in body
    assert result_of(body.replace(old, new), formula, ARRAYS).verdict != "verified"


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "apart",
    [
        "setp.eq.f32 %p3, %A, 0f00000000;",  # 0
        "setp.eq.f32 %p3, %A, 0f3F333333;",  # one number
        "mov.b32 %r3, %A; setp.eq.s32 %p3, %r3, 1060320051;",  # its bits
        "abs.f32 %f9, %A; setp.gt.f32 %p4, %f9, 0f411CCCCD; setp.lt.f32 %p3, %f9, 0f411CCCDF;"
        "and.pred %p3, %p3, %p4;",  # a few
    ],
)
@pytest.mark.parametrize(("body", "formula"), [(TANH, "C[i] = tanh(A[i])"), (EXP, "C[i] = exp(A[i])")])
def test_what_deals_with_few_numbers_apart_is_another_function(apart: str, body: str, formula: str) -> None:
    other = f"{body} {apart} selp.f32 %C, 0f40400000, %C, %p3;"
    assert result_of(other, formula, ARRAYS).verdict != "verified"


@pytest.mark.sample(1)
def test_a_function_is_tried_where_its_argument_is_required_to_be() -> None:
    """Without what deals with zeros and subnormal numbers."""
    plain = LOG2.replace("0f4B000000", "0f3F800000").replace("0fC1B80000", "0f00000000")
    plain = plain.replace("0fFF800000, %f7, %p2", "%f7, %f7, %p2")
    found = result_of(plain, "C[i] = log2(A[i])", ARRAYS, requires=["A[i] > 0.00001"])
    assert found.verdict == "verified", found.findings


@pytest.mark.parametrize("limit", ["0f00000000", "0f3F333333"])  # 0 and 0.7
def test_a_clamped_argument_is_tried_at_its_limit(limit: str) -> None:
    body = f"max.f32 %f20, %A, {limit}; {TANH.replace('%A', '%f20')}"
    formula = f"C[i] = tanh(max(A[i], {'0' if limit == '0f00000000' else '0.7'}))"
    assert result_of(body, formula, ARRAYS).verdict == "verified"
    apart = f"setp.eq.f32 %p3, %f20, {limit}; selp.f32 %C, 0f40400000, %C, %p3;"
    assert result_of(f"{body} {apart}", formula, ARRAYS).verdict == "refuted"


@pytest.mark.sweep
def test_a_logarithm_is_tried_at_0() -> None:
    finite = LOG2.replace("0fFF800000", "0f40A00000")
    assert result_of(finite, "C[i] = log2(A[i])", ARRAYS).verdict == "refuted"


def test_an_argument_that_a_mask_makes_infinite_is_tried() -> None:
    arrays = {"A": "f32", "B": "f32", "C": "f32 out"}
    masked = "setp.gt.f32 %p5, %B, 0f00000000; selp.f32 %f20, %A, 0fFF800000, %p5;"
    body = f"{masked} {EXP.replace('%A', '%f20')}"
    formula = "C[i] = exp(where(B[i] > 0, A[i], -inf))"
    assert result_of(body, formula, arrays).verdict == "verified"
    apart = "setp.eq.f32 %p3, %f20, 0fFF800000; selp.f32 %C, 0f40400000, %C, %p3;"
    assert result_of(f"{body} {apart}", formula, arrays).verdict == "refuted"


@pytest.mark.parametrize(
    ("formula", "more"),
    [
        ("C[i] = exp(A[i])", ""),
        ("C[i] = exp(A[i]) + 3", "add.f32 %C, %C, 0f40400000;"),
        ("C[i] = exp(2 * A[i])", "mul.f32 %C, %C, %C;"),
        ("C[i] = silu(A[i])", "rcp.rn.f32 %f6, %C; add.f32 %f6, %f6, 0f3F800000; div.rn.f32 %C, %A, %f6;"),
    ],
)
def test_a_power_put_together_from_bits_is_one_whatever_is_tried(formula: str, more: str) -> None:
    result = result_of(EXP + more, formula, ARRAYS)
    assert result.verdict == "verified", result.findings
    assert not any("written out" in hypothesis.statement for hypothesis in result.hypotheses)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%r0, 23", "%r0, 22"),
        ("0fCB40007F", "0fCB40007E"),  # what is subtracted again
        ("0f437C0000", "0f43FC0000"),  # as far as exponents overflow
        ("0f4B400001", "0f4B3FFFFF"),  # the least has the bits of minus infinity
        ("0f4B400001", "0f4AC00001"),  # sums that are no integers
        ("cvt.sat.f32.f32 %f0, %f0;", ""),
        ("0f3FB8AA3B", "0f3FB8AA3C"),
        ("0f32A57060", "0f33A57060"),
        ("%A, 0f32A57060", "%A, 0fB2A57060"),
        ("ex2.approx.ftz.f32 %f5, %f3", "mov.f32 %f5, 0f3F800000"),
    ],
)
def test_what_has_other_bits_is_not(old: str, new: str) -> None:
    assert old in EXP
    assert result_of(EXP.replace(old, new), "C[i] = exp(A[i])", ARRAYS).verdict != "verified"


@pytest.mark.parametrize(("function", "even"), [("sin", False), ("cos", True)])
def test_functions_of_opposites_are_opposites_or_the_same(function: str, even: bool) -> None:
    body = f"neg.f32 %f0, %A; {function}.approx.f32 %C, %f0;"
    sign = "" if even else "-"
    assert result_of(body, f"C[i] = {sign}{function}(A[i])", ARRAYS).verdict == "verified"
    sign = "-" if even else ""
    assert result_of(body, f"C[i] = {sign}{function}(A[i])", ARRAYS).verdict == "refuted"


@pytest.mark.parametrize(
    ("rounded", "of_opposite"), [("rni", "rint"), ("rzi", "trunc"), ("rmi", "ceil"), ("rpi", "floor")]
)
def test_rounded_opposites_are_opposites_rounded(rounded: str, of_opposite: str) -> None:
    body = f"neg.f32 %f0, %A; cvt.{rounded}.f32.f32 %f0, %f0; neg.f32 %C, %f0;"
    for name in ("rint", "trunc", "ceil", "floor"):
        verdict = result_of(body, f"C[i] = {name}(A[i])", ARRAYS).verdict
        assert verdict == ("verified" if name == of_opposite else "refuted")


def test_the_logarithm_of_a_quotient_of_positive_numbers_is_a_difference() -> None:
    body = (
        "ex2.approx.f32 %f0, %A; ex2.approx.f32 %f1, %B; add.f32 %f1, %f0, %f1; div.approx.f32 %f2, %f0, %f1;"
    )
    arrays = {"A": "f32", "B": "f32", "C": "f32 out"}
    body += "lg2.approx.f32 %C, %f2;"
    formula = "C[i] = A[i] - log2(exp2(A[i]) + exp2(B[i]))"
    assert result_of(body, formula, arrays).verdict == "undecided"  # the quotient may underflow
    near = ["abs(A[i]) <= 50", "abs(B[i]) <= 50"]
    assert result_of(body, formula, arrays, requires=near).verdict == "verified"
    assert result_of(body, formula.replace("A[i] -", "B[i] -"), arrays).verdict == "refuted"


def test_the_logarithm_of_a_product_of_which_nothing_is_known_is_no_sum() -> None:
    arrays = {"A": "f32", "B": "f32", "C": "f32 out"}
    body = "mul.f32 %f0, %A, %B; lg2.approx.f32 %C, %f0;"
    assert result_of(body, "C[i] = log2(A[i]) + log2(B[i])", arrays).verdict != "verified"


CLAMPED = LOG2.replace("%A", "%f20").replace("%f0", "%f10")


@pytest.mark.sample(1)
@pytest.mark.parametrize(("least", "right"), [("0f3727C5AC", True), ("0f00000000", False)])
def test_a_function_is_tried_where_its_argument_is_clamped(least: str, right: bool) -> None:
    """Without the case of subnormal numbers, of numbers from 1e-5 on."""
    body = f"max.f32 %f20, %A, {least};" + CLAMPED.replace("0f4B000000", "0f3F800000")
    body = body.replace("0fC1B80000", "0f00000000")
    formula = f"C[i] = log2(max(A[i], {'9.999999747378752e-06' if right else '0.0'}))"
    assert (result_of(body, formula, ARRAYS).verdict == "verified") is right


CHOSEN_POWERS = {
    "square": ("mul.f32 %f0, %A, %A;", "A[i] * A[i]"),
    "cube": ("mul.f32 %f0, %A, %A; mul.f32 %f0, %f0, %A;", "A[i] * A[i] * A[i]"),
    "reciprocal": ("rcp.rn.f32 %f0, %A;", "1 / A[i]"),
}


@pytest.mark.parametrize("name", CHOSEN_POWERS)
@pytest.mark.parametrize("width", ["0f358637BD", "0f3A83126F"])
def test_a_choice_beside_a_power_is_no_power_that_is_written_out(name: str, width: str) -> None:
    """|x^2 - 2| < w ? 2 : x^2 is x^2 to 19 bits, but a product is not taken for one to 19 bits."""
    power, formula = CHOSEN_POWERS[name]
    chosen = f"sub.f32 %f1, %f0, 0f40000000; abs.f32 %f1, %f1; setp.lt.f32 %p1, %f1, {width};"
    body = f"{power} {chosen} selp.f32 %C, 0f40000000, %f0, %p1;"
    assert result_of(body, f"C[i] = {formula}", ARRAYS).verdict == "undecided"


def test_a_choice_of_what_a_product_is_anyway_is_that_product() -> None:
    body = "mul.f32 %f0, %A, %A; setp.eq.f32 %p1, %A, 0f00000000; selp.f32 %C, 0f00000000, %f0, %p1;"
    assert result_of(body, "C[i] = A[i] * A[i]", ARRAYS).verdict == "verified"
