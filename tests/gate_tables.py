"""Tables written to a folder and compared with the spec."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mmaproof.gating.rows import Defaults
from mmaproof.gating.settings import settings
from mmaproof.reports import gate_report
from mmaproof.reports.report import Report
from mmaproof.spec.findings import Finding, Standing

EXAMPLES = Path(__file__).parents[1] / "examples" / "gate"
TODAY = datetime.date(2026, 6, 15)

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def json_table(folder: Path, *rows: Mapping[str, Any], **header: Any) -> Path:
    """Write a table, a row a line: the first row stands in line 3."""
    beside = "".join(f"{json.dumps(name)}: {json.dumps(value)}, " for name, value in header.items())
    path = folder / "table.json"
    listed = ",\n".join(json.dumps(row) for row in rows)
    path.write_text(f'{{{beside}"rows":\n[\n{listed}\n]}}\n', encoding="utf-8")
    return path


def csv_table(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def compared(*files: Path, complete: bool = False, **cells: str) -> Report:
    return gate_report.report(settings(files, Defaults(cells), complete), "1.2.3", TODAY)


def judged(folder: Path, *rows: Mapping[str, Any], **header: Any) -> list[Finding]:
    """Return the findings about rows."""
    return list(compared(json_table(folder, *rows, **header)).findings)


def standing(folder: Path, row: Mapping[str, Any]) -> Standing:
    """Return how one row stands to the spec."""
    findings = judged(folder, row)
    return findings[0].standing if findings else Standing.AGREES


def rules(findings: Sequence[Finding]) -> list[str]:
    return [finding.causes[0].id for finding in findings]
