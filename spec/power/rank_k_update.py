"""What the rank-k updates compute, once for every algebra.

All functions work in the matrix view and ISA element order: X is (…, 4, k), Y is (…, n, k), the
accumulator (…, 4, n), with n = 4, or 2 for f64. Source: Power ISA 3.1 section 7.2.1.3; Moreira et
al. equations (1) and (2); the masked element's value is the ISA's +0, not equation (3)'s old value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..algebra import Algebra, Array, Operand, Product
from ..formats import FloatFormat
from ..matrix_product import Step, chain, converted, integer_sum, zeroed
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
        return self.rows[..., :, None] & self.columns[..., None, :]


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
        encode = alg.saturate if update.saturates else alg.wrap
        value = encode(exact_sum(alg, update, x, y, acc, live), family.result)
    else:
        value = float_sum(alg, update, x, y, acc, live, rounding, choices)
    return zeroed(alg, live.elements, value, family.result)


def exact_sum(alg: Algebra, update: RankKUpdate, x: Array, y: Array, acc: Array, live: Live) -> Any:
    """Return the exact integers ``[ACC[i,j] +] sum_p X[i,p] * Y[j,p]`` over the live p."""
    family = update.family
    assert isinstance(family, IntegerFamily)
    rows, columns = (x[..., :, None, :], family.x), (y[..., None, :, :], family.y)
    total = integer_sum(alg, rows, columns, live.products[..., None, None, :])
    return total + alg.integer(acc, family.result) if update.accumulates else total


def saturation(alg: Algebra, update: RankKUpdate, x: Array, y: Array, acc: Array, live: Live) -> Array:
    """Tell which elements (…, 4, n) an instruction clamps; any of them sets VSCR.SAT."""
    family = update.family
    if not (update.saturates and isinstance(family, IntegerFamily)):
        return live.elements & ~live.elements
    return live.elements & ~alg.in_range(exact_sum(alg, update, x, y, acc, live), family.result)


def float_sum(
    alg: Algebra,
    update: RankKUpdate,
    x: Array,
    y: Array,
    acc: Array,
    live: Live,
    rounding: Rounding | Any,
    choices: Choices,
    watched: Callable[[Step], Step] = lambda step: step,
) -> Array:
    """Return the rounded sum of the products and the accumulator.

    f32 and f64 take one fused multiply-add, ``[-] round(X[i] * Y[j] [± ACC[i,j]])``: ``np`` is
    ``-(x*y - acc)`` and ``nn`` is ``-(x*y + acc)``. f16 and bf16 add the accumulator last,
    ``round([-] round(X[i,0]*Y[j,0] + X[i,1]*Y[j,1]) [± ACC[i,j]])``; a product that PMSK switches off has
    both operands replaced by +0. `watched` wraps the one operation that all of it is made of.
    """
    family = update.family
    assert isinstance(family, FloatFamily)
    fmt = family.result
    old = Operand(acc, fmt) if update.accumulates else None
    if family.rank == 1:
        factors = Operand(x[..., :, None, :], family.x), Operand(y[..., None, :, :], family.y)
        if old is not None and update.negative_accumulator != update.negative_product:
            old = Operand(alg.negate(old), fmt)
        before = update.negative_product and choices.negation == "before-rounding"
        total = chain(watched(_step(alg, rounding, choices, negated=before)), fmt, *factors, old)
        return alg.negate(total) if update.negative_product else total.bits
    live_factors = live.products[..., None, :]
    left = zeroed(alg, live_factors, x, family.x)[..., :, None, :]
    right = zeroed(alg, live_factors, y, family.y)[..., None, :, :]
    step = watched(_step(alg, rounding, choices))
    is_wide = family.x.exponent_bits == fmt.exponent_bits
    wide = SIGNIFICAND_24 if is_wide else fmt
    two_roundings = is_wide and choices.bf16_sum == "two-step"
    to_nearest = two_roundings and choices.bf16_direction == "nearest"
    first = watched(_step(alg, Rounding.NEAREST_EVEN, choices)) if to_nearest else step
    total = chain(first, wide, Operand(left[..., :1], family.x), Operand(right[..., :1], family.y))
    total = chain(
        first,
        wide if two_roundings else fmt,
        Operand(left[..., 1:], family.x),
        Operand(right[..., 1:], family.y),
        total,
    )
    if update.negative_product:
        total = Operand(alg.negate(total), total.format)
    if old is None:
        return converted(step, total, fmt).bits
    if update.negative_accumulator:
        old = Operand(alg.negate(old), fmt)
    return step(fmt, (), [total, old]).bits


def _step(alg: Algebra, rounding: Rounding | Any, choices: Choices, *, negated: bool = False) -> Step:
    """Return a fused multiply-add that, if so chosen, takes the first NaN of the operands x, addends, y.

    Parameters
    ----------
    negated : bool
        Whether the negated sum is rounded, and negated back.
    """

    def step(fmt: FloatFormat, products: Sequence[Product], addends: Sequence[Operand]) -> Operand:
        total = Operand(alg.fused(fmt, rounding, products, addends), fmt)
        if negated:  # an exact zero keeps its sign rule
            mirrored = Operand(alg.fused(fmt, rounding.mirrored, products, addends), fmt)
            exact_zero = alg.is_zero(total) & alg.is_zero(mirrored)
            total = Operand(alg.where(exact_zero, total.bits, mirrored.bits), fmt)
        if choices.nan == "default":
            return total
        operands = [*(x for x, _ in products), *addends, *(y for _, y in products)]
        return Operand(alg.propagate_nan(total, operands), fmt)

    return step
