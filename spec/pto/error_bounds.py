"""How far one element of D is from the exact sum, in the readings that a profile takes by default."""

from __future__ import annotations

from collections.abc import Iterator

from ..dot_add_bound import rounding_step
from ..formats import F32, IntegerFormat
from .catalogue import OperationKind
from .choices import ADDED_LAST, choices_of
from .resolution import Resolved


def added_last(resolved: Resolved) -> bool:
    """Tell whether the accumulator or the bias is added to the sum of the products, one rounding more."""
    operation = resolved.operation
    started = operation.accumulates or operation.biased
    return started and choices_of(resolved.profile).accumulation == ADDED_LAST


def error_bounds(resolved: Resolved) -> Iterator[str]:
    """Yield the bound of a product of floats, of any k; nothing for integers and moves.

    Every product is a fused multiply-add, onto the accumulator, the bias or 0.
    """
    element = resolved.element("d")
    if resolved.operation.kind is OperationKind.MOVE or (
        element is not None and isinstance(element.format, IntegerFormat)
    ):
        return
    profile, unit = resolved.profile, rounding_step(F32).formula
    power = "(k + 1)" if added_last(resolved) else "k"
    reading = choices_of(profile).accumulation
    yield f"{profile}, {reading}: |D - exact| ≤ ((1 + {unit})^{power} - 1)·S"


CONDITIONS = (
    "of floats, S = [|C| or |bias|] + sum(|A·B|) of the scaled factors; if no result overflows or "
    "underflows; theorem pto/numerics/bound"
)
"""What S is, and when the bounds hold."""
