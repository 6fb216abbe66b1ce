r"""Tables as documents print them: the first line names the columns.

In a file they are TSV, for whoever reads no Python: a tab between cells, and the last column is where a row
is from. A tab or the end of a line inside of a cell is written ``\t`` or ``\n``. In a text, bars are between
cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

SOURCE = "source"
"""The column of where a row is from."""


def table(package: str, name: str) -> list[dict[str, str]]:
    """Return the rows of ``NAME.tsv`` in a package by the names of the columns, without their sources.

    Raises
    ------
    ValueError
        If a row has not as many cells as there are columns.
    """
    text = files(package).joinpath(f"{name}.tsv").read_text(encoding="utf-8")
    names, *found = [
        [cell.replace(r"\t", "\t").replace(r"\n", "\n") for cell in line.split("\t")]
        for line in text.splitlines()
    ]
    read = (dict(zip(names, cells, strict=True)) for cells in found)
    return [{name: cell for name, cell in row.items() if name != SOURCE} for row in read]


def rows(text: str) -> list[dict[str, str]]:
    """Return the rows of a table by the names of the columns.

    Raises
    ------
    ValueError
        If a row has not as many cells as there are columns.
    """
    names, *found = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
    return [dict(zip(names, cells, strict=True)) for cells in found]


def bits(ranges: str) -> Iterator[int]:
    """Yield the numbers of ``29 11-15``: single ones and ranges, in their order."""
    for part in ranges.split():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)
