"""The frozen tables: what they say of each kernel of the corpora, and which kernels are quick."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from source_modules import REPOSITORY

sys.path.insert(0, str(REPOSITORY))
from mmaproof.refinement.findings.result import Verdict
from tools.verdicts import table
from tools.verdicts.measurement import WHOLE

VERDICTS, COSTS = table.of_folder(REPOSITORY / "tests" / "frozen")

MOST = 1.25
"""Seconds of the processor, by the table of costs, that a kernel takes which every run verifies.

The first kernel of its corpus with a verdict, and the first with findings of a kind, may take more.
"""

_SECONDS = {row[:2]: float(row[2]) for row in COSTS if row[2]}
_WHOLE = {row[:2]: row for row in VERDICTS if row[2] == WHOLE}


def frozen(corpus: str, name: str) -> tuple[str, str, tuple[str, ...]]:
    """Return a kernel's verdict, its equality, and the kinds of its findings, in their order."""
    _, _, _, verdict, equality, _, findings, *_ = _WHOLE[corpus, name]
    return verdict, equality, tuple(_kind(finding) for finding in findings.split(" | ") if finding)


def _kind(finding: str) -> str:
    return finding.partition(":")[0]


def seconds(corpus: str, name: str) -> float:
    """Return the processor's time that a kernel took."""
    return _SECONDS[corpus, name]


def cheapest(corpus: str, names: Iterable[str], group: Callable[[str], object] = lambda _: "") -> list[Any]:
    """Return the names as parameters of which the cheapest of each group is tested always."""
    names = list(names)
    firsts: dict[object, str] = {}
    for name in sorted(names, key=lambda name: (seconds(corpus, name), name)):
        firsts.setdefault(group(name), name)
    chosen = set(firsts.values())
    return [name if name in chosen else pytest.param(name, marks=pytest.mark.sweep) for name in names]


def _quick() -> Iterator[tuple[str, str]]:
    """Yield corpus and name of the kernels that every run verifies.

    From the cheapest up, a kernel is taken if a row of it has what no kernel taken before it has: the verdict
    in its corpus, the kind of a finding, in its corpus or at all, a hypothesis, or a function that it is
    verified to compute.
    """
    shows: dict[tuple[str, ...], set[tuple[str, ...]]] = defaultdict(set)
    for row in VERDICTS:
        shows[row[:2]] |= set(_shown(*row[:7]))
    seen: set[tuple[str, ...]] = set()
    for key in sorted(_SECONDS, key=lambda key: (_SECONDS[key], key)):
        new = shows[key] - seen
        if new and (_SECONDS[key] <= MOST or any({"verdict", "finding"} & {*shown} for shown in new)):
            yield key
            seen |= new


def _shown(
    corpus: str, name: str, sizes: str, verdict: str, equality: str, hypotheses: str, findings: str
) -> Iterator[tuple[str, ...]]:
    yield corpus, "verdict", verdict
    yield from ((corpus, _kind(finding)) for finding in findings.split(" | "))
    yield from (("finding", _kind(finding)) for finding in findings.split(" | "))
    yield from ((hypothesis,) for hypothesis in hypotheses.split(" | "))
    if verdict == Verdict.VERIFIED:
        yield corpus, "computes", re.split(r"_(?:fault|edit|sm\d)|\.", name)[0]


QUICK = frozenset(_quick())
"""Of them corpus and name."""
