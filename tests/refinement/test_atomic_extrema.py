"""Maxima and minima that many threads take of one word are those of all their numbers, and its first."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.verification import verify

THREADS = 96

KERNEL = """\
.version 8.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 c)
{
.reg .b32 %r<4>; .reg .b64 %d<4>;
ld.param.u64 %d0, [a]; ld.param.u64 %d1, [c];
mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4; add.u64 %d3, %d0, %d2;
ld.global.u32 %r1, [%d3]; red.global.WHICH.TYPE [%d1], %r1;
ret;
}
"""

CONTRACT = """
[kernel]
isa = "ptx"
[launch]
block = THREADS
[[param]]
name = "A"
type = "TYPE"
shape = [THREADS]
[[param]]
name = "C"
type = "TYPE"
shape = [1]
access = "inout"
values = [FIRST]
[ensures]
formula = "C[i] = WHICH(k < COUNT, A[k])"
"""


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("which", "fmt", "first", "count", "verdict"),
    [
        ("max", "s32", -(2**31), THREADS, Verdict.VERIFIED),
        ("min", "s32", 2**31 - 1, THREADS, Verdict.VERIFIED),
        ("max", "u32", 0, THREADS, Verdict.VERIFIED),
        ("min", "u32", 2**32 - 1, THREADS, Verdict.VERIFIED),
        ("max", "s32", -(2**31), THREADS - 1, Verdict.REFUTED),
        ("max", "s32", 0, THREADS, Verdict.REFUTED),
        ("min", "u32", 2**31, THREADS, Verdict.REFUTED),
    ],
)
def test_extrema_of_many_threads(
    which: str, fmt: str, first: int, count: int, verdict: Verdict, tmp_path: Path
) -> None:
    words = {"WHICH": which, "TYPE": fmt, "FIRST": str(first), "COUNT": str(count), "THREADS": str(THREADS)}
    kernel, contract = KERNEL, CONTRACT
    for word, value in words.items():
        kernel, contract = kernel.replace(word, value), contract.replace(word, value)
    (tmp_path / "k.ptx").write_text(kernel, encoding="utf-8")
    (tmp_path / "k.toml").write_text(contract, encoding="utf-8")
    assert verify(tmp_path / "k.ptx", tmp_path / "k.toml").result.verdict is verdict
