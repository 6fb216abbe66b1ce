"""Sizes at which guards go the other way that went one way only at all sizes that were looked at.

A few sizes are tried, each beside those that were looked at in one size alone, with the first and the last
block of the grid. What is told was seen in a run; where none of them shows it, nothing is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import gcd

import numpy as np

from ..spec.errors import InputError, OutOfBudget, UnsupportedError
from .array_memory import inputs_of
from .contract import Contract, Instance
from .front_end import Kernel
from .guard_outcomes import GuardOutcome
from .size_domains import SizeDomain
from .terms import TermStore

Guard = tuple[int, str]
"""A guard's line and its words."""


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
    wanted = {(each.line, each.subject): not each.held for each in open_guards}
    found: dict[Guard, str] = {}
    if not wanted or not tried or tried[0].launches:
        return found
    for text, sizes in _candidates(contract, tried):
        if len(found) == len(wanted) or budget <= 0:
            break
        still = [each for each in open_guards if (each.line, each.subject) not in found]
        behind = frozenset(name for each in still for name in each.behind)
        if not _changed(contract, tried[0], sizes) & behind:
            continue
        guards, steps = _outcomes(kernel, contract, sizes)
        budget -= steps
        for each in guards:
            way = wanted.get((each.line, each.subject))
            if way is not None and (each.held if way else each.failed):
                found.setdefault((each.line, each.subject), text)
    return found


def _candidates(contract: Contract, tried: Sequence[Instance]) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield sizes to try, and what is new in them: the least of each first, then some beyond the greatest."""
    quantified = contract.quantified
    domains = {} if quantified is None else {each.name: each for each in quantified.domains}
    known = [dict(each.sizes) for each in tried]
    base = min(known, key=lambda sizes: sorted(sizes.values(), reverse=True))
    free = list(domains) if domains else list(base)
    numbers = [
        (name, number)
        for name in free
        for number in _beside({each.sizes[name] for each in tried}, domains.get(name))
    ]
    for name, number in sorted(numbers, key=lambda each: each[1] > base[each[0]]):
        sizes = {**base, name: number}
        if quantified is not None:
            sizes = quantified.completed({each: sizes[each] for each in domains})
        others = ", ".join(f"{each} = {sizes[each]}" for each in free if each != name)
        yield f"{name} = {number}" + (f" ({others})" if others else ""), sizes


def _beside(known: set[int], domain: SizeDomain | None) -> list[int]:
    """Return numbers to try beside known ones: a step that all may have, the least, and two beyond."""
    step = 1 if domain is None else domain.step
    together = gcd(*known)
    numbers = (together & -together, 1 if domain is None else domain.least, max(known) + step, 2 * max(known))
    return [
        each for each in dict.fromkeys(numbers) if each not in known and (domain is None or each in domain)
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
        store = TermStore()
        inputs = inputs_of(store, instance)
        ends = np.unique(np.array([0, blocks - 1], dtype=np.intp))
        outcome = kernel.run(instance, store, inputs, blocks=ends)
    except (InputError, UnsupportedError, OutOfBudget, MemoryError, RecursionError):
        return (), 0
    return outcome.guards, int(outcome.stats.get("instructions", 0))
