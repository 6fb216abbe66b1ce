"""A plugin of pytest that runs chosen tests in a given order, and writes down those that fail.

The environment names a file with their ids; all that are collected run where it is empty.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

CHOSEN = "MMAPROOF_CHOSEN_TESTS"
"""The variable that names the file with the ids of tests to run."""

FAILING = "MMAPROOF_FAILING_TESTS"
"""The variable that names the file in which the ids of tests are written that fail."""


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Keep the chosen tests, in their order."""
    chosen = Path(os.environ[CHOSEN]).read_text(encoding="utf-8").splitlines()
    place = {name: at for at, name in enumerate(chosen)}
    left_out = [item for item in items if chosen and item.nodeid not in place]
    config.hook.pytest_deselected(items=left_out)
    kept = [item for item in items if not chosen or item.nodeid in place]
    items[:] = sorted(kept, key=lambda item: place.get(item.nodeid, 0))


def pytest_runtest_logreport(report: Any) -> None:
    """Write down a test that fails."""
    _write(report)


def pytest_collectreport(report: Any) -> None:
    """Write down a file that can't be read."""
    _write(report)


def _write(report: Any) -> None:
    if report.failed:
        with Path(os.environ[FAILING]).open("a", encoding="utf-8") as stream:
            stream.write(f"{report.nodeid}\n")
