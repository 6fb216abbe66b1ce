"""Sizes at which an index overflows are a finding where a contract states them, else they are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from overflowing_kernels import CONTRACT, KERNEL

from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.verification import verify

LAST = 1 << 29
"""Elements of 4 bytes whose distances in bytes fit 31 bits."""


def _verified(
    folder: Path, end: str, kernel: str = KERNEL, *, every: bool = False
) -> tuple[Verdict, str, str]:
    (folder / "doubled.ptx").write_text(kernel, encoding="utf-8")
    (folder / "doubled.toml").write_text(CONTRACT.replace("END", end), encoding="utf-8")
    result = verify(folder / "doubled.ptx", folder / "doubled.toml", every=every).result
    (size,) = result.quantified
    return result.verdict, size.reason, "\n".join(map(str, result.findings))


@pytest.mark.parametrize(("end", "every"), [(" up to 1000000000", False), ("", True)])
def test_an_overflow_at_a_number_that_is_claimed_is_a_finding(end: str, every: bool, tmp_path: Path) -> None:
    verdict, _, findings = _verified(tmp_path, end, every=every)
    assert verdict is Verdict.REFUTED
    where = f"doubled.ptx:17: out-of-bounds: an index overflows: at n = {LAST + 64}, the smallest such size,"
    assert where in findings
    assert f"line 19 then accesses byte {-4 * LAST} of X, which has {4 * LAST + 256}" in findings
    assert f"it should be byte {4 * LAST}, X[{LAST}]" in findings


WIDE = "mul.wide.u32 %rd3, %r5, 4;"
WRAPPED = {
    "a load": ("cvt.s64.s32 %rd3, %r6;", "cvt.u64.u32 %rd3, %r6;", "line 19 then accesses X[0]"),
    "a store": (
        "cvt.s64.s32 %rd3, %r6;\n    add.s64 %rd4, %rd1, %rd3;\n    ld.global.f32 %f0, [%rd4];\n"
        "    add.f32 %f2, %f0, %f0;\n    mul.wide.u32 %rd5, %r5, 4;",
        WIDE + "\nadd.s64 %rd4, %rd1, %rd3;\nld.global.f32 %f0, [%rd4];\nadd.f32 %f2, %f0, %f0;\n"
        "cvt.u64.u32 %rd5, %r6;",
        "line 23 then accesses Y[0]",
    ),
    "a load that nobody uses": (
        "cvt.s64.s32 %rd3, %r6;",
        "cvt.u64.u32 %rd3, %r6;\nadd.s64 %rd4, %rd1, %rd3;\nld.global.f32 %f1, [%rd4];\n" + WIDE,
        "",
    ),
    "nothing": ("cvt.s64.s32 %rd3, %r6;", "cvt.s64.s32 %rd7, %r6;\n" + WIDE, ""),
}


@pytest.mark.parametrize("what", WRAPPED)
def test_an_index_that_wraps_within_its_array_is_a_finding_if_it_matters(what: str, tmp_path: Path) -> None:
    old, new, told = WRAPPED[what]
    assert old in KERNEL
    verdict, _, findings = _verified(tmp_path, " up to 2000000000", KERNEL.replace(old, new))
    assert (verdict is Verdict.REFUTED) == bool(told)
    if told:
        assert f"at n = {2 * LAST + 64}, the smallest such size," in findings and told in findings
        assert f"it should be {told[-4]}[{2 * LAST}]" in findings
    else:
        assert verdict is Verdict.VERIFIED


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
    assert overflow["is_smallest"] and overflow["is_outside"] and "X[" in overflow["access"]


def test_a_guard_is_no_matter_where_sizes_are_shown_up_to_a_number(tmp_path: Path) -> None:
    guard = "ld.param.u32 %r7, [n];\n    setp.ge.u32 %p, %r5, %r7;\n    @%p bra END;\n    shl.b32 %r6"
    kernel = KERNEL.replace("    shl.b32 %r6", guard).replace("    ret;", "END:\n    ret;")
    kernel = kernel.replace("    .reg .f32", "    .reg .pred %p;\n    .reg .f32").replace(
        "y)", "y, .param .u32 n)"
    )
    (tmp_path / "doubled.ptx").write_text(kernel, encoding="utf-8")
    passed = '[[param]]\nname = "n"\ntype = "u32"\nvalue = "n"\n[ensures]'
    for end in ("", " up to 1024"):
        text = CONTRACT.replace("END", end).replace("[ensures]", passed)
        (tmp_path / "doubled.toml").write_text(text, encoding="utf-8")
        result = verify(tmp_path / "doubled.ptx", tmp_path / "doubled.toml", every=bool(end)).result
        assert result.verdict is Verdict.VERIFIED and not result.notes
        assert result.quantified[0].shown_to == (1024 if end else LAST)
    (tmp_path / "doubled.toml").write_text(
        text.replace('"any multiple of 64 up to 1024"', "64"), encoding="utf-8"
    )
    assert verify(tmp_path / "doubled.ptx", tmp_path / "doubled.toml").result.notes
