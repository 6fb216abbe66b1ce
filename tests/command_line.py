"""Runs the command line inside the test process."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

from mmaproof.cli.app import main


@dataclass(frozen=True)
class Result:
    """What a command left behind: exit status, standard output and standard error."""

    status: int
    out: str
    err: str

    @property
    def wrong_use(self) -> bool:
        """Whether it ended as wrong use does: status 2, nothing printed, one line that says why."""
        one_line = self.err.startswith("mmaproof: error: ") and self.err.count("\n") == 1
        return self.status == 2 and not self.out and one_line


def mmaproof(*arguments: object, stdin: str | bytes = "") -> Result:
    data = stdin.encode() if isinstance(stdin, str) else stdin
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    status = None
    with (
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(data))),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ending:
            status = ending.code
    out.flush()
    err.flush()
    assert isinstance(status, int)
    return Result(status, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())
