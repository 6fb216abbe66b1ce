"""What the instructions compute, as mathematics."""

from __future__ import annotations

from collections.abc import Iterator

from .choices import OPEN_POINTS
from .layouts import operand_table, operands
from .legality import form_of
from .matrix_move_forms import MatrixMoveForm
from .matrix_moves import matrix_move
from .multiplication import MULTIPLYING, Multiplication, multiplication
from .variant import Family, Variant
from .wmma import memory_operand


def semantics(variant: Variant) -> Iterator[str]:
    """Yield what a legal variant does, a line at a time."""
    if variant.family in MULTIPLYING:
        yield from _product(multiplication(variant))
    elif isinstance(form_of(variant), MatrixMoveForm):
        yield from _move(variant)
    else:
        memory = memory_operand(variant)
        rows, columns = memory.extents
        place = "row·stride + column" if memory.layout == "row" else "column·stride + row"
        arrow = "→" if variant.family is Family.WMMA_STORE else "←"
        yield f"fragment[row, column] {arrow} memory element {place} from the pointer, {rows}x{columns}"
        yield (
            f"stride >= {memory.minimum_stride} elements (the default); pointer and stride multiples of "
            f"{memory.fragment_bytes} bytes"
        )
        yield "which thread holds which element is unspecified"


def _product(form: Multiplication) -> Iterator[str]:
    k = form.shape.k
    a, b = "A[i,k]", "B[k,j]"
    over = f"k = 0..{k - 1}"
    if form.sparsity is not None:
        a, b, over = "A[i,s]", "B[column(i,s),j]", f"s = 0..{form.products - 1}"
        yield (
            f"column(i,s): the {form.sparsity.kept} stored of every {form.sparsity.chunk} columns, "
            "named by the metadata nibble of row i"
        )
    if form.block_scale is not None:
        chunk = form.block_scale.chunk
        column = "column(i,s)" if form.sparsity else "k"
        a, b = f"SA[i,{column} div {chunk}]·{a}", f"SB[{column} div {chunk},j]·{b}"
    match form.variant.bit_operation:
        case None:
            term = f"{a}·{b}"
        case operation:
            term = f"popc({a} {operation} {b})"
    total = f"C[i,j] + sum({term}, {over})"
    if form.is_integer:
        total = f"clamp({total}, -2^31, 2^31 - 1)" if form.variant.satfinite else f"({total}) mod 2^32"
    yield f"D[i,j] = {total}"
    m, n, _ = form.shape
    yield f"for i = 0..{m - 1}, j = 0..{n - 1}" + (
        "; four such products in a warp" if form.is_quad_pairs else ""
    )
    if form.is_double:
        yield f"fused multiply-adds, k increasing from C, rounding {form.variant.rounding or 'rn'}"
    elif not form.is_integer:
        yield f"open points, at their defaults: {', '.join(f'{p.name}={p.default}' for p in OPEN_POINTS)}"
    if form.variant.family is Family.WMMA_MMA:
        yield "which thread holds which element is unspecified"
        return
    for operand in operands(form):
        yield f"{operand}: {operand_table(form.variant, operand).formula}"


def _move(variant: Variant) -> Iterator[str]:
    move = matrix_move(variant)
    if variant.family is Family.MOVMATRIX:
        yield "d[row, column] = a[column, row]"
    else:
        verb = "registers → memory" if variant.family is Family.STMATRIX else "memory → registers"
        yield f"{verb}: {move.count} x {move.shape}, each of {move.rows} rows of 16 bytes"
        yield f"addresses: {move.address_lanes.formula}"
    yield f"registers: {move.layout.formula}"
