"""Theorems about barrier objects: mutants that must be refuted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from theorem_mutants import refutation_of

from mmaproof.proofs.ptx import barriers
from mmaproof.spec.ptx.asynchronous import mbarrier
from mmaproof.spec.ptx.asynchronous.mbarrier import (
    OPERATIONS,
    Barrier,
    Operation,
    Signal,
    is_undefined,
    signalled,
)

Patch = pytest.MonkeyPatch


def _ending(patch: Patch, over: Callable[[Any, Barrier], Any], left: Callable[[Barrier], Barrier]) -> None:
    """Replace when a phase ends, or what its end leaves."""

    def changed(alg: Any, barrier: Barrier, signal: Signal) -> Barrier:
        bare = Barrier(
            barrier.phase,
            barrier.expected - signal.dropped,
            barrier.pending - signal.arrivals,
            barrier.transactions + signal.expected_bytes - signal.completed_bytes,
        )
        ends = over(alg, bare)
        after = left(bare._replace(phase=bare.phase + 1, pending=bare.expected))
        return Barrier(*(alg.where(ends, one, other) for one, other in zip(after, bare, strict=True)))

    patch.setattr(barriers, "signalled", changed)


def _none(alg: Any, count: Any) -> Any:
    return alg.same(count, alg.whole(0))


def _both(alg: Any, barrier: Barrier) -> Any:
    return _none(alg, barrier.pending) & _none(alg, barrier.transactions)


def arrivals_alone_end_a_phase(patch: Patch) -> None:
    _ending(patch, lambda alg, barrier: _none(alg, barrier.pending), lambda after: after)


def bytes_alone_end_a_phase(patch: Patch) -> None:
    _ending(patch, lambda alg, barrier: _none(alg, barrier.transactions), lambda after: after)


def a_phase_is_skipped(patch: Patch) -> None:
    _ending(patch, _both, lambda after: after._replace(phase=after.phase + 1))


def one_arrival_less_is_needed(patch: Patch) -> None:
    _ending(patch, _both, lambda after: after._replace(pending=after.pending - 1))


def bytes_are_counted_the_other_way(patch: Patch) -> None:
    def changed(alg: Any, barrier: Barrier, signal: Signal) -> Barrier:
        turned = Signal(
            signal.arrivals,
            signal.dropped,
            signal.completed_bytes,
            signal.expected_bytes,
            signal.may_complete,
        )
        return signalled(alg, barrier, turned)

    patch.setattr(barriers, "signalled", changed)


def no_phase_ends(patch: Patch) -> None:
    _ending(patch, lambda alg, barrier: ~_both(alg, barrier) & _both(alg, barrier), lambda after: after)


def bytes_that_are_early_are_lost(patch: Patch) -> None:
    def changed(alg: Any, barrier: Barrier, signal: Signal) -> Barrier:
        after = signalled(alg, barrier, signal)
        early = ~alg.in_range(after.transactions, barriers.COUNT)
        return after._replace(transactions=alg.where(early, alg.whole(0), after.transactions))

    patch.setattr(barriers, "signalled", changed)


def drops_are_forgotten(patch: Patch) -> None:
    def changed(alg: Any, barrier: Barrier, signal: Signal) -> Barrier:
        kept = Signal(signal.arrivals, 0, signal.expected_bytes, signal.completed_bytes, signal.may_complete)
        return signalled(alg, barrier, kept)

    patch.setattr(barriers, "signalled", changed)


def _operation(name: str, signal: Callable[[Any], Signal]) -> Callable[[Patch], None]:
    def changed(patch: Patch) -> None:
        operation = OPERATIONS[name]
        fault = Operation(name, operation.operand, signal)
        patch.setattr(barriers, "OPERATIONS", {**OPERATIONS, name: fault})

    return changed


def two_arrivals_at_once(patch: Patch) -> None:
    _operation("mbarrier.arrive.expect_tx", lambda b: Signal(2, expected_bytes=b))(patch)


def no_complete_may_complete(patch: Patch) -> None:
    _operation("mbarrier.arrive.noComplete", Signal)(patch)


def drops_twice(patch: Patch) -> None:
    _operation("mbarrier.arrive_drop.expect_tx", lambda b: Signal(1, 2, expected_bytes=b))(patch)


def too_many_arrivals_are_defined(patch: Patch) -> None:
    monkey = mbarrier.undefined

    def changed(alg: Any, barrier: Barrier, signal: Signal) -> Any:
        return dict(list(monkey(alg, barrier, signal).items())[1:])

    patch.setattr(mbarrier, "undefined", changed)


def bytes_leave_their_range(patch: Patch) -> None:
    monkey = mbarrier.undefined

    def changed(alg: Any, barrier: Barrier, signal: Signal) -> Any:
        found = monkey(alg, barrier, signal)
        return {name: condition for name, condition in found.items() if "count of bytes" not in name}

    patch.setattr(mbarrier, "undefined", changed)


def everything_is_undefined(patch: Patch) -> None:
    patch.setattr(
        barriers, "is_undefined", lambda alg, b, s: is_undefined(alg, b, s) | _none(alg, b.transactions)
    )


def parities_are_exchanged(patch: Patch) -> None:
    monkey = barriers.passes_parity
    patch.setattr(barriers, "passes_parity", lambda alg, barrier, parity: ~monkey(alg, barrier, parity))


def the_phase_names_itself(patch: Patch) -> None:
    patch.setattr(barriers, "is_over", lambda alg, barrier, phase: alg.same(barrier.phase, phase))


test_a_fault_is_refuted = refutation_of(
    (
        (arrivals_alone_end_a_phase, barriers.completes, "mbarrier.arrive"),
        (bytes_alone_end_a_phase, barriers.completes, "mbarrier.arrive"),
        (a_phase_is_skipped, barriers.completes, "mbarrier.complete_tx"),
        (one_arrival_less_is_needed, barriers.completes, "mbarrier.arrive"),
        (bytes_are_counted_the_other_way, barriers.completes, "mbarrier.expect_tx"),
        (drops_are_forgotten, barriers.completes, "mbarrier.arrive_drop"),
        (drops_twice, barriers.examples, "sequences"),
        (two_arrivals_at_once, barriers.examples, "sequences"),
        (no_complete_may_complete, barriers.examples, "sequences"),
        (too_many_arrivals_are_defined, barriers.invariant, "mbarrier.arrive"),
        (bytes_leave_their_range, barriers.invariant, "mbarrier.complete_tx"),
        (bytes_leave_their_range, barriers.examples, "sequences"),
        (everything_is_undefined, barriers.ranges, "sums"),
        (no_phase_ends, barriers.invariant, "mbarrier.arrive"),
        (bytes_that_are_early_are_lost, barriers.order, "mbarrier.expect_tx/mbarrier.complete_tx"),
        (parities_are_exchanged, barriers.parity, "at-most-one-behind"),
        (parities_are_exchanged, barriers.parity, "fresh"),
        (parities_are_exchanged, barriers.ring, "3-stages"),
        (a_phase_is_skipped, barriers.ring, "2-stages"),
        (the_phase_names_itself, barriers.parity, "at-most-one-behind"),
    )
)
