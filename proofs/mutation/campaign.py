"""Which of a sample of one-line faults in the specification the catalogue notices.

A fault is tried in a process that imports one module from a changed source (see `trial`). First the
catalogue is decided without a fault: everything must be as expected, and the run tells how long each
obligation takes and which functions of the specification are entered at all. A fault in a function that
no obligation enters survives without a trial. For any other fault every obligation of its instruction set
(all of them, for a generic module) is decided, the cheapest of each theorem first, until a verdict is not
the expected one.
"""

from __future__ import annotations

import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..obligation import Obligation
from ..runner import Settings
from .scope import SpecificationModule
from .source_faults import Fault, faults
from .trial import Trial
from .trial_process import TrialProcesses


class Fate(StrEnum):
    """What became of a fault; the value is how reports name it."""

    REFUTED = "refuted"
    ERROR = "error"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    SURVIVED = "survived"

    @property
    def meaning(self) -> str:
        """One line on it."""
        return {
            Fate.REFUTED: "a verdict is not the expected one, or the obligations are not the pinned ones",
            Fate.ERROR: "an obligation can't be decided for an exception",
            Fate.CRASHED: "the catalogue can't be built",
            Fate.TIMEOUT: "no verdict is unexpected, but not all came in time",
            Fate.SURVIVED: "every verdict is the expected one",
        }[self]


@dataclass(frozen=True)
class Mutant:
    """A fault in its module."""

    module: SpecificationModule
    fault: Fault

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.module.shown}:{self.fault.line}"


@dataclass(frozen=True)
class TriedMutant:
    """What became of a mutant.

    Attributes
    ----------
    mutant : Mutant
        The fault.
    outcome : Fate
        What happened.
    obligation : str
        The obligation that noticed it, where one did.
    message : str
        What that said, or why nothing was tried.
    seconds : float
        How long it took.
    """

    mutant: Mutant
    outcome: Fate
    obligation: str
    message: str
    seconds: float


@dataclass(frozen=True)
class Score:
    """The outcome of a campaign.

    Attributes
    ----------
    results : tuple of TriedMutant
        In the order of files and lines.
    candidates : int
        Faults that could have been drawn.
    equivalent : int
        Faults drawn and put back, since they compile to what was there.
    obligations : int
        Obligations that the baseline decided.
    elapsed : float
        Seconds on the wall clock.
    """

    results: tuple[TriedMutant, ...]
    candidates: int
    equivalent: int
    obligations: int
    elapsed: float

    def count(self, *outcomes: Fate) -> int:
        """Return how many mutants ended so."""
        return sum(result.outcome in outcomes for result in self.results)

    @property
    def noticed(self) -> float:
        """The part that the catalogue refutes or is in error on; a crash while it is built does not count."""
        return self.count(Fate.REFUTED, Fate.ERROR) / max(1, len(self.results))


class BaselineError(Exception):
    """Without a fault, a verdict is not the expected one; the text says which."""


def campaign(
    obligations: Sequence[Obligation],
    modules: Sequence[SpecificationModule],
    number: int,
    seed: int,
    settings: Settings,
    report: Callable[[TriedMutant], None] = lambda result: None,
) -> Score:
    """Try a sample of faults.

    Parameters
    ----------
    obligations : sequence of Obligation
        Who may notice; members of the catalogue of `settings`.
    modules : sequence of SpecificationModule
        Where faults are put.
    number : int
        Size of the sample; all faults where there are fewer.
    seed : int
        Which sample.
    settings : Settings
        How obligations are decided; `jobs` trials run at the same time. No cache is used.
    report : callable
        Is given each result as it arrives.

    Raises
    ------
    BaselineError
        If a verdict is not the expected one without a fault.
    """
    start = time.perf_counter()
    candidates = [Mutant(module, fault) for module in modules for fault in _faults(module)]
    drawn, equivalent = _sample(candidates, number, seed)
    jobs = max(1, settings.jobs)
    with TrialProcesses() as processes, ThreadPoolExecutor(jobs) as threads:
        try:
            bench = _Bench(obligations, modules, settings, processes, threads)
            futures = {threads.submit(bench.result, mutant): place for place, mutant in enumerate(drawn)}
            results: dict[int, TriedMutant] = {}
            for future in as_completed(futures):
                results[futures[future]] = future.result()
                report(future.result())
        except BaseException:
            processes.__exit__()
            threads.shutdown(wait=False, cancel_futures=True)
            raise
    ordered = tuple(results[place] for place in range(len(drawn)))
    return Score(ordered, len(candidates), equivalent, len(obligations), time.perf_counter() - start)


def _faults(module: SpecificationModule) -> list[Fault]:
    return faults(module.path.read_text(encoding="utf-8"))


def _sample(candidates: Sequence[Mutant], number: int, seed: int) -> tuple[list[Mutant], int]:
    """Return `number` mutants drawn at random that are not equivalent, in order, and how many were."""
    drawn: list[int] = []
    equivalent = 0
    for place in random.Random(seed).sample(range(len(candidates)), len(candidates)):
        if len(drawn) == number:
            break
        if candidates[place].fault.is_equivalent():
            equivalent += 1
        else:
            drawn.append(place)
    return [candidates[place] for place in sorted(drawn)], equivalent


class _Bench:
    """What the run without a fault tells, and how a mutant is tried."""

    def __init__(
        self,
        obligations: Sequence[Obligation],
        modules: Sequence[SpecificationModule],
        settings: Settings,
        processes: TrialProcesses,
        threads: ThreadPoolExecutor,
    ) -> None:
        self._settings = settings
        self._processes = processes
        self._known = {o.id: o.expect.value for o in settings.assignment.obligations().values()}
        self._expected = {o.id: o.expect.value for o in obligations}
        self._files = tuple(str(module.path) for module in modules)
        self._timeout = settings.timeout
        said = list(threads.map(self._baseline, self._parts(max(1, settings.jobs))))
        seconds: dict[str, float] = {}
        self._entered = {(file, line) for answer in said for file, line in answer["entered"]}
        for answer in said:
            seconds |= answer["seconds"]
        self._order = list(_cheapest_of_each_theorem_first(seconds))
        self._timeout = min(settings.timeout, max(5.0, 10 * max(seconds.values(), default=0.0)))
        self._limit = 60.0 + 5 * sum(answer["elapsed"] for answer in said)

    def _parts(self, number: int) -> Iterator[list[str]]:
        identifiers = list(self._expected)
        return (identifiers[first::number] for first in range(min(number, len(identifiers))))

    def _trial(self, identifiers: Sequence[str], **changes: Any) -> Trial:
        return Trial(
            list(sys.path),
            self._settings.assignment.catalogue,
            {identifier: self._expected[identifier] for identifier in identifiers},
            self._known,
            self._settings.solver,
            self._timeout,
            self._settings.memory,
            **changes,
        )

    def _baseline(self, identifiers: Sequence[str]) -> Mapping[str, Any]:
        answer = self._processes.run(self._trial(identifiers, watched=self._files), 1e6)
        if answer["outcome"] != Fate.SURVIVED:
            who = answer.get("obligation") or "the catalogue"
            raise BaselineError(f"{who} is {answer['outcome']} without a fault: {answer['message']}")
        return answer

    def result(self, mutant: Mutant) -> TriedMutant:
        """Try a mutant."""
        module, fault = mutant.module, mutant.fault
        if (str(module.path), fault.function or 1) not in self._entered:
            what = "function" if fault.function else "module"
            return TriedMutant(mutant, Fate.SURVIVED, "", f"no obligation enters the {what}", 0.0)
        start = time.perf_counter()
        concerned = [identifier for identifier in self._order if module.concerns(identifier)]
        trial = self._trial(concerned, module=module.name, source=fault.source())
        answer = self._processes.run(trial, self._limit)
        seconds = time.perf_counter() - start
        obligation = answer.get("obligation", "")
        return TriedMutant(mutant, Fate(answer["outcome"]), obligation, answer.get("message", ""), seconds)


def _cheapest_of_each_theorem_first(seconds: Mapping[str, float]) -> Iterator[str]:
    """Yield ids: the cheapest of every theorem, then the second of every theorem, and so on."""
    theorems: dict[str, list[str]] = defaultdict(list)
    for identifier in sorted(seconds, key=lambda identifier: seconds[identifier]):
        theorems["/".join(identifier.split("/")[:3])].append(identifier)
    ranks = {identifier: rank for members in theorems.values() for rank, identifier in enumerate(members)}
    yield from sorted(ranks, key=lambda identifier: (ranks[identifier], seconds[identifier]))
