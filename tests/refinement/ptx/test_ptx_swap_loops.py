"""Loops that update data by compare-and-swap: atomic operations that PTX has not got."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ptx_machine import Bench, kernel, kinds

from mmaproof.refinement.examine.output_comparison import OutputComparison
from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.ptx.run import machine
from mmaproof.refinement.verification import verify
from mmaproof.spec.formats import BF16, F32, U32

UPDATED = """
ld.param.u64 %d0, [p0];
ld.param.u64 %d1, [p1];
mov.u32 %r0, %ctaid.x;
mov.u32 %r1, %tid.x;
mad.lo.u32 %r2, %r0, 32, %r1;
mul.wide.u32 %d2, %r2, 4;
add.u64 %d2, %d0, %d2;
ld.global.u32 %r3, [%d2];
ld.global.u32 %r4, [%d1];
AGAIN:
max.s32 %r5, %r4, %r3;
atom.global.cas.b32 %r6, [%d1], %r4, %r5;
setp.ne.s32 %p0, %r4, %r6;
mov.u32 %r4, %r6;
@%p0 bra AGAIN;
"""
"""Every thread makes a word the greater of what it is and one of its own."""


CONTRACT = """
[kernel]
isa = "ptx"
[launch]
grid = 2
block = 32
[[param]]
name = "x"
type = "s32"
shape = [64]
[[param]]
name = "y"
type = "s32"
shape = [2]
access = "inout"
[ensures]
formula = "y[0] = max(old(y[0]), max(i, x[i]))"
"""


def run(body: str, numbers: np.ndarray, word: np.ndarray, fmt=U32) -> tuple[Bench, machine.Run]:  # type: ignore[no-untyped-def, type-arg]
    bench = Bench()
    given = [bench.given("x", numbers, fmt), bench.given("y", word, fmt, writable=True)]
    return bench, bench.run(kernel(body, 2), given, grid=2, block=32)


NUMBERS = np.arange(64, dtype=np.uint64) * 7 % 61
WORD = np.array([3, 5], dtype=np.uint64)

ADD = ("max.s32 %r5, %r4, %r3;", "add.s32 %r5, %r3, %r4;")
HALF = ("max.s32 %r5, %r4, %r3;", "add.rn.bf16x2 %r5, %r4, %r3;")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("max", "max", 60, id="maximum"),
        pytest.param(*ADD, (int(NUMBERS.sum()) + 3), id="sum"),
        pytest.param("setp.ne.s32", "setp.eq.s32", None, id="goes round when it is done"),
        pytest.param(
            "setp.ne.s32 %p0, %r4, %r6;\nmov.u32 %r4, %r6;\n@%p0",
            "mov.u32 %r7, %r6;\nsetp.eq.u32 %p0, %r7, %r4;\nmov.u32 %r4, %r7;\n@!%p0",
            60, id="written otherwise",
        ),
        pytest.param("ld.global.u32 %r4", "ld.volatile.global.u32 %r4", 60, id="a guess by a volatile load"),
        pytest.param(
            "ld.global.u32 %r4, [%d1];", "ld.global.u32 %r9, [%d1];\nmov.u32 %r4, %r9;", 60, id="a copy of it"
        ),
        pytest.param("@%p0 bra AGAIN;", "@%p0 bra AGAIN;\nst.global.u32 [%d2], %r4;", None, id="used behind"),
        pytest.param("AGAIN:", "st.global.u32 [%d1+4], %r4;\nAGAIN:", None, id="a guess used for more"),
        pytest.param("max.s32 %r5, %r4, %r3;", "mul.lo.s32 %r5, %r4, %r3;", None, id="a product"),
        pytest.param("max.s32 %r5, %r4, %r3;", "add.s32 %r5, %r4, %r4;", None, id="twice what it is"),
        pytest.param("max.s32 %r5, %r4, %r3;", "sub.s32 %r5, %r3, %r4;", None, id="a difference from"),
        pytest.param("mov.u32 %r4, %r6;", "mov.u32 %r4, %r5;", None, id="expects what it wrote"),
        pytest.param("AGAIN:", "AGAIN:\nadd.u32 %r3, %r3, 1;", None, id="adds more in every turn"),
        pytest.param(
            "@%p0 bra AGAIN;", "@%p0 bra AGAIN;\nred.global.add.u32 [%d1], 1;", None, id="and another atomic"
        ),
    ],
)  # fmt: skip
def test_updates_that_are_the_same_in_every_order(old: str, new: str, expected: int | None) -> None:
    assert old in UPDATED
    bench, done = run(UPDATED.replace(old, new), NUMBERS, WORD)
    if expected is None:
        assert set(kinds(done)) == {Kind.UNSUPPORTED}
    else:
        assert (kinds(done), done.complete) == ({}, True)
        assert bench.left(done, "y", U32).tolist() == [expected, 5]


def test_words_of_two_numbers_are_updated_number_by_number() -> None:
    numbers = np.array([0x3F80] * 256, dtype=np.uint64)[:128]
    bench, done = run(UPDATED.replace(*HALF), numbers, np.array([0x3F80, 0x4000], dtype=np.uint64), BF16)
    assert (kinds(done), done.complete, done.unordered) == ({}, True, True)
    assert bench.left(done, "y", BF16).tolist() == [0x4282, 0x4284]


def test_a_number_beside_another_one_is_kept() -> None:
    low = "and.b32 %r7, %r4, 0xffff0000;\nand.b32 %r8, %r4, 0xffff;\ncvt.u16.u32 %h0, %r8;\n"
    low += "cvt.u16.u32 %h1, %r3;\nadd.rn.bf16 %h0, %h0, %h1;\ncvt.u32.u16 %r8, %h0;\nor.b32 %r5, %r7, %r8;"
    numbers = np.array([0x3F80] * 128, dtype=np.uint64)
    bench, done = run(
        UPDATED.replace(ADD[0], low), numbers, np.array([0x3F80, 0x4000], dtype=np.uint64), BF16
    )
    assert (kinds(done), done.complete) == ({}, True)
    assert bench.left(done, "y", BF16).tolist() == [0x4282, 0x4000]


def test_a_maximum_of_floats_needs_no_order_and_races_with_a_store() -> None:
    text = UPDATED.replace("max.s32 %r5, %r4, %r3;", "max.f32 %r5, %r4, %r3;")
    numbers = np.random.default_rng(0).normal(size=64).astype(np.float32)
    word = np.array([-9, 0], dtype=np.float32)
    bench, done = run(text, numbers.view(np.uint32), word.view(np.uint32), F32)
    assert (kinds(done), done.complete, done.unordered) == ({}, True, False)
    assert bench.left(done, "y", F32).astype(np.uint32).view(np.float32)[0] == numbers.max()
    _, done = run(text.replace("AGAIN:", "st.global.u32 [%d1], 0;\nAGAIN:"), numbers, word.view(np.uint32))
    assert Kind.RACE in kinds(done)


def test_what_is_known_of_a_kernel_stays_known_where_terms_are_nested_too_deeply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def given_up(self: object, output: object) -> None:
        raise RecursionError

    monkeypatch.setattr(OutputComparison, "compare", given_up)
    racing = UPDATED.replace("AGAIN:", "st.global.u32 [%d1], 0;\nAGAIN:")
    (tmp_path / "k.ptx").write_text(kernel(racing, 2), encoding="utf-8")
    (tmp_path / "k.toml").write_text(CONTRACT, encoding="utf-8")
    result = verify(tmp_path / "k.ptx", tmp_path / "k.toml").result
    assert result.verdict == "refuted"
    assert {finding.kind for finding in result.findings} == {Kind.RACE, Kind.UNDECIDED}
