"""Barrier objects: what threads that meet at them see, and every way to use them wrongly."""

from __future__ import annotations

import numpy as np
import pytest
from ptx_machine import BODY, Bench, kernel, kinds, written

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.ptx.run import machine
from mmaproof.refinement.ptx.synchronisation.mbarrier import LOW_BIT
from mmaproof.spec.formats import U32

THREADS = 64

SETUP = """
ld.param.u64 %d0, [p0];
mov.u32 %r0, %tid.x;
mov.u32 %r1, bar;
mul.wide.u32 %d1, %r0, 4;
add.u64 %d0, %d0, %d1;
mov.u32 %r2, data;
mad.lo.u32 %r3, %r0, 4, %r2;
xor.b32 %r4, %r0, 63;
mad.lo.u32 %r4, %r4, 4, %r2;
setp.ne.u32 %p0, %r0, 0;
mov.u32 %r9, 0;
@%p0 bra MADE;
mbarrier.init.shared.b64 [%r1], 64;
mbarrier.init.shared.b64 [%r1+8], 64;
MADE:
bar.sync 0;
"""
"""`%r3` is each thread's own word, `%r4` that of the thread at the other end."""

MEET = """
AGAIN:
mbarrier.test_wait.shared.b64 %p1, [%r1], %d2;
@!%p1 bra AGAIN;
"""

LOOK = """
ld.shared.u32 %r5, [%r4];
st.global.u32 [%d0], %r5;
"""

TOGETHER = SETUP + "st.shared.u32 [%r3], %r0;\nmbarrier.arrive.shared.b64 %d2, [%r1];" + MEET + LOOK

TURNS = (
    SETUP
    + """
mov.u32 %r10, 0;
mov.u32 %r12, 0;
NEXT:
add.u32 %r11, %r0, %r10;
st.shared.u32 [%r3], %r11;
mbarrier.arrive.shared.b64 %d2, [%r1];
FULL:
mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r12, 100;
@%p1 bra READ;
bra FULL;
READ:
ld.shared.u32 %r5, [%r4];
mbarrier.arrive.release.cta.shared::cta.b64 _, [%r1+8];
EMPTY:
mbarrier.try_wait.parity.shared.b64 %p2, [%r1+8], %r12;
@!%p2 bra EMPTY;
xor.b32 %r12, %r12, 1;
add.u32 %r10, %r10, 1;
setp.lt.u32 %p3, %r10, 3;
@%p3 bra NEXT;
st.global.u32 [%d0], %r5;
"""
)
"""Three rounds with two barriers: all have written, all have read."""

COPIES = (
    SETUP
    + """
ld.param.u64 %d3, [p1];
add.u64 %d3, %d3, %d1;
cp.async.ca.shared.global [%r3], [%d3], 4;
cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];
WAIT:
mbarrier.test_wait.parity.shared.b64 %p1, [%r1], %r9;
@!%p1 bra WAIT;
"""
    + LOOK
)


def run(body: str, *edits: tuple[str, str], target: str = "sm_80", **how: int) -> tuple[Bench, machine.Run]:
    """Run a kernel with texts replaced, each of which it has."""
    for old, new in edits:
        assert old in body, old
        body = body.replace(old, new, 1)
    bench = Bench()
    text = kernel(body, 2, ".shared .align 8 .b64 bar[2]; .shared .align 4 .b32 data[64];", target)
    given = bench.given("a", np.arange(THREADS) * 3, U32)
    return bench, bench.run(text, [written("c", 4 * THREADS), given], block=THREADS, **how)


def line(body: str, text: str) -> int:
    """Return the line on which a text of a body stands."""
    return BODY + body.strip()[: body.strip().index(text)].count("\n")


ACROSS = 63 - np.arange(THREADS)


@pytest.mark.parametrize(
    ("body", "expected"),
    [(TOGETHER, ACROSS), (TURNS, ACROSS + 2), (COPIES, 3 * ACROSS)],
    ids=["together", "turns", "copies"],
)
def test_who_waits_sees_what_those_who_arrived_have_written(body: str, expected: np.ndarray) -> None:
    bench, done = run(body, target="sm_90")
    assert (done.complete, done.findings) == (True, ())
    np.testing.assert_array_equal(bench.left(done, "c", U32), expected)


def test_of_a_parity_in_a_register_the_lowest_bit_is_taken_and_said() -> None:
    bench, done = run(TURNS, ("xor.b32 %r12, %r12, 1;", "not.b32 %r12, %r12;"), target="sm_90")
    assert (done.complete, done.findings) == (True, ())
    assert LOW_BIT in done.assumptions
    np.testing.assert_array_equal(bench.left(done, "c", U32), ACROSS + 2)


def test_a_parity_is_a_literal_of_0_or_1() -> None:
    _, done = run(COPIES, ("[%r1], %r9;", "[%r1], 2;"), target="sm_90")
    assert done.findings[0].kind is Kind.UNDEFINED


ARRIVE = "mbarrier.arrive.shared.b64 %d2, [%r1];"
COPY = "cp.async.ca.shared.global [%r3], [%d3], 4;"
HAND = "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];"
WAIT = """WAIT:
mbarrier.test_wait.parity.shared.b64 %p1, [%r1], %r9;
@!%p1 bra WAIT;"""
ASK = "@!%p1 bra AGAIN;"

SLEEPING = """@%p1 bra DONE;
nanosleep.u32 20;
mov.u64 %d7, %globaltimer;
bra AGAIN;
DONE:"""
ASKED_BEFORE = """mbarrier.test_wait.shared.b64 %p4, [%r1], %d2;
selp.u32 %r20, 1, 0, %p4;
setp.ne.u32 %p5, %r20, 0;
@%p5 bra DONE;
AGAIN:"""
TWICE = ARRIVE.replace("arrive", "arrive.noComplete").replace("];", "], 1;") + ARRIVE


def test_who_waits_for_its_copies_besides_tells_no_less() -> None:
    bench, done = run(COPIES, (WAIT, WAIT.replace("AGAIN", "OTHER") + "\ncp.async.wait_all;\nbar.sync 0;"))
    assert done.findings == ()
    np.testing.assert_array_equal(bench.left(done, "c", U32), 3 * ACROSS)
    _, done = run(COPIES, (HAND, HAND + "\ncp.async.wait_all;"))
    assert done.findings == ()
    _, done = run(COPIES, (HAND, HAND + "\ncp.async.wait_all;"), (WAIT, "bar.sync 0;"))
    assert done.findings == ()


SAME = {
    "each arrives twice": (("[%r1], 64", "[%r1], 128"), (ARRIVE, TWICE)),
    "for the last time": ((ARRIVE, ARRIVE.replace("arrive", "arrive_drop")),),
    "sleeping": ((ASK, SLEEPING),),
    "asked before the loop": (("AGAIN:", ASKED_BEFORE), (ASK, ASK + "\nDONE:")),
}


@pytest.mark.parametrize("name", SAME)
def test_ways_to_write_the_same(name: str) -> None:
    _, done = run(TOGETHER, *SAME[name])
    assert (done.complete, done.findings) == (True, ())


INIT, ARRIVAL, TEST, LOAD, STORE = (
    "mbarrier.init",
    "mbarrier.arrive",
    "mbarrier.test",
    "ld.shared",
    "st.shared",
)
TRY = "mbarrier.try_wait.parity.shared.b64"
RACE, DEADLOCK, UNDEFINED, UNINITIALISED = Kind.RACE, Kind.DEADLOCK, Kind.UNDEFINED, Kind.UNINITIALISED
INVALIDATED = "bar.sync 0;\n@!%p0 mbarrier.inval.shared.b64 [%r1];\nbar.sync 0;"
ANOTHER = "mbarrier.init.shared.b64 [%r1], 64;\n"

FAULTS = {
    "too few arrivals": (TOGETHER, ("[%r1], 64", "[%r1], 63"), RACE, ARRIVAL),
    "too many arrivals": (TOGETHER, ("[%r1], 64", "[%r1], 65"), DEADLOCK, TEST),
    "nobody waits": (TOGETHER, (MEET, ""), RACE, LOAD),
    "asked but not waited for": (TOGETHER, (ASK, ""), RACE, LOAD),
    "written after arriving": (TOGETHER, (ARRIVE, ARRIVE + "\nst.shared.u32 [%r3], 7;"), RACE, LOAD),
    "not published": (TOGETHER, ("bar.sync 0;", ""), RACE, ARRIVAL),
    "made by every thread": (TOGETHER, ("@%p0 bra MADE;", ""), UNDEFINED, INIT),
    "made again while in use": (TOGETHER, (LOOK, ANOTHER + LOOK), UNDEFINED, ANOTHER + "\nld"),
    "misaligned": (TOGETHER, ("mov.u32 %r1, bar;", "mov.u32 %r1, bar+4;"), Kind.MISALIGNED, INIT),
    "never made": (TOGETHER, ("mbarrier.init.shared.b64 [%r1], 64;", ""), UNINITIALISED, ARRIVAL),
    "no arrivals are expected": (TOGETHER, ("[%r1], 64", "[%r1], 0"), UNDEFINED, INIT),
    "used after its end": (TOGETHER, ("bar.sync 0;", INVALIDATED), UNINITIALISED, ARRIVAL),
    "overwritten": (
        TOGETHER,
        (ARRIVE, "st.shared.u32 [%r1+4], 1;" + ARRIVE),
        UNDEFINED,
        "st.shared.u32 [%r1",
    ),
    "state of another barrier": (TOGETHER, (ARRIVE, ARRIVE.replace("r1", "r1+8")), UNDEFINED, TEST),
    "nothing released": (TOGETHER, ("arrive.shared", "arrive.relaxed.cta.shared"), RACE, LOAD),
    "nothing acquired": (TOGETHER, ("test_wait.", "test_wait.relaxed.cta."), RACE, LOAD),
    "noComplete ends the phase": (TOGETHER, (ARRIVE, TWICE.split(";")[0] + ";"), UNDEFINED, ARRIVAL),
    "phase waited for twice": (TURNS, ("xor.b32 %r12, %r12, 1;", ""), RACE, TRY),
    "another parity": (TURNS, ("[%r1+8], %r12;", "[%r1+8], %r9;"), RACE, TRY),
    "not all have read": (TURNS, (f"{TRY} %p2, [%r1+8], %r12;\n@!%p2 bra EMPTY;", ""), RACE, STORE),
    "a stage is never free": (TURNS, ("_, [%r1+8]", "_, [%r1]"), DEADLOCK, TRY),
    "the first parity is 1": (TURNS, ("mov.u32 %r12, 0;", "mov.u32 %r12, 1;"), RACE, "mbarrier.try_wait"),
    "copies not waited for": (COPIES, (HAND, ARRIVE), RACE, LOAD),
    "copies behind the arrival": (COPIES, (COPY + "\n" + HAND, HAND + "\n" + COPY), RACE, LOAD),
    "a block barrier for copies": (COPIES, (WAIT, "bar.sync 0;"), RACE, LOAD),
    "own copies not waited for": (COPIES, (WAIT, "mov.u32 %r4, %r3;"), RACE, LOAD),
    "an arrival more for each copy": (COPIES, (".noinc", ""), DEADLOCK, TEST),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_where_it_shows(name: str) -> None:
    body, edit, kind, where = FAULTS[name]
    _, done = run(body, edit, target="sm_90")
    assert line(body.replace(*edit, 1), where) in kinds(done).get(kind, ()), done.findings


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (
            (ASK, "@%p1 bra DONE;\nadd.u32 %r4, %r4, 0;\nbra AGAIN;\nDONE:"),
            "%r4 depends on the number of polls",
        ),
        (
            (ASK, "@%p1 bra DONE;\nst.shared.u32 [%r3], 1;\nbra AGAIN;\nDONE:"),
            "st.shared.u32 in line",
        ),
        (
            (ASK, "selp.u32 %r20, 1, 2, %p1;\nst.global.u32 [%d0], %r20;"),
            "st.global.u32 in line",
        ),
        (
            (ASK, "@%p1 bra DONE;\nadd.u32 %r1, %r1, 8;\nbra AGAIN;\nDONE:"),
            "polls something else",
        ),
        (("mbarrier.test_wait", "@%p0 mbarrier.test_wait"), "has a guard"),
        (
            (ASK, "@!%p1 bra AGAIN;\nmbarrier.pending_count.b64 %r30, %d2;"),
            "depends on the order",
        ),
        (("mbarrier.arrive.", "fence.acq_rel.cta;\nmbarrier.arrive.relaxed.cta."), "of a kernel with fences"),
        ((ASK, "@!%p1 bra AGAIN;\nld.shared.u32 %r31, [%r1];"), "opaque"),
        (("mbarrier.arrive.shared.", "mbarrier.arrive.shared::cluster."), "other blocks"),
    ],
)
def test_what_is_more_than_to_wait_is_not_supported(edit: tuple[str, str], says: str) -> None:
    _, done = run(TOGETHER, edit)
    assert any(finding.kind is Kind.UNSUPPORTED and says in finding.message for finding in done.findings), (
        done.findings
    )


def test_one_lane_arrives_for_its_warp_once_the_warp_has_come_together() -> None:
    body = SETUP.replace("[%r1], 64", "[%r1], 2") + (
        "st.shared.u32 [%r3], %r0;\nbar.warp.sync -1;\nand.b32 %r15, %r0, 31;\nsetp.eq.u32 %p6, %r15, 0;\n"
        f"@%p6 {ARRIVE}\n{WAIT}" + LOOK
    )
    bench, done = run(body)
    assert done.findings == ()
    np.testing.assert_array_equal(bench.left(done, "c", U32), ACROSS)
    _, done = run(body, ("bar.warp.sync -1;", ""))
    assert list(kinds(done)) == [RACE]


HANDED = (
    SETUP.replace("[%r1], 64", "[%r1], 1").replace("[%r1+8], 64", "[%r1+8], 2")
    + """
mov.u32 %r10, 0;
mov.u32 %r12, 0;
and.b32 %r15, %r0, 31;
setp.eq.u32 %p6, %r15, 0;
NEXT:
@%p0 bra FULL;
xor.b32 %r13, %r12, 1;
FREE:
mbarrier.try_wait.parity.shared.b64 %p2, [%r1+8], %r13;
@!%p2 bra FREE;
mbarrier.arrive.shared.b64 %d2, [%r1];
FULL:
mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r12;
@!%p1 bra FULL;
shfl.sync.idx.b32 %r14, %r0, 0, 31, -1;
@%p6 mbarrier.arrive.shared.b64 %d3, [%r1+8];
xor.b32 %r12, %r12, 1;
add.u32 %r10, %r10, 1;
setp.lt.u32 %p3, %r10, 3;
@%p3 bra NEXT;
st.global.u32 [%d0], %r14;
"""
)
"""One thread tells all, and is told by a lane of each warp."""


def test_a_lane_knows_of_its_warp_behind_what_all_execute_together() -> None:
    _, done = run(HANDED, target="sm_90")
    assert (done.complete, done.findings) == (True, ())
    _, done = run(HANDED, ("shfl.sync.idx.b32 %r14, %r0, 0, 31, -1;", "mov.u32 %r14, 0;"), target="sm_90")
    assert list(kinds(done)) == [RACE]


TRIED = """mbarrier.test_wait.shared.b64 %p1, [%r1], %d2;
selp.u32 %r20, 1, 0, %p1;
setp.gt.u32 %p7, %r0, 5;
@%p7 bra ON;
nanosleep.u32 20;
ON:
setp.ne.u32 %p5, %r20, 0;
@%p5 bra DONE;
AGAIN:
mbarrier.test_wait.shared.b64 %p1, [%r1], %d2;
@!%p1 bra AGAIN;
DONE:
"""
"""Asked once, then again, with a branch between that does not depend on the answer."""


def test_a_branch_between_polls_that_does_not_depend_on_them() -> None:
    bench, done = run(TOGETHER, (MEET, TRIED))
    assert done.findings == ()
    np.testing.assert_array_equal(bench.left(done, "c", U32), ACROSS)
    changed = TRIED.replace("nanosleep.u32 20;", "@!%p1 add.u32 %r4, %r4, 0;")
    _, done = run(TOGETHER, (MEET, changed))
    assert any("%r4 depends on the number of polls" in finding.message for finding in done.findings)


def test_barriers_at_generic_addresses() -> None:
    body = TOGETHER.replace(
        "mov.u32 %r1, bar;", "mov.u32 %r1, bar;\nmov.u64 %d9, bar;\ncvta.shared.u64 %d9, %d9;"
    )
    body = body.replace(".shared.b64", ".b64").replace("[%r1", "[%d9")
    bench, done = run(body)
    assert done.findings == ()
    np.testing.assert_array_equal(bench.left(done, "c", U32), ACROSS)


def test_how_many_are_pending_is_known_of_who_comes_alone() -> None:
    body = SETUP.replace("[%r1], 64", "[%r1], 1") + (
        f"@%p0 bra OVER;\n{ARRIVE}\nmbarrier.pending_count.b64 %r30, %d2;\nOVER:\n"
        "st.shared.u32 [%r3], 5;\n@!%p0 st.shared.u32 [%r3], %r30;\nbar.sync 0;" + LOOK
    )
    bench, done = run(body)
    assert done.findings == ()
    assert bench.left(done, "c", U32)[-1] == 1


def test_who_waits_for_ever_is_told_how_far_the_barrier_is() -> None:
    _, done = run(TOGETHER, ("[%r1], 64", "[%r1], 65"))
    (finding,) = done.findings
    assert "phase 0 of the barrier at bar+0x0, with 64 of 65 arrivals" in finding.message


def test_the_order_of_warps_makes_no_difference() -> None:
    parted = ("AGAIN:", "setp.lt.u32 %p6, %r0, 40;\n@%p6 bra AGAIN;\nadd.u32 %r9, %r9, 1;\nAGAIN:")
    bench, done = run(TOGETHER, parted)
    assert done.findings == ()
    np.testing.assert_array_equal(bench.left(done, "c", U32), ACROSS)
