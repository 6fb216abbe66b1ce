"""What every test shares: properties are not timed (a loaded machine is no defect), and one browser."""

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from chromium import PROGRAM, Browser
from example_counts import THOROUGH
from hypothesis import HealthCheck, settings
from long_tests import MEASURED, Times, by_digest, cpu_time, function_of, leave_out

EXAMPLES = 40
"""Of a property that does not say how many it needs; more by ``--hypothesis-profile=thorough``."""

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(THOROUGH, settings.get_profile("untimed"), max_examples=1000)
settings.register_profile("quick", settings.get_profile("untimed"), max_examples=EXAMPLES)
settings.register_profile("repeatable", settings.get_profile("quick"), derandomize=True, database=None)
settings.load_profile("repeatable" if "CI" in os.environ else "quick")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options: other sizes than those that every run looks at; the times that tests take."""
    about = "in tests of random sizes, also take those that this number makes"
    parser.addoption("--sizes-seed", type=int, metavar="N", help=about)
    about = "write the CPU time of test functions to FILE (tests/long_tests.py)"
    parser.addoption("--write-times", type=Path, metavar="FILE", help=about)


def pytest_configure(config: pytest.Config) -> None:
    """Add up times where they are asked for, in the process that hears of all tests."""
    path = config.getoption("--write-times")
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Times(path))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Tell what a test takes in its report, where that is asked for."""
    if item.config.getoption("--write-times") is None:
        return (yield)
    start = cpu_time()
    try:
        return (yield)
    finally:
        item.user_properties.append((MEASURED, cpu_time() - start))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is collected out of the garbage collector's sight: it lives as long as the run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to longer runs what is not of a test's sample, and let sweeps take as long as they take."""
    of_tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sample") is not None:
            of_tests.setdefault(function_of(item.nodeid), []).append(item)
    for cases in of_tests.values():
        sample = cases[0].get_closest_marker("sample")
        assert sample is not None
        (count,) = sample.args
        for item in by_digest(cases)[count:]:
            item.add_marker(pytest.mark.sweep)
    for item in items:
        if item.get_closest_marker("sweep") is not None:
            item.add_marker(pytest.mark.timeout(0))
    leave_out(items, config.args)


@pytest.fixture
def more_seeds(request: pytest.FixtureRequest) -> list[int]:
    """Return the seeds that a run adds to those that every run takes."""
    seed = request.config.getoption("--sizes-seed")
    return [] if seed is None else [seed]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Give a browser without a window; without one, the tests of pages are skipped."""
    if PROGRAM is None:
        pytest.skip("chromium, which runs the pages, is not installed (Debian package chromium)")
    with Browser() as started:
        yield started
