"""Roundings of a matrix instruction under a choice of what its ISA leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from ...spec.choices import OpenPoint
from ...spec.dot_add_bound import RoundingStep, rounding_step, total_bound
from ...spec.errors import InputError
from ...spec.formats import FloatFormat
from ...spec.pto import choices as pto
from ...spec.pto.targets import profile_named
from ...spec.ptx.accumulation_bound import AccumulationBound, accumulation_bound
from ...spec.ptx.architectures import ARCHITECTURES
from ...spec.ptx.catalogue import forms
from ...spec.ptx.choices import AS_TWICE_K, OPEN_POINTS, PRESETS, SEQUENTIAL, Choices, choices_named
from ...spec.ptx.resolution import Multiplication, multiplication
from ...spec.ptx.targets import target_named
from ...spec.ptx.variant import MULTIPLYING
from ...spec.rounding import Rounding
from .operations import DOT, SCALED_DOT, Accumulation
from .store import Operation

ACCUMULATE = "accumulate"
"""The order of PTO's products, as terms have it."""

Counted = tuple[FloatFormat | RoundingStep, int]
"""What rounds, and how often."""


class MatrixRounding(Protocol):
    """The roundings of matrix instructions, by one reading of what their ISA leaves open."""

    def of(self, operation: Operation) -> tuple[tuple[Counted, ...], tuple[Counted, ...]] | None:
        """Return the roundings that products, and the addend, of an operation undergo.

        None if that is no matrix instruction, or the reading leaves it open.
        """
        ...


@dataclass(frozen=True)
class ChainRounding:
    """The roundings of PTO's products as documented: fused multiply-adds, k increasing, in f32.

    Attributes
    ----------
    name : str
        What they are.
    added_last : bool
        Whether the accumulator, or the bias, is added to the sum of the products.
    rounding : Rounding
        The direction of every sum.
    """

    name: str
    added_last: bool
    rounding: Rounding

    def __str__(self) -> str:
        return self.name

    def of(self, operation: Operation) -> tuple[tuple[Counted, ...], tuple[Counted, ...]] | None:
        """Return the roundings that products, and the addend, of an operation undergo."""
        how, fmt = operation.attribute, operation.result
        if operation.name not in (DOT, SCALED_DOT) or not isinstance(how, Accumulation):
            return None
        if not isinstance(fmt, FloatFormat) or not how.order.startswith(ACCUMULATE):
            return None
        kind: FloatFormat | RoundingStep = fmt
        if self.rounding is not Rounding.NEAREST_EVEN:
            kind = rounding_step(fmt, self.rounding)._replace(name=f"sums to {fmt} toward zero")
        of_products = how.length + self.added_last
        return ((kind, of_products),), ((kind, 1 if self.added_last else how.length),)


@dataclass(frozen=True)
class PtxRounding:
    """The roundings of matrix instructions by some readings of what PTX leaves open: the worst of them.

    Attributes
    ----------
    name : str
        What they are.
    readings : tuple of Choices
        Each of them.
    """

    name: str
    readings: tuple[Choices, ...]

    def __str__(self) -> str:
        text = f"{self.name}: a subnormal factor counts in S as the least normal number"
        zeros = "zero_products", "zero_groups"
        if any(getattr(reading, name) != "ignored" for reading in self.readings for name in zeros):
            text += ", and no product is zero"
        return text

    def of(self, operation: Operation) -> tuple[tuple[Counted, ...], tuple[Counted, ...]] | None:
        """Return the roundings that products, and the addend, of an operation undergo.

        None if that is no matrix instruction, or the readings leave it open.

        Raises
        ------
        InputError
            If a choice was made, and it has no such instruction.
        """
        how = operation.attribute
        if operation.name not in (DOT, SCALED_DOT) or not isinstance(how, Accumulation):
            return None
        known = list(self._bounds(_named().get((how.order, how.length), ())))
        if not known:
            return None
        both = [each.of_products for each in known], [each.of_addend for each in known]
        of_products, of_addend = (max(each, key=total_bound) for each in both)
        return _counted(of_products), _counted(of_addend)

    def _bounds(self, forms: Sequence[Multiplication]) -> Iterator[AccumulationBound]:
        """Yield the bounds of instructions by the readings that have them."""
        refused, open_ = None, False
        found = 0
        for form in forms:
            for reading in self.readings:
                try:
                    bound = accumulation_bound(form, reading)
                except InputError as reason:
                    refused = reason
                    continue
                open_ |= bound is None
                if bound is not None:
                    found += 1
                    yield bound
        if refused is not None and len(self.readings) == 1 and not (found or open_):
            raise refused


def matrix_rounding(isa: str, target: str, names: Sequence[str]) -> MatrixRounding | None:
    """Return the roundings by choices; of what accumulates, where they say nothing, by every published model.

    Those are the models of the target and of later ones.

    Parameters
    ----------
    isa, target : str
        The kernel's.
    names : sequence of str
        The choices.

    Raises
    ------
    InputError
        If a choice does not exist, is for kernels of another ISA, or is one that no bound is known of.
    """
    if isa == "pto":
        return _of_chains(target, names)
    if isa != "ptx":
        if names:
            raise InputError(f"--choice {names[0]}: no bound of {isa} kernels depends on a choice")
        return None
    chosen = choices_named(list(names))
    if chosen.half_k_metadata != AS_TWICE_K:
        raise InputError(f"--choice half-k-metadata: verify reads metadata by {AS_TWICE_K}, and says so")
    _require_defaults(OPEN_POINTS, chosen, _TAKEN)
    accumulations = [choices_named([name, *names]).accumulation for name in PRESETS]
    if len(set(accumulations)) == 1:
        return PtxRounding(", ".join(names), (choices_named(list(names)),))
    number = target_named(target).number
    by_age = {architecture: target_named(architecture.target).number for architecture in ARCHITECTURES}
    own = max((age for age in by_age.values() if age <= number), default=0)
    later = [each.name for each, age in by_age.items() if age >= own]
    name = " with ".join(filter(None, (f"at worst of {', '.join(later)}", ", ".join(names))))
    return PtxRounding(name, tuple(choices_named([each, *names]) for each in later))


def require_order(isa: str, target: str, names: Sequence[str]) -> None:
    """Check that choices let matrix units sum in order, as a contract has it, and kernels are run.

    Raises
    ------
    InputError
        If they do not.
    """
    if isa == "ptx":
        pairs = [(choices_named(list(names)).accumulation, SEQUENTIAL)]
    elif isa == "pto":
        profile = profile_named(target)
        readings = pto.choices_named(names, profile), pto.choices_of(profile)
        pairs = [(getattr(readings[0], name), getattr(readings[1], name)) for name in pto.OF_SUMS]
    else:
        return
    for chosen, taken in pairs:
        if chosen != taken:
            raise InputError(f'--choice {chosen} contradicts the contract\'s accumulate = "{SEQUENTIAL}"')


_OF_ARITHMETIC = ("microscaled-sum", "tf32", "subnormals", "conversion")
"""Points of PTO that change what is rounded, besides the accumulation; the bound is about their defaults."""


def _of_chains(target: str, names: Sequence[str]) -> ChainRounding:
    """Return the roundings of a PTO profile's products, of a chosen accumulation."""
    readings = pto.choices_named(names, profile_named(target))
    if readings.accumulation == pto.UNSPECIFIED:
        raise InputError("an unspecified accumulation has no bound; choose seeded or added-last")
    for point in pto.OPEN_POINTS:
        option = getattr(readings, point.attribute)
        if point.name in _OF_ARITHMETIC and option != point.default:
            raise InputError(
                f"--choice {point.name}={option} has no bound that is known; choose {point.default}"
            )
    _require_defaults(pto.OPEN_POINTS, readings, _TAKEN)
    if readings.one_row_scales != pto.LINE:
        raise InputError(f"--choice one-row-scales: verify finds them in a {pto.LINE}, and says so")
    added_last = readings.accumulation == pto.ADDED_LAST
    start = "C or the bias added last" if added_last else "from C or the bias"
    rounding = pto.DIRECTIONS[readings.accumulator_rounding]
    name = f"fused multiply-adds, k increasing, {start}, {readings.accumulator_rounding}"
    return ChainRounding(f"{name}: documented, not measured", added_last, rounding)


_TAKEN = (
    *("satfinite-clamp", "f64-order", "sparse-b", "scale-a-rows", "narrow-rows", "wgmma-metadata"),
    *("integer-overflow", "unit-pitches"),
)
"""Points of PTX and PTO that kernels are run with the defaults of."""


def _require_defaults(points: Sequence[OpenPoint], chosen: object, names: Sequence[str]) -> None:
    """Refuse a reading that no kernel is run with.

    Raises
    ------
    InputError
        If one is chosen.
    """
    for point in points:
        if point.name in names and getattr(chosen, point.attribute) != point.default:
            raise InputError(f"--choice {point.name}: verify runs kernels with {point.default} alone")


def _counted(steps: Sequence[RoundingStep]) -> tuple[Counted, ...]:
    kinds: list[FloatFormat | RoundingStep] = [
        step.format if step == rounding_step(step.format) else step for step in steps
    ]
    return tuple((kind, kinds.count(kind)) for kind in dict.fromkeys(kinds))


@cache
def _named() -> dict[tuple[str, int], tuple[Multiplication, ...]]:
    """Return the float instructions by the name of their accumulation and the number of products."""
    found: dict[tuple[str, int], list[Multiplication]] = {}
    for family in MULTIPLYING:
        for form in forms(family):
            for variant in form.variants():
                if variant.family in MULTIPLYING and not (each := multiplication(variant)).is_integer:
                    scale = f"_scale_{each.block_scale.vector}" if each.block_scale is not None else ""
                    found.setdefault((f"accumulate_{each.order_name}{scale}", each.products), []).append(each)
    return {name: tuple(each) for name, each in found.items()}
