"""A verification as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..refinement.output_comparison import OutputStatus
from ..refinement.verification import Verification

CELLS = 256
"""Rows and columns of an output that are drawn at most."""

CONTEXT = 2
"""Source lines shown before and after a finding's."""


class Cell(NamedTuple):
    """A run of neighbouring elements of a row that are alike: where it begins, how long, and what."""

    row: int
    column: int
    length: int
    status: str


class Tile(NamedTuple):
    """An output to draw."""

    name: str
    rows: int
    columns: int
    cells: list[Cell]
    cut: bool


def render(found: Verification) -> str:
    """Return the text of the page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(__package__, package_path=""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("verify.html.j2")
    instances = [
        (str(instance), [_tile(status) for status in examination.outputs])
        for instance, examination in found.examinations
    ]
    return (
        page.render(
            result=found.result,
            contract=_text(Path(found.result.contract)),
            instances=instances,
            counterexample=found.counterexample,
            sources={line: list(_excerpt(found.result.kernel, line)) for line in _lines(found)},
        )
        + "\n"
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _lines(found: Verification) -> set[int]:
    return {finding.line for finding in found.result.findings if finding.line}


def _excerpt(kernel: str, line: int) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines around a finding."""
    lines = _text(Path(kernel)).splitlines()
    for number in range(max(1, line - CONTEXT), min(len(lines), line + CONTEXT) + 1):
        yield number, lines[number - 1]


def _tile(status: OutputStatus) -> Tile:
    """Return an output as rows and columns: leading axes one below the other."""
    columns = status.right.shape[-1] if status.right.ndim else 1
    right, written = (array.reshape(-1, columns) for array in (status.right, status.written))
    names = np.where(~written, "missing", np.where(right, "right", "wrong"))[:CELLS, :CELLS]
    cells = []
    for row, line in enumerate(names):
        starts = [0, *(np.flatnonzero(line[1:] != line[:-1]) + 1)]
        for start, end in zip(starts, [*starts[1:], len(line)], strict=True):
            cells.append(Cell(row, int(start), int(end - start), str(line[start])))
    rows, drawn = names.shape
    return Tile(status.name, rows, drawn, cells, right.shape != names.shape)
