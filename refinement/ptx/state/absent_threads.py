"""Instructions that wait for threads of the warp that are elsewhere."""

from __future__ import annotations

from collections.abc import Collection

from ....spec.errors import UnsupportedError


class AbsentThreadsError(UnsupportedError):
    """An instruction needs threads of its warp that have not come to it.

    Parameters
    ----------
    message : str
        What is not modelled if they never do.
    absent : collection of int
        These threads.
    """

    def __init__(self, message: str, absent: Collection[int]) -> None:
        super().__init__(message)
        self.absent = frozenset(absent)
