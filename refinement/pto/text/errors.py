"""Exceptions that end the run of a kernel early."""

from __future__ import annotations

from ...findings.finding import Kind


class EndedError(Exception):
    """A run that cannot continue.

    Parameters
    ----------
    kind : Kind
        Of the finding that says why.
    message : str
        Its message.
    line : int
        Its line; 0 for that of the statement that is run.
    depends : int, optional
        The term that a branch, an extent or an address depends on.
    """

    def __init__(self, kind: Kind, message: str, line: int = 0, depends: int | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.line, self.depends = kind, message, line, depends


def unsupported(message: str) -> EndedError:
    """Return the end of a run at what is not modelled."""
    return EndedError(Kind.UNSUPPORTED, message)


def illegal(message: str) -> EndedError:
    """Return the end of a run at what no PTO text may say."""
    return EndedError(Kind.ILLEGAL, message)
