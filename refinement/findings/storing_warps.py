"""Elements of an output by the warps that store them: ``warp 3 of each block``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

WARP = 32
"""Threads of a warp."""


def stored_by(writers: NDArray[np.int64], members: NDArray[np.bool_], block_threads: int) -> str:
    """Describe elements by who stores them, if they are all that some warps of each block store.

    Parameters
    ----------
    writers : array (elements,)
        Who stores each element, by the thread's number in the grid; -1 if nobody does.
    members : bool array (elements,)
        Which elements are meant.
    block_threads : int
        Numbers of threads that each block has: whole warps, where there are any.

    Returns
    -------
    str
        Empty where they are not, or are those of all warps.
    """
    if block_threads < WARP or block_threads % WARP or not members.any() or (writers[members] < 0).any():
        return ""
    warps = np.where(writers < 0, -1, writers % block_threads // WARP)
    those = np.unique(warps[members])
    if not (np.isin(warps, those) == members).all() or len(those) == len(np.unique(warps[writers >= 0])):
        return ""
    return f"what {spelled(those.tolist())} of each block {'stores' if len(those) == 1 else 'store'}"


def spelled(warps: Sequence[int]) -> str:
    """Spell the numbers of warps, in their order: ``warps 1 to 3``."""
    first, last = warps[0], warps[-1]
    if first == last:
        return f"warp {first}"
    if last - first + 1 == len(warps):
        return f"warps {first} to {last}"
    return f"warps {', '.join(map(str, warps[:-1]))} and {last}"
