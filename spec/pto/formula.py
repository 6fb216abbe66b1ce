"""What the operations compute, as mathematics, for `mmaproof explain`."""

from __future__ import annotations

from collections.abc import Iterator

from ..formats import IntegerFormat
from .catalogue import Kind, Operation
from .choices import IN_PLACE, OPEN_POINTS, choices_of
from .fractal import FractalLayout
from .placement import unit_layout
from .resolution import Resolved
from .sizes import (
    GEMV_ROWS,
    OPERAND_EXTENTS,
    SCALE_GROUP,
    SIZE_BITS,
    executed_rows,
    gemv_mode,
    size_sources,
)
from .targets import Profile

_MOVES = {
    "tload": "target[i,j] = memory[offset(i,j)] for (i,j) in the target's valid region",
    "tmov": "target[i,j] = source[i,j] for (i,j) in the target's valid region",
    "tinsert": "target[row + i, column + j] = source[i,j] for (i,j) in the source's valid region",
    "textract": "target[i,j] = source[row + i, column + j] for (i,j) in the target's valid region",
    "tstore": "memory[offset(i,j)] = source[i,j] for (i,j) in the source's valid region",
}


def semantics(resolved: Resolved) -> Iterator[str]:
    """Yield what an operation does on a profile, a line at a time; tiles may be unknown."""
    operation, profile = resolved.operation, resolved.profile
    if operation.kind is Kind.MOVE:
        yield _MOVES[operation.name]
        yield "indices are logical: the mover changes the order of elements, not their places in the matrix"
        yield _mover_pitch(profile)
        points = ["load-fill"] if operation.name == "tload" else ["conversion"]
        yield from _readings(profile, points)
        return
    element = resolved.element("d")
    integer = element is not None and isinstance(element.format, IntegerFormat)
    yield _sum(operation, integer)
    yield f"for i < m and j < n: {_sizes(operation, profile)}, each modulo 2^{SIZE_BITS}"
    if executed_rows(operation, profile, 1) != 1:
        yield f"m = 1 is executed as {GEMV_ROWS} rows: as many of A are read and of D written"
    if operation.accumulates:
        in_place = choices_of(profile).accumulator_read == IN_PLACE
        yield "C is what the destination held before: cIn is never read" if in_place else "C is cIn"
    points = [] if integer else ["accumulation", "tf32", "subnormals"]
    points += ["microscaled-sum"] if operation.microscaled else []
    yield from _readings(profile, [*points, "k-tail"] if profile.cube else points)
    yield from _buffers(resolved)


def _sum(operation: Operation, integer: bool) -> str:
    a, b = "A[i,t]", "B[t,j]"
    if operation.microscaled:
        a, b = f"({a}·SA[i, t div {SCALE_GROUP}])", f"({b}·SB[t div {SCALE_GROUP}, j])"
    start = "C[i,j] + " if operation.accumulates else "bias[0,j] + " if operation.biased else ""
    total = f"{start}sum({a}·{b}, t = 0..k-1)"
    return f"D[i,j] = ({total}) mod 2^32" if integer else f"D[i,j] = {total}"


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
