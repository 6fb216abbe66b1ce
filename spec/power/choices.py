"""What the Power documents leave open, or where an emulator departs from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

from ..choices import OpenPoint, choose

ALIASING = OpenPoint(
    "aliasing",
    (
        ("separate", "ACC[k] is storage of its own; VSR[4k..4k+3] are undefined while it is primed"),
        ("shared", "ACC[k] is the storage of VSR[4k..4k+3]"),
    ),
    "separate",
    "Power ISA 3.1 allows both; QEMU and POWER10 as described there share, dense-math drafts separate",
)
"""Whether an accumulator and its vector-scalar registers are one storage."""

OPEN_POINTS = (
    OpenPoint(
        "bf16-sum",
        (
            (
                "two-step",
                "round the product sum to a 24-bit significand with unbounded exponent, then to f32",
            ),
            ("single", "round the product sum to f32 at once, overflow and subnormals included"),
        ),
        "two-step",
        "Power ISA 3.1 pseudocode function bfp_ROUND_TO_BFP32_SIGNIFICAND (by its name); QEMU 7.2 does "
        "'single'; three values posted to qemu-devel 2022-05-10 as mambo/hardware fit 'two-step' only",
    ),
    OpenPoint(
        "bf16-direction",
        (
            (
                "fpscr",
                "the first rounding of bf16's product sum is directed by FPSCR.RN, as the last is",
            ),
            ("nearest", "it is to nearest even, whatever FPSCR.RN says"),
        ),
        "fpscr",
        "Power ISA 3.1 pseudocode function bfp_ROUND_TO_BFP32_SIGNIFICAND has no argument for a direction, "
        "as others report; the values posted to qemu-devel 2022-05-10 do not tell theirs",
    ),
    OpenPoint(
        "negation",
        (
            ("after-rounding", "np and nn of f32 and f64 are minus the rounded fused multiply-add"),
            ("before-rounding", "the exact sum is negated, then rounded"),
        ),
        "after-rounding",
        "Power ISA 3.1 pseudocode; QEMU before 2025-05 (7.2 measured) does 'before-rounding'",
    ),
    OpenPoint(
        "nan",
        (
            ("operand-order", "the first NaN operand in the order QEMU takes, made quiet"),
            ("default", "every NaN result is the default quiet NaN"),
        ),
        "operand-order",
        "the operand priority was measured in QEMU only",
    ),
    ALIASING,
)
"""Every open point of the Power MMA specification."""


@dataclass(frozen=True)
class Choices:
    """One reading of every open point; the field names are those of `OPEN_POINTS`."""

    bf16_sum: str = "two-step"
    bf16_direction: str = "fpscr"
    negation: str = "after-rounding"
    nan: str = "operand-order"
    aliasing: str = "separate"


PRESETS = MappingProxyType(
    {
        "isa": Choices(),
        "qemu-7.2": Choices(bf16_sum="single", negation="before-rounding", aliasing="shared"),
    }
)
"""Named combinations."""


def choices_named(names: list[str]) -> Choices:
    """Read ``--choice`` arguments: preset names or ``point=option``, later ones win.

    Raises
    ------
    InputError
        If a preset, point or option does not exist.
    """
    return choose(names, Choices(), PRESETS, OPEN_POINTS)


def every_choice(*names: str) -> Iterator[Choices]:
    """Yield every combination of the options of the named open points (all of them when none is named)."""
    points = [point for point in OPEN_POINTS if not names or point.name in names]
    for options in product(*(point.option_names for point in points)):
        yield Choices(**{p.attribute: option for p, option in zip(points, options, strict=True)})
