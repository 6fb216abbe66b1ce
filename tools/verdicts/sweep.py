"""Many kernels verified, each in a process of its own with a limit of time, several at once."""

from __future__ import annotations

import json
import os
import resource
import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import table
from .cases import Case
from .measurement import COST_COLUMNS, VERDICT_COLUMNS, Row, failed, measured

SECONDS = 600
"""Of the processor, after which a kernel's process is ended; of the clock, six times as many."""

_CLOCK = 6
_ENDED_BY = {signal.SIGXCPU: "timeout", signal.SIGALRM: "timeout"}


def swept(cases: Sequence[Case], folder: Path, jobs: int, seconds: int) -> None:
    """Verify the kernels of which a folder has no results yet, and add theirs, in the order of the cases.

    Parameters
    ----------
    cases : sequence of Case
        The kernels.
    folder : Path
        With the two tables, which are written whenever a kernel has ended.
    jobs : int
        Processes at a time.
    seconds : int
        Of the processor, for each.
    """
    folder.mkdir(parents=True, exist_ok=True)
    verdicts, costs = table.of_folder(folder)
    known = {row[:2] for row in costs}
    pending = [each for each in cases if each.key not in known]
    order = {each.key: place for place, each in enumerate(cases)}
    running: dict[int, tuple[Case, Path]] = {}
    with tempfile.TemporaryDirectory() as exchange:
        while pending or running:
            while pending and len(running) < jobs:
                case, answer = pending.pop(0), Path(exchange) / f"{len(pending)}.json"
                running[_started(case, answer, seconds)] = case, answer
            process, status, usage = os.wait3(0)
            case, answer = running.pop(process)
            own, cost = _ended(case, answer, status, usage)
            verdicts += own
            costs.append(cost)
            verdicts.sort(key=lambda row: order.get(row[:2], len(order)))
            costs.sort(key=lambda row: order.get(row[:2], len(order)))
            table.write(folder / table.VERDICTS, VERDICT_COLUMNS, verdicts)
            table.write(folder / table.COSTS, COST_COLUMNS, costs)
            print(f"{len(costs)}: {': '.join(case.key)}: {own[0][3]}, {cost[2] or '?'} s", flush=True)


def _started(case: Case, answer: Path, seconds: int) -> int:
    """Fork a process that verifies a kernel and writes its rows; return its number."""
    if process := os.fork():
        return process
    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        signal.alarm(_CLOCK * seconds)
        answer.write_text(json.dumps(measured(case)), encoding="utf-8")
        status = 0
    finally:
        os._exit(status)


def _ended(case: Case, answer: Path, status: int, usage: resource.struct_rusage) -> tuple[list[Row], Row]:
    """Return the rows of a kernel whose process has ended."""
    peak = f"{usage.ru_maxrss / 1024:.0f}"
    if status or not answer.exists():
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        reason = _ENDED_BY.get(signal.Signals(number), f"signal {number}") if number else "no answer"
        return [failed(case, reason)], (*case.key, "", "", "", peak)
    rows, cost = json.loads(answer.read_text(encoding="utf-8"))
    return [tuple(row) for row in rows], (*cost, peak)
