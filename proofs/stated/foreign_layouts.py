"""What layouts in the notations of CuTe and Triton map to, point by point.

Sources: CUTLASS, media/docs/cute/01_layout.md (a coordinate is split over its shape, the first part fastest,
and the parts times their strides are added) and include/cute/swizzle.hpp; Triton, LinearLayout.h (the image
of a number is the xor of the vectors of its bits).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from functools import cache
from math import prod

Tree = int | tuple["Tree", ...]
Bases = Mapping[str, Sequence[Sequence[int]]]


def size(shape: Tree) -> int:
    """Return how many coordinates a shape has."""
    return shape if isinstance(shape, int) else prod(map(size, shape))


def index(coordinate: int, shape: Tree, stride: Tree) -> int:
    """Return where a layout maps a coordinate that is one number."""
    if isinstance(shape, int):
        assert isinstance(stride, int)
        return coordinate * stride
    assert not isinstance(stride, int)
    found = 0
    for part, step in zip(shape, stride, strict=True):
        coordinate, digit = divmod(coordinate, size(part))
        found += index(digit, part, step)
    return found


def swizzled(bits: int, base: int, shift: int, offset: int) -> int:
    """Return where ``Swizzle<B,M,S>`` moves an offset: B bits are xored S places further down, or up."""
    for bit in range(bits):
        high, low = base + bit + max(shift, 0), base + bit + max(-shift, 0)
        offset ^= (offset >> high & 1) << low
    return offset


@cache
def cute(text: str) -> tuple[Tree, Tree]:
    """Return the shape and the stride of a layout as CuTe prints it, ``((4,8),2):((16,1),8)``."""
    shape, _, stride = text.partition(":")
    return ast.literal_eval(shape), ast.literal_eval(stride)


def linear(text: str) -> Bases:
    """Return the vectors of ``{register = [[0, 1]], lane = [[0, 2]]}``."""
    written = re.findall(r"(\w+) = (\[(?:\[[^\[\]]*\](?:, )?)*\])", text)
    return {name: ast.literal_eval(basis) for name, basis in written}


def image(bases: Bases, holders: Mapping[str, int], rank: int) -> tuple[int, ...]:
    """Return the coordinates that vectors give to numbers of holders."""
    found = [0] * rank
    for name, number in holders.items():
        for bit, vector in enumerate(bases[name]):
            if number >> bit & 1:
                found = [place ^ step for place, step in zip(found, vector, strict=True)]
    return tuple(found)


def verdict(images: Sequence[int], extent: int) -> str:
    """Return what a map of as many points as elements is, if it is not the one that is due."""
    if min(images) < 0 or max(images) >= extent:
        return "out-of-range"
    return "collision" if len(set(images)) < len(images) else "other-bijection"
