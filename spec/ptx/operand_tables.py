"""Who holds which element of an operand, as a table: fragments, metadata, scale factors, matrix moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..element_table import ElementTable, element_table, fragment_table
from ..errors import InputError, UnsupportedError
from ..formats import U4
from ..fragment import Fragment, Packing
from ..layout import Axis, Layout
from .choices import AS_TWICE_K
from .fragments import LANE
from .matrix_descriptor import MatrixDescriptor
from .matrix_moves import MatrixMove, matrix_move
from .resolution import Multiplication, multiplication
from .variant import MATRIX_MOVES, WARPGROUP_ORDER, WMMA, Variant
from .variant_rules import form_of
from .warpgroup import shared_matrix


def operand_table(variant: Variant, operand: str) -> ElementTable:
    """Return who holds which element of an operand.

    Parameters
    ----------
    variant : Variant
        A legal variant.
    operand : str
        ``a``, ``b``, ``c``, ``d``, ``metadata``, ``scale_a`` or ``scale_b`` of ``mma`` and ``mma.sp``;
        ``registers`` (also ``d`` of a load, ``a`` of a store or ``movmatrix``) and ``addresses`` of a
        matrix move; ``a``, ``b``, ``c``, ``d`` and ``metadata`` of ``wgmma``. With the fields of a
        descriptor,
        ``b start=0x400 stride=1024 swizzle=128``, ``a`` and ``b`` are where it says in shared memory; so is
        ``b`` without, by the default ones.

    Raises
    ------
    InputError
        If the variant is not legal or has no such operand.
    UnsupportedError
        For ``wmma``, whose fragments PTX leaves unspecified.
    """
    if variant.family in MATRIX_MOVES:
        return _matrix_move(variant, operand)
    if variant.family in WARPGROUP_ORDER:
        form_of(variant)
        raise InputError(f"{variant} has no operand that has a layout")
    if variant.family in WMMA:
        form_of(variant)  # refuses what is legal nowhere
        raise UnsupportedError(
            f"PTX does not specify which thread holds which element of {variant}; a program "
            "may only load, multiply and store it"
        )
    form = multiplication(variant)
    role, _, fields = operand.partition(" ")
    if form.is_of_warpgroup and role in ("a", "b") and (fields or role == "b"):
        return _in_shared_memory(form, role, fields)
    return _product(form, operand)


def operands_of(variant: Variant) -> tuple[str, ...]:
    """Return the operands of a legal variant that have a layout: none of ``wmma``."""
    if variant.family in (*WMMA, *WARPGROUP_ORDER):
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


LINE_BYTES = 128
"""Bytes of shared memory that all banks have side by side, and that swizzling permutes 16 at a time."""


def _in_shared_memory(form: Multiplication, role: str, fields: str) -> ElementTable:
    """Return which line of 128 bytes of shared memory has which element; both are counted from address 0."""
    descriptor, transposed = MatrixDescriptor.read(fields)
    matrix = shared_matrix(form, role, descriptor, transposed=transposed)
    inverse = matrix.linear.inverted
    line, k = (place.ravel() for place in np.indices((matrix.lines, matrix.length)))
    address, bit = matrix.address(line, k)
    order = np.lexsort((bit, address))
    address, bit, line, k = (each[order] for each in (address, bit, line, k))
    sides = {"row": (line, matrix.lines), "column": (k, matrix.length)}
    if role == "b":
        sides = {"row": (k, matrix.length), "column": (line, matrix.lines)}
    digits = (digit if role == "a" else replace(digit, image=digit.image[::-1]) for digit in inverse.digits)
    axes = tuple(Axis(name, extent) for name, (_, extent) in sides.items())
    within = address % LINE_BYTES * 8 + bit
    return ElementTable(
        f"{role} of {form.variant}, {'MN' if transposed else 'K'}-major, descriptor "
        f"{descriptor.encoding:#018x} "
        f"({descriptor})",
        str(form.format(role)),
        matrix.bits,
        replace(inverse, target=axes, digits=tuple(digits), origin=()),
        f"{matrix.linear.formula}; address = {matrix.pattern:#x} + byte"
        + "; elements share addresses" * (len(np.unique(8 * address + bit)) < len(address)),
        Axis("line", int(address.max()) // LINE_BYTES + 1),
        {"line": address // LINE_BYTES, "element": within // matrix.bits, "address": address, "bit": bit},
        {name: places for name, (places, _) in sides.items()},
        served=form.shape.k // form.products if role == "a" else 1,
        swizzled=matrix.cute,
    )


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
