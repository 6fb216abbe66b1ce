"""The status of each output element at one set of sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class OutputStatus:
    """What is known about the elements of one output.

    Attributes
    ----------
    name : str
        The output.
    right, written : array (shape)
        Which elements are what the contract says, and which the kernel wrote.
    """

    name: str
    right: NDArray[np.bool_]
    written: NDArray[np.bool_]
