"""Who holds which element of an operand of ``tcgen05``, as tables: cells, registers, and lines of memory.

Of what is in tensor memory the owner is a lane (of two CTAs 128 of each), and a register is a column, from
the operand's address on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...algebra import Array
from ...element_table import ElementTable, fragment_table
from ...errors import InputError
from ...fragment import Fragment
from ...layout import Axis
from ..matrix_descriptor import SharedMatrix
from ..targets import target_named
from . import descriptor_rules, shared_descriptor
from .copies import CopyShape
from .descriptor_rules import LONGEST_K, Described
from .instruction_descriptor import InstructionDescriptor, table
from .multiplication import TensorMultiplication, multiplication
from .product_form import ProductForm
from .register_shapes import RegisterTile
from .shared_operands import operand_matrix

LINE_BYTES = 128
"""Bytes of a line of shared memory in a table: those of all banks."""

_MATRIX_FIELDS = ("start", "leading", "stride", "swizzle", "desc")


def operands_of(form: ProductForm) -> tuple[str, ...]:
    """Return the operands of a product that have a layout."""
    return (
        *"abd",
        *(("metadata",) if form.sparse else ()),
        *(("scale_a", "scale_b") if form.vector else ()),
    )


def product_table(form: ProductForm, operand: str, idesc: int | None) -> ElementTable:
    """Return the layout of an operand of a product.

    Parameters
    ----------
    form : ProductForm
        The instruction.
    operand : str
        One of `operands_of`, with the fields of the instruction descriptor where the text has none:
        ``d m=128 n=256 d=f32``, ``d idesc=0x8400010``; of ``a`` and ``b`` in shared memory with those of the
        matrix descriptor, too: ``b m=128 n=64 stride=1024 swizzle=128``.
    idesc : int, optional
        The descriptor of the text.

    Raises
    ------
    InputError
        If there is no such operand, a field is wrong, or there is no descriptor.
    UnsupportedError
        If no source says where the operand is.
    """
    role, _, text = operand.partition(" ")
    if role not in operands_of(form):
        raise InputError(f"{form.mnemonic} has no operand {role!r}; it has {', '.join(operands_of(form))}")
    words = text.replace(",", " ").split()
    matrix = [word for word in words if word.partition("=")[0] in _MATRIX_FIELDS]
    described = " ".join(word for word in words if word not in matrix)
    kind = form.kind.name
    if not described and idesc is None:
        known = ", ".join(f"{name}=" for name in table(kind).named)
        raise InputError(
            f"the layout of {role} depends on the instruction descriptor, such as '{role} m=128 n=64': "
            f"its fields are {known}, or idesc="
        )
    fields = _fields(form, described, idesc)
    product = multiplication(form, fields)
    if role == "b" or (role == "a" and not form.a_in_tensor_memory):
        return _in_shared_memory(product, role, " ".join(matrix))
    if matrix:
        raise InputError(f"{role} of {form.mnemonic} is in tensor memory: {matrix[0]} is of what is not")
    return _in_cells(product, role)


def _fields(form: ProductForm, text: str, idesc: int | None) -> InstructionDescriptor:
    """Return the descriptor of a text, else of a number; the bit of sparse A need not be said.

    Raises
    ------
    InputError
        If it does not suit the instruction.
    """
    kind = form.kind.name
    if not text:
        fields = InstructionDescriptor.decoded(kind, idesc or 0)
    elif "idesc" in text or "sparse" in text:
        fields = InstructionDescriptor.read(kind, text)
    else:
        fields = InstructionDescriptor.read(kind, f"{text} sparse={int(form.sparse)}")
    if wrong := descriptor_rules.violations(Described(form, fields.encoding), target_named(LONGEST_K)):
        raise InputError(f"{fields} does not suit {form.mnemonic}: {'; '.join(map(str, wrong))}")
    return fields


def _in_cells(product: TensorMultiplication, role: str) -> ElementTable:
    layouts = product.layouts
    fragment: Fragment
    match role:
        case "d":
            fragment, served = layouts.d, 1
        case "a":
            fragment, served = layouts.a, product.shape.k // product.products
        case "metadata":
            assert product.sparsity is not None
            fragment, served = layouts.metadata, product.sparsity.chunk
        case _:
            assert product.block_scale is not None
            fragment, served = layouts.factors(role[-1]), product.block_scale.chunk
    title = f"{role} of {product.name} (layout {layouts.name})"
    formula = f"{fragment.layout.formula}; register = column of tensor memory from the address of {role} on"
    return replace(fragment_table(title, fragment, formula=formula), served=served)


def _in_shared_memory(product: TensorMultiplication, role: str, text: str) -> ElementTable:
    """Return which line of 128 bytes of a CTA's shared memory has which of its elements."""
    fields, _ = shared_descriptor.read(text)
    matrix = operand_matrix(product, role, fields)
    linear = matrix.linear
    inverse = linear.inverted
    line, k = (place.ravel() for place in np.indices((matrix.lines, matrix.length)))
    address, bit = matrix.address(line, k)
    order = np.lexsort((bit, address))
    address, bit, line, k = (each[order] for each in (address, bit, line, k))
    sides = {"row": (line, matrix.lines), "column": (k, matrix.length)}
    if role == "b":
        sides = {"row": (k, matrix.length), "column": (line, matrix.lines)}
    digits = (digit if role == "a" else replace(digit, image=digit.image[::-1]) for digit in inverse.digits)
    axes = tuple(Axis(name, extent) for name, (_, extent) in sides.items())
    return ElementTable(
        f"{role} of {product.name}, {_of_cta(product)}{'MN' if matrix.transposed else 'K'}-major, descriptor "
        f"{shared_descriptor.encoded(fields):#018x} ({fields})",
        str(product.format(role)),
        matrix.bits,
        replace(inverse, target=axes, digits=tuple(digits), origin=()),
        f"{linear.formula}; address = {matrix.pattern:#x} + byte",
        Axis("line", int(address.max()) // LINE_BYTES + 1),
        {
            "line": address // LINE_BYTES,
            "element": _within(matrix, address, bit),
            "address": address,
            "bit": bit,
        },
        {name: places for name, (places, _) in sides.items()},
        served=product.shape.k // product.products if role == "a" else 1,
        swizzled=matrix.cute,
    )


def _of_cta(product: TensorMultiplication) -> str:
    return "of each CTA, " if product.product_form.ctas > 1 else ""


def _within(matrix: SharedMatrix, address: Array, bit: Array) -> Array:
    return (address % LINE_BYTES * 8 + bit) // matrix.bits


def register_table(name: str, tile: RegisterTile) -> ElementTable:
    """Return which thread's register holds which cell of a load or store."""
    return fragment_table(f"r of {name}", tile.fragment)


def copy_table(name: str, shape: CopyShape) -> ElementTable:
    """Return which lane and column get which byte of which row."""
    formula = f"{shape.fragment.layout.formula}; register = column of tensor memory from taddr on"
    return fragment_table(f"taddr of {name}", shape.fragment, formula=formula)
