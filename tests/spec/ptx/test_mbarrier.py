"""Barrier objects on numbers: what ends a phase, and what PTX leaves undefined."""

from __future__ import annotations

import pytest

from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx.asynchronous.mbarrier import (
    ONE_MORE,
    OPERATIONS,
    PARITY,
    Barrier,
    Signal,
    initialised,
    is_operand,
    is_over,
    passes_parity,
    signalled,
    state_of,
    undefined,
)

ALG = NumpyAlgebra()


def wrong(barrier: Barrier, signal: Signal) -> list[str]:
    return [reason for reason, condition in undefined(ALG, barrier, signal).items() if condition]


def test_a_phase_of_a_tensor_copy() -> None:
    barrier = initialised(ALG, 1)
    state = state_of(barrier)
    barrier = signalled(ALG, barrier, OPERATIONS["mbarrier.arrive.expect_tx"].signal(8192))
    assert not is_over(ALG, barrier, state.phase)
    for _ in range(2):
        assert not passes_parity(ALG, barrier, ALG.constant(0, PARITY))
        barrier = signalled(ALG, barrier, OPERATIONS["mbarrier.complete_tx"].signal(4096))
    assert is_over(ALG, barrier, state.phase) and passes_parity(ALG, barrier, ALG.constant(0, PARITY))
    assert [int(count) for count in barrier] == [1, 1, 1, 0]


def test_a_copy_without_noinc_adds_its_arrival() -> None:
    barrier = signalled(ALG, initialised(ALG, 1), ONE_MORE)
    barrier = signalled(ALG, barrier, Signal(1))
    assert int(barrier.phase) == 0
    barrier = signalled(ALG, barrier, OPERATIONS["cp.async.mbarrier.arrive.noinc"].signal(None))
    assert [int(count) for count in barrier] == [1, 1, 1, 0]


@pytest.mark.parametrize(
    ("signal", "reason"),
    [
        (Signal(3), "pending arrivals leave 0 to 1048575"),
        (Signal(0, 3), "more arrivals are dropped than are expected"),
        (Signal(expected_bytes=1 << 20), "the count of bytes leaves -1048575 to 1048575"),
        (Signal(completed_bytes=1 << 20), "the count of bytes leaves -1048575 to 1048575"),
        (Signal(2, may_complete=False), "an arrival that must not end the phase does"),
    ],
)
def test_what_is_undefined(signal: Signal, reason: str) -> None:
    assert wrong(initialised(ALG, 2), signal) == [reason]


def test_behind_the_last_arrival() -> None:
    waiting = signalled(ALG, initialised(ALG, 1), Signal(1, expected_bytes=16))
    assert wrong(waiting, Signal(expected_bytes=16)) == ["bytes are expected when no arrival is pending"]
    assert wrong(waiting, Signal(completed_bytes=16)) == []
    assert wrong(waiting, Signal(1)) == ["pending arrivals leave 0 to 1048575"]
    nobody = signalled(ALG, initialised(ALG, 1), Signal(1, 1))
    assert "the barrier expects no arrivals any more" in wrong(nobody, Signal(1))


def test_operands() -> None:
    for number, arrivals, size in ((0, False, True), (1, True, True), ((1 << 20) - 1, True, True)):
        assert bool(is_operand(ALG, ALG.whole(number), 1)) is arrivals
        assert bool(is_operand(ALG, ALG.whole(number), 0)) is size
    for number in (-1, 1 << 20):
        assert not is_operand(ALG, ALG.whole(number), 0)
