"""What every test shares: properties are not timed (a loaded machine is no defect), and one browser."""

import os
from collections.abc import Iterator

import pytest
from chromium import PROGRAM, Browser
from hypothesis import HealthCheck, settings

EXAMPLES = 40
"""Of a property that does not say how many it needs; more by ``--hypothesis-profile=thorough``."""

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("untimed"), max_examples=1000)
settings.register_profile("quick", settings.get_profile("untimed"), max_examples=EXAMPLES)
settings.register_profile("repeatable", settings.get_profile("quick"), derandomize=True, database=None)
settings.load_profile("repeatable" if "CI" in os.environ else "quick")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that asks for other sizes than those that every run looks at."""
    about = "in tests of random sizes, also take those that this number makes"
    parser.addoption("--sizes-seed", type=int, metavar="N", help=about)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let sweeps take as long as they take."""
    for item in items:
        if item.get_closest_marker("sweep") is not None:
            item.add_marker(pytest.mark.timeout(0))


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
