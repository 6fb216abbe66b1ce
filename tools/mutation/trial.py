"""Decide obligations with one module of the specification replaced; see `campaign`.

A trial runs in a process of its own that has not imported the specification before (`trial_server`).
Obligations are built by families, when one of them is to be decided: a family that can't be built is noted,
and the others are decided.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mmaproof.proofs.memory_limit import limit_memory

from .dependencies import Recorder
from .substitution import substitute

if TYPE_CHECKING:
    from mmaproof.proofs.decision import Solve
    from mmaproof.proofs.obligation import Obligation
    from mmaproof.proofs.verdict import Verdict


@dataclass(frozen=True)
class Trial:
    """What is to be decided, and with which fault.

    Attributes
    ----------
    path : list of str
        Where modules are found.
    catalogue : str
        ``module:function`` that returns the obligations by id.
    order : list of str
        The obligations to decide, in this order.
    known : mapping of str to str
        The expected verdicts of all obligations of the instruction sets concerned, and of the families that
        deductions have premises in, by id, without a fault.
    solver : str
        Who decides.
    timeout : float
        Seconds of a query.
    memory : float or None
        GiB of the process.
    module, source : str
        The module that is replaced, and by what; empty for none.
    rebuilt : bool
        Whether the fault may change which obligations there are.
    watched : list of str
        Files whose functions are recorded when they are entered.
    """

    path: list[str]
    catalogue: str
    order: list[str]
    known: Mapping[str, str]
    solver: str
    timeout: float
    memory: float | None = None
    module: str = ""
    source: str = ""
    rebuilt: bool = True
    watched: tuple[str, ...] = ()


def outcome(trial: Trial) -> dict[str, Any]:
    """Return what came out: the first verdict that is not the expected one, or what was recorded."""
    sys.path[:] = trial.path
    if trial.memory is not None:
        limit_memory(trial.memory)
    if trial.module:
        substitute(trial.module, trial.source)
    recorder = Recorder(frozenset(trial.watched))
    if trial.watched:
        recorder.start()
    try:
        return _Deciding(trial, recorder).outcome()
    except _Noticed as noticed:
        return noticed.document


_DECIDED = ("proved", "refuted")


class _Noticed(Exception):  # noqa: N818 (it ends a run)
    """The run is over: a verdict is not the expected one."""

    def __init__(self, outcome: str, obligation: str, message: str) -> None:
        super().__init__(message)
        self.document = {"outcome": outcome, "obligation": obligation, "message": message}


class _Families:
    """The obligations, built by families."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._built: dict[str, Mapping[str, Obligation]] = {}
        self.crashed = ""

    def of(self, identifier: str) -> Mapping[str, Obligation]:
        """Return an obligation's family; without members if it can't be built.

        Raises
        ------
        _Noticed
            If its members are not the known ones.
        """
        family = family_of(identifier)
        if family not in self._built:
            try:
                self._built[family] = self._build(family)
            except Exception as reason:
                self.crashed = self.crashed or f"{family} can't be built: {_said(reason)}"
                self._built[family] = self._what_can_be_built(family)
            else:
                self._compare(family)
        return self._built[family]

    def _build(self, family: str) -> Mapping[str, Obligation]:
        module, _, function = self._trial.catalogue.partition(":")
        everything = getattr(import_module(module), function)()
        from mmaproof.proofs.catalogue import Catalogue, matching

        if isinstance(everything, Catalogue):
            return {obligation.id: obligation for obligation in matching((family,))}
        return {name: each for name, each in everything.items() if name.startswith(family)}

    def _what_can_be_built(self, family: str) -> Mapping[str, Obligation]:
        """Return the obligations of the theorems of a family that can be built, though others can't."""
        from mmaproof.proofs.catalogue import Catalogue, theorems

        found: dict[str, Obligation] = {}
        module, _, function = self._trial.catalogue.partition(":")
        with suppress(Exception):
            if isinstance(getattr(import_module(module), function)(), Catalogue):
                for theorem in theorems((family,)):
                    with suppress(Exception):
                        found |= {obligation.id: obligation for obligation in theorem.obligations()}
        return found

    def _compare(self, family: str) -> None:
        known = {name: expect for name, expect in self._trial.known.items() if name.startswith(family)}
        built = {name: obligation.expect.value for name, obligation in self._built[family].items()}
        for name in sorted({*known, *built}):
            if known.get(name) != built.get(name):
                raise _Noticed("refuted", name, f"not as pinned: {built.get(name, 'absent')}")


def family_of(identifier: str) -> str:
    """Return what the ids of a family begin with, from one of them."""
    return "/".join(identifier.split("/")[:2][: identifier.count("/")]) + "/"


class _Deciding:
    """Decides the obligations of a trial, one after the other."""

    def __init__(self, trial: Trial, recorder: Recorder) -> None:
        self._trial = trial
        self._recorder = recorder
        self._families = _Families(trial)
        self._statuses: dict[str, str] = {}
        self._unknown: list[str] = []
        self._seconds: dict[str, float] = {}
        self._entered: dict[str, list[tuple[str, int]]] = {}

    def outcome(self) -> dict[str, Any]:
        """Return what came out.

        Raises
        ------
        _Noticed
            If a verdict is not the expected one.
        """
        start = time.perf_counter()
        for family in dict.fromkeys(map(family_of, self._trial.known if self._trial.rebuilt else ())):
            self._families.of(family)
        if any(self._families.of(identifier) for identifier in self._trial.order):
            self._decide()
        if self._families.crashed:
            return {"outcome": "crashed", "message": self._families.crashed}
        if self._unknown:
            message = "the solver gave no answer in time"
            return {"outcome": "timeout", "obligation": self._unknown[0], "message": message}
        return {
            "outcome": "survived",
            "seconds": self._seconds,
            "entered": self._entered,
            "shared": sorted(self._recorder.shared),
            "elapsed": time.perf_counter() - start,
        }

    def _decide(self) -> None:
        from mmaproof.proofs.obligation import FROM_PREMISES
        from mmaproof.proofs.worker import WorkerAssignment, decide_or_report

        solve = WorkerAssignment(self._trial.solver, self._trial.timeout).solve(None)
        last = []
        for identifier in self._trial.order:
            obligation = self._families.of(identifier).get(identifier)
            if obligation is not None and obligation.method in FROM_PREMISES:
                last.append(obligation)
            elif obligation is not None:
                self._judge(obligation, partial(decide_or_report, obligation, solve))
        for obligation in last:
            self._judge(obligation, partial(self._concluded, obligation, solve))

    def _judge(self, obligation: Obligation, decide: Callable[[], Verdict]) -> None:
        start = time.process_time()  # what else runs on the machine must not change what is tried
        with self._recorder.recording() as entered:
            verdict = decide()
        self._seconds[verdict.id] = time.process_time() - start
        self._entered[verdict.id] = sorted(entered)
        status = self._statuses[verdict.id] = verdict.status.value
        if status == obligation.expect.value:
            return
        if status == "unknown" and verdict.solver:
            self._unknown.append(verdict.id)
        else:  # without a solver it is unknown because something is not supported
            raise _Noticed("refuted" if status in _DECIDED else "error", verdict.id, verdict.message)

    def _concluded(self, obligation: Obligation, solve: Solve) -> Verdict:
        """Return the verdict on a deduction; a premise that is not tried is as without a fault."""
        from mmaproof.proofs.induction import decide_from_premises
        from mmaproof.proofs.instances import Entailment
        from mmaproof.proofs.obligation import Deduction, Status
        from mmaproof.proofs.worker import decide_or_report, reported

        def decided() -> Verdict:
            goal = obligation.goal()
            assert isinstance(goal, Deduction)
            statuses = {
                premise: self._statuses.get(premise) or self._trial.known[premise]
                for premise in goal.premises
            }
            premises = {premise: self._families.of(premise)[premise] for premise in goal.premises}
            known = {each: Status(status) for each, status in statuses.items()}
            follows = decide_or_report(obligation, solve) if isinstance(goal, Entailment) else None
            return decide_from_premises(obligation, goal, known, premises, follows)

        return reported(obligation, decided)


def _said(reason: Exception) -> str:
    return " ".join(f"{type(reason).__name__}: {reason}".split())
