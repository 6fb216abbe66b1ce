"""Bijectivity of layouts, enumerated by numpy and witnessed by a solver."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..spec.algebra import Algebra
from ..spec.layout import Axis, Layout
from .obligation import Certificate, Equation, Inputs, Property, Variable, holds, immediate

COORDINATE = immediate(16)


def bijectivity(layout: Layout) -> Certificate:
    """Return the claim that a layout is a bijection: enumerated, with a solver as second witness."""
    return Certificate(layout.defect, layout.points, _inverse_of_each_other(layout))


def _inverse_of_each_other(layout: Layout) -> Property:
    sides = (
        ("source", layout.source, layout.target, layout.forward, layout.inverse),
        ("target", layout.target, layout.source, layout.inverse, layout.forward),
    )

    def inside(alg: Algebra, coordinate: object, axis: Axis) -> object:
        # The numerals of a condition's sides are those of the algebra; 16 bits hold every sum used here.
        return alg.in_range(
            alg.whole(axis.extent - 1) - alg.integer(np.asarray(coordinate), COORDINATE), COORDINATE
        )

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        for side, domain, codomain, there, back in sides:
            points = [v[f"{side}_{axis.name}"] for axis in domain]
            known = inside(alg, points[0], domain[0])
            for point, axis in zip(points[1:], domain[1:], strict=True):
                known = known & inside(alg, point, axis)  # type: ignore[operator]
            images = there(*points)
            for image, axis in zip(images, codomain, strict=True):
                yield holds(alg, inside(alg, image, axis), f"{axis.name} in range", known)  # type: ignore[arg-type]
            for point, returned, axis in zip(points, back(*images), domain, strict=True):
                yield Equation(returned, point, COORDINATE, known, f"{axis.name} comes back")  # type: ignore[arg-type]

    variables = tuple(
        Variable(f"{side}_{axis.name}", COORDINATE, (1,)) for side, domain, *_ in sides for axis in domain
    )
    return Property(variables, claim, abstract=False)
