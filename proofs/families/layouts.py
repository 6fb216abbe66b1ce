"""Layouts: bijections, and what is read from registers and written to them where a layout says.

An instruction set names its layouts, and says how its registers are read as matrices; of fragments
`held_in` knows that::

    @theorem("mfma/layout/operand", "elements of a matrix and of registers correspond one to one", …)
    def operand() -> Iterator[Case]:
        return bijections({form.name: form.fragment("a").layout for form in FORMS})

    @theorem("mfma/layout/executed", "registers are read and written where the layout says", …)
    def executed() -> Iterator[Case]:
        return readings({form.name: held_in(form.fragment("a")) for form in FORMS})
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import Format
from ...spec.fragment import Fragment
from ...spec.layout import Axis, Layout
from ..obligation import (
    Case,
    Certificate,
    Equation,
    Inputs,
    Method,
    Property,
    Variable,
    holds,
    immediate,
)

COORDINATE = immediate(16)


def bijectivity(layout: Layout) -> Certificate:
    """Return the claim that a layout is a bijection: by rank, enumerated, and by a solver."""
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


def bijections(layouts: Mapping[str, Layout]) -> Iterator[Case]:
    """Yield that each layout is a bijection; its statement is the formula."""
    for name, layout in layouts.items():
        yield Case(name, partial(bijectivity, layout), method=Method.CERTIFICATE, statement=layout.formula)


@dataclass(frozen=True)
class HeldMatrix:
    """A matrix in registers, as the layout and as the executor have it.

    Attributes
    ----------
    layout : Layout
        From the coordinates of an element to its place among the fields.
    format : Format
        Of an element.
    registers : Variable
        What holds the matrix.
    fields : callable
        Splits the registers into elements, with the extents of the layout's target.
    gather, scatter : callable
        Read the registers as the matrix, and write them.
    padded : bool
        Whether registers have bits that are in no element.
    """

    layout: Layout
    format: Format
    registers: Variable
    fields: Callable[[Algebra, Array], Array]
    gather: Callable[[Algebra, Array], Array]
    scatter: Callable[[Algebra, Array], Array]
    padded: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the matrix."""
        return tuple(axis.extent for axis in self.layout.source)


def held_in(fragment: Fragment) -> HeldMatrix:
    """Return the matrix that a fragment holds."""
    packing, holders = fragment.packing, fragment.layout.source[0].extent
    return HeldMatrix(
        fragment.layout.inverted,
        packing.format,
        Variable("registers", packing.word, (holders, fragment.registers)),
        packing.unpack,
        fragment.gather,
        fragment.scatter,
        bool(packing.padding),
    )


def readings(held: Mapping[str, HeldMatrix]) -> Iterator[Case]:
    """Yield that each matrix is read where its layout says, and that writing is the inverse of reading."""
    return (Case(name, partial(_read, each), method=Method.STRUCTURAL) for name, each in held.items())


def _read(held: HeldMatrix) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        registers = v["registers"]
        matrix, fields = held.gather(alg, registers), held.fields(alg, registers)
        places = held.layout.forward(*np.indices(held.shape))
        yield Equation(matrix, fields[(..., *places)], held.format, label="element = field")
        if not held.padded:
            again = held.scatter(alg, matrix)
            yield Equation(again, registers, held.registers.format, label="written = read")

    return Property((held.registers,), claim)
