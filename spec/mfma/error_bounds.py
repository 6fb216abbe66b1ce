"""How far one element of D is from the exact sum, in the readings that say how sums are rounded."""

from __future__ import annotations

from collections.abc import Iterator

from ..dot_add_bound import RoundingStep, bound_text, rounding_step
from ..formats import FloatFormat
from .catalogue import MatrixMultiply
from .choices import SEQUENTIAL, Choices
from .instructions import Written
from .product import flushes
from .targets import TARGETS, Target


def roundings(row: MatrixMultiply, target: Target) -> tuple[RoundingStep, ...]:
    """Return what rounds the products and C: a fused multiply-add for each product."""
    result = target.format(row.result)
    assert isinstance(result, FloatFormat)
    return (rounding_step(result),) * row.k


def error_bounds(written: Written) -> Iterator[str]:
    """Yield the bound of the reading that is documented; nothing for integers."""
    row, target = written.somewhere
    if row.result == "i32":
        return
    yield f"{SEQUENTIAL}: {bound_text(roundings(row, target))}"
    conditions = ["if no result overflows or underflows"]
    has = ((each, written.on(each)) for each in TARGETS.values())
    if flushing := [each.name for each, on in has if on is not None and flushes(on, each, Choices())]:
        conditions.append(f"not of subnormal A, B or C on {', '.join(flushing)}, where they are flushed")
    if row.factors == "xf32":
        conditions.append("of A and B as they are shortened to 10 fraction bits")
    yield f"S = |C| + sum(|A·B|); {'; '.join(conditions)}; theorem mfma/numerics/bound"
