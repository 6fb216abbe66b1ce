"""One thread that stands for all that go over a size in steps: what proofs of sums and of stores share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from ....spec.errors import InputError, UnsupportedError
from ...contract.contract import Contract
from ...contract.parameters import ArrayParameter
from ...contract.size_domains import ResidueClass, SizeDomain
from ...sizes.block_positions import BlockPosition
from ..idioms.branch_regions import LOADS
from ..run.entry import PtxEntry
from ..run.launching import entry_named
from ..text.module import TYPE_BITS
from .residue_classes import of_class, united
from .size_induction import Induction
from .size_proofs import STATEMENTS, LimitError, Obligation, SizeProof, Timed, UndecidedError
from .thread_launch import TURNS, ThreadLaunch

_UNROLLED = (1, 2, 4, 8)
"""How many turns a compiler may have made one of: it unrolls four times where nothing is said."""

_SEARCH = 4
"""Seconds after which nothing else is tried for a class of turns."""


class ThreadSteps:
    """Proofs of what the thread does that stands for all.

    Parameters
    ----------
    kernel, contract : PtxEntry, Contract
        The kernel, and what it is to compute.
    known : mapping of str to int
        The sizes that are numbers.
    domain : SizeDomain
        The size that threads go over.
    told : callable
        Told what is being done.
    position : BlockPosition, optional
        Where the block is that stands for others; by default all of a known grid run.
    """

    induction: type[Induction] = Induction

    def __init__(
        self,
        kernel: PtxEntry,
        contract: Contract,
        known: Mapping[str, int],
        domain: SizeDomain,
        told: Callable[[str], None],
        position: BlockPosition | None = None,
    ) -> None:
        self._kernel, self._contract, self._known = kernel, contract, known
        self._domain, self._told, self._position = domain, told, position
        self._obligations: list[Obligation] = []

    @property
    def may_apply(self) -> bool:
        """Whether threads go over the size in steps, so that other ways mostly fail, and slowly."""
        return False

    @property
    def size(self) -> str:
        """The size's name."""
        return self._domain.name

    def proof(self) -> SizeProof:
        """Return the proof."""
        raise NotImplementedError

    def _checked(self, launched: Callable[[ResidueClass], ThreadLaunch], domain: SizeDomain) -> SizeProof:
        """Prove what a thread does at one number of T."""
        raise NotImplementedError

    def _vectors(self, threads: int) -> list[int]:
        """Return how many neighbours threads may take at once.

        Behind vectors each thread takes one at most, so that there are no more of these than threads.
        """
        arrays = [each for each in self._contract.parameters if isinstance(each, ArrayParameter)]
        body = entry_named(self._kernel.module, self._kernel.entry).body
        loads = [each for each in body if each.opcode in LOADS and not each.has("param")]
        widths = {
            TYPE_BITS[each.types[-1]] * int((each.one_of(("v2", "v4", "v8")) or "v1")[1:]) for each in loads
        }
        found = {width // array.element_bits for width in widths for array in arrays}
        return [1, *sorted(each for each in found if 1 < each <= threads)]

    def _of_turns(self, launched: Callable[[ResidueClass], ThreadLaunch], most: int) -> SizeProof:
        """Prove what a thread does that takes some turns, for every T up to a number."""
        domain = SizeDomain(TURNS, "any", 1, 1, most)
        reason: UndecidedError | None = None
        started = time.process_time()
        for factor in _UNROLLED:
            if reason is not None and time.process_time() - started > _SEARCH:
                break
            try:
                classes = [ResidueClass(domain, factor, rest) for rest in range(factor)]
                found = united(
                    [of_class(launched(each), self._told, _SEARCH, self.induction) for each in classes]
                )
            except UndecidedError as error:  # what else fails does so however turns are taken together
                reason = error
                continue
            first = [replace(domain, least=number, most=number) for number in found.alone]
            several = [replace(self._checked(launched, each), domain=found.domain) for each in first]
            return replace(united([found, *several]), roundings=found.roundings)
        assert reason is not None
        raise reason

    def _noting(self, part: str, output: str = "") -> Timed:
        line = entry_named(self._kernel.module, self._kernel.entry).line
        return Timed(
            f"{self._domain.name}: {part}", line, STATEMENTS[part].format(name=output), self._obligations
        )

    def _domain_of(self, name: str) -> SizeDomain:
        """Return what a size may be by which the grid grows."""
        for each in () if self._position is None else self._position.positions:
            if each.domain.name == name:
                return each.domain
        number = self._known.get(name, self._contract.sizes[0][name])
        return SizeDomain(name, str(number), 1, 1, number)


def of_frames(shown: Sequence[tuple[SizeProof, int]], domain: SizeDomain, at_once: int) -> tuple[int, str]:
    """Return up to which number of a size proofs hold for what threads do, and why not beyond.

    Parameters
    ----------
    shown : sequence of (SizeProof, int)
        The proofs, with the largest T of each.
    domain : SizeDomain
        The size.
    at_once : int
        What all threads take of it in a turn.
    """
    limits = [(most * at_once, proof.limit) for proof, most in shown if proof.limit]
    return min(limits, default=(domain.most, ""))


def prove_steps(
    sums: ThreadSteps,
    stores: ThreadSteps,
    otherwise: Callable[[], SizeProof],
    falling: Callable[[], SizeProof],
    probe: Callable[[str], None],
) -> SizeProof:
    """Prove a kernel right by one thread that stands for all that go over a size, or in another way.

    Parameters
    ----------
    sums, stores : ThreadSteps
        Of threads that go over a sum, and of threads that store.
    otherwise, falling : callable
        Return a proof in another way, and one of threads that go over a sum from its last term down.
    probe : callable
        Looks whether the kernel is wrong at a number of a size that takes threads several steps.

    Raises
    ------
    UnsupportedError
        If that is not shown in the other way either; the message is about that, or about stores in steps.
    """
    with suppress(UnsupportedError, InputError):
        return sums.proof()
    try:
        return stores.proof()
    except (UnsupportedError, InputError) as error:
        reason = str(error) if stores.may_apply else ""
    if sums.may_apply or stores.may_apply:
        probe(sums.size)
    try:
        return otherwise()
    except UnsupportedError as error:
        with suppress(UnsupportedError, InputError):
            return falling()
        if reason and not isinstance(error, LimitError):
            raise UnsupportedError(reason) from error
        raise
