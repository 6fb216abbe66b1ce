"""The one error tree of mmaproof."""

from __future__ import annotations


class MmaproofError(Exception):
    """Base of every error mmaproof raises on purpose; its text is the whole message for the user."""


class InputError(MmaproofError, ValueError):
    """A value from outside is wrong: the text names the value, what was allowed, and where it stood.

    Parameters
    ----------
    message : str
        What was wrong and what is allowed.
    where : str, optional
        ``file:line`` or ``file`` the value came from; printed in front of the message.
    """

    def __init__(self, message: str, where: str | None = None) -> None:
        self.where = where
        super().__init__(message if where is None else f"{where}: {message}")


class UnsupportedError(MmaproofError):
    """A question that is well formed but that this algebra, solver or front end can't answer."""


class DefectError(MmaproofError):
    """Two ways by which mmaproof knows one thing disagree: the fault is its own, not the user's."""


class OutOfBudget(BaseException):
    """The time or the memory that a command may take is used up; the text says while doing what.

    Not an `Exception`: whoever takes a failure for an answer must not take this one.
    """
