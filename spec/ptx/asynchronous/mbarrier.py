"""A barrier object as a system of counters: phases, arrivals, and bytes of asynchronous copies.

Every operation on a barrier in use is one `Signal`: it expects bytes, completes bytes, arrives, and perhaps
drops arrivals from later phases; the phase ends as soon as no arrival is pending and the bytes that were
expected are complete::

    x += expected bytes - completed bytes;  e -= dropped;  q -= arrivals
    q = 0 and x = 0  =>  p += 1, q = e

Counts are exact integers of an algebra, so the same functions run on numbers, in theorems and on terms. What
PTX leaves undefined is told by `undefined`; the functions then return some barrier all the same.

Source: PTX ISA 9.1 section 9.7.13.15 (mbarrier). Two
readings are ours, as the manual decides neither: bytes that are expected when no arrival is pending any more
are undefined (the phase may be over already), and ``pending_count`` is of the count before the arrival, as
the phase of a state is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import Any, NamedTuple

from ...algebra import Algebra, Array
from ...formats import IntegerFormat

OBJECT_BYTES = 8
"""Size and alignment of a barrier object in shared memory."""

MOST = (1 << 20) - 1
"""The greatest count of arrivals, and the greatest magnitude of the count of bytes."""

PARITY = IntegerFormat("parity", 1, signed=False)
"""The format of a phase's parity."""

_ARRIVALS = IntegerFormat("arrivals", 20, signed=False)
_NATURAL = IntegerFormat("natural", 64, signed=False)


class Barrier(NamedTuple):
    """The counters of a barrier object: exact integers of an algebra.

    Attributes
    ----------
    phase : array
        How many phases are over: the number of the current one, from 0.
    expected : array
        Arrivals that a later phase needs.
    pending : array
        Arrivals that the current phase still needs.
    transactions : array
        Bytes expected less bytes completed in the current phase; negative where copies are ahead.
    """

    phase: Array
    expected: Array
    pending: Array
    transactions: Array


class BarrierState(NamedTuple):
    """What the opaque state stands for that an arrival returns.

    Attributes
    ----------
    phase : array
        The phase in which the thread arrived.
    pending : array
        The arrivals that were pending before.
    """

    phase: Array
    pending: Array


@dataclass(frozen=True)
class Signal:
    """What an operation does to a barrier; counts are exact integers of an algebra, or ints.

    Attributes
    ----------
    arrivals : array or int
        Arrivals at the current phase.
    dropped : array or int
        Arrivals that later phases do not need any more.
    expected_bytes : array or int
        Bytes that the current phase waits for.
    completed_bytes : array or int
        Bytes of the current phase that are there.
    may_complete : bool
        Whether the operation may end the phase; ``.noComplete`` may not.
    """

    arrivals: Any = 0
    dropped: Any = 0
    expected_bytes: Any = 0
    completed_bytes: Any = 0
    may_complete: bool = True


def initialised(alg: Algebra, count: Array | int) -> Barrier:
    """Return a barrier after ``mbarrier.init``: phase 0, which needs `count` arrivals and no bytes."""
    zero = alg.whole(0)
    return Barrier(zero, zero + count, zero + count, zero)


def signalled(alg: Algebra, barrier: Barrier, signal: Signal) -> Barrier:
    """Return a barrier after an operation.

    Parameters
    ----------
    alg : Algebra
        What counts are.
    barrier : Barrier
        The barrier before.
    signal : Signal
        The operation; where `undefined` tells nothing.
    """
    transactions = barrier.transactions + signal.expected_bytes - signal.completed_bytes
    expected = barrier.expected - signal.dropped
    pending = barrier.pending - signal.arrivals
    over = alg.same(pending, alg.whole(0)) & alg.same(transactions, alg.whole(0))
    return Barrier(
        alg.where(over, barrier.phase + 1, barrier.phase),
        expected,
        alg.where(over, expected, pending),
        transactions,
    )


def state_of(barrier: Barrier) -> BarrierState:
    """Return the state that an arrival returns, given the barrier before it."""
    return BarrierState(barrier.phase, barrier.pending)


def is_over(alg: Algebra, barrier: Barrier, phase: Array) -> Array:
    """Tell whether a phase, the current one or that before it, is over: ``test_wait`` of a state."""
    return ~alg.same(barrier.phase, phase)


def passes_parity(alg: Algebra, barrier: Barrier, parity: Array) -> Array:
    """Tell whether the last phase with a parity is over: ``test_wait.parity``.

    Parameters
    ----------
    alg : Algebra
        What counts are.
    barrier : Barrier
        The barrier.
    parity : array
        Encodings of `PARITY`.
    """
    return ~alg.same(parity_of(alg, barrier.phase), parity)


def parity_of(alg: Algebra, phase: Array) -> Array:
    """Return the parity that names a phase: its number modulo 2, as an encoding of `PARITY`."""
    return alg.wrap(phase, PARITY)


# -- what is undefined
def _most(alg: Algebra, value: Array) -> Array:
    """Tell which integers are at most `MOST`."""
    return alg.in_range(alg.whole(MOST) - value, _NATURAL)


def is_operand(alg: Algebra, number: Array, least: int) -> Array:
    """Tell which numbers an operation may be given: counts of arrivals from 1, of bytes from 0, to `MOST`."""
    return alg.in_range(number - alg.whole(least), _NATURAL) & _most(alg, number)


def undefined(alg: Algebra, barrier: Barrier, signal: Signal) -> Mapping[str, Array]:
    """Return when PTX does not define an operation: conditions by what is wrong.

    Parameters
    ----------
    alg : Algebra
        What counts are.
    barrier : Barrier
        The barrier before; its counts are in their ranges.
    signal : Signal
        The operation; its numbers are in their ranges (`is_operand`).
    """
    zero = alg.whole(0)
    pending = barrier.pending - signal.arrivals
    expected = barrier.expected - signal.dropped
    transactions = barrier.transactions + signal.expected_bytes - signal.completed_bytes
    nobody = alg.same(barrier.pending, zero)
    found = {
        f"pending arrivals leave 0 to {MOST}": ~alg.in_range(pending, _ARRIVALS),
        "more arrivals are dropped than are expected": ~alg.in_range(expected, _ARRIVALS),
        "the barrier expects no arrivals any more": alg.same(barrier.expected, zero),
        f"the count of bytes leaves -{MOST} to {MOST}": ~(
            _most(alg, transactions) & _most(alg, -transactions)
        ),
        "bytes are expected when no arrival is pending": nobody
        & ~alg.same(zero + signal.expected_bytes, zero),
    }
    if not signal.may_complete:
        over = alg.same(pending, zero) & alg.same(transactions, zero)
        found["an arrival that must not end the phase does"] = over
    return MappingProxyType(found)


def is_undefined(alg: Algebra, barrier: Barrier, signal: Signal) -> Array:
    """Tell whether PTX does not define an operation, for whatever reason."""
    return reduce(or_, undefined(alg, barrier, signal).values())


# -- the operations
@dataclass(frozen=True)
class Operation:
    """An operation on a barrier in use.

    Attributes
    ----------
    name : str
        Its mnemonic, without state space, semantics and type.
    operand : str
        Its number: ``arrivals`` (1 where it is left out), ``bytes``, or nothing.
    signal : callable (int or array) -> Signal
        What it does, given that number.
    source : str
        The section of the manual.
    """

    name: str
    operand: str
    signal: Callable[[Any], Signal]
    source: str = "PTX ISA 9.1 section 9.7.13.15"


OPERATIONS = MappingProxyType(
    {
        operation.name: operation
        for operation in (
            Operation("mbarrier.arrive", "arrivals", Signal),
            Operation("mbarrier.arrive.noComplete", "arrivals", lambda n: Signal(n, may_complete=False)),
            Operation("mbarrier.arrive.expect_tx", "bytes", lambda b: Signal(1, expected_bytes=b)),
            Operation("mbarrier.arrive_drop", "arrivals", lambda n: Signal(n, n)),
            Operation(
                "mbarrier.arrive_drop.noComplete", "arrivals", lambda n: Signal(n, n, may_complete=False)
            ),
            Operation("mbarrier.arrive_drop.expect_tx", "bytes", lambda b: Signal(1, 1, expected_bytes=b)),
            Operation("mbarrier.expect_tx", "bytes", lambda b: Signal(expected_bytes=b)),
            Operation("mbarrier.complete_tx", "bytes", lambda b: Signal(completed_bytes=b)),
            # When the copies before it are done; without .noinc see `ONE_MORE`.
            Operation("cp.async.mbarrier.arrive.noinc", "", lambda _: Signal(1)),
        )
    }
)
"""Operations by name. A bulk copy that completes bytes does `complete_tx` when it is done."""

ONE_MORE = Signal(-1)
"""What ``cp.async.mbarrier.arrive`` without ``.noinc`` does at once: the phase needs an arrival more."""
