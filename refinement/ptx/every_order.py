"""Kernels whose result depends on an order that PTX leaves open, run in each of them, or in some.

Of each count that tickets are taken of, the threads come in one order in the first run; in every further one
they begin with another of them, so that each is last once. Of a lock they come in all orders: of every two
accesses that only its order puts in order, some order does not, unless both are made with the lock held.

Where clusters take over others that wait to be launched, the first takes over all others in the first run. Of
a few clusters all ways are run. Of more some are, which may show a fault, and show nothing else.

What all runs leave in memory must be the same terms, or equal as real numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, permutations

from ..findings.finding import KernelFinding, Kind
from ..terms.store import TermStore
from .compared_runs import ComparedRuns
from .run.results import Run
from .state.cluster_launches import Takeovers

MOST_TICKETS = 64
"""Threads that take tickets of one count, at most."""

MOST_LOCKED = 4
"""Threads that take one lock, at most."""

MOST_CLUSTERS = 3
"""Clusters of which all ways to take over each other are run, at most."""

Turns = Mapping[int, int]
"""After how many others of its count each thread comes, by its number in the grid."""


def in_every_order(store: TermStore, again: Callable[[Turns], Run], workspaces: Collection[str]) -> Run:
    """Run a kernel, and again with others coming last, where that matters.

    Parameters
    ----------
    store : TermStore
        The terms.
    again : callable
        Runs the kernel, its threads coming as is said.
    workspaces : collection of str
        Buffers whose contents nobody looks at afterwards.

    Returns
    -------
    Run
        The first, with what the others do wrong; what they leave otherwise is unsupported, and undefined in
        workspaces.
    """
    first = again({})
    counts = first.arrivals
    most = max((len(count) for count in counts.values()), default=0)
    limit = MOST_LOCKED if first.locked else MOST_TICKETS
    if most > limit:
        matters = "a lock is taken by" if first.locked else "the result depends on the last of"
        message = f"{matters} {most} threads; orders are enumerated for at most {limit}"
        return _with(first, Kind.UNSUPPORTED, message, first.arrival_line)
    if not counts or not _may_go_on(first):
        return first
    compared, found = ComparedRuns(store, first, workspaces), first
    usual = first.thread_name(next(iter(counts.values()))[-1])
    for order in _orders(most, every=bool(first.locked)):
        wanted = {
            word: tuple(names[each] for each in order if each < len(names)) for word, names in counts.items()
        }
        other = again({name: place for names in wanted.values() for place, name in enumerate(names)})
        last = {word: names[-1] for word, names in wanted.items()}
        who = first.thread_name(next(iter(last.values())))
        found = _with_findings(found, other, other.findings, f"{who} comes last")
        if not other.complete:
            return found
        came = {word: names[-1] for word, names in other.arrivals.items()}
        if came != last or any(other.arrivals[word] != wanted[word] for word in first.locked):
            message = f"the result depends on which thread comes last, and {who} can't be scheduled last"
            return _with(found, Kind.UNSUPPORTED, message, first.arrival_line)
        compared.with_other(other, f"whether {who} or {usual} comes last")
    return compared.told(found)


def _orders(count: int, *, every: bool) -> Iterator[tuple[int, ...]]:
    """Yield orders of threads but the first: in which each is last once, or all."""
    if every:
        yield from islice(permutations(range(count)), 1, None)
        return
    for turn in range(1, count):
        yield (*range(turn, count), *range(turn))


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
    if not first.cancelling or not _may_go_on(first):
        return first
    compared, found = ComparedRuns(store, first, workspaces), first
    for takeovers in _ways(first.clusters):
        other, how = again(takeovers), _spelled(takeovers)
        before = len(found.findings)
        found = _with_findings(found, other, (*other.findings, *_unwritten(first, other, workspaces)), how)
        if len(found.findings) > before or not other.complete:
            return found
        compared.with_other(other, f"whether {how}, or the first cluster takes over all others")
    told = compared.told(found)
    if first.clusters <= MOST_CLUSTERS:
        return told
    message = (
        f"{first.clusters} clusters may take over each other in more ways than are run; all ways are run for "
        f"at most {MOST_CLUSTERS} clusters: choose such sizes"
    )
    return _with(told, Kind.UNSUPPORTED, message, first.cancelling)


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
    if clusters <= MOST_CLUSTERS:
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


def _may_go_on(first: Run) -> bool:
    """Tell whether the first run ended, and nothing of it refutes the kernel."""
    return first.complete and not any(finding.kind.refutes for finding in first.findings)


def _with_findings(run: Run, other: Run, findings: Iterable[KernelFinding], condition: str) -> Run:
    """Return a run with findings of another order that it has none like; each says in which order."""
    known = {(finding.kind, finding.line) for finding in run.findings}
    new = [
        replace(finding, message=f"if {condition}: {finding.message}")
        for finding in findings
        if (finding.kind, finding.line) not in known
    ]
    return replace(run, findings=(*run.findings, *new), complete=run.complete and other.complete)


def _with(run: Run, kind: Kind, message: str, line: int) -> Run:
    return replace(run, findings=(*run.findings, KernelFinding(kind, message, run.path, line)))
