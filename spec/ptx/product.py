"""What the multiply-accumulate instructions compute, on matrices, once for every algebra.

D[i, j] = C[i, j] + sum over k of A[i, k]·SA[i, chunk(k)] · B[k, j]·SB[chunk(k), j]. A sparse A has
its stored elements only, each meeting the row of B that its metadata names. Source: PTX ISA 9.1
sections 9.7.14.3 (block scaling), 9.7.14.5.14 and 9.7.14.6.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..algebra import Algebra, Array, Operand, Product
from ..matrix_product import paired
from .accumulation import exact_sum, float_sum
from .choices import Choices
from .resolution import Multiplication


@dataclass(frozen=True)
class Matrices:
    """The matrices of a multiply-accumulate, as encodings.

    Attributes
    ----------
    a : array (…, M, K)
        For ``mma.sp`` the stored half, (…, M, K / 2).
    b : array (…, K, N)
        The second factor.
    c : array (…, M, N)
        The addend.
    scale_a : array (…, M, X), optional
        Scale factors of A.
    scale_b : array (…, X, N), optional
        Scale factors of B.
    metadata : array (…, M, chunks), optional
        Sparsity nibbles.
    """

    a: Array
    b: Array
    c: Array
    scale_a: Array | None = None
    scale_b: Array | None = None
    metadata: Array | None = None


def product(alg: Algebra, form: Multiplication, operands: Matrices, choices: Choices) -> Array:
    """Return D (…, M, N).

    Parameters
    ----------
    alg : Algebra
        What the encodings are.
    form : Multiplication
        The instruction.
    operands : Matrices
        The matrices; ``m8n8k4`` on f16 has an axis of 4 computations before the rows.
    choices : Choices
        Readings of what PTX leaves open.
    """
    x, y = paired(operands.a, operands.b)
    if form.sparsity is not None:
        assert operands.metadata is not None
        met = form.sparsity.select(alg, operands.b, operands.metadata)  # (…, M, K / 2, N)
        y = met.swapaxes(-1, -2)
    if form.is_integer:
        return exact_sum(alg, form, x, y, operands.c, choices)
    return float_sum(
        alg,
        form,
        Operand(x, form.floats(form.a)),
        Operand(y, form.floats(form.b)),
        Operand(operands.c, form.floats(form.c)),
        _scales(form, operands),
        choices,
    )


def _scales(form: Multiplication, operands: Matrices) -> Product | None:
    if form.block_scale is None:
        return None
    assert operands.scale_a is not None
    assert operands.scale_b is not None
    fmt = form.block_scale.format
    rows, columns = paired(operands.scale_a, operands.scale_b)
    return Operand(rows, fmt), Operand(columns, fmt)
