"""Decide many obligations: from the cache, in worker processes, on a cluster; deductions last."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, as_completed
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..smt.portfolio import names_for
from ..spec.errors import InputError
from .cache import Cache, fingerprint
from .counterexample_files import refutes_again
from .induction import decide_from_premises
from .instances import Entailment
from .obligation import FROM_PREMISES, Deduction, Obligation, Status
from .pool import Cluster, Pool, cluster, decide_elsewhere
from .verdict import Verdict
from .worker import CATALOGUE, WorkerAssignment, decide_or_report

Report = Callable[[Verdict], None]

LONGEST_TIMEOUT = 1e6
"""Seconds (twelve days): a solver counts its milliseconds in 32 bits."""


def _processors() -> int:
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Settings:
    """How obligations are decided.

    Attributes
    ----------
    jobs : int
        Worker processes. 0 decides in this process, where nothing can be killed: for obligations that are in
        no catalogue, and for debugging.
    timeout : float
        Seconds per solver query.
    solver : str
        ``z3``, ``bitwuzla``, ``cvc5``, or ``all``, which must agree.
    memory : float, optional
        GiB for each worker process; what needs more is unknown.
    cache : Path, optional
        Directory of the cache (see `cache.default_directory`); None to decide everything anew.
    scheduler : str, optional
        Address of a dask scheduler (``tcp://HOST:PORT``), whose workers take the place of local ones.
    catalogue : str
        ``module:function``: where a worker process finds the obligations by id.

    Raises
    ------
    InputError
        If a value is out of range, or the solver unknown or not installed.
    """

    jobs: int = field(default_factory=_processors)
    timeout: float = 60.0
    memory: float | None = None
    solver: str = "z3"
    cache: Path | None = None
    scheduler: str | None = None
    catalogue: str = CATALOGUE

    def __post_init__(self) -> None:
        if self.jobs < 0:
            raise InputError(f"the number of jobs must be 0 or more, not {self.jobs}")
        if not 0 < self.timeout <= LONGEST_TIMEOUT:
            allowed = f"a positive number of seconds, at most {LONGEST_TIMEOUT:g}"
            raise InputError(f"the timeout must be {allowed}, not {self.timeout:g}")
        if self.memory is not None and not self.memory > 0:
            raise InputError(f"the memory must be a positive number of GiB, not {self.memory:g}")
        names_for(self.solver)

    @property
    def assignment(self) -> WorkerAssignment:
        """What worker processes need to know."""
        cache = None if self.cache is None else str(self.cache.absolute())
        return WorkerAssignment(self.solver, self.timeout, cache, self.catalogue, self.memory)


def run(
    obligations: Sequence[Obligation], settings: Settings, report: Report = lambda verdict: None
) -> list[Verdict]:
    """Decide obligations.

    A deduction is decided from the verdicts on its premises, which are decided (but not reported) also when
    they were not asked for. What the cache says is believed, but for a refutation that nobody expects, whose
    counterexample is executed again.

    Parameters
    ----------
    obligations : sequence of Obligation
        What to decide. With worker processes, members of the catalogue.
    settings : Settings
        How.
    report : callable
        Is given each verdict as it arrives.

    Returns
    -------
    list of Verdict
        In the order of `obligations`.

    Raises
    ------
    InputError
        If the cache or the scheduler can't be used.
    ValueError
        If worker processes are to decide an obligation that is not in the catalogue.
    """
    catalogue = settings.assignment.obligations()
    if settings.jobs or settings.scheduler:
        for obligation in obligations:
            if catalogue.get(obligation.id) is not obligation:
                raise ValueError(f"{obligation.id} is not in {settings.catalogue}; decide it with jobs=0")
    asked = {obligation.id: obligation for obligation in obligations}
    verdicts: dict[str, Verdict] = {}
    following: dict[str, Verdict | None] = {}  # verdicts on whether deductions follow from their premises

    def found(verdict: Verdict) -> None:
        if verdict.id in following and following[verdict.id] is None:
            following[verdict.id] = verdict
            return
        verdicts[verdict.id] = verdict
        if verdict.id in asked:
            report(verdict)

    with ExitStack() as stack:
        # The scheduler must answer although the cache may have everything.
        workers = stack.enter_context(cluster(settings.scheduler)) if settings.scheduler else None
        cache = stack.enter_context(closing(Cache(settings.cache))) if settings.cache is not None else None
        kept = _Kept(cache if settings.catalogue == CATALOGUE else None, settings.solver, catalogue)
        known, undecided, deductions = _to_decide(catalogue, asked, kept)
        for verdict in known:
            found(verdict)
        entailments = [obligation for obligation, goal in deductions if isinstance(goal, Entailment)]
        following |= dict.fromkeys(obligation.id for obligation in entailments)
        if undecided := [*undecided, *entailments]:
            _decide(undecided, settings, workers, cache, found)
            if cache is not None:
                cache.prune()
        deduced = []
        for obligation, goal in deductions:
            premises = [verdicts[premise] for premise in goal.premises if premise in verdicts]
            statuses = {premise.id: premise.status for premise in premises}
            obligation_of = {name: asked.get(name) or catalogue[name] for name in statuses}
            follows = following.get(obligation.id)
            verdict = decide_from_premises(obligation, goal, statuses, obligation_of, follows)
            deduced.append((obligation, verdict))
            parts = [*premises, *([follows] if follows else [])]
            found(replace(verdict, cached=all(part.cached for part in parts)))
        kept.keep(deduced)
    return [verdicts[obligation.id] for obligation in obligations]


class _Kept:
    """The verdicts that a cache has on the obligations of a catalogue, in the present state of the code."""

    def __init__(self, cache: Cache | None, solver: str, catalogue: Mapping[str, Obligation]) -> None:
        self._cache = cache
        self._solver = solver
        self._catalogue = catalogue
        self._state = "" if cache is None else fingerprint(solver)

    def verdict(self, obligation: Obligation) -> Verdict | None:
        """Return the verdict on an obligation, None when there is none, or it can't be believed."""
        if self._cache is None:
            return None
        found = self._cache.verdicts(self._state, obligation.id).get(obligation.id)
        if found is None or self._catalogue.get(obligation.id) is not obligation:
            return None
        if found.status is Status.REFUTED:
            says = found.counterexample is not None and found.counterexample.obligation == obligation.id
            if not says or (obligation.expect is not Status.REFUTED and not refutes_again(obligation, found)):
                return None
        return found

    def keep(self, verdicts: Sequence[tuple[Obligation, Verdict]]) -> None:
        """Remember verdicts that were deduced in this process, unless the code was changed meanwhile."""
        if self._cache is not None and verdicts and fingerprint(self._solver) == self._state:
            for obligation, verdict in verdicts:
                if self._catalogue.get(obligation.id) is obligation:
                    self._cache.keep_verdict(self._state, verdict)


def _to_decide(
    catalogue: Mapping[str, Obligation], asked: Mapping[str, Obligation], kept: _Kept
) -> tuple[list[Verdict], list[Obligation], list[tuple[Obligation, Deduction]]]:
    """Return kept verdicts, what must be decided directly, and the deductions, each after its premises."""
    known: list[Verdict] = []
    direct: list[Obligation] = []
    deductions: list[tuple[Obligation, Deduction]] = []
    seen: set[str] = set()

    def visit(identifier: str) -> None:
        obligation = asked.get(identifier) or catalogue.get(identifier)
        if identifier in seen or obligation is None:
            return
        seen.add(identifier)
        if (verdict := kept.verdict(obligation)) is not None:
            known.append(verdict)
            return
        goal = obligation.goal() if obligation.method in FROM_PREMISES else None
        if not isinstance(goal, Deduction):
            direct.append(obligation)
            return
        for premise in goal.premises:
            visit(premise)
        deductions.append((obligation, goal))

    for identifier in asked:
        visit(identifier)
    return known, direct, deductions


def _decide(
    obligations: Sequence[Obligation],
    settings: Settings,
    workers: Cluster | None,
    cache: Cache | None,
    found: Report,
) -> None:
    assignment = settings.assignment
    if workers is not None:
        elsewhere = replace(assignment, cache=None)  # a directory of this machine
        _collect([workers.submit(decide_elsewhere, elsewhere, o.id) for o in obligations], found)
    elif settings.jobs:
        with Pool(assignment, min(settings.jobs, len(obligations))) as pool:
            _collect([pool.submit(o.id) for o in obligations], found)
    else:
        solve = assignment.solve(cache)
        for obligation in obligations:
            found(decide_or_report(obligation, solve))


def _collect(futures: Sequence[Future[Verdict]], found: Report) -> None:
    try:
        for future in as_completed(futures):
            found(future.result())
    finally:
        for future in futures:
            future.cancel()
