"""How a command ends that did not get to its own end: one line, one status, and a report of a defect."""

from __future__ import annotations

import os
import platform
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

from ..spec.errors import DefectError, MmaproofError, OutOfBudget, UnsupportedError
from ..version import __version__
from . import budget
from .exit_codes import BROKEN_PIPE, ExitCode, of_signal
from .output import error
from .signals import Stopped

CRASH_REPORT = "MMAPROOF_CRASH_REPORT"
"""Environment variable: the file to which a defect is reported."""

UsageError: Any = typer.BadParameter.__base__
"""Typer's class of wrong arguments: Click's until 0.2x, its own copy since."""


def ended(reason: BaseException, arguments: Sequence[str] = ()) -> int:
    """Say in one line why a command ended early.

    Parameters
    ----------
    reason : exception
        What came out of it.
    arguments : sequence of str
        The command line, for a report.

    Returns
    -------
    int
        The exit status.
    """
    if (signal := _signal(reason)) is not None:
        return _said(str(signal), of_signal(signal.number))
    match reason:
        case typer.Exit():
            return int(reason.exit_code)
        case UsageError():
            context = getattr(reason, "ctx", None)
            command = context.command_path if context else "mmaproof"
            return _said(f"{reason.format_message()} (see {command} --help)", ExitCode.WRONG_USE)
        case OutOfBudget() | UnsupportedError():
            return _said(str(reason), ExitCode.UNDECIDED)
        case MemoryError():
            return _said(f"out of memory while {budget.activity()}", ExitCode.UNDECIDED)
        case RecursionError():
            return _said(f"nested too deeply: gave up while {budget.activity()}", ExitCode.UNDECIDED)
        case MmaproofError() if not isinstance(reason, DefectError):
            return _said(str(reason), ExitCode.WRONG_USE)
        case BrokenPipeError():
            _discard_output()
            return BROKEN_PIPE
        case OSError():
            _discard_output()
            named = reason.filename is not None or reason.strerror is None
            return _said(str(reason) if named else f"can't write: {reason.strerror}", ExitCode.WRONG_USE)
    return _defect(reason, arguments)


def _said(message: str, status: int) -> int:
    error(message)
    return status


def _signal(reason: BaseException) -> Stopped | None:
    """Return the signal behind an exception; a library may have turned it into another while it loads."""
    for base_exception in _chain(reason):
        if isinstance(base_exception, KeyboardInterrupt):
            return base_exception if isinstance(base_exception, Stopped) else Stopped()
    return Stopped() if isinstance(reason, typer.Abort) else None


def _chain(reason: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while reason is not None and id(reason) not in seen:
        seen.add(id(reason))
        yield reason
        reason = reason.__cause__ or reason.__context__


def _defect(reason: BaseException, arguments: Sequence[str]) -> int:
    said = str(reason) if isinstance(reason, DefectError) else f"{type(reason).__name__}: {reason}"
    report = os.environ.get(CRASH_REPORT)
    hint = f"{report} has a report" if report else f"set {CRASH_REPORT}=FILE for a report"
    if report and (failure := _write_report(Path(report), reason, arguments)):
        hint = f"no report: {failure}"
    return _said(f"defect of mmaproof: {said}{_place(reason)}; {hint}", ExitCode.DEFECT)


def _place(reason: BaseException) -> str:
    """Return the innermost line of mmaproof that an exception came through."""
    package = Path(__file__).parent.parent.name
    for frame in reversed(traceback.extract_tb(reason.__traceback__)):
        parts = Path(frame.filename).parts
        if package in parts[:-1]:
            within = parts[len(parts) - parts[::-1].index(package) :]
            return f" ({'/'.join(within)}:{frame.lineno})"
    return ""


def _write_report(path: Path, reason: BaseException, arguments: Sequence[str]) -> str:
    """Write the report; returns why not, empty when it is written."""
    lines = [
        f"mmaproof {__version__}, Python {platform.python_version()} on {platform.platform()}",
        f"arguments: {list(arguments)!r}",
        f"while {budget.activity()}",
        "",
        *traceback.format_exception(reason),
    ]
    try:
        path.write_text("\n".join(lines), encoding="utf-8", errors="backslashreplace")
    except OSError as failure:
        return str(failure)
    return ""


def _discard_output() -> None:
    """Let what is still buffered for standard output go nowhere."""
    with suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
