"""Transport: what is stored and loaded again, and products of what registers hold.

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
from typing import NamedTuple

import numpy as np

from ...spec.algebra import Algebra, Array
from ..obligation import Equation, Inputs, Property, Variable
from .layouts import HeldMatrix

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
