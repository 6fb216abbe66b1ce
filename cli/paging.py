"""A pager for what is longer than the terminal; never where nobody looks."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Annotated

import typer

NoPager = Annotated[
    bool, typer.Option("--no-pager", help="Print everything at once, on a terminal too (as NO_PAGER=1 does).")
]
"""The option of commands whose output may be long."""


class _Screen(io.StringIO):
    """Text for a terminal, kept until its length is known."""

    def isatty(self) -> bool:
        """Say yes: it is drawn as for a terminal."""
        return True


@contextmanager
def paged(*, wanted: bool = True) -> Iterator[None]:
    """Show what is printed in a pager, where it goes to a terminal that it does not fit on.

    The pager is ``$PAGER``, or ``less``; there is none where ``PAGER`` is empty or ``NO_PAGER`` is set.
    """
    command = _pager() if wanted and sys.stdout.isatty() else ""
    if not command:
        yield
        return
    screen = _Screen()
    try:
        with redirect_stdout(screen):
            yield
    finally:
        _show(screen.getvalue(), command)


def _pager() -> str:
    if os.name != "posix" or os.environ.get("NO_PAGER") or os.environ.get("TERM") == "dumb":
        return ""
    return os.environ.get("PAGER", "less" if shutil.which("less") else "")


def _show(text: str, command: str) -> None:
    if text.count("\n") < shutil.get_terminal_size().lines:
        sys.stdout.write(text)
        return
    environment = {"LESS": "FRX", **os.environ}  # colours; what it showed stays
    sys.stdout.flush()
    # The user's own words, which a shell reads, as git and man do; what is shown goes through a pipe.
    shown = text.encode(sys.stdout.encoding or "utf-8", "backslashreplace")
    with _left_to_the_pager(), suppress(BrokenPipeError):
        subprocess.run(command, shell=True, input=shown, env=environment, check=False)


@contextmanager
def _left_to_the_pager() -> Iterator[None]:
    """Have Ctrl-C end what the pager does, not the command under it."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
