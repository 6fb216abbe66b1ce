"""Every way in which the architectures' models accumulate the products of float instructions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ...spec.dot_add_model import DotAddModel
from ...spec.formats import FloatFormat
from ...spec.ptx.architectures import Architecture
from ...spec.ptx.catalogue import forms
from ...spec.ptx.resolution import Multiplication, multiplication
from ...spec.ptx.step_sequences import StepSequence, step_sequence
from ...spec.ptx.variant import MULTIPLYING
from .composition import executing


@dataclass(frozen=True)
class ModelAccumulation:
    """How an architecture sums the products of one or more instructions.

    Attributes
    ----------
    architecture : Architecture
        Whose model.
    sequence : StepSequence
        Its fused steps.
    types : tuple of FloatFormat
        Element types of A, B, C and D.
    a, b : FloatFormat
        What A and B are multiplied as.
    accumulator : FloatFormat
        Type of the addend and the result of a step.
    scale : FloatFormat or None
        Type of the scale factors.
    factors : int
        Scale factors of one row or column in a step; 0 for none.
    """

    architecture: Architecture
    sequence: StepSequence
    types: tuple[FloatFormat, FloatFormat, FloatFormat, FloatFormat]
    a: FloatFormat
    b: FloatFormat
    accumulator: FloatFormat
    scale: FloatFormat | None
    factors: int

    @property
    def name(self) -> str:
        """Part of an id."""
        types = [*self.types, *([self.scale, f"{self.factors}X"] if self.scale else [])]
        return f"{self.architecture.name}/{'-'.join(map(str, types))}/k{self.products}"

    @property
    def products(self) -> int:
        """How many products a step takes."""
        return self.sequence.products

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
        return f"{self.model.fraction_bits}-bits/k{self.products}{scaled}{by}"

    @property
    def rounds(self) -> str:
        """What the final rounding depends on, as part of an id."""
        return f"{self.model}/{self.accumulator}"

    @property
    def widened(self) -> tuple[FloatFormat, ...]:
        """Types of A and B that are converted to another before they are multiplied."""
        left, right, *_ = self.types
        return tuple(dict.fromkeys(fmt for fmt, used in ((left, self.a), (right, self.b)) if fmt != used))

    @property
    def rounded_alone(self) -> tuple[FloatFormat, ...]:
        """Types to which a sum is rounded outside of the steps: where C is added last, and D's."""
        last = (self.accumulator,) if self.sequence.code.addend_last else ()
        return (*last, *(fmt for fmt in self.types[3:] if fmt != self.accumulator))

    @property
    def model(self) -> DotAddModel:
        """What a step computes."""
        return self.sequence.model

    @property
    def kept(self) -> int:
        """Fraction bits of a step's result."""
        bits = self.model.result_fraction_bits
        return self.accumulator.fraction_bits if bits is None else bits

    @property
    def step_digits(self) -> int:
        """The p of the bound 2**p below which a step is exact on integers."""
        return min(self.model.fraction_bits, self.kept) + 1

    @property
    def digits(self) -> int:
        """The p of the bound 2**p on the sum of magnitudes."""
        return min(self.step_digits, *(fmt.precision for fmt in self.types[2:]))


def accumulations() -> tuple[ModelAccumulation, ...]:
    """Return every way in which an architecture sums the products of a float instruction."""
    return tuple(lengths())


@cache
def lengths() -> Mapping[ModelAccumulation, tuple[int, ...]]:
    """Return all of them, with the numbers of steps that instructions take."""
    found: dict[str, ModelAccumulation] = {}
    steps: dict[str, set[int]] = {}
    for family in MULTIPLYING:
        for form in forms(family):
            for variant in form.variants():
                if variant.family in MULTIPLYING:
                    instruction = multiplication(variant)
                    for architecture in executing(instruction):
                        each = accumulation(architecture, instruction)
                        found[each.name] = each
                        steps.setdefault(each.name, set()).add(each.sequence.total // each.products)
    return {each: tuple(sorted(steps[name])) for name, each in found.items()}


def accumulation(architecture: Architecture, instruction: Multiplication) -> ModelAccumulation:
    """Return how an architecture sums the products of a float instruction that it executes."""
    a, b, c, d = (instruction.floats(instruction.format(role)) for role in "abcd")
    sequence = step_sequence(architecture, instruction)
    as_they_are = sequence.code.factors == a
    factors = (a, b) if as_they_are else (instruction.floats(sequence.code.factors),) * 2
    accumulator = instruction.floats(instruction.accumulator)
    block_scale = instruction.block_scale
    scale = (None, 0) if block_scale is None else (block_scale.format, block_scale.vector)
    return ModelAccumulation(architecture, sequence, (a, b, c, d), *factors, accumulator, *scale)
