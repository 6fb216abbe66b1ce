"""Loops that tensor maps feed, for every number of a size.

A thread copies some rows of a matrix a turn to shared memory, and a warp adds up its columns.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from quantified_kernels import prove_size

from mmaproof.refinement.findings.result import Equality
from mmaproof.refinement.ptx.any_size.size_proofs import SizeProof
from mmaproof.spec.errors import UnsupportedError

ROWS = 2
"""Of a box."""

CONTRACT = """
[kernel]
isa = "ptx"
[launch]
grid = 1
block = 32
[sizes]
K = "DOMAIN"
[[array]]
name = "a"
type = "f32"
shape = ["K", 32]
[[param]]
name = "map"
type = "tensor_map"
to = "a"
box = [2, 32]
[[param]]
name = "y"
type = "f32"
shape = [32]
access = "out"
[[param]]
name = "k_size"
type = "s32"
value = "K"
[ensures]
formula = "y[j] = sum(k, a[k, j])"
"""

COPY = (
    "@!%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[buf], [%d10, {%r9, %r5}], [bar];"
)


def summing(
    *,
    expected: str = "256",
    copy: str = COPY,
    free: str = "bar.sync 0;",
    wait: str = "mbarrier.try_wait.parity.shared.b64 %p2, [bar], %r6;\n@!%p2 bra WAIT;",
    turn: str = "",
) -> str:
    """Return a kernel; ``%r5`` is the first row of a turn, ``%r6`` the parity of its phase."""
    return f"""
.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 y, .param .s32 k_size)
{{
.reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %d<16>; .reg .f32 %f<8>;
.shared .align 8 .b8 bar[8]; .shared .align 128 .b8 buf[256];
mov.b64 %d10, map; cvta.param.u64 %d10, %d10;
ld.param.u64 %d0, [y]; ld.param.s32 %r1, [k_size];
mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0;
@!%p0 mbarrier.init.shared.b64 [bar], 1;
fence.mbarrier_init.release.cluster;
bar.sync 0;
mul.wide.u32 %d3, %r0, 4; add.u64 %d6, %d0, %d3; shl.b32 %r2, %r0, 2;
mov.u32 %r3, buf; add.u32 %r3, %r3, %r2;
mov.f32 %f0, 0f00000000; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r9, 0; mov.u32 %r10, {expected};
LOOP:
{turn}
@!%p0 mbarrier.arrive.expect_tx.shared.b64 %d9, [bar], %r10;
{copy}
WAIT: {wait}
ld.shared.f32 %f1, [%r3]; ld.shared.f32 %f2, [%r3+128];
add.f32 %f0, %f0, %f1; add.f32 %f0, %f0, %f2;
{free}
xor.b32 %r6, %r6, 1;
add.s32 %r5, %r5, {ROWS};
setp.lt.s32 %p1, %r5, %r1;
@%p1 bra LOOP;
st.global.f32 [%d6], %f0;
ret;
}}
"""


def proof_of(text: str, folder: Path, domain: str = "any multiple of 2 up to 100000") -> SizeProof:
    """Prove a kernel for every number of rows."""
    path = folder / "k.ptx"
    path.write_text(text)
    return prove_size(CONTRACT.replace("DOMAIN", domain), path)


def test_boxes_are_shown_for_every_number_of_rows(tmp_path: Path) -> None:
    proof = proof_of(summing(), tmp_path)
    assert proof.equality is Equality.VALUE and not proof.limit
    assert proof.first <= 20


def test_where_sizes_decide_how_much_a_box_has_every_rest_is_a_proof(tmp_path: Path) -> None:
    """Rows outside of the matrix are zeros."""
    assert not proof_of(summing(), tmp_path, "any up to 100000").limit


FAULTS = {
    "the stage is filled again before all have read it": {"free": ""},
    "fewer bytes are expected than come": {"expected": "128"},
    "nobody waits": {"wait": ""},
    "the next rows are taken": {"copy": COPY.replace("%r5", "%r11"), "turn": "add.s32 %r11, %r5, 2;"},
    "from some turn on fewer bytes are expected": {
        "turn": "setp.gt.s32 %p3, %r5, 5000; @%p3 mov.u32 %r10, 128;",
    },
    "from some turn on the same rows are taken": {
        "copy": COPY.replace("%r5", "%r11"),
        "turn": "min.s32 %r11, %r5, 4000;",
    },
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_not_shown(fault: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError):
        proof_of(summing(**FAULTS[fault]), tmp_path)
