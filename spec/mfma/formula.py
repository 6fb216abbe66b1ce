"""What an MFMA computes, as mathematics: its semantics, run on names."""

from __future__ import annotations

from collections.abc import Iterator

from ..formula_algebra import FormulaAlgebra, named
from ..formula_contraction import contracted, tabulated
from ..formula_text import written
from .catalogue import MatrixMultiply
from .choices import OPEN_POINTS, Choices
from .layouts import layout
from .product import LaneMap, Modifiers, fetched, lanes_of_a, lanes_of_b, product
from .targets import Target


def semantics(row: MatrixMultiply, target: Target, modifiers: Modifiers) -> Iterator[str]:
    """Yield what an instruction does, a line at a time."""
    place = ("b",) if row.blocks > 1 else ()
    operands = (named("A", *place, "i", row.k), named("B", *place, row.k, "j"), named("C", *place, "i", "j"))
    exact = row.result == "i32" or row.is_double
    plain = Modifiers(neg=modifiers.neg)
    d = product(FormulaAlgebra(rounds=row.is_double), row, target, *operands, plain, Choices())
    index = ",".join((*place, "i", "j"))
    yield f"D[{index}] = {written(contracted(d.item()))}" + ("" if exact else " over the reals")
    blocks = f"b = 0..{row.blocks - 1}: independent blocks, " if place else ""
    yield f"{blocks}i = 0..{row.m - 1}, j = 0..{row.n - 1}"
    yield from _elsewhere(row, "a", lanes_of_a(row, modifiers, Choices()))
    yield from _elsewhere(row, "b", lanes_of_b(row, modifiers))
    yield f"open points, at their defaults: {', '.join(f'{p.name}={p.default}' for p in OPEN_POINTS)}"
    yield "in registers:"
    for operand in "abcd":
        yield f"{operand.upper()} of a lane: {layout(row, operand).formula}"


def _elsewhere(row: MatrixMultiply, operand: str, lanes: LaneMap | None) -> Iterator[str]:
    """Say which element of a matrix stands in the place of another, where lanes read other lanes."""
    if lanes is None:
        return
    held = layout(row, operand)
    letters = {"block": "b", "row": "i", "column": "j", "k": "k"}
    indices = [letters[axis.name] for axis in held.target]
    name = operand.upper()
    seen = tabulated(fetched(held, lanes, named(name, *(axis.extent for axis in held.target))), indices)
    if seen is not None:
        yield f"{name}[{','.join(indices)}] is read as {written(seen)}"
