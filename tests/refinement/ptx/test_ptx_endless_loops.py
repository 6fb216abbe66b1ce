"""Loops that wait with weak loads, or for nothing, end with an answer and its line, and soon."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.verification import verify

HEAD = """.version 8.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pf, .param .u64 pa, .param .u64 pc)
{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .f32 %f<4>;
.shared .align 4 .b32 flag;
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r4, flag;
ld.param.u64 %d0, [pf]; ld.param.u64 %d1, [pa]; ld.param.u64 %d2, [pc];
"""

CONTRACT = """[kernel]
isa = "ptx"
[launch]
grid = {grid}
block = {block}
[[param]]
name = "F"
type = "u32"
shape = [1]
access = "inout"
values = [0]
[[param]]
name = "A"
type = "f32"
shape = [1]
[[param]]
name = "C"
type = "f32"
shape = [2]
access = "out"
[ensures]
formula = ["C[i] = A[0]", "F[i] = 1"]
"""


def result(folder: Path, text: str, grid: int, block: int) -> Result:
    kernel, contract = folder / "k.ptx", folder / "k.toml"
    kernel.write_text(HEAD + text, encoding="utf-8")
    contract.write_text(CONTRACT.format(grid=grid, block=block), encoding="utf-8")
    return verify(kernel, contract).result


def handed_over(poll: str, store: str, flag: str = "%d0") -> str:
    """Return a kernel of which thread 0 of block 0 hands a number over to thread 0 of block 1."""
    return f"""
setp.ne.s32 %p1, %r0, 0;
@%p1 bra DONE;
setp.ne.s32 %p0, %r1, 0;
@%p0 bra WAIT;
ld.global.f32 %f0, [%d1];
st.global.f32 [%d2+4], %f0;
fence.acq_rel.gpu;
mov.u32 %r2, 1;
{store} [{flag}], %r2;
bra DONE;
WAIT:
{poll}
ld.global.f32 %f1, [%d2+4];
st.global.f32 [%d2], %f1;
DONE:
ret;
}}
"""


def loop(load: str) -> str:
    return f"AGAIN:\n{load} %r3, [%d0];\nsetp.eq.s32 %p2, %r3, 0;\n@%p2 bra AGAIN;"


@pytest.mark.parametrize(
    "load", ["ld.global.u32", "ld.u32", "ld.weak.global.u32", "ld.global.cg.u32", "ld.global.nc.u32"]
)
def test_a_weak_load_that_polls_is_named(load: str, tmp_path: Path) -> None:
    found = result(tmp_path, handed_over(loop(load), "st.release.gpu.global.u32"), 2, 32)
    (finding,) = found.findings
    assert found.verdict == "unsupported" and finding.line
    assert f"repeats the same state for ever: {load} in line {finding.line - 2} is weak" in finding.message


def test_a_strong_load_waits(tmp_path: Path) -> None:
    text = handed_over(loop("ld.acquire.gpu.global.u32"), "st.release.gpu.global.u32")
    assert result(tmp_path, text, 2, 32).verdict == "verified"


def test_shared_memory_is_polled_in_vain_too(tmp_path: Path) -> None:
    text = handed_over(loop("ld.shared.u32").replace("%d0", "%r4"), "st.shared.u32", "%r4")
    text = "mov.u32 %r5, 0; st.shared.u32 [%r4], %r5; bar.sync 0;\n" + text.replace(
        "setp.ne.s32 %p1, %r0, 0;", "and.b32 %r6, %r0, 31; setp.ne.s32 %p1, %r6, 0; shr.u32 %r1, %r0, 5;"
    )
    found = result(tmp_path, text, 1, 64)
    assert any(
        "ld.shared.u32" in finding.message and "is weak" in finding.message for finding in found.findings
    )
    assert found.verdict != "verified"


@pytest.mark.parametrize(
    "poll",
    [
        "AGAIN: bra AGAIN;",
        "ld.global.u32 %r3, [%d0];\nAGAIN:\nsetp.eq.s32 %p2, %r3, 0;\n@%p2 bra AGAIN;",
        "AGAIN: add.s32 %r3, %r0, 5; setp.ne.s32 %p2, %r3, 0; @%p2 bra AGAIN;",
    ],
    ids=["nothing", "read once", "constant"],
)
def test_a_loop_that_changes_nothing_has_no_end(poll: str, tmp_path: Path) -> None:
    found = result(tmp_path, handed_over(poll, "st.global.u32"), 2, 32)
    assert found.verdict == "unsupported"
    assert "it changes nothing that its condition depends on" in found.findings[0].message


@pytest.mark.parametrize("turns", [255, 256, 257, 600])
def test_loops_that_count_end(turns: int, tmp_path: Path) -> None:
    text = f"""
mov.u32 %r3, {turns};
AGAIN:
sub.s32 %r3, %r3, 1;
setp.ne.s32 %p0, %r3, 0;
@%p0 bra AGAIN;
setp.ne.s32 %p1, %r0, 0;
@%p1 bra DONE;
ld.global.f32 %f0, [%d1];
st.global.f32 [%d2], %f0;
st.global.f32 [%d2+4], %f0;
mov.u32 %r2, 1;
st.global.u32 [%d0], %r2;
DONE:
ret;
}}
"""
    assert result(tmp_path, text, 1, 32).verdict == "verified"


COUNTED = """mov.u32 %r5, 0;
AGAIN:
{load} %r3, [%d0];
add.u32 %r6, %r5, 1;
{more}
setp.eq.s32 %p2, %r3, 0;
mov.u32 %r5, %r6;
@%p2 bra AGAIN;
"""
"""A loop that polls and counts, and the count as nvcc writes it: a copy at the end of each turn."""


def test_a_weak_poll_that_counts_its_turns_is_named(tmp_path: Path) -> None:
    poll = COUNTED.format(load="ld.global.u32", more="")
    found = result(tmp_path, handed_over(poll, "st.release.gpu.global.u32"), 2, 32)
    assert found.verdict == "unsupported"
    assert "repeats the same state for ever: ld.global.u32" in found.findings[0].message


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "more",
    [
        "setp.gt.u32 %p3, %r6, 1000000; @%p3 bra LATE;",
        "setp.gt.u32 %p3, %r6, 32; @!%p3 bra LESS; nanosleep.u32 100; LESS:",
    ],
    ids=["bound", "slower"],
)
def test_a_weak_poll_that_asks_how_often_it_did_is_given_up(more: str, tmp_path: Path) -> None:
    poll = COUNTED.format(load="ld.weak.global.u32", more=more) + "LATE:"
    found = result(tmp_path, handed_over(poll, "st.release.gpu.global.u32"), 2, 32)
    assert found.verdict == "unsupported"
    assert "only counted for" in found.findings[0].message
    assert "ld.weak.global.u32" in found.findings[0].message


SUMMED = """
setp.ne.s32 %p1, %r0, 0;
@%p1 bra DONE;
ld.global.f32 %f0, [%d1];
mov.f32 %f1, 0f00000000;
mov.u32 %r3, 0;
OUTER:
mov.u32 %r5, 0;
AGAIN:
{load}
{work}
add.u32 %r5, %r5, 1;
setp.lt.u32 %p0, %r5, {inner};
@%p0 bra AGAIN;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p0, %r3, {outer};
@%p0 bra OUTER;
cvt.rn.f32.u32 %f1, %r3;
mul.f32 %f1, %f1, 0f{scale};
mul.f32 %f0, %f0, %f1;
st.global.f32 [%d2], %f0;
st.global.f32 [%d2+4], %f0;
mov.u32 %r2, 1;
st.global.u32 [%d0], %r2;
DONE:
ret;
}}
"""


@pytest.mark.sample(4)
@pytest.mark.parametrize("load", ["", "ld.global.u32 %r6, [%d0];"])
@pytest.mark.parametrize("work", ["", "add.u32 %r7, %r5, %r3; setp.eq.u32 %p2, %r7, 1000000; @%p2 bra DONE;"])
@pytest.mark.parametrize(("inner", "outer"), [(1, 512), (2, 256), (512, 2)])
def test_nested_loops_that_count_end(inner: int, outer: int, load: str, work: str, tmp_path: Path) -> None:
    scale = f"{(127 - (outer.bit_length() - 1)) << 23:08X}"  # 1 / outer, a power of two
    text = SUMMED.format(load=load, work=work, inner=inner, outer=outer, scale=scale)
    assert result(tmp_path, text, 1, 32).verdict == "verified"


def test_a_wait_that_waits_in_an_inner_loop_is_named(tmp_path: Path) -> None:
    delay = "mov.u32 %r6, 0; WAITS: add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 16; @%p3 bra WAITS;"
    poll = f"AGAIN:\nld.global.u32 %r3, [%d0];\n{delay}\nsetp.eq.s32 %p2, %r3, 0;\n@%p2 bra AGAIN;"
    found = result(tmp_path, handed_over(poll, "st.release.gpu.global.u32"), 2, 32)
    assert found.verdict == "unsupported"
    assert "repeats the same state for ever: ld.global.u32" in found.findings[0].message
