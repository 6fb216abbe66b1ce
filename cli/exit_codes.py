"""What the exit status of every command means."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit statuses; scripts and CI depend on them."""

    HOLDS = 0
    FAILS = 1
    WRONG_USE = 2
    UNDECIDED = 3
    DEFECT = 4


EPILOG = (
    "Exit status: 0 holds; 1 does not hold (refuted, illegal, differs); "
    "2 bad input (file or argument); 3 undecided (timeout, unsupported, out of memory); "
    "4 a defect of mmaproof."
)
"""The line at the end of every command's help."""

BROKEN_PIPE = 141
"""Whoever read standard output went away (128 + SIGPIPE)."""


def of_signal(number: int) -> int:
    """Return the status of a command that a signal ended, as shells have it: 130 for Ctrl-C."""
    return 128 + number
