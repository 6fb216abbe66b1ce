"""Sizes at which an index overflows are a finding where a contract states them, else they are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.result import Verdict
from mmaproof.refinement.verification import verify

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry doubled(.param .u64 x, .param .u64 y)
{
    .reg .f32 %f<3>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    shl.b32 %r4, %r2, 6;
    or.b32 %r5, %r4, %r3;
    shl.b32 %r6, %r5, 2;
    cvt.s64.s32 %rd3, %r6;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f0, [%rd4];
    add.f32 %f2, %f0, %f0;
    mul.wide.u32 %rd5, %r5, 4;
    add.s64 %rd6, %rd2, %rd5;
    st.global.f32 [%rd6], %f2;
    ret;
}
"""

CONTRACT = """
[kernel]
isa = "ptx"
entry = "doubled"
[launch]
grid = "n // 64"
block = 64
[sizes]
n = "any multiple of 64END"
[[param]]
name = "X"
type = "f32"
shape = ["n"]
access = "in"
[[param]]
name = "Y"
type = "f32"
shape = ["n"]
access = "out"
[ensures]
formula = "Y[i] = X[i] + X[i]"
"""

LAST = 1 << 29
"""Elements of 4 bytes whose distances in bytes fit 31 bits."""


def _verified(folder: Path, end: str) -> tuple[Verdict, str, str]:
    (folder / "doubled.ptx").write_text(KERNEL, encoding="utf-8")
    (folder / "doubled.toml").write_text(CONTRACT.replace("END", end), encoding="utf-8")
    result = verify(folder / "doubled.ptx", folder / "doubled.toml").result
    (size,) = result.quantified
    return result.verdict, size.reason, "\n".join(map(str, result.findings))


def test_an_overflow_below_a_stated_end_is_a_finding(tmp_path: Path) -> None:
    verdict, _, findings = _verified(tmp_path, " up to 1000000000")
    assert verdict is Verdict.REFUTED
    assert f"doubled.ptx:17: out-of-bounds: an index overflows: at n = {LAST + 64}" in findings


@pytest.mark.parametrize(("end", "told"), [("", f"at n = {LAST + 64}"), (f" up to {LAST}", "")])
def test_an_overflow_that_no_contract_states_is_told(tmp_path: Path, end: str, told: str) -> None:
    verdict, reason, findings = _verified(tmp_path, end)
    assert verdict is Verdict.VERIFIED and not findings
    assert told in reason and bool(reason) is bool(told)


def test_the_document_says_at_which_size_and_where(tmp_path: Path) -> None:
    (tmp_path / "doubled.ptx").write_text(KERNEL, encoding="utf-8")
    (tmp_path / "doubled.toml").write_text(CONTRACT.replace("END", ""), encoding="utf-8")
    (size,) = verify(tmp_path / "doubled.ptx", tmp_path / "doubled.toml").result.document()["quantified"]
    assert size["shown_to"] == LAST and size["most"] > LAST
    overflow = size["overflow"]
    assert overflow["line"] == 17 and overflow["sizes"] == {"n": LAST + 64}
    assert overflow["value"] > overflow["limit"] == 2**31 - 1
