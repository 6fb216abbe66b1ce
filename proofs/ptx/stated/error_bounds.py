"""Bounds of errors in numbers: of sums with so many roundings, and of products by each model's steps.

A step that cuts n terms off at F bits below the largest exponent and keeps p bits loses at most
(w·n·2^-F + 2^-p)·S, and (n·2^-F + 2^-p)·2^e more where S is below the least normal number 2^e; rounding
alone, 2^-p of what is rounded. What each of several loses, the later ones increase.

Sources: Higham, Accuracy and Stability of Numerical Algorithms, sections 2.2 and 4.2; MMA-Sim, arXiv
2511.10909.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby
from math import prod
from typing import NamedTuple


class Step(NamedTuple):
    """What a sum goes through: n terms cut off at F bits, of weight w; p bits; the least normal exponent."""

    terms: int
    fraction: int
    bits: int
    least: int = -126
    weight: int = 1

    @property
    def relative(self) -> Fraction:
        """What is lost of the sum of magnitudes."""
        return Fraction(self.weight * self.terms, 2**self.fraction) + Fraction(1, 2**self.bits)

    @property
    def absolute(self) -> Fraction:
        """What is lost of a sum that underflows."""
        lost = Fraction(self.terms, 2**self.fraction) + Fraction(1, 2**self.bits)
        return lost * Fraction(2) ** self.least

    @property
    def text(self) -> str:
        """How it is printed."""
        cut = f"{self.weight * self.terms}·2^-{self.fraction} + " if self.fraction else ""
        return f"{cut}2^-{self.bits}"


class Bound(NamedTuple):
    """The error of an element of D: so much of the sum of magnitudes, and so much more; as text."""

    relative: Fraction
    absolute: Fraction
    text: str


def bound(steps: tuple[Step, ...]) -> Bound:
    """Return what all steps lose together."""
    growth = prod((1 + step.relative for step in steps), start=Fraction(1))
    absolute = growth * sum((step.absolute for step in steps), Fraction(0))
    powers = [(text, len(list(same))) for text, same in groupby(step.text for step in steps)]
    factors = "·".join(f"(1 + {text})" + (f"^{count}" if count > 1 else "") for text, count in powers)
    told = f"|D - exact| ≤ ({factors} - 1)·S, about {float(growth - 1):.3g}·S"
    return Bound(growth - 1, absolute, told)


def _rounded(bits: int, least: int = -126) -> Step:
    return Step(0, 0, bits, least)


_MMA = "mma.sync.aligned"
_HALF = f"{_MMA}.m16n8k16.row.col.f32.f16.f16.f32"
_NARROW = f"{_MMA}.m16n8k16.row.col.f16.f16.f16.f16"
_FP8 = f"{_MMA}.m16n8k32.row.col.f32.e4m3.e5m2.f32"
_DOUBLE = f"{_MMA}.m16n8k8.row.col.f64.f64.f64.f64"
_MX = f"{_MMA}.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
_MIXED = "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f32"

PRODUCTS: dict[tuple[str, str], tuple[Step, ...]] = {
    (_HALF, "sequential"): (_rounded(24),) * 16,
    (_NARROW, "sequential"): (_rounded(11, -14),) * 16,
    (_DOUBLE, "sequential"): (_rounded(53, -1022),) * 8,
    (f"{_DOUBLE}.rz", "sequential"): (_rounded(52, -1022),) * 8,
    (_HALF, "ampere"): (Step(8, 24, 23),) * 2,
    (_HALF, "hopper"): (Step(16, 25, 23),),
    (_NARROW, "hopper"): (Step(16, 25, 11, -14),),
    (_FP8, "ada"): (Step(17, 13, 13),) * 2,
    (_FP8, "hopper"): (Step(16, 25, 23), Step(16, 25, 23), _rounded(24)),
    (_FP8, "blackwell"): (Step(32, 25, 23),),
    (_MX, "blackwell"): (Step(4, 35, 23, weight=4),),
    (_MIXED, "turing"): (Step(8, 24, 23), Step(8, 24, 23), _rounded(11, -14)),
}
"""What a product of A and B goes through, by instruction and model."""

TOLD = {
    _HALF: (
        ("sequential", (_HALF, "sequential")),
        ("ampere, ada", (_HALF, "ampere")),
        ("hopper, blackwell-sm100, blackwell", (_HALF, "hopper")),
    ),
    _DOUBLE: (("sequential", (_DOUBLE, "sequential")),),
    f"{_MMA}.m16n8k32.row.col.s32.s8.s8.s32": (),
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16": (),
}
"""Which models an instruction has, those with one bound together; of integers and moves nothing is told."""

ROUNDINGS = (
    # roundings, format, p, least normal and least positive exponent, direction, depth, quantum of the terms
    (0, "f32", 24, -126, -149, "nearest-even", None, None),
    (1, "f32", 24, -126, -149, "nearest-even", None, None),
    (9, "f32", 24, -126, -149, "nearest-even", 4, None),
    (9, "f32", 23, -126, -149, "upward", 9, None),
    (9, "f32", 23, -126, -149, "toward-zero", 1, -150),
    (9, "f32", 24, -126, -149, "nearest-even", 9, -149),
    (5, "f16", 11, -14, -24, "nearest-even", 3, -24),
    (5, "f16", 11, -14, -24, "nearest-even", 3, -25),
    (3000, "f16", 11, -14, -24, "nearest-even", None, None),
    (7, "f64", 52, -1022, -1074, "downward", None, None),
)
"""Sums of rounded results."""

NO_ROUNDINGS = (
    (-1, "f32", None), (0, "f32", 1), (3, "f32", 4), (3, "f32", 0), (3, "f32", -1), (3, "ue8m0", 2),
)  # fmt: skip
"""Roundings, format and depth that there can't be: it is at most the roundings, and 1 if there are any."""


class Sum(NamedTuple):
    """The error of a sum: so much of the magnitudes, so much more, and how the bound is printed."""

    relative: Fraction
    absolute: Fraction
    text: str
    underflows: bool


def rounded_sum(
    roundings: int, bits: int, normal: int, least: int, depth: int | None, quantum: int | None
) -> Sum:
    """Return (1 + u)^d - 1, and r·(1 + u)^d·η unless every term is a multiple of the least number."""
    longest = roundings if depth is None else depth
    growth = (1 + Fraction(1, 2**bits)) ** longest
    exact = quantum is not None and quantum >= least
    absolute = Fraction(0) if exact else roundings * growth * Fraction(2) ** (normal - bits)
    size = f"about {float(growth - 1):.3g}·S" if growth < 2 else "not less than S"
    text = f"((1 + 2^-{bits})^{longest} - 1)·S, {size}, S = Σ |term|" if longest else "0"
    if absolute:
        text += f", plus {roundings}·(1 + 2^-{bits})^{longest}·2^-{bits - normal} if results underflow"
    return Sum(growth - 1, absolute, f"|computed - exact| ≤ {text}", not exact)


DOT_ADDS = {
    # F, products of a group, bits kept of the result, factors, C, products: the step
    (35, 2, None, "e2m1 e2m1", "f32", 8): Step(4, 35, 23, weight=4),
    (35, 1, None, "e2m1 e2m1", "f32", 8): Step(8, 35, 23),
    (20, 1, None, "e2m1 e2m1", "f32", 8): Step(9, 20, 23),
    (20, 2, None, "e2m1 e2m1", "f32", 8): Step(5, 20, 23, weight=4),
    (35, 4, 13, "e2m1 e2m1 ue4m3 ue4m3", "f32", 8): Step(2, 35, 13, weight=4),
    (23, 1, None, "f16 f16", "f32", 4): Step(4, 23, 23),
    (22, 1, None, "f16 f16", "f32", 4): Step(5, 22, 23),
    (20, 1, None, "f16 f16", "f16", 4): Step(4, 20, 10, -14),
    (19, 1, None, "f16 f16", "f16", 4): Step(5, 19, 10, -14),
    (14, 1, None, "bf16 bf16", "f16", 3): Step(3, 14, 10, -14),
    (13, 1, None, "bf16 bf16", "f16", 3): Step(4, 13, 10, -14),
    (20, 1, None, "bf16 f16 ue4m3 ue8m0", "bf16", 5): Step(5, 20, 7),
    (19, 1, None, "bf16 f16 ue4m3 ue8m0", "bf16", 5): Step(6, 19, 7),
}
"""Fused dot-adds that truncate, of models that nobody published too. The largest term alone is whole, where F
places hold its fraction and C's; a group is one term, a multiple of 2^-q, so that its weight is 2^q."""
