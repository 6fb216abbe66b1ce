"""Threads that wait for other blocks: what is right in every order of the blocks passes, and no more."""

from __future__ import annotations

import numpy as np
import pytest
from ptx_machine import BODY, Bench, kernel, kinds, written

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.ptx.run import machine
from mmaproof.refinement.ptx.run.launching import Pointer
from mmaproof.refinement.ptx.state.address_spaces import Buffer
from mmaproof.refinement.ptx.state.semaphores import FENCED_BEFORE
from mmaproof.spec.formats import U32

SETUP = """
ld.param.u64 %d0, [p0];
ld.param.u64 %d1, [p1];
mov.u32 %r0, %ctaid.x;
mov.u32 %r1, %tid.x;
mad.wide.u32 %d2, %r1, 4, %d1;
setp.ne.u32 %p0, %r1, 0;
setp.eq.u32 %p1, %r0, 0;
"""

WAIT = """
@%p0 bra WAITED;
AGAIN:
ld.acquire.gpu.global.u32 %r10, [%d0];
setp.ne.u32 %p2, %r10, %r0;
@%p2 bra AGAIN;
WAITED:
bar.sync 0;
"""
"""The first thread of each block waits for its turn."""

ADD = """
@%p1 bra FIRST;
ld.global.u32 %r11, [%d2];
FIRST:
selp.u32 %r11, 5, %r11, %p1;
add.u32 %r11, %r11, %r0;
st.global.u32 [%d2], %r11;
bar.sync 0;
"""
"""Every block adds its number to what those before it left."""

RELEASE = """
@%p0 bra RELEASED;
add.u32 %r12, %r0, 1;
st.release.gpu.global.u32 [%d0], %r12;
RELEASED:
"""

TURNS = WAIT + ADD + RELEASE


def run(body: str, *, blocks: int = 3, threads: int = 64, words: int = 4) -> tuple[Bench, machine.Run]:
    """Run blocks that have words, which are 0 at first, and an array of an element for each thread."""
    bench = Bench()
    zeros = bench.store.constants(np.zeros(4 * words, dtype=np.uint64), 8)
    at = np.zeros(4 * words, dtype=np.uint8)
    locks = Pointer(Buffer("locks", 4 * words, 32, (zeros, at), writable=True))
    text = kernel(SETUP + body, 2)
    return bench, bench.run(text, [locks, written("c", 4 * threads)], grid=blocks, block=threads)


def line_of(body: str, instruction: str) -> int:
    lines = [line.strip() for line in (SETUP + body).strip().splitlines()]
    return BODY + next(number for number, line in enumerate(lines) if line.startswith(instruction))


def test_turns_put_blocks_in_order() -> None:
    bench, done = run(TURNS)
    assert (kinds(done), done.complete) == ({}, True)
    assert bench.left(done, "c", U32).tolist() == [5 + 1 + 2] * 64
    assert done.assumptions


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("st.release.gpu.global", "fence.acq_rel.gpu;\nst.relaxed.gpu.global", id="a fence"),
        pytest.param("st.release.gpu.global", "membar.gl;\nst.volatile.global", id="a volatile store"),
        pytest.param(
            "add.u32 %r12, %r0, 1;\nst.release.gpu.global",
            "mov.u32 %r12, 1;\nred.release.gpu.global.add",
            id="a sum",
        ),
        pytest.param("setp.ne.u32", "setp.lt.u32", id="at least"),
        pytest.param("@%p2 bra AGAIN;", "nanosleep.u32 100;\n@%p2 bra AGAIN;", id="sleep"),
        pytest.param(
            "ld.acquire.gpu.global.u32 %r10, [%d0];",
            "ld.volatile.global.u32 %r10, [%d0];\nmembar.gl;",
            id="a volatile load",
        ),
        pytest.param(
            "AGAIN:\nld.acquire.gpu.global.u32 %r10, [%d0];\nsetp.ne.u32 %p2, %r10, %r0;\n@%p2 bra AGAIN;",
            "ld.volatile.global.u32 %r10, [%d0];\nsetp.eq.u32 %p2, %r10, %r0;\n@%p2 bra CAME;\n"
            "AGAIN:\nld.volatile.global.u32 %r10, [%d0];\nsetp.ne.u32 %p2, %r10, %r0;\n@%p2 bra AGAIN;\n"
            "CAME:\nmembar.gl;",
            id="a volatile load before the loop",
        ),
        pytest.param("@%p0 bra WAITED;\n", "", id="all threads wait"),
        pytest.param("ld.acquire.gpu.global", "ld.acquire.gpu", id="a generic address"),
    ],
)
def test_turns_are_taken_in_many_ways(old: str, new: str) -> None:
    assert old in TURNS
    bench, done = run(TURNS.replace(old, new))
    assert (kinds(done), done.complete) == ({}, True)
    assert bench.left(done, "c", U32).tolist() == [8] * 64


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("[%d2], %r11;\nbar.sync 0;", "[%d2], %r11;", id="no barrier"),
        pytest.param("WAITED:\nbar.sync 0;", "WAITED:", id="no barrier behind the loop"),
        pytest.param("st.release.gpu", "st.relaxed.gpu", id="relaxed store"),
        pytest.param("st.release.gpu.global", "st.global", id="weak store"),
        pytest.param("ld.acquire.gpu", "ld.relaxed.gpu", id="relaxed load"),
        pytest.param("st.release.gpu.global", "fence.acq_rel.cta;\nst.relaxed.gpu.global", id="narrow fence"),
        pytest.param(
            "st.release.gpu.global",
            "@%p1 fence.acq_rel.gpu;\nst.relaxed.gpu.global",
            id="a fence of the first block alone",
        ),
    ],
)
def test_what_is_not_released_and_acquired_races(old: str, new: str) -> None:
    assert old in TURNS
    _, done = run(TURNS.replace(old, new))
    assert Kind.RACE in kinds(done)


def test_a_turn_that_never_comes_is_a_deadlock() -> None:
    body = TURNS.replace("add.u32 %r12, %r0, 1;", "add.u32 %r12, %r0, 2;")
    _, done = run(body)
    assert kinds(done) == {Kind.DEADLOCK: [line_of(body, "ld.acquire")]}
    assert not done.complete


UNEQUAL = "setp.ne.u32 %p2, %r10, %r14;"

ARRIVE = """
st.global.u32 [%d2], %r1;
bar.sync 0;
@%p0 bra ARRIVED;
red.release.gpu.global.add.u32 [%d0], 1;
ARRIVED:
"""
GATHER = """
setp.ne.u32 %p3, %r0, 2;
@%p3 bra DONE;
@%p0 bra WAITED;
AGAIN:
ld.acquire.gpu.global.u32 %r10, [%d0];
setp.lt.u32 %p2, %r10, 2;
@%p2 bra AGAIN;
WAITED:
bar.sync 0;
ld.global.u32 %r11, [%d2];
DONE:
"""
"""The last of three blocks reads what the others, which count, have written."""


def of_two(body: str) -> str:
    return "setp.eq.u32 %p4, %r0, 2;\n@%p4 bra COUNTED;\n" + body + "COUNTED:\n"


def test_all_that_count_are_waited_for() -> None:
    rows = ARRIVE.replace("st.global.u32 [%d2], %r1;", "st.global.u32 [%d2], 7;")
    _, done = run(of_two(rows) + GATHER)
    assert (kinds(done), done.complete) == ({}, True)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        pytest.param(
            of_two(ARRIVE) + GATHER.replace("setp.lt.u32 %p2, %r10, 2;", "setp.lt.u32 %p2, %r10, 1;"),
            "before all waiting threads are known to have seen",
            id="one of two that count",
        ),
        pytest.param(
            of_two(ARRIVE.replace("global.add.u32 [%d0], 1;", "global.add.u32 [%d0], %r13;"))
            .replace("st.global", "add.u32 %r13, %r0, 1;\nst.global")
            + GATHER.replace("%r10, 2;", "%r10, 3;"),
            "writes the word unordered",
            id="sums of different numbers",
        ),
        pytest.param(
            TURNS.replace("@%p2 bra AGAIN;", "add.u32 %r20, %r20, 1;\n@%p2 bra AGAIN;").replace(
                "st.global.u32 [%d2], %r11;", "st.global.u32 [%d2], %r20;"
            ),
            "counts the iterations",
            id="a loop that counts",
        ),
        pytest.param(
            TURNS.replace("st.global.u32 [%d2], %r11;", "st.global.u32 [%d2], %r10;"),
            "depends on it",
            id="the word is used",
        ),
        pytest.param(
            TURNS.replace("setp.ne.u32 %p2, %r10,", "add.u32 %r21, %r21, %r10;\nsetp.ne.u32 %p2, %r21,"),
            "more than the value read last",
            id="values are added up",
        ),
        pytest.param(
            TURNS.replace("@%p2 bra AGAIN;", "st.global.u32 [%d2], %r0;\n@%p2 bra AGAIN;"),
            "st.global.u32 in line 24 is within the loop",
            id="a store within the loop",
        ),
        pytest.param(
            TURNS.replace("ld.acquire.gpu", "ld.acquire.cta"), "ld.acquire.cta", id="a narrow acquire"
        ),
        pytest.param(
            TURNS.replace("setp.ne.u32 %p2, %r10, %r0;", "sub.u32 %r14, 2, %r0;\n" + UNEQUAL)
            .replace("add.u32 %r12, %r0, 1;", "sub.u32 %r12, 3, %r0;"),
            "",
            id="blocks in reverse",
        ),
    ],
)  # fmt: skip
def test_what_is_not_the_same_in_every_order_is_refused(body: str, why: str) -> None:
    _, done = run(body)
    if not why:  # the last block goes first, and what it makes of nothing is overwritten
        assert (kinds(done), done.complete) == ({}, True)
        assert "some of them never written" in done.notes[0].message
        return
    assert not done.complete
    (finding,) = [each for each in done.findings if each.kind is Kind.UNSUPPORTED]
    assert why in finding.message


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [("and.pred %p3", 0), ("or.pred %p3", 1), ("popc.u32 %r5", 3)],
)
def test_a_barrier_combines_predicates(reduction: str, expected: int) -> None:
    result = reduction.split()[1]
    wanted = "mov.u32 %r6, %r5;" if result == "%r5" else f"selp.u32 %r6, 1, 0, {result};"
    body = f"setp.lt.u32 %p2, %r1, 3;\nbar.red.{reduction}, 0, %p2;\n{wanted}\nst.global.u32 [%d2], %r6;"
    bench, done = run(body, blocks=1)
    assert kinds(done) == {}
    assert bench.left(done, "c", U32).tolist() == [expected] * 64


ALL_FENCE = "[%d2], %r11;\nmembar.gl;\nbar.sync 0;"
BEHIND = TURNS.replace("[%d2], %r11;\nbar.sync 0;", ALL_FENCE).replace("st.release.gpu", "st.relaxed.gpu")
"""All threads fence what they wrote; one of them tells the next block, behind a barrier and no fence."""


ACQUIRE = "ld.acquire.gpu.global.u32 %r10, [%d0];"
READ_AND_FENCE = "ld.relaxed.gpu.global.u32 %r10, [%d0];\nfence.sc.gpu;"
READ_AND_WEAKER = "ld.relaxed.gpu.global.u32 %r10, [%d0];\nfence.acq_rel.gpu;"
WEAKER = ("membar.gl", "fence.acq_rel.gpu")


@pytest.mark.parametrize(
    ("changes", "presumes"),
    [
        pytest.param([(ACQUIRE, READ_AND_FENCE)], False, id="sequentially consistent fences on both sides"),
        pytest.param([], True, id="an acquire"),
        pytest.param([(ACQUIRE, READ_AND_WEAKER)], True, id="a weaker fence behind the load"),
        pytest.param([(ACQUIRE, READ_AND_FENCE), WEAKER], True, id="weaker fences before the barrier"),
        pytest.param(
            [("st.relaxed.gpu", "fence.acq_rel.gpu;\nst.relaxed.gpu")], False, id="and one behind it"
        ),
        pytest.param([("st.relaxed.gpu", "st.release.gpu")], False, id="and a release"),
    ],
)
def test_fences_before_a_barrier_count_if_all_are_sequentially_consistent_or_that_is_said(
    changes: list[tuple[str, str]], presumes: bool
) -> None:
    body = BEHIND
    for old, new in changes:
        assert old in body
        body = body.replace(old, new)
    _, done = run(body)
    assert (kinds(done), done.complete) == ({}, True)
    assert (FENCED_BEFORE in done.assumptions) is presumes


@pytest.mark.parametrize("read", ["ld.global.u32", "ld.volatile.global.u32", "ld.relaxed.gpu.global.u32"])
def test_a_word_that_is_read_but_not_waited_for_races_with_who_writes_it(read: str) -> None:
    _, done = run(f"{read} %r20, [%d0];\n{TURNS}")
    assert Kind.RACE in kinds(done)


PASSED = """
setp.ge.u32 %p3, %r1, 32;
@%p0 bra BEGUN;
st.volatile.shared.u32 [flag], 0;
BEGUN:
bar.sync 0;
mov.u32 %r20, box;
and.b32 %r21, %r1, 31;
shl.b32 %r22, %r21, 2;
add.u32 %r20, %r20, %r22;
@%p3 bra READ;
st.shared.u32 [%r20], %r21;
st.global.u32 [%d2], %r21;
membar.cta;
bar.warp.sync -1;
@%p0 bra DONE;
st.volatile.shared.u32 [flag], 1;
bra.uni DONE;
READ:
AGAIN:
ld.volatile.shared.u32 %r10, [flag];
setp.eq.u32 %p2, %r10, 0;
@%p2 bra AGAIN;
membar.cta;
xor.b32 %r20, %r20, 124;
ld.shared.u32 %r11, [%r20];
st.global.u32 [%d2], %r11;
DONE:
"""
"""One warp passes numbers to the other, by a word of shared memory that this one waits for."""


def run_passed(body: str) -> tuple[Bench, machine.Run]:
    bench = Bench()
    text = kernel(SETUP + body, 2, ".shared .align 128 .b32 box[32];\n.shared .b32 flag;")
    given = [written("locks", 16), written("c", 256)]
    return bench, bench.run(text, given, grid=3, block=64)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        pytest.param("", "", None, id="right"),
        pytest.param("bar.warp.sync -1;", "bar.warp.sync -1;\nmembar.cta;", None, id="a fence behind it"),
        pytest.param("ld.volatile", "ld.acquire.cta", None, id="an acquire"),
        pytest.param("membar.cta;\nbar.warp.sync -1;", "", Kind.RACE, id="no fence"),
        pytest.param("bar.warp.sync -1;", "", Kind.RACE, id="no barrier of the warp"),
        pytest.param("membar.cta;\nxor", "xor", Kind.RACE, id="no fence behind the loop"),
        pytest.param("[flag], 1;", "[flag], 0;", Kind.DEADLOCK, id="never set"),
        pytest.param("BEGUN:\nbar.sync 0;", "BEGUN:", Kind.UNSUPPORTED, id="maybe read too early"),
        pytest.param(
            "st.global.u32 [%d2], %r11;", "st.global.u32 [%d2], %r10;", Kind.UNSUPPORTED, id="used for more"
        ),
    ],
)
def test_threads_of_a_block_wait_for_words_of_shared_memory(old: str, new: str, kind: Kind | None) -> None:
    assert old in PASSED
    bench, done = run_passed(PASSED.replace(old, new))
    if kind is None:
        assert (kinds(done), done.complete) == ({}, True)
        assert bench.left(done, "c", U32).tolist()[32:] == [31 - each for each in range(32)]
    else:
        assert kind in kinds(done)
