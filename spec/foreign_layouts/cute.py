"""CuTe's layouts and swizzles: nested shapes and strides, ``((4,8),2):((16,1),8)``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ..algebra import Array
from ..layout import Axis, Digit, Layout

Tree = int | tuple["Tree", ...]
"""A nested tuple of integers."""


@dataclass(frozen=True)
class CuteLayout:
    """A shape and a stride, nested alike or not.

    Attributes
    ----------
    shape : nested tuple of int
        Extents.
    stride : nested tuple of int
        Steps.
    """

    shape: Tree
    stride: Tree

    def __str__(self) -> str:
        return f"{spell(self.shape)}:{spell(self.stride)}"

    @property
    def size(self) -> int:
        """How many points it has."""
        return prod(leaves(self.shape))

    @property
    def congruent(self) -> bool:
        """Whether shape and stride are nested alike."""
        return _congruent(self.shape, self.stride)

    @property
    def modes(self) -> tuple[CuteLayout, ...]:
        """The layouts of the outermost coordinates; the layout itself where there is one."""
        if isinstance(self.shape, int) or isinstance(self.stride, int):
            return (self,)
        return tuple(CuteLayout(*pair) for pair in zip(self.shape, self.stride, strict=True))

    def layout(self) -> Layout:
        """Return the map from the outermost coordinates to the index."""
        digits, axes = [], []
        for place, mode in enumerate(self.modes):
            weight = 1
            for extent, step in zip(leaves(mode.shape), leaves(mode.stride), strict=True):
                digits.append(Digit(place, weight, extent, (step,)))
                weight *= extent
            axes.append(Axis(f"coordinate {place}", weight))
        return Layout(str(self), tuple(axes), (Axis("index", self.size),), tuple(digits), carries=True)

    def grid(self) -> Array:
        """Return the index of all outermost coordinates, an array of as many axes."""
        return self.layout().images()[..., 0]

    def image(self) -> Array:
        """Return the index of every point (size,), the first coordinate fastest."""
        return self.grid().ravel(order="F")


@dataclass(frozen=True)
class Swizzle:
    """``Swizzle<B,M,S>``: B bits of an offset, M + S from the bottom, are added (xor) S bits further down.

    Attributes
    ----------
    bits, base, shift : int
        B, M and S; a negative S adds further up.
    """

    bits: int
    base: int
    shift: int

    def __str__(self) -> str:
        return f"Swizzle<{self.bits},{self.base},{self.shift}>"

    def __call__(self, offset: Array) -> Array:
        """Return where the elements at offsets (…) go."""
        picked: Array = offset & (((1 << self.bits) - 1) << (self.base + max(0, self.shift)))
        moved = picked >> self.shift if self.shift >= 0 else picked << -self.shift
        swizzled: Array = offset ^ moved
        return swizzled


@dataclass(frozen=True)
class Composed:
    """A layout, then an offset added, then a swizzle.

    Attributes
    ----------
    layout : CuteLayout
        What is applied first.
    offset : int
        Added to its index.
    swizzle : Swizzle, optional
        Applied last.
    """

    layout: CuteLayout
    offset: int
    swizzle: Swizzle | None

    def __str__(self) -> str:
        before = f"{self.swizzle} o " if self.swizzle else ""
        between = f"{self.offset} o " if self.offset else ""
        return f"{before}{between}{self.layout}"

    def __call__(self, index: Array) -> Array:
        """Return the offset of indices (…) of the layout."""
        moved = index + self.offset
        return self.swizzle(moved) if self.swizzle else moved


def leaves(tree: Tree) -> list[int]:
    """Return the integers of a tree from left to right."""
    return [tree] if isinstance(tree, int) else [leaf for branch in tree for leaf in leaves(branch)]


def spell(tree: Tree) -> str:
    """Write a tree as CuTe prints it."""
    return str(tree) if isinstance(tree, int) else f"({','.join(map(spell, tree))})"


def nested_as(profile: Tree, values: Sequence[int]) -> Tree:
    """Return values nested as a profile is."""
    remaining = iter(values)

    def nest(tree: Tree) -> Tree:
        return next(remaining) if isinstance(tree, int) else tuple(nest(branch) for branch in tree)

    return nest(profile)


def compact(shape: Tree) -> Tree:
    """Return the strides that CuTe gives a shape without strides: the first coordinate is contiguous."""
    extents = leaves(shape)
    return nested_as(shape, [prod(extents[:place]) for place in range(len(extents))])


def _congruent(shape: Tree, stride: Tree) -> bool:
    if isinstance(shape, int) or isinstance(stride, int):
        return isinstance(shape, int) and isinstance(stride, int)
    return len(shape) == len(stride) and all(map(_congruent, shape, stride))
