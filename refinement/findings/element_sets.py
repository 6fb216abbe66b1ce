"""Compact descriptions of sets of elements: ``i from 8 to 15, odd j``."""

from __future__ import annotations

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
