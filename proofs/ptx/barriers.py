"""Barrier objects as counters: when a phase ends, which order matters, what parities tell, what overflows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...spec.algebra import Algebra, Array
from ...spec.formats import IntegerFormat
from ...spec.ptx.asynchronous.mbarrier import (
    MOST,
    ONE_MORE,
    OPERATIONS,
    PARITY,
    Barrier,
    Signal,
    initialised,
    is_operand,
    is_over,
    is_undefined,
    parity_of,
    passes_parity,
    signalled,
    state_of,
)
from ...spec.ptx.launch_limits import launch_limits
from ..comparison import compared
from ..obligation import (
    Case,
    Certificate,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Variable,
    holds,
    immediate,
    theorem,
)
from ..table_theorem import table_theorem
from .stated import barriers as stated

SOURCE = "PTX ISA 9.1 section 9.7.13.15 (phases, counts and completion of mbarrier objects)"

COUNT, PHASE = immediate(21), immediate(32)
"""Counts are given one bit more than they have, so that their ranges are claimed, not implied."""

BYTES = IntegerFormat("bytes", 22, signed=True)


def _variables(*names: str) -> tuple[Variable, ...]:
    formats = {"phase": PHASE, "waited": PHASE, "parity": PARITY, "transactions": BYTES}
    return tuple(Variable(name, formats.get(name, COUNT), (1,)) for name in names)


BARRIER = _variables("phase", "expected", "pending", "transactions")


def _integer(alg: Algebra, v: Inputs, name: str) -> Array:
    fmt = next(variable.format for variable in _variables(name))
    assert isinstance(fmt, IntegerFormat)
    return alg.integer(v[name], fmt)


def _barrier(alg: Algebra, v: Inputs) -> Barrier:
    return Barrier(*(_integer(alg, v, each.name) for each in BARRIER))


def _is_in_use(alg: Algebra, barrier: Barrier) -> Array:
    """Tell whether counts are in their ranges, and the phase is not over."""
    transactions = barrier.transactions
    ranges = is_operand(alg, barrier.expected, 0) & is_operand(alg, barrier.pending, 0)
    ranges = ranges & (is_operand(alg, transactions, 0) | is_operand(alg, -transactions, 0))
    return ranges & ~(_none(alg, barrier.pending) & _none(alg, transactions))


def _none(alg: Algebra, count: Array) -> Array:
    return alg.same(count, alg.whole(0))


def _given(alg: Algebra, v: Inputs, name: str, number: str = "number") -> tuple[Signal, Array]:
    """Return what an operation does with a variable's number, and whether it may have that."""
    operation = OPERATIONS[name]
    if not operation.operand:
        return operation.signal(None), alg.same(v[number], v[number])
    given = _integer(alg, v, number)
    return operation.signal(given), is_operand(alg, given, int(operation.operand == "arrivals"))


def _equations(alg: Algebra, one: Barrier, other: Barrier, where: Array) -> Iterator[Equation]:
    for name, left, right in zip(Barrier._fields, one, other, strict=True):
        yield Equation(left, right, None, where, name)


# -- phases
@theorem(
    "ptx/mbarrier/completes",
    "a phase ends with the operation that makes both its arrivals and its bytes complete, and with no other",
    "let A arrivals of e0 and X bytes expected, C complete, be what happened in the phase, and an operation "
    "add n arrivals, b bytes expected and c bytes complete: where it is defined, p' = p + 1 ⇔ A + n = e0 "
    "and C + c = X + b; then q' = e' and x' = 0; else p' = p, q' = e0 - A - n, x' = X + b - C - c; e' = e "
    "less what is dropped",
    SOURCE,
)
def completes() -> Iterator[Case]:
    """Yield one obligation for each operation."""
    for name in OPERATIONS:
        yield Case(name, partial(_completes, name))


def _completes(name: str) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        phase, expected, arrived, needed, awaited, there = (
            _integer(alg, v, each) for each in ("phase", "expected", "arrived", "needed", "awaited", "there")
        )
        barrier = Barrier(phase, expected, needed - arrived, awaited - there)
        signal, given = _given(alg, v, name)
        known = _is_in_use(alg, barrier) & given & ~is_undefined(alg, barrier, signal)
        after = signalled(alg, barrier, signal)
        came, done = arrived + signal.arrivals, there + signal.completed_bytes
        waited = awaited + signal.expected_bytes
        ends = alg.same(came, needed) & alg.same(done, waited)
        left = expected - signal.dropped
        yield Equation(~alg.same(after.phase, phase), ends, None, known, "the phase ends")
        yield Equation(after.phase, alg.where(ends, phase + 1, phase), None, known, "phase")
        yield Equation(after.expected, left, None, known, "expected")
        yield Equation(after.pending, alg.where(ends, left, needed - came), None, known, "pending")
        yield Equation(after.transactions, waited - done, None, known, "bytes")

    names = ("phase", "expected", "arrived", "needed", "awaited", "there", "number")
    return Property(_variables(*names), claim, abstract=False)


@theorem(
    "ptx/mbarrier/invariant",
    "counts stay in their ranges, and a phase that is over is not the current one",
    "init gives, and every defined operation keeps: 0 ≤ e, q ≤ 2^20 - 1, |x| ≤ 2^20 - 1, not both q = 0 and "
    "x = 0 while e > 0; bytes that are expected when no arrival is pending (pinned) would end a phase after "
    "its end",
    SOURCE,
)
def invariant() -> Iterator[Case]:
    """Yield the base, the step of each operation, and what undefined bytes would do."""
    yield Case("init", _base)
    for name in OPERATIONS:
        yield Case(name, partial(_kept, name))
    yield Case("one-more", partial(_kept, None))
    yield Case(
        "late-bytes", _late_bytes, Status.REFUTED,
        statement="bytes expected with the last arrival, or by another thread behind it, are the same",
    )  # fmt: skip


def _base() -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        count = _integer(alg, v, "expected")
        barrier = initialised(alg, count)
        yield holds(alg, _is_in_use(alg, barrier), "in use", is_operand(alg, count, 1))
        yield Equation(barrier.phase, alg.whole(0) + 0 * count, None, label="phase")

    return Property(_variables("expected"), claim, abstract=False)


def _kept(name: str | None) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        barrier = _barrier(alg, v)
        signal, given = (
            (ONE_MORE, alg.same(v["number"], v["number"])) if name is None else _given(alg, v, name)
        )
        known = _is_in_use(alg, barrier) & given & ~is_undefined(alg, barrier, signal)
        after = signalled(alg, barrier, signal)
        yield holds(alg, _is_in_use(alg, after) | _none(alg, after.expected), "in use", known)
        for count in (after.expected, after.pending):
            yield holds(alg, is_operand(alg, count, 0), "range of counts", known)

    return Property((*BARRIER, *_variables("number")), claim, abstract=False)


def _late_bytes() -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        barrier, number = _barrier(alg, v), _integer(alg, v, "number")
        known = _is_in_use(alg, barrier) & is_operand(alg, number, 1) & _none(alg, barrier.transactions)
        known = known & alg.same(barrier.pending, alg.whole(1))
        arrive, expect = Signal(1), Signal(expected_bytes=number)
        together = signalled(alg, barrier, OPERATIONS["mbarrier.arrive.expect_tx"].signal(number))
        behind = signalled(alg, signalled(alg, barrier, arrive), expect)
        yield from _equations(alg, together, behind, known)

    pinned = {"phase": [0], "expected": [1], "pending": [1], "transactions": [0], "number": [16]}
    return Property((*BARRIER, *_variables("number")), claim, pinned=pinned, abstract=False)


# -- order
PAIRS = (
    ("mbarrier.arrive", "mbarrier.arrive"),
    ("mbarrier.arrive", "mbarrier.complete_tx"),
    ("mbarrier.arrive.expect_tx", "mbarrier.arrive"),
    ("mbarrier.arrive.expect_tx", "mbarrier.arrive.expect_tx"),
    ("mbarrier.arrive.expect_tx", "mbarrier.complete_tx"),
    ("mbarrier.arrive_drop", "mbarrier.arrive"),
    ("mbarrier.arrive_drop", "mbarrier.complete_tx"),
    ("mbarrier.expect_tx", "mbarrier.complete_tx"),
    ("mbarrier.complete_tx", "mbarrier.complete_tx"),
)
"""Operations that threads and copies do beside each other."""


@theorem(
    "ptx/mbarrier/order",
    "operations of one phase may come in any order: bytes before or behind the arrivals that expect them",
    "∀ barriers, ∀ two operations that are defined in both orders, and of which the first one, whichever it "
    "is, does not end the phase: the barrier after both is the same. Where it ends the phase (pinned) the "
    "second one counts for the next",
    SOURCE,
)
def order() -> Iterator[Case]:
    """Yield one obligation for each pair, and what happens at the end of a phase."""
    for one, other in PAIRS:
        yield Case(f"{one}/{other}", partial(_exchanged, one, other))
    yield Case(
        "end-of-phase", partial(_exchanged, "mbarrier.arrive", "mbarrier.arrive_drop", across=True),
        Status.REFUTED, statement="an arrival and one that drops may be exchanged across the end of a phase",
    )  # fmt: skip


def _exchanged(one: str, other: str, *, across: bool = False) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        barrier = _barrier(alg, v)
        (first, given), (second, also) = _given(alg, v, one), _given(alg, v, other, "other")
        known = _is_in_use(alg, barrier) & given & also
        results = []
        for before, behind in ((first, second), (second, first)):
            between = signalled(alg, barrier, before)
            known = known & ~is_undefined(alg, barrier, before) & ~is_undefined(alg, between, behind)
            if not across:
                known = known & alg.same(between.phase, barrier.phase)
            results.append(signalled(alg, between, behind))
        yield from _equations(alg, results[0], results[1], known)

    pinned = {"phase": [0], "expected": [2], "pending": [1], "transactions": [0], "number": [1], "other": [1]}
    return Property(
        (*BARRIER, *_variables("number", "other")), claim, pinned=pinned if across else None, abstract=False
    )


# -- waiting
@theorem(
    "ptx/mbarrier/parity",
    "a parity names a phase to whoever is at most one phase behind, as a state does",
    "∀ phases w, ∀ p with w ≤ p ≤ w + 1: test_wait.parity (w mod 2) ⇔ test_wait of a state of w ⇔ w is over "
    "(p = w + 1). At p = w + 2 (pinned: the barrier is used again before the waiter looked) it is false "
    "though w is over; at p = w - 1 (pinned: the waiter is ahead) it is true though w is not",
    SOURCE,
)
def parity() -> Iterator[Case]:
    """Yield the claim, and what happens to whoever is further behind, or ahead."""
    yield Case("at-most-one-behind", partial(_named, (0, 1)))
    yield Case("fresh", _fresh)
    yield Case(
        "two-behind", partial(_named, (0, 2)), Status.REFUTED,
        statement="a parity names a phase to whoever is two phases behind",
    )  # fmt: skip
    yield Case(
        "one-ahead", partial(_named, (-1, 0)), Status.REFUTED,
        statement="a parity names a phase to whoever asks before the phase begins",
    )  # fmt: skip


def _named(steps: tuple[int, int]) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        barrier, waited = _barrier(alg, v), _integer(alg, v, "waited")
        known = alg.same(barrier.phase, waited + steps[0]) | alg.same(barrier.phase, waited + steps[1])
        over = alg.in_range(barrier.phase - waited - 1, PHASE)
        passes = passes_parity(alg, barrier, parity_of(alg, waited))
        yield Equation(passes, over, None, known, "parity")
        if steps == (0, 1):
            state = state_of(barrier._replace(phase=waited))
            yield Equation(is_over(alg, barrier, state.phase), over, None, known, "state")

    counts = {"expected": [1], "pending": [1], "transactions": [0]}
    pinned = {
        (0, 1): None,
        (0, 2): counts | {"phase": [2], "waited": [0]},
        (-1, 0): counts | {"phase": [0], "waited": [1]},
    }
    return Property((*BARRIER, *_variables("waited")), claim, pinned=pinned[steps], abstract=False)


def _fresh() -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        barrier = initialised(alg, _integer(alg, v, "expected"))
        odd = alg.same(v["parity"], alg.constant(1, PARITY))
        yield Equation(passes_parity(alg, barrier, v["parity"]), odd, None, label="parity 1 passes")

    return Property(_variables("expected", "parity"), claim, abstract=False)


STAGES, ROUNDS = 8, 4


@theorem(
    "ptx/mbarrier/ring",
    "on a ring of stages, the parities that kernels compute from the number of the iteration are those of "
    "the phases that are meant",
    "∀ S ≤ 8, j < 4·S: a consumer of iteration j waits for phase ⌊j/S⌋ of full[j mod S] with parity ⌊j/S⌋ "
    "mod 2; its producer for phase ⌊j/S⌋ - 1 of empty[j mod S] with that parity xor 1, which passes at once "
    "at a fresh barrier, where j < S; arrivals in turn bring each barrier to the phase that is waited for",
    SOURCE,
)
def ring() -> Iterator[Case]:
    """Yield one obligation for each number of stages."""
    for stages in range(1, STAGES + 1):
        yield Case(f"{stages}-stages", partial(_ring, stages), method=Method.CERTIFICATE)


def _ring(stages: int) -> Certificate:
    """Run producer and consumer in turn: each waits, and arrives at the other's barrier."""
    from ...spec.numpy_algebra import NumpyAlgebra

    alg = NumpyAlgebra()
    expected: dict[tuple[int, str], object] = {}
    for iteration in range(ROUNDS * stages):
        again = iteration >= stages
        expected |= {(iteration, "producer"): (True, again), (iteration, "consumer"): (False, True)}

    def specified() -> Iterator[tuple[tuple[int, str], object]]:
        full, empty = ([initialised(alg, 1) for _ in range(stages)] for _ in range(2))
        for iteration in range(ROUNDS * stages):
            stage, parity = iteration % stages, iteration // stages & 1
            word = alg.constant(parity ^ 1, PARITY)
            fresh = not int(empty[stage].phase)
            yield (iteration, "producer"), (bool(passes_parity(alg, empty[stage], word)), not fresh)
            word = alg.constant(parity, PARITY)
            before = bool(passes_parity(alg, full[stage], word))
            full[stage] = signalled(alg, full[stage], Signal(1))
            yield (iteration, "consumer"), (before, bool(passes_parity(alg, full[stage], word)))
            empty[stage] = signalled(alg, empty[stage], Signal(1))

    return compared(expected, specified)


# -- ranges
@theorem(
    "ptx/mbarrier/range",
    "the count of bytes of a phase stays in its range where the bytes lie at distinct places of shared "
    "memory",
    "∀ X, C ≤ 2^20 - 1: |X - C| ≤ 2^20 - 1, whatever the order; a block has at most 227 KiB of shared "
    "memory, so that as many bytes may be expected at once; 2^20 bytes (pinned) may not",
    SOURCE + "; CUDA C++ guide (shared memory of compute capability 9.0)",
)
def ranges() -> Iterator[Case]:
    """Yield that counts stay in range, of shared memory, too, and that a mebibyte does not."""
    yield Case("sums", partial(_in_range, MOST))
    yield Case("shared-memory", partial(_in_range, launch_limits("sm_90", (9, 0)).shared))
    yield Case(
        "a-mebibyte", partial(_in_range, MOST + 1), Status.REFUTED,
        statement="as many as 2^20 bytes may be expected in one phase",
    )  # fmt: skip


def _in_range(most: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        awaited, there = (_integer(alg, v, name) for name in ("awaited", "there"))
        fits = alg.in_range(alg.whole(most) - awaited, COUNT) & alg.in_range(alg.whole(most) - there, COUNT)
        zero = alg.whole(0)
        barrier = Barrier(zero + 0 * awaited, zero + 1 + 0 * awaited, zero + 1 + 0 * awaited, zero - there)
        expect = OPERATIONS["mbarrier.expect_tx"].signal(awaited)
        yield holds(alg, ~is_undefined(alg, barrier, expect), "bytes first", fits)
        barrier = barrier._replace(transactions=zero + awaited)
        complete = OPERATIONS["mbarrier.complete_tx"].signal(there)
        yield holds(alg, ~is_undefined(alg, barrier, complete), "bytes last", fits)

    pinned = {"awaited": [1 << 20], "there": [0]} if most > MOST else None
    return Property(_variables("awaited", "there"), claim, pinned=pinned, abstract=False)


# -- what is stated
examples = table_theorem(
    "ptx/stated/barriers",
    "operations one after the other leave barriers as the manual says",
    "listed operations after init ↦ phase, expected and pending arrivals, count of bytes, or that PTX does "
    "not define the last one; parities that pass then",
    SOURCE,
    lambda: {"sequences": _sequences},
)


def _sequences() -> Certificate:
    return compared(
        {row.operations: row.after for row in stated.SEQUENCES},
        lambda: {row.operations: _after(row.operations) for row in stated.SEQUENCES},
    )


def _after(operations: str) -> str:
    from ...spec.numpy_algebra import NumpyAlgebra

    alg = NumpyAlgebra()
    first, *others = operations.split("; ")
    barrier = initialised(alg, int(first.split()[1]))
    for other in others:
        name, _, number = other.partition(" ")
        operation = OPERATIONS[name if name.startswith("cp") else f"mbarrier.{name}"]
        signal = operation.signal(int(number or 1))
        given = alg.whole(int(number or 1))
        wrong = not bool(is_operand(alg, given, int(operation.operand == "arrivals")))
        if wrong or bool(is_undefined(alg, barrier, signal)):
            return "undefined"
        barrier = signalled(alg, barrier, signal)
    passing = [parity for parity in (0, 1) if passes_parity(alg, barrier, alg.constant(parity, PARITY))]
    counts = " ".join(str(int(count)) for count in barrier)
    return f"{counts}, parity {passing[0]} passes"


THEOREMS = (completes, invariant, order, parity, ring, ranges, examples)
