"""Kernels at every set of a contract's sizes: at those listed, and at all numbers of a domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .contract import Contract, Instance
from .front_end import Kernel
from .instance_verification import Told, examined_in_cases
from .output_comparison import Examination
from .result import Method, Quantification

Examinations = list[tuple[Instance, Examination]]
"""What was found at each set of sizes that was looked at, in order."""


def examined(
    kernel: Kernel, contract: Contract, told: Told | None, former: Kernel | None
) -> tuple[Examinations, Mapping[str, Any], tuple[Quantification, ...]]:
    """Verify a kernel at every set of sizes of a contract, up to the first that refutes it.

    Parameters
    ----------
    kernel, former : Kernel
        The kernel, and the one that it is compared with, if there is one.
    contract : Contract
        What it is to compute.
    told : callable, optional
        Told about the progress.

    Returns
    -------
    list of (Instance, Examination)
        What was found.
    mapping
        Counts of the last run.
    tuple of Quantification
        Of sizes that may be any number of a domain, how far what was found holds for all of them.
    """
    found: Examinations = []
    stats: Mapping[str, Any] = {}
    for instance in contract.instances():
        some, stats = examined_in_cases(kernel, instance, told, former)
        found += some
        if any(each.equality is None and each.findings for _, each in some):
            break
    return found, stats, _listed(contract, found, "no induction was tried")


def _listed(
    contract: Contract, found: Sequence[tuple[Instance, Examination]], reason: str
) -> tuple[Quantification, ...]:
    """Return that a verdict holds at the sizes that were looked at."""
    if contract.quantified is None:
        return ()
    return tuple(
        Quantification(
            each.name,
            each.text,
            each.step,
            each.least,
            each.most,
            Method.LISTED,
            max((instance.sizes[each.name] for instance, _ in found), default=each.least),
            reason,
        )
        for each in contract.quantified.domains
    )
