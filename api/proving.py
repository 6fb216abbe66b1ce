"""The catalogue of theorems, decided."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .arguments import several

if TYPE_CHECKING:
    from pathlib import Path

    from ..proofs.obligation import Obligation
    from ..proofs.rechecking import Recheck
    from ..proofs.runner import Settings
    from ..proofs.verdict import Verdict
    from ..reports.check_report import CheckReport

Progress = Callable[[str, int], AbstractContextManager[Callable[[str], None]]]
"""Told what is done (``check`` or ``recheck``) of how many obligations; gives what is told of each."""


def silent(what: str, total: int) -> AbstractContextManager[Callable[[str], None]]:
    """Show no progress."""
    return nullcontext(lambda identifier: None)


def check(
    *patterns: str | Iterable[str],
    jobs: int | None = None,
    timeout: float = 60.0,
    memory: float | None = None,
    solver: str = "z3",
    cache: bool = True,
    scheduler: str | None = None,
    recheck: bool = False,
    progress: Progress = silent,
) -> CheckReport:
    """Prove the catalogue of theorems.

    Parameters
    ----------
    *patterns : str, or several of them
        Prefixes or globs of obligation ids; by default everything.
    jobs : int, optional
        Processes; by default one for each CPU.
    timeout : float
        Seconds, of each query.
    memory : float, optional
        GiB, of each process.
    solver : str
        ``z3``, ``bitwuzla``, ``cvc5``, or ``all``, which must agree.
    cache : bool
        Take verdicts from the cache, and keep them there.
    scheduler : str, optional
        Address of a Dask scheduler.
    recheck : bool
        Decide what is proved again, by other solvers.
    progress : callable
        Shows how far it is.

    Returns
    -------
    CheckReport
        Its ``run`` has the verdicts; ``conclusion`` says whether all are the expected ones.

    Raises
    ------
    InputError
        If a pattern selects nothing, or a value is out of range.
    """
    checking = checking_of(
        [str(pattern) for pattern in several(patterns)],
        jobs=jobs,
        timeout=timeout,
        memory=memory,
        solver=solver,
        cache=cache,
        scheduler=scheduler,
    )
    report, stopped = checking.report(recheck=recheck, progress=progress)
    if stopped is not None:
        raise stopped
    return report


@dataclass(frozen=True)
class Checking:
    """Obligations that are to be decided.

    Attributes
    ----------
    patterns : tuple of str
        What selects them.
    selected : tuple of Obligation
        In the order of the catalogue.
    settings : Settings
        How they are decided.
    """

    patterns: tuple[str, ...]
    selected: tuple[Obligation, ...]
    settings: Settings

    def report(self, *, recheck: bool, progress: Progress) -> tuple[CheckReport, KeyboardInterrupt | None]:
        """Decide them; returns the report, also of a run that is interrupted, and by what it was."""
        from ..proofs import catalogue, pinned, runner
        from ..proofs.outcomes import tallied
        from ..reports import check_report
        from ..version import __version__

        unpinned = pinned.differences(self.patterns)
        start = time.perf_counter()
        arrived: dict[str, Verdict] = {}
        again, stopped = None, None

        try:
            with progress("check", len(self.selected)) as advance:

                def report(verdict: Verdict) -> None:
                    arrived[verdict.id] = verdict
                    advance(verdict.id)

                runner.run(self.selected, self.settings, report=report)
            if recheck:
                again = self._decided_again(list(arrived.values()), progress)
        except KeyboardInterrupt as signal:
            stopped = signal
        verdicts = [again.worth(each) if again else each for each in arrived.values()]
        verdicts += _not_reached(self.selected, arrived)
        elapsed = time.perf_counter() - start
        run = tallied(self.selected, verdicts, catalogue.theorems(self.patterns), elapsed, unpinned)
        return check_report.report(replace(run, recheck=again), __version__), stopped

    def require_certifying(self) -> None:
        """Refuse certificates without the programs that they take.

        Raises
        ------
        InputError
            If one is not installed.
        """
        from ..smt.certified import require_certifying

        require_certifying()

    def certified(self, verdicts: Sequence[Verdict], directory: Path, progress: Progress) -> Recheck:
        """Leave certificates of what was proved in a directory; tells what has one, and why others don't."""
        return self._decided_again(verdicts, progress, directory)

    def _decided_again(
        self, verdicts: Sequence[Verdict], progress: Progress, certificates: Path | None = None
    ) -> Recheck:
        from ..proofs import rechecking

        what = "recheck" if certificates is None else "certificates"
        with progress(what, len(rechecking.possible(verdicts)[0])) as advance:
            return rechecking.decide_again(
                verdicts,
                self.settings,
                report=lambda verdict: advance(verdict.id),
                certificates=certificates,
            )


def checking_of(
    patterns: Sequence[str],
    *,
    jobs: int | None,
    timeout: float,
    memory: float | None,
    solver: str,
    cache: bool,
    scheduler: str | None,
) -> Checking:
    """Select obligations, and how they are decided; see `check`."""
    from ..proofs import catalogue, runner
    from ..proofs.cache import default_directory

    settings = runner.Settings(
        timeout=timeout,
        memory=memory,
        solver=solver,
        cache=default_directory() if cache else None,
        scheduler=scheduler,
    )
    if jobs is not None:
        settings = replace(settings, jobs=jobs)
    if settings.cache is not None:
        catalogue.remember(settings.cache, patterns)
    return Checking(tuple(patterns), tuple(catalogue.select(list(patterns))), settings)


def _not_reached(selected: Sequence[Obligation], arrived: Mapping[str, Verdict]) -> list[Verdict]:
    from ..proofs.obligation import Status
    from ..proofs.verdict import Verdict

    message = "the run was interrupted before this was decided"
    return [Verdict(o.id, Status.UNKNOWN, "", message=message) for o in selected if o.id not in arrived]
