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
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import BF16, F16, F32, F64
from ..analysis.rounding_depth import roundings
from ..equality.equivalence import compare
from ..findings.finding import KernelFinding, Kind
from ..machine.memory import ByteLanes
from ..normal_forms.forms import NormalForms
from ..terms.interning import Ids
from ..terms.store import TermStore
from .run.machine import Contents, Run

MOST = 64
"""Threads that take tickets of one count, at most."""

MOST_LOCKED = 4
"""Threads that take one lock, at most."""

Turns = Mapping[int, int]
"""After how many others of its count each thread comes, by its number in the grid."""

_REALS = MappingProxyType({16: (F16, BF16), 32: (F32,), 64: (F64,)})


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
    most = max((len(each) for each in counts.values()), default=0)
    limit = MOST_LOCKED if first.locked else MOST
    if most > limit:
        matters = "a lock is taken by" if first.locked else "the result depends on which is the last of"
        message = f"{matters} {most} threads; orders are enumerated for at most {limit}"
        return _with(first, Kind.UNSUPPORTED, message, first.arrival_line)
    if not counts or not first.complete or any(each.kind.refutes for each in first.findings):
        return first
    compared, found = _Compared(store, first, workspaces), first
    for order in _orders(most, every=bool(first.locked)):
        wanted = {
            word: tuple(names[each] for each in order if each < len(names)) for word, names in counts.items()
        }
        other = again({name: place for names in wanted.values() for place, name in enumerate(names)})
        last = {word: names[-1] for word, names in wanted.items()}
        who = first.thread_name(next(iter(last.values())))
        known = {(each.kind, each.line) for each in found.findings}
        new = tuple(
            replace(each, message=f"if {who} comes last: {each.message}")
            for each in other.findings
            if (each.kind, each.line) not in known
        )
        found = replace(found, findings=found.findings + new, complete=found.complete and other.complete)
        if not other.complete:
            return found
        came = {word: names[-1] for word, names in other.arrivals.items()}
        if came != last or any(other.arrivals[word] != wanted[word] for word in first.locked):
            message = f"the result depends on which thread comes last, and {who} can't be scheduled last"
            return _with(found, Kind.UNSUPPORTED, message, first.arrival_line)
        compared.with_other(other, who)
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


class _Compared:
    """What runs leave in memory, compared with what the first does."""

    def __init__(self, store: TermStore, first: Run, workspaces: Collection[str]) -> None:
        self._store = store
        self._first = first
        self._workspaces = workspaces
        self._lost = {name: np.zeros(len(each.lines), dtype=bool) for name, each in first.contents.items()}
        self._findings: dict[int, KernelFinding] = {}
        self._reordered = False

    def with_other(self, other: Run, who: str) -> None:
        """Compare what another run leaves, in which somebody else came last."""
        for name, kept in self._first.contents.items():
            one, two = kept.lanes, other.contents[name].lanes
            differs = (one.terms != two.terms) | (one.lows != two.lows)
            if not differs.any():
                continue
            lost = np.flatnonzero(differs & ~self._same_numbers(one, two, differs))
            self._reordered |= len(lost) < int(differs.sum())
            if name in self._workspaces:
                self._lost[name][lost] = True
            elif len(lost):
                line = int(max(kept.lines[lost[0]], other.contents[name].lines[lost[0]]))
                message = (
                    f"byte {int(lost[0])} of {name} is not shown to be the same whoever comes last: {who} "
                    f"or {self._first.thread_name(self._last)}"
                )
                self._findings.setdefault(
                    line, KernelFinding(Kind.UNSUPPORTED, message, self._first.path, line)
                )

    @property
    def _last(self) -> int:
        return next(iter(self._first.arrivals.values()))[-1]

    def _same_numbers(self, one: ByteLanes, two: ByteLanes, differs: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tell which lanes are of words that are the same real numbers, and no less exact in the first."""
        found = np.zeros(len(differs), dtype=bool)
        begins = differs & (one.lows == 0) & (two.lows == 0) & (one.terms >= 0) & (two.terms >= 0)
        starts = np.flatnonzero(begins)
        widths = self._store.widths(one.terms[starts])
        for width, formats in _REALS.items():
            size = width // 8
            at = starts[(widths == width) & (starts + size <= len(differs))]
            lanes = at[:, None] + np.arange(size)
            lows = 8 * np.arange(size)
            whole = np.ones(len(at), dtype=bool)
            for each in (one, two):
                whole &= (each.terms[lanes] == each.terms[at][:, None]).all(axis=1)
                whole &= (each.lows[lanes] == lows).all(axis=1)
            at, lanes = at[whole], lanes[whole]
            if len(at):
                equal = np.zeros(len(at), dtype=bool)
                for fmt in formats:
                    forms = NormalForms(self._store)
                    forms.splits_orders = False  # NaNs may depend on who arrives first
                    equal |= compare(forms, one.terms[at], two.terms[at], fmt).equal
                found[lanes[equal & self._no_less_exact(one.terms[at], two.terms[at])]] = True
        return found

    def _no_less_exact(self, one: Ids, two: Ids) -> bool:
        return bool(roundings(self._store, two).growth <= roundings(self._store, one).growth)

    def told(self, run: Run) -> Run:
        """Return a run with what is not the same in all of them, undefined in its memory."""
        contents = {}
        for name, each in run.contents.items():
            lost = np.flatnonzero(self._lost[name])
            lanes = ByteLanes(self._store, len(each.lines))
            lanes.terms[:], lanes.lows[:] = each.lanes.terms, each.lanes.lows
            lanes.terms[lost], lanes.lows[lost] = self._store.undefined(len(lost), 8), 0
            contents[name] = Contents(lanes, each.lines, each.threads, each.overwritten)
        return replace(
            run,
            contents=MappingProxyType(contents),
            findings=(*run.findings, *self._findings.values()),
            unordered=run.unordered or self._reordered,
            reordered=run.reordered or self._reordered,
        )
