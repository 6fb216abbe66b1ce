"""Integer polynomials times powers of two: what float64 computes with unknown integers, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp
from typing import Any

from ..spec.errors import UnsupportedError

NO_TRANSLATION = "integers that are truncated have no translation for a solver"
"""Why solvers are not asked about polynomials that have been truncated."""


@dataclass(frozen=True, eq=False)
class Dyadic:
    """The number ``polynomial · 2**exponent``, an integer wherever that is evident.

    It takes the place of a float in numpy object arrays: adds, multiplies, also by floats that are powers of
    two, and truncates. Truncating an integer changes nothing; what else is truncated is `lost`, and equals
    nothing.

    Attributes
    ----------
    polynomial : sympy.polys.rings.PolyElement or int
        Its variables stand for integers, and its coefficients are. A number is truncated as it is, and
        never `lost`.
    exponent : int
        Of the power of two.
    lost : bool
        Whether a fraction may have been truncated.
    remainder : sympy.polys.rings.PolyElement, optional
        An indeterminate: the fraction that the next truncation takes away, of the number or of a sum or
        product that it has become part of. With one, nothing is `lost`.
    """

    polynomial: Any
    exponent: int = 0
    lost: bool = False
    remainder: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.polynomial, int) and not hasattr(self.polynomial, "coeffs"):
            raise UnsupportedError(NO_TRANSLATION)

    def __mul__(self, other: Any) -> Dyadic:
        if isinstance(other, Dyadic):
            lost = self.lost or other.lost
            remainder = other.remainder if self.remainder is None else self.remainder
            return Dyadic(self.polynomial * other.polynomial, self.exponent + other.exponent, lost, remainder)
        return self._shifted(_logarithm(other))

    def __truediv__(self, other: float) -> Dyadic:
        return self._shifted(-_logarithm(other))

    def _shifted(self, places: int) -> Dyadic:
        return Dyadic(self.polynomial, self.exponent + places, self.lost, self.remainder)

    def __add__(self, other: Any) -> Dyadic:
        if not isinstance(other, Dyadic):
            return self if other == 0 else NotImplemented
        least = min(self.exponent, other.exponent)
        left, right = self._in_units(least), other._in_units(least)
        remainder = other.remainder if self.remainder is None else self.remainder
        return Dyadic(left + right, least, self.lost or other.lost, remainder)

    __radd__ = __add__

    def _in_units(self, exponent: int) -> Any:
        return self.polynomial * (1 << places) if (places := self.exponent - exponent) else self.polynomial

    def __trunc__(self) -> Dyadic:
        if self.remainder is not None:
            return Dyadic(self.polynomial, self.exponent, self.lost) + Dyadic(-self.remainder)
        unit = 1 << max(0, -self.exponent)
        if isinstance(self.polynomial, int):
            magnitude = abs(self.polynomial) // unit
            return Dyadic(magnitude if self.polynomial > 0 else -magnitude, max(0, self.exponent))
        whole = all(coefficient % unit == 0 for coefficient in self.polynomial.coeffs())
        return Dyadic(self.polynomial, self.exponent, self.lost or not whole)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dyadic):
            return other == 0 and not self.lost and not self.polynomial
        least = min(self.exponent, other.exponent)
        exact = not (self.lost or other.lost)
        return exact and bool(self._in_units(least) == other._in_units(least))

    def __hash__(self) -> int:
        return hash(self.exponent)

    def __str__(self) -> str:
        number = str(self.polynomial) if isinstance(self.polynomial, int) else f"({self.polynomial})"
        number += f" · 2^{self.exponent}" if self.exponent else ""
        return f"trunc{number}" if self.lost else number


def _logarithm(power: float) -> int:
    mantissa, exponent = frexp(power)
    if mantissa != 0.5:
        raise ValueError(f"{power} is not a power of two")
    return exponent - 1
