"""Layouts: who holds what, as data: maps between two index spaces that are linear over F2.

Every bit of a source coordinate has an *image*, one integer for each target coordinate; the images of the
bits that are set are xored. Where extents are no powers of two (the pitch of 48 rows), digits of other
radices have images that are added. The rest follows from this data: both directions, evaluated with
``+ & ^ >> <<`` on Python ints, numpy arrays and Z3 bit-vectors alike; the rank; the printed formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from .algebra import Array
from .binary_matrix import eliminated
from .layout_terms import Coordinate, Term, log2

Coordinates = tuple[Any, ...]


@dataclass(frozen=True)
class Axis:
    """One coordinate of an index space: its name and how many values it takes, from 0."""

    name: str
    extent: int


@dataclass(frozen=True)
class Digit:
    """A digit of a source coordinate: a bit, or a digit of another radix.

    Attributes
    ----------
    axis : int
        Which source coordinate it is a digit of.
    weight, extent : int
        It is ``coordinate // weight % extent``.
    image : tuple of int
        What one unit of it contributes to every target coordinate.
    """

    axis: int
    weight: int
    extent: int
    image: tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """A map from `source` to `target`; the instruction sets' are bijections.

    Attributes
    ----------
    name : str
        What is laid out where.
    source, target : tuple of Axis
        The index spaces.
    digits : tuple of Digit
        The digits of the source coordinates and their images.
    origin : tuple of int
        The image of the source's first point, xored with what the digits contribute; empty if that is 0.
    carries : bool
        Whether contributions are added, as strides are, and not xored; bits need not be, the digits of
        other radices must.
    """

    name: str
    source: tuple[Axis, ...]
    target: tuple[Axis, ...]
    digits: tuple[Digit, ...]
    origin: tuple[int, ...] = ()
    carries: bool = False

    @property
    def points(self) -> int:
        """How many elements are laid out."""
        return _size(self.source)

    def forward(self, *coordinates: Any) -> Coordinates:
        """Return the target coordinates of source coordinates: ints, arrays or Z3 terms."""
        return tuple(coordinate.of(coordinates) for coordinate in self._images)

    def inverse(self, *coordinates: Any) -> Coordinates:
        """Return the source coordinates of target coordinates."""
        return self.inverted.forward(*coordinates)

    def images(self) -> Array:
        """Return the target coordinates of all points: an array (*source extents, axes)."""
        points = np.indices([axis.extent for axis in self.source])
        return np.stack(self.forward(*points), axis=-1)

    @property
    def formula(self) -> str:
        """The forward map as text."""
        images = zip(self.target, self._images, strict=True)
        return "; ".join(f"{axis.name} = {image}" for axis, image in images)

    @cached_property
    def _images(self) -> tuple[Coordinate, ...]:
        found = []
        for place in range(len(self.target)):
            moved = [
                Term(axis.name, axis.extent, digit.axis, digit.weight, digit.extent, factor)
                for digit in self.digits
                for axis in [self.source[digit.axis]]
                for factor in ([digit.image[place]] if self.carries else _powers(digit.image[place]))
                if factor
            ]
            flipped = self.origin[place] if self.origin else 0
            found.append(Coordinate.joined(moved, carries=self.carries, flipped=flipped))
        return tuple(found)

    @cached_property
    def inverted(self) -> Layout:
        """The layout from `target` to `source`; of no bijection, one that inverts it on what it reaches."""
        if self.carries:
            return Layout(self.name, self.target, self.source, self._turned(), carries=True)
        bits = [(digit.axis, digit.weight) for digit in self.digits]
        digits = []
        for row, (axis, weight) in enumerate(bits_of(self.target)):
            image = [0] * len(self.source)
            _, made_of = self._basis.get(1 << row, (0, 0))
            for column in _powers(made_of):
                place, moved = bits[log2(column)]
                image[place] ^= moved
            digits.append(Digit(axis, weight, 2, tuple(image)))
        inverted = Layout(self.name, self.target, self.source, tuple(digits))
        if not any(self.origin):
            return inverted
        return Layout(self.name, self.target, self.source, tuple(digits), inverted.forward(*self.origin))

    def regrouped(
        self, *, source: Sequence[Axis] | None = None, target: Sequence[Axis] | None = None
    ) -> Layout:
        """Return the same map between other coordinates, that are as one number the same number.

        Raises
        ------
        ValueError
            If a digit would lie across two coordinates.
        """
        from_axes, to_axes = tuple(source or self.source), tuple(target or self.target)
        digits = []
        for digit in self.digits:
            place = _unravelled(
                _ravelled(unit(digit.axis, digit.weight, len(self.source)), self.source), from_axes
            )
            ((axis, weight),) = ((at, step) for at, step in enumerate(place) if step)
            if from_axes[axis].extent % (weight * digit.extent):
                raise ValueError(f"{self.name}: {digit} lies across {from_axes}")
            image = _unravelled(_ravelled(digit.image, self.target), to_axes)
            digits.append(Digit(axis, weight, digit.extent, image))
        origin = _unravelled(_ravelled(self.origin, self.target), to_axes) if self.origin else ()
        return Layout(self.name, from_axes, to_axes, tuple(digits), origin, self.carries)

    # -- bijectivity
    @cached_property
    def _basis(self) -> dict[int, tuple[int, int]]:
        """The images of the bits, flattened as `bits_of` counts the target's, eliminated."""
        rows = {bit: row for row, bit in enumerate(bits_of(self.target))}
        return eliminated(
            sum(1 << rows[bit] for bit in _image_bits(digit) if bit in rows) for digit in self.digits
        )

    @property
    def rank(self) -> int:
        """How many bits of the target the bits of the source reach independently: the rank over F2."""
        return len(self._basis)

    def _turned(self) -> tuple[Digit, ...]:
        """Return the digits of the target and their images in the source, where each has one."""
        return tuple(
            Digit(axis, weight, digit.extent, unit(digit.axis, digit.weight, len(self.source)))
            for digit in self.digits
            for axis, weight in enumerate(digit.image)
            if weight
        )

    def rank_defect(self) -> str | None:
        """Return why the digits alone show this to be no bijection, or None: a certificate without points."""
        if self.points != _size(self.target):
            return f"{self.name}: {self.points} points can't fill {self.target}"
        for digit in self.digits:
            for axis, step in zip(self.target, digit.image, strict=True):
                if step >= axis.extent:
                    return f"{self.name}: an image has the {axis.name} {step} of {axis.extent}"
        if (reason := _gap(self.source, self.digits)) is not None:
            return f"{self.name}: {reason}"
        if not self.carries:
            bits = log2(self.points)
            return None if self.rank == bits else f"{self.name}: the rank is {self.rank}, not {bits}"
        for digit in self.digits:
            if sum(map(bool, digit.image)) != 1:
                return f"{self.name}: {digit} does not move along one coordinate"
        reason = _gap(self.target, self._turned())
        return reason if reason is None else f"{self.name}: {reason}"

    def defect(self) -> str | None:
        """Enumerate the whole domain; return None, or the first point that shows this is no bijection."""
        if (reason := self.rank_defect()) is not None:
            return reason
        for source, target, there, back in (
            (self.source, self.target, self.forward, self.inverse),
            (self.target, self.source, self.inverse, self.forward),
        ):
            points = np.indices([axis.extent for axis in source]).reshape(len(source), -1)
            images = there(*points)
            wrong = np.zeros(points.shape[1], dtype=bool)
            for image, axis in zip(images, target, strict=True):
                wrong |= (image < 0) | (image >= axis.extent)
            for before, after in zip(points, back(*images), strict=True):
                wrong |= before != after
            if wrong.any():
                first = int(np.argmax(wrong))
                at = ", ".join(f"{a.name}={int(c[first])}" for a, c in zip(source, points, strict=True))
                to = ", ".join(f"{a.name}={int(c[first])}" for a, c in zip(target, images, strict=True))
                return f"{self.name}: ({at}) goes to ({to}), which does not come back or is out of range"
        return None


def bits_of(axes: Sequence[Axis]) -> Iterator[tuple[int, int]]:
    """Yield the (axis, weight) of every bit of coordinates whose extents are powers of two."""
    for place, axis in enumerate(axes):
        for bit in range(log2(axis.extent)):
            yield place, 1 << bit


def _gap(axes: Sequence[Axis], digits: Sequence[Digit]) -> str | None:
    """Return which coordinate is not made of digits that follow each other, or None."""
    for place, axis in enumerate(axes):
        reached = 1
        for weight, extent in sorted((digit.weight, digit.extent) for digit in digits if digit.axis == place):
            if weight != reached:
                break
            reached *= extent
        if reached != axis.extent:
            return f"no digit continues the first {reached} of {axis.extent} {axis.name}s"
    return None


def _image_bits(digit: Digit) -> Iterator[tuple[int, int]]:
    """Yield the (axis, weight) of every bit of the target that a bit moves to."""
    return ((axis, power) for axis, image in enumerate(digit.image) for power in _powers(image))


def _powers(number: int) -> Iterator[int]:
    """Yield the powers of two that a number is the sum of."""
    for bit in range(number.bit_length()):
        if number >> bit & 1:
            yield 1 << bit


def unit(place: int, value: int, rank: int) -> tuple[int, ...]:
    """Return coordinates that are 0 but for one."""
    return tuple(value if at == place else 0 for at in range(rank))


def _ravelled(coordinates: Sequence[int], axes: Sequence[Axis]) -> int:
    number = 0
    for coordinate, axis in zip(coordinates, axes, strict=True):
        number = number * axis.extent + coordinate
    return number


def _unravelled(number: int, axes: Sequence[Axis]) -> tuple[int, ...]:
    coordinates = []
    for axis in reversed(axes[1:]):
        number, coordinate = divmod(number, axis.extent)
        coordinates.append(coordinate)
    return (number, *reversed(coordinates))


def _size(axes: Sequence[Axis]) -> int:
    return prod(axis.extent for axis in axes)
