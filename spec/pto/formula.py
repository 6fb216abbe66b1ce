"""What the operations compute, as mathematics: their semantics, run on names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np

from ..algebra import Array
from ..errors import UnsupportedError
from ..formats import E4M3, F16, F32, S8, S32, UE8M0, Format, IntegerFormat
from ..formula import Formula, element
from ..formula_algebra import FormulaAlgebra, named
from ..formula_contraction import contracted, of_any_length, tabulated
from ..formula_text import written
from .catalogue import Operation, OperationKind, triples
from .choices import IN_PLACE, OPEN_POINTS, Choices, choices_of
from .fractal import FractalLayout
from .global_memory import GlobalView
from .movers import block, converted
from .placement import unit_layout
from .products import product
from .resolution import Resolved
from .rules.move_types import quantised
from .sizes import (
    GEMV_ROWS,
    OPERAND_EXTENTS,
    SCALE_GROUP,
    SIZE_BITS,
    executed_rows,
    gemv_mode,
    scale_groups,
    size_sources,
)
from .targets import Profile

_LENGTHS = (SCALE_GROUP + 8, 2 * SCALE_GROUP + 8)
"""Sizes k whose formulas are compared; the formula printed is what they have in common."""

_TILE = 4
"""Rows and columns of the blocks that are moved to learn the formula of a move."""


def semantics(resolved: Resolved) -> Iterator[str]:
    """Yield what an operation does on a profile, a line at a time; tiles may be unknown."""
    operation, profile = resolved.operation, resolved.profile
    if operation.kind is OperationKind.MOVE:
        try:
            yield from _move(resolved)
        except UnsupportedError as reason:
            yield str(reason)
        yield "indices are logical: the mover changes the order of elements, not their places in the matrix"
        yield _mover_pitch(profile)
        points = ["load-fill"] if operation.name == "tload" else ["conversion"]
        yield from _readings(profile, points)
        return
    element = resolved.element("d")
    integer = element is not None and isinstance(element.format, IntegerFormat)
    yield from _product(resolved)
    yield f"for i < m and j < n: {_sizes(operation, profile)}, each modulo 2^{SIZE_BITS}"
    if executed_rows(operation, profile, 1) != 1:
        yield f"m = 1 is executed as {GEMV_ROWS} rows: as many of A are read and of D written"
    if operation.accumulates:
        in_place = choices_of(profile).accumulator_read == IN_PLACE
        yield "C is what the destination held before: cIn is never read" if in_place else "C is cIn"
    points = [] if integer else ["accumulation", "accumulator-rounding", "tf32", "subnormals"]
    points += ["microscaled-sum"] if operation.microscaled else []
    yield from _readings(profile, [*points, "k-tail"] if profile.cube else points)
    yield from _buffers(resolved)


def _product(resolved: Resolved) -> Iterator[str]:
    operation, choices = resolved.operation, choices_of(resolved.profile)
    written_formats = {r: known.format for r in _MATRICES if (known := resolved.element(r)) is not None}
    formats = [_FORMATS[operation.microscaled] | {r: f for r, f in written_formats.items() if f is not None}]
    if "d" not in written_formats and any(
        isinstance(triple.accumulator.format, IntegerFormat)
        for triple in triples(resolved.profile, operation)
    ):
        formats.append({"a": S8, "b": S8, "d": S32})
    for each in formats:
        if len({isinstance(fmt, IntegerFormat) for fmt in each.values()}) > 1:
            yield f"{operation} of {', '.join(f'{role} {fmt}' for role, fmt in each.items())} has no meaning"
            continue
        name = each["d"]
        if not isinstance(name, IntegerFormat):
            yield f"{product_formula(operation, each, choices, rounds=False)} over the reals"
        yield f"{product_formula(operation, each, choices)} for {name}"


_MATRICES = ("a", "b", "d", "scale_a", "scale_b")


_FORMATS: Mapping[bool, dict[str, Format]] = MappingProxyType(
    {
        False: {"a": F16, "b": F16, "d": F32},
        True: {"a": E4M3, "b": E4M3, "d": F32, "scale_a": UE8M0, "scale_b": UE8M0},
    }
)
"""Formats of operands that a text says nothing of, by whether there are scale factors."""


def product_formula(
    operation: Operation, formats: Mapping[str, Format], choices: Choices, *, rounds: bool = True
) -> str:
    """Return the formula of an element of D, for every k.

    Parameters
    ----------
    operation : Operation
        A product.
    formats : mapping of str to Format
        Of the matrices by role.
    choices : Choices
        Readings of what the documents leave open.
    rounds : bool
        Whether roundings are written; else the formula is meant over the reals.
    """
    instances = {k: _of_length(operation, formats, choices, k, rounds=rounds) for k in _LENGTHS}
    found = of_any_length(instances, Formula("k"))
    assert found is not None, f"{operation} has one formula for every k"
    return f"D[i,j] = {written(found)}"


def _of_length(
    operation: Operation, formats: Mapping[str, Format], choices: Choices, k: int, *, rounds: bool
) -> Formula:
    groups = scale_groups(k)
    matrices = {
        "c": named("C", "i", "j"),
        "a": named("A", "i", k),
        "scale_a": named("SA", "i", groups),
        "b": named("B", k, "j"),
        "scale_b": named("SB", groups, "j"),
        "bias": named("bias", 1, "j"),
    }
    operands = {role: matrices[role] for role in operation.inputs}
    alg = FormulaAlgebra(rounds=rounds)
    d = product(alg, operation, **operands, formats=formats, choices=choices)
    found: Formula = d.item()
    return contracted(found, "tn")


def _move(resolved: Resolved) -> Iterator[str]:
    operation = resolved.operation
    if quantised(resolved):
        yield "a quantisation is not modelled"
        return
    strides = tuple(Formula(f"stride{dimension}") for dimension in range(5))
    view = GlobalView((1, 1, 1, 1, 1), strides)  # type: ignore[arg-type]
    memory = written(element("memory", view.offset(Formula("i"), Formula("j"))))
    match operation.name:
        case "tload":
            yield f"target[i,j] = {memory} for (i,j) in the target's valid region"
        case "tstore":
            yield f"{memory} = {_block(resolved, 'source')} for (i,j) in the source's valid region"
        case "tinsert":
            yield f"{_block(resolved, 'target')} = source[i,j] for (i,j) in the source's valid region"
            yield "judged, not executed"
        case _:
            yield f"target[i,j] = {_block(resolved, 'source')} for (i,j) in the target's valid region"
    if operation.name in ("tload", "tstore"):
        yield f"memory is a view of order {view.order} whose rows are one dimension"


def _block(resolved: Resolved, name: str) -> str:
    """Write element (i, j) of the block of a matrix that begins at (row, column), or at (0, 0)."""
    matrix = named(name, 2 * _TILE, 2 * _TILE)
    starts = range(_TILE if "row" in resolved.operation.inputs else 1)
    blocks = [[block(matrix, row, column, (_TILE, _TILE)) for column in starts] for row in starts]
    source, target = (resolved.element(role) for role in ("source", "target"))
    table: Array = np.array(blocks)
    if name == "source" and source and target and source.format and target.format:
        choices = choices_of(resolved.profile)
        table = converted(FormulaAlgebra(), table, source.format, target.format, choices)
    return written(tabulated(table, ("row", "column", "i", "j")))


def _sizes(operation: Operation, profile: Profile) -> str:
    sources = size_sources(operation, profile)
    return ", ".join(f"{name} = {source or 1}" for name, source in zip("mkn", sources, strict=True))


def _readings(profile: Profile, names: list[str]) -> Iterator[str]:
    choices = choices_of(profile)
    points = [point for point in OPEN_POINTS if point.name in names]
    if points:
        taken = (f"{point.name}={getattr(choices, point.attribute)}" for point in points)
        yield f"open points, at the defaults of {profile}: {', '.join(taken)}"


def _buffers(resolved: Resolved) -> Iterator[str]:
    """Say where the executor takes the operands from."""
    operation, profile = resolved.operation, resolved.profile
    if not profile.cube:
        yield "operands are taken from buffers at the pitches of the tiles' physical extents"
        return
    groups = f", with g = ceil(k/{SCALE_GROUP})" if operation.microscaled else ""
    yield f"the matrix unit has no strides: it derives the pitches of buffers from m, k and n{groups}"
    for role in (*operation.inputs, operation.output):
        if role not in resolved.tiles or role == "c":
            continue
        layout = unit_layout(operation, profile, role, resolved.tiles[role].element)
        if role == "a" and gemv_mode(operation, profile):
            yield "a: one linear row, offset = column"
        elif layout.box != (1, 1):
            yield f"{role}: {layout.name} of {layout.box[0]}x{layout.box[1]} boxes, {_pitch(layout, role)}"


def _pitch(layout: FractalLayout, role: str) -> str:
    (rows, columns), (box_rows, box_columns) = OPERAND_EXTENTS[role], layout.box
    if layout.by_rows:
        return f"rows of boxes ceil({columns}/{box_columns})·{box_columns * box_rows} elements apart"
    return f"columns of boxes ceil({rows}/{box_rows})·{box_rows * box_columns} elements apart"


def _mover_pitch(profile: Profile) -> str:
    physical = "pitches come from the tiles' physical extents"
    compact = "of compact tiles from the valid extents rounded up to whole boxes"
    return f"{physical}, {compact}" if profile.cube else physical
