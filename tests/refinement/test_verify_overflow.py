"""No rounding overflows is a hypothesis only where nothing is known of what is rounded."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings.result import Result, Verdict
from mmaproof.refinement.kernel_replay import document_of_kernel, replay
from mmaproof.refinement.verification import Verification, verify

from ..contract_texts import contract_text
from ..elementwise_kernels import result_of

LENGTH = 32
DOT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry dot(.param .u64 a, .param .u64 b, .param .u64 s, .param .u64 c)
{{
    .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b16 %h<9>; .reg .pred %p;
    ld.param.u64 %d1, [a];
    ld.param.u64 %d2, [b];
    ld.param.u64 %d3, [s];
    ld.param.u64 %d4, [c];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %d1, %r1, 32, %d1;
    mad.wide.u32 %d3, %r1, 4, %d3;
    mad.wide.u32 %d4, %r1, 4, %d4;
    ld.global.f32 %f1, [%d3];
    mov.u32 %r2, 0;
    mov.u32 %r3, 0;
$next:
    ld.global.s8 %r4, [%d1];
    ld.global.s8 %r5, [%d2];
    mad.lo.s32 %r3, %r4, %r5, %r3;
    add.s64 %d1, %d1, 1;
    add.s64 %d2, %d2, 1;
    add.s32 %r2, %r2, 1;
    setp.lt.s32 %p, %r2, {length};
    @%p bra $next;
    {body}
    st.global.f32 [%d4], %f4;
    ret;
}}
"""
THROUGH_HALF = "cvt.rn.f16.s32 %h1, %r3; cvt.f32.f16 %f3, %h1; mul.f32 %f4, %f3, %f1;"
SINGLE = "cvt.rn.f32.s32 %f3, %r3; mul.f32 %f4, %f3, %f1;"


def dot(body: str, formula: str, folder: Path, length: int = LENGTH) -> Verification:
    arrays = {"A": f"s8 8 {LENGTH}", "B": f"s8 {LENGTH}", "s": "f32 8", "C": "f32 8 out"}
    kernel, contract = folder / "dot.ptx", folder / "dot.toml"
    kernel.write_text(DOT.format(body=body, length=length), encoding="utf-8")
    ensures = "[launch]\ngrid = 1\nblock = 8"
    contract.write_text(contract_text(formula, arrays, ensures=ensures), encoding="utf-8")
    return verify(kernel, contract)


def test_an_integer_sum_that_is_too_large_for_its_rounding_is_refuted(tmp_path: Path) -> None:
    found = dot(THROUGH_HALF, f"C[i] = s[i] * sum(k < {LENGTH}, A[i, k] * B[k])", tmp_path)
    assert found.result.verdict is Verdict.REFUTED
    (message, *_), line = (
        [finding.message for finding in found.result.findings],
        found.result.findings[0].line,
    )
    assert "rounded to f16, which overflows from 65520" in message
    assert "cvt.rn.f16.s32" in (tmp_path / "dot.ptx").read_text(encoding="utf-8").splitlines()[line - 1]
    assert found.counterexample is not None
    saved = tmp_path / "inputs.json"
    found.counterexample.save(saved)
    document = document_of_kernel(saved)
    assert document is not None and replay(saved, document).difference is not None


def test_what_holds_the_sum_is_verified_without_the_hypothesis(tmp_path: Path) -> None:
    single = dot(SINGLE, f"C[i] = s[i] * sum(k < {LENGTH}, A[i, k] * B[k])", tmp_path).result
    short = dot(THROUGH_HALF, "C[i] = s[i] * sum(k < 3, A[i, k] * B[k])", tmp_path, length=3).result
    assert single.verdict is short.verdict is Verdict.VERIFIED
    assert short.bound is not None
    assert "none to f32 overflows" in short.bound  # of s, nothing is known
    fourth = dot(THROUGH_HALF, "C[i] = s[i] * sum(k < 4, A[i, k] * B[k])", tmp_path, length=4).result
    assert fourth.verdict is Verdict.REFUTED  # 4·128² is 65536


def test_what_the_contract_rounds_as_well_overflows_on_both_sides(tmp_path: Path) -> None:
    formula = f"C[i] = s[i] * f16(sum(k < {LENGTH}, A[i, k] * B[k]))"
    result = dot(THROUGH_HALF, formula, tmp_path).result
    assert result.verdict is Verdict.VERIFIED
    assert result.bound is None or "f16" in result.bound
    for other in (f"f16(2 * sum(k < {LENGTH}, A[i, k] * B[k])) * 0.5", f"f16(sum(k < {LENGTH}, A[i, k]))"):
        assert dot(THROUGH_HALF, f"C[i] = s[i] * {other}", tmp_path).result.verdict is not Verdict.VERIFIED


HALVES = "cvt.u16.u32 %h1, %A; cvt.rn.f16x2.e4m3x2 %r1, %h1; mov.b32 {%h2, %h3}, %r1; mov.b16 %h9, 0x0400; "


def elementwise(body: str, formula: str, of: str, to: str) -> Result:
    return result_of(body, f"C[i] = {formula}", {"A": of, "C": f"{to} out"}, target="sm_100a")


@pytest.mark.parametrize(
    ("of", "to", "body", "formula", "verdict"),
    [
        # 448² is too much for f16, unless it is scaled before.
        ("e4m3", "f16", HALVES + "mul.f16 %h4, %h2, %h2; mul.f16 %C, %h4, %h9;", "A[i] * A[i] / 16384",
         Verdict.REFUTED),
        ("e4m3", "f16", HALVES + "mul.f16 %h4, %h2, %h9; mul.f16 %C, %h4, %h2;", "A[i] * A[i] / 16384",
         Verdict.VERIFIED),
        ("s16", "f16", "cvt.rn.f16.s16 %h1, %A; mov.b16 %h2, 0x3400; mul.f16 %C, %h1, %h2;", "A[i] * 0.25",
         Verdict.VERIFIED),
        ("s32", "f16", "cvt.rn.f16.s32 %h1, %A; mov.b16 %h2, 0x3400; mul.f16 %C, %h1, %h2;", "A[i] * 0.25",
         Verdict.REFUTED),
        ("u16", "f16", "cvt.rn.f16.u16 %h1, %A; mov.b16 %h2, 0x3400; mul.f16 %C, %h1, %h2;", "A[i] * 0.25",
         Verdict.REFUTED),
        # of f16 and f32, nothing is known: the first is in f16 by contract
        ("f16", "f16", "mov.b16 %h2, 0x3400; mul.f16 %h3, %A, %A; mul.f16 %C, %h3, %h2;", "A[i] * A[i] / 4",
         Verdict.VERIFIED),
        ("f32", "f32", "cvt.rn.f16.f32 %h1, %A; cvt.f32.f16 %C, %h1;", "A[i]", Verdict.UNDECIDED),
        # what is clamped before has a range
        ("f32", "f32", "min.f32 %f1, %A, 0f47000000; max.f32 %f2, %f1, 0fC7000000; cvt.rn.f16.f32 %h1, %f2; "
                       "cvt.f32.f16 %C, %h1;", "max(min(A[i], 32768.0), -32768.0)", Verdict.VERIFIED),
    ],
)  # fmt: skip
def test_ranges_of_formats(of: str, to: str, body: str, formula: str, verdict: Verdict) -> None:
    assert elementwise(body, formula, of, to).verdict is verdict


def test_the_hypothesis_is_named_where_nothing_is_known() -> None:
    known = elementwise(
        HALVES + "mul.f16 %h4, %h2, %h9; mul.f16 %C, %h4, %h2;", "A[i] * A[i] / 16384", "e4m3", "f16"
    )
    unknown = elementwise("mul.f16 %h3, %A, %A; mul.f16 %C, %h3, %A;", "A[i] * A[i] * A[i]", "f16", "f16")
    assert known.bound is not None and "overflows" not in known.bound
    assert unknown.bound is not None and "none to f16 or f32 overflows" in unknown.bound
