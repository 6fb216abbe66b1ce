"""Locks that any block may take first: right in every order of the blocks, and no more than that."""

from __future__ import annotations

import numpy as np
import pytest
from ptx_machine import Bench, kernel, kinds

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.ptx.every_order import in_every_order
from mmaproof.refinement.ptx.run import machine
from mmaproof.refinement.ptx.run.launching import Pointer
from mmaproof.refinement.ptx.state.address_spaces import Buffer
from mmaproof.spec.formats import U32

LOCKED = """
ld.param.u64 %d0, [p0];
ld.param.u64 %d1, [p1];
mov.u32 %r0, %ctaid.x;
mov.u32 %r1, %tid.x;
setp.ne.u32 %p0, %r1, 0;
@%p0 bra DONE;
AGAIN:
atom.global.cas.b32 %r2, [%d0], 0, 1;
setp.ne.u32 %p1, %r2, 0;
@%p1 bra AGAIN;
membar.gl;
ld.global.u32 %r3, [%d1];
add.u32 %r4, %r0, 10;
add.u32 %r3, %r3, %r4;
st.global.u32 [%d1], %r3;
membar.gl;
atom.global.exch.b32 %r5, [%d0], 0;
DONE:
"""
"""The first thread of every block adds to a sum, with a lock held."""


def run(body: str, *, blocks: int = 3) -> tuple[Bench, machine.Run]:
    """Run blocks that have two words for locks, and a sum, all of them 0 at first."""
    bench = Bench()

    def zeros(name: str) -> Pointer:
        words = bench.store.constants(np.zeros(8, dtype=np.uint64), 8)
        return Pointer(Buffer(name, 8, 32, (words, np.zeros(8, dtype=np.uint8)), writable=True))

    text, given = kernel(body, 2), [zeros("locks"), zeros("sum")]
    done = in_every_order(
        bench.store, lambda turns: bench.run(text, given, grid=blocks, block=32, turns=turns), []
    )
    return bench, done


def test_sums_under_a_lock_are_the_same_in_every_order() -> None:
    bench, done = run(LOCKED)
    assert (kinds(done), done.complete) == ({}, True)
    assert bench.left(done, "sum", U32).tolist() == [33, 0]
    assert bench.left(done, "locks", U32).tolist() == [0, 0]


TAKE = "atom.global.cas.b32 %r2, [%d0], 0, 1;"
GIVE = "membar.gl;\natom.global.exch.b32 %r5, [%d0], 0;"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(GIVE, "membar.gl;\nst.volatile.global.u32 [%d0], 0;", id="given back by a store"),
        pytest.param(GIVE, "atom.release.gpu.global.exch.b32 %r5, [%d0], 0;", id="a release"),
        pytest.param("@%p1 bra", "nanosleep.u32 20;\n@%p1 bra", id="sleep"),
        pytest.param("setp.ne.u32 %p1, %r2, 0;", "setp.eq.u32 %p1, %r2, 1;", id="while it is taken"),
        pytest.param(
            f"{TAKE}\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra AGAIN;\nmembar.gl;",
            f"{TAKE.replace('atom', 'atom.acquire.gpu')}\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra AGAIN;",
            id="an acquire",
        ),
        pytest.param("add.u32 %r3, %r3, %r4;", "max.u32 %r3, %r3, 10;", id="a maximum"),
    ],
)
def test_locks_are_taken_in_many_ways(old: str, new: str) -> None:
    assert old in LOCKED
    _, done = run(LOCKED.replace(old, new))
    assert (kinds(done), done.complete) == ({}, True)


PEELED = f"""{TAKE}
setp.eq.u32 %p1, %r2, 0;
@%p1 bra TAKEN;
mov.u32 %r7, 8;
AGAIN:
nanosleep.u32 %r7;
shl.b32 %r7, %r7, 1;
{TAKE.replace("%r2", "%r6")}
setp.ne.u32 %p1, %r6, 0;
@%p1 bra AGAIN;
TAKEN:
membar.gl;"""
"""What compilers make of a loop that sleeps for longer and longer: the first turn stands before it."""

LOOP = f"AGAIN:\n{TAKE}\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra AGAIN;\nmembar.gl;"


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        pytest.param("", "", None, id="right"),
        pytest.param("TAKEN:\nmembar.gl;", "membar.gl;\nTAKEN:", Kind.UNSUPPORTED, id="a fence for some"),
        pytest.param("TAKEN:\nmembar.gl;", "TAKEN:", Kind.RACE, id="no fence"),
        pytest.param(
            "bra AGAIN;\nTAKEN", "bra AGAIN;\nadd.u32 %r0, %r0, 1;\nTAKEN", Kind.UNSUPPORTED, id="more"
        ),
        pytest.param("nanosleep.u32 %r7;", "st.global.u32 [%d1], %r7;", Kind.UNSUPPORTED, id="stores"),
        pytest.param("[%d0], 0, 1;\nsetp.ne", "[%d0+4], 0, 1;\nsetp.ne", Kind.UNSUPPORTED, id="another lock"),
        pytest.param("shl.b32 %r7, %r7, 1;", "add.u32 %r0, %r0, 1;", Kind.UNSUPPORTED, id="counts"),
    ],
)
def test_the_first_turn_may_stand_before_the_loop(old: str, new: str, kind: Kind | None) -> None:
    assert LOOP in LOCKED and old in PEELED
    _, done = run(LOCKED.replace(LOOP, PEELED.replace(old, new)))
    assert (set(kinds(done)), done.complete) == (set(), True) if kind is None else kind in kinds(done)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        pytest.param(GIVE, "membar.gl;", Kind.DEADLOCK, id="never given back"),
        pytest.param(GIVE, GIVE.replace("membar.gl;\n", ""), Kind.RACE, id="no fence before giving it back"),
        pytest.param("AGAIN;\nmembar.gl;", "AGAIN;", Kind.RACE, id="no fence behind taking it"),
        pytest.param("setp.ne.u32 %p1, %r2, 0;", "setp.eq.u32 %p1, %r2, 2;", Kind.RACE, id="not waited"),
        pytest.param(
            "AGAIN:\n", "and.b32 %r6, %r0, 1;\nmul.wide.u32 %d2, %r6, 4;\nadd.u64 %d0, %d0, %d2;\nAGAIN:\n",
            Kind.RACE, id="another lock for some",
        ),
        pytest.param(
            "st.global.u32 [%d1], %r3;\n" + GIVE, GIVE + "\nst.global.u32 [%d1], %r3;",
            Kind.RACE, id="stored too late",
        ),
        pytest.param("ld.global.u32", "ld.global.nc.u32", Kind.UNDEFINED, id="read by the read-only cache"),
    ],
)  # fmt: skip
def test_faults_are_found(old: str, new: str, kind: Kind) -> None:
    assert old in LOCKED
    _, done = run(LOCKED.replace(old, new))
    assert kind in kinds(done)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("add.u32 %r3, %r3, %r4;", "mad.lo.u32 %r3, %r3, 3, %r4;", "comes last", id="order"),
        pytest.param("add.u32 %r3, %r3, %r4;", "mov.u32 %r3, %r4;", "comes last", id="the last one"),
        pytest.param(
            f"AGAIN:\n{TAKE}\nsetp.ne.u32 %p1, %r2, 0;",
            f"mov.u32 %r9, 0;\nAGAIN:\n{TAKE}\nadd.u32 %r9, %r9, 1;\nsetp.ne.u32 %p1, %r2, 0;\n"
            "setp.lt.and.u32 %p1, %r9, 100, %p1;",
            "is carried from one iteration",
            id="given up after some turns",
        ),
        pytest.param("@%p1 bra AGAIN;", "@%p1 bra DONE;", "more than the wait", id="taken only if free"),
    ],
)
def test_what_is_not_shown_in_every_order_is_unsupported(old: str, new: str, message: str) -> None:
    assert old in LOCKED
    _, done = run(LOCKED.replace(old, new))
    assert Kind.UNSUPPORTED in kinds(done)
    assert any(message in finding.message for finding in done.findings)


def test_a_block_that_takes_locks_twice_is_unsupported() -> None:
    section = LOCKED[LOCKED.index("AGAIN:") : LOCKED.index("DONE:")]
    _, done = run(LOCKED.replace("DONE:", section.replace("AGAIN", "AND_AGAIN") + "DONE:"))
    assert Kind.UNSUPPORTED in kinds(done)


def test_more_blocks_than_orders_are_tried_of_are_unsupported() -> None:
    _, done = run(LOCKED, blocks=5)
    assert list(kinds(done)) == [Kind.UNSUPPORTED]
