"""Published models of the floating-point matrix units, one for each NVIDIA architecture.

Measured, not promised: each is one reading of what PTX leaves open. Source: MMA-Sim (arXiv
2511.10909); Khattak and Mikaitis (arXiv 2512.07004); Valpey et al. (arXiv 2502.15999).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..dot_add_model import DotAddModel
from ..errors import InputError
from ..formats import E2M1, F16, FloatFormat, Format
from ..rounding import Rounding

MXF4_FRACTION = 35
"""F of the block-scaled products of 4-bit elements in 4-bit containers."""

MXF4_GROUP = 16
"""How many of their products are summed exactly before the sum is scaled and aligned."""


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
        if self.fp8_step_bits != self.step_bits:
            text += f" (fp8: {self.fp8_step_bits} bits at once)"
        return text


ARCHITECTURES = (
    Architecture("volta", "sm_70", 23, step_bits=64),
    Architecture("turing", "sm_75", 24, step_bits=128),
    Architecture("ampere", "sm_80", 24, step_bits=128),
    Architecture("ada", "sm_89", 24, step_bits=128, fp8_fraction_bits=13, fp8_step_bits=128),
    # ptxas turns fp8 of mma.sync into two f16 instructions of half the row on sm_90.
    Architecture("hopper", "sm_90a", 25, fp8_step_bits=128),
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


@dataclass(frozen=True)
class Step:
    """One fused step of a longer accumulation.

    Attributes
    ----------
    model : DotAddModel
        What a step computes.
    products : int
        How many products it takes.
    """

    model: DotAddModel
    products: int


def step(architecture: Architecture, a: FloatFormat, container: int, d: Format, products: int) -> Step:
    """Return the steps in which a row of products is accumulated.

    Parameters
    ----------
    architecture : Architecture
        Whose model.
    a : FloatFormat
        Element type of A.
    container : int
        Bits that an element occupies in a register.
    d : Format
        Element type of the result.
    products : int
        Products of the whole row.
    """
    rounding = Rounding.NEAREST_EVEN if d == F16 else Rounding.TOWARD_ZERO
    if a == E2M1 and container == a.bits:  # mxf4 and mxf4nvf4: whole groups are summed exactly
        return Step(DotAddModel(MXF4_FRACTION, rounding, group=MXF4_GROUP), products)
    fraction, bits, kept = architecture.fraction_bits, architecture.step_bits, None
    if container == 8:
        bits = architecture.fp8_step_bits
        if architecture.fp8_fraction_bits is not None:
            fraction = architecture.fp8_fraction_bits
            kept = None if d == F16 else fraction
    taken = products if bits is None else min(products, bits // container)
    return Step(DotAddModel(fraction, rounding, kept), taken)
