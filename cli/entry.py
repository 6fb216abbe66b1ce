"""The process ``mmaproof``: ends in one line and a documented status, also while it still imports."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn

from .signals import Stopped, end_on_signals, ignore_signals


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with one of `ExitCode`.

    Parameters
    ----------
    arguments : sequence of str, optional
        Instead of ``sys.argv[1:]``.
    """
    try:
        end_on_signals()
        _open_missing_streams()
        if not sys.warnoptions:
            warnings.simplefilter("ignore")  # a library's warning is not for who runs a command
        from .app import status

        ending = status(sys.argv[1:] if arguments is None else arguments)
    except Stopped as reason:  # between two instructions of ours, or while the command line is imported
        ignore_signals()
        from .endings import ended

        ending = ended(reason)
    if ending > 128:
        os._exit(ending)  # nothing that Python does at its end may hold up who asked for it
    sys.exit(ending)


def _open_missing_streams() -> None:
    """Open what the caller has closed (``>&-``), so that no other file becomes standard output."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
