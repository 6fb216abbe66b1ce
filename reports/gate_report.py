"""The report of ``gate``: what tables of third parties say otherwise than the spec."""

from __future__ import annotations

import datetime
import time

from ..gating.comparison import compare
from ..gating.rule_book import rule_book
from ..gating.settings import GateSettings
from ..spec.findings import Standing
from ..spec.instruction_set import NAMES
from .findings_document import FindingsReport
from .report import Conclusion, Wording

OF_TABLES = Wording(
    "file",
    "rows",
    "finding",
    {standing: standing.value for standing in Standing if standing is not Standing.DEFECT},
    {
        Conclusion.HOLDS: "everything agrees with the spec",
        Conclusion.FAILS: "not everything agrees with the spec",
        Conclusion.UNDECIDED: "some rows are undecided",
    },
)
"""How comparisons of tables with the spec speak."""


def report(settings: GateSettings, version: str, today: datetime.date | None = None) -> FindingsReport:
    """Compare every table with the spec.

    Parameters
    ----------
    settings : GateSettings
        What to compare.
    version : str
        Of mmaproof.
    today : date, optional
        The day on which accepted differences are valid; by default the system's.

    Raises
    ------
    InputError
        If a file is malformed; it names file and line.
    """
    start = time.perf_counter()
    checked = tuple(compare(settings, today or datetime.date.today()))
    elapsed = time.perf_counter() - start
    cited = {cause.owner for each in checked for finding in each.findings for cause in finding.causes}
    rules = rule_book(name for name in NAMES if name in cited)
    return FindingsReport("gate", version, OF_TABLES, checked, rules, elapsed, settings.allow_undecided)
