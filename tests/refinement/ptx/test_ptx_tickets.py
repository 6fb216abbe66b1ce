"""Blocks that take tickets, of which the last goes on: right whoever is last, and no more than that."""

from __future__ import annotations

import numpy as np
import pytest
from ptx_machine import BODY, Bench, kernel, kinds, written

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.ptx.every_order import in_every_order
from mmaproof.refinement.ptx.run import machine
from mmaproof.refinement.ptx.run.launching import Pointer
from mmaproof.refinement.ptx.state.address_spaces import Buffer
from mmaproof.refinement.terms.store import UNDEFINED
from mmaproof.refinement.terms.traversal import leaves_of
from mmaproof.spec.formats import U32

BLOCKS = 3

COUNTED = """
ld.param.u64 %d0, [p0];
ld.param.u64 %d1, [p1];
ld.param.u64 %d2, [p2];
mov.u32 %r0, %ctaid.x;
mov.u32 %r1, %tid.x;
mov.u32 %r2, %nctaid.x;
setp.ne.u32 %p0, %r1, 0;
mad.lo.u32 %r3, %r0, 64, %r1;
mul.wide.u32 %d3, %r3, 4;
add.u64 %d3, %d1, %d3;
mad.lo.u32 %r4, %r0, 10, %r1;
st.global.u32 [%d3], %r4;
membar.gl;
bar.sync 0;
@%p0 bra TAKEN;
atom.global.add.u32 %r5, [%d0], 1;
st.shared.u32 [ticket], %r5;
TAKEN:
bar.sync 0;
ld.shared.u32 %r6, [ticket];
sub.u32 %r7, %r2, 1;
setp.ne.u32 %p1, %r6, %r7;
@%p1 bra DONE;
membar.gl;
mul.wide.u32 %d4, %r1, 4;
add.u64 %d5, %d1, %d4;
ld.global.u32 %r8, [%d5];
ld.global.u32 %r9, [%d5+256];
ld.global.u32 %r10, [%d5+512];
add.u32 %r8, %r8, %r9;
add.u32 %r8, %r8, %r10;
add.u64 %d4, %d2, %d4;
st.global.u32 [%d4], %r8;
@%p0 bra DONE;
st.global.u32 [%d0], 0;
DONE:
"""
"""Every block writes 64 numbers; the last one to take a ticket sums them, and sets the count back."""

SUMS = [30 + 3 * thread for thread in range(64)]


def run(body: str, *, first: int = 0) -> tuple[Bench, machine.Run]:
    """Run blocks that have a count, numbers of each, and an array of sums, in every order that matters."""
    bench = Bench()
    words = bench.store.constants(np.array([first, 0, 0, 0], dtype=np.uint64), 8)
    count = Pointer(Buffer("count", 4, 32, (words, np.zeros(4, dtype=np.uint8)), writable=True))
    text = kernel(body, 3, ".shared .b32 ticket;")
    given = [count, written("part", 256 * BLOCKS), written("sums", 256)]
    done = in_every_order(
        bench.store,
        lambda turns: bench.run(text, given, grid=BLOCKS, block=64, turns=turns),
        ["part"],
    )
    return bench, done


def line_of(body: str, instruction: str) -> int:
    lines = [line.strip() for line in body.strip().splitlines()]
    return BODY + next(number for number, line in enumerate(lines) if line.startswith(instruction))


def test_the_last_block_sums() -> None:
    bench, done = run(COUNTED)
    assert (kinds(done), done.complete) == ({}, True)
    assert bench.left(done, "sums", U32).tolist() == SUMS
    assert bench.left(done, "count", U32).tolist() == [0]
    assert not done.assumptions


RESET = "st.global.u32 [%d0], 0;"
TAKE = "atom.global.add.u32 %r5, [%d0], 1;"
COMPARE = "setp.ne.u32 %p1, %r6, %r7;"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(TAKE, "atom.global.inc.u32 %r5, [%d0], 10;", id="inc"),
        pytest.param(RESET, "atom.global.exch.b32 %r20, [%d0], 0;", id="reset by an exchange"),
        pytest.param(COMPARE, "setp.lt.u32 %p1, %r6, %r7;", id="at least"),
        pytest.param(COMPARE, "add.u32 %r6, %r6, 1;\nsetp.ne.u32 %p1, %r6, %r2;", id="counted from 1"),
        pytest.param(
            COMPARE, "rem.u32 %r6, %r6, %r2;\nsetp.ne.u32 %p1, %r6, %r7;", id="modulo the number of blocks"
        ),
        pytest.param(
            "membar.gl;\nbar.sync 0;\n@%p0 bra TAKEN;\n",
            "bar.sync 0;\n@%p0 bra TAKEN;\nmembar.gl;\n",
            id="a fence of the thread that takes it",
        ),
        pytest.param(
            "membar.gl;\nbar.sync 0;\n@%p0 bra TAKEN;\natom.global.add",
            "bar.sync 0;\n@%p0 bra TAKEN;\natom.acq_rel.gpu.global.add",
            id="a release",
        ),
    ],
)
def test_tickets_are_taken_in_many_ways(old: str, new: str) -> None:
    assert old in COUNTED
    bench, done = run(COUNTED.replace(old, new))
    assert (kinds(done), done.complete) == ({}, True)
    assert bench.left(done, "sums", U32).tolist() == SUMS


def test_a_count_that_wraps_needs_no_reset() -> None:
    wrapped = COUNTED.replace(TAKE, "atom.global.inc.u32 %r5, [%d0], 2;").replace(RESET, "")
    bench, done = run(wrapped)
    assert kinds(done) == {}
    assert bench.left(done, "count", U32).tolist() == [0]


def test_without_a_fence_behind_the_ticket_that_is_assumed() -> None:
    head, _, tail = COUNTED.rpartition("membar.gl;\n")
    bench, done = run(head + tail)
    assert kinds(done) == {}
    assert bench.left(done, "sums", U32).tolist() == SUMS
    assert any("fence" in assumption for assumption in done.assumptions)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("membar.gl;\nbar.sync 0;\n@%p0", "bar.sync 0;\n@%p0", id="no fence"),
        pytest.param("membar.gl;\nbar.sync 0;\n@%p0", "membar.cta;\nbar.sync 0;\n@%p0", id="a narrow fence"),
        pytest.param("membar.gl;\nbar.sync 0;\n@%p0", "membar.gl;\n@%p0", id="no barrier"),
        pytest.param(
            "st.global.u32 [%d3], %r4;\nmembar.gl;", "membar.gl;\nst.global.u32 [%d3], %r4;", id="late"
        ),
        pytest.param("sub.u32 %r7, %r2, 1;", "sub.u32 %r7, %r2, 2;", id="the last but one"),
        pytest.param("sub.u32 %r7, %r2, 1;", "mov.u32 %r7, 0;", id="the first"),
        pytest.param(COMPARE, "setp.eq.u32 %p1, %r6, %r7;", id="all but the last"),
        pytest.param(RESET, f"bar.sync 0;\n{RESET}", id="a barrier that some reach"),
    ],
)
def test_faults_are_found(old: str, new: str) -> None:
    assert old in COUNTED
    _, done = run(COUNTED.replace(old, new, 1))
    assert any(kind.refutes for kind in kinds(done))


def test_a_missing_fence_is_a_race_of_the_read() -> None:
    faulty = COUNTED.replace("membar.gl;\nbar.sync 0;\n@%p0", "bar.sync 0;\n@%p0")
    _, done = run(faulty)
    assert line_of(faulty, "ld.global.u32 %r8") in kinds(done)[Kind.RACE]


def test_what_the_last_block_alone_reads_of_itself_is_not_the_same_whoever_it_is() -> None:
    own = COUNTED.replace("add.u64 %d5, %d1, %d4;", "mov.u64 %d5, %d3;").replace(
        "ld.global.u32 %r9, [%d5+256];\nld.global.u32 %r10, [%d5+512];", "mov.u32 %r9, 0;\nmov.u32 %r10, 0;"
    )
    _, done = run(own)
    assert list(kinds(done)) == [Kind.UNSUPPORTED]
    assert "comes last" in done.findings[0].message


def test_a_fault_of_one_block_alone_is_found_though_another_is_last_at_first() -> None:
    own = COUNTED.replace("@%p1 bra DONE;", "setp.eq.u32 %p2, %r0, 1;\n@%p1 bra DONE;\n@%p2 bra DONE;")
    _, done = run(own)
    assert kinds(done)
    assert not any(kind is Kind.RACE for kind in kinds(done))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(COMPARE, "setp.ne.u32 %p1, %r6, %r0;", id="its own number"),
        pytest.param("mul.wide.u32 %d4, %r1, 4;", "mul.wide.u32 %d4, %r6, 4;", id="an address"),
    ],
)
def test_more_than_who_is_last_is_not_modelled(old: str, new: str) -> None:
    _, done = run(COUNTED.replace(old, new, 1))
    assert Kind.UNSUPPORTED in kinds(done)


def test_the_number_itself_is_no_value() -> None:
    bench, done = run(COUNTED.replace("add.u32 %r8, %r8, %r10;", "add.u32 %r8, %r8, %r6;"))
    leaves = leaves_of(bench.store, done.contents["sums"].lanes.terms)
    assert bench.store.are(UNDEFINED, leaves).any()


def test_the_word_that_others_write_cannot_be_read_on_the_way() -> None:
    read = COUNTED.replace("@%p0 bra TAKEN;\n", "@%p0 bra TAKEN;\nld.volatile.global.u32 %r20, [%d0];\n", 1)
    _, done = run(read)
    assert Kind.RACE in kinds(done)


def test_a_count_that_begins_elsewhere_has_another_last() -> None:
    _, done = run(COUNTED, first=1)
    assert any(kind.refutes for kind in kinds(done))


def test_too_many_tickets_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmaproof.refinement.ptx.every_order.MOST_TICKETS", BLOCKS - 1)
    _, done = run(COUNTED)
    assert kinds(done) == {Kind.UNSUPPORTED: [line_of(COUNTED, "atom")]}
