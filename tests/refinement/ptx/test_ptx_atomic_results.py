"""What atomic operations return: known where one thread alone changes a word of global memory by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.verification import verify

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry kept(.param .u64 x, .param .u64 y, .param .u64 z)
{
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<9>; .reg .f32 %f<4>;
    ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u64 %d3, [z];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 4, %r2; WORD
    mul.wide.u32 %d4, %r3, 4; add.s64 %d5, %d1, %d4; add.s64 %d7, %d3, %d4;
    mul.wide.u32 %d6, %r4, 4; add.s64 %d6, %d2, %d6;
    ld.global.b32 %r5, [%d5];
    BODY
    st.global.b32 [%d7], %r6;
    ret;
}
"""

CONTRACT = """
[kernel]
isa = "ptx"
[launch]
grid = 2
block = 4
[[param]]
name = "X"
type = "TYPE"
shape = [8]
[[param]]
name = "Y"
type = "TYPE"
shape = [8]
access = "inout"
[[param]]
name = "Z"
type = "TYPE"
shape = [8]
access = "out"
[ensures]
formula = ["Y[i] = NEW", "Z[i] = RETURNED"]
"""

OWN = "mov.u32 %r4, %r3;"
ADD = "atom.global.add.s32 %r6, [%d6], %r5;"
TWICE = f"{ADD} mov.b32 %r7, %r6; {ADD} sub.s32 %r6, %r6, %r7;"
IN_TURN = "mov.u32 %r4, %r2;"
SUM = "s32(old(Y[i]) + X[i])"
BOTH = "s32(old(Y[i]) + where(i < 4, X[i] + X[(i + 4) % 8], 0))"


@pytest.mark.parametrize(
    ("word", "body", "fmt", "new", "returned", "verdict"),
    [
        (OWN, ADD, "s32", SUM, "old(Y[i])", "verified"),
        (OWN, ADD.replace("s32", "f32"), "f32", "old(Y[i]) + X[i]", "old(Y[i])", "verified"),
        (OWN, ADD.replace("add", "max"), "s32", "max(old(Y[i]), X[i])", "old(Y[i])", "verified"),
        (OWN, TWICE, "s32", "s32(old(Y[i]) + 2 * X[i])", "X[i]", "verified"),
        (OWN, ADD, "s32", SUM, SUM, "refuted"),
        (IN_TURN, ADD, "s32", BOTH, "old(Y[i % 4])", "refuted"),
    ],
)  # fmt: skip
def test_what_was_there_is_returned_where_no_other_thread_changes_it(
    word: str, body: str, fmt: str, new: str, returned: str, verdict: str, tmp_path: Path
) -> None:
    kernel, contract = tmp_path / "kept.ptx", tmp_path / "kept.toml"
    kernel.write_text(KERNEL.replace("WORD", word).replace("BODY", body), encoding="utf-8")
    text = CONTRACT.replace("TYPE", fmt).replace("NEW", new).replace("RETURNED", returned)
    contract.write_text(text, encoding="utf-8")
    result = verify(kernel, contract).result
    assert result.verdict == verdict, result.findings


def test_another_thread_that_changes_the_word_later_leaves_it_open(tmp_path: Path) -> None:
    """The first block alone takes the result, before the second one changes the words."""
    body = f"setp.eq.u32 %p1, %r1, 0; mov.b32 %r6, 0; @%p1 {ADD} @!%p1 red.global.add.s32 [%d6], %r5;"
    kernel, contract = tmp_path / "kept.ptx", tmp_path / "kept.toml"
    kernel.write_text(KERNEL.replace("WORD", IN_TURN).replace("BODY", body), encoding="utf-8")
    text = CONTRACT.replace("TYPE", "s32").replace("RETURNED", "where(i < 4, old(Y[i]), 0)")
    contract.write_text(text.replace("NEW", BOTH), encoding="utf-8")
    findings = verify(kernel, contract).result.findings
    assert "Z[0] uses what an atomic operation returns" in findings[0].message


PACKED = ADD.replace("s32", "noftz.f16x2")


@pytest.mark.parametrize(("word", "verdict"), [(OWN, "verified"), (IN_TURN, "refuted")])
def test_both_halves_of_a_word_are_returned(word: str, verdict: str, tmp_path: Path) -> None:
    kernel, contract = tmp_path / "kept.ptx", tmp_path / "kept.toml"
    kernel.write_text(KERNEL.replace("WORD", word).replace("BODY", PACKED), encoding="utf-8")
    text = CONTRACT.replace("TYPE", "f16").replace("[8]", "[16]").replace("RETURNED", "old(Y[i])")
    contract.write_text(text.replace("NEW", "old(Y[i]) + X[i]"), encoding="utf-8")
    assert verify(kernel, contract).result.verdict == verdict


LED = """and.b32 %r7, %r5, 1; shl.b32 %r4, %r3, 1; add.u32 %r7, %r7, %r4;
    mul.wide.u32 %d6, %r7, 4; add.s64 %d6, %d2, %d6; mov.b32 %r6, 0;
    setp.lt.u32 %p1, %r3, THREADS; @%p1 atom.global.add.s32 %r6, [%d6], 1;"""


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        (LED.replace("THREADS", "4"), "verified"),
        (LED.replace("THREADS", "4").replace("%r5, 1", "%r5, 2"), "refuted"),
        (LED.replace("THREADS", "4").replace("shl.b32 %r4, %r3, 1", "mov.b32 %r4, 0"), "refuted"),
    ],
    ids=["its own pair", "the next thread's, too", "one pair"],
)
def test_a_word_that_data_find_is_returned_where_no_other_thread_finds_it(
    body: str, verdict: str, tmp_path: Path
) -> None:
    kernel, contract = tmp_path / "kept.ptx", tmp_path / "kept.toml"
    kernel.write_text(KERNEL.replace("WORD", OWN).replace("BODY", body), encoding="utf-8")
    led = "where((X[i] & 1) == 1, old(Y[(2 * i + 1) % 8]), old(Y[2 * i % 8]))"
    text = CONTRACT.replace("TYPE", "s32").replace("RETURNED", f"where(i < 4, {led}, 0)")
    new = "s32(old(Y[i]) + where((X[i // 2] & 1) == i % 2, 1, 0))"
    contract.write_text(text.replace("NEW", new), encoding="utf-8")
    assert verify(kernel, contract).result.verdict == verdict
