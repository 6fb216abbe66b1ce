"""Blocks that copy boxes of tensor maps, for every number of tiles.

Each block copies a tile of a matrix to shared memory, doubles it, and copies it to the same place of another.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from quantified_kernels import prove_blocks

from mmaproof.refinement.findings.result import Equality
from mmaproof.refinement.ptx.any_size.size_proofs import BlockProof
from mmaproof.spec.errors import UnsupportedError

CONTRACT = """
[kernel]
isa = "ptx"
[launch]
grid = ["N // 32", "M // 4"]
block = 32
[sizes]
M = "any multiple of 4 up to 4096"
N = "any multiple of 32 up to 4096"
[[array]]
name = "a"
type = "f32"
shape = ["M", "N"]
[[array]]
name = "c"
type = "f32"
shape = ["M", "N"]
access = "out"
[[param]]
name = "a_map"
type = "tensor_map"
to = "a"
box = [4, 32]
[[param]]
name = "c_map"
type = "tensor_map"
to = "c"
box = [4, 32]
[ensures]
formula = "c[i, j] = a[i, j] + a[i, j]"
"""

LOAD = (
    "@!%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[buf], [%d1, {%r3, %r4}], [bar];"
)
STORE = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d2, {%r3, %r4}], [buf];"


def doubling(store: str = STORE, rows: str = "shl.b32 %r4, %ctaid.y, 2;", before: str = "") -> str:
    """Return a kernel; ``%r3`` and ``%r4`` are the first column and row of its tile."""
    lanes = "\n".join(
        f"ld.shared.f32 %f1, [%r6+{128 * row}]; add.f32 %f1, %f1, %f1; st.shared.f32 [%r6+{128 * row}], %f1;"
        for row in range(4)
    )
    return f"""
.version 8.8
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 a_map[128], .param .align 64 .b8 c_map[128])
{{
.reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %d<16>; .reg .f32 %f<8>;
.shared .align 8 .b8 bar[8]; .shared .align 128 .b8 buf[1024];
mov.b64 %d1, a_map; cvta.param.u64 %d1, %d1; mov.b64 %d2, c_map; cvta.param.u64 %d2, %d2;
mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0;
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y;
shl.b32 %r3, %r1, 5; {rows.replace("%ctaid.y", "%r2")}
@!%p0 mbarrier.init.shared.b64 [bar], 1;
fence.mbarrier_init.release.cluster;
bar.sync 0;
@!%p0 mbarrier.arrive.expect_tx.shared.b64 %d9, [bar], 512;
{LOAD}
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
@!%p2 bra WAIT;
shl.b32 %r5, %r0, 2; mov.u32 %r6, buf; add.u32 %r6, %r6, %r5;
{lanes}
fence.proxy.async.shared::cta;
bar.sync 0;
{before}
@%p0 bra DONE;
{store}
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
DONE:
ret;
}}
"""


def proof_of(text: str, folder: Path, contract: str = CONTRACT) -> BlockProof:
    """Prove a kernel for every number of tiles."""
    path = folder / "k.ptx"
    path.write_text(text)
    return prove_blocks(path, contract)


def test_tiles_are_shown_for_every_number(tmp_path: Path) -> None:
    proof = proof_of(doubling(), tmp_path)
    assert proof.equality in (Equality.BITS, Equality.VALUE) and not proof.limit


RAGGED = (
    CONTRACT.replace('"any multiple of 4 up', '"any up')
    .replace('"any multiple of 32 up', '"any multiple of 4 up')
    .replace('["N // 32", "M // 4"]', '["cdiv(N, 32)", "cdiv(M, 4)"]')
)


def test_the_last_tile_may_have_fewer_rows_and_columns(tmp_path: Path) -> None:
    assert not proof_of(doubling(), tmp_path, RAGGED).limit


def test_what_lies_beside_the_matrix_is_zero(tmp_path: Path) -> None:
    """The elements that a last tile lacks are loaded as zeros, and stored nowhere."""
    plus = RAGGED.replace("a[i, j] + a[i, j]", "a[i, j] + a[i, j] + 1")
    with pytest.raises(UnsupportedError):
        proof_of(doubling(), tmp_path, plus)


def test_what_lies_beside_the_matrix_is_no_zero_where_the_map_has_nan(tmp_path: Path) -> None:
    filled = CONTRACT.replace('to = "a"', 'to = "a"\nfill = "nan"', 1)
    assert not proof_of(doubling(), tmp_path, filled).limit
    ragged = RAGGED.replace('to = "a"', 'to = "a"\nfill = "nan"', 1)
    with pytest.raises(UnsupportedError, match="which NaN stands for elements outside"):
        proof_of(doubling(), tmp_path, ragged)


OF_THREAD_1 = (
    f"setp.eq.u32 %p4, %r0, 1;\n@%p4 {STORE}\n"
    "@%p4 cp.async.bulk.commit_group;\n@%p4 cp.async.bulk.wait_group 0;"
)

HARMLESS = {
    "two threads copy the same tile": {"before": OF_THREAD_1},
    "in two steps": {"before": "add.s32 %r4, %r4, 4; sub.s32 %r4, %r4, 4;"},
}


@pytest.mark.parametrize("edit", HARMLESS)
def test_a_harmless_edit_is_shown(edit: str, tmp_path: Path) -> None:
    assert not proof_of(doubling(**HARMLESS[edit]), tmp_path).limit


FAULTS = {
    "the next row": {"before": "add.s32 %r4, %r4, 1;"},
    "rows of tiles as columns": {"store": STORE.replace("%r3, %r4", "%r4, %r3")},
    "tiles that overlap": {"rows": "shl.b32 %r4, %ctaid.y, 1;"},
    "tiles far down are not stored": {"before": "setp.gt.u32 %p3, %r2, 800; @%p3 bra DONE;"},
    "all tiles far down are stored as one": {"before": "min.s32 %r4, %r4, 4000;"},
    "nothing is stored": {"store": ""},
    "another tile is stored there besides": {"store": f"{STORE}\n{STORE.replace('[buf]', '[buf+128]')}"},
    "another thread copies another tile there": {"before": OF_THREAD_1.replace("[buf]", "[buf+128]")},
    "a column before the matrix": {"before": "add.s32 %r3, %r3, -1;"},
}


@pytest.mark.parametrize("contract", [CONTRACT, RAGGED], ids=["whole", "ragged"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_not_shown(fault: str, contract: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError):
        proof_of(doubling(**FAULTS[fault]), tmp_path, contract)


def test_sums_in_boxes_are_refused_by_name(tmp_path: Path) -> None:
    added = STORE.replace("cp.async", "cp.reduce.async").replace("shared::cta.", "shared::cta.add.")
    with pytest.raises(UnsupportedError, match="to an array whose extents depend on sizes"):
        proof_of(doubling(store=added), tmp_path)
