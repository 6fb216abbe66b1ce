"""Which cases of tests that take long are left to longer runs, by the CPU time that they were seen to take.

``long_tests.tsv`` has a line for each test function that takes over half a second with all of its cases: its
name, how many cases it has, and their CPU time in seconds, processes that they start included.
``pytest -m "not sweep" --write-times tests/long_tests.tsv`` runs them all and writes the table again. A
function that is not listed is run whole.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from os import times
from pathlib import Path

import pytest

TABLE = Path(__file__).with_suffix(".tsv")
WHOLE = 0.5
"""A test function that takes no more CPU time than this, in seconds, is run whole."""
PART = 0.05
"""Of another one, cases are run that take this part of its time, or `LEAST` if that is more."""
LEAST = 0.25
"""In seconds."""
ALONE = 1.0
"""Where one case takes longer than that, none is run below this time, in seconds, and one otherwise."""

MEASURED = "CPU time in seconds"
"""The property of a test's report that tells what the test took."""


def function_of(name: str) -> str:
    """Return the name of the test function that a case belongs to."""
    return name.partition("[")[0]


def by_digest(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return tests in an order that says nothing of what they are, and is the same in every run."""
    return sorted(items, key=lambda item: sha256(item.nodeid.encode()).digest())


def cases_in_every_run(cases: int, seconds: float) -> int:
    """Return how many cases of a test function every run takes.

    Parameters
    ----------
    cases, seconds
        How many cases the function was seen to have, and the CPU time that they took together.
    """
    if seconds <= WHOLE:
        return cases
    at_a_time = seconds / cases
    return int(max(LEAST, PART * seconds) / at_a_time) or int(at_a_time <= ALONE)


def table() -> dict[str, tuple[int, float]]:
    """Return the table: of each test function the number of its cases and their CPU time in seconds."""
    rows = (line.split("\t") for line in TABLE.read_text().splitlines()[1:])
    return {function: (int(cases), float(seconds)) for function, cases, seconds in rows}


def inside_file(name: str) -> str:
    """Return a test's name without the folder of its file, which a command may name from anywhere."""
    path, _, test = name.partition("::")
    return f"{Path(path).name}::{test}"


def leave_out(items: Sequence[pytest.Item], named: Sequence[str]) -> None:
    """Mark as ``long`` what a run of the tests leaves out.

    Parameters
    ----------
    items
        The tests of a run.
    named
        What the command line names. A test that is named there is run.
    """
    names = tuple(inside_file(name) for name in named if "::" in name)
    of_functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sweep") is None and item.get_closest_marker("every_run") is None:
            of_functions.setdefault(function_of(item.nodeid), []).append(item)
    for function, (cases, seconds) in table().items():
        for item in by_digest(of_functions.get(function, ()))[cases_in_every_run(cases, seconds) :]:
            if not inside_file(item.nodeid).startswith(names):
                item.add_marker(pytest.mark.long)


def cpu_time() -> float:
    """Return the CPU time of this process and of those that it has waited for, in seconds."""
    spent = times()
    return spent.user + spent.system + spent.children_user + spent.children_system


class Times:
    """Adds up what tests take, and writes the table.

    Parameters
    ----------
    path
        The file to write.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds: dict[str, float] = {}
        self.cases: dict[str, int] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a test's last report says."""
        for name, seconds in report.user_properties:
            if report.when == "teardown" and name == MEASURED and isinstance(seconds, float):
                function = function_of(report.nodeid)
                self.cases[function] = self.cases.get(function, 0) + 1
                self.seconds[function] = self.seconds.get(function, 0.0) + seconds

    def pytest_sessionfinish(self) -> None:
        """Write the table, the longest first."""
        longest = sorted(self.seconds.items(), key=lambda of: (-round(of[1], 1), of[0]))
        rows = [f"{name}\t{self.cases[name]}\t{seconds:.1f}" for name, seconds in longest if seconds > WHOLE]
        self.path.write_text("\n".join(["test\tcases\tCPU seconds", *rows, ""]))
