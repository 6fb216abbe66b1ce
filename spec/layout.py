"""Layouts: bijections between two index spaces, written once and evaluated on anything.

A formula uses only ``+ - * & | ^ >> <<`` on its coordinates, so Python ints, numpy arrays and Z3
bit-vectors evaluate the same expression; the explicit inverse is the certificate of bijectivity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

Coordinates = tuple[Any, ...]
Map = Callable[..., Coordinates]


@dataclass(frozen=True)
class Axis:
    """One coordinate of an index space: its name and how many values it takes, from 0."""

    name: str
    extent: int


@dataclass(frozen=True)
class Layout:
    """A bijection from `source` onto `target`.

    Attributes
    ----------
    name : str
        What is laid out where.
    source, target : tuple of Axis
        The index spaces.
    forward, inverse : callable
        Coordinates to coordinates.
    formula : str
        The forward map as text.
    """

    name: str
    source: tuple[Axis, ...]
    target: tuple[Axis, ...]
    forward: Map
    inverse: Map
    formula: str

    @property
    def points(self) -> int:
        """How many elements are laid out."""
        return prod(axis.extent for axis in self.source)

    def defect(self) -> str | None:
        """Enumerate the whole domain; return None, or the first point that shows this is no bijection."""
        if self.points != prod(axis.extent for axis in self.target):
            return f"{self.name}: {self.points} points can't fill {self.target}"
        for domain, codomain, there, back in (
            (self.source, self.target, self.forward, self.inverse),
            (self.target, self.source, self.inverse, self.forward),
        ):
            points = np.indices([axis.extent for axis in domain]).reshape(len(domain), -1)
            images = [np.broadcast_to(c, points.shape[1:]) for c in there(*points)]
            returned = [np.broadcast_to(c, points.shape[1:]) for c in back(*images)]
            wrong = np.zeros(points.shape[1:], dtype=bool)
            for image, axis in zip(images, codomain, strict=True):
                wrong |= (image < 0) | (image >= axis.extent)
            for before, after in zip(points, returned, strict=True):
                wrong |= before != after
            if wrong.any():
                first = int(np.argmax(wrong))
                at = ", ".join(f"{a.name}={int(c[first])}" for a, c in zip(domain, points, strict=True))
                to = ", ".join(f"{a.name}={int(c[first])}" for a, c in zip(codomain, images, strict=True))
                return f"{self.name}: ({at}) goes to ({to}), which does not come back or is out of range"
        return None
