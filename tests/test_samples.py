"""Of a test with many parameters, every run takes a sample that depends on names alone."""

from __future__ import annotations

import pytest

COUNT, CASES = 2, 6
"""Cases that every run takes, and those that there are."""


@pytest.mark.sample(COUNT)
@pytest.mark.parametrize("number", range(CASES))
def test_as_many_are_drawn_as_are_said(number: int, request: pytest.FixtureRequest) -> None:
    """Where a case is named, as in ``pytest 'PATH::NAME[CASE]'``, it is not left out."""
    assert f"[{number}]" in request.node.nodeid
    name = request.node.nodeid.partition("[")[0]
    cases = [item for item in request.session.items if item.nodeid.partition("[")[0] == name]
    swept = [item for item in cases if item.get_closest_marker("sweep") is not None]
    assert len(cases) - len(swept) <= COUNT and len(swept) <= CASES - COUNT
