"""A plugin of pytest that writes the ids of tests which fail into the file that the environment names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

VARIABLE = "MMAPROOF_FAILING_TESTS"


def pytest_runtest_logreport(report: Any) -> None:
    """Write down a test that fails."""
    _write(report)


def pytest_collectreport(report: Any) -> None:
    """Write down a file that can't be read."""
    _write(report)


def _write(report: Any) -> None:
    if report.failed:
        with Path(os.environ[VARIABLE]).open("a", encoding="utf-8") as stream:
            stream.write(f"{report.nodeid}\n")
