"""Trials on the machines of a cluster, each in a process of its own there."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mmaproof import spec
from mmaproof.proofs.pool import Cluster

from .trial import Trial
from .trial_process import TrialProcesses

PACKAGE = Path(spec.__path__[0]).parent


class TrialsElsewhere:
    """Trials on a cluster, with the interface of `TrialProcesses`.

    Parameters
    ----------
    workers : Cluster
        Who runs them.
    """

    def __init__(self, workers: Cluster) -> None:
        self._workers = workers

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        reason: BaseException | None = None,
        where: TracebackType | None = None,
    ) -> None:
        """Do nothing: what still runs ends when the client is closed."""

    def run(self, trial: Trial, limit: float) -> dict[str, Any]:
        """Return what came out of a trial."""
        answer: dict[str, Any] = self._workers.submit(tried_here, trial, limit, str(PACKAGE)).result()
        return answer


@cache
def _processes() -> TrialProcesses:
    return TrialProcesses()


def tried_here(trial: Trial, limit: float, package: str) -> dict[str, Any]:
    """Run a trial on this machine, where the package may be installed in another place.

    Parameters
    ----------
    trial : Trial
        With the files of the machine that asks.
    limit : float
        Seconds.
    package : str
        Where the package is on that machine.
    """
    here = str(PACKAGE)
    own = replace(
        trial, path=list(sys.path), watched=tuple(_moved(each, package, here) for each in trial.watched)
    )
    answer = _processes().run(own, limit)
    for name in ("shared", "entered"):
        if name in answer:
            answer[name] = _places(answer[name], here, package)
    return answer


def _places(found: Any, before: str, after: str) -> Any:
    if isinstance(found, Mapping):
        return {identifier: _places(places, before, after) for identifier, places in found.items()}
    return [(_moved(file, before, after), line) for file, line in found]


def _moved(file: str, before: str, after: str) -> str:
    return after + file[len(before) :] if file.startswith(before) else file
