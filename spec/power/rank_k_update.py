"""What the rank-k updates compute, once for every algebra.

All functions work in the matrix view and ISA element order: X is (…, 4, k), Y is (…, n, k), the
accumulator (…, 4, n), with n = 4, or 2 for f64. Source: Power ISA 3.1 section 7.2.1.3; Moreira et
al. equations (1) and (2); the masked element's value is the ISA's +0, not equation (3)'s old value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..algebra import Algebra, Array, Operand
from ..formats import FloatFormat
from ..rounding import Rounding
from .catalogue import FloatFamily, IntegerFamily, RankKUpdate
from .choices import Choices

SIGNIFICAND_24 = FloatFormat("bfp32-significand", 35, exponent_bits=11, fraction_bits=23, bias=1023)
"""An f32 significand with f64's exponent range: no sum of two bf16 products leaves it."""


class Live(NamedTuple):
    """The masks of a ``pm`` form as conditions; index 0 is the mask's most significant bit.

    Attributes
    ----------
    rows : array (…, 4)
        XMSK.
    columns : array (…, n)
        YMSK.
    products : array (…, k)
        PMSK.
    """

    rows: Array
    columns: Array
    products: Array

    @property
    def elements(self) -> Array:
        """The enabled accumulator elements, (…, 4, n)."""
        enabled: Array = self.rows[..., :, None] & self.columns[..., None, :]
        return enabled


def rank_k_update(
    alg: Algebra,
    update: RankKUpdate,
    x: Array,
    y: Array,
    acc: Array,
    live: Live,
    rounding: Rounding | Any,
    choices: Choices,
) -> Array:
    """Compute the new accumulator.

    Parameters
    ----------
    alg : Algebra
        What the elements are.
    update : RankKUpdate
        The instruction.
    x, y, acc : array
        Encodings (…, 4, k), (…, n, k), (…, 4, n); `acc` is not looked at by a form that does not
        accumulate.
    live : Live
        The masks; all true for a word form.
    rounding : Rounding
        FPSCR.RN; not looked at by integer forms.
    choices : Choices
        Readings of the open points.

    Returns
    -------
    array (…, 4, n)
        Encodings of the accumulator.
    """
    family = update.family
    if isinstance(family, IntegerFamily):
        total = integer_sum(alg, update, family, x, y, acc, live)
        encode = alg.saturate if update.saturates else alg.wrap
        value = encode(total, family.result)
    elif isinstance(family, FloatFamily) and family.rank == 1:
        value = fused_multiply_add(alg, update, family, x, y, acc, rounding, choices)
    else:
        assert isinstance(family, FloatFamily)
        value = sum_of_two_products(alg, update, family, x, y, acc, live, rounding, choices)
    return alg.where(live.elements, value, alg.constant(0, family.result))


def integer_sum(
    alg: Algebra, update: RankKUpdate, family: IntegerFamily, x: Array, y: Array, acc: Array, live: Live
) -> Array:
    """Return ``[ACC[i,j] +] sum_p X[i,p] * Y[j,p]`` over the live p, exactly."""
    products = alg.integer(x, family.x)[..., :, None, :] * alg.integer(y, family.y)[..., None, :, :]
    total: Array = alg.where(live.products[..., None, None, :], products, alg.whole(0)).sum(axis=-1)
    return total + alg.integer(acc, family.result) if update.accumulates else total


def saturation(alg: Algebra, update: RankKUpdate, x: Array, y: Array, acc: Array, live: Live) -> Array:
    """Tell which elements (…, 4, n) an instruction clamps; any of them sets VSCR.SAT."""
    family = update.family
    if not (update.saturates and isinstance(family, IntegerFamily)):
        return live.elements & ~live.elements
    total = integer_sum(alg, update, family, x, y, acc, live)
    clamped: Array = live.elements & ~alg.in_range(total, family.result)
    return clamped


def fused_multiply_add(
    alg: Algebra,
    update: RankKUpdate,
    family: FloatFamily,
    x: Array,
    y: Array,
    acc: Array,
    rounding: Rounding | Any,
    choices: Choices,
) -> Array:
    """Return ``[-] round(X[i] * Y[j] [± ACC[i,j]])``, for f32 and f64.

    ``np`` is ``-(x*y - acc)`` and ``nn`` is ``-(x*y + acc)``.
    """
    fmt = family.result
    xi = Operand(x[..., :, None, 0], family.x)
    yj = Operand(y[..., None, :, 0], family.y)
    addends, operands = [], [xi, yj]
    if update.accumulates:
        subtract = update.negative_accumulator != update.negative_product
        old = Operand(acc, fmt)
        addends = [Operand(alg.negate(old), fmt) if subtract else old]
        operands = [xi, old, yj]
    total = alg.fused(fmt, rounding, [(xi, yj)], addends)
    if update.negative_product and choices.negation == "before-rounding":
        total = _rounded_after_negation(alg, fmt, rounding, (xi, yj), addends, total)
    result = Operand(_propagate(alg, fmt, total, operands, choices), fmt)
    return alg.negate(result) if update.negative_product else result.bits


def _rounded_after_negation(
    alg: Algebra, fmt: FloatFormat, rounding: Rounding, product: Any, addends: list[Operand], total: Array
) -> Array:
    """Return what, negated, is the rounding of the negated exact sum; an exact zero keeps its sign rule."""
    mirrored = alg.fused(fmt, rounding.mirrored, [product], addends)
    exact_zero = alg.is_zero(Operand(total, fmt)) & alg.is_zero(Operand(mirrored, fmt))
    return alg.where(exact_zero, total, mirrored)


def sum_of_two_products(
    alg: Algebra,
    update: RankKUpdate,
    family: FloatFamily,
    x: Array,
    y: Array,
    acc: Array,
    live: Live,
    rounding: Rounding | Any,
    choices: Choices,
) -> Array:
    """Return ``round([-] round(X[i,0]*Y[j,0] + X[i,1]*Y[j,1]) [± ACC[i,j]])``, for f16 and bf16.

    A product that PMSK switches off has both operands replaced by +0.
    """
    fmt = family.result
    zero = alg.constant(0, family.x)
    x = alg.where(live.products[..., None, :], x, zero)
    y = alg.where(live.products[..., None, :], y, zero)
    x0, x1 = (Operand(x[..., :, None, p], family.x) for p in (0, 1))
    y0, y1 = (Operand(y[..., None, :, p], family.y) for p in (0, 1))

    two_step = family.x.exponent_bits == fmt.exponent_bits and choices.bf16_sum == "two-step"
    exact = SIGNIFICAND_24 if family.x.exponent_bits == fmt.exponent_bits else fmt
    first = SIGNIFICAND_24 if two_step else fmt

    def stage(target: FloatFormat, products: Any, addends: Any, operands: list[Operand]) -> Operand:
        total = alg.fused(target, rounding, products, addends)
        return Operand(_propagate(alg, target, total, operands, choices), target)

    product = stage(exact, [(x0, y0)], [], [x0, y0])
    total = stage(first, [(x1, y1)], [product], [x1, product, y1])
    if update.negative_product:
        total = Operand(alg.negate(total), first)
    if not update.accumulates:
        return total.bits if first is fmt else stage(fmt, [], [total], [total]).bits
    old = Operand(acc, fmt)
    if update.negative_accumulator:
        old = Operand(alg.negate(old), fmt)
    return stage(fmt, [], [total, old], [total, old]).bits


def _propagate(
    alg: Algebra, fmt: FloatFormat, total: Array, operands: list[Operand], choices: Choices
) -> Array:
    if choices.nan == "default":
        return total
    return alg.propagate_nan(Operand(total, fmt), operands)
