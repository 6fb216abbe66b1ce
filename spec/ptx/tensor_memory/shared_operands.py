"""A and B of ``tcgen05.mma`` in shared memory: which bytes of which CTA, also of elements with padding.

Of two CTAs each holds half of the rows of A and of the columns of B, at the same addresses of its own memory.
6- and 4-bit elements in bytes lie as TMA writes them: 16 of them in 16 bytes, the padding behind.
"""

from __future__ import annotations

import numpy as np

from ...algebra import Algebra, Array
from ...errors import InputError
from ..matrix_descriptor import MatrixDescriptor, SharedMatrix
from ..memory import from_bytes
from .multiplication import TensorMultiplication
from .shared_descriptor import shared_matrix

PADDED = 16
"""Elements, and bytes, that are padded together."""


def operand_matrix(form: TensorMultiplication, role: str, fields: MatrixDescriptor) -> SharedMatrix:
    """Return where the part of ``a`` or ``b`` of one CTA lies; elements with padding count as bytes."""
    m, n, k = form.shape
    lines, length = {"a": (m, form.products), "b": (n, k)}[role]
    transposed = bool(form.fields.number(f"transpose_{role}"))
    ctas = form.product_form.ctas
    return shared_matrix(fields, lines // ctas, length, form.container, transposed=transposed)


def gathered(
    alg: Algebra, form: TensorMultiplication, role: str, fields: MatrixDescriptor, memory: Array
) -> Array:
    """Read A (…, M, stored K) or B (…, K, N) from the bytes (…, n), of two CTAs (…, 2, n).

    Raises
    ------
    InputError
        If there is not one memory for each CTA, or it ends before the operand.
    """
    ctas = form.product_form.ctas
    if ctas > 1 and (memory.ndim < 2 or memory.shape[-2] != ctas):
        raise InputError(f"memory has shape {memory.shape}; it must be (…, {ctas}, bytes): one of each CTA")
    parts = [memory] if ctas == 1 else [memory[..., cta, :] for cta in range(ctas)]
    matrix = operand_matrix(form, role, fields)
    lines = np.concatenate([_lines(alg, form, role, matrix, part) for part in parts], axis=-2)
    return lines.swapaxes(-1, -2) if role == "b" else lines


def _lines(alg: Algebra, form: TensorMultiplication, role: str, matrix: SharedMatrix, memory: Array) -> Array:
    fmt = form.format(role)
    if fmt.bits == form.container:
        return matrix.gather(alg, memory, fmt)
    if matrix.extent > memory.shape[-1]:
        raise InputError(f"{matrix.descriptor} reads up to byte {matrix.extent} of {memory.shape[-1]}")
    address, _ = matrix.address(*np.indices((matrix.lines, matrix.length)))
    held = memory[..., address].reshape(*memory.shape[:-1], matrix.lines, matrix.length // PADDED, PADDED)
    elements = from_bytes(alg, held[..., : PADDED * fmt.bits // 8], fmt)
    return elements.reshape(*memory.shape[:-1], matrix.lines, matrix.length)
