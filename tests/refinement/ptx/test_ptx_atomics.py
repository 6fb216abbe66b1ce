"""Atomic sums: every thread's share arrives once, and nothing depends on who came first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ptx_machine import Bench, kernel, kinds, written

from mmaproof.refinement.findings.finding import Kind
from mmaproof.spec.formats import BF16, F16, F32, U32, FloatFormat
from mmaproof.spec.values import encodings_of_values

SETUP = """
ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; mov.u32 %r0, %tid.x; mov.u32 %r9, %ctaid.x;
mov.u32 %r8, %ntid.x; mad.lo.u32 %r1, %r9, %r8, %r0;
mad.wide.u32 %d2, %r1, 4, %d0; ld.global.b32 %r2, [%d2]; mov.b32 %f2, %r2;
rem.u32 %r3, %r0, 5; mad.wide.u32 %d3, %r3, 4, %d1;
"""
VALUES = np.random.default_rng(3).integers(0, 1 << 20, (3, 64))


def expected(start: int = 0) -> np.ndarray:
    return np.array([VALUES[:, thread::5].sum() for thread in range(5)]) + start


@pytest.mark.parametrize("instruction", ["red.global.add.u32 [%d3], %r2;", "atom.add.s32 %r4, [%d3], %r2;",
                                         "red.relaxed.gpu.global.add.u32 [%d3], %r2;",
                                         "atom.global.gpu.acq_rel.add.u32 %r4, [%d3], %r2;",
                                         "atom.add.acquire.sys.u32 _, [%d3], %r2;",
                                         "red.release.sys.add.u32 [%d3], %r2;"])  # fmt: skip
def test_integers_are_summed(instruction: str) -> None:
    bench = Bench()
    given = [bench.given("a", VALUES, U32), bench.given("c", np.arange(5) * 0 + 7, U32, writable=True)]
    done = bench.run(kernel(SETUP + instruction, 2), given, grid=3, block=64)
    assert done.findings == ()
    assert not done.unordered
    np.testing.assert_array_equal(bench.left(done, "c", U32), expected(7))


@pytest.mark.parametrize(
    "instruction",
    [
        "red.global.add.f32 [%d3], %f2;",
        # As Triton's atomic_add spells it, with the first result in place.
        "mov.pred %p1, -1; mov.u32 %r4, 0x0; @%p1 atom.global.gpu.acq_rel.add.f32 %r4, [ %d3 + 0 ], %r2;",
    ],
)
def test_floats_are_summed_in_an_order_that_is_left_open(instruction: str) -> None:
    bench = Bench()
    given = [
        bench.given("a", encodings_of_values("a", (VALUES % 64).astype(np.float64), F32), F32),
        bench.given("c", np.zeros(5, dtype=np.uint32), F32, writable=True),
    ]
    done = bench.run(kernel(SETUP + instruction, 2), given, grid=3, block=64)
    total = np.array([(VALUES % 64)[:, thread::5].sum() for thread in range(5)], dtype=np.float64)
    assert done.findings == ()
    assert done.unordered
    np.testing.assert_array_equal(bench.left(done, "c", F32), encodings_of_values("c", total, F32))


@pytest.mark.parametrize(
    ("instruction", "fmt", "threads"),
    [
        ("red.global.add.noftz.f16x2 [%d1], %r2;", F16, 64),
        ("atom.global.gpu.relaxed.add.noftz.bf16x2 %r4, [%d1], %r2;", BF16, 64),
        ("setp.lt.u32 %p0, %r0, 32; @%p0 atom.global.v2.f32.add {%f5, %f6}, [%d1], {%f2, %f2};", F32, 32),
        ("setp.lt.u32 %p0, %r0, 32; @%p0 red.global.add.v2.f32 [%d1], {%f2, %f2};", F32, 32),
    ],
)
def test_neighbours_are_summed_together(instruction: str, fmt: FloatFormat, threads: int) -> None:
    bench = Bench()
    lanes = 32 // fmt.bits
    values = (VALUES[0] % 3).astype(np.float64)
    each = np.stack([values, 1 - values], axis=-1)[:, :lanes]
    given = [
        bench.given("a", encodings_of_values("a", each, fmt), fmt),
        bench.given("c", np.zeros(2, dtype=fmt.storage), fmt, writable=True),
    ]
    done = bench.run(kernel(SETUP + instruction, 2), given, block=64)
    assert done.findings == ()
    total = np.broadcast_to(each[:threads].sum(axis=0), 2)
    np.testing.assert_array_equal(bench.left(done, "c", fmt), encodings_of_values("c", total, fmt))


@pytest.mark.parametrize(("scope", "grid", "found"), [("cta", 1, []), ("cta", 2, [Kind.UNSUPPORTED]),
                                                      ("gpu", 2, [])])  # fmt: skip
def test_sums_are_atomic_in_their_scope_only(scope: str, grid: int, found: list[Kind]) -> None:
    bench = Bench()
    given = [bench.given("a", VALUES, U32), bench.given("c", np.zeros(5), U32, writable=True)]
    done = bench.run(kernel(f"{SETUP} red.{scope}.global.add.u32 [%d3], %r2;", 2), given, grid=grid, block=64)
    assert list(kinds(done)) == found


@pytest.mark.parametrize("order", ["", ".relaxed", ".acquire", ".release", ".acq_rel"])
def test_sums_and_other_accesses_race_in_whatever_order(order: str) -> None:
    bench = Bench()
    given = [bench.given("a", VALUES, U32), bench.given("c", np.zeros(5), U32, writable=True)]
    body = f"{SETUP} atom{order}.gpu.global.add.u32 %r4, [%d3], %r2; st.global.u32 [%d3], %r0;"
    assert set(kinds(bench.run(kernel(body, 2), given, block=64))) == {Kind.RACE}


def test_shared_memory_is_summed_too() -> None:
    body = (
        SETUP
        + """
    mov.u32 %r10, tile; mad.lo.u32 %r11, %r3, 4, %r10; setp.lt.u32 %p0, %r0, 5;
    mad.lo.u32 %r12, %r0, 4, %r10; @%p0 st.shared.u32 [%r12], 0; bar.sync 0;
    red.shared.add.u32 [%r11], %r2; bar.sync 0; mad.wide.u32 %d4, %r0, 4, %d1;
    @%p0 ld.shared.u32 %r13, [%r12]; @%p0 st.global.u32 [%d4], %r13;
    """
    )
    bench = Bench()
    text = kernel(body, 2, ".shared .align 4 .b8 tile[20];")
    done = bench.run(text, [bench.given("a", VALUES, U32), written("c", 20)], block=64)
    assert done.findings == ()
    np.testing.assert_array_equal(
        bench.left(done, "c", U32), [VALUES[0, thread::5].sum() for thread in range(5)]
    )
    missing = bench.run(
        text.replace("bar.sync 0;", "", 1), [bench.given("a", VALUES, U32), written("c", 20)], block=64
    )
    assert set(kinds(missing)) == {Kind.RACE}


def test_what_an_atomic_returns_is_undefined() -> None:
    bench = Bench()
    body = SETUP + "atom.global.add.u32 %r4, [%d1], %r2; setp.eq.u32 %p0, %r4, 5; @%p0 ret;"
    given = [bench.given("a", VALUES, U32), bench.given("c", np.zeros(5), U32, writable=True)]
    done = bench.run(kernel(body, 2), given, block=64)
    assert not done.complete
    assert set(kinds(done)) == {Kind.UNSUPPORTED}


WORDS = np.random.default_rng(5).integers(0, 1 << 32, (3, 64), dtype=np.uint64).astype(np.uint32)
START = np.uint32(0x80000003)


def counted(name: str, times: int, limit: int) -> int:
    found = 7
    for _ in range(times):
        if name == "inc":
            found = 0 if found >= limit else found + 1
        else:
            found = limit if found == 0 or found > limit else found - 1
    return found


@pytest.mark.parametrize(
    ("instruction", "reduce"),
    [
        ("red.global.max.u32 [%d3], %r2;", np.maximum.reduce),
        ("atom.global.min.u32 %r4, [%d3], %r2;", np.minimum.reduce),
        ("red.global.max.s32 [%d3], %r2;", lambda x: np.maximum.reduce(x.view(np.int32)).view(np.uint32)),
        ("red.gpu.global.min.s32 [%d3], %r2;", lambda x: np.minimum.reduce(x.view(np.int32)).view(np.uint32)),
        ("red.global.and.b32 [%d3], %r2;", np.bitwise_and.reduce),
        ("atom.or.b32 _, [%d3], %r2;", np.bitwise_or.reduce),
        ("red.relaxed.gpu.global.xor.b32 [%d3], %r2;", np.bitwise_xor.reduce),
    ],
)
def test_what_leaves_the_same_in_every_order(instruction: str, reduce: Callable[..., Any]) -> None:
    bench = Bench()
    given = [bench.given("a", WORDS, U32), bench.given("c", np.full(5, START), U32, writable=True)]
    done = bench.run(kernel(SETUP + instruction, 2), given, grid=3, block=64)
    assert (done.findings, done.unordered) == ((), False)
    together = [np.append(WORDS[:, thread::5].reshape(-1), START) for thread in range(5)]
    np.testing.assert_array_equal(bench.left(done, "c", U32), [reduce(each) for each in together])


@pytest.mark.parametrize("limit", [0, 5, 30, 1000])
@pytest.mark.parametrize("name", ["inc", "dec"])
def test_counts_with_one_limit(name: str, limit: int) -> None:
    bench = Bench()
    given = [bench.given("a", WORDS, U32), bench.given("c", np.full(5, 7), U32, writable=True)]
    done = bench.run(kernel(f"{SETUP} red.global.{name}.u32 [%d3], {limit};", 2), given, grid=3, block=64)
    assert done.findings == ()
    times = [WORDS[:, thread::5].size for thread in range(5)]
    np.testing.assert_array_equal(bench.left(done, "c", U32), [counted(name, time, limit) for time in times])


def test_an_exchange_for_one_value() -> None:
    bench = Bench()
    given = [bench.given("a", WORDS, U32), bench.given("c", np.full(5, 7), U32, writable=True)]
    done = bench.run(kernel(f"{SETUP} atom.global.exch.b32 %r4, [%d3], 9;", 2), given, grid=3, block=64)
    assert done.findings == ()
    assert set(bench.left(done, "c", U32).tolist()) == {9}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("red.global.max.u32 [%d3], %r2; red.global.min.u32 [%d3], %r2;", "another operation"),
        ("red.global.max.u32 [%d3], %r2; red.global.max.s32 [%d3], %r2;", "another operation"),
        ("red.global.add.u32 [%d3], %r2; red.global.xor.b32 [%d3], %r2;", "another operation"),
        ("red.global.inc.u32 [%d3], 5; red.global.inc.u32 [%d3], 6;", "another operand"),
        ("red.global.dec.u32 [%d3], %r2;", "another operand"),
        ("atom.global.exch.b32 %r4, [%d3], %r2;", "another operand"),
    ],
)
def test_what_depends_on_the_order_is_refused(body: str, says: str) -> None:
    bench = Bench()
    given = [bench.given("a", WORDS, U32), bench.given("c", np.zeros(5), U32, writable=True)]
    done = bench.run(kernel(SETUP + body, 2), given, block=64)
    assert set(kinds(done)) == {Kind.UNSUPPORTED}
    assert f"after an atomic with {says}: their order matters" in done.findings[0].message


@pytest.mark.parametrize("instruction", ["atom.global.max.f32 %f3, [%d3], %f2;",
                                         "red.global.and.u32 [%d3], %r2;",
                                         "atom.global.cas.b32 %r4, [%d3], %r2, %r3;",
                                         "red.global.add.sc.u32 [%d3], %r2;"])  # fmt: skip
def test_other_atomics_are_not_modelled(instruction: str) -> None:
    bench = Bench()
    given = [bench.given("a", VALUES, U32), bench.given("c", np.zeros(5), U32, writable=True)]
    done = bench.run(kernel(SETUP + instruction, 2), given, block=64)
    assert set(kinds(done)) == {Kind.UNSUPPORTED}


def test_sums_out_of_bounds_are_reported() -> None:
    bench = Bench()
    given = [bench.given("a", VALUES, U32), bench.given("c", np.zeros(4), U32, writable=True)]
    done = bench.run(kernel(SETUP + "red.global.add.u32 [%d3], %r2;", 2), given, block=64)
    assert set(kinds(done)) == {Kind.OUT_OF_BOUNDS}
