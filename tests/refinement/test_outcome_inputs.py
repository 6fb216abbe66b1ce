"""Runs on numbers that meet comparisons of one element each: what is wrong only there is stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract_texts import contract_text
from forced_equality import equality_forced

from mmaproof.refinement.examine.trials import DisagreementError
from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.verification import verify

ROWS, WIDTH = 4, 6
BEGIN = """.version 8.0
.target sm_80
.address_size 64
.visible .entry rows(.param .u64 x, .param .u64 y) {
.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b32 %x<20>; .reg .b64 %d<9>;
ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; mov.u32 %r1, %tid.x;
mul.wide.u32 %d2, %r1, 24; add.s64 %d0, %d0, %d2; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;
mov.b32 %r8, 1;
"""
END = "st.global.b32 [%d1], %r8; ret; }\n"


def check(relation: str, left: str, right: str) -> str:
    return f"setp.{relation} %p1, {left}, {right}; selp.b32 %r8, %r8, 0, %p1;\n"


def verdict(checks: str, kind: str, folder: Path) -> Verdict:
    """Return the verdict of a kernel that stores 1 where no check fails, by a prover that says yes."""
    kernel, contract = folder / "rows.ptx", folder / "rows.toml"
    loads = "".join(f"ld.global.b32 %x{k}, [%d0+{4 * k}];\n" for k in range(WIDTH))
    kernel.write_text(BEGIN + loads + checks + END, encoding="utf-8")
    arrays = {"x": f"{kind} {ROWS} {WIDTH} in", "y": f"s32 {ROWS} out"}
    launch = f"\n[launch]\ngrid = 1\nblock = {ROWS}"
    contract.write_text(contract_text("y[i] = 0", arrays, ensures=launch), encoding="utf-8")
    with equality_forced():
        return verify(kernel, contract).result.verdict


MULTIPLES = "rem.s32 %r2, %x, {};\n" + check("eq.s32", "%r2", "{}")


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        (MULTIPLES.format(7, 3), "s32"),
        (MULTIPLES.format(1000, 0), "s32"),
        (check("ge.s32", "%x", "100") + check("lt.s32", "%x", "200"), "s32"),
        (check("gt.f32", "%x", "0f00000000") + check("lt.f32", "%x", "0f3F800000"), "f32"),
    ],
)
def test_what_all_elements_meet_is_seen(condition: str, kind: str, tmp_path: Path) -> None:
    zero = "0f00000000" if kind == "f32" else "0"
    condition += check(f"ne.{kind}", "%x", zero)
    checks = "".join(condition.replace("%x", f"%x{k}") for k in range(WIDTH))
    checks += "".join(check(f"ne.{kind}", f"%x{k}", f"%x{k + 1}") for k in range(WIDTH - 1))
    with pytest.raises(DisagreementError):
        verdict(checks, kind, tmp_path)


def test_equal_elements_among_others_that_differ_are_seen(tmp_path: Path) -> None:
    checks = "".join(check("eq.s32", f"%x{k}", f"%x{k + 2}") for k in range(WIDTH - 2))
    with pytest.raises(DisagreementError):
        verdict(checks + check("ne.s32", "%x0", "%x1"), "s32", tmp_path)
