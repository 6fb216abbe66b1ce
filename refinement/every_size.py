"""Kernels at every set of a contract's sizes: those listed, and all numbers of a domain."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import Any, Protocol

from ..spec.errors import InputError, OutOfBudget, UnsupportedError
from .checker.evaluated import Checked
from .contract.contract import Contract, Instance
from .contract.size_domains import LaunchSizeError, QuantifiedSizes, SizeDomain
from .every_block import BlockProver, BlocksShown, shown_by_blocks, with_overflow
from .examine.output_comparison import Examination
from .findings.index_overflow import Overflow
from .findings.result import Equality, Method, Quantification
from .instance_verification import Told
from .machine.front_end import Kernel
from .remote import Submit, each_examined
from .sizes.growing_roundings import GrowingRoundings, joined
from .uneven_grids import uneven

Examinations = list[tuple[Instance, Examination]]
"""What was found at each set of sizes that was looked at, in order."""

_SHOWN_TOO = 2
"""Sets of sizes that are verified one by one besides, where a proof is for all numbers of all sizes."""

_SEARCH = 60
"""Seconds of the processor after which no other size is tried to be shown by induction."""

_COMBINATIONS = 3
"""Of the other sizes, with which the numbers of one are shown by induction."""

_BEYOND = 2
"""Terms behind those of a block's first step at which a kernel is probed, which are those of two threads."""

_MOST_THREADS = 1 << 17
"""Of a grid at sizes at which it is uneven."""


_At = Callable[[Sequence[Instance]], tuple[Examinations, Mapping[str, Any]]]
"""Verifies a kernel at some sets of sizes, and returns what was found, and counts."""


class _RefutedError(Exception):
    """A kernel that is wrong at a number of a domain: nothing is left to be shown."""


class _Probe:
    """Looks whether a kernel is wrong where its threads take more than one step along a size, each size once.

    Attributes
    ----------
    found, stats : list of (Instance, Examination), mapping
        What was found last, and counts.
    """

    def __init__(self, contract: Contract, at: _At) -> None:
        self._contract, self._at, self._probed = contract, at, set[str]()
        self.found: Examinations = []
        self.stats: Mapping[str, Any] = {}

    def __call__(self, name: str) -> None:
        """Run the kernel at a number of a size, the others being the first listed.

        Raises
        ------
        _RefutedError
            If it is wrong there.
        """
        quantified = self._contract.quantified
        domains = [each for each in (quantified.domains if quantified else ()) if each.name == name]
        if name in self._probed or quantified is None or not domains:
            return
        self._probed.add(name)
        first = self._contract.sizes[0]
        threads = prod(self._contract.instance(first).block)
        number = max(domains[0].least, domains[0].up_to(threads + _BEYOND * domains[0].step).most)
        with suppress(InputError, UnsupportedError, OutOfBudget, MemoryError, RecursionError):
            instance = self._contract.instance(quantified.completed({**first, name: number}))
            self.found, self.stats = self._at([instance])
        if any(finding.kind.refutes for _, each in self.found for finding in each.findings):
            raise _RefutedError


class SizeProof(Protocol):
    """A proof for every number of a size; see `mmaproof.refinement.ptx.any_size.size_proofs.SizeProof`."""

    domain: SizeDomain
    equality: Equality
    limit: str
    obligations: list[Any]
    roundings: GrowingRoundings | None
    overflow: Overflow | None
    checked: Checked
    assumptions: tuple[str, ...]

    @property
    def alone(self) -> range:
        """The numbers that are to be verified one by one."""
        ...


@dataclass
class Scope:
    """The scope of a verdict over size domains.

    Attributes
    ----------
    sizes : tuple of Quantification
        For each of them.
    equality : Equality
        The weakest that proofs for all numbers needed.
    obligations : list of dict
        Their parts, with the sizes that were known, and what each took.
    roundings : GrowingRoundings, optional
        How often outputs are rounded, by the size that is shown by induction.
    overflows : sequence of Overflow
        At which sizes, beyond those that are shown, an index overflows.
    checked : Checked
        What the checker evaluated again of the equalities that the proofs are made of.
    assumptions : tuple of str
        What their runs take for granted.
    """

    sizes: tuple[Quantification, ...] = ()
    equality: Equality = Equality.BITS
    obligations: list[dict[str, Any]] = field(default_factory=list)
    roundings: GrowingRoundings | None = None
    overflows: Sequence[Overflow] = ()
    checked: Checked = field(default_factory=Checked)
    assumptions: tuple[str, ...] = ()

    def claimed_overflow(self, *, every: bool) -> Overflow | None:
        """Return sizes at which the kernel was seen to go wrong: every one, or below ends that are stated."""
        by_name = {size.name: size for size in self.sizes}
        for overflow in (each for each in self.overflows if each.access):
            beyond = [
                by_name[name]
                for name, number in overflow.sizes.items()
                if name in by_name and number > by_name[name].shown_to
            ]
            if beyond and (every or all(each.states_end for each in beyond)):
                return overflow
        return None


def examined(
    kernel: Kernel,
    contract: Contract,
    told: Told | None,
    former: Kernel | None,
    submit: Submit | None = None,
) -> tuple[Examinations, Mapping[str, Any], Scope]:
    """Verify a kernel at every set of sizes of a contract, up to the first that refutes it.

    Parameters
    ----------
    kernel, former : Kernel
        The kernel, and the one that it is compared with, if there is one.
    contract : Contract
        What it is to compute.
    told : callable, optional
        Told about the progress.
    submit : callable, optional
        Has others verify sets of sizes; see `remote`.

    Returns
    -------
    list of (Instance, Examination)
        What was found.
    mapping
        Counts of the last run.
    Scope
        Of sizes that may be any number of a domain, how far what was found holds for all of them.
    """
    at = partial(_at, kernel, told, former, submit)
    probe = _Probe(contract, at)
    try:
        return _examined(kernel, contract, told, former, at, probe)
    except _RefutedError:
        assert contract.quantified is not None
        reason = "the kernel is wrong where threads take several steps"
        return probe.found, probe.stats, Scope(_listed(contract.quantified, probe.found, reason))


def _examined(
    kernel: Kernel, contract: Contract, told: Told | None, former: Kernel | None, at: _At, probe: _Probe
) -> tuple[Examinations, Mapping[str, Any], Scope]:
    """Return what `examined` does; a probe may end it."""
    quantified = contract.quantified
    if quantified is None:
        found, stats = at(list(contract.instances()))
        return found, stats, Scope()
    listed = [contract.instance(sizes) for sizes in contract.sizes]
    if quantified.are_all(contract.sizes):
        found, stats = at(listed)
        return found, stats, Scope(_listed(quantified, found, "", Method.EXHAUSTION))
    found, stats = at(listed[:1])
    if _is_open(found):
        return found, stats, Scope(_listed(quantified, found, "the first sizes listed are not verified"))
    not_by_blocks = ""
    try:
        blocks = _by_blocks(kernel, contract, told, former, probe)
        wanted = listed[1:] if blocks.reasons else listed[1:_SHOWN_TOO]
        more, stats = at(wanted)
        found += more
        largest = {domain.name: _largest(found, domain) for domain in quantified.domains}
        sizes = blocks.quantifications(quantified.domains, largest)
        shown = blocks.equality, blocks.obligations, blocks.roundings, blocks.overflows
        parts = *shown, blocks.checked, blocks.assumptions
        return found, stats, Scope(sizes, *parts)
    except UnsupportedError as error:
        not_by_blocks = str(error)
    try:
        if former is not None:
            raise UnsupportedError("two kernels can be compared at listed sizes only")
        size, proofs = _proved(kernel, contract, told, not_by_blocks, probe)
    except (UnsupportedError, InputError, OutOfBudget, MemoryError, RecursionError) as error:
        more, stats = at([*listed[1:], *_uneven(contract, quantified)])
        return found + more, stats, Scope(_listed(quantified, found + more, _reason(error)))
    others = [domain.name for domain in quantified.domains if domain.name != size]
    alone = [{**known, size: number} for known, proof in proofs for number in proof.alone]
    several = [
        dict(each.sizes) for each in listed[1:] if any(_differ(each, listed[0], name) for name in others)
    ]
    wanted = [contract.instance(sizes) for sizes in _distinct(quantified, [*alone, *several])]
    wanted = [each for each in wanted if dict(each.sizes) != dict(listed[0].sizes)]
    wanted += _uneven(contract, quantified)
    more, stats = at(wanted)
    found += more
    scope = Scope(
        tuple(_shown(domain, size, proofs, found, not_by_blocks) for domain in quantified.domains),
        Equality.VALUE if any(proof.equality is Equality.VALUE for _, proof in proofs) else Equality.BITS,
        [obligation.document(known) for known, proof in proofs for obligation in proof.obligations],
        joined([proof.roundings for _, proof in proofs]),
        [proof.overflow for _, proof in proofs if proof.overflow is not None],
        sum((proof.checked for _, proof in proofs), start=Checked()),
        tuple(assumption for _, proof in proofs for assumption in proof.assumptions),
    )
    return found, stats, scope


def _uneven(contract: Contract, quantified: QuantifiedSizes) -> list[Instance]:
    """Return the contract at sizes, small enough to be run, at which the grid stops to grow evenly."""
    found = []
    for sizes in uneven(contract.launch.grid, quantified, contract.sizes):
        with suppress(InputError):
            instance = contract.instance(quantified.completed(sizes))
            if prod(instance.grid) * prod(instance.block) <= _MOST_THREADS:
                found.append(instance)
    return found


def _by_blocks(
    kernel: Kernel, contract: Contract, told: Told | None, former: Kernel | None, probe: _Probe
) -> BlocksShown:
    """Prove a kernel right for every number of the sizes by which its grid grows; see `shown_by_blocks`."""
    check_launches(contract)
    every_block: Callable[..., BlockProver] | None = getattr(kernel, "every_block", None)
    if every_block is None or former is not None or not contract.says_values:
        raise UnsupportedError("a proof for every size needs a PTX kernel and a contract with formulas")
    found = shown_by_blocks(lambda: every_block(contract, _telling(told, "size"), probe), contract)
    if contract.equality is Equality.BITS and found.equality is Equality.VALUE:
        raise UnsupportedError("equality is shown over the reals only, but the contract demands bits")
    return found


def check_launches(contract: Contract) -> None:
    """Refuse to prove several launches for every size; raises `UnsupportedError`."""
    if contract.launches:
        raise UnsupportedError(f"{len(contract.launches)} launches; a proof for every size takes one launch")


def _at(
    kernel: Kernel,
    told: Told | None,
    former: Kernel | None,
    submit: Submit | None,
    instances: Sequence[Instance],
) -> tuple[Examinations, Mapping[str, Any]]:
    """Verify a kernel at some sets of sizes, up to the first that refutes it or leaves it open."""
    found: Examinations = []
    stats: Mapping[str, Any] = {}
    with closing(each_examined(kernel, instances, told, former, submit)) as examined:
        for some, counts in examined:
            found += some
            stats = counts
            if _is_open(some):
                break
    return found, stats


def _is_open(found: Sequence[tuple[Instance, Examination]]) -> bool:
    return any(each.equality is None and each.findings for _, each in found)


def _proved(
    kernel: Kernel, contract: Contract, told: Told | None, not_by_blocks: str, probe: _Probe
) -> tuple[str, list[tuple[Mapping[str, int], SizeProof]]]:
    """Prove that a kernel is right for every number of one size, with some combinations of the others.

    Raises
    ------
    UnsupportedError
        If no size is found for which it can be shown; the message says why, for each.
    """
    quantified = contract.quantified
    assert quantified is not None
    check_launches(contract)
    prove: Callable[..., SizeProof] | None = getattr(kernel, "for_every", None)
    if prove is None or not contract.says_values:
        what = "a proof for every size needs a PTX kernel and a contract with formulas"
        raise UnsupportedError(f"{what}; list the sizes instead, a table [[sizes]] for each set")
    reason, started = "", time.process_time()
    for domain in quantified.domains:
        if reason and time.process_time() - started > _SEARCH:
            raise UnsupportedError(f"no proof found in {_SEARCH} s: {reason}")
        others = [each.name for each in quantified.domains if each is not domain]
        known = list({tuple(sizes[name] for name in others): None for sizes in contract.sizes})[
            :_COMBINATIONS
        ]
        told_size = _telling(told, domain.name)
        try:
            proofs: list[tuple[Mapping[str, int], SizeProof]] = []
            for numbers in known:
                sizes = dict(zip(others, numbers, strict=True))
                proofs.append((sizes, prove(contract, sizes, domain, told_size, probe)))
        except UnsupportedError as error:
            why = f"{error}: {not_by_blocks}" if isinstance(error, LaunchSizeError) else str(error)
            about = f"{domain.name}: {why}" if len(quantified.domains) > 1 else why
            if about not in reason:
                reason = f"{reason}; {about}" if reason else about
            continue
        if contract.equality is Equality.BITS and any(p.equality is Equality.VALUE for _, p in proofs):
            raise UnsupportedError("equality is shown over the reals only, but the contract demands bits")
        return domain.name, proofs
    raise UnsupportedError(reason)


def _telling(told: Told | None, name: str) -> Callable[[str], None]:
    return (lambda what: None) if told is None else lambda what: told(f"for every {name}: {what}", 0, 1)


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _differ(one: Instance, other: Instance, name: str) -> bool:
    return one.sizes[name] != other.sizes[name]


def _distinct(quantified: QuantifiedSizes, sets: Sequence[Mapping[str, int]]) -> Iterator[dict[str, int]]:
    """Yield sets of sizes, each once, with those that follow from others."""
    seen = []
    for given in sets:
        sizes = quantified.completed({domain.name: given[domain.name] for domain in quantified.domains})
        if sizes not in seen:
            seen.append(sizes)
            yield sizes


def _shown(
    domain: SizeDomain,
    size: str,
    proofs: Sequence[tuple[Mapping[str, int], SizeProof]],
    found: Sequence[tuple[Instance, Examination]],
    reason: str,
) -> Quantification:
    """Return how far a verdict holds that is shown by induction for one size."""
    if domain.name != size:
        known = " or ".join(_told(known) for known, _ in proofs)
        told = f"proved for every {size} with {known} only" + (f"; {reason}" if reason else "")
        return _quantification(domain, found, told, Method.LISTED)
    least = min((proof for _, proof in proofs), key=lambda proof: proof.domain.most)
    limit = with_overflow(least.limit, least.overflow)
    shown = _quantification(domain, found, limit, Method.INDUCTION)
    return replace(shown, shown_to=least.domain.most, overflow=least.overflow)


def _told(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {number}" for name, number in sizes.items())


def _listed(
    quantified: QuantifiedSizes,
    found: Sequence[tuple[Instance, Examination]],
    reason: str,
    method: Method = Method.LISTED,
) -> tuple[Quantification, ...]:
    """Return that a verdict holds at the sizes that were looked at."""
    return tuple(_quantification(domain, found, reason, method) for domain in quantified.domains)


def _quantification(
    domain: SizeDomain, found: Sequence[tuple[Instance, Examination]], reason: str, method: Method
) -> Quantification:
    largest = _largest(found, domain)
    return Quantification(
        domain.name, domain.text, domain.step, domain.least, domain.most, method, largest, reason
    )


def _largest(found: Sequence[tuple[Instance, Examination]], domain: SizeDomain) -> int:
    return max((instance.sizes[domain.name] for instance, _ in found), default=domain.least)
