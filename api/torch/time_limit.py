"""A limit on the processor time of a verification, for programs that call it."""

from __future__ import annotations

import signal
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TimeUpError(Exception):
    """The time is up."""


AGAIN = 0.5
"""Seconds of processor time until an exception is raised again: those in callbacks of Python are dropped."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise `TimeUpError` in the block when it takes more; only in the main thread."""
    if threading.current_thread() is not threading.main_thread() or signal.getitimer(signal.ITIMER_PROF)[0]:
        yield
        return

    def up(_: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code.co_filename == weakref.__file__:
            return  # nothing passes on what is raised there
        raise TimeUpError(f"takes more than {seconds:g} s of processor time")

    former = signal.signal(signal.SIGPROF, up)
    signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)
