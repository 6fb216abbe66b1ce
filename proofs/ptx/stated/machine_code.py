"""What instructions become on targets, and the bounds of errors that follow from each step.

The conditions are read from machine code by themselves: tests/conformance/test_stated_machine_code.py
compiles every product for every target that ptxas of CUDA 13.0 has, and compares. Not among these are sm_70
and sm_72 (`HMMA.884`, MMA-Sim). The errors of steps follow from MMA-Sim's fraction bits and products taken at
once: one unit for each term that is cut off, and one for the result.

Sources: ptxas of CUDA 13.0 with nvdisasm; MMA-Sim, arXiv 2511.10909; Higham, Accuracy and Stability of
Numerical Algorithms, section 2.2 (unit roundoffs).

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


class Code(NamedTuple):
    """The matrix instructions of one element of D: what they multiply, and how many products each.

    `notes` are of ``halves`` (products whose number has bit 1 come last), ``last`` (C is added to the end),
    ``ordered`` (metadata are put in order before), ``integers`` (other instructions, the same integers).
    """

    factors: str
    products: int
    instructions: int
    accumulator: str
    notes: tuple[str, ...] = ()


def _sizes(opcode: str, modifiers: frozenset[str]) -> tuple[str, int, int]:
    """Return the shape, its k, and the products of an element."""
    shape = next(modifier for modifier in modifiers if modifier[0] == "m" and modifier[1].isdigit())
    k = int(shape.rpartition("k")[2])
    return shape, k, k // 2 if opcode.startswith("mma.sp") else k


def _types(types: tuple[str, ...]) -> tuple[str, str, str, str]:
    """Return the types of D, A, B and C."""
    if len(types) == 2:
        return types[0], "f16", "f16", types[1]
    d, a, b, c = types[:4]
    return d, a, b, c


def code(opcode: str, modifiers: frozenset[str], types: tuple[str, ...], target: int) -> Code | None:
    """Return what an instruction becomes; None if no matrix instruction."""
    shape, k, count = _sizes(opcode, modifiers)
    unordered = opcode.startswith("mma.sp") and "ordered" not in opcode
    d, a, b, c = _types(types)
    if shape == "m8n8k4" and a == "f16":
        return Code("f16", 4, 1, "f16" if d == c == "f16" else "f32") if target < 80 else None
    if a in ("s8", "u8", "s4", "u4", "b1"):
        since = {"s4": 90, "u4": 90, "b1": 90 if "xor" in modifiers else 100}.get(a, 1000)
        notes = ("integers",) if target >= since else ("ordered",) if unordered and target >= 100 else ()
        return Code(a, count, 1, "s32", notes)
    accumulator = d if d == c else "f32"
    if a == "f64":
        return Code(a, 4, k // 4, "f64") if target >= 100 else Code(a, k, 1, "f64")
    if (
        {a, b} <= {"e4m3", "e5m2"}
        and not any("kind" in modifier for modifier in modifiers)
        and 90 <= target < 120
    ):
        return Code("f16", count // 2, 2, accumulator, ("halves", "last"))
    if opcode == "wmma.mma":
        taken = 4 if a == "tf32" or target < 75 else 8 if target < 80 else k
        return Code(a, taken, k // taken, accumulator)
    return Code(a, count, 1, accumulator, ("ordered",) if unordered and a == "f16" and target >= 100 else ())


def told(opcode: str, modifiers: frozenset[str], types: tuple[str, ...], target: int) -> str | None:
    """Return what is said of it: where it differs from one matrix instruction of the form's own types."""
    found = code(opcode, modifiers, types, target)
    if found is None:
        return None
    shape, _, count = _sizes(opcode, modifiers)
    d, a, _, c = _types(types)
    quad_pairs = shape == "m8n8k4" and a == "f16"
    if found == Code(a, count, 1, d) and (c == d or quad_pairs):
        return "native"
    interleaved = " interleaved" if "halves" in found.notes else ""
    said = {
        "integer emulation": "integers" in found.notes,
        "metadata reordered": "ordered" in found.notes,
        f"widened to {found.factors}": found.factors != a,
        f"{found.instructions} of k{found.products}{interleaved}": found.instructions > 1,
        "C added last": "last" in found.notes,
        f"C widened to {found.accumulator}": found.accumulator != c and "last" not in found.notes,
        f"D rounded from {found.accumulator}": found.accumulator != d,
    }
    return ", ".join(text for text, holds in said.items() if holds)


_HALF, _HALF_F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f16.f16.f16.f16"
_FP8 = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32"
_DOUBLE = "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64"
_SPARSE = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"

_MX = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
_NVF4 = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"

STEPS = (
    # instruction, model, what a product goes through, what C goes through, whether zeros count
    (_HALF, "sequential", ("2^-24",) * 16, ("2^-24",) * 16, False),
    (f"mma.sync.aligned.{_HALF_F16}", "sequential", ("2^-11",) * 16, ("2^-11",) * 16, False),
    (_DOUBLE, "hopper", ("2^-53",) * 8, ("2^-53",) * 8, False),
    (f"{_DOUBLE}.rz", "sequential", ("2^-52",) * 8, ("2^-52",) * 8, False),
    (_HALF, "unspecified", None, None, False),
    (_HALF, "turing", None, None, False),
    (_HALF, "ampere", ("8·2^-24 + 2^-23",) * 2, ("8·2^-24 + 2^-23",) * 2, False),
    (_HALF, "hopper", ("16·2^-25 + 2^-23",), ("16·2^-25 + 2^-23",), False),
    (f"mma.sync.aligned.{_HALF_F16}", "hopper", ("16·2^-25 + 2^-11",), ("16·2^-25 + 2^-11",), False),
    (_SPARSE, "ampere", ("8·2^-24 + 2^-23",), ("8·2^-24 + 2^-23",), False),
    ("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16", "volta", ("4·2^-23 + 2^-23",),
     ("4·2^-23 + 2^-23",), False),
    ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "ampere", ("4·2^-24 + 2^-23",) * 2,
     ("4·2^-24 + 2^-23",) * 2, False),
    (_FP8, "ada", ("17·2^-13 + 2^-13",) * 2, ("17·2^-13 + 2^-13",) * 2, False),
    (_FP8, "hopper", ("16·2^-25 + 2^-23", "16·2^-25 + 2^-23", "2^-24"), ("2^-24",), False),
    # 4 groups of 16 products that are multiples of 2^-2
    (_MX, "blackwell", ("16·2^-35 + 2^-23",), ("16·2^-35 + 2^-23",), False),
    (_NVF4, "blackwell", ("16·2^-35 + 2^-23",), ("16·2^-35 + 2^-23",), False),
    (_FP8, "blackwell", ("32·2^-25 + 2^-23",), ("32·2^-25 + 2^-23",), False),
    ("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f32", "turing", ("8·2^-24 + 2^-23",) * 2 + ("2^-11",),
     ("8·2^-24 + 2^-23",) * 2 + ("2^-11",), False),
    (_HALF, "hopper zero-products=factors", ("16·2^-25 + 2^-23",), ("16·2^-25 + 2^-23",), True),
)  # fmt: skip
"""The relative error of every rounding that a product of A and B, and C, goes through on its way to D; None
where nothing is known, or the unit has no such instruction."""


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
_NARROW = f"{_MMA}.m16n8k16.row.col.f16.f16.f16.f16"
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
