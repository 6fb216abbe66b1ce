"""What somebody knows to be over: which intervals of which warps, by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Knowledge = Mapping[int, NDArray[np.int32]]
"""By block of the grid: of each of its warps the intervals below this are over.

Words that are waited for have negative numbers: of their values, as many are known to have been written.
"""


def joined(parts: Sequence[Knowledge]) -> Knowledge:
    """Return what any of several know."""
    if len(parts) == 1:
        return parts[0]
    found: dict[int, NDArray[np.int32]] = {}
    for each in parts:
        for name, over in each.items():
            found[name] = np.maximum(found[name], over) if name in found else over
    return found
