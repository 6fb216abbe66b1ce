"""Who holds which element of an operand, as a table: fragments, metadata, scale factors, matrix moves."""

from __future__ import annotations

from dataclasses import replace

from ..element_table import ElementTable, element_table, fragment_table
from ..errors import InputError, UnsupportedError
from ..formats import U4
from ..fragment import Fragment, Packing
from ..layout import Axis, Layout
from .choices import AS_TWICE_K
from .fragments import LANE
from .legality import form_of
from .matrix_moves import MatrixMove, matrix_move
from .resolution import Multiplication, multiplication
from .variant import MATRIX_MOVES, WMMA, Variant


def operand_table(variant: Variant, operand: str) -> ElementTable:
    """Return who holds which element of an operand.

    Parameters
    ----------
    variant : Variant
        A legal variant.
    operand : str
        ``a``, ``b``, ``c``, ``d``, ``metadata``, ``scale_a`` or ``scale_b`` of ``mma`` and ``mma.sp``;
        ``registers`` (also ``d`` of a load, ``a`` of a store or ``movmatrix``) and ``addresses`` of a
        matrix move.

    Raises
    ------
    InputError
        If the variant is not legal or has no such operand.
    UnsupportedError
        For ``wmma``, whose fragments PTX leaves unspecified.
    """
    if variant.family in MATRIX_MOVES:
        return _matrix_move(variant, operand)
    if variant.family in WMMA:
        form_of(variant)  # refuses what is legal nowhere
        raise UnsupportedError(
            f"PTX does not specify which thread holds which element of {variant}; a program "
            "may only load, multiply and store it"
        )
    return _product(multiplication(variant), operand)


def operands_of(variant: Variant) -> tuple[str, ...]:
    """Return the operands of a legal variant that have a layout: none of ``wmma``."""
    if variant.family in WMMA:
        return ()
    if variant.family in MATRIX_MOVES:
        return _parts(matrix_move(variant))
    return operands(multiplication(variant))


def operands(form: Multiplication) -> tuple[str, ...]:
    """Return the operands of a product that have a layout."""
    return (
        *"abcd",
        *(("metadata",) if form.sparsity else ()),
        *(("scale_a", "scale_b") if form.block_scale else ()),
    )


def _product(form: Multiplication, operand: str) -> ElementTable:
    if operand not in operands(form):
        raise InputError(f"{form.variant} has no operand {operand!r}; it has {', '.join(operands(form))}")
    title = f"{operand} of {form.variant}"
    if operand == "metadata":
        assert form.sparsity is not None
        if form.sparsity.is_of_half_k:
            title += f", half-k-metadata={AS_TWICE_K}"
        table = fragment_table(title, Fragment(form.sparsity.layout, Packing(U4, U4.bits)))
        return replace(table, served=form.sparsity.chunk)
    if operand.startswith("scale_"):
        assert form.block_scale is not None
        layout = form.block_scale.factors(operand[-1]).layout
        table = fragment_table(title, Fragment(layout, Packing(form.block_scale.format, 8)))
        return replace(table, served=form.block_scale.chunk)
    table = fragment_table(title, form.fragment(operand))
    return replace(table, served=form.shape.k // form.products) if operand == "a" else table


def _matrix_move(variant: Variant, operand: str) -> ElementTable:
    move = matrix_move(variant)
    if operand == "addresses" and operand in _parts(move):
        return _addresses(f"addresses of {variant}", move.address_lanes)
    if operand not in ("registers", "a", "d", "r"):
        raise InputError(f"{variant} has no operand {operand!r}; it has {', '.join(_parts(move))}")
    return fragment_table(f"registers of {variant}", move.fragment)


def _parts(move: MatrixMove) -> tuple[str, ...]:
    return ("registers", "addresses") if move.rows and move.family != "movmatrix" else ("registers",)


def _addresses(title: str, layout: Layout) -> ElementTable:
    (lane,) = layout.target
    held = layout.inverted.regrouped(source=(lane, Axis("element", 1)))
    return element_table(
        title, "address", 64, held, lambda lanes, _: {"lane": lanes}, formula=layout.formula, owners=LANE
    )
