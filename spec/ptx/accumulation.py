"""How the products of a row of A and a column of B are summed onto C: exactly, or as a choice says.

Source: PTX ISA 9.1 section 9.7.14.5.14 (semantics of mma).
"""

from __future__ import annotations

from dataclasses import replace

from ..algebra import Algebra, Array, Operand, Product
from ..float_encoding import default_nan
from ..formats import F64, S32
from ..matrix_product import (
    arbitrary_sum,
    block_scaled,
    chain,
    converted,
    dot_add_chain,
    integer_sum,
    rounded,
)
from .architectures import architecture_named
from .block_scaling import SCALED
from .choices import NEGATIVE_NAN, SEQUENTIAL, UNSPECIFIED, Choices
from .resolution import Multiplication
from .step_sequences import step_sequence


def exact_sum(alg: Algebra, form: Multiplication, x: Array, y: Array, c: Array, choices: Choices) -> Array:
    """Return C plus the exact sum of products over the last axis, wrapped, or clamped as chosen.

    With a bit operation, products are the places where ``x xor y``, or ``x and y``, is 1.

    Parameters
    ----------
    x, y : array (…, K)
        Factors; they broadcast.
    c : array (…)
        Addends, s32.
    """
    if form.variant.satfinite and choices.satfinite_clamp == "halves":
        half, once = x.shape[-1] // 2, replace(choices, satfinite_clamp="once")
        first = exact_sum(alg, form, x[..., :half], y[..., :half], c, once)
        return exact_sum(alg, form, x[..., half:], y[..., half:], first, once)
    if form.variant.bit_operation == "xor":
        total = alg.where(alg.same(x, y), alg.whole(0), alg.whole(1)).sum(-1)
    else:
        total = integer_sum(alg, (x, form.a), (y, form.b))
    encode = alg.saturate if form.variant.satfinite else alg.wrap
    return encode(total + alg.integer(c, S32), S32)


def float_sum(
    alg: Algebra,
    form: Multiplication,
    x: Operand,
    y: Operand,
    c: Operand,
    scales: Product | None,
    choices: Choices,
) -> Array:
    """Return the sum of products over the last axis and C as the choice of accumulation says.

    Parameters
    ----------
    x, y : Operand (…, K)
        Factors; they broadcast.
    c : Operand (…)
        Addends.
    scales : pair of Operand (…, X), optional
        Scale factors of `x` and `y`, each for K / X neighbouring factors.
    """
    result = form.floats(form.d)
    if form.is_double and choices.f64_order == UNSPECIFIED:
        name = f"accumulate_{form.order_name}_{form.rounding.name.lower()}"
        return arbitrary_sum(alg, name, (x, y), c, None, result)
    if choices.accumulation == UNSPECIFIED and not form.is_double:
        return arbitrary_sum(alg, f"accumulate_{form.order_name}", (x, y), c, scales, result)
    nearest = rounded(alg)
    addend = converted(nearest, c, form.floats(form.accumulator))
    if not form.is_double and choices.accumulation != SEQUENTIAL:
        return _dot_add_steps(alg, form, (x, y), addend, scales, choices)
    if scales is not None:
        x, y = (
            block_scaled(alg, factor, scale, x.bits.shape[-1] // scale.bits.shape[-1], SCALED)
            for factor, scale in zip((x, y), scales, strict=True)
        )
    total = chain(rounded(alg, form.rounding), addend.format, x, y, addend)
    if form.is_double and choices.f64_nan == NEGATIVE_NAN:
        return alg.replace_nan(total, default_nan(F64) | F64.sign_mask)
    return converted(nearest, total, result).bits


def _dot_add_steps(
    alg: Algebra,
    form: Multiplication,
    factors: Product,
    c: Operand,
    scales: Product | None,
    choices: Choices,
) -> Array:
    """Chain the architecture's fused steps through the accumulator's type."""
    architecture = architecture_named(choices.accumulation)
    form.require_executable_on(architecture)
    sequence = step_sequence(architecture, form)
    model, code = choices.read(sequence.model), sequence.code
    nearest = rounded(alg)
    x, y = factors
    if code.factors != form.a:  # exactly: the wider type has every number
        x, y = (converted(nearest, factor, form.floats(code.factors)) for factor in factors)
    start = Operand(alg.constant(0, c.format), c.format) if code.addend_last else c
    total = dot_add_chain(alg, model, sequence.parts(), x, y, start, scales)
    if code.addend_last:
        total = nearest(c.format, (), [c, total])
    result = form.floats(form.d)
    if not code.addend_last and result == c.format:
        return total.bits
    return alg.replace_nan(converted(nearest, total, result), result.sign_mask - 1)
