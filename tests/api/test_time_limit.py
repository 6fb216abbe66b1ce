"""Limits on processor time, also where Python drops what a callback raises."""

from __future__ import annotations

import time
import weakref

import pytest

from mmaproof.api.torch import time_limit
from mmaproof.api.torch.time_limit import TimeUpError, within


def spin(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


class Thing:
    """What callbacks wait for the end of."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_time_is_up_though_a_callback_drops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limit, "AGAIN", 0.02)
    things = [Thing()]
    callback = weakref.ref(things[0], lambda _: spin(0.05))
    with pytest.raises(TimeUpError, match=r"takes more than 0\.02 s"), within(0.02):
        things.clear()  # the first exception is raised in the callback
        spin(5)
    assert callback() is None


def test_within_its_time_nothing_is_raised() -> None:
    with within(5):
        spin(0.01)
    spin(0.01)
