"""Tables as documents print them: the first line names the columns, bars are between cells."""

from __future__ import annotations

from collections.abc import Iterator


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
