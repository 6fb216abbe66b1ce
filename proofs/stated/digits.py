"""Maps between index spaces by their digits: what each digit of a point adds to its image.

A digit is ``coordinate // weight % extent``. Its image is multiplied with it; images are added where the map
carries, and xored where it does not, as the origin is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

Axes = tuple[tuple[str, int], ...]
Point = tuple[int, ...]


class DigitMap(NamedTuple):
    """A map by its digits.

    Attributes
    ----------
    source, target : tuple of (str, int)
        Names and extents of the coordinates.
    digits : tuple of (axis, weight, extent, image)
        Of the source.
    one_to_one : bool
        Whether every point of the target is the image of exactly one.
    origin : tuple of int
        The image of the first point.
    carries : bool
        Whether images are added.
    """

    source: Axes
    target: Axes
    digits: tuple[tuple[int, int, int, Point], ...]
    one_to_one: bool
    origin: Point = ()
    carries: bool = False

    def points(self) -> Iterator[Point]:
        """Yield the points of the source in order."""
        return product(*(range(extent) for _, extent in self.source))

    def last(self) -> Point:
        """Return the last of them."""
        return tuple(extent - 1 for _, extent in self.source)

    def image(self, point: Point) -> Point:
        """Return where a point goes."""
        found = list(self.origin or (0,) * len(self.target))
        for axis, weight, extent, image in self.digits:
            digit = point[axis] // weight % extent
            for place, step in enumerate(image):
                found[place] = found[place] + digit * step if self.carries else found[place] ^ digit * step
        return tuple(found)


_SQUARE: Axes = (("row", 8), ("column", 8))
_BITS = tuple((axis, 1 << bit) for axis in (0, 1) for bit in range(3))

MAPS: Mapping[str, DigitMap] = {
    "bits that move": DigitMap(
        (("lane", 8), ("i", 4)), (("row", 4), ("column", 8)),
        ((0, 1, 2, (0, 2)), (0, 2, 2, (0, 4)), (0, 4, 2, (1, 0)), (1, 1, 2, (0, 1)), (1, 2, 2, (2, 0))), True,
    ),
    "bits that stay": DigitMap(
        (("lane", 16),), (("row", 2), ("column", 8)),
        ((0, 1, 2, (1, 0)), (0, 2, 2, (0, 2)), (0, 4, 2, (0, 4)), (0, 8, 2, (0, 1))), True,
    ),
    "all that stays": DigitMap(
        _SQUARE, _SQUARE,
        tuple((axis, step, 2, (step, 0) if axis == 0 else (0, step)) for axis, step in _BITS), True,
    ),
    "one coordinate": DigitMap(
        (("row", 4), ("column", 2)), (("number", 8), ("rest", 1)),
        ((0, 1, 2, (2, 0)), (0, 2, 2, (4, 0)), (1, 1, 2, (1, 0))), True,
    ),
    "bits that meet": DigitMap(
        _SQUARE, _SQUARE,
        tuple((axis, step, 2, (step, step) if axis == 0 else (0, step)) for axis, step in _BITS), True,
    ),
    "bits that are flipped": DigitMap(
        _SQUARE, (("column", 8), ("row", 8)),
        tuple((axis, step, 2, (0, step) if axis == 0 else (step, 0)) for axis, step in _BITS), True, (5, 2),
    ),
    "bits that meet and are flipped": DigitMap(
        _SQUARE, (("number", 64),),
        ((0, 1, 2, (9,)), (0, 2, 2, (18,)), (0, 4, 2, (32,)), (1, 1, 2, (1,)), (1, 2, 2, (2,)),
         (1, 4, 2, (4 | 16,))), True, (33,),
    ),
    "a sum of three": DigitMap(
        (("number", 8),), (("number", 8),), ((0, 1, 2, (7,)), (0, 2, 2, (2,)), (0, 4, 2, (6,))), True,
    ),
    "a pitch": DigitMap(
        (("row", 6), ("column", 4)), (("number", 24),), ((0, 1, 6, (1,)), (1, 1, 4, (6,))), True, carries=True
    ),
    "three radices": DigitMap(
        (("number", 30),), (("x", 5), ("y", 6)), ((0, 1, 2, (0, 3)), (0, 2, 5, (1, 0)), (0, 10, 3, (0, 1))),
        True, carries=True,
    ),
    "radices in two coordinates": DigitMap(
        (("block", 3), ("rest", 20)), (("row", 12), ("column", 5)),
        ((0, 1, 3, (4, 0)), (1, 1, 4, (1, 0)), (1, 4, 5, (0, 1))), True, carries=True,
    ),
    "one image for two": DigitMap(
        (("number", 8),), (("x", 2), ("y", 4)),
        ((0, 1, 2, (1, 1)), (0, 2, 2, (0, 2)), (0, 4, 2, (1, 3))), False,
    ),
    "other numbers of points": DigitMap(
        (("number", 8),), (("x", 4),), ((0, 1, 2, (1,)), (0, 2, 2, (2,)), (0, 4, 2, (0,))), False
    ),
    "more points than images": DigitMap(
        (("number", 6),), (("x", 12),), ((0, 1, 6, (2,)),), False, carries=True
    ),
    "a digit that is missing": DigitMap(
        (("number", 8),), (("x", 8),), ((0, 1, 2, (1,)), (0, 4, 2, (4,))), False
    ),
    "an image outside": DigitMap(
        (("number", 4),), (("x", 2), ("y", 2)), ((0, 1, 2, (0, 1)), (0, 2, 2, (2, 0))), False
    ),
    "a way along two coordinates": DigitMap(
        (("number", 9),), (("x", 3), ("y", 3)), ((0, 1, 3, (1, 1)), (0, 3, 3, (1, 0))), False, carries=True
    ),
    "strides that meet": DigitMap(
        (("x", 3), ("y", 4)), (("number", 12),), ((0, 1, 3, (3,)), (1, 1, 4, (2,))), False, carries=True
    ),
}  # fmt: skip
"""Maps of every kind."""

FORMULAS: Mapping[str, str] = {
    "bits that move": "row = (lane >> 2) + (i & 2); column = 2·(lane & 3) + (i & 1)",
    "bits that stay": "row = lane & 1; column = (lane & 6) + (lane >> 3)",
    "all that stays": "row = row; column = column",
    "one coordinate": "number = 2·row + column; rest = 0",
    "bits that meet": "row = row; column = row ^ column",
    "bits that are flipped": "column = column ^ 5; row = row ^ 2",
    "bits that meet and are flipped": "number = ((row & 3) ^ 8·row ^ column ^ 16·(column >> 2)) ^ 33",
    "a sum of three": "number = number ^ 2·(number & 1) ^ 4·(number & 1) ^ 2·(number >> 2)",
    "a pitch": "number = row + 6·column",
    "three radices": "x = (number >> 1) % 5; y = 3·(number & 1) + (number // 10)",
    "radices in two coordinates": "row = 4·block + (rest & 3); column = rest >> 2",
    "a digit that is missing": "x = (number & 1) + (number & 4)",
    "an image outside": "x = number & 2; y = number & 1",
    "a way along two coordinates": "x = (number % 3) + (number // 3); y = number % 3",
    "strides that meet": "number = 3·x + 2·y",
}
"""As few shifts, masks and terms as there need be: neighbouring digits that move as far are one field."""

DEFECTS: Mapping[str, str] = {
    "one image for two": "the rank is 2, not 3",
    "other numbers of points": "8 points can't fill",
    "more points than images": "6 points can't fill",
    "a digit that is missing": "no digit continues the first 2 of 8 numbers",
    "an image outside": "an image has the x 2 of 2",
    "a way along two coordinates": "image=(1, 1)) does not move along one coordinate",
    "strides that meet": "no digit continues the first 1 of 12 numbers",
}
"""Why maps are no bijections: counted, the first step outside, digits that are missing on either side."""


def joined(point: Point, axes: Axes) -> int:
    """Return the number that coordinates are, the last one's digits the least significant."""
    number = 0
    for coordinate, (_, extent) in zip(point, axes, strict=True):
        number = number * extent + coordinate
    return number


def split(number: int, axes: Axes) -> Point:
    """Return the coordinates that a number is."""
    found = []
    for place in range(len(axes)):
        below = prod(extent for _, extent in axes[place + 1 :])
        found.append(number // below % axes[place][1])
    return tuple(found)


REGROUPED: Mapping[str, tuple[str, Axes, Axes]] = {
    "source as one": ("bits that move", (("number", 32),), (("row", 4), ("column", 8))),
    "target as one": ("bits that move", (("lane", 8), ("i", 4)), (("number", 32),)),
    "other halves": ("bits that meet", (("x", 4), ("y", 16)), (("u", 2), ("v", 4), ("w", 8))),
    "a coordinate of one point": ("all that stays", (("x", 1), ("y", 64)), (("u", 64), ("v", 1))),
    "flipped": ("bits that are flipped", (("number", 64),), (("number", 64),)),
    "radices": ("radices in two coordinates", (("x", 15), ("y", 4)), (("number", 60),)),
    "a digit across two": ("a pitch", (), (("number", 24),)),
}
"""Of a map: other coordinates of its source (none where a digit would lie across two) and target."""

ORDERS: Mapping[str, tuple[Axes, Axes, dict[str, int]]] = {
    "a b c -> c a b": ((("x", 4), ("y", 8)), (("u", 2), ("v", 16)), {"a": 4, "b": 4, "c": 2}),
    "a b c -> a b c": ((("x", 8), ("y", 4)), (("u", 32),), {"a": 2, "b": 8, "c": 2}),
    "a b -> b a": ((("x", 3), ("y", 5)), (("u", 5), ("v", 3)), {"a": 3, "b": 5}),
    "a b c d -> b d a c": (
        (("x", 6), ("y", 10)), (("u", 30), ("v", 2)), {"a": 2, "b": 3, "c": 2, "d": 5},
    ),
    "a b one -> one b a": ((("x", 3), ("y", 4)), (("u", 1), ("v", 12)), {"a": 3, "b": 4, "one": 1}),
    "a b -> a": ((("x", 2), ("y", 2)), (("u", 2), ("v", 2)), {"a": 2, "b": 2}),
    "b a -> a b": ((("x", 2), ("y", 4)), (("u", 2), ("v", 2)), {"a": 2, "b": 2}),
    "c a -> a c": ((("x", 2), ("y", 2)), (("u", 2), ("v", 4)), {"a": 2, "c": 2}),
    "c b a -> a b c": ((("x", 2), ("y", 2)), (("u", 2), ("v", 2)), {"a": 2, "b": 2, "c": 2}),
    "over full -> over full": ((("x", 2),), (("u", 4),), {"over": 2, "full": 2}),
    "half -> half": ((("x", 4),), (("u", 4),), {"half": 2}),
    "most m -> m most": ((("x", 12),), (("u", 2), ("v", 6)), {"most": 3, "m": 2}),
    "right -> right": ((("x", 2),), (("u", 4),), {"right": 2}),
    "p q -> q p": ((("x", 5), ("y", 3)), (("u", 5), ("v", 3)), {"p": 3, "q": 5}),
}  # fmt: skip
"""Coordinates and the digits that fill them, in the order of the source and of the target."""

UNFILLED = (
    "a b -> a", "b a -> a b", "c a -> a c", "c b a -> a b c", "over full -> over full", "half -> half",
    "most m -> m most", "right -> right", "p q -> q p",
)  # fmt: skip
"""Those that do not fill them, or are not the same ones."""


def reordered(order: str) -> list[Point] | None:
    """Return the images of all points, as numbers whose digits are written in another order."""
    if order in UNFILLED:
        return None
    source, target, extents = ORDERS[order]
    before, after = (names.split() for names in order.split("->"))
    found = []
    for number in range(prod(extent for _, extent in source)):
        of_source = split(number, tuple((name, extents[name]) for name in before))
        digits = dict(zip(before, of_source, strict=True))
        image = joined(tuple(digits[name] for name in after), tuple((name, extents[name]) for name in after))
        found.append(split(image, target))
    return found


def fields(word: int, low: int, container: int, bits: int, width: int) -> Sequence[int]:
    """Return the elements of a register, the first in the lowest bits."""
    return [word >> low + at & (1 << bits) - 1 for at in range(0, width, container)]
