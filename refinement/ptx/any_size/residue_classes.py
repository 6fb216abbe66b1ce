"""Proofs for all numbers of a size: one induction per residue class where needed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from ....spec.errors import InputError, UnsupportedError
from ....spec.formats import FloatFormat
from ...checker.evaluated import Checked
from ...contract.contract import Accumulate, Contract
from ...contract.size_domains import ResidueClass, SizeDomain, with_tail
from ...findings.index_overflow import Overflow
from ...findings.result import Equality
from ...sizes.given_elements import periods
from ...sizes.growing_roundings import joined
from ...sizes.symbolic_integers import deciding
from .loop_periods import LONGEST, OBSERVED, first_settled, period_of
from .loop_states import Cells
from .size_induction import Induction
from .size_proofs import LimitError, NextCandidateError, SizeProof, UndecidedError
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

_MANY_RESTS = 8
"""Rests of a turn: from that on, any tail is looked at before each of them."""

_SEARCH_WITH_TAIL = 10
"""Seconds after which rests are looked at one by one."""

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
    tile: int = 0,
) -> SizeProof:
    """Prove that a kernel is right for every number of a domain that is not below `SizeProof.first`.

    Where that depends on rests of the number, one proof is of all: of whole tiles and any tail. Where that
    does not work, each rest is a proof of its own. Of a domain that ends a few
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
    tile : int
        Before which there likely is any tail; 0 where nothing is known.

    Raises
    ------
    UnsupportedError
        If it is not shown; the message says what is in the way, and where.
    """
    if domain.count < _FAR:
        further = replace(domain, most=domain.least + (_FAR - 1) * domain.step)
        try:
            proof = _of_domain(launched, further, told, factors, tile)
        except (UnsupportedError, InputError):  # such as an index that overflows only there
            told("again, up to the largest size stated only")
        else:
            if proof.domain.most >= domain.most:
                return replace(proof, domain=domain, limit="", overflow=None)
    return _of_domain(launched, domain, told, factors, tile)


def _of_domain(
    launched: Callable[[ResidueClass], SymbolicLaunch],
    domain: SizeDomain,
    told: Callable[[str], None],
    factors: Sequence[int],
    tile: int,
) -> SizeProof:
    """Prove that a kernel is right for every number of a domain, as one class or several."""
    if tile and (proof := _with_tail(launched, domain, [tile], told)) is not None:
        return proof
    launch = launched(ResidueClass(domain, domain.step, 0))
    started, contract = time.process_time(), launch.contract
    asks_bits = contract.accumulate is Accumulate.SEQUENTIAL or contract.equality is Equality.BITS
    of_floats = any(isinstance(output.format, FloatFormat) for output in launch.instance.outputs)
    tiles = [] if asks_bits and of_floats else _tiles(launch)  # an added zero may change a sum's sign
    first = [tile for tile in tiles if tile >= _MANY_RESTS * domain.step]
    if launch.is_of_block and (proof := _with_tail(launched, domain, first, told)) is not None:
        return proof
    try:
        return of_class(launch, told)
    except UndecidedError as error:
        reason = error
    others = [tile for tile in tiles if tile not in first or not launch.is_of_block]
    if (proof := _with_tail(launched, domain, others, told)) is not None:
        return proof
    for factor in factors:
        if time.process_time() - started > _SEARCH:
            raise UnsupportedError(f"no proof found in {_SEARCH} s: {reason}")
        modulus = domain.step * factor
        rests = range(0, modulus, domain.step)[::-1]
        with suppress(UndecidedError):
            return united([of_class(launched(ResidueClass(domain, modulus, rest)), told) for rest in rests])
    raise reason


def _with_tail(
    launched: Callable[[ResidueClass], SymbolicLaunch],
    domain: SizeDomain,
    tiles: Sequence[int],
    told: Callable[[str], None],
) -> SizeProof | None:
    """Prove that a kernel is right for whole tiles and any tail, of the first tile for which it works."""
    for tile in tiles:
        whole = replace(domain, most=-(-domain.most // tile) * tile)
        told(f"any tail of {tile}")
        launch = None
        try:
            launch = launched(with_tail(whole, tile))
            proof = of_class(launch, told, _SEARCH_WITH_TAIL)
        except LimitError:  # of the grid, which is as large whatever the tail
            raise
        except (UnsupportedError, InputError):
            doubt = None if launch is None else deciding(launch.store.doubts)
            if (
                launch is not None
                and launch.is_of_block
                and doubt is not None
                and 0 < doubt.limit < doubt.highest
            ):
                raise  # an integer is too large, whatever the tail: fewer sizes are tried
            continue
        cut = proof.domain.most >= domain.most
        return replace(proof, domain=domain, limit="", overflow=None) if cut else proof
    return None


def _tiles(launch: SymbolicLaunch) -> list[int]:
    """Return what a tail may be left of: what sizes are divided by, or what a turn goes over."""
    step, store = launch.numbers.domain.step, launch.store
    symbols, doubts = store.symbols, len(store.doubts)
    of_size = [column for column, monomial in enumerate(symbols.monomials) if "n" in monomial]
    moved = [int(each) for each in _moved(launch) or () if each.denominator == 1]
    found = [doubt.divisor for doubt in store.doubts if any(doubt.row[column] for column in of_size)]
    found += moved
    store.symbols = symbols  # for what failed of this launch is still to be looked at
    del store.doubts[doubts:]
    return [tile for tile in dict.fromkeys(found) if tile > step and tile % step == 0]


def of_class(
    launch: SymbolicLaunch,
    told: Callable[[str], None],
    most: float = _SEARCH,
    induction: type[Induction] = Induction,
) -> SizeProof:
    """Prove that a kernel is right for every number of a class."""
    numbers = launch.numbers
    reason: UnsupportedError | None = None
    started = time.process_time()
    for start, period in _candidates(launch):
        if reason is not None and time.process_time() - started > most:
            break
        try:
            return induction(launch, numbers, start, period, told).proof()
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
    if (found := _moved(launch)) is None:
        return []
    moved = max(found | {Fraction(1)})
    most = min(launch.numbers.domain.most // 2, LARGE)
    return launch.turns(min(count, int(most / moved) - 1))[1:]


def _moved(launch: SymbolicLaunch) -> set[Fraction] | None:
    """Return how far a turn of the main loop moves along the size; None where no loop is found."""
    try:
        launch.turns(3)
    except UnsupportedError:
        return None
    return distances(launch, 1, 2)


def united(proofs: Sequence[SizeProof]) -> SizeProof:
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
