"""What an MFMA computes, as mathematics: its semantics, run on names."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..formula_algebra import FormulaAlgebra, named
from ..formula_contraction import contracted, tabulated
from ..formula_text import written
from .catalogue import LANES, MatrixMultiply
from .choices import OPEN_POINTS, Choices
from .layouts import layout
from .product import LaneMap, Modifiers, fetched, lanes_of_a, lanes_of_b, product
from .targets import Target


def semantics(row: MatrixMultiply, target: Target, modifiers: Modifiers) -> Iterator[str]:
    """Yield what an instruction does, a line at a time."""
    if not (row.result == "i32" or row.is_double):
        yield f"{product_formula(row, target, modifiers, rounds=False)} over the reals"
    yield product_formula(row, target, modifiers)
    place = row.blocks > 1
    blocks = f"b = 0..{row.blocks - 1}: independent blocks, " if place else ""
    yield f"{blocks}i = 0..{row.m - 1}, j = 0..{row.n - 1}"
    yield from _elsewhere(row, "a", lanes_of_a(row, modifiers, Choices()))
    yield from _elsewhere(row, "b", lanes_of_b(row, modifiers))
    yield f"open points, at their defaults: {', '.join(f'{p.name}={p.default}' for p in OPEN_POINTS)}"
    yield "element e of a lane's registers:"
    for operand in "abcd":
        yield _held(row, operand)


def product_formula(row: MatrixMultiply, target: Target, modifiers: Modifiers, *, rounds: bool = True) -> str:
    """Return the formula of an element of D, of operands that are read from where the modifiers say.

    Parameters
    ----------
    row, target, modifiers : MatrixMultiply, Target, Modifiers
        The instruction.
    rounds : bool
        Whether roundings are written, by the default choices; else the formula is meant over the reals.
    """
    place = ("b",) if row.blocks > 1 else ()
    operands = (named("A", *place, "i", row.k), named("B", *place, row.k, "j"), named("C", *place, "i", "j"))
    alg, plain = FormulaAlgebra(rounds=rounds), Modifiers(neg=modifiers.neg)
    d = product(alg, row, target, *operands, plain, Choices())
    return f"D[{','.join((*place, 'i', 'j'))}] = {written(contracted(d.item()))}"


def _held(row: MatrixMultiply, operand: str) -> str:
    held = layout(row, operand)
    name, (lanes, elements) = operand.upper(), (axis.extent for axis in held.source)
    matrix = named(name, *(axis.extent for axis in held.target))
    entry = written(tabulated(matrix[held.forward(*np.indices((lanes, elements)))], ("lane", "e")))
    return f"{operand}: {entry}, e = 0..{elements - 1}" if elements > 1 else f"{operand}: {entry}, e = 0"


def _elsewhere(row: MatrixMultiply, operand: str, lanes: LaneMap | None) -> Iterator[str]:
    """Say which element of a matrix stands in the place of another, where lanes read other lanes."""
    if lanes is None:
        return
    held = layout(row, operand)
    letters = {"block": "b", "row": "i", "column": "j", "k": "k"}
    indices = [letters[axis.name] for axis in held.target]
    name = operand.upper()
    try:
        seen = tabulated(fetched(held, lanes, named(name, *(axis.extent for axis in held.target))), indices)
        yield f"{name}[{','.join(indices)}] is read as {written(seen)}"
    except ValueError:  # a rotation of lanes carries from digit to digit
        groups = np.arange(LANES).reshape(-1, _GROUP)
        read = ", ".join(f"{lane}..{lane + _GROUP - 1}" for lane in lanes(groups[:, 0]))
        yield f"{name} of lanes 0..{LANES - 1} is read from lanes {read}, in this order"


_GROUP = 16
"""Neighbouring lanes that stay together where lanes read other lanes' registers."""
