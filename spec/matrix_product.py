"""Sums of products, once for every instruction set and every algebra.

D[i, j] = start[i, j] + sum over k of X[i, k] · Y[j, k]. `paired` lines the rows of A and the columns of B
up; every other function multiplies along the last axis and sums over it, and the leading axes broadcast.
What an instruction computes is a choice of these: integers are summed exactly (`integer_sum`, then wrapped
or clamped by the algebra); floats by a chain of multiply-adds in a stated order (`chain`), by a matrix
unit's fused dot-adds (`dot_add_chain`), or by an arbitrary function (`arbitrary_sum`). Factors may be zeroed
(`zeroed`) or multiplied by the scale factors of their blocks (`block_scaled`) before.

What happens at each operation of a chain besides the rounding is its `Step`: flushing subnormals, taking
the NaN of an operand, or rounding every product before it is added (`unfused`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from math import gcd, prod
from operator import add
from typing import Any

import numpy as np

from .algebra import Algebra, Array, Encodings, Operand, Product
from .dot_add_model import DotAddModel
from .formats import B1, FloatFormat, Format, IntegerFormat
from .operand_arrays import blocks
from .rounding import Rounding

Step = Callable[[FloatFormat, Sequence[Product], Sequence[Operand]], Operand]
"""Adds products and addends and rounds to a format, as `Algebra.fused` does."""

_BLOCK = 1 << 22
"""Integer products held at a time."""


# -- factors
def flushed(alg: Algebra, operand: Operand) -> Operand:
    """Return encodings, every subnormal one as the zero of its sign."""
    bits, fmt = operand
    exponent = IntegerFormat("exponent", fmt.exponent_bits, signed=False)
    field = alg.extract(bits, fmt.fraction_bits + fmt.padding_bits, exponent)
    sign = alg.extract(bits, fmt.bits - 1, B1)
    zero = alg.where(
        alg.same(sign, alg.constant(1, B1)), alg.constant(fmt.sign_mask, fmt), alg.constant(0, fmt)
    )
    return Operand(alg.where(alg.same(field, alg.constant(0, exponent)), zero, bits), fmt)


def paired(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the rows (…, M, 1, K) of A (…, M, K) and the columns (…, 1, N, K) of B (…, K, N)."""
    return a[..., :, None, :], b.swapaxes(-1, -2)[..., None, :, :]


def zeroed(alg: Algebra, live: Array, bits: Array, fmt: Format) -> Array:
    """Return encodings with the all-zeros encoding wherever a condition does not hold."""
    return alg.where(live, bits, alg.constant(0, fmt))


def spread(factors: Array, served: int, length: int) -> Array:
    """Return each factor (…, X) once for every element that it serves, (…, length)."""
    return factors.repeat(served, axis=-1)[..., :length]


def scaled(alg: Algebra, x: Operand, factor: Operand, exact: FloatFormat) -> Operand:
    """Return the products of elements and their scale factors, in a format that holds every one."""
    return rounded(alg)(exact, [(x, factor)], ())


def block_scaled(alg: Algebra, x: Operand, factors: Operand, served: int, exact: FloatFormat) -> Operand:
    """Return the products of elements (…, K) and the scale factors (…, X) of their blocks.

    Parameters
    ----------
    served : int
        How many neighbouring elements a factor serves; the last one may serve fewer.
    exact : FloatFormat
        A format that holds every such product.
    """
    return scaled(alg, x, Operand(spread(factors.bits, served, x.bits.shape[-1]), factors.format), exact)


# -- sums of integers
def integer_sum(alg: Algebra, x: Encodings, y: Encodings, live: Array | None = None) -> Any:
    """Return the exact sum of products.

    Parameters
    ----------
    x, y : encodings (…, K) of an integer format
        Factors; they broadcast.
    live : array (…, K), optional
        Which products count.
    """
    (left, left_format), (right, right_format) = x, y
    assert isinstance(left_format, IntegerFormat) and isinstance(right_format, IntegerFormat)
    elements = prod(np.broadcast_shapes(left.shape[:-1], right.shape[:-1]))

    def total(part: slice) -> Any:
        products = alg.integer(left[..., part], left_format) * alg.integer(right[..., part], right_format)
        if live is not None:
            products = alg.where(live[..., part], products, alg.whole(0))
        return products.sum(axis=-1)

    parts = blocks(left.shape[-1], _BLOCK // max(1, elements))
    return reduce(add, map(total, parts)) if left.shape[-1] else alg.whole(0)


# -- sums of floats
def rounded(alg: Algebra, rounding: Rounding | Any = Rounding.NEAREST_EVEN) -> Step:
    """Return the step that rounds the exact sum once: a fused multiply-add."""

    def step(fmt: FloatFormat, products: Sequence[Product], addends: Sequence[Operand]) -> Operand:
        return Operand(alg.fused(fmt, rounding, products, addends), fmt)

    return step


def unfused(step: Step) -> Step:
    """Return the step that rounds each product before it is added."""

    def in_two(fmt: FloatFormat, products: Sequence[Product], addends: Sequence[Operand]) -> Operand:
        terms = [*(step(fmt, [product], ()) for product in products), *addends]
        return terms[0] if products and len(terms) == 1 else step(fmt, (), terms)

    return in_two


def pairwise(step: Step, fmt: FloatFormat, x: Operand, y: Operand, start: Operand, group: int) -> Operand:
    """Add groups of neighbouring products, k increasing: rounded, added pairwise, and then to the sum so far.

    Parameters
    ----------
    step : Step
        What one operation does.
    fmt : FloatFormat
        Rounded to each time.
    x, y : Operand (…, K)
        Factors; they broadcast.
    start : Operand (…)
        What the first group is added to.
    group : int
        Products in one, a power of two; K is a multiple of it.
    """
    total = start
    for first in range(0, max(x.bits.shape[-1], y.bits.shape[-1]), group):
        pairs = [
            (Operand(x.bits[..., k], x.format), Operand(y.bits[..., k], y.format))
            for k in range(first, first + group)
        ]
        sums = [step(fmt, [pair], ()) for pair in pairs]
        while len(sums) > 1:
            sums = [step(fmt, (), both) for both in zip(sums[::2], sums[1::2], strict=True)]
        total = step(fmt, (), [total, *sums])
    return total


def converted(step: Step, x: Operand, fmt: FloatFormat) -> Operand:
    """Return numbers in another format."""
    return x if x.format == fmt else step(fmt, (), [x])


def chain(step: Step, fmt: FloatFormat, x: Operand, y: Operand, start: Operand | None = None) -> Operand:
    """Add one product after the other, k increasing, each with one step.

    Parameters
    ----------
    step : Step
        What one operation does.
    fmt : FloatFormat
        Format of the partial sums.
    x, y : Operand (…, K)
        Factors; they broadcast.
    start : Operand (…), optional
        What the products are added to; without it the first product is rounded by itself.
    """
    total = start
    for k in range(x.bits.shape[-1]):
        product = Operand(x.bits[..., k], x.format), Operand(y.bits[..., k], y.format)
        total = step(fmt, [product], () if total is None else [total])
    assert total is not None, "a sum of nothing"
    return total


def dot_add_chain(
    alg: Algebra,
    model: DotAddModel,
    parts: Iterable[Any],
    x: Operand,
    y: Operand,
    start: Operand,
    scales: Product | None = None,
) -> Operand:
    """Add some products after the other, each time with one of a matrix unit's fused dot-adds.

    Parameters
    ----------
    model : DotAddModel
        What a dot-add computes.
    parts : iterable of slice or array of int
        Which products each takes; with scale factors a slice.
    x, y : Operand (…, K)
        Factors; they broadcast.
    start : Operand (…)
        What the products are added to; the partial sums have its format.
    scales : pair of Operand (…, X), optional
        Scale factors of `x` and `y`, each for K / X neighbouring factors.
    """
    total = start
    for part in parts:
        left, right = (Operand(factor.bits[..., part], factor.format) for factor in (x, y))
        some = None if scales is None else _scales_of(scales, x.bits.shape[-1], part)
        total = Operand(alg.dot_add(total.format, model, left, right, total, some), total.format)
    return total


def _scales_of(scales: Product, products: int, part: slice) -> Product:
    """Return the scale factors of a part, each for as many neighbours as have it in common there."""
    served, length = products // scales[0].bits.shape[-1], part.stop - part.start
    together = gcd(served, length)
    of_part = slice(part.start // together, part.stop // together)
    left, right = (
        Operand(spread(bits, served // together, products)[..., of_part], fmt) for bits, fmt in scales
    )
    return left, right


def arbitrary_sum(
    alg: Algebra,
    name: str,
    factors: Product,
    start: Operand,
    scales: Product | None,
    result: FloatFormat,
) -> Array:
    """Apply an arbitrary function of the factors (…, K), the start (…) and the scale factors (…, X)."""
    return alg.arbitrary(
        name, [*factors, Operand(start.bits[..., None], start.format), *(scales or ())], result
    )
