"""Which instructions a row is about: an index of points by what their columns say.

A set of points is an integer, a bit for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import product

from ..spec.errors import InputError
from .columns import INSTRUCTION, Values, is_pattern
from .vocabulary import Cells, Point, Vocabulary

MOST_CLAIMS = 20_000
"""How many combinations of listed values one row may have."""


class Index:
    """The points of an instruction set by column and value.

    Parameters
    ----------
    words : Vocabulary
        Of the instruction set.
    """

    def __init__(self, words: Vocabulary) -> None:
        self.points = tuple(words.points)
        self.everything = (1 << len(self.points)) - 1
        self._sets: dict[str, dict[str, int]] = {}
        for number, point in enumerate(self.points):
            for column, value in point.cells.items():
                values = self._sets.setdefault(column, {})
                values[value] = values.get(value, 0) | 1 << number

    def has(self, column: str) -> bool:
        """Whether any point says something in a column."""
        return column in self._sets

    def matching(self, cells: Mapping[str, str]) -> int:
        """Return the points that have the cells; columns that no point has are not looked at."""
        found = self.everything
        for column, value in cells.items():
            if column in self._sets:
                found &= self._of(column, value)
        return found

    def _of(self, column: str, value: str) -> int:
        values = self._sets[column]
        if not is_pattern(value):
            return values.get(value, 0)
        found = 0
        for each, points in values.items():
            if fnmatchcase(each, value):
                found |= points
        if not found and column == INSTRUCTION:  # a pattern of the whole text
            found = sum(1 << n for n, point in enumerate(self.points) if fnmatchcase(point.text, value))
        return found

    def listed(self, points: int) -> Iterator[Point]:
        """Yield the points of a set."""
        while points:
            lowest = points & -points
            yield self.points[lowest.bit_length() - 1]
            points ^= lowest

    def groups(self, cells: Mapping[str, str]) -> list[tuple[Cells, list[Point]]]:
        """Return the points that have the cells, apart by what they have where a cell is a pattern."""
        patterns = [column for column, value in cells.items() if is_pattern(value)]
        grouped: dict[Values, list[Point]] = {}
        for point in self.listed(self.matching(cells)):
            grouped.setdefault(tuple(_value(point, c, cells[c]) for c in patterns), []).append(point)
        return [({**cells, **dict(zip(patterns, key, strict=True))}, found) for key, found in grouped.items()]


def _value(point: Point, column: str, pattern: str) -> str:
    value = point.cells[column]
    return value if fnmatchcase(value, pattern) else point.text


@lru_cache(maxsize=4)
def index(words: Vocabulary) -> Index:
    """Return the index of an instruction set."""
    return Index(words)


def combinations(cells: Mapping[str, Values]) -> Iterator[dict[str, str]]:
    """Yield every combination of listed values.

    Raises
    ------
    InputError
        If there are more than `MOST_CLAIMS`.
    """
    total = 1
    for values in cells.values():
        total *= len(values)
    if total > MOST_CLAIMS:
        raise InputError(f"the row lists {total} combinations; at most {MOST_CLAIMS} are judged")
    return (dict(zip(cells, chosen, strict=True)) for chosen in product(*cells.values()))
