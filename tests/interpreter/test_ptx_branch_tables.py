"""``brx.idx``: the interpreter, which reads the table, and the machine, which runs branches in its place."""

from __future__ import annotations

import numpy as np
from interpreter.ptx_comparison import Given, differences, interpreted, run_machine

from mmaproof.refinement.ptx.text.parser import parse
from mmaproof.refinement.ptx.text.plain_text import with_plain_branches

TEXT = """.version 8.5
.target sm_90
.address_size 64
.visible .entry choose(.param .u64 d)
{
.reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p<1>;
ROADS: .branchtargets FIRST, SECOND, THIRD;
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
THIRD: add.u32 %r2, %r0, 100; bra END;
SECOND: mov.b32 %r2, 7;
END: st.global.u32 [%d1], %r2;
ret;
}
"""


def test_both_go_where_the_table_says() -> None:
    arrays = [Given("d", "u32", None, 32)]
    module = parse(TEXT, "kernel.ptx")
    found = interpreted(module, arrays)
    got, done = run_machine(with_plain_branches(module), arrays, on_terms=False)
    assert done.findings == ()
    assert differences(arrays, found, got) == []
    assert found["d"].words.tolist() == [
        9 if lane >= 30 else (5, 7, lane + 100)[lane % 3] for lane in range(32)
    ]
    assert len(np.unique(found["d"].words)) > 3
