"""Contracts that bound errors: kernels within the bound are verified, others are told what rounds most."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from operator_kernels import CORPUS

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result, Verdict
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import InputError

from ..contract_texts import contract_text
from ..elementwise_kernels import THREADS, kernel_text, result_of
from .test_software_functions import EXP, TANH

K = 16
LAUNCH = f"[launch]\ngrid = 1\nblock = {THREADS}"
GEMV = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)
{{
.reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<8>;
ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.param.u64 %d2, [p2]; mov.u32 %r0, %tid.x;
mul.wide.u32 %d3, %r0, {row}; add.u64 %d0, %d0, %d3; mul.wide.u32 %d4, %r0, 4; add.u64 %d2, %d2, %d4;
mov.b16 %h2, 0x0000; mov.f32 %f2, 0f00000000;
{steps}
{end}
st.global.f32 [%d2], %f2; ret;
}}
"""
IN_F32 = "cvt.f32.f16 %f0, %h0; cvt.f32.f16 %f1, %h1; fma.rn.f32 %f2, %f0, %f1, %f2;"
IN_F16 = "fma.rn.f16 %h2, %h0, %h1, %h2;"
LIMITS = {
    "relative": 'max_relative = "2^-11"',
    "number": "max_relative = 4e-4",
    "formula": 'error = "4e-4 * sum(k, abs(A[i, k] * x[k]))"',
    "parts": 'error = "4e-4 * sum(k, abs(A[i, k]) * abs(-x[k]))"',
}


def product(accumulation: str, ensures: str, folder: Path, end: str = "") -> Result:
    loads = "ld.global.b16 %h0, [%d0+{0}]; ld.global.b16 %h1, [%d1+{0}];"
    steps = "\n".join(loads.format(2 * step) + accumulation for step in range(K))
    kernel, contract = folder / "kernel.ptx", folder / "contract.toml"
    kernel.write_text(GEMV.format(row=2 * K, steps=steps, end=end), encoding="utf-8")
    arrays = {"A": f"f16 {THREADS} {K}", "x": f"f16 {K}", "y": f"f32 {THREADS} out"}
    text = contract_text("y[i] = sum(k, A[i, k] * x[k])", arrays, ensures=f"{ensures}\n{LAUNCH}")
    contract.write_text(text, encoding="utf-8")
    return verify(kernel, contract).result


@pytest.mark.parametrize("limit", LIMITS)
def test_a_dot_product_is_as_accurate_as_what_it_is_added_up_in(limit: str, tmp_path: Path) -> None:
    exact = product(IN_F32, LIMITS[limit], tmp_path)
    assert (exact.verdict, exact.findings) == (Verdict.VERIFIED, ())
    assert exact.accuracy and "for all data" in exact.accuracy[0]
    moved = product(IN_F16, LIMITS[limit], tmp_path, "cvt.f32.f16 %f2, %h2;")
    assert moved.verdict is Verdict.REFUTED
    finding, detour = moved.findings
    assert finding.kind is Kind.INACCURATE and detour.kind is Kind.UNDECIDED
    assert "no rounding to f16 overflows, which the formula does not need" in detour.message
    assert re.search(r"from 16 operations in f16, most in line \d+: .*fma\.rn\.f16", finding.message)
    assert finding.line


@pytest.mark.parametrize(
    ("ensures", "allowed"),
    [("max_relative = 9.6e-7", True), ("max_relative = 9.5e-7", False), ("", True)],
)
def test_the_bound_is_compared_and_nothing_is_where_nothing_is_said(
    ensures: str, allowed: bool, tmp_path: Path
) -> None:
    """Of 16 fused multiply-adds in f32 it is (1 + 2^-24)^16 - 1, about 9.54e-7."""
    result = product(IN_F32, ensures, tmp_path)
    assert result.verdict is (Verdict.VERIFIED if allowed else Verdict.UNDECIDED)
    assert bool(result.accuracy) == (allowed and bool(ensures))


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ("1e-3 * abs(sum(k, A[i, k] * x[k]))", "can't be compared"),  # products cancel
        ("1e-3 * sum(k, A[i, k] * x[k])", "not a sum of products of absolute values"),  # may be negative
        ("1e-3 * sum(k < 15, abs(A[i, k] * x[k]))", "not shown to bound"),  # one is missing
        ("1e-3", "not shown to bound"),
    ],
)
def test_what_is_not_more_for_all_data_is_no_bound(error: str, says: str, tmp_path: Path) -> None:
    result = product(IN_F32, f'error = "{error}"', tmp_path)
    assert result.verdict is Verdict.UNDECIDED
    assert says in result.findings[0].message


def elementwise(body: str, formula: str, ensures: str, folder: Path, fmt: str = "f32") -> Result:
    kinds = {"A": (fmt, False), "B": (fmt, False), "C": ("f32", True)}
    kernel, contract = folder / "kernel.ptx", folder / "contract.toml"
    kernel.write_text(kernel_text(body, kinds, "sm_80"), encoding="utf-8")
    arrays = {name: f"{kind} {THREADS} {'out' if out else 'in'}" for name, (kind, out) in kinds.items()}
    contract.write_text(contract_text(formula, arrays, ensures=f"{ensures}\n{LAUNCH}"), encoding="utf-8")
    return verify(kernel, contract).result


CASES = {
    "integers are exact": (
        "sub.s32 %r0, %A, %B; cvt.rn.f32.s32 %C, %r0;", "C[i] = A[i] - B[i]",
        'error = "1e-30 * abs(A[i] - B[i])"', "s8", True,
    ),
    "a difference of integers in floats is exact": (
        "cvt.rn.f32.s32 %f0, %A; cvt.rn.f32.s32 %f1, %B; sub.f32 %C, %f0, %f1;", "C[i] = A[i] - B[i]",
        "max_relative = 1e-30", "s8", True,
    ),
    "a difference of floats may cancel": (
        "sub.f32 %C, %A, %B;", "C[i] = A[i] - B[i]", 'error = "0.5 * abs(A[i] - B[i])"', "f32", False,
    ),
    "a root of what is positive": (
        "fma.rn.f32 %f0, %A, %A, 0f3F800000; rsqrt.approx.f32 %f1, %f0; mul.f32 %C, %f1, %B;",
        "C[i] = B[i] / sqrt(A[i] * A[i] + 1)", "max_relative = 1e-6", "f32", True,
    ),
    "an exponent that is rounded": (
        "mul.f32 %f0, %A, %B; ex2.approx.f32 %C, %f0;", "C[i] = exp2(A[i] * B[i])",
        "max_relative = 0.5", "f32", False,
    ),
    "clamped": (
        "mul.f32 %f0, %A, %B; max.f32 %C, %f0, 0f00000000;", "C[i] = relu(A[i] * B[i])",
        "max_relative = 1e-7", "f32", True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_an_error_does_further_on(case: str, tmp_path: Path) -> None:
    body, formula, ensures, fmt, within = CASES[case]
    result = elementwise(body, formula, ensures, tmp_path, fmt)
    assert result.verdict is (Verdict.VERIFIED if within else Verdict.UNDECIDED), result.findings


@pytest.mark.parametrize(
    ("ensures", "says"),
    [
        ("max_relative = 0", "max_relative must be a number above 0"),
        ("max_relative = true", "max_relative must be"),
        ("max_relative = inf", "max_relative must be"),
        ('max_relative = "2^-99999"', "max_relative must be"),
        ('max_relative = "small"', "max_relative must be"),
        ("max_relative = [1]", "max_relative must be"),
        ("error = 1", "error must be a string"),
        ('error = ["1", "2"]', "error must be a string"),
        ('error = "abs("', "error, column 5"),
        ('error = "abs(Q[i])"', "Q"),
        ('error = "0 * abs(A[i, 0])"', "greater than 0"),
        ('error = "-1e-5 * abs(A[i, 0])"', "greater than 0"),
        ('error = "-(2^-24 * abs(A[i, 0]))"', "greater than 0"),
        ('error = "abs(y[i])"', 'access "out"'),
    ],
)
def test_a_bad_bound_is_one_line(ensures: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        product(IN_F32, ensures, tmp_path)
    assert says in str(error.value)
    assert re.search(r"contract\.toml:\d+", str(error.value))
    assert "\n" not in str(error.value)


def test_what_matrix_instructions_round_is_a_hypothesis(tmp_path: Path) -> None:
    """A bound by models of hardware says which, and what they leave out."""
    contract = CORPUS / "gemm_relu_f16.toml"
    limited = tmp_path / "limited.toml"
    text = contract.read_text(encoding="utf-8") + 'max_relative = "2^-10"\n'
    limited.write_text(text, encoding="utf-8")
    result = verify(CORPUS / "gemm_relu_f16_sm80.ptx", limited).result
    assert result.verdict is Verdict.VERIFIED, result.findings
    assert any("matrix instructions round" in hypothesis.statement for hypothesis in result.hypotheses)


UNCOUNTED = {
    "a function written out": (TANH, "C[i] = tanh(A[i])"),
    "a power by its bits": (EXP, "C[i] = exp(A[i])"),
    "a literal that is not the other's": (
        "lg2.approx.f32 %f0, %A; mul.f32 %f0, %f0, 0f3F317218; mul.f32 %f0, %f0, 0f3FB8AA3B;"
        "mul.f32 %C, %f0, %B;",
        "C[i] = log2(A[i]) * B[i]",
    ),
}


@pytest.mark.parametrize("name", UNCOUNTED)
def test_no_bound_is_claimed_where_an_error_is_not_counted(name: str, tmp_path: Path) -> None:
    body, formula = UNCOUNTED[name]
    assert elementwise(body, formula, "", tmp_path).verdict is Verdict.VERIFIED
    bounded = elementwise(body, formula, "max_relative = 0.5", tmp_path)
    assert bounded.verdict is Verdict.UNDECIDED, bounded.accuracy
    assert not bounded.accuracy


ROUNDED = "cvt.rn.f32.u32 %f1, %I; mul.f32 %f1, %f1, %f1; cvt.rn.bf16.f32 %h1, %f1; "
TO_ITS_PLACE = {
    "shifted": "cvt.u32.u16 %r2, %h1; shl.b32 %C, %r2, 16;",
    "behind zeros": "mov.b16 %h2, 0; mov.b32 %C, {%h2, %h1};",
    "converted": "cvt.f32.bf16 %C, %h1;",
    "negated": "cvt.u32.u16 %r2, %h1; shl.b32 %r2, %r2, 16; xor.b32 %C, %r2, -2147483648; neg.f32 %C, %C;",
    "magnitude": "cvt.u32.u16 %r2, %h1; shl.b32 %r2, %r2, 16; and.b32 %C, %r2, 2147483647;",
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("place", TO_ITS_PLACE)
@pytest.mark.parametrize("bound", ['max_relative = "2^-60"', 'error = "0.000001 * abs(I[i] * I[i])"'])
def test_what_a_narrow_float_was_rounded_by_counts_where_its_bits_are_widened(place: str, bound: str) -> None:
    arrays = {"I": "u8", "C": "f32 out"}
    body = ROUNDED + TO_ITS_PLACE[place]
    assert result_of(body, "C[i] = I[i] * I[i]", arrays, ensures=bound).verdict is not Verdict.VERIFIED
    wide = bound.replace("2^-60", "2^-7").replace("0.000001", "0.004")
    within = result_of(body, "C[i] = I[i] * I[i]", arrays, ensures=wide).verdict
    assert within is Verdict.VERIFIED or place == "magnitude"


ROUNDED_ONCE = {
    "mul.f32 %C, %A, %B;": "A[i] * B[i]",
    "fma.rn.f32 %C, %A, %B, %A;": "A[i] * B[i] + A[i]",
    "div.rn.f32 %C, %A, %B;": "A[i] / B[i]",
    "div.rn.f32 %C, %A, 0f40400000;": "A[i] / 3",
    "sqrt.rn.f32 %C, %A;": "sqrt(A[i])",
    "rcp.rn.f32 %C, %A;": "1 / A[i]",
    "mul.f32 %C, %A, %B; mul.f32 %C, %C, 0fBE800000;": "-A[i] * B[i] / 4",  # by a power of two
    "mul.f32 %C, 0f40000000, %A; mul.f32 %C, %C, %B;": "2 * A[i] * B[i]",
}
ROUNDED_TWICE = {
    "mul.f32 %C, %A, %B; mul.f32 %C, %C, 0f40400000;": "3 * A[i] * B[i]",
    "mul.f32 %C, %A, %B; mul.f32 %C, %C, %A;": "A[i] * A[i] * B[i]",
    "mul.rz.f32 %C, %A, %B;": "A[i] * B[i]",
}


@pytest.mark.parametrize(("body", "formula"), [*ROUNDED_ONCE.items(), *ROUNDED_TWICE.items()])
def test_one_rounding_is_within_the_unit_roundoff(body: str, formula: str) -> None:
    arrays = {"A": "f32", "B": "f32", "C": "f32 out"}
    for bound, verified in (("2^-24", body in ROUNDED_ONCE), ("2^-23", True), ("2^-25", False)):
        found = result_of(body, f"C[i] = {formula}", arrays, ensures=f'max_relative = "{bound}"')
        assert (found.verdict is Verdict.VERIFIED) == verified, bound
