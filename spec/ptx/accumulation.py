"""How the products of a row of A and a column of B are summed onto C: exactly, or as a choice says.

Source: PTX ISA 9.1 section 9.7.14.5.14 (semantics of mma); reference D.1 to D.4.
"""

from __future__ import annotations

from math import gcd

from ..algebra import Algebra, Array, Operand, Product
from ..formats import S32, FloatFormat
from ..rounding import Rounding
from .architectures import architecture_named, step
from .block_scaling import scaled, spread
from .choices import SEQUENTIAL, UNSPECIFIED, Choices
from .multiplication import Multiplication


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
    result = form.floats(form.d)
    if form.is_double or choices.accumulation == SEQUENTIAL:
        return _chain(alg, result, form.rounding, _scaled(alg, x, y, scales), c)
    if choices.accumulation == UNSPECIFIED:
        terms = [x, y, Operand(c.bits[..., None], c.format), *(scales or ())]
        return alg.arbitrary(f"accumulate_{form.order_name}", terms, result)
    return _dot_add_steps(alg, form, x, y, c, scales, choices.accumulation)


def _scaled(alg: Algebra, x: Operand, y: Operand, scales: Product | None) -> Product:
    if scales is None:
        return x, y
    length = x.bits.shape[-1]
    left, right = (Operand(spread(scale.bits, length), scale.format) for scale in scales)
    return scaled(alg, x, left), scaled(alg, y, right)


def _chain(alg: Algebra, result: FloatFormat, rounding: Rounding, factors: Product, c: Operand) -> Array:
    """Add one product after the other with fused multiply-adds."""
    x, y = factors
    total = c if c.format == result else Operand(alg.fused(result, rounding, (), [c]), result)
    for k in range(x.bits.shape[-1]):
        product = (Operand(x.bits[..., k], x.format), Operand(y.bits[..., k], y.format))
        total = Operand(alg.fused(result, rounding, [product], [total]), result)
    return total.bits


def _dot_add_steps(
    alg: Algebra,
    form: Multiplication,
    x: Operand,
    y: Operand,
    c: Operand,
    scales: Product | None,
    accumulation: str,
) -> Array:
    """Chain fused steps of the architecture's length through the accumulator's type."""
    architecture, result = architecture_named(accumulation), form.floats(form.d)
    form.require_executable_on(architecture)
    products = x.bits.shape[-1]
    one = step(architecture, x.format, form.container, result, products)
    total = c
    for start in range(0, products, one.products):
        part = slice(start, start + one.products)
        left, right = (Operand(factor.bits[..., part], factor.format) for factor in (x, y))
        factors = _factors_of(scales, products, start, one.products)
        total = Operand(alg.dot_add(result, one.model, left, right, total, factors), result)
    return total.bits


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
