"""Layouts and transport: bijections, registers, and what is stored and loaded again.

An instruction set names its layouts, and says how its registers are read as matrices; of fragments
`held_in` knows that::

    @theorem("mfma/layout/operand", "elements of a matrix and of registers correspond one to one", …)
    def operand() -> Iterator[Case]:
        return bijections({form.name: form.fragment("a").layout for form in FORMS})

    @theorem("mfma/layout/executed", "registers are read and written where the layout says", …)
    def executed() -> Iterator[Case]:
        return readings({form.name: held_in(form.fragment("a")) for form in FORMS})

An instruction set says how its registers hold matrices (of fragments `layouts.held_in` does), and how an
instruction on registers calls the product of matrices::

    @theorem("mfma/transport/product", "the instruction on registers is the product of the matrices …", …)
    def product() -> Iterator[Case]:
        for form in FORMS:
            operands = {role: RegisterOperand(held_in(form.fragment(role))) for role in "abc"}

            def execute(alg: Algebra, registers: Registers, multiply: Multiply) -> Array:
                return on_registers(alg, form, **registers, multiply=multiply)

            goal = partial(sees_matrices, operands, held_in(form.fragment("d")), execute)
            yield Case(form.name, goal, method=Method.STRUCTURAL)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import Format
from ...spec.fragment import Fragment
from ...spec.layout import Axis, Layout
from ...spec.layout_terms import is_power
from ..obligation import Case, Certificate, Equation, Inputs, Method, Property, Variable, holds, immediate

COORDINATE = immediate(16)


def bijectivity(layout: Layout) -> Certificate:
    """Return the claim that a layout is a bijection: by rank, enumerated, and by a solver.

    Of bit-vectors no digits are taken that begin at other places than powers of two: there is no solver then.
    """
    digits = (*layout.digits, *layout.inverted.digits)
    in_bits = all(is_power(digit.weight) for digit in digits)
    return Certificate(layout.defect, layout.points, _inverse_of_each_other(layout) if in_bits else None)


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


Move = Callable[[Algebra, Array], Array]
"""Loads or stores."""


def inverse(there: Move, back: Move, sides: tuple[Variable, Variable]) -> Property:
    """Return the claim that two moves undo each other, from either side.

    Parameters
    ----------
    there, back : callable
        From the first side to the second, and from the second to the first.
    sides : pair of Variable
        What is moved.
    """
    one, other = sides

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield Equation(back(alg, there(alg, v[one.name])), v[one.name], one.format, label=one.name)
        yield Equation(there(alg, back(alg, v[other.name])), v[other.name], other.format, label=other.name)

    return Property(sides, claim)


class RegisterOperand(NamedTuple):
    """An operand of an instruction on registers.

    Attributes
    ----------
    held : HeldMatrix
        Everything in the registers.
    selected : tuple of int
        What of it the instruction takes: all, or one index for each leading axis.
    """

    held: HeldMatrix
    selected: tuple[int, ...] = ()


Registers = Mapping[str, Array]
Multiply = Callable[[Mapping[str, Array]], Array]
"""Maps matrices by name to D."""

Execute = Callable[[Algebra, Registers, Multiply], Array]
"""Executes an instruction on registers by name with a product of matrices; returns D's registers."""


def sees_matrices(operands: Mapping[str, RegisterOperand], d: HeldMatrix, execute: Execute) -> Property:
    """Return the claim that an instruction multiplies the matrices that its registers hold.

    It gives the product these matrices, and puts any D that the product returns where D is read: whatever
    the product computes. What is not selected is arbitrary.
    """

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        given: list[Mapping[str, Array]] = []

        def multiply(matrices: Mapping[str, Array]) -> Array:
            """Return f(matrices): as f is arbitrary, any matrix."""
            given.append(matrices)
            return np.asarray(v["d"])

        registers = {name: operand.held.scatter(alg, v[name]) for name, operand in operands.items()}
        result = execute(alg, registers, multiply)
        for name, (held, selected) in operands.items():
            rest = (slice(None),) * (len(held.shape) - len(selected))
            yield Equation(given[0][name], v[name][(..., *selected, *rest)], held.format, label=name)
        yield Equation(d.gather(alg, result), v["d"], d.format, label="d")

    matrices = {**{name: operand.held for name, operand in operands.items()}, "d": d}
    return Property(tuple(Variable(name, held.format, held.shape) for name, held in matrices.items()), claim)
