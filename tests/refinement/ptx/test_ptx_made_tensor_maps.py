"""Tensor maps that a kernel makes, releases and acquires, and every way to do so wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result, Verdict
from mmaproof.refinement.ptx.synchronisation.tensor_map_objects import ZEROS
from mmaproof.refinement.verification import verify

CONTRACT = """
[kernel]
isa = "ptx"
[launch]
grid = 2
block = 64
[[param]]
name = "A"
type = "u32"
shape = [6, 16]
[[param]]
name = "C"
type = "u32"
shape = [8, 8]
access = "out"
[[param]]
name = "maps"
type = "u8"
shape = [256]
access = "scratch"
[ensures]
formula = "C[i, j] = where(i < 6, A[i, j + 4], 0)"
"""


def replaced(field: str, *values: str, bits: int = 32) -> str:
    return f"tensormap.replace.tile.{field}.shared::cta.b1024.b{bits} [%d3], {', '.join(values)};"


FIELDS = "\n".join(
    (
        replaced("global_address", "%d0", bits=64),
        replaced("rank", "1"),
        replaced("box_dim", "0", "8"),
        replaced("box_dim", "1", "4"),
        replaced("global_dim", "0", "16"),
        replaced("global_dim", "1", "6"),
        replaced("global_stride", "0", "64", bits=64),
        replaced("element_stride", "0", "1"),
        replaced("element_stride", "1", "1"),
        replaced("elemtype", "2"),
    )
)

RELEASE = (
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
    "[%d2], [%d3], 128;"
)
ACQUIRE = "fence.proxy.tensormap::generic.acquire.gpu [%d2], 128;"
CLEAR = "st.shared.b32 [%r2], 0;"
TOGETHER = "bar.warp.sync -1;"

TEXT = f""".version 8.6
.target sm_90a
.address_size 64
.visible .entry made(.param .u64 a, .param .u64 c, .param .u64 maps)
{{
.reg .b64 %d<16>; .reg .b32 %r<16>; .reg .pred %p<8>;
.shared .align 128 .b8 map[128];
.shared .align 128 .b8 tile[128];
.shared .align 8 .b8 full[8];
ld.param.u64 %d0, [a];
ld.param.u64 %d1, [c];
ld.param.u64 %d2, [maps];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
mul.wide.u32 %d4, %r1, 128;
add.u64 %d2, %d2, %d4;
add.u64 %d1, %d1, %d4;
mov.u32 %r2, map;
cvt.u64.u32 %d3, %r2;
mad.lo.u32 %r2, %r0, 4, %r2;
setp.gt.u32 %p0, %r0, 31;
setp.ne.u32 %p1, %r0, 0;
@%p0 bra MADE;
{CLEAR}
{TOGETHER}
@%p1 bra FILLED;
mbarrier.init.shared.b64 [full], 1;
{FIELDS}
FILLED:
{TOGETHER}
{RELEASE}
{ACQUIRE}
MADE:
bar.sync 0;
@%p1 bra WAIT;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 128;
mul.lo.u32 %r3, %r1, 4;
mov.u32 %r4, 4;
mov.u32 %r5, tile;
mov.u32 %r6, full;
cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r5], [%d2, {{%r4, %r3}}], [%r6];
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;
@!%p2 bra WAIT;
@%p0 bra DONE;
mov.u32 %r5, tile;
mad.lo.u32 %r5, %r0, 4, %r5;
ld.shared.u32 %r7, [%r5];
mul.wide.u32 %d5, %r0, 4;
add.u64 %d5, %d1, %d5;
st.global.u32 [%d5], %r7;
DONE:
ret;
}}
"""


def verified(folder: Path, text: str) -> Result:
    kernel, described = folder / "k.ptx", folder / "k.toml"
    kernel.write_text(text)
    described.write_text(CONTRACT)
    return verify(kernel, described).result


def test_a_map_that_the_kernel_makes_is_verified(tmp_path: Path) -> None:
    found = verified(tmp_path, TEXT)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())
    assert ZEROS in found.assumptions


FAULTS = {
    "a wrong stride": ('[%d3], 0, 64;', '[%d3], 0, 32;', {Kind.WRONG_VALUE}),
    "a wrong extent": (
        replaced("global_dim", "1", "6"), replaced("global_dim", "1", "5"), {Kind.WRONG_VALUE},
    ),
    "an extent beyond the array": (
        replaced("global_dim", "1", "6"), replaced("global_dim", "1", "7"), {Kind.OUT_OF_BOUNDS},
    ),
    "a box that is smaller": (
        replaced("box_dim", "1", "4"), replaced("box_dim", "1", "2"), {Kind.DEADLOCK},
    ),
    "a field that is missing": (replaced("element_stride", "1", "1"), "", {Kind.UNDEFINED}),
    "a stride that is no multiple of 16": ('[%d3], 0, 64;', '[%d3], 0, 72;', {Kind.UNDEFINED}),
    "no acquire": (ACQUIRE, "", {Kind.PROXY}),
    "an acquire of another map": (ACQUIRE, ACQUIRE.replace("[%d2]", "[%d2+128]"), {Kind.PROXY}),
    "an acquire that is too early": (f"{RELEASE}\n{ACQUIRE}", f"{ACQUIRE}\n{RELEASE}", {Kind.PROXY}),
    "no barrier between fields and copy": (f"FILLED:\n{TOGETHER}", "FILLED:", {Kind.RACE}),
    "no barrier between zeros and fields": (f"{CLEAR}\n{TOGETHER}", CLEAR, {Kind.RACE}),
    "another element type": (replaced("elemtype", "2"), replaced("elemtype", "1"), {Kind.DEADLOCK}),
    "coordinates that are swapped": ("{%r4, %r3}", "{%r3, %r4}", {Kind.WRONG_VALUE}),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_map_is_refuted(fault: str, tmp_path: Path) -> None:
    old, new, kinds = FAULTS[fault]
    assert old in TEXT
    found = verified(tmp_path, TEXT.replace(old, new, 1))
    assert found.verdict is Verdict.REFUTED
    assert found.findings[0].kind in kinds


HARMLESS = {
    "fields in another order": (
        replaced("rank", "1") + "\n" + replaced("box_dim", "0", "8"),
        replaced("box_dim", "0", "8") + "\n" + replaced("rank", "1"),
    ),
    "a field that is set twice": (
        replaced("rank", "1"), replaced("rank", "3") + "\n" + replaced("rank", "1"),
    ),
    "who copies acquires": (
        f"{RELEASE}\n{ACQUIRE}\nMADE:\nbar.sync 0;\n@%p1 bra WAIT;",
        f"{RELEASE}\nMADE:\nbar.sync 0;\n@%p1 bra WAIT;\n{ACQUIRE}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", HARMLESS)
def test_a_harmless_edit_is_verified(edit: str, tmp_path: Path) -> None:
    old, new = HARMLESS[edit]
    assert old in TEXT
    found = verified(tmp_path, TEXT.replace(old, new, 1))
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


def test_a_map_that_is_neither_given_nor_made_is_unsupported(tmp_path: Path) -> None:
    found = verified(tmp_path, TEXT.replace(RELEASE, "").replace(ACQUIRE, ""))
    assert found.verdict is Verdict.UNSUPPORTED


WAIT = "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;\n@!%p2 bra WAIT;\n@%p0 bra DONE;"
AGAIN = f"{WAIT}\n{RELEASE}\n{ACQUIRE}"


def test_a_map_over_one_whose_copies_are_over_is_verified(tmp_path: Path) -> None:
    assert WAIT in TEXT
    found = verified(tmp_path, TEXT.replace(WAIT, AGAIN))
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


def test_a_map_over_one_that_copies_may_still_use_is_unsupported(tmp_path: Path) -> None:
    early = f"WAIT:\n@%p0 bra LATE;\n{RELEASE}\n{ACQUIRE}\nLATE:\nmbarrier.try_wait"
    text = TEXT.replace("WAIT:\nmbarrier.try_wait", early).replace("@!%p2 bra WAIT;", "@!%p2 bra LATE;")
    found = verified(tmp_path, text)
    assert found.verdict is Verdict.UNSUPPORTED
    assert "may still use" in found.findings[0].message
