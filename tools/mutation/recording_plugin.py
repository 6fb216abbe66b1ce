"""A plugin of pytest that writes down which blocks of a specification each test enters (`entered_places`)."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from typing import Any

from .dependencies import Place
from .entered_places import TEST, entered_places


class _Running:
    """The test that runs, and what files of tests entered when they were read."""

    def __init__(self) -> None:
        self.of_files: dict[str, set[Place]] = defaultdict(set)
        self.test = ""
        self.failed = False
        self.found: set[Place] = set()
        self.seconds = 0.0


_RUNNING = _Running()


def pytest_collectstart(collector: Any) -> None:
    """Record what reading a file enters for all tests in it."""
    path = str(collector.path)
    entered_places().into(_RUNNING.of_files[path], path)


def pytest_runtest_protocol(item: Any) -> None:
    """Record a test."""
    _RUNNING.test, _RUNNING.failed, _RUNNING.found = item.nodeid, False, set()
    entered_places().into(_RUNNING.found)
    os.environ[TEST] = item.nodeid
    _RUNNING.found |= _RUNNING.of_files[str(item.path)]
    _RUNNING.seconds = _processor_time()


def pytest_runtest_logreport(report: Any) -> None:
    """Note that a test fails."""
    _RUNNING.failed |= report.failed


def pytest_runtest_logfinish(nodeid: str) -> None:
    """Write what a test entered; whoever distributes tests to others runs none."""
    if nodeid == _RUNNING.test:
        entered_places().into(set())
        del os.environ[TEST]
        seconds = _processor_time() - _RUNNING.seconds
        entered_places().write_test(nodeid, seconds, _RUNNING.failed, _RUNNING.found)
        _RUNNING.test = ""


def pytest_sessionfinish() -> None:
    """Write what was entered when modules were imported."""
    entered_places().write_imports()


def _processor_time() -> float:
    """Return the seconds that this process and those it waited for used."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system
