"""Compact descriptions of sets of elements, by index or by who stores them: ``odd j``, ``warp 3``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_AXES = "ijkl"


def described(members: NDArray[np.bool_]) -> str:
    """Describe which elements of an array (of any shape) are meant, if a few words do.

    Returns
    -------
    str
        Empty where it is all of them, or no set of indices on each axis.
    """
    if members.ndim > len(_AXES) or members.all() or not members.any():
        return ""
    axes = [
        np.asarray(members.any(axis=tuple(other for other in range(members.ndim) if other != axis)))
        for axis in range(members.ndim)
    ]
    if members.sum() != np.prod([used.sum() for used in axes]):
        return ""
    spelled = [_indices(_AXES[axis], used) for axis, used in enumerate(axes) if not used.all()]
    return ", ".join(spelled) if all(spelled) else ""


def _indices(axis: str, used: NDArray[np.bool_]) -> str:
    """Describe some indices of an axis; nothing where that takes too many words."""
    found = np.flatnonzero(used)
    first, last = int(found[0]), int(found[-1])
    if first == last:
        return f"{axis} = {first}"
    if last - first + 1 == len(found):
        return f"{axis} from {first} to {last}"
    numbers = np.arange(len(used))
    period = 2
    while period <= len(used):
        within = np.unique(found % period)
        contiguous = int(within[-1]) - int(within[0]) + 1 == len(within)
        if contiguous and len(within) < period and (used == np.isin(numbers % period, within)).all():
            if period == 2:
                return f"{'odd' if within[0] else 'even'} {axis}"
            low, high = int(within[0]), int(within[-1])
            return f"{axis} mod {period} " + (f"from {low} to {high}" if high > low else f"= {low}")
        period *= 2
    return ""


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
