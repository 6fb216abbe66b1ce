"""How far one element of D is from the exact sum, as a choice of accumulation computes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from ..dot_add_bound import RoundingStep, bound_text, rounding_step, step_bound, total_bound
from ..formats import FloatFormat
from .architectures import ARCHITECTURES, architecture_named
from .choices import SEQUENTIAL, UNSPECIFIED, Choices
from .resolution import Multiplication, multiplication
from .step_sequences import StepSequence, step_sequence
from .variant import MULTIPLYING, Variant


@dataclass(frozen=True)
class AccumulationBound:
    """The roundings between the products, or C, and an element of D.

    Attributes
    ----------
    of_products, of_addend : tuple of RoundingStep
        In their order.
    ignores_zeros : bool
        Whether zero products lose nothing of the others.
    """

    of_products: tuple[RoundingStep, ...]
    of_addend: tuple[RoundingStep, ...]
    ignores_zeros: bool = True

    @property
    def relative(self) -> Fraction:
        """What is multiplied by S, the sum of the terms' magnitudes."""
        return total_bound(self.of_products)[0]

    @property
    def absolute(self) -> Fraction:
        """What is added to it, for results that underflow."""
        return total_bound(self.of_products)[1]

    def __str__(self) -> str:
        return bound_text(self.of_products)


def accumulation_bound(form: Multiplication, choices: Choices) -> AccumulationBound | None:
    """Bound the error of a float instruction; None if its accumulation is unspecified.

    The bound is ``relative·S + absolute``, S the sum of the magnitudes of C and of the products, in which a
    subnormal factor counts as the least normal number (`dot_add_bound`), unless a result overflows.

    Raises
    ------
    InputError
        If the architecture has no such instruction.
    """
    d, accumulator = form.floats(form.d), form.floats(form.accumulator)
    converted = () if d == accumulator else (rounding_step(d),)
    if form.is_double and choices.f64_order == UNSPECIFIED:
        return None
    if form.is_double or choices.accumulation == SEQUENTIAL:
        steps = (rounding_step(accumulator, form.rounding),) * form.products
        return AccumulationBound((*steps, *converted), (*steps, *converted))
    if choices.accumulation == UNSPECIFIED:
        return None
    architecture = architecture_named(choices.accumulation)
    form.require_executable_on(architecture)
    sequence = step_sequence(architecture, form)
    model = choices.read(sequence.model)
    steps = (step_bound(model, sequence.products, factors_of(form, sequence), accumulator),) * (
        sequence.total // sequence.products
    )
    last = (rounding_step(accumulator),) if sequence.code.addend_last else ()
    return AccumulationBound(
        (*steps, *last, *converted),
        (*(last or steps), *converted),
        not model.zero_terms,
    )


def factors_of(form: Multiplication, sequence: StepSequence) -> tuple[FloatFormat, ...]:
    """Return the formats of what a step multiplies: both factors and, if any, their scale factors."""
    widened = sequence.code.factors != form.a
    pair = (
        (form.floats(sequence.code.factors),) * 2 if widened else (form.floats(form.a), form.floats(form.b))
    )
    return pair if form.block_scale is None else (*pair, *(form.block_scale.format,) * 2)


def error_bounds(variant: Variant) -> Iterator[str]:
    """Yield how far an element of D is from the exact sum, by default and by each architecture's model."""
    if variant.family not in MULTIPLYING or (form := multiplication(variant)).is_integer:
        return
    found: dict[str, list[str]] = {}
    architectures = () if form.is_double else filter(form.is_executable_on, ARCHITECTURES)
    for name in (SEQUENTIAL, *(architecture.name for architecture in architectures)):
        found.setdefault(str(accumulation_bound(form, Choices(accumulation=name))), []).append(name)
    for text, names in found.items():
        yield f"{', '.join(names)}: {text}"
    yield (
        "S = |C| + sum(|A·B|) of the scaled factors, a subnormal one counted as the least normal number; "
        "if no result overflows or underflows"
    )
