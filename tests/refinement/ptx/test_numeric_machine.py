"""Blocks on numbers: what they leave, and what they do that they must not."""

from __future__ import annotations

import time
from math import prod
from typing import Any

import numpy as np
import pytest
from ptx_machine import kernel

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.ptx.numeric.faults import BudgetError, FaultError
from mmaproof.refinement.ptx.numeric.machine import Program
from mmaproof.refinement.ptx.numeric.memory import KNOWN, NOBODY, UNKNOWN, Stored, address, folded, stored
from mmaproof.refinement.ptx.registers.threads import Launch
from mmaproof.refinement.ptx.text.parser import parse
from mmaproof.spec.errors import UnsupportedError

FILL = 0xFF


def ran(
    body: str,
    arrays: list[Stored],
    variables: str = "",
    block: tuple[int, int, int] = (64, 1, 1),
    grid: tuple[int, int, int] = (1, 1, 1),
    **options: Any,
) -> Any:
    """Run a body on arrays, the parameters p0, p1, …"""
    module = parse(kernel(body, len(arrays), variables), "kernel.ptx")
    (entry,) = module.entries
    passed = [address(number, 0).to_bytes(8, "little") for number in range(len(arrays))]
    program = Program(module, entry.name, Launch(grid, block), passed, arrays)
    given = {"fill": FILL, "until": time.process_time() + 20, **options}
    return program.run(given.pop("blocks", range(prod(grid))), **given)


def fault(*arguments: Any, **options: Any) -> Any:
    with pytest.raises(FaultError) as found:
        ran(*arguments, **options)
    return found.value.fault


def empty(count: int) -> Stored:
    return stored("y", np.full(4 * count, FILL, np.uint8), 4, states=np.full(count, NOBODY))


def floats(count: int) -> Stored:
    return stored("x", np.arange(count, dtype=np.float32), 4)


PLACE = """
ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
mad.lo.s32 %r3, %r1, %r2, %r0; mul.wide.u32 %d2, %r3, 4; add.s64 %d0, %d0, %d2; add.s64 %d1, %d1, %d2;
"""
DOUBLE = PLACE + "ld.global.f32 %f0, [%d0]; add.f32 %f0, %f0, %f0; st.global.f32 [%d1], %f0;"


def test_some_blocks_write_their_part_alone() -> None:
    x, y = floats(256), empty(256)
    ran(DOUBLE, [x, y], grid=(4, 1, 1), blocks=[0, 3])
    assert y.states is not None
    written = np.flatnonzero(y.states == KNOWN)
    assert written.tolist() == [*range(64), *range(192, 256)]
    assert np.array_equal(y.words(4).view(np.float32)[written], 2.0 * written)


def test_accesses_outside_of_an_array_are_faults() -> None:
    found = fault(DOUBLE, [floats(255), empty(256)], grid=(4, 1, 1))
    assert found.kind is Kind.OUT_OF_BOUNDS
    assert "4 bytes at byte 1020 of x, which has 1020, by block 3, thread 63" in str(found)


def test_an_index_that_wraps_below_the_first_array_is_a_fault_of_that_array() -> None:
    body = (
        PLACE + "mov.s64 %d3, -16; add.s64 %d0, %d0, %d3; ld.global.f32 %f0, [%d0]; st.global.f32 [%d1], %f0;"
    )
    assert "at byte -16 of x" in str(fault(body, [floats(64), empty(64)]))


def test_misaligned_accesses_are_faults() -> None:
    body = PLACE + "ld.global.f32 %f0, [%d0+2]; st.global.f32 [%d1], %f0;"
    assert fault(body, [floats(64), empty(64)]).kind is Kind.MISALIGNED


def test_a_shared_variable_ends_where_it_ends_though_another_follows() -> None:
    body = PLACE + "mov.u32 %r4, row; mad.lo.u32 %r5, %r0, 4, %r4; st.shared.u32 [%r5], %r0;"
    variables = ".shared .align 4 .b8 row[192]; .shared .align 4 .b8 other[256];"
    found = fault(body + "mov.u32 %r6, other; st.shared.u32 [%r6], %r0;", [floats(64), empty(64)], variables)
    assert found.kind is Kind.OUT_OF_BOUNDS and "byte 192 of" in str(found) and "thread 48" in str(found)


EXCHANGE = (
    PLACE
    + """
mov.u32 %r4, row; mad.lo.u32 %r5, %r0, 4, %r4; st.shared.u32 [%r5], %r0; BARRIER
xor.b32 %r6, %r0, 32; mad.lo.u32 %r5, %r6, 4, %r4; ld.shared.u32 %r7, [%r5]; st.global.u32 [%d1], %r7;
"""
)
ROW = ".shared .align 4 .b8 row[256];"


def test_a_missing_barrier_between_warps_is_a_race() -> None:
    y = empty(64)
    ran(EXCHANGE.replace("BARRIER", "bar.sync 0;"), [floats(64), y], ROW)
    assert np.array_equal(y.words(4)[:64], np.arange(64) ^ 32)
    assert fault(EXCHANGE.replace("BARRIER", ""), [floats(64), empty(64)], ROW).kind is Kind.RACE


def test_threads_of_one_warp_need_no_barrier() -> None:
    body = EXCHANGE.replace("BARRIER", "bar.warp.sync -1;").replace("%r0, 32;", "%r0, 1;")
    ran(body, [floats(64), empty(64)], ROW)


def test_equal_numbers_that_warps_write_are_no_race() -> None:
    body = PLACE + "mov.u32 %r4, row; mov.u32 %r5, 7; st.shared.u32 [%r4], %r5; bar.sync 0;"
    ran(body, [floats(64), empty(64)], ROW)
    other = body.replace("mov.u32 %r5, 7", "mov.u32 %r5, %r0")
    assert fault(other, [floats(64), empty(64)], ROW).kind is Kind.RACE


def test_a_barrier_that_some_threads_never_reach_is_a_deadlock() -> None:
    body = PLACE + "setp.lt.u32 %p0, %r0, 32; @%p0 bar.sync 0; @!%p0 bar.sync 1;"
    assert fault(body, [floats(64), empty(64)]).kind is Kind.DEADLOCK


def test_threads_that_have_ended_are_not_waited_for() -> None:
    body = PLACE + "setp.lt.u32 %p0, %r0, 32; @%p0 ret; bar.sync 0; st.global.u32 [%d1], %r0;"
    y = empty(64)
    ran(body, [floats(64), y])
    assert y.states is not None and (y.states == KNOWN).tolist() == [False] * 32 + [True] * 32


def test_a_store_to_an_input_is_a_fault() -> None:
    x = floats(64)
    x.writable = False
    assert fault(PLACE + "st.global.u32 [%d0], %r0;", [x, empty(64)]).kind is Kind.CLOBBERED


def test_what_is_not_known_makes_results_unknown_and_faults_depend_on_it() -> None:
    x, y = floats(64), empty(64)
    x.states = np.full(64, UNKNOWN)
    assert ran(DOUBLE, [x, y]).unknown == 1
    assert y.states is not None and (y.states == UNKNOWN).all()
    index = (
        PLACE
        + "ld.global.u32 %r4, [%d0]; mul.wide.u32 %d3, %r4, 4; add.s64 %d3, %d1, %d3;"
        + "st.global.u32 [%d3], %r0;"
    )
    assert fault(index, [x, empty(64)]).depends


def test_what_nobody_has_written_is_named_where_it_is_read() -> None:
    done = ran(DOUBLE, [empty(64), empty(64)])
    assert list(done.uninitialised) == ["y"]


def test_atomic_operations_of_one_place_add_up() -> None:
    y = stored("y", np.zeros(64, np.uint32), 4)
    ran(PLACE + "ld.param.u64 %d3, [p1]; red.global.add.u32 [%d3], %r0;", [floats(64), y])
    assert y.words(4)[0] == 64 * 63 // 2 and y.added


def test_arrays_that_are_not_held_whole_have_their_bounds() -> None:
    many = 1 << 34
    x = folded("x", np.zeros(1 << 12, np.uint8), 4 * many, 4)
    y = folded("y", np.zeros(1 << 12, np.uint8), 4 * many, 4)
    far = (
        PLACE
        + "mov.s64 %d3, BYTES; add.s64 %d0, %d0, %d3; ld.global.f32 %f0, [%d0]; st.global.f32 [%d1], %f0;"
    )
    ran(far.replace("BYTES", str(4 * many - 256)), [x, y])
    assert fault(far.replace("BYTES", str(4 * many - 252)), [x, y]).kind is Kind.OUT_OF_BOUNDS


def test_a_loop_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(BudgetError):
        ran(PLACE + "$L0: bra $L0;", [floats(64), empty(64)], until=time.process_time() + 0.2)


@pytest.mark.parametrize("text", ["mbarrier.init.shared.b64 [%d0], 1;", "wgmma.fence.sync.aligned;"])
def test_what_is_not_modelled_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(UnsupportedError, match=r"line \d+ of the PTX: .* on numbers"):
        ran(PLACE + text, [floats(64), empty(64)])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("mov.f32 %f1, 0f3F800003; fma.rn.f32 %f2, %f1, %f1, 0fBF800000;", 6 * 2.0**-23 + 2.0**-43),
        ("mov.f32 %f1, 0f3F800001; mul.rp.f32 %f2, %f1, %f1;", 1.000000357627868652),
        ("mov.f32 %f1, 0f7FC00000; max.f32 %f2, %f1, 0f40000000;", 2.0),
        ("mov.f32 %f1, 0fC0200000; cvt.rni.s32.f32 %r9, %f1; cvt.rn.f32.s32 %f2, %r9;", -2.0),
        ("mov.f32 %f1, 0f4F800000; cvt.rzi.s32.f32 %r9, %f1; cvt.rn.f32.s32 %f2, %r9;", 2147483648.0),
        ("mov.f32 %f1, 0f7FC00000; cvt.rzi.s64.f32 %d9, %f1; cvt.rn.f32.s64 %f2, %d9;", -(2.0**63)),
        ("mov.u32 %r9, -7; shr.s32 %r9, %r9, 1; cvt.rn.f32.s32 %f2, %r9;", -4.0),
        ("mov.u32 %r9, 5; shl.b32 %r9, %r9, 40; cvt.rn.f32.u32 %f2, %r9;", 0.0),
        ("mov.u32 %r9, 0x0F0F; popc.b32 %r9, %r9; cvt.rn.f32.u32 %f2, %r9;", 8.0),
    ],
)  # fmt: skip
def test_scalar_instructions(text: str, wanted: float) -> None:
    y = empty(64)
    ran(PLACE + text + "st.global.f32 [%d1], %f2;", [floats(64), y])
    assert y.words(4).view(np.float32)[0] == np.float32(wanted)


def test_drawn_roundings_move_inexact_results_alone() -> None:
    exact, inexact = floats(64), stored("x", np.full(64, 1.1, np.float32), 4)
    body = PLACE + "ld.global.f32 %f0, [%d0]; mul.f32 %f1, %f0, 0f3FC00000; st.global.f32 [%d1], %f1;"
    found = []
    for x in (exact, inexact):
        y = empty(64)
        ran(body, [x, y], random=np.random.default_rng(0))
        found.append(y.words(4).view(np.float32)[:64].copy())
    assert np.array_equal(found[0], np.arange(64) * np.float32(1.5))
    assert len(set(found[1].tolist())) == 2


ROTATED = (
    PLACE
    + """
mov.u32 %r4, 0; bra $TEST;
$OUT: shfl.sync.idx.b32 %r6, %r4, 31, 31, -1; st.global.u32 [%d1], %r6; ret;
$BODY: add.u32 %r4, %r4, 1;
$TEST: setp.lt.u32 %p0, %r4, %r0; @!%p0 bra $OUT; bra $BODY;
"""
)


def test_a_warp_exchanges_numbers_when_all_of_it_is_there() -> None:
    """Threads that leave a loop first wait, though what is behind the loop stands before it."""
    y = empty(64)
    ran(ROTATED, [floats(64), y])
    assert y.words(4)[:64].tolist() == [31] * 32 + [63] * 32


TOGETHER = PLACE + "VALUE cvt.rn.f32.u32 %f0, %r4; st.shared.f32 [s], %f0;"


@pytest.mark.parametrize("value", ["mov.u32 %r4, 7;", "and.b32 %r4, %r0, 1;", "and.b32 %r4, %r0, 31;"])
def test_warps_that_write_the_same_numbers_to_one_place_do_not_race(value: str) -> None:
    ran(TOGETHER.replace("VALUE", value), [floats(64), empty(64)], ".shared .align 4 .f32 s;")


@pytest.mark.parametrize("value", ["mov.u32 %r4, %r0;", "shr.u32 %r4, %r0, 5;", "min.u32 %r4, %r0, 40;"])
def test_warps_that_write_other_numbers_to_one_place_race(value: str) -> None:
    found = fault(TOGETHER.replace("VALUE", value), [floats(64), empty(64)], ".shared .align 4 .f32 s;")
    assert "writes a place that another warp writes" in found.message
