"""A process that decides obligations with one module of the specification replaced; see `campaign`.

It reads a `Trial` from standard input, as JSON, and writes JSON lines: ``{"built": true}`` as soon as it has
the obligations, and what came out. The specification is imported after its module was replaced, so nothing
at the top of this module imports it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any

from .substitution import substitute

if TYPE_CHECKING:
    from ..obligation import Obligation
    from ..verdict import Verdict


@dataclass(frozen=True)
class Trial:
    """What is to be decided, and with which fault.

    Attributes
    ----------
    path : list of str
        Where modules are found.
    catalogue : str
        ``module:function`` that returns the obligations by id.
    expected : mapping of str to str
        The expected verdicts of the obligations to decide, by id, in the order to decide them.
    known : mapping of str to str
        The same of every obligation that the fault-free catalogue has.
    solver : str
        Who decides.
    timeout : float
        Seconds of a query.
    memory : float or None
        GiB of the process.
    module, source : str
        The module that is replaced, and by what; empty for none.
    watched : list of str
        Files whose functions are recorded when they are entered.
    """

    path: list[str]
    catalogue: str
    expected: Mapping[str, str]
    known: Mapping[str, str]
    solver: str
    timeout: float
    memory: float | None = None
    module: str = ""
    source: str = ""
    watched: tuple[str, ...] = ()


class _Noticed(Exception):  # noqa: N818 (it ends a run)
    """The run is over: a verdict is not the expected one."""


def main() -> None:
    """Run the trial that standard input holds."""
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def send(message: Mapping[str, Any]) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    trial = Trial(**json.load(sys.stdin))
    sys.path[:] = trial.path
    if trial.module:
        substitute(trial.module, trial.source)
    entered = _recording(frozenset(trial.watched)) if trial.watched else set()
    try:
        obligations = _built(trial.catalogue)
    except Exception as reason:
        send({"outcome": "crashed", "message": _said(reason)})
        return
    send({"built": True})
    send(_decided(trial, obligations) | {"entered": sorted(entered)})


def _built(catalogue: str) -> Mapping[str, Obligation]:
    module, _, function = catalogue.partition(":")
    return dict(getattr(import_module(module), function)())


def _decided(trial: Trial, obligations: Mapping[str, Obligation]) -> dict[str, Any]:
    """Return what came out: the first verdict that is not the expected one, or the times of all."""
    built = {identifier: o.expect.value for identifier, o in obligations.items()}
    if built != trial.known:
        differing = sorted(i for i in {*built, *trial.known} if built.get(i) != trial.known.get(i))
        now = built.get(differing[0], "absent")
        return {"outcome": "refuted", "obligation": differing[0], "message": f"not as pinned: {now}"}

    from ..memory_limit import limit_memory
    from ..runner import Settings, run

    if trial.memory is not None:
        limit_memory(trial.memory)
    noticed: list[dict[str, Any]] = []
    unknown: list[str] = []
    seconds: dict[str, float] = {}

    def look(verdict: Verdict) -> None:
        seconds[verdict.id] = verdict.seconds
        status = verdict.status.value
        if status == "unknown":
            unknown.append(verdict.id)
        elif status != trial.expected[verdict.id]:
            outcome = "error" if status == "error" else "refuted"
            noticed.append({"outcome": outcome, "obligation": verdict.id, "message": verdict.message})
            raise _Noticed

    settings = Settings(jobs=0, timeout=trial.timeout, solver=trial.solver, catalogue=trial.catalogue)
    start = time.perf_counter()
    try:
        run([obligations[identifier] for identifier in trial.expected], settings, look)
    except _Noticed:
        return noticed[0]
    except Exception as reason:
        return {"outcome": "error", "obligation": "", "message": _said(reason)}
    if unknown:
        return {
            "outcome": "timeout",
            "obligation": unknown[0],
            "message": "the solver gave no answer in time",
        }
    return {"outcome": "survived", "seconds": seconds, "elapsed": time.perf_counter() - start}


def _recording(watched: frozenset[str]) -> set[tuple[str, int]]:
    """Record the functions of files that are entered from now on: file and first line."""
    entered: set[tuple[str, int]] = set()
    seen: set[Any] = set()

    def look(frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        if code not in seen:
            seen.add(code)
            if code.co_filename in watched:
                entered.add((code.co_filename, code.co_firstlineno))
        return None

    sys.settrace(look)
    return entered


def _said(reason: Exception) -> str:
    return " ".join(f"{type(reason).__name__}: {reason}".split())


if __name__ == "__main__":
    main()
