"""Kernels whose clusters take over others that wait to be launched, run in the ways in which they may.

In the first run the first cluster takes over all others. Of a few clusters all ways are run, and what they
leave in memory must be the same terms, or equal as real numbers. Of more clusters some ways are run, which
may show a fault, and show nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from itertools import permutations

from ..findings.finding import KernelFinding, Kind
from ..terms.store import TermStore
from .compared_runs import ComparedRuns
from .run.results import Run
from .state.cluster_launches import Takeovers

MOST = 3
"""Clusters of which all ways are run, at most."""


def with_every_takeover(
    store: TermStore, again: Callable[[Takeovers | None], Run], workspaces: Collection[str]
) -> Run:
    """Run a kernel, and again with other clusters being taken over, where it asks for that.

    Parameters
    ----------
    store : TermStore
        The terms.
    again : callable
        Runs the kernel, given who takes over whom.
    workspaces : collection of str
        Buffers whose contents nobody looks at afterwards.

    Returns
    -------
    Run
        The first, with what the others do wrong.
    """
    first = again(None)
    if not first.cancelling or not first.complete or any(finding.kind.refutes for finding in first.findings):
        return first
    compared, found = ComparedRuns(store, first, workspaces), first
    for takeovers in _ways(first.clusters):
        other, how = again(takeovers), _spelled(takeovers)
        known = {(finding.kind, finding.line) for finding in found.findings}
        new = [
            replace(finding, message=f"if {how}: {finding.message}")
            for finding in (*other.findings, *_unwritten(first, other, workspaces))
            if (finding.kind, finding.line) not in known
        ]
        found = replace(found, findings=(*found.findings, *new), complete=found.complete and other.complete)
        if new or not other.complete:
            return found
        compared.with_other(other, f"whoever takes over clusters: if {how}, or the first takes all")
    told = compared.told(found)
    if first.clusters <= MOST:
        return told
    message = (
        f"{first.clusters} clusters may take over each other in more ways than are run: all are where there "
        f"are at most {MOST}; choose sizes with so many"
    )
    undecided = KernelFinding(Kind.UNSUPPORTED, message, first.path, first.cancelling)
    return replace(told, findings=(*told.findings, undecided))


def _unwritten(first: Run, other: Run, workspaces: Collection[str]) -> Iterator[KernelFinding]:
    """Yield what the first run writes and another does not."""
    for name, kept in first.contents.items():
        lacking = (kept.lines > 0) & (other.contents[name].lines == 0)
        if name not in workspaces and lacking.any():
            byte = int(lacking.argmax())
            message = f"byte {byte} of {name} is never written"
            yield KernelFinding(Kind.MISSING_OUTPUT, message, first.path, int(kept.lines[byte]))


def _ways(clusters: int) -> Iterator[Takeovers]:
    """Yield all ways to take over, or some, but for the first cluster taking all others in order."""
    everyone = list(range(clusters))
    usual = [everyone]
    if clusters <= MOST:
        yield from (way for way in _all_ways(everyone) if way != usual)
        return
    yield [[each] for each in everyone]
    yield [everyone[::-1]]
    yield [everyone[at : at + 2] for at in range(0, clusters, 2)]


def _all_ways(clusters: list[int]) -> Iterator[list[list[int]]]:
    """Yield every way to put clusters into rows, the order of the rows left aside."""
    for order in permutations(clusters):
        for cuts in range(1 << max(0, len(clusters) - 1)):
            rows: list[list[int]] = [[]]
            for place, each in enumerate(order):
                if place and cuts >> (place - 1) & 1:
                    rows.append([])
                rows[-1].append(each)
            if rows == sorted(rows):
                yield rows


def _spelled(takeovers: Takeovers) -> str:
    told = [
        f"cluster {first} takes over {', '.join(map(str, others))}" for first, *others in takeovers if others
    ]
    return " and ".join(told) or "no cluster is taken over"
