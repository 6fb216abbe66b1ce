"""Kernels whose result depends on arrival order, run with every thread last, or in all orders.

Of each count that tickets are taken of, the threads come in one order in the first run; in every further one
they begin with another of them, so that each is last once. Of a lock they come in all orders: of every two
accesses that only its order puts in order, some order does not, unless both are made with the lock held. What
all runs leave in memory must be the same terms, or equal as real numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from itertools import islice, permutations

from ..findings.finding import KernelFinding, Kind
from ..terms.store import TermStore
from .compared_runs import ComparedRuns
from .run.results import Run

MOST = 64
"""Threads that take tickets of one count, at most."""

MOST_LOCKED = 4
"""Threads that take one lock, at most."""

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
    limit = MOST_LOCKED if first.locked else MOST
    if most > limit:
        matters = "a lock is taken by" if first.locked else "the result depends on which is the last of"
        message = f"{matters} {most} threads; orders are enumerated for at most {limit}"
        return _with(first, Kind.UNSUPPORTED, message, first.arrival_line)
    if not counts or not first.complete or any(finding.kind.refutes for finding in first.findings):
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
        known = {(finding.kind, finding.line) for finding in found.findings}
        new = tuple(
            replace(finding, message=f"if {who} comes last: {finding.message}")
            for finding in other.findings
            if (finding.kind, finding.line) not in known
        )
        found = replace(found, findings=found.findings + new, complete=found.complete and other.complete)
        if not other.complete:
            return found
        came = {word: names[-1] for word, names in other.arrivals.items()}
        if came != last or any(other.arrivals[word] != wanted[word] for word in first.locked):
            message = f"the result depends on which thread comes last, and {who} can't be scheduled last"
            return _with(found, Kind.UNSUPPORTED, message, first.arrival_line)
        compared.with_other(other, f"whoever comes last: {who} or {usual}")
    return compared.told(found)


def _orders(count: int, *, every: bool) -> Iterator[tuple[int, ...]]:
    """Yield orders of threads but the first: in which each is last once, or all."""
    if every:
        yield from islice(permutations(range(count)), 1, None)
        return
    for turn in range(1, count):
        yield (*range(turn, count), *range(turn))


def _with(run: Run, kind: Kind, message: str, line: int) -> Run:
    return replace(run, findings=(*run.findings, KernelFinding(kind, message, run.path, line)))
