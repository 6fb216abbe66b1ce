"""Which of a sample of one-line faults in the specification the catalogue notices.

A fault is tried in a process that imports one module from a changed source (see `trial`). First the
catalogue is decided without a fault: everything must be as expected, and the run tells how long each
obligation takes and which blocks of the specification it depends on (see `dependencies`). A fault in a
block that none depends on survives without a trial. For any other fault the obligations that depend on
the block are decided, the cheapest of each theorem first, until a verdict is not the expected one. On what
a module holds, and what is entered while obligations are built, any obligation may depend: after those that
enter the module some others of each theorem are decided. What takes too long is left out, so the score is a
lower bound. What no obligation notices, tests may be tried on (see `survivor_tests`).
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from mmaproof.proofs.obligation import FROM_PREMISES, Deduction, Obligation
from mmaproof.proofs.pool import cluster
from mmaproof.proofs.runner import Settings
from mmaproof.spec.instruction_set import NAMES

from .dependencies import Place
from .equivalents import Equivalents
from .names import Reader, bound_at, readers
from .scope import SpecificationModule
from .score import NOTICED, EquivalentMutant, Fate, Mutant, Score, TriedMutant
from .source_faults import Fault, faults
from .survivor_tests import SurvivorTests
from .trial import Trial, family_of
from .trial_process import TrialProcesses
from .trials_elsewhere import TrialsElsewhere

OTHERS = 2
"""Obligations of each theorem that are decided with a fault although they don't enter its module."""

TABLES = ("stated", "legal", "foreign")
PRINTED = ("manual", "quad-pairs", "printed")
"""Families, and theorems of others, that compare with tables: all of theirs come first, for they notice the
most."""

BUDGET = 40.0
"""Seconds of processor time that the obligations take without a fault that are decided with one."""


MEMORY = 4.0
"""GiB of the process of a trial unless told otherwise: with a fault, an array may be of any size."""


class BaselineError(Exception):
    """Without a fault, a verdict is not the expected one; the text says which."""


def candidates(modules: Sequence[SpecificationModule]) -> list[Mutant]:
    """Return every fault that can be drawn."""
    return [Mutant(module, fault) for module in modules for fault in _faults(module)]


def campaign(
    obligations: Sequence[Obligation],
    modules: Sequence[SpecificationModule],
    number: int,
    seed: int,
    settings: Settings,
    report: Callable[[TriedMutant], None] = lambda result: None,
    *,
    recognised: bool = False,
    tests: SurvivorTests | None = None,
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
        How obligations are decided; `jobs` trials run at the same time, or as many as the cluster of its
        `scheduler` takes. No cache is used.
    report : callable
        Is given each result as it arrives.
    recognised : bool
        Whether to try faults that are shown to change nothing, and no others: all of them should survive,
        else how they are recognised is wrong.
    tests : SurvivorTests, optional
        Who runs tests on what no obligation notices.

    Raises
    ------
    BaselineError
        If a verdict is not the expected one without a fault.
    """
    start = time.perf_counter()
    possible = candidates(modules)
    with ExitStack() as stack:
        jobs, processes = _who_tries(settings, stack)
        threads = stack.enter_context(ThreadPoolExecutor(jobs))
        survivors = None if tests is None else stack.enter_context(tests)
        try:
            bench = _Bench(obligations, modules, settings, processes, threads, jobs)
            shown = Equivalents(modules)
            drawn, equivalent, elsewhere = _sample(possible, number, seed, bench, shown, recognised)
            futures = {
                threads.submit(_result, bench, survivors, mutant): place for place, mutant in enumerate(drawn)
            }
            results: dict[int, TriedMutant] = {}
            for future in as_completed(futures):
                results[futures[future]] = future.result()
                report(future.result())
        except BaseException:
            processes.__exit__()
            if survivors is not None:
                survivors.__exit__()
            threads.shutdown(wait=False, cancel_futures=True)
            raise
    ordered = tuple(results[place] for place in range(len(drawn)))
    elapsed = time.perf_counter() - start
    return Score(ordered, len(possible), equivalent, elsewhere, len(obligations), elapsed)


def _who_tries(settings: Settings, stack: ExitStack) -> tuple[int, TrialProcesses | TrialsElsewhere]:
    """Return how many trials run at the same time, and who runs them."""
    if settings.scheduler is None:
        return max(1, settings.jobs), stack.enter_context(TrialProcesses())
    workers = stack.enter_context(cluster(settings.scheduler))
    return workers.threads, stack.enter_context(TrialsElsewhere(workers))


def _result(bench: _Bench, survivors: SurvivorTests | None, mutant: Mutant) -> TriedMutant:
    """Try a mutant on obligations and, if none notices it, on tests."""
    result = bench.result(mutant)
    if survivors is None or result.outcome in NOTICED:
        return result
    return replace(result, tested=survivors.of(mutant.module, mutant.fault))


def _faults(module: SpecificationModule) -> list[Fault]:
    return faults(module.path.read_text(encoding="utf-8"))


def _sample(
    possible: Sequence[Mutant],
    number: int,
    seed: int,
    bench: _Bench,
    equivalents: Equivalents,
    recognised: bool,
) -> tuple[list[Mutant], tuple[EquivalentMutant, ...], int]:
    """Return `number` mutants drawn at random, those that change nothing, and how many concern others.

    With `recognised`, the mutants drawn are those that change nothing.
    """
    drawn: list[int] = []
    equivalent: dict[int, EquivalentMutant] = {}
    elsewhere = 0
    for place in random.Random(seed).sample(range(len(possible)), len(possible)):
        if len(drawn) == number:
            break
        mutant = possible[place]
        if bench.concerns_others(mutant):
            elsewhere += 1
        elif how := equivalents.how(mutant.module, mutant.fault):
            equivalent[place] = EquivalentMutant(mutant, how)
            if recognised:
                drawn.append(place)
        elif not recognised:
            drawn.append(place)
    put_back = tuple(equivalent[place] for place in sorted(equivalent))
    return [possible[place] for place in sorted(drawn)], put_back, elsewhere


class _Bench:
    """What the run without a fault tells, and how a mutant is tried."""

    def __init__(
        self,
        obligations: Sequence[Obligation],
        modules: Sequence[SpecificationModule],
        settings: Settings,
        processes: TrialProcesses | TrialsElsewhere,
        threads: ThreadPoolExecutor,
        jobs: int,
    ) -> None:
        self._settings = settings
        self._processes = processes
        self._selected = [o.id for o in obligations]
        isas = {identifier.partition("/")[0] for identifier in self._selected}
        self._partial = bool(set(NAMES) - isas) and bool(isas & set(NAMES))
        families = {family_of(premise) for obligation in obligations for premise in _premises(obligation)}
        begins = (*(f"{isa}/" for isa in isas), *sorted(families))
        everything = settings.assignment.obligations().values()
        self._known = {o.id: o.expect.value for o in everything if o.id.startswith(begins)}
        self._files = tuple(str(module.path) for module in modules)
        self._readers = readers({str(m.path): m.path.read_text(encoding="utf-8") for m in modules})
        self._timeout = settings.timeout
        said = list(threads.map(self._baseline, self._parts(jobs)))
        self._seconds: dict[str, float] = {}
        self._entered: dict[str, frozenset[Place]] = {}
        self._shared: set[Place] = set()
        for answer in said:
            self._seconds |= answer["seconds"]
            self._shared |= {(file, line) for file, line in answer["shared"]}
            for identifier, places in answer["entered"].items():
                self._entered[identifier] = frozenset((file, line) for file, line in places)
        self._used = self._shared.union(*self._entered.values())
        self._timeout = min(settings.timeout, max(5.0, 10 * max(self._seconds.values(), default=0.0)))
        self._limit = 60.0 + 3 * sum(answer["elapsed"] for answer in said)

    def _parts(self, number: int) -> Iterator[list[str]]:
        return (self._selected[first::number] for first in range(min(number, len(self._selected))))

    def _trial(self, identifiers: Sequence[str], **changes: Any) -> Trial:
        return Trial(
            list(sys.path),
            self._settings.assignment.catalogue,
            list(identifiers),
            self._known,
            self._settings.solver,
            self._timeout,
            MEMORY if self._settings.memory is None else self._settings.memory,
            **changes,
        )

    def _baseline(self, identifiers: Sequence[str]) -> Mapping[str, Any]:
        answer = self._processes.run(self._trial(identifiers, watched=self._files), 1e6)
        if answer["outcome"] != Fate.SURVIVED:
            who = answer.get("obligation") or "the catalogue"
            raise BaselineError(f"{who} is {answer['outcome']} without a fault: {answer['message']}")
        return answer

    def concerns_others(self, mutant: Mutant) -> bool:
        """Whether a mutant is in generic code that none of the selected instruction sets uses."""
        if not self._partial or mutant.module.isa:
            return False
        file, fault = str(mutant.module.path), mutant.fault
        if fault.function:
            return (file, fault.function) not in self._used
        statement, names = bound_at(fault.module, fault.line)
        read = any(self._reads(reader, file, statement) for name in names for reader in self._readers[name])
        return (file, 1) not in self._used or (bool(names) and not read)

    def _reads(self, reader: Reader, file: str, statement: int) -> bool:
        """Whether a reader is used, and is not the statement that binds what it reads."""
        if reader.function:
            return (reader.file, reader.function) in self._used
        return (reader.file, 1) in self._used and (reader.file, reader.statement) != (file, statement)

    def result(self, mutant: Mutant) -> TriedMutant:
        """Try a mutant."""
        module, fault = mutant.module, mutant.fault
        order, shared = self._order(mutant)
        if not order:
            what = "statement" if fault.function else "module"
            return TriedMutant(mutant, Fate.SURVIVED, "", f"no obligation enters the {what}", 0.0)
        start = time.perf_counter()
        trial = self._trial(order, module=module.name, source=fault.source(), rebuilt=shared)
        answer = self._processes.run(trial, self._limit)
        seconds = time.perf_counter() - start
        obligation = answer.get("obligation", "")
        return TriedMutant(mutant, Fate(answer["outcome"]), obligation, answer.get("message", ""), seconds)

    def _order(self, mutant: Mutant) -> tuple[list[str], bool]:
        """Return the obligations to decide with a mutant, and whether it may change which ones there are."""
        file, block = str(mutant.module.path), mutant.fault.block
        if block:
            direct = {name for name, places in self._entered.items() if (file, block) in places}
        else:
            direct = {name for name, places in self._entered.items() if any(at == file for at, _ in places)}
        shared = (file, block or 1) in self._shared
        order = self._cheapest_of_each_theorem_first(direct)
        if shared:
            concerned = {name for name in self._entered if mutant.module.concerns(name)}
            order += self._cheapest_of_each_theorem_first(concerned - direct, OTHERS)
            # tables may compare what was built: all of them first, the cheapest before the others
            order.sort(key=lambda name: self._seconds[name] if _is_table(name) else math.inf)
        elif not direct:
            return [], False
        chosen: list[str] = []
        spent = 0.0
        for name in order:
            spent += self._seconds[name]
            if spent > BUDGET and chosen:
                break
            chosen.append(name)
        return chosen, shared

    def _cheapest_of_each_theorem_first(
        self, identifiers: Collection[str], number: int | None = None
    ) -> list[str]:
        """Return ids: the cheapest of every theorem, then the second of every one, and so on to `number`."""
        theorems: dict[str, list[str]] = defaultdict(list)
        for identifier in sorted(identifiers, key=self._seconds.__getitem__):
            theorems["/".join(identifier.split("/")[:3])].append(identifier)
        ranks = {name: rank for members in theorems.values() for rank, name in enumerate(members[:number])}
        ranks |= dict.fromkeys(filter(_is_table, identifiers), 0)
        return sorted(ranks, key=lambda name: (ranks[name], self._seconds[name]))


def _premises(obligation: Obligation) -> tuple[str, ...]:
    """Return what a deduction follows from, of any instruction set."""
    goal = obligation.goal() if obligation.method in FROM_PREMISES else None
    return goal.premises if isinstance(goal, Deduction) else ()


def _is_table(identifier: str) -> bool:
    """Whether an obligation compares with tables."""
    _, family, theorem, *_ = [*identifier.split("/"), "", ""]
    return family in TABLES or theorem in PRINTED
