"""Sizes that exercise the other branch of guards that took one branch at all sizes that were run.

A few sizes are tried, each beside those that were looked at in one size alone, with the first and the last
block of the grid; and where one of them shows it, the smaller ones from the least on, if those are few. What
is told was seen in a run; where none of them shows it, nothing is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import gcd

import numpy as np

from ..spec.errors import InputError, OutOfBudget, UnsupportedError
from .contract.contract import Contract, Instance
from .contract.size_domains import SizeDomain
from .expected.bound_inference import bounded_store
from .findings.guard_outcomes import GuardOutcome
from .machine.array_memory import inputs_of
from .machine.front_end import Kernel

FEW = 16
"""Smaller numbers that are tried, at most, for the smallest that shows what another does."""

Guard = tuple[int, str]
"""A guard's line and its predicate."""


def sizes_of_the_other_way(
    kernel: Kernel,
    contract: Contract,
    tried: Sequence[Instance],
    open_guards: Sequence[GuardOutcome],
    budget: int,
) -> Mapping[Guard, str]:
    """Return sizes at which guards go the way that they did not go: ``M = 1 (N = 64)``.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    contract : Contract
        Its contract.
    tried : sequence of Instance
        The sizes that were looked at.
    open_guards : sequence of GuardOutcome
        The guards, and which way they went there.
    budget : int
        Steps of the machine after which no more is tried.
    """
    wanted = {(open_guard.line, open_guard.condition): not open_guard.held for open_guard in open_guards}
    found: dict[Guard, tuple[str, int]] = {}
    if not wanted or not tried or tried[0].launches:
        return {}
    space = _Space(contract, tried)
    control = kernel.control_part()
    for name, number in space.candidates():
        if len(found) == len(wanted) or budget <= 0:
            break
        still = [
            open_guard for open_guard in open_guards if (open_guard.line, open_guard.condition) not in found
        ]
        behind = frozenset(name for each in still for name in each.behind)
        if not _changed(contract, tried[0], space.sizes(name, number)) & behind:
            continue
        shown, steps = _shown(control, contract, space.sizes(name, number), wanted)
        budget -= steps
        for guard in shown - found.keys():
            found[guard] = name, number
    for name, most in dict.fromkeys(found.values()):
        open_ones = {guard for guard, where in found.items() if where == (name, most)}
        for number in space.below(name, most):
            if budget <= 0 or not open_ones:
                break
            shown, steps = _shown(control, contract, space.sizes(name, number), wanted)
            budget -= steps
            found |= dict.fromkeys(shown & open_ones, (name, number))
            open_ones -= shown
    return {guard: space.spelled(*where) for guard, where in found.items()}


def _shown(
    kernel: Kernel, contract: Contract, sizes: Mapping[str, int], wanted: Mapping[Guard, bool]
) -> tuple[set[Guard], int]:
    """Return the guards that go the way that is wanted at some sizes, and the steps of that run."""
    guards, steps = _outcomes(kernel, contract, sizes)
    shown = set()
    for guard in guards:
        way = wanted.get((guard.line, guard.condition))
        if way is not None and (guard.held if way else guard.failed):
            shown.add((guard.line, guard.condition))
    return shown, steps


class _Space:
    """Sizes beside those that were looked at, in one size alone."""

    def __init__(self, contract: Contract, tried: Sequence[Instance]) -> None:
        self._quantified = contract.quantified
        domains = () if self._quantified is None else self._quantified.domains
        self._domains = {domain.name: domain for domain in domains}
        self._known = [dict(instance.sizes) for instance in tried]
        self._base = min(self._known, key=lambda sizes: sorted(sizes.values(), reverse=True))
        self._free = list(self._domains) if self._domains else list(self._base)

    def candidates(self) -> Iterator[tuple[str, int]]:
        """Yield names and numbers of sizes to try: the least of each, then some beyond the greatest."""
        numbers = [
            (name, number)
            for name in self._free
            for number in _beside({each[name] for each in self._known}, self._domains.get(name))
        ]
        yield from sorted(numbers, key=lambda each: each[1] > self._base[each[0]])

    def below(self, name: str, most: int) -> list[int]:
        """Return the numbers of a size below one, from the least on; none if they are many."""
        domain = self._domains.get(name)
        least, step = (1, 1) if domain is None else (domain.least, domain.step)
        numbers = range(least, most, step)
        return list(numbers) if len(numbers) <= FEW else []

    def sizes(self, name: str, number: int) -> Mapping[str, int]:
        """Return all sizes, with one number for one of them."""
        found = {**self._base, name: number}
        if self._quantified is not None:
            found = self._quantified.completed({domain: found[domain] for domain in self._domains})
        return found

    def spelled(self, name: str, number: int) -> str:
        """Spell such sizes, what is new in them first."""
        sizes = self.sizes(name, number)
        others = ", ".join(f"{each} = {sizes[each]}" for each in self._free if each != name)
        return f"{name} = {number}" + (f" ({others})" if others else "")


def _beside(known: set[int], domain: SizeDomain | None) -> list[int]:
    """Return numbers to try beside known ones: a step that all may have, the least, and two beyond."""
    step = 1 if domain is None else domain.step
    together = gcd(*known)
    numbers = (together & -together, 1 if domain is None else domain.least, max(known) + step, 2 * max(known))
    return [
        number
        for number in dict.fromkeys(numbers)
        if number not in known and (domain is None or number in domain)
    ]


def _changed(contract: Contract, known: Instance, sizes: Mapping[str, int]) -> frozenset[str]:
    """Return the numbers that the kernel is passed which are others at some sizes."""
    try:
        scalars = contract.instance(sizes).scalars
    except (InputError, UnsupportedError):
        return frozenset()
    return frozenset(name for name, each in scalars.items() if each.value != known.scalars[name].value)


def _outcomes(
    kernel: Kernel, contract: Contract, sizes: Mapping[str, int]
) -> tuple[Sequence[GuardOutcome], int]:
    """Return what guards are in the first and the last block at some sizes, and the steps of that run.

    Nothing where the kernel can't run.
    """
    try:
        instance = contract.instance(sizes)
        blocks = int(np.prod(instance.grid))
        if blocks < 1:
            return (), 0
        store = bounded_store(instance)
        inputs = inputs_of(store, instance)
        ends = np.unique(np.array([0, blocks - 1], dtype=np.intp))
        outcome = kernel.run(instance, store, inputs, blocks=ends)
    except (InputError, UnsupportedError, OutOfBudget, MemoryError, RecursionError):
        return (), 0
    return outcome.guards, int(outcome.stats.get("instructions", 0))
