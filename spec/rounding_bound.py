"""How far a floating-point sum can be from the exact one, in whatever order its terms are added.

A sum is a tree: a leaf is an exact term (a product that is not rounded by itself, an element of C), a
node rounds the exact sum of its children once, and then counts as rounded. With S the sum of the
magnitudes of the terms, d the most roundings between a term and the result, r all roundings, u the
format's unit roundoff and η half its smallest positive number, all for rounding to nearest,

    |computed - exact| ≤ ((1 + u)^d - 1)·S + r·(1 + u)^d·η

unless a rounding overflows. A sum of n exact terms has n - 1 roundings (a fused multiply-add is one),
fewer where a node takes more than two children. Proved by induction on the tree: theorems
``ptx/rounding``; `growth_after_rounding` and `error_bound` are what their steps are about. Source:
IEEE 754-2019 section 4.3; Higham, Accuracy and Stability of Numerical Algorithms, sections 2.2 and 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .errors import InputError
from .formats import FloatFormat
from .rounding import Rounding


def unit_roundoff(fmt: FloatFormat, rounding: Rounding = Rounding.NEAREST_EVEN) -> Fraction:
    """Return u: rounding z, if it does not underflow or overflow, is off by u·|z| at most."""
    return Fraction(1, 1 << (fmt.precision if rounding is Rounding.NEAREST_EVEN else fmt.fraction_bits))


def underflow_unit(fmt: FloatFormat, rounding: Rounding = Rounding.NEAREST_EVEN) -> Fraction:
    """Return η: rounding z below the normal numbers is off by η at most.

    Raises
    ------
    InputError
        If the format has no subnormal numbers: then it has no such bound.
    """
    if not fmt.subnormals:
        raise InputError(f"{fmt} has no subnormal numbers: rounding to it has no error bound near 0")
    return unit_roundoff(fmt, rounding) * Fraction(2) ** fmt.minimum_exponent


def growth_after_rounding(growth: Any, unit: Any) -> Any:
    """Return ``(1 + growth)·(1 + unit) - 1``, for numbers and polynomials alike."""
    return growth + unit + growth * unit


def error_bound(growth: Any, roundings: Any, magnitude: Any, underflow: Any) -> Any:
    """Return ``growth·S + roundings·(1 + growth)·η``, for numbers and polynomials alike."""
    return growth * magnitude + roundings * (1 + growth) * underflow


@dataclass(frozen=True)
class RoundingBound:
    """A bound ``relative·S + absolute`` of the error of a sum, S the sum of its terms' magnitudes.

    Attributes
    ----------
    relative, absolute : Fraction
        The two parts.
    formula : str
        The bound as mathematics.
    hypotheses : tuple of str
        What must be true of the evaluation.
    """

    relative: Fraction
    absolute: Fraction
    formula: str
    hypotheses: tuple[str, ...]

    def of(self, magnitude: Fraction) -> Fraction:
        """Return the bound for terms whose magnitudes sum to `magnitude`."""
        return self.relative * magnitude + self.absolute

    def __str__(self) -> str:
        return f"|computed - exact| ≤ {self.formula}"


def rounding_bound(
    roundings: int,
    fmt: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    *,
    depth: int | None = None,
    quantum: int | None = None,
) -> RoundingBound:
    """Bound the error of a sum of exact terms, added in any order and grouping.

    Parameters
    ----------
    roundings : int
        How many results are rounded altogether: n - 1 for n exact terms, one more for each term that
        is rounded by itself (a product of ``mul``, a conversion).
    fmt : FloatFormat
        To which format.
    rounding : Rounding
        In which direction.
    depth : int, optional
        The most roundings between a term and the result; all of them, if it is not known.
    quantum : int, optional
        Every term is a multiple of ``2**quantum``: a number of a format of its quantum, a product of
        formats x and y of ``2**(x.quantum + y.quantum)``. From the quantum of the result's format on,
        nothing is lost to underflow, and the bound has no absolute part.

    Raises
    ------
    InputError
        If a count is negative, or `depth` more than `roundings`; from `underflow_unit`.
    """
    if roundings < 0:
        raise InputError(f"roundings must be 0 or more, not {roundings}")
    longest = roundings if depth is None else depth
    if not min(roundings, 1) <= longest <= roundings:
        raise InputError(f"depth must be {min(roundings, 1)} to {roundings}, the roundings, not {depth}")
    unit, underflow = unit_roundoff(fmt, rounding), underflow_unit(fmt, rounding)
    growth = (1 + unit) ** longest - 1
    power, formula = unit.denominator.bit_length() - 1, "0"
    if longest:
        size = f"about {float(growth):.3g}·S" if growth < 1 else "not less than S"
        formula = f"((1 + 2^-{power})^{longest} - 1)·S, {size}, S = Σ |term|"
    hypotheses = [
        f"every sum is rounded once, to {fmt}, {_DIRECTIONS[rounding]}",
        f"no rounding overflows {fmt}",
    ]
    if quantum is not None and quantum >= fmt.quantum:
        hypotheses.append(f"every term is a multiple of 2^{quantum}, so that nothing underflows")
        underflow = Fraction(0)
    absolute = error_bound(growth, roundings, Fraction(0), underflow)
    if absolute:
        least = underflow.denominator.bit_length() - 1
        formula += f", plus {roundings}·(1 + 2^-{power})^{longest}·2^-{least} if results underflow"
    return RoundingBound(growth, absolute, formula, tuple(hypotheses))


_DIRECTIONS = {
    Rounding.NEAREST_EVEN: "to nearest",
    Rounding.TOWARD_ZERO: "toward zero",
    Rounding.UPWARD: "upward",
    Rounding.DOWNWARD: "downward",
}
