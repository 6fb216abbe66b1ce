"""How ``mmaproof check --recheck`` tells what came out the second time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .output import print_table, say

if TYPE_CHECKING:
    from ..proofs.rechecking import Recheck


def print_recheck(found: Recheck) -> None:
    """Print how many verdicts were confirmed and by whom, and how many were not decided again and why."""
    from ..proofs.obligation import Status

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
    say(f"{len(found.again)} obligations decided again in {found.seconds:.2f} s of their processes")
