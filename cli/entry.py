"""The process ``mmaproof``: ends in one line and a documented status, also while it still imports."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn

from .deferred_numpy import defer_numpy
from .signals import end_on_signals, ignore_signals


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with one of `ExitCode`.

    Parameters
    ----------
    arguments : sequence of str, optional
        Instead of ``sys.argv[1:]``.
    """
    given = sys.argv[1:] if arguments is None else arguments
    try:
        end_on_signals()
        _open_missing_streams()
        if not sys.warnoptions:
            warnings.simplefilter("ignore")  # a library's warning is not for who runs a command
        defer_numpy()
        from .app import status

        ending = status(given)
    except BaseException as reason:  # while the command line is imported, or a signal after its end
        ignore_signals()
        ending = _ended(reason, given)
    if ending > 128:
        os._exit(ending)  # nothing that Python does at its end may hold up who asked for it
    sys.exit(ending)


def _ended(reason: BaseException, arguments: Sequence[str]) -> int:
    try:
        from .endings import ended

        return ended(reason, arguments)
    except Exception as failure:  # an installation of which a part is missing
        said = " ".join(f"{type(failure).__name__}: {failure}".split())
        print(f"mmaproof: error: defect of mmaproof: {said}", file=sys.stderr)
        return 4


def _open_missing_streams() -> None:
    """Open what the caller has closed (``>&-``), so that no other file becomes standard output."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
