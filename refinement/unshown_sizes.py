"""The first sizes beyond those that are proved: a kernel that fails there is refuted."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import accumulate
from math import prod
from typing import Any

from ..spec.errors import InputError, OutOfBudget
from .contract.contract import Contract, Instance
from .examine.output_comparison import Examination
from .findings.result import Method, Quantification
from .instance_verification import Told
from .machine.front_end import Kernel
from .remote import Submit, each_examined

_NUMBERS = 2
"""Numbers behind the last one that is shown: the first may be one that happens to be right."""

_MOST_ENDS = 64
"""Numbers at which a kernel without a proof turns that are looked at, from the least on."""

_MOST_STEPS = 1 << 18
"""Instructions of all such runs, from the smallest sizes on; what takes more is not run."""

_SECONDS = 30
"""Of the processor, for all such runs: they are to find faults at small cost, and prove nothing."""

_MOST_PRODUCTS = 1 << 25
"""Product of all sizes of such a run: what is multiplied, for a product of matrices."""


def failures_behind(
    kernel: Kernel,
    contract: Contract,
    sizes: Sequence[Quantification],
    found: Sequence[tuple[Instance, Examination]],
    stats: Mapping[str, Any],
    told: Told | None,
    former: Kernel | None,
    submit: Submit | None,
) -> list[tuple[Instance, Examination]]:
    """Run a kernel at the first sizes behind those that a proof shows; return the first that refutes it.

    Parameters
    ----------
    kernel, former : Kernel
        The kernel, and the one that it is compared with.
    contract : Contract
        What it is to compute.
    sizes : sequence of Quantification
        How far each domain is shown.
    found : sequence of (Instance, Examination)
        What was looked at.
    stats : mapping
        Counts of the last run among them.
    told, submit
        As of `every_size.examined`.

    Returns
    -------
    list of (Instance, Examination)
        One that is wrong, or none.
    """
    if contract.quantified is None or contract.launches:
        return []
    tried = [dict(instance.sizes) for instance, _ in found]
    steps = int(stats.get("instructions", 0)) / prod(tried[-1].values())
    behind = sorted(_behind(kernel, contract, sizes, tried), key=lambda each: prod(each.values()))
    taken = accumulate(steps * prod(each.values()) for each in behind)
    wanted = [
        contract.instance(each)
        for each, so_far in zip(behind, taken, strict=True)
        if so_far <= _MOST_STEPS and prod(each.values()) <= _MOST_PRODUCTS
    ]
    with closing(each_examined(kernel, wanted, _bounded(told), former, submit)) as examined:
        for some, _ in examined:
            wrong = [each for each in some if any(finding.kind.refutes for finding in each[1].findings)]
            if wrong:
                return wrong[:1]
    return []


def _bounded(told: Told | None) -> Told:
    """Return what is told about the progress, and ends runs that take too long."""
    started = time.process_time()

    def telling(what: str, done: int, all_: int) -> None:
        if time.process_time() - started > _SECONDS:
            raise OutOfBudget(f"more than {_SECONDS} s at sizes beyond those proved")
        if told is not None:
            told(what, done, all_)

    return telling


def _behind(
    kernel: Kernel,
    contract: Contract,
    sizes: Sequence[Quantification],
    tried: Sequence[Mapping[str, int]],
) -> Iterator[Mapping[str, int]]:
    """Yield sets of sizes, of which one is not shown, and the others are the least looked at."""
    assert contract.quantified is not None
    least = min(tried, key=lambda each: prod(each.values()))
    for each in sizes:
        for number in [] if each.is_whole else _numbers(kernel, each):
            chosen = {other.name: least[other.name] for other in sizes} | {each.name: number}
            try:
                yield contract.quantified.completed(chosen)
            except InputError:  # sizes that follow from these are none
                continue


def _numbers(kernel: Kernel, size: Quantification) -> list[int]:
    """Return numbers of a domain behind those that are shown.

    They are the first ones behind the end of a proof; where there is no proof, those behind numbers at which
    the kernel's counters and comparisons turn, be it that they count the size or its steps.
    """
    ends = [size.shown_to]
    if size.method is Method.LISTED:
        turning: frozenset[int] = getattr(kernel, "turning_numbers", frozenset())
        ends = sorted({number * unit for number in turning for unit in (1, size.step)})[:_MOST_ENDS]
    found = []
    for end in ends:
        first = end // size.step * size.step + size.step
        found += list(range(first, size.most + 1, size.step)[:_NUMBERS])
    return [number for number in dict.fromkeys(found) if number > size.shown_to]
