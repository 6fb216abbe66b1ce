"""Every way in which the architectures' models accumulate the products of float instructions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ...spec.dot_add_model import DotAddModel
from ...spec.formats import FloatFormat
from ...spec.ptx.architectures import Architecture, Step, step
from ...spec.ptx.catalogue import forms, variants
from ...spec.ptx.multiplication import MULTIPLYING, Multiplication, multiplication
from .composition import executing


@dataclass(frozen=True)
class Accumulation:
    """How an architecture sums the products of one or more instructions.

    Attributes
    ----------
    architecture : Architecture
        Whose model.
    step : Step
        One fused step.
    a, b, c, d : FloatFormat
        Element types.
    scale : FloatFormat or None
        Type of the scale factors.
    factors : int
        Scale factors of one row or column in a step; 0 for none.
    """

    architecture: Architecture
    step: Step
    a: FloatFormat
    b: FloatFormat
    c: FloatFormat
    d: FloatFormat
    scale: FloatFormat | None
    factors: int

    @property
    def name(self) -> str:
        """Part of an id."""
        types = [self.a, self.b, self.c, self.d, *([self.scale, f"{self.factors}X"] if self.scale else [])]
        return f"{self.architecture.name}/{'-'.join(map(str, types))}/k{self.step.products}"

    @property
    def aligned(self) -> tuple[str, ...]:
        """What the alignment of a product depends on, as parts of ids; in any order of its factors."""
        by = f"/by-{self.model.group}" if self.model.group > 1 else ""
        pair = () if by else ("-".join(sorted((str(self.a), str(self.b)))),)
        return (*pair, f"scale-{self.scale}{by}") if self.scale else pair

    @property
    def sums(self) -> str:
        """What the aligned sum depends on, as part of an id."""
        scaled = f"/{self.factors}X" if self.scale else ""
        by = f"/by-{self.model.group}" if self.model.group > 1 else ""
        return f"{self.model.fraction_bits}-bits/k{self.step.products}{scaled}{by}"

    @property
    def rounds(self) -> str:
        """What the final rounding depends on, as part of an id."""
        return f"{self.model}/{self.d}"

    @property
    def model(self) -> DotAddModel:
        """What a step computes."""
        return self.step.model

    @property
    def kept(self) -> int:
        """Fraction bits of the result."""
        bits = self.model.result_fraction_bits
        return self.d.fraction_bits if bits is None else bits

    @property
    def digits(self) -> int:
        """The p of the bound 2**p on the sum of magnitudes."""
        return min(self.model.fraction_bits, self.kept) + 1


@cache
def accumulations() -> tuple[Accumulation, ...]:
    """Return every way in which an architecture sums the products of a float instruction."""
    found = {}
    for family in MULTIPLYING:
        for form in forms(family):
            for variant in variants(form):
                if variant.family in MULTIPLYING:
                    instruction = multiplication(variant)
                    for architecture in executing(instruction):
                        each = _accumulation(architecture, instruction)
                        found[each.name] = each
    return tuple(found.values())


def _accumulation(architecture: Architecture, instruction: Multiplication) -> Accumulation:
    a, b, c, d = (instruction.floats(instruction.format(role)) for role in "abcd")
    one = step(architecture, a, instruction.container, d, instruction.products)
    block_scale = instruction.block_scale
    if block_scale is None:
        return Accumulation(architecture, one, a, b, c, d, None, 0)
    return Accumulation(architecture, one, a, b, c, d, block_scale.format, block_scale.vector)
