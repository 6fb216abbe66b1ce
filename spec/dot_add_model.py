"""What tells one matrix unit's fused dot-add from another's."""

from __future__ import annotations

from dataclasses import dataclass

from .rounding import Rounding

_READINGS = ("zero_terms", "signed_zeros", "positive_underflow")


@dataclass(frozen=True)
class DotAddModel:
    """Alignment and rounding of one fused dot-add step.

    Attributes
    ----------
    fraction_bits : int
        F: every term is truncated toward zero to a multiple of ``2**(Emax - F)``, Emax the largest
        exponent of a term.
    rounding : Rounding
        Direction of the one final rounding.
    result_fraction_bits : int, optional
        Fraction bits that the result keeps, where that is fewer than its format has.
    group : int
        How many neighbouring products are summed exactly before they are scaled and aligned as one term.
    zero_terms : bool
        Whether a product, or a group of them, that is zero takes part in the largest exponent with the
        exponents of its factors, -126 for each zero; else with -126 alone, so that it pushes nothing out.
    signed_zeros : bool
        Whether a sum of which nothing is left is -0 where every term is negative or -0; else it is +0.
    positive_underflow : bool
        Whether a negative sum that is rounded to zero is +0; else it keeps its sign.
    """

    fraction_bits: int
    rounding: Rounding
    result_fraction_bits: int | None = None
    group: int = 1
    zero_terms: bool = False
    signed_zeros: bool = False
    positive_underflow: bool = False

    def __str__(self) -> str:
        parts = [f"dot_add_{self.fraction_bits}", self.rounding.name.lower()]
        if self.result_fraction_bits is not None:
            parts.append(f"to_{self.result_fraction_bits}")
        if self.group > 1:
            parts.append(f"by_{self.group}")
        parts += [name for name in _READINGS if getattr(self, name)]
        return "_".join(parts)
