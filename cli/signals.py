"""Signals that ask the command to end: each is an exception, so that everything is cleaned up."""

from __future__ import annotations

import os
import signal
import sys
from threading import Timer
from types import FrameType
from typing import Any

ENDING = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}
"""The signals, and what is said of them."""


class Stopped(KeyboardInterrupt):
    """The command was asked to end.

    Parameters
    ----------
    number : int
        The signal.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        self.number = number
        super().__init__(ENDING.get(signal.Signals(number).name, "interrupted"))


def end_on_signals() -> None:
    """Let the signals of `ENDING` raise `Stopped`, save those that are ignored already (by ``nohup``)."""
    for number in _numbers():
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    sys.unraisablehook = _raised_where_nobody_listens


def ignore_signals() -> None:
    """Ignore further signals: the command is about to end."""
    for number in _numbers():
        signal.signal(number, signal.SIG_IGN)


def _numbers() -> list[int]:
    return [getattr(signal, name) for name in ENDING if hasattr(signal, name)]


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stopped(number)


def _raised_where_nobody_listens(unraisable: Any) -> None:
    """Send a signal again that came while Python ran a callback or a finaliser, which drop exceptions."""
    reason = unraisable.exc_value
    if isinstance(reason, Stopped):
        Timer(0.02, os.kill, (os.getpid(), reason.number)).start()
