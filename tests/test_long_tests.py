"""What every run leaves out for its time is drawn by measured times and names alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from long_tests import ALONE, LEAST, PART, WHOLE, Times, cases_in_every_run, function_of, inside_file, table

TESTS = Path(__file__).parent


@given(st.integers(1, 500), st.floats(0, 1000))
def test_no_more_time_is_taken_than_the_rule_says(cases: int, seconds: float) -> None:
    count = cases_in_every_run(cases, seconds)
    assert 0 <= count <= cases
    taken = count * seconds / cases
    if seconds <= WHOLE:
        assert count == cases
    else:
        assert taken <= max(LEAST, PART * seconds) * (1 + 1e-9) or (count == 1 and taken <= ALONE)


def test_every_function_of_the_table_is_one() -> None:
    for name in table():
        path, *_, function = name.split("::")
        assert re.search(rf"\b{function}\b", (TESTS.parent / path).read_text(encoding="utf-8")), name


def test_a_run_has_as_many_cases_as_the_rule_says(request: pytest.FixtureRequest) -> None:
    named = tuple(inside_file(name) for name in request.config.args if "::" in name)
    of_functions: dict[str, list[pytest.Item]] = {}
    for item in request.session.items:
        marks = {mark.name for mark in item.iter_markers()}
        if not marks & {"sweep", "long", "every_run"} and not inside_file(item.nodeid).startswith(
            named or "\0"
        ):
            of_functions.setdefault(function_of(item.nodeid), []).append(item)
    times = table()
    for function in of_functions.keys() & times.keys():
        assert len(of_functions[function]) <= cases_in_every_run(*times[function]), function


def test_times_are_added_up_by_function(tmp_path: Path) -> None:
    times = Times(tmp_path / "times.tsv")
    for name, seconds in (("a.py::one[x]", 1.5), ("a.py::one[y/z]", 2.0), ("a.py::two", 0.5)):
        for when in ("call", "teardown"):
            report = pytest.TestReport(name, ("a.py", 1, name), {}, "passed", None, when)
            report.user_properties.append(("CPU time in seconds", seconds))
            times.pytest_runtest_logreport(report)
    times.pytest_sessionfinish()
    assert (tmp_path / "times.tsv").read_text() == "test\tcases\tCPU seconds\na.py::one\t2\t3.5\n"
