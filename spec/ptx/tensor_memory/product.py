"""The products of tensor memory: D = ±A · ±B + D, scaled, masked, or without the old D.

The numbers are those of `spec.ptx.product`; here is what operands and the descriptor change of them. Source:
PTX ISA 9.1 section 9.7.16 (tcgen05.mma, tcgen05.mma.sp, tcgen05.mma.ws).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...algebra import Algebra, Array, Operand
from ...errors import InputError
from ...formats import FloatFormat, Format
from ...matrix_product import rounded
from ..choices import SEQUENTIAL, UNSPECIFIED, Choices
from ..product import Matrices, product
from .multiplication import TensorMultiplication


@dataclass(frozen=True)
class Modifiers:
    """The operands that change what is summed, and where the sum goes.

    Attributes
    ----------
    enable_d : bool or array () of conditions
        ``enable-input-d``: whether the old D is added.
    scale_d : int
        ``scale-input-d``: the old D is divided by 2 to the power of it.
    zero_columns : array (N,) of bool, optional
        Columns of B that count as 0.
    kept : array (…, M, N) of conditions, optional
        Elements of D that stay, of the lanes that ``disable-output-lane`` names.
    """

    enable_d: Array | bool = True
    scale_d: int = 0
    zero_columns: Array | None = None
    kept: Array | None = None


PLAIN = Modifiers()
"""D is added, and every element is written."""


def tensor_product(
    alg: Algebra,
    form: TensorMultiplication,
    operands: Matrices,
    choices: Choices,
    modifiers: Modifiers = PLAIN,
) -> Array:
    """Return D (…, M, N); C is the D before.

    Parameters
    ----------
    alg : Algebra
        What the encodings are.
    form : TensorMultiplication
        The instruction, with its descriptor.
    operands : Matrices
        The matrices.
    choices : Choices
        Readings of what PTX leaves open.
    modifiers : Modifiers
        What the text says besides.

    Raises
    ------
    InputError
        If D is scaled, and the choice is a model that says nothing of that.
    """
    if modifiers.scale_d and choices.accumulation not in (SEQUENTIAL, UNSPECIFIED):
        raise InputError(f"scale-input-d: {choices.accumulation} says nothing of it")
    zero = alg.constant(0, form.c)
    old = divided(alg, operands.c, form.c, modifiers.scale_d)
    if modifiers.enable_d is not True:
        old = alg.where(np.asarray(modifiers.enable_d), old, zero)
    changed = {"c": old}
    for role in "ab":
        if form.fields.number(f"negate_{role}"):
            changed[role] = alg.negate(Operand(getattr(operands, role), form.floats(form.format(role))))
    if modifiers.zero_columns is not None:
        b = changed.get("b", operands.b)
        changed["b"] = alg.where(np.asarray(modifiers.zero_columns), alg.constant(0, form.b), b)
    new = product(alg, form, replace(operands, **changed), choices)
    return new if modifiers.kept is None else alg.where(modifiers.kept, operands.c, new)


def divided(alg: Algebra, bits: Array, fmt: Format, power: int) -> Array:
    """Return elements divided by a power of two, rounded to nearest where they become subnormal."""
    if not power:
        return bits
    assert isinstance(fmt, FloatFormat)
    exponent = fmt.bias - power
    # The smallest powers of two of f16 are subnormal.
    factor = 1 << fmt.fraction_bits - 1 + exponent if exponent <= 0 else exponent << fmt.fraction_bits
    scale = Operand(alg.constant(factor, fmt), fmt)
    return rounded(alg)(fmt, [(Operand(bits, fmt), scale)], ()).bits


def kept_elements(form: TensorMultiplication, mask: Array) -> Array:
    """Return the elements (…, M, N) of D in lanes whose bit of a mask (…, words) is set, the lowest first.

    Layouts C and F are meant with the address of the lower lanes.
    """
    layout = form.layouts.d.layout
    leading = layout.target[:-2]
    places = np.indices((form.shape.m, form.shape.n))
    lane, _ = layout.inverse(*(0 * places[0] for _ in leading), *places)
    bits = mask[..., lane // 32] >> (lane % 32).astype(mask.dtype) & 1
    kept: Array = bits.astype(bool)
    return kept


def no_c(alg: Algebra, form: TensorMultiplication) -> Array:
    """Return the C of a product that does not read D."""
    return np.broadcast_to(alg.constant(0, form.c), form.matrix_shape("c"))


def matrices_of(alg: Algebra, form: TensorMultiplication, found: Mapping[str, Array]) -> Matrices:
    """Return named matrices; without ``c`` zeros."""
    return Matrices(**{"c": no_c(alg, form), **found})
