"""Instructions that wait for threads of the warp that are elsewhere."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import UnsupportedError
from ..registers.threads import WARP, Indices
from ..text.module import InstructionStatement


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


def require_all(
    instruction: InstructionStatement, some: Indices, alive: NDArray[np.bool_], elsewhere: frozenset[int]
) -> None:
    """Let some threads of warps wait for the others, if these wait for something else.

    Parameters
    ----------
    instruction : InstructionStatement
        What all are to execute.
    some : array
        Who does.
    alive : bool array
        Which of all threads have not ended.
    elsewhere : frozenset of int
        Which wait for something else.

    Raises
    ------
    AbsentThreadsError
        If the others do.
    """
    if elsewhere:
        threads = np.unique(some // WARP)[:, None] * WARP + np.arange(WARP)
        absent = np.setdiff1d(threads[alive[threads]], some).tolist()
        if absent and elsewhere.issuperset(absent):
            raise AbsentThreadsError(f"{instruction.mnemonic} of some of a warp's threads", absent)
