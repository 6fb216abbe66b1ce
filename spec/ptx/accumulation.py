"""How the products of a row of A and a column of B are summed onto C: exactly, or as a choice says.

Source: PTX ISA 9.1 section 9.7.14.5.14 (semantics of mma).
"""

from __future__ import annotations

from math import gcd

from ..algebra import Algebra, Array, Operand, Product
from ..float_encoding import default_nan
from ..formats import F64, S32, FloatFormat
from ..rounding import Rounding
from .architectures import architecture_named
from .block_scaling import scaled, spread
from .choices import NEGATIVE_NAN, SEQUENTIAL, UNSPECIFIED, Choices
from .multiplication import Multiplication
from .step_sequences import step_sequence


def integer_sum(alg: Algebra, form: Multiplication, x: Array, y: Array, c: Array) -> Array:
    """Return C plus the exact sum of products over the last axis, wrapped, or clamped once.

    Parameters
    ----------
    x, y : array (…, K)
        Factors; they broadcast.
    c : array (…)
        Addends, s32.
    """
    total = (alg.integer(x, form.integers(form.a)) * alg.integer(y, form.integers(form.b))).sum(-1)
    encode = alg.saturate if form.variant.satfinite else alg.wrap
    return encode(total + alg.integer(c, S32), S32)


def bit_count(alg: Algebra, form: Multiplication, x: Array, y: Array, c: Array) -> Array:
    """Return C plus the number of places where ``x xor y``, or ``x and y``, is 1."""
    one, zero = alg.whole(1), alg.whole(0)
    if form.variant.bit_operation == "xor":
        ones = alg.where(alg.same(x, y), zero, one)
    else:
        ones = alg.integer(x, form.integers(form.a)) * alg.integer(y, form.integers(form.b))
    return alg.wrap(ones.sum(-1) + alg.integer(c, S32), S32)


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
    if choices.accumulation == UNSPECIFIED and not form.is_double:
        terms = [x, y, Operand(c.bits[..., None], c.format), *(scales or ())]
        return alg.arbitrary(f"accumulate_{form.order_name}", terms, form.floats(form.d))
    result, accumulator = form.floats(form.d), form.floats(form.accumulator)
    addend = _converted(alg, c, accumulator)
    if not form.is_double and choices.accumulation != SEQUENTIAL:
        return _dot_add_steps(alg, form, (x, y), addend, scales, choices)
    total = _chain(alg, form.rounding, _scaled(alg, x, y, scales), addend)
    if form.is_double and choices.f64_nan == NEGATIVE_NAN:
        return alg.replace_nan(total, default_nan(F64) | F64.sign_mask)
    return _converted(alg, total, result).bits


def _converted(alg: Algebra, x: Operand, fmt: FloatFormat) -> Operand:
    if x.format == fmt:
        return x
    return Operand(alg.fused(fmt, Rounding.NEAREST_EVEN, (), [x]), fmt)


def _scaled(alg: Algebra, x: Operand, y: Operand, scales: Product | None) -> Product:
    if scales is None:
        return x, y
    length = x.bits.shape[-1]
    left, right = (Operand(spread(scale.bits, length), scale.format) for scale in scales)
    return scaled(alg, x, left), scaled(alg, y, right)


def _chain(alg: Algebra, rounding: Rounding, factors: Product, c: Operand) -> Operand:
    """Add one product after the other with fused multiply-adds."""
    x, y = factors
    total = c
    for k in range(x.bits.shape[-1]):
        product = (Operand(x.bits[..., k], x.format), Operand(y.bits[..., k], y.format))
        total = Operand(alg.fused(c.format, rounding, [product], [total]), c.format)
    return total


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
    model = choices.read(sequence.model)
    if sequence.code.factors != form.a:  # exactly: the wider type has every number
        x, y = (_converted(alg, factor, form.floats(sequence.code.factors)) for factor in factors)
    else:
        x, y = factors
    last = sequence.code.addend_last
    total = Operand(alg.constant(0, c.format), c.format) if last else c
    for number, part in enumerate(sequence.parts()):
        left, right = (Operand(factor.bits[..., part], factor.format) for factor in (x, y))
        some = _factors_of(scales, form.products, number * sequence.products, sequence.products)
        total = Operand(alg.dot_add(c.format, model, left, right, total, some), c.format)
    if last:
        total = Operand(alg.fused(c.format, Rounding.NEAREST_EVEN, (), [c, total]), c.format)
    result = form.floats(form.d)
    if not last and result == c.format:
        return total.bits
    return alg.replace_nan(_converted(alg, total, result), result.sign_mask - 1)


def _factors_of(scales: Product | None, products: int, start: int, length: int) -> Product | None:
    """Return the scale factors of a step, each for as many neighbours as have it in common there.

    Parameters
    ----------
    scales : pair of Operand (…, X), optional
        Scale factors of a whole row of `products`.
    start, length : int
        The step's first product, a multiple of `length`, and how many it takes.
    """
    if scales is None:
        return None
    together = gcd(products // scales[0].bits.shape[-1], length)
    part = slice(start // together, (start + length) // together)
    left, right = (
        Operand(spread(scale.bits, products // together)[..., part], scale.format) for scale in scales
    )
    return left, right
