"""How far sums through fused dot-adds are from the exact ones.

A step truncates its terms to multiples of ``2**(Emax - F)`` and rounds the sum once (`dot_add`). A term
loses less than that unit, one that has the largest exponent nothing if F is not less than its fraction
bits, and no truncated term is greater than it was. With S the sum of the terms' magnitudes and u the unit
roundoff of the last rounding a step is therefore off by at most

    n·2**(Emax - F) + u·max(S, 2**emin) ≤ h·S + η,  h = w·n·2**-F + u,  η = (n·2**-F + u)·2**emin

for the n terms that may lose something: 2**Emax is at most w·S, or 2**emin, the least normal number of
the accumulator. w is 1, but for groups of products summed before: their sum, which is a multiple of the
product of the formats' smallest numbers, is aligned as if it were at least 1.

A subnormal factor (or scale factor) is aligned as its format's least normal number, and counts as that in
S; so does a zero one, if `DotAddModel.zero_terms`, as ``2**-126``. Steps and roundings add up along any
tree as roundings do (`rounding_bound`), each with its own unit: theorems ``ptx/numerics/dot-add-bound``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any, NamedTuple

from .dot_add_model import DotAddModel
from .formats import FloatFormat
from .rounding import Rounding
from .rounding_bound import error_bound, growth_after_rounding, underflow_unit, unit_roundoff


class RoundingStep(NamedTuple):
    """What rounds a sum of terms: it is off by ``unit·S + underflow`` at most, unless it overflows.

    Attributes
    ----------
    unit, underflow : Fraction
        Of the sum of the terms' magnitudes; where it underflows.
    formula : str
        The unit as mathematics.
    name : str
        What it is, in a few words.
    format : FloatFormat
        What it rounds to.
    """

    unit: Fraction
    underflow: Fraction
    formula: str
    name: str
    format: FloatFormat


class TruncatedTerms(NamedTuple):
    """What aligning the terms of a fused dot-add loses.

    Attributes
    ----------
    terms : int
        How many terms may lose something.
    weight : int
        w: the largest exponent's power of two is at most so many times the sum of magnitudes.
    """

    terms: int
    weight: int


def truncated_terms(
    model: DotAddModel, products: int, factors: Sequence[FloatFormat], addend: FloatFormat
) -> TruncatedTerms:
    """Return what the alignment of a step loses.

    Parameters
    ----------
    model : DotAddModel
        The step's.
    products : int
        K.
    factors : sequence of FloatFormat
        Formats of the left and right factors and, if any, of their scale factors.
    addend : FloatFormat
        Format of C.
    """
    left, right, *scales = factors
    unscaled = (
        -(left.quantum + right.quantum) if model.group > 1 else left.fraction_bits + right.fraction_bits
    )
    places = unscaled + sum(scale.fraction_bits for scale in scales)
    largest_is_exact = model.fraction_bits >= max(places, addend.fraction_bits)
    terms = products // model.group
    return TruncatedTerms(terms + (not largest_is_exact), 1 << unscaled if model.group > 1 else 1)


def step_growth(aligned: Any, weight: Any, unit: Any) -> Any:
    """Return h, for numbers and polynomials alike; `aligned` is n·2**-F."""
    return weight * aligned + unit


def step_underflow(aligned: Any, unit: Any, least_normal: Any) -> Any:
    """Return η, for numbers and polynomials alike."""
    return (aligned + unit) * least_normal


def step_bound(
    model: DotAddModel, products: int, factors: Sequence[FloatFormat], accumulator: FloatFormat
) -> RoundingStep:
    """Bound the error of one fused dot-add; the parameters are those of `truncated_terms`."""
    lost = truncated_terms(model, products, factors, accumulator)
    kept = accumulator.fraction_bits if model.result_fraction_bits is None else model.result_fraction_bits
    last = kept + (model.rounding is Rounding.NEAREST_EVEN)
    unit = Fraction(1, 1 << last)
    aligned = Fraction(lost.terms, 1 << model.fraction_bits)
    least_normal = Fraction(2) ** accumulator.minimum_exponent
    return RoundingStep(
        step_growth(aligned, lost.weight, unit),
        step_underflow(aligned, unit, least_normal),
        f"{lost.weight * lost.terms}·2^-{model.fraction_bits} + 2^-{last}",
        f"fused dot-adds of {products} products to {accumulator}",
        accumulator,
    )


def rounding_step(fmt: FloatFormat, rounding: Rounding = Rounding.NEAREST_EVEN) -> RoundingStep:
    """Bound the error of one rounding of an exact sum."""
    unit = unit_roundoff(fmt, rounding)
    formula = f"2^-{unit.denominator.bit_length() - 1}"
    return RoundingStep(unit, underflow_unit(fmt, rounding), formula, f"to {fmt}", fmt)


def total_bound(steps: Sequence[RoundingStep]) -> tuple[Fraction, Fraction]:
    """Return the relative and the absolute part of the bound of what has gone through steps."""
    growth = Fraction(0)
    for step in steps:
        growth = growth_after_rounding(growth, step.unit)
    lost = sum((step.underflow for step in steps), start=Fraction(0))
    return growth, error_bound(growth, 1, Fraction(0), lost)


def bound_text(steps: Sequence[RoundingStep]) -> str:
    """Spell the relative part of `total_bound`, which counts unless a result underflows."""
    factors = []
    for formula, same in groupby(step.formula for step in steps):
        count = len(list(same))
        factors.append(f"(1 + {formula})" + (f"^{count}" if count > 1 else ""))
    return f"|D - exact| ≤ ({'·'.join(factors)} - 1)·S, about {float(total_bound(steps)[0]):.3g}·S"
