"""Names of bytes of an array, including those that belong to no element."""

from __future__ import annotations

from dataclasses import dataclass

from .arguments import Array

_MATRIX = ("row", "column")


@dataclass(frozen=True)
class Place:
    """A byte's place, in terms of the array's elements.

    Attributes
    ----------
    array : Array
        The array.
    indices : tuple of int
        Of the element whose memory it would be, if extents had no end.
    between : bool
        Whether no indices lead there at all, so that these are those of an element before.
    """

    array: Array
    indices: tuple[int, ...]
    between: bool

    @property
    def axis(self) -> int | None:
        """The last axis on which the indices leave the array; None where it has such an element."""
        outside = (
            axis
            for axis, (index, extent) in enumerate(zip(self.indices, self.array.shape, strict=True))
            if not 0 <= index < extent
        )
        return max(outside, default=None)

    @property
    def nearest(self) -> str:
        """The name of the element before it."""
        clipped = (
            min(max(index, 0), extent - 1)
            for index, extent in zip(self.indices, self.array.shape, strict=True)
        )
        return f"{self.array.name}[{','.join(map(str, clipped))}]"

    def __str__(self) -> str:
        """Return ``A[3,5]``, or ``would be A[3,72], column 72 of 72``."""
        name = f"{self.array.name}[{','.join(map(str, self.indices))}]"
        axis = self.axis
        if axis is None:
            return f"behind {name}" if self.between else name
        rank = len(self.array.shape)
        word = _MATRIX[axis] if rank == 2 else "element" if rank == 1 else f"index {axis + 1}:"
        return f"would be {name}, {word} {self.indices[axis]} of {self.array.shape[axis]}"


def place_of(array: Array, bit: int) -> Place:
    """Return the place of a bit, by its distance from the array's address, which may be negative."""
    left = bit // array.element_bits
    indices = [0] * len(array.shape)
    order = sorted(
        (axis for axis, stride in enumerate(array.strides) if stride),
        key=lambda axis: (-array.strides[axis], -array.shape[axis]),
    )
    for axis in order:
        indices[axis], left = divmod(left, array.strides[axis])
    return Place(array, tuple(indices), left != 0)
