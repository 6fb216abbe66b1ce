"""Floats of inputs that a kernel uses and its formula does not: they may be NaN."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.verification import verify

from ..elementwise_kernels import result_of
from .test_detours import TWO, refused, single

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 A, .param .u64 C, .param .f32 beta)
{
    .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %d<6>; .reg .f32 %f<8>;
    ld.param.u64 %d1, [A]; ld.param.u64 %d2, [C]; ld.param.f32 %f2, [beta];
    mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
    ld.global.f32 %f3, [%d4]; ld.global.f32 %f5, [%d5];
    fma.rn.f32 %f6, %f5, %f2, %f3;
    BRANCH
    st.global.f32 [%d5], %f6;
    ret;
}
"""
BRANCH = "setp.eq.f32 %p1, %f2, 0f00000000; selp.f32 %f6, %f3, %f6, %p1;"

CONTRACT = """
[kernel]
isa = "ptx"
[launch]
block = 4
[[param]]
name = "A"
type = "f32"
shape = [4]
[[param]]
name = "C"
type = "f32"
shape = [4]
access = "inout"
[[param]]
name = "beta"
type = "f32"
[ensures]
formula = "C[i] = FORMULA"
"""
SUM = "A[i] + beta * old(C[i])"


def result_in_cases(folder: Path, branch: str, formula: str) -> Result:
    kernel, contract = folder / "scale.ptx", folder / "scale.toml"
    kernel.write_text(KERNEL.replace("BRANCH", branch), encoding="utf-8")
    contract.write_text(CONTRACT.replace("FORMULA", formula), encoding="utf-8")
    return verify(kernel, contract).result


@pytest.mark.parametrize(
    ("branch", "formula", "verdict"),
    [
        ("", SUM, "verified"),
        (BRANCH, SUM, "verified"),
        (BRANCH, f"where(beta == 0, A[i], {SUM})", "verified"),
        ("", f"where(beta == 0, A[i], {SUM})", "undecided"),
        ("", f"where(beta == 0, beta * old(C[i]) + A[i], {SUM})", "verified"),
    ],
)
def test_what_a_formula_leaves_out_where_a_scalar_is_0_may_be_nan(
    branch: str, formula: str, verdict: str, tmp_path: Path
) -> None:
    result = result_in_cases(tmp_path, branch, formula)
    assert result.verdict == verdict, result.findings
    if verdict == "undecided":
        message = result.findings[0].message
        assert "if beta = 0: C[0] is right only if every input is finite (C[i]), which the formula" in message


CANCELS = "sub.f32 %f1, %B, %B; add.f32 %Y, %A, %f1;"


def test_an_input_that_cancels_is_to_be_finite() -> None:
    assert "every input is finite (B[i])" in refused(result_of(CANCELS, "Y[i] = A[i]", TWO))


@pytest.mark.parametrize(
    ("body", "formula", "requires"),
    [
        (CANCELS, "Y[i] = A[i]", ["abs(B[i]) <= 9"]),
        (CANCELS, "Y[i] = A[i] + B[i] - B[i]", []),
        (
            f"setp.gt.f32 %p1, %B, {single(0)}; selp.f32 %f1, %A, %A, %p1; add.f32 %Y, %f1, %f1;",
            "Y[i] = 2 * A[i]",
            [],
        ),
    ],
)
def test_finite_inputs_and_those_of_the_formula_are_supposed(
    body: str, formula: str, requires: list[str]
) -> None:
    assert result_of(body, formula, TWO, requires=requires).verdict == "verified"


@pytest.mark.parametrize(
    "compared",
    [
        "setp.le.f32 %p1, %B, %B;",
        "setp.num.f32 %p1, %B, %B;",
        f"setp.lt.f32 %p1, %B, {single(1)}; setp.ge.or.f32 %p1, %B, {single(1)}, %p1;",
        "max.f32 %f1, %A, %B; setp.ge.f32 %p1, %f1, %B;",
        f"setp.lt.f32 %p1, %B, {single(float('inf'))};",
    ],
)
def test_what_holds_of_all_numbers_does_not_hold_of_nans(compared: str) -> None:
    result = result_of(f"{compared} selp.f32 %Y, %A, {single(0)}, %p1;", "Y[i] = A[i]", TWO)
    assert "every input is finite (B[i])" in refused(result)


def test_another_element_of_an_array_of_the_formula_is_to_be_no_nan() -> None:
    first = "shfl.sync.idx.b32 %f1, %A, 0, 31, -1; shfl.sync.idx.b32 %f2, %A, 1, 31, -1;"
    body = f"{first} setp.le.f32 %p1, %f2, %f2; selp.f32 %Y, %f1, {single(0)}, %p1;"
    assert "every input is finite (A[i])" in refused(
        result_of(body, "Y[i] = A[0]", {"A": "f32", "Y": "f32 out"})
    )


def test_an_order_of_floats_that_a_formula_lacks_may_decide_nothing() -> None:
    body = (
        "setp.gt.f32 %p1, %B, %A; selp.f32 %f1, %A, %B, %p1; selp.f32 %Y, %A, %f1, %p1; @!%p1 mov.f32 %Y, %A;"
    )
    assert result_of(body, "Y[i] = A[i]", TWO).verdict == "verified"
