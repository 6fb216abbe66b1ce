"""Races: reported exactly where nothing puts two accesses in order."""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from ptx_machine import BODY, Bench, kernel, kinds, written

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.ptx.order.ordering import Ordering
from mmaproof.refinement.ptx.order.races import AccessHistory
from mmaproof.refinement.ptx.registers.threads import WARP, Launch, Threads
from mmaproof.spec.formats import U32

SETUP = """
ld.param.u64 %d0, [p0];
mov.u32 %r0, %tid.x;
mov.u32 %r9, tile;
mad.lo.u32 %r1, %r0, 4, %r9;
xor.b32 %r2, %r0, {partner};
mad.lo.u32 %r3, %r2, 4, %r9;
setp.eq.u32 %p0, %r0, 0;
"""
TILE = ".shared .align 16 .b8 tile[4096];"


def races(body: str, partner: int = 64, block: int = 128, grid: int = 1, target: str = "sm_80") -> list[int]:
    """Return the lines in the body, from 0, where races are; nothing else may be found."""
    bench = Bench()
    setup = SETUP.format(partner=partner)
    done = bench.run(kernel(setup + body, 1, TILE, target), [written("c", 4096)], block=block, grid=grid)
    found = kinds(done)
    assert set(found) <= {Kind.RACE}
    first = BODY + len(setup.strip().splitlines())
    return [line - first for line in found.get(Kind.RACE, [])]


EXCHANGE = "st.shared.u32 [%r1], %r0;\n{}\nld.shared.u32 %r4, [%r3];"


@pytest.mark.parametrize(
    ("between", "partner", "expected"),
    [
        ("bar.sync 0;", 64, []),
        ("bar.sync 0;", 1, []),
        ("barrier.sync 0;", 64, []),
        ("barrier.cta.sync.aligned 3, 128;", 64, []),
        ("bar.warp.sync 0xffffffff;", 1, []),
        ("bar.warp.sync 0xffffffff;", 64, [2]),
        ("membar.cta;", 64, [2]),
        ("membar.cta;", 1, [2]),
        ("membar.cta;", 0, []),
    ],
)
def test_threads_exchange_only_through_barriers(between: str, partner: int, expected: list[int]) -> None:
    assert races(EXCHANGE.format(between), partner) == expected


def test_a_write_after_a_read_needs_a_barrier_too() -> None:
    body = "st.shared.u32 [%r1], %r0;\nbar.sync 0;\nld.shared.u32 %r4, [%r3];\n{}\nst.shared.u32 [%r1], 5;"
    assert races(body.format("bar.sync 0;")) == []
    assert races(body.format("membar.cta;")) == [4]


def test_many_readers_are_all_waited_for() -> None:
    body = "@%p0 st.shared.u32 [tile], 7;\nbar.sync 0;\nld.shared.u32 %r4, [tile];\n"
    body += "{}\n@%p0 st.shared.u32 [tile], 5;"
    assert races(body.format("bar.sync 0;")) == []
    assert races(body.format("bar.warp.sync 0xffffffff;")) == [4]


@pytest.mark.parametrize(("readers", "barrier", "expected"), [(32, "bar.sync 1, 64;", []), (64, "", [8])])
def test_reads_that_a_later_read_knows_to_be_over_are_over(
    readers: int, barrier: str, expected: list[int]
) -> None:
    """A barrier of some warps tells nothing to the others, which do not read."""
    body = f"""@%p0 st.shared.u32 [tile], 7;
bar.sync 0;
setp.ge.u32 %p1, %r0, 64;
@%p1 bra END;
setp.lt.u32 %p2, %r0, {readers};
@%p2 ld.shared.u32 %r4, [tile];
{barrier or "bar.warp.sync -1;"}
@%p0 ld.shared.u32 %r5, [tile];
@%p0 st.shared.u32 [tile], 5;
END:"""
    assert races(body) == expected


def test_writing_the_same_value_twice_is_harmless() -> None:
    assert races("st.shared.u32 [tile], 7;") == []
    assert races("st.shared.u32 [tile], %r0;") == [0]


@pytest.mark.parametrize("thread", [0, 31, 32, 127])
@pytest.mark.parametrize("between", ["", "bar.warp.sync 0xffffffff;"])
def test_who_changes_what_many_wrote_waits_for_all_of_them(thread: int, between: str) -> None:
    """Any of the threads may write its 7 after the 5, whichever is taken to have written last."""
    body = (
        f"st.shared.u32 [tile], 7;\nsetp.eq.u32 %p1, %r0, {thread};\n{{}}\n@%p1 st.shared.u32 [tile], {{}};"
    )
    assert races(body.format(between, 5)) == [3]
    assert races(body.format(between, 7)) == []
    assert races(body.format("bar.sync 0;", 5)) == []
    added = body.format(between, 5).replace("st.shared.u32 [tile], 5", "red.shared.add.u32 [tile], 5")
    assert races(added) == [3]


@pytest.mark.parametrize("grid", [1, 3])
def test_of_blocks_too(grid: int) -> None:
    last = f"setp.eq.u32 %p1, %r6, {grid - 1};\n@%p1 st.global.u32 [%d0], 5;"
    body = "mov.u32 %r6, %ctaid.x;\n@%p0 st.global.u32 [%d0], 7;\nbar.sync 0;\n" + last
    assert races(body, grid=grid) == ([] if grid == 1 else [4])


def test_one_lane_alone_changes_what_its_warp_wrote_together() -> None:
    body = "st.shared.u32 [tile], 7;\n{}\nsetp.eq.u32 %p1, %r0, 31;\n@%p1 st.shared.u32 [tile], 5;"
    assert races(body.format(""), block=32) == [3]
    assert races(body.format("bar.warp.sync 0xffffffff;"), block=32) == []


def test_what_an_atomic_left_is_not_written_harmlessly() -> None:
    """The other way round, 2 is left."""
    body = """@%p0 st.shared.u32 [tile], 0;
    bar.sync 0;
    setp.eq.u32 %p1, %r0, 5;
    @%p1 red.shared.add.u32 [tile], 1;
    setp.eq.u32 %p1, %r0, 77;
    @%p1 st.shared.u32 [tile], 1;"""
    assert races(body) == [5]


@pytest.mark.parametrize(("first", "expected"), [(5, [4]), (7, [])])
def test_what_is_held_now_may_not_be_what_was_read(first: int, expected: list[int]) -> None:
    body = f"""@%p0 st.shared.u32 [tile], {first};
    @%p0 ld.shared.u32 %r4, [tile];
    @%p0 {"st.shared.u32 [tile], 7" if first == 5 else "mov.u32 %r5, 0"};
    setp.eq.u32 %p1, %r0, 40;
    @%p1 st.shared.u32 [tile], 7;"""
    assert races(body) == expected


def test_neighbouring_elements_do_not_meet() -> None:
    body = "mov.u32 %r5, tile; add.u32 %r5, %r5, %r0; cvt.u16.u32 %h0, %r0; st.shared.u8 [%r5], %h0;"
    assert races(body) == []


NAMED = """
setp.lt.u32 %p1, %r0, 64;
@%p1 bra producer;
{consumer}
ld.shared.u32 %r4, [%r3];
bra done;
producer:
st.shared.u32 [%r1], %r0;
{producer}
done:
"""


@pytest.mark.parametrize(
    ("producer", "consumer", "expected"),
    [
        ("bar.arrive 1, 128;", "bar.sync 1, 128;", False),
        ("bar.sync 1, 128;", "bar.sync 1, 128;", False),
        ("bar.arrive 1, 128;\nst.shared.u32 [%r1], 3;", "bar.sync 1, 128;", True),
        ("bar.sync 1, 64;", "bar.sync 2, 64;", True),
    ],
)
def test_producers_and_consumers_meet_at_named_barriers(producer: str, consumer: str, expected: bool) -> None:
    assert bool(races(NAMED.format(producer=producer, consumer=consumer))) is expected


GLOBAL = """mov.u32 %r6, %ctaid.x;
mad.lo.u32 %r7, %r6, {apart}, %r0;
mul.wide.u32 %d1, %r7, 4;
add.s64 %d2, %d0, %d1;
st.global.u32 [%d2], {value};
"""


def test_blocks_that_write_one_place_race_unless_they_write_the_same() -> None:
    assert races(GLOBAL.format(apart=128, value="%r7"), grid=4) == []
    assert races(GLOBAL.format(apart=64, value="%r7"), grid=4) == []
    assert races(GLOBAL.format(apart=64, value="%r0"), grid=4) == [4]
    assert races(GLOBAL.format(apart=0, value="%r6"), grid=4) == [4]


def test_blocks_of_different_batches_race_too() -> None:
    last = "setp.lt.u32 %p1, %r0, 1;\n@%p1 st.global.u32 [%d0], %r6;"
    assert races("mov.u32 %r6, %ctaid.x;\n" + last, block=1024, grid=9) == [2]


def test_no_barrier_orders_blocks() -> None:
    read = "@%p0 ld.global.u32 %r8, [%d0];"
    alone = GLOBAL.format(apart=128, value="%r7") + "bar.sync 0;\n" + read
    assert races(alone, grid=1) == []
    assert races(alone, grid=2) == [6]


# -- what whole warps read

ROW = """
and.b32 %r5, %r0, 31;
mad.lo.u32 %r6, %r5, 16, %r9;
st.shared.v4.u32 [%r6], {%r0, %r0, %r0, %r0};
"""


@pytest.mark.parametrize(
    "loaded",
    [
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r6];",
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r7, %r8, %r10, %r11}, [%r6];",
        "wmma.load.c.sync.aligned.row.m16n16k16.shared.f16 {%r7, %r8, %r10, %r11}, [%r9];",
    ],
)
def test_what_a_thread_wrote_reaches_others_of_its_warp_behind_a_barrier(loaded: str) -> None:
    """Even where each lane names the row that it wrote itself."""
    line = len(ROW.strip().splitlines())
    assert races(ROW + loaded, block=32) == [line + 1]
    ordered = ROW + "bar.warp.sync 0xffffffff;\n" + loaded
    assert races(ordered, block=32) == []
    again = "\nst.shared.v4.u32 [%r6], {%r1, %r1, %r1, %r1};"
    if loaded.startswith("ldmatrix"):  # which threads of a warp wmma.load reads which line for is open
        assert races(ordered + again, block=32) == []


@pytest.mark.parametrize(
    "stored",
    [
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r6], {%r0, %r1, %r5, %r9};",
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r6], {%r0, %r1, %r5, %r9};",
    ],
)
def test_what_a_warp_wrote_reaches_its_threads_behind_a_barrier(stored: str) -> None:
    """Also the one that named the row."""
    text = f"and.b32 %r5, %r0, 31;\nmad.lo.u32 %r6, %r5, 16, %r9;\n{stored}\n"
    read, barrier = "ld.shared.u32 %r7, [%r6];", "bar.warp.sync 0xffffffff;\n"
    own = "st.shared.v4.u32 [%r6], {%r0, %r0, %r0, %r0};\n"
    assert races(text + read, block=32, target="sm_90") == [3]
    assert races(text + barrier + read, block=32, target="sm_90") == []
    assert races(text + stored, block=32, target="sm_90") == []  # the same threads write there again
    assert races(text + barrier + own + read, block=32, target="sm_90") == []


# -- asynchronous copies

COPY = """
ld.param.u64 %d0, [p0];
mov.u32 %r0, %tid.x;
mov.u32 %r9, tile;
mad.lo.u32 %r1, %r0, 16, %r9;
xor.b32 %r2, %r0, 64;
mad.lo.u32 %r3, %r2, 16, %r9;
mul.wide.u32 %d1, %r0, 16;
add.s64 %d2, %d0, %d1;
cp.async.cg.shared.global [%r1], [%d2], 16;
"""


def copied(body: str, element: int = 1) -> tuple[list[str], Bench, object]:
    bench = Bench()
    text = (
        COPY
        + body
        + f"ld.param.u64 %d3, [p1]; mad.wide.u32 %d4, %r0, 4, %d3; st.global.u32 [%d4], %r{element};"
    )
    arguments = [bench.given("a", np.arange(512) + 1, U32), written("c", 512)]
    done = bench.run(kernel(text, 2, TILE), arguments, block=128)
    assert set(kinds(done)) <= {Kind.RACE}
    return [finding.message for finding in done.findings], bench, done


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("cp.async.wait_all; bar.sync 0; ld.shared.u32 %r4, [%r3];", ""),
        ("cp.async.commit_group; cp.async.wait_group 0; bar.sync 0; ld.shared.u32 %r4, [%r3];", ""),
        ("cp.async.wait_all; ld.shared.u32 %r4, [%r1];", ""),
        ("cp.async.wait_all; ld.shared.u32 %r4, [%r3];", "with no barrier between"),
        ("bar.sync 0; cp.async.wait_all; ld.shared.u32 %r4, [%r3];", "with no barrier between"),
        ("bar.sync 0; ld.shared.u32 %r4, [%r3];", "asynchronous copy of line 20 is not waited for"),
        ("ld.shared.u32 %r4, [%r1];", "asynchronous copy of line 20 is not waited for"),
        ("cp.async.commit_group; cp.async.wait_group 1; ld.shared.u32 %r4, [%r1];", "not waited for"),
        ("cp.async.wait_group 0; ld.shared.u32 %r4, [%r1];", "not waited for"),
        ("st.shared.u32 [%r1], 0; ld.shared.u32 %r4, [%r0+tile];", None),
        (
            "cp.async.commit_group; cp.async.cg.shared.global [%r1+2048], [%d2], 16; cp.async.commit_group;"
            "cp.async.wait_group 1; ld.shared.u32 %r4, [%r1];", "",
        ),
        (
            "cp.async.commit_group; cp.async.cg.shared.global [%r1+2048], [%d2], 16; cp.async.commit_group;"
            "cp.async.wait_group 1; ld.shared.u32 %r4, [%r1+2048];", "not waited for",
        ),
    ],
)  # fmt: skip
def test_copies_are_there_after_a_wait_and_a_barrier(body: str, expected: str | None) -> None:
    if expected is None:
        body, expected = "st.shared.u32 [%r1], 0; mov.u32 %r4, 0;", "not waited for"
    messages, bench, done = copied(body + "\n", 4)
    if expected:
        assert len(messages) == 1
        assert expected in messages[0]
    else:
        assert messages == []
        partner = np.arange(128) ^ (64 if "[%r3]" in body else 0)
        np.testing.assert_array_equal(bench.left(done, "c", U32), 4 * partner + 1)


@pytest.mark.parametrize(
    ("extra", "words"), [(", 16", 4), (", 8", 2), (", 0", 0), (", %r8", 1), (", 6", 1.5)]
)
def test_copies_fill_with_zeros(extra: str, words: float) -> None:
    bench = Bench()
    text = (
        "ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; mov.u32 %r8, 4;"
        f"cp.async.ca.shared.global [tile], [%d0], 16{extra}; cp.async.wait_all;"
        "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [tile]; st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4};"
    )
    source = bench.given("a", np.arange(1, 5) * 0x11111111, U32)
    done = bench.run(kernel(text, 2, TILE), [source, written("c", 16)], block=1)
    data = (np.arange(1, 5, dtype=np.uint32) * 0x11111111).tobytes()
    kept = data[: int(4 * words)].ljust(16, b"\0")
    assert done.findings == ()
    np.testing.assert_array_equal(bench.left(done, "c", U32), np.frombuffer(kept, dtype=np.uint32))


def test_copies_that_are_ignored_read_nothing() -> None:
    bench = Bench()
    text = (
        "ld.param.u64 %d1, [p0]; mov.u64 %d0, 0; setp.eq.u64 %p0, %d0, 0;"
        "cp.async.ca.shared.global [tile], [%d0], 4, %p0; cp.async.wait_all;"
        "ld.shared.u32 %r1, [tile]; st.global.u32 [%d1], %r1;"
    )
    done = bench.run(kernel(text, 1, TILE), [written("c", 4)], block=1)
    assert done.findings == ()
    assert bench.left(done, "c", U32) == [0]


# -- against a model that forgets nothing

BLOCK_WARPS = 3
ACTIONS = st.one_of(
    st.tuples(st.sampled_from(["read", "write"]), st.integers(0, BLOCK_WARPS - 1), st.integers(0, 1)),
    st.tuples(st.just("warp barrier"), st.integers(0, BLOCK_WARPS - 1), st.just(0)),
    st.tuples(st.just("barrier"), st.sampled_from([(0, 1), (1, 2), (0, 2), (0, 1, 2)]), st.just(0)),
)


def threads_that_know(actions: list[tuple[str, object, int]], start: int) -> set[int]:
    """Return the threads (two of each warp) that are in order after what thread ``start`` did at first."""
    known = {start}
    for action, who, _ in actions:
        if action == "warp barrier" and known & {2 * who, 2 * who + 1}:
            known |= {2 * who, 2 * who + 1}
        if action == "barrier":
            members = {2 * warp + lane for warp in who for lane in (0, 1)}
            if known & members:
                known |= members
    return known


def races_in_model(actions: list[tuple[str, object, int]]) -> bool:
    accesses = [
        (i, action, 2 * who + lane)
        for i, (action, who, lane) in enumerate(actions)
        if action in ("read", "write")
    ]
    return any(
        one != other and "write" in (first, second) and other not in threads_that_know(actions[i:j], one)
        for i, first, one in accesses
        for j, second, other in accesses
        if i < j
    )


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(ACTIONS, max_size=14), st.booleans())
def test_races_on_one_place_are_found(actions: list[tuple[str, object, int]], jointly: bool) -> None:
    if jointly:  # barriers of the whole block only: then the history is exact
        actions = [(a, (0, 1, 2), lane) if a == "barrier" else (a, who, lane) for a, who, lane in actions]
    ordering = Ordering(Threads(Launch((1, 1, 1), (BLOCK_WARPS * WARP, 1, 1)), np.arange(1)))
    history = AccessHistory(16, 16)
    place = np.zeros(1, dtype=np.int64)
    found = False
    for action, who, lane in actions:
        if action == "barrier":
            ordering.barrier(np.array(who))
        elif action == "warp barrier":
            ordering.warp_barrier(np.array([who]))
        else:
            thread = np.array([WARP * who + lane])
            note = history.read if action == "read" else history.write
            found |= len(note(ordering, place, thread, 1)) > 0
    if races_in_model(actions):
        assert found
    elif jointly:
        assert not found
