"""Verdicts on a folder of problems and solutions: ``python -m benchmarks kernels DIR [NAME…]``.

Each folder in DIR has a ``problem.py``; every other file of Python there is a solution.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from statistics import median

from mmaproof.api.torch.untrusted import host_time
from mmaproof.torch import TorchResult, verify

DECIDED = ("verified", "safe", "refuted")


def pairs(folder: Path, names: list[str]) -> list[tuple[Path, Path]]:
    """Return problems with their solutions."""
    return [
        (problem, solution)
        for problem in sorted(folder.glob("*/problem.py"))
        if not names or problem.parent.name in names
        for solution in sorted(problem.parent.glob("*.py"))
        if solution != problem
    ]


def row(solution: Path, result: TorchResult) -> str:
    """Return a line of the table."""
    seconds = " ".join(f"{second:6.1f}" for second in result.seconds.values())
    at = ", ".join(f"{name}={value}" for name, value in result.sizes.items())
    what = result.findings[0][:100] if result.findings else ""
    name = f"{solution.parent.name}/{solution.stem}"
    return f"{name:36} {result.verdict:12} {len(result.launches):2} {result.steps:2} {seconds}  {at}  {what}"


def print_table(folder: Path, names: list[str]) -> None:
    """Verify every solution, one after the other, and print what became of each and of all."""
    verdicts: Counter[str] = Counter()
    seconds, of_host, recorded = [], [], 0
    print(
        f"{'solution':36} {'verdict':12} launches, steps, seconds to record and verify, sizes, first finding"
    )
    for problem, solution in pairs(folder, names):
        before = time.process_time(), host_time()
        result = verify(problem, solution)
        seconds.append(time.process_time() - before[0])
        of_host.append(host_time() - before[1])
        verdicts[result.verdict] += 1
        recorded += bool(result.launches)
        print(row(solution, result), flush=True)
    total = sum(verdicts.values())
    if total:
        decided = sum(verdicts[each] for each in DECIDED)
        print(f"{total} solutions: {', '.join(f'{count} {name}' for name, count in verdicts.most_common())}")
        shares = f"recorded {recorded / total:.0%}, decided {decided / total:.0%}"
        both = median(map(sum, zip(seconds, of_host, strict=True)))
        host = f"{median(of_host):.1f} s to compile and to record"
        print(f"{shares}, median {both:.1f} s of processor time; {median(seconds):.1f} s to verify, {host}")
