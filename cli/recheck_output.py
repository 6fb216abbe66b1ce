"""How ``mmaproof check`` tells which proofs have a certificate, and what came out of a recheck."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from .output import print_table, say

if TYPE_CHECKING:
    from ..proofs.outcomes import CatalogueRun
    from ..proofs.rechecking import Recheck

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


def print_certificates(found: Recheck, directory: Path) -> None:
    """Print how many proofs have a certificate, why others have none, and which were rejected."""
    from ..proofs.obligation import Status

    without = Counter(v.message for v in found.again.values() if v.status is Status.UNKNOWN) + found.reasons
    rows = [["certificate", how, count] for how, count in found.by_solver.most_common()]
    rows += [["none", reason, count] for reason, count in without.most_common()]
    print()
    print_table(
        ["proof", "method, or why none", "obligations"], [[*map(str, row)] for row in rows], numbers=[2]
    )
    for verdict in found.contradictions:
        say(f"{verdict.id}: defect of mmaproof or of a solver: {verdict.message}", "bold red")
    say(f"files in {directory}; checked by: python -m mmaproof.smt.clause_proofs FILE.cnf FILE.drup")
