"""How ``mmaproof check --certificates`` tells which proofs have one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from .output import print_table, say

if TYPE_CHECKING:
    from ..proofs.rechecking import Recheck


def print_certificates(found: Recheck, directory: Path) -> None:
    """Print how many proofs have a certificate, why others have none, and which were rejected."""
    from ..proofs.obligation import Status

    without = Counter(v.message for v in found.again.values() if v.status is Status.UNKNOWN) + found.reasons
    rows = [["certificate", how, count] for how, count in found.by_solver.most_common()]
    rows += [["none", reason, count] for reason, count in without.most_common()]
    print()
    print_table(
        ["proof", "made how, or why not", "obligations"], [[*map(str, row)] for row in rows], numbers=[2]
    )
    for verdict in found.contradictions:
        say(f"{verdict.id}: defect of mmaproof or of a solver: {verdict.message}", "bold red")
    say(f"files in {directory}; checked by: python -m mmaproof.smt.clause_proofs FILE.cnf FILE.drup")
