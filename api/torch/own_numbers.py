"""Arrays that the host's process leaves of a reference at the problem's own sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

DRAWS = (
    "with what get_inputs() gives after torch.manual_seed(1)",
    "with what get_inputs() gives after torch.manual_seed(2) and 4 times as great numbers",
    "with the magnitudes of weights and of what get_inputs() gives after torch.manual_seed(1)",
    "with the magnitudes of what get_inputs() gives after torch.manual_seed(2) and the opposites of those of "
    "weights that are matrices, or else of all weights, or of the inputs where there are none",
    "with the numbers of a counterexample at smaller sizes, repeated along every axis",
)
"""What the draws of inputs are."""

OF_SIZES, OF_ONE_SIGN, REPEATED = (0, 1), (2, 3), (4, 5)
"""Draws that are run together; of a counterexample there is one."""

COUNTEREXAMPLE = "counterexample.npz"
"""The file of its inputs and weights, by their names in contracts."""


@dataclass(frozen=True)
class Numbers:
    """Arrays that the host's process left.

    Attributes
    ----------
    folder : Path
        Of the files.
    files : mapping of str to (str, str)
        The file and the type of each.
    """

    folder: Path
    files: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def array(self, name: str) -> Any:
        """Return an array, None where there is none; its file is read where it is looked at."""
        if name not in self.files:
            return None
        return np.load(self.folder / self.files[name][0], mmap_mode="c", allow_pickle=False)

    def dtype(self, name: str) -> str:
        """Return the type of an array."""
        return self.files[name][1]

    def has_draw(self, draw: int) -> bool:
        """Tell whether there are results of a draw."""
        return f"{draw} result 0" in self.files
