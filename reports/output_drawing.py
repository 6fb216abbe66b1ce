"""Outputs of a kernel, element by element, as pages draw them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..refinement.findings.output_status import OutputStatus

CELLS = 256
"""Rows and columns of an output that are drawn at most."""


class Stretch(NamedTuple):
    """A run of neighbouring elements of a row that are alike: where it begins, how long, and what."""

    row: int
    column: int
    length: int
    status: str


class Drawing(NamedTuple):
    """An output to draw."""

    name: str
    rows: int
    columns: int
    cells: list[Stretch]
    cut: bool


def drawn(status: OutputStatus) -> Drawing:
    """Return an output as rows and columns: leading axes one below the other."""
    columns = status.right.shape[-1] if status.right.ndim else 1
    right, written = (array.reshape(-1, columns) for array in (status.right, status.written))
    names = np.where(~written, "missing", np.where(right, "right", "wrong"))[:CELLS, :CELLS]
    cells = []
    for row, line in enumerate(names):
        starts = [0, *(np.flatnonzero(line[1:] != line[:-1]) + 1)]
        for start, end in zip(starts, [*starts[1:], len(line)], strict=True):
            cells.append(Stretch(row, int(start), int(end - start), str(line[start])))
    rows, drawn = names.shape
    return Drawing(status.name, rows, drawn, cells, right.shape != names.shape)
