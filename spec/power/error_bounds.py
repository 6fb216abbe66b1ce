"""How far one element of an accumulator is from the exact sum, after one update."""

from __future__ import annotations

from collections.abc import Iterator

from ..dot_add_bound import RoundingStep, bound_text, rounding_step
from ..formats import as_float
from ..rounding import Rounding
from .catalogue import FloatFamily, RankKUpdate
from .rank_k_update import SIGNIFICAND_24


def roundings(update: RankKUpdate, direction: Rounding) -> tuple[RoundingStep, ...]:
    """Return what rounds the products of a float form, in its order; the accumulator goes through the last.

    f32 and f64 round once; two products of f16 or bf16 are summed, which rounds once, as the first of them
    is exact, then the accumulator is added, or bf16's sum is rounded to f32.
    """
    family = update.family
    assert isinstance(family, FloatFamily)
    last = rounding_step(family.result, direction)
    if family.rank == 1:
        return (last,)
    wide = as_float(
        SIGNIFICAND_24 if family.x.exponent_bits == family.result.exponent_bits else family.result
    )
    first = rounding_step(wide, direction)
    return (first, last) if update.accumulates or wide != family.result else (first,)


def error_bounds(update: RankKUpdate) -> Iterator[str]:
    """Yield the bound to nearest, and in the other directions; nothing for integers."""
    if not isinstance(update.family, FloatFamily):
        return
    yield f"to nearest: {bound_text(roundings(update, Rounding.NEAREST_EVEN))}"
    yield f"in other directions: {bound_text(roundings(update, Rounding.TOWARD_ZERO))}"
    start = "|ACC| + " if update.accumulates else ""
    yield f"S = {start}sum(|X·Y|); if no result overflows or underflows; theorem power/numerics/bound"
