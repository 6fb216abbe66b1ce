"""What every test shares: properties are not timed (a loaded machine is no defect), and one browser."""

import os
from collections.abc import Iterator

import pytest
from chromium import PROGRAM, Browser
from hypothesis import settings

settings.register_profile("untimed", deadline=None)
if "CI" not in os.environ:  # there hypothesis' own profile is untimed and repeatable
    settings.load_profile("untimed")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Give a browser without a window; without one, the tests of pages are skipped."""
    if PROGRAM is None:
        pytest.skip("chromium, which runs the pages, is not installed (Debian package chromium)")
    with Browser() as started:
        yield started
