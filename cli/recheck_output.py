"""How ``mmaproof check --recheck`` tells what came out the second time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .output import print_table, say

if TYPE_CHECKING:
    from ..proofs.outcomes import CatalogueRun

LONGEST = 10
"""How many theorems are listed with what it took to decide them again."""


def print_recheck(run: CatalogueRun) -> None:
    """Print how many verdicts were confirmed by whom, how many not and why, and what took longest."""
    from ..proofs.obligation import Status

    found = run.recheck
    assert found is not None
    rows = [["confirmed", solver, count] for solver, count in found.by_solver.most_common()]
    rows += [
        [word, "", found.count(status)]
        for word, status in (
            ("contradicted", Status.REFUTED),
            ("error", Status.ERROR),
            ("unknown", Status.UNKNOWN),
        )
        if found.count(status)
    ]
    rows += [["not possible", reason, count] for reason, count in found.reasons.most_common()]
    print()
    print_table(
        ["decided again", "by, or why not", "obligations"], [[*map(str, row)] for row in rows], numbers=[2]
    )
    _print_longest(run)
    say(f"{len(found.again)} obligations decided again in {found.seconds:.2f} s of their processes")


def _print_longest(run: CatalogueRun) -> None:
    rows = []
    for theorem, verdicts in run.longest_again[:LONGEST]:
        slowest = verdicts[0]
        name = slowest.id.removeprefix(f"{theorem.id}/")
        total = sum(verdict.seconds for verdict in verdicts)
        rows.append([theorem.id, str(len(verdicts)), f"{total:.2f}", f"{name} ({slowest.seconds:.2f} s)"])
    if rows:
        print()
        print_table(["took longest again", "obligations", "seconds", "slowest"], rows, numbers=[1, 2])
