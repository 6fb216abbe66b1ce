"""The one formula of all fragments against what the manual prints for each shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial, reduce
from operator import and_, or_
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.layout import Layout
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.ptx.quad_pairs import COMPUTATIONS
from ...spec.ptx.variant import WARP_LANES
from ..families.layouts import COORDINATE, HeldMatrix, held_in
from ..obligation import Case, Certificate, Equation, Inputs, Method, Property, Status, holds, theorem
from .layouts import QUAD_PAIR_LAYOUTS, SOURCE, HeldOperand, below, by_width, coordinate, on_elements
from .manual_formulas import (
    ACCUMULATORS,
    MULTIPLICANDS,
    PRINTED_SINGLE_BIT_A,
    QUAD_PAIRS,
    SPARSE_A,
    ManualFragment,
    Piecewise,
    SparseWindow,
)


@theorem(
    "ptx/fragment/manual",
    "the one formula of all fragments is what the manual prints for each shape",
    "for every lane and i: (row, column) of the manual's piecewise formulas = (row, column) of the layout; "
    "of a sparse A: the row, and the element's chunk lies within firstcol to lastcol",
    SOURCE + "; B of mma.sp where its shape has a dense section (the others are figures)",
)
def manual() -> Iterator[Case]:
    """Yield every printed formula for every instruction that uses it, and the misprint (pinned)."""
    for name, operand in by_width().items():
        printed = printed_formulas(operand)
        if printed is not None:
            yield Case(
                name,
                partial(_as_printed, operand.fragment.layout, *printed),
                method=Method.CERTIFICATE,
            )
        if operand.role == "a" and operand.form.sparse:
            yield Case(name, partial(_in_window, operand), method=Method.CERTIFICATE)
    for (role, kind), (row, column) in QUAD_PAIRS.items():
        yield Case(
            f"mma.m8n8k4/16-bit/{role}/{kind}",
            partial(_as_printed, QUAD_PAIR_LAYOUTS[role, kind], row, column),
            method=Method.CERTIFICATE,
        )
    yield Case(
        "misprint/equal",
        _misprint_is_equal,
        Status.REFUTED,
        statement="the column of A of m16n8k256 as printed, t · 32 + i for i < 64, is the layout's",
    )
    yield Case(
        "misprint/injective",
        partial(_injective, PRINTED_SINGLE_BIT_A),
        Status.REFUTED,
        statement="no two elements of A of m16n8k256 as printed are in one place",
    )


def printed_formulas(operand: HeldOperand) -> tuple[Piecewise, Piecewise] | None:
    """Return the row and the column that the manual prints for an operand of ``mma`` or ``mma.sp``."""
    if operand.product.is_quad_pairs:
        layout = operand.product.variant.layouts["ab".index(operand.role)] if operand.role in "ab" else ""
        kind = layout or str(operand.product.format(operand.role))
        return QUAD_PAIRS["c" if operand.role == "d" else operand.role, kind]
    if operand.role in "cd":
        return ACCUMULATORS[operand.form.shape.m]
    wanted = (operand.form.shape, operand.form.container, operand.role)
    if operand.form.sparse and operand.role == "a":
        return None
    for multiplicand in MULTIPLICANDS:
        if (multiplicand.shape, multiplicand.container, multiplicand.operand) == wanted:
            return multiplicand.row, multiplicand.column
    return None


def held_as_printed(operand: HeldOperand) -> HeldMatrix:
    """Return an operand as registers hold it by the manual's formulas; by the layout where none is printed.

    On f16 ``m8n8k4`` each of the four computations has the lanes of two quads: quads q and q + 4.
    """
    held, formulas, packing = held_in(operand.fragment), printed_formulas(operand), operand.fragment.packing
    if formulas is None:
        return held
    numpy, (lanes, elements) = NumpyAlgebra(), (axis.extent for axis in operand.fragment.layout.source)
    lane, i = np.indices((lanes, elements))
    places = [evaluated(numpy, formula, lane, i) for formula in formulas]
    if operand.product.is_quad_pairs:
        places.insert(0, (lane >> 2) % COMPUTATIONS)
    extents = operand.product.matrix_shape(operand.role)
    flat = np.ravel_multi_index(tuple(np.broadcast_arrays(*places)), extents)

    def scatter(alg: Algebra, matrix: Array) -> Array:
        return packing.pack(alg, matrix.reshape(*matrix.shape[: -len(extents)], -1)[..., flat])

    def gather(alg: Algebra, registers: Array) -> Array:
        fields = packing.unpack(alg, registers)
        fields = fields.reshape(*fields.shape[:-2], -1)
        return fields[..., np.argsort(flat, axis=None)].reshape(*fields.shape[:-1], *extents)

    return replace(held, scatter=scatter, gather=gather)


def evaluated(alg: Algebra, formula: Piecewise, lane: Any, i: Any) -> Array:
    """Return a printed formula's value at a lane and an element."""
    group, thread = lane >> 2, lane & 3
    value = formula.value(group, thread, i)
    if formula.otherwise is None:
        return np.asarray(value)
    choice, ranges = (group, formula.groups) if formula.groups else (i, formula.elements)
    return alg.where(_among(alg, choice, ranges), value, formula.otherwise(group, thread, i))


def _among(alg: Algebra, value: Any, ranges: Iterable[range]) -> Array:
    return np.asarray(reduce(or_, (below(alg, value, r.stop) & ~below(alg, value, r.start) for r in ranges)))


def _as_printed(described: Layout, row: Piecewise, column: Piecewise) -> Certificate:
    def claim(alg: Algebra, lane: Any, i: Any, known: Array) -> Iterator[Equation]:
        *_, r, c = described.forward(lane, i)
        yield Equation(evaluated(alg, row, lane, i), r, COORDINATE, known, "row")
        yield Equation(evaluated(alg, column, lane, i), c, COORDINATE, known, "column")

    return on_elements(described, claim)


def _window(operand: HeldOperand) -> SparseWindow:
    wanted = (operand.form.shape, operand.form.container)
    return next(each for each in SPARSE_A if (each.shape, each.container) == wanted)


def _in_window(operand: HeldOperand) -> Certificate:
    described, window, sparsity = operand.fragment.layout, _window(operand), operand.product.sparsity
    assert sparsity is not None
    kept_bits, chunk_bits = sparsity.kept.bit_length() - 1, sparsity.chunk.bit_length() - 1

    def claim(alg: Algebra, lane: Any, i: Any, known: Array) -> Iterator[Equation]:
        r, stored = described.forward(lane, i)
        yield Equation(evaluated(alg, window.row, lane, i), r, COORDINATE, known, "row")
        first = evaluated(alg, window.first, lane, i)
        start = alg.integer(np.asarray((stored >> kept_bits) << chunk_bits), COORDINATE)
        margin = start - alg.integer(first, COORDINATE)
        yield holds(alg, alg.in_range(margin, COORDINATE), "firstcol before the chunk", known)
        room = alg.whole(window.width - sparsity.chunk) - margin
        yield holds(alg, alg.in_range(room, COORDINATE), "lastcol behind the chunk", known)

    return on_elements(described, claim)


def _misprint_is_equal() -> Property:
    described = by_width()["mma.m16n8k256/1-bit/a"].fragment.layout

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        lane, i = v["lane"], v["i"]
        known = below(alg, lane, WARP_LANES) & below(alg, i, described.source[1].extent)
        expected = described.forward(lane, i)[1]
        column = evaluated(alg, PRINTED_SINGLE_BIT_A.column, lane, i)
        yield Equation(column, expected, COORDINATE, known, "column")

    variables = (coordinate("lane"), coordinate("i"))
    return Property(variables, claim, pinned={"lane": 0, "i": 32}, abstract=False)


def _injective(printed: ManualFragment) -> Property:
    """Claim that two elements of the printed formulas in one place are one element."""
    elements = printed.shape.m * printed.shape.k // WARP_LANES

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        facts, places = [], []
        for which in ("", "other_"):
            lane, i = v[f"{which}lane"], v[f"{which}i"]
            facts += [below(alg, lane, WARP_LANES), below(alg, i, elements)]
            places.append([evaluated(alg, part, lane, i) for part in (printed.row, printed.column)])
        facts += [alg.same(left, right) for left, right in zip(*places, strict=True)]
        known = reduce(and_, facts)
        for part in ("lane", "i"):
            yield Equation(v[part], v[f"other_{part}"], COORDINATE, known, part)

    variables = tuple(coordinate(name) for name in ("lane", "i", "other_lane", "other_i"))
    # row 8, column 128: element 32 of thread 3 and element 96 of thread 0
    return Property(variables, claim, pinned={"lane": 3, "i": 32, "other_i": 96}, abstract=False)


THEOREMS = (manual,)
