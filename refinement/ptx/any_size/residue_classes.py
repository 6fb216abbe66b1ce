"""Proofs for all numbers of a size: one induction per residue class where needed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from ....spec.errors import InputError, UnsupportedError
from ...checker.evaluated import Checked
from ...contract.contract import Contract
from ...contract.size_domains import ResidueClass, SizeDomain
from ...findings.index_overflow import Overflow
from ...findings.result import Equality
from ...sizes.given_elements import periods
from ...sizes.growing_roundings import joined
from .loop_periods import LONGEST, OBSERVED, first_settled, period_of
from .loop_states import Cells
from .size_induction import Induction
from .size_proofs import NextCandidateError, SizeProof, UndecidedError
from .symbolic_launch import LARGE, SymbolicLaunch
from .turn_distances import distances

FACTORS = (2, 4, 8, 16, 32)
"""By how much numbers of one class may differ, in steps of the domain."""

MOST_CLASSES = 64
"""Of rests of numbers, where given values are told by them."""


def factors_of(contract: Contract) -> Sequence[int]:
    """Return by how much numbers of one class may differ for a contract, in steps of the domain."""
    found = [period * factor for period in periods(contract.parameters) for factor in (1, *FACTORS)]
    return (*(each for each in found if each <= MOST_CLASSES), *FACTORS)


_SEARCH = 30
"""Seconds of the processor after which no other modulus is tried."""

_CANDIDATES = ((1, 1), (2, 1), (1, 2), (2, 2), (1, 3), (3, 1), (2, 3), (1, 4), (2, 4), (1, 6))
"""Turns before the induction begins, and turns of the kernel's loop that make one of it, to be tried."""

_AT_ONCE = 2
"""How many of them are tried before it is looked at what the loop goes round."""

_FAR = 1024
"""How many numbers a domain has that ends far behind the first turns."""


def prove(
    launched: Callable[[ResidueClass], SymbolicLaunch],
    domain: SizeDomain,
    told: Callable[[str], None],
    factors: Sequence[int] = FACTORS,
) -> SizeProof:
    """Prove that a kernel is right for every number of a domain that is not below `SizeProof.first`.

    Where that depends on rests of the number, each rest is a proof of its own. Of a domain that ends a few
    turns behind the first ones, more is tried to be proved than is asked for, since an induction needs room.

    Parameters
    ----------
    launched : callable
        Launches the kernel with the numbers of a class.
    domain : SizeDomain
        The numbers.
    told : callable
        Told what is being done.
    factors : sequence of int
        By how much numbers of one class may differ, in steps of the domain, to be tried.

    Raises
    ------
    UnsupportedError
        If it is not shown; the message says what is in the way, and where.
    """
    if domain.count < _FAR:
        further = replace(domain, most=domain.least + (_FAR - 1) * domain.step)
        try:
            proof = _of_domain(launched, further, told, factors)
        except (UnsupportedError, InputError):  # such as an index that overflows only there
            told("up to the end alone")
        else:
            if proof.domain.most >= domain.most:
                return replace(proof, domain=domain, limit="", overflow=None)
    return _of_domain(launched, domain, told, factors)


def _of_domain(
    launched: Callable[[ResidueClass], SymbolicLaunch],
    domain: SizeDomain,
    told: Callable[[str], None],
    factors: Sequence[int],
) -> SizeProof:
    """Prove that a kernel is right for every number of a domain, as one class or several."""
    reason: UnsupportedError | None = None
    started = time.process_time()
    for factor in (1, *factors):
        if reason is not None and time.process_time() - started > _SEARCH:
            raise UnsupportedError(f"after {_SEARCH} s of searching: {reason}")
        modulus = domain.step * factor
        rests = list(range(0, modulus, domain.step))[::-1]
        try:
            return _joined([_of_class(launched, ResidueClass(domain, modulus, rest), told) for rest in rests])
        except UndecidedError as error:
            reason = reason or error
    assert reason is not None
    raise reason


def _of_class(
    launched: Callable[[ResidueClass], SymbolicLaunch], numbers: ResidueClass, told: Callable[[str], None]
) -> SizeProof:
    """Prove that a kernel is right for every number of a class."""
    launch = launched(numbers)
    reason: UnsupportedError | None = None
    started = time.process_time()
    for start, period in _candidates(launch):
        if reason is not None and time.process_time() - started > _SEARCH:
            break
        try:
            return Induction(launch, numbers, start, period, told).proof()
        except NextCandidateError as error:
            reason = reason or error
    raise UndecidedError(str(reason))


def _candidates(launch: SymbolicLaunch) -> Iterator[tuple[int, int]]:
    """Yield turns before the induction begins, and those that make one of it, the likely ones first."""
    yield from _CANDIDATES[:_AT_ONCE]
    tried = list(_CANDIDATES[:_AT_ONCE])
    for count in OBSERVED:
        period = period_of(_observed(launch, count))
        starts = first_settled(launch.snapshots, period) if any(launch.snapshots) else (1, 2, 3)
        likely = [(start, period) for start in starts]
        yield from (each for each in likely if 1 < period <= LONGEST and each not in tried)
        tried += likely
    yield from (candidate for candidate in _CANDIDATES if candidate not in tried)


def _observed(launch: SymbolicLaunch, count: int) -> list[Cells]:
    """Return what is held at up to so many turns of the main loop, as many as it surely has."""
    try:
        launch.turns(2)
    except UnsupportedError:
        return []
    moved = max(distances(launch, 1, 2) | {Fraction(1)})
    most = min(launch.numbers.domain.most // 2, LARGE)
    return launch.turns(min(count, int(most / moved) - 1))[1:]


def _joined(proofs: Sequence[SizeProof]) -> SizeProof:
    """Return one proof of those of all classes of a domain."""
    least = min(proofs, key=lambda each: each.domain.most)
    return SizeProof(
        least.domain,
        max(proof.first for proof in proofs),
        Equality.VALUE if any(proof.equality is Equality.VALUE for proof in proofs) else Equality.BITS,
        least.limit,
        [obligation for proof in proofs for obligation in proof.obligations],
        joined([proof.roundings for proof in proofs]),
        _first_overflow(proofs),
        sum((proof.checked for proof in proofs), start=Checked()),
        tuple(dict.fromkeys(granted for proof in proofs for granted in proof.assumptions)),
    )


def _first_overflow(proofs: Sequence[SizeProof]) -> Overflow | None:
    """Return the overflow at the smallest number, which is the smallest of all if each class has its own."""

    def number(overflow: Overflow) -> int:
        return overflow.sizes[proofs[0].domain.name]

    found = [proof.overflow for proof in proofs if proof.overflow is not None]
    if not found:
        return None
    first = min(found, key=lambda each: (number(each), not each.is_smallest))
    others = [proof for proof in proofs if proof.domain.most < number(first)]
    known = all(other.overflow is not None and other.overflow.is_smallest for other in others)
    return replace(first, is_smallest=first.is_smallest and known)
