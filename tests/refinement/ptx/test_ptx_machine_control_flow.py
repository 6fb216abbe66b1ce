"""Threads that part and meet, wait for each other, and end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ptx_machine import BODY, Bench, kernel, kinds, written

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.ptx.run import batch
from mmaproof.spec.formats import U32

OUT = """
mov.u32 %r31, %ctaid.x; mov.u32 %r30, %ntid.x; mad.lo.u32 %r29, %r31, %r30, %r0;
ld.param.u64 %d0, [p0]; mad.wide.u32 %d1, %r29, 4, %d0; st.global.u32 [%d1], %r1;
"""


def result(body: str, block: int = 64, grid: int = 1, declared: str = "") -> np.ndarray:
    """Return %r1 of every thread; nothing may be found."""
    bench = Bench()
    text = kernel("mov.u32 %r0, %tid.x;\nmov.u32 %r1, 0;\n" + body + OUT, 1, declared)
    done = bench.run(text, [written("c", 4 * block * grid)], block=block, grid=grid)
    assert done.findings == ()
    assert done.complete
    return bench.left(done, "c", U32)


def test_both_sides_of_a_branch_run() -> None:
    body = """
    and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 0;
    @%p0 bra even; mov.u32 %r1, 100; bra.uni done;
    even: mov.u32 %r1, 200;
    done: add.u32 %r1, %r1, %r0;
    """
    thread = np.arange(64)
    np.testing.assert_array_equal(result(body), np.where(thread % 2, 100, 200) + thread)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 7), st.integers(0, 5), st.integers(1, 4), st.integers(0, 3))
def test_loops_end_when_each_thread_says(divisor: int, least: int, inner: int, leave: int) -> None:
    """Nested loops with trip counts by thread, and a way out of the middle."""
    body = f"""
    rem.u32 %r2, %r0, {divisor}; add.u32 %r2, %r2, {least};
    mov.u32 %r3, 0;
    outer: setp.ge.u32 %p0, %r3, %r2; @%p0 bra done;
    mov.u32 %r4, 0;
    inner: setp.ge.u32 %p1, %r4, {inner}; @%p1 bra next;
    xor.b32 %r5, %r3, %r0; and.b32 %r5, %r5, 7; setp.eq.u32 %p2, %r5, {leave}; @%p2 bra done;
    add.u32 %r1, %r1, 1; add.u32 %r4, %r4, 1; bra inner;
    next: add.u32 %r1, %r1, 10; add.u32 %r3, %r3, 1; bra outer;
    done: add.u32 %r1, %r1, 1000;
    """

    def expected(thread: int) -> int:
        total = 0
        for step in range(thread % divisor + least):
            for _ in range(inner):
                if (step ^ thread) & 7 == leave:
                    return total + 1000
                total += 1
            total += 10
        return total + 1000

    np.testing.assert_array_equal(result(body), [expected(thread) for thread in range(64)])


def test_threads_meet_again_and_can_act_together() -> None:
    body = """
    setp.lt.u32 %p0, %r0, 5; @%p0 bra few; add.u32 %r1, %r1, 3;
    few: vote.sync.ballot.b32 %r1, %p0, 0xffffffff;
    """
    np.testing.assert_array_equal(result(body, 32), [0b11111] * 32)


def test_threads_that_have_ended_are_not_waited_for() -> None:
    body = """
    setp.ge.u32 %p0, %r0, 40; setp.lt.u32 %p1, %r0, 40; @%p0 st.shared.u32 [tile], 5; @%p1 mov.u32 %r1, 1;
    bar.sync 0; @%p0 ld.shared.u32 %r1, [tile]; setp.eq.u32 %p2, %r0, 63; bar.sync 0; @%p2 bra end; end:
    """
    expected = [1] * 40 + [5] * 24
    np.testing.assert_array_equal(result(body, declared=".shared .align 4 .b8 tile[4];"), expected)


@pytest.mark.parametrize(
    "body", ["@%p0 bra on; ret; on: bar.sync 0;", "@!%p0 bra on; bar.sync 0; on:", "@!%p0 ret; bar.sync 0;"]
)
@pytest.mark.parametrize("threads", [32, 64])
def test_threads_may_end_before_a_barrier_in_any_order(body: str, threads: int) -> None:
    """Of whole warps; what of a warp does not come has ended before the others wait."""
    done = failing(f"setp.lt.u32 %p0, %r0, {threads}; {body}", 96)
    assert done.findings == ()
    assert done.complete


def test_part_of_a_warp_may_end_before_a_barrier() -> None:
    assert failing("setp.lt.u32 %p0, %r0, 40; @%p0 bra on; ret; on: bar.sync 0;").findings == ()


def failing(body: str, block: int = 64) -> object:
    bench = Bench()
    text = kernel("mov.u32 %r0, %tid.x;\n" + body, 0)
    return bench.run(text, [], block=block)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("setp.lt.u32 %p0, %r0, 16;\n@%p0 bar.sync 0;", [2]),
        ("setp.lt.u32 %p0, %r0, 16;\n@%p0 bra a;\nbar.sync 0;\na:", [3]),
        ("setp.lt.u32 %p0, %r0, 48;\n@%p0 bra a;\nbar.sync 1, 64;\na: bar.sync 2, 64;", [3, 4]),
        ("setp.lt.u32 %p0, %r0, 32;\n@%p0 bra a;\nbar.sync 1, 64;\na: bar.sync 2, 64;", [3, 4]),
        ("bar.sync 1, 96;", [1]),
    ],
)
def test_barriers_that_not_all_come_to_are_reported(body: str, lines: list[int]) -> None:
    done = failing(body)
    assert kinds(done) == {Kind.DIVERGENCE: [BODY + line for line in lines]}


@pytest.mark.parametrize("block", [64, 256])
def test_warps_may_wait_at_different_places(block: int) -> None:
    body = """
    setp.lt.u32 %p0, %r0, 32; @%p0 bra first; st.shared.u32 [tile+4], 7; bar.sync 0;
    ld.shared.u32 %r1, [tile]; bra done;
    first: st.shared.u32 [tile], 9; bar.sync 0; ld.shared.u32 %r1, [tile+4]; done:
    """
    expected = [7] * 32 + [9] * (block - 32)
    np.testing.assert_array_equal(result(body, block, declared=".shared .align 8 .b8 tile[8];"), expected)


def test_a_warp_that_is_needed_at_a_later_barrier_does_not_wait_for_others() -> None:
    body = """
    setp.lt.u32 %p0, %r0, 32; @!%p0 bra on; bar.sync 1, 64; ld.shared.u32 %r1, [tile];
    on: @%p0 bra done; st.shared.u32 [tile], 3; bar.arrive 1, 64; done:
    """
    expected = [3] * 32 + [0] * 32
    np.testing.assert_array_equal(result(body, declared=".shared .align 8 .b8 tile[8];"), expected)


def test_blocks_go_different_ways() -> None:
    body = """
    mov.u32 %r2, %ctaid.x; and.b32 %r3, %r2, 1; setp.eq.u32 %p0, %r3, 0; @%p0 bra even;
    st.shared.u32 [tile], %r2; bar.sync 0; ld.shared.u32 %r1, [tile]; even: add.u32 %r1, %r1, 1;
    """.replace("st.shared", "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared")
    block = np.repeat(np.arange(5), 64)
    found = result(body, 64, 5, declared=".shared .align 4 .b8 tile[4];")
    np.testing.assert_array_equal(found, np.where(block % 2, block + 1, 1))


def test_guards_on_data_choose_between_values() -> None:
    bench = Bench()
    body = """
    ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; mov.u32 %r0, %tid.x;
    mad.wide.u32 %d2, %r0, 4, %d0; mad.wide.u32 %d3, %r0, 4, %d1; ld.global.u32 %r1, [%d2];
    setp.gt.u32 %p0, %r1, 10; mov.u32 %r2, 1; @%p0 mov.u32 %r2, %r1; @!%p0 add.u32 %r2, %r2, 4;
    st.global.u32 [%d3], %r2;
    """
    values = np.arange(32)
    done = bench.run(kernel(body, 2), [bench.given("a", values, U32), written("c", 128)], block=32)
    assert done.findings == ()
    np.testing.assert_array_equal(bench.left(done, "c", U32), np.where(values > 10, values, 5))


@pytest.mark.parametrize("act", ["bra again", "red.global.inc.u32 [%d1], %r1", "bar.sync 0"])
def test_loops_and_what_threads_do_together_must_not_depend_on_data(act: str) -> None:
    bench = Bench()
    loads = "ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.global.u32 %r1, [%d0];"
    body = f"""{loads} again: setp.gt.u32 %p0, %r1, 10;
    @%p0 {act};"""
    done = bench.run(kernel(body, 2), [bench.given("a", np.zeros(1), U32), written("c", 4)], block=32)
    (finding,) = done.findings
    assert (finding.kind, finding.line) == (Kind.UNSUPPORTED, BODY + 1)
    assert "depends on data" in finding.message or "under a condition on data" in finding.message
    assert not done.complete


def test_kernels_that_do_not_end_are_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "LIMITS", replace(batch.LIMITS, steps=1000))
    done = failing("mov.u32 %r2, 0;\nagain: add.u32 %r2, %r2, 1; bra again;")
    assert not done.complete
    assert list(kinds(done)) == [Kind.UNSUPPORTED]


@pytest.mark.parametrize("limit", ["steps", "steps_after_fault"])
def test_kernels_without_an_end_keep_what_was_found_before(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "LIMITS", replace(batch.LIMITS, **{limit: 1000}))
    loop = "again: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 1000000; @%p1 bra again;"
    done = failing(f"mov.u32 %r2, 0; ld.global.u32 %r1, [64];\n{loop}")
    assert not done.complete
    assert kinds(done) == {Kind.OUT_OF_BOUNDS: [BODY + 1], Kind.UNSUPPORTED: [BODY + 2]}
    (given_up,) = [finding for finding in done.findings if finding.kind is Kind.UNSUPPORTED]
    assert "has not ended after" in given_up.message


@pytest.mark.parametrize(
    ("limit", "fault"), [("terms", ""), ("terms_after_fault", "ld.global.u32 %r1, [64];")]
)
def test_kernels_that_compute_for_ever_are_stopped_for_their_terms(
    limit: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "LIMITS", replace(batch.LIMITS, **{limit: 10_000}))
    done = failing(f"{fault}\nagain: add.f32 %f0, %f0, %f1;\nbra again;")
    assert not done.complete
    assert Kind.UNSUPPORTED in kinds(done)


def test_a_fault_does_not_stop_a_kernel_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "LIMITS", replace(batch.LIMITS, steps_after_fault=2000))
    loop = """
    mov.u32 %r2, 0; ld.global.u32 %r1, [64];
    again: add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 500; @%p0 bra again;
    """
    assert failing(loop).complete
    assert not failing(loop.replace("500", "1000")).complete


LOADED = "ld.param.u64 %d0, [p0]; ld.global.u32 %r1, [%d0]; setp.gt.u32 %p0, %r1, 10;\n"


@pytest.mark.parametrize(
    ("act", "what", "register"),
    [
        ("ld.global.u32 %r2, [%d9];", "address", "%d9"),
        ("add.u64 %d8, %d9, 8; st.global.u32 [%d8], 1;", "address", "%d9"),
        ("cvta.to.global.u64 %d8, %d9; st.global.u32 [%d8], 1;", "address", "%d9"),
        ("@%p1 bra done;", "guard", "%p1"),
        ("setp.eq.u32 %p1, %r9, 3; @!%p1 st.global.u32 [%d0], 1;", "guard", "%r9"),
        ("shfl.sync.idx.b32 %r2, %r0, %r9, 31, -1;", "lane", "%r9"),
        ("bar.sync %r9;", "operand", "%r9"),
        ("setp.lt.u32 %p2, %r0, 9; @%p2 mov.u64 %d9, %d0; ld.global.u32 %r2, [%d9];", "address", "%d9"),
    ],
)
def test_numbers_out_of_registers_never_written_refute(act: str, what: str, register: str) -> None:
    bench = Bench()
    text = kernel(f"mov.u32 %r0, %tid.x; {LOADED}{act}\ndone:", 1)
    done = bench.run(text, [bench.given("a", np.zeros(1), U32)], block=32)
    (finding,) = done.findings
    assert (finding.kind, finding.line) == (Kind.UNINITIALISED, BODY + 1)
    assert what in finding.message
    assert f"depends on register {register}, which was never written" in finding.message
    assert not done.complete


@pytest.mark.parametrize(
    "act",
    [
        "@%p0 mov.u64 %d9, %d0; ld.global.u32 %r2, [%d9];",
        "sub.u64 %d9, %d9, %d9; add.u64 %d9, %d9, %d0; ld.global.u32 %r2, [%d9];",
    ],
)
def test_a_register_never_written_is_not_blamed_for_what_does_not_depend_on_it(act: str) -> None:
    bench = Bench()
    text = kernel(LOADED + act, 1)
    done = bench.run(text, [bench.given("a", np.zeros(1), U32)], block=32)
    assert list(kinds(done)) == [Kind.UNSUPPORTED]


@pytest.mark.parametrize(
    "choice",
    [
        "selp.b32 %r1, %r5, 0, %p0;",
        "and.pred %p1, %p0, %p2; selp.b32 %r1, 8, 0, %p1; @%p1 mov.u32 %r1, %r5;",
        "selp.b32 %r7, -1, 0, %p0; and.b32 %r1, %r5, %r7;",
        "@%p0 mov.u32 %r1, %r5; @!%p0 mov.u32 %r1, 0;",
    ],
)
def test_what_is_chosen_past_a_register_never_written_is_a_number(choice: str) -> None:
    body = f"""
    setp.lt.u32 %p0, %r0, 9; @%p0 mov.u32 %r5, 4; @%p0 setp.lt.u32 %p2, %r0, 99; {choice}
    mov.u32 %r2, 1; shl.b32 %r1, %r2, %r1;
    """
    np.testing.assert_array_equal(result(body, 32), [16 if i < 9 else 1 for i in range(32)])


def test_threads_that_wrote_a_register_may_use_it_when_others_did_not() -> None:
    body = """
    setp.lt.u32 %p0, %r0, 9; @%p0 mov.u32 %r5, 2; @%p0 shl.b32 %r1, %r0, %r5;
    """
    np.testing.assert_array_equal(result(body, 32), [4 * i if i < 9 else 0 for i in range(32)])


def test_blocks_are_three_dimensional() -> None:
    bench = Bench()
    body = """
    ld.param.u64 %d0, [p0]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
    mad.lo.u32 %r4, %r3, 100, %r2; mad.lo.u32 %r4, %r4, 100, %r1; mov.u32 %r5, %ctaid.y;
    mad.lo.u32 %r6, %r3, 3, %r2; mad.lo.u32 %r6, %r6, 5, %r1; mad.lo.u32 %r6, %r5, 30, %r6;
    mad.wide.u32 %d1, %r6, 4, %d0; st.global.u32 [%d1], %r4;
    """
    done = bench.run(kernel(body), [written("c", 4 * 60)], block=(5, 3, 2), grid=(1, 2, 1))
    z, y, x = np.indices((2, 3, 5)).reshape(3, -1)
    assert done.findings == ()
    np.testing.assert_array_equal(bench.left(done, "c", U32), np.tile(10000 * z + 100 * y + x, 2))
