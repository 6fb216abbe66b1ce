"""How far one element of D is from the exact sum, in the readings that say how sums are rounded."""

from __future__ import annotations

from collections.abc import Iterator

from ..dot_add_bound import RoundingStep, bound_text, rounding_step
from ..formats import as_float
from .catalogue import MatrixMultiply
from .choices import PAIRWISE, SEQUENTIAL, Choices
from .instructions import Written
from .product import flushes, sums_pairwise
from .targets import TARGETS, Target


def roundings(
    row: MatrixMultiply, target: Target, accumulation: str = SEQUENTIAL
) -> tuple[RoundingStep, ...]:
    """Return what rounds a product, and C at most: a fused multiply-add for each product.

    Pairwise a product is rounded by itself, then in the sums of its group, and with C in every group.
    """
    result = as_float(target.format(row.result))
    group = row.elements("a")
    pairwise = accumulation == PAIRWISE and sums_pairwise(row, target)
    return (rounding_step(result),) * (group.bit_length() + row.k // group if pairwise else row.k)


def error_bounds(written: Written) -> Iterator[str]:
    """Yield the bound of the reading that is documented; nothing for integers."""
    row, target = written.somewhere
    if row.result == "i32":
        return
    yield f"{SEQUENTIAL}: {bound_text(roundings(row, target))}"
    conditions = ["if no result overflows or underflows"]
    has = [(each, on) for each in TARGETS.values() if (on := written.on(each)) is not None]
    trees: dict[str, list[str]] = {}
    for each, on in has:
        if sums_pairwise(on, each):
            trees.setdefault(bound_text(roundings(on, each, PAIRWISE)), []).append(each.name)
    for text, names in trees.items():
        yield f"{PAIRWISE}, on {', '.join(names)}: {text}"
    if flushing := [each.name for each, on in has if flushes(on, each, Choices())]:
        conditions.append(f"not of subnormal A, B or C on {', '.join(flushing)}, where they are flushed")
    if row.factors == "xf32":
        conditions.append("of A and B as they are shortened to 10 fraction bits")
    yield f"S = |C| + sum(|A·B|); {'; '.join(conditions)}; theorem mfma/numerics/bound"
