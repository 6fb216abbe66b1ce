"""``brx.idx``: a branch to the label of a table that an index names."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.verification import verify

TEXT = """.version 8.5
.target sm_90
.address_size 64
.visible .entry choose(.param .u64 d)
{
.reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<2>;
ROADS: .branchtargets FIRST, SECOND, FIRST;
ld.param.u64 %d0, [d];
mov.u32 %r0, %tid.x;
rem.u32 %r1, %r0, 3;
mul.wide.u32 %d1, %r0, 4;
add.u64 %d1, %d0, %d1;
setp.lt.u32 %p0, %r0, 30;
mov.b32 %r2, 9;
@%p0 brx.idx %r1, ROADS;
bra END;
FIRST: mov.b32 %r2, 5; bra END;
SECOND: mov.b32 %r2, 7;
END: st.global.u32 [%d1], %r2;
ret;
}
"""
CONTRACT = """
[kernel]
isa = "ptx"
[launch]
grid = 1
block = 32
[[param]]
name = "D"
type = "u32"
shape = [32]
access = "out"
[ensures]
formula = "D[i] = where(i >= 30, 9, where(i % 3 == 1, 7, 5))"
"""


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("FIRST, SECOND, FIRST;", "FIRST, SECOND, FIRST;", None),
        ("FIRST, SECOND, FIRST;", "FIRST, SECOND, SECOND;", Kind.WRONG_VALUE),
        ("FIRST, SECOND, FIRST;", "FIRST, SECOND;", Kind.UNDEFINED),
    ],
)
def test_a_table_of_branches(old: str, new: str, kind: Kind | None, tmp_path: Path) -> None:
    kernel, contract = tmp_path / "k.ptx", tmp_path / "k.toml"
    kernel.write_text(TEXT.replace(old, new))
    contract.write_text(CONTRACT)
    found = verify(kernel, contract).result
    if kind is None:
        assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())
    else:
        assert (found.verdict, found.findings[0].kind) == (Verdict.REFUTED, kind)
        assert found.findings[0].line == 15 or kind is Kind.WRONG_VALUE
