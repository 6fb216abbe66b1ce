"""What becomes of sums that leave the accumulator in 16 bits: exact ones, their order, and too large ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import BF16, F16, F32, U16, U32, FloatFormat, IntegerFormat
from ...spec.pto.choices import Choices
from ...spec.pto.movers import converted
from ..obligation import Case, Equation, Inputs, Property, Status, Variable, holds, theorem

SOURCE = "pto-isa headers at 3186c381 (TMov, TStore); no document states the rounding"

NEAREST = Choices(conversion="nearest-even")

MOVES = ("tmov", "textract", "tinsert", "tstore")
"""The operations that take elements out of the accumulator."""

WORDS = {F32: U32, F16: U16, BF16: U16}
"""Magnitudes of floats are compared as encodings, which order them."""

NOT_NEGATIVE = IntegerFormat("difference", 32, signed=False)


def _moved(alg: Algebra, bits: Array, fmt: FloatFormat) -> Array:
    return converted(alg, bits, F32, fmt, NEAREST)


def _magnitude(alg: Algebra, bits: Array, fmt: FloatFormat) -> Array:
    return alg.integer(bits & (fmt.sign_mask - 1), WORDS[fmt])


def _at_most(alg: Algebra, left: Array, right: Array) -> Array:
    return alg.in_range(right - left, NOT_NEGATIVE)


def least_infinite(fmt: FloatFormat) -> int:
    """Return the encoding in f32 of what is half a unit above the format's largest number."""
    exponent = fmt.maximum_exponent + F32.bias << F32.fraction_bits
    below = (1 << F32.fraction_bits) - (1 << F32.fraction_bits - fmt.fraction_bits - 1)
    return exponent | below


def _overflow(fmt: FloatFormat, alg: Algebra, v: Inputs) -> Iterator[Equation]:
    x = v["x"]
    moved = _moved(alg, x, fmt)
    limit, size = alg.whole(least_infinite(fmt)), _magnitude(alg, x, F32)
    number = ~alg.is_nan(Operand(x, F32))
    infinite = alg.is_infinite(Operand(moved, fmt))
    yield Equation(infinite, _at_most(alg, limit, size), where=number, label="infinite")
    before, after = (alg.same(bits & f.sign_mask, alg.constant(0, f)) for bits, f in ((x, F32), (moved, fmt)))
    yield Equation(before, after, where=number, label="sign")


def _saturated(fmt: FloatFormat, alg: Algebra, v: Inputs) -> Iterator[Equation]:
    x = v["x"]
    number = Operand(x, F32)
    finite = ~(alg.is_nan(number) | alg.is_infinite(number))
    yield holds(alg, ~alg.is_infinite(Operand(_moved(alg, x, fmt), fmt)), "finite", finite)


def _exact(fmt: FloatFormat, alg: Algebra, v: Inputs) -> Iterator[Equation]:
    number = ~alg.is_nan(Operand(v["y"], fmt))
    wide = converted(alg, v["y"], fmt, F32, NEAREST)
    yield Equation(_moved(alg, wide, fmt), v["y"], fmt, number, "moved = y")


def _monotone(fmt: FloatFormat, alg: Algebra, v: Inputs) -> Iterator[Equation]:
    x, z = v["x"], v["z"]
    ordered = ~alg.is_nan(Operand(z, F32)) & _at_most(alg, _magnitude(alg, x, F32), _magnitude(alg, z, F32))
    lesser, greater = (_magnitude(alg, _moved(alg, each, fmt), fmt) for each in (x, z))
    yield holds(alg, _at_most(alg, lesser, greater), "ordered", ordered)


@theorem(
    "pto/numerics/narrowed",
    "f16 and bf16 that leave the accumulator keep exact sums and their order; none saturates (pinned)",
    "y of the type ⇒ moved(y) = y; |x| ≤ |z| ⇒ |moved(x)| ≤ |moved(z)|, and the sign stays; moved(x) is an "
    "infinity ⇔ |x| is half a unit above the largest number or more. To fp8 and integers the headers "
    "convert with a quantisation only (pto/legal/conversions), which is not modelled",
    SOURCE,
)
def narrowed() -> Iterator[Case]:
    """Yield what is exact, ordered and too large, and that all is finite (pinned), of f16 and bf16."""
    choices = f"conversion={NEAREST.conversion}"
    wide = (Variable("x", F32, (1,)),)
    for fmt in (F16, BF16):
        for name, claim, variables in (
            ("exact", _exact, (Variable("y", fmt, (1,)),)),
            ("monotone", _monotone, (*wide, Variable("z", F32, (1,)))),
            ("overflow", _overflow, wide),
        ):
            yield Case(f"{fmt}/{name}", partial(_about, fmt, claim, variables), choices=choices)
        yield Case(
            f"{fmt}/saturated",
            partial(_about, fmt, _saturated, wide, {"x": F32.largest}),
            Status.REFUTED,
            choices=choices,
            statement="x finite ⇒ moved(x) is finite",
        )


Claimed = Callable[[FloatFormat, Algebra, Inputs], Iterator[Equation]]


def _about(
    fmt: FloatFormat, claim: Claimed, variables: tuple[Variable, ...], pinned: dict[str, int] | None = None
) -> Property:
    return Property(variables, partial(claim, fmt), pinned=pinned, abstract=False)


THEOREMS = (narrowed,)
