"""Published models of the floating-point matrix units, one for each NVIDIA architecture.

Measured, not promised: each is one reading of what PTX leaves open. Source: MMA-Sim (arXiv
2511.10909); Khattak and Mikaitis (arXiv 2512.07004); Valpey et al. (arXiv 2502.15999).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError
from .targets import target_named


@dataclass(frozen=True)
class Architecture:
    """How one architecture accumulates the floating-point products of an mma.

    Attributes
    ----------
    name : str
        How ``--choice`` names it.
    target : str
        The target whose instructions it executes.
    fraction_bits : int
        F of `DotAddModel` for 16-bit types, tf32 and the types without an entry of their own.
    step_bits : int, optional
        Bits of a row of A taken in one fused step; None: the whole row. Longer rows are chained
        through the accumulator's type.
    fp8_fraction_bits : int, optional
        F of the 8-bit types, and the fraction bits that their f32 results keep.
    fp8_step_bits : int, optional
        Bits of a row of an 8-bit A taken in one step.
    """

    name: str
    target: str
    fraction_bits: int
    step_bits: int | None = None
    fp8_fraction_bits: int | None = None
    fp8_step_bits: int | None = None

    @property
    def meaning(self) -> str:
        """The model in a few words."""
        taken = "the whole row" if self.step_bits is None else f"{self.step_bits} bits of a row"
        text = f"fused dot-add, {taken} at once, terms truncated to {self.fraction_bits} fraction bits"
        if self.fp8_fraction_bits is not None:
            text += f" (fp8: {self.fp8_fraction_bits}, results too)"
        if self.fp8_step_bits not in (self.step_bits, None):
            text += f" (fp8: {self.fp8_step_bits} bits at once)"
        if not target_named(self.target).multiplies_fp8:
            text += (
                " (mma on e4m3, e5m2 as ptxas emulates it: as f16, k mod 4 < 2 first, from +0; C added last)"
            )
        return text


ARCHITECTURES = (
    Architecture("volta", "sm_70", 23, step_bits=64),
    Architecture("turing", "sm_75", 24, step_bits=128),
    Architecture("ampere", "sm_80", 24, step_bits=128),
    Architecture("ada", "sm_89", 24, step_bits=128, fp8_fraction_bits=13, fp8_step_bits=128),
    Architecture("hopper", "sm_90a", 25, fp8_fraction_bits=13),
    Architecture("blackwell-sm100", "sm_100a", 25),
    Architecture("blackwell", "sm_120a", 25),
)
"""Every published model."""


def architecture_named(name: str) -> Architecture:
    """Look an architecture up.

    Raises
    ------
    InputError
        If no model of that name is published.
    """
    for architecture in ARCHITECTURES:
        if architecture.name == name:
            return architecture
    raise InputError(f"unknown architecture {name!r}; known: {', '.join(a.name for a in ARCHITECTURES)}")
