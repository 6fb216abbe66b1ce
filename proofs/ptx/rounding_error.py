"""What one rounding loses: half a unit in the last place to nearest, and what underflows.

A rounding gives a number next to the exact sum, to nearest one that no other is nearer to: that is what
`Algebra.fused` means. What it may lose is then a matter of how far numbers are from each other; that the
operation does round so is decided for all sums x + u·y of two numbers of the format, y being scaled to
what lies between x and the next number.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import BF16, F16, F32, F64, FloatFormat, IntegerFormat
from ...spec.rounding import Rounding
from ..families.rounded_chains import MONOTONE, STEPS, no_less
from ..obligation import (
    Case,
    Equality,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Theorem,
    Variable,
    holds,
    theorem,
)

SOURCE = "IEEE 754-2019 sections 4.3 and 7.4; Higham, Accuracy and Stability, section 2.2"

RESULTS = (F16, F32, F64)
"""The formats that PTX accumulates in."""

DIRECTED = (F32, F64)
"""The formats that an instruction may round to in every direction."""

NEAREST = Rounding.NEAREST_EVEN

DIFFERENCE = IntegerFormat("difference", 63, signed=False)


def at_most(alg: Algebra, left: Array, right: Array) -> Array:
    """Return the condition left ≤ right on exact integers."""
    return alg.in_range(right - left, DIFFERENCE)


class Tail:
    """The number z = x + u·y between x and its neighbour away from zero, and what z is rounded to.

    Magnitudes are compared as encodings, which order them. In them u·y is known by y: half a unit in the
    last place of x, 2^e·u for its exponent e, by 2^e, and u·|x| by x itself.
    """

    def __init__(self, alg: Algebra, fmt: FloatFormat, v: Inputs) -> None:
        self.alg, self.fmt = alg, fmt
        self.bits, self.tail = v["x"], v["y"]
        self.x, self.y = self.magnitude(v["x"]), self.magnitude(v["y"])
        field = IntegerFormat("exponent", fmt.exponent_bits, signed=False)
        exponent = alg.integer(alg.extract(v["x"], fmt.fraction_bits, field), field)
        exponent = alg.where(at_most(alg, alg.whole(1), exponent), exponent, alg.whole(1))
        self.half = exponent * alg.whole(1 << fmt.fraction_bits)
        self.least_normal = alg.whole(1 << fmt.fraction_bits)

    def magnitude(self, bits: Array) -> Array:
        """Return a magnitude's encoding as an integer."""
        fmt = IntegerFormat("magnitude", self.fmt.magnitude_bits, signed=False)
        return self.alg.integer(self.alg.extract(bits, 0, fmt), fmt)

    def is_between(self) -> Iterator[Array]:
        """Yield the conditions: x is finite, y has its sign, u·y is less than a unit in its last place."""
        alg, x = self.alg, Operand(self.bits, self.fmt)
        yield ~(alg.is_nan(x) | alg.is_infinite(x))
        yield alg.same((self.bits ^ self.tail) & self.fmt.sign_mask, alg.constant(0, self.fmt))
        yield at_most(alg, self.y + alg.whole(1), self.half + self.least_normal)

    def added(self, rounding: Rounding, total: Array | None = None) -> Array:
        """Return fl(x + u·y), or another number plus u·y."""
        fmt = self.fmt
        unit = Operand(self.alg.constant((fmt.bias - fmt.precision) << fmt.fraction_bits, fmt), fmt)
        addend = Operand(self.bits if total is None else total, fmt)
        return self.alg.fused(fmt, rounding, [(Operand(self.tail, fmt), unit)], [addend])


def between(fmt: FloatFormat, alg: Algebra, v: Inputs) -> Iterator[Array]:
    """Yield the conditions under which `numbers` are a number and a tail of it."""
    yield from Tail(alg, fmt, v).is_between()


def numbers(fmt: FloatFormat) -> tuple[Variable, ...]:
    """Return the variables of a `Tail`."""
    return Variable("x", fmt, (1,)), Variable("y", fmt, (1,))


@theorem(
    "ptx/rounding/nearest",
    "rounding to nearest is off by half a unit in the last place: u·|z|, or η among the subnormal numbers",
    "z = x + u·y, x a number of the format and 0 ≤ u·|y| < a unit in its last place, away from zero: fl(z) "
    "is x, and the error u·|y| at most half a unit, or the next number, and the error the rest of the unit, "
    "which is at most half of it; half a unit is u·2^e ≤ max(u·|x|, η) for the exponent e of x. u = 2^-p, "
    "η = u·2^emin; past the largest number the next one is an infinity",
    SOURCE,
)
def nearest() -> Iterator[Case]:
    """Yield a proof per format, and refutations: without η, with half of u, and that nothing overflows."""
    for fmt in RESULTS:
        yield Case(f"{fmt}/bound", partial(_nearest, fmt))
        yield Case(
            f"{fmt}/without-underflow-unit",
            partial(_relative, fmt),
            Status.REFUTED,
            statement="fl(z) = x ⇒ its error u·|y| ≤ u·|x|: not if x = 0, or subnormal",
        )
        yield Case(
            f"{fmt}/half-the-unit",
            partial(_half_unit, fmt),
            Status.REFUTED,
            statement="fl(z) = x for a normal x ⇒ its error u·|y| ≤ u·|x| / 2",
        )
        yield Case(
            f"{fmt}/overflow",
            partial(_stays_finite, fmt),
            Status.REFUTED,
            statement="fl(z) is finite for every finite x: not next to the largest number",
        )


def _nearest(fmt: FloatFormat) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        z = Tail(alg, fmt, v)
        rounded = z.added(NEAREST)
        down = alg.same(rounded, v["x"]) & at_most(alg, z.y, z.half)
        up = alg.same(rounded, v["x"] + 1) & at_most(alg, z.half, z.y)
        yield holds(alg, down | up, "error ≤ half a unit in the last place")
        bounded = at_most(alg, z.half, z.x) | at_most(alg, z.half, z.least_normal)
        yield holds(alg, bounded, "half a unit ≤ max(u·|x|, η)")

    return Property(numbers(fmt), claim, partial(between, fmt), abstract=False)


def _relative(fmt: FloatFormat) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        z = Tail(alg, fmt, v)
        yield holds(alg, at_most(alg, z.y, z.x), "error ≤ u·|x|", alg.same(z.added(NEAREST), v["x"]))

    return Property(numbers(fmt), claim, partial(between, fmt), {"x": 0, "y": 1}, abstract=False)


def _half_unit(fmt: FloatFormat) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        z = Tail(alg, fmt, v)
        twice = z.y + z.least_normal  # the exponent one more
        normal = at_most(alg, z.least_normal, z.x) & at_most(alg, z.least_normal, z.y)
        stays = alg.same(z.added(NEAREST), v["x"])
        yield holds(alg, at_most(alg, twice, z.x), "error ≤ u·|x| / 2", normal & stays)

    one = fmt.bias << fmt.fraction_bits
    return Property(numbers(fmt), claim, partial(between, fmt), {"x": one, "y": one}, abstract=False)


def _stays_finite(fmt: FloatFormat) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        rounded = Operand(Tail(alg, fmt, v).added(NEAREST), fmt)
        yield holds(alg, ~alg.is_infinite(rounded), "finite")

    pinned = dict.fromkeys("xy", fmt.largest)
    return Property(numbers(fmt), claim, partial(between, fmt), pinned, abstract=False)


directed = Theorem(
    "ptx/rounding/directed",
    "rounding in any direction is off by less than a unit in the last place, twice the bound to nearest",
    "z = x + u·y as in ptx/rounding/nearest: fl(z) is x or the next number, both nearer than 2u·2^e",
    SOURCE,
    lambda: (
        Case(f"{fmt}/{direction.name.lower()}", partial(_directed, fmt, direction))
        for fmt in DIRECTED
        for direction in Rounding
        if direction is not NEAREST
    ),
)


def _directed(fmt: FloatFormat, direction: Rounding) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        rounded = Tail(alg, fmt, v).added(direction)
        neighbours = alg.same(rounded, v["x"]) | alg.same(rounded, v["x"] + 1)
        yield holds(alg, neighbours, "a neighbour of z")

    return Property(numbers(fmt), claim, partial(between, fmt), abstract=False)


@theorem(
    "ptx/rounding/exact-below",
    "a sum of multiples of the format's smallest number is exact near the subnormal ones: no η is lost",
    "terms are multiples of 2^quantum, |their sum| < 2^(emin + 1) ⇒ it is the same rounded upward and "
    "downward: below 2^(emin + 1) numbers are as far from each other as the subnormal ones",
    SOURCE,
)
def exact_below() -> Iterator[Case]:
    """Yield sums of numbers of the format and of products, and what may not be asked (pinned)."""
    for fmt in RESULTS:
        yield Case(str(fmt), partial(_exact_below, fmt))
        yield Case(
            f"{fmt}/higher",
            partial(_exact_below, fmt, binades=2, pinned={"x": 2 << fmt.fraction_bits, "y": 1}),
            Status.REFUTED,
            statement="|x + y| < 2^(emin + 3) ⇒ x + y is the same rounded upward and downward",
        )
    yield Case("f16-products-in-f32", partial(_exact_below, F32, factor=F16))
    yield Case(
        "bf16-products-in-f32",
        partial(_exact_below, F32, factor=BF16, pinned={"x": 1, "y": 1, "z": 1}),
        Status.REFUTED,
        statement="the same of a number of f32 and a product of bf16, which may be less than the smallest",
    )


def _exact_below(
    fmt: FloatFormat,
    factor: FloatFormat | None = None,
    binades: int = 1,
    pinned: dict[str, int] | None = None,
) -> Property:
    small = IntegerFormat("small", fmt.fraction_bits + binades, signed=False)
    magnitude = IntegerFormat("magnitude", fmt.magnitude_bits, signed=False)
    factors = () if factor is None else (Variable("y", factor, (1,)), Variable("z", factor, (1,)))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        addends = [Operand(v["x"], fmt)]
        products = []
        if factor is None:
            addends.append(Operand(v["y"], fmt))
        else:
            products.append((Operand(v["y"], factor), Operand(v["z"], factor)))
        up, down = (alg.fused(fmt, way, products, addends) for way in (Rounding.UPWARD, Rounding.DOWNWARD))
        value = alg.integer(alg.extract(down, 0, magnitude), magnitude)
        zero = alg.is_zero(Operand(down, fmt))  # an exact sum 0 has the direction's sign
        yield Equation(up, down, fmt, alg.in_range(value, small) & ~zero, "upward = downward")

    variables = (Variable("x", fmt, (1,)), *(factors or (Variable("y", fmt, (1,)),)))
    return Property(variables, claim, pinned=pinned, abstract=False)


@theorem(
    MONOTONE,
    "rounding to nearest keeps what is less: z ≤ z' is rounded to fl(z) ≤ fl(z')",
    "0 ≤ z = x + u·y ≤ z' = x' + u·y', each as in ptx/rounding/nearest rounded to the neighbour that this "
    "says, and both alike if z = z' ⇒ fl(z) ≤ fl(z'); magnitudes of negative numbers alike. What is rounded: "
    "sums of what is no less, products with what is not negative; identities of differences",
    SOURCE,
)
def monotone() -> Iterator[Case]:
    """Yield what follows from being a nearest neighbour for each format, and what keeps order exactly."""
    for fmt in RESULTS:
        yield Case(str(fmt), partial(_monotone, fmt))
        yield Case(
            f"{fmt}/unequal-ties",
            partial(_monotone, fmt, alike=False),
            Status.REFUTED,
            statement="the same of roundings that take ties now down and now up",
        )
    for name, (step, statement) in STEPS.items():
        goal = partial(no_less, step)
        yield Case(name, goal, equality=Equality.VALUE, method=Method.STRUCTURAL, statement=statement)


def _monotone(fmt: FloatFormat, *, alike: bool = True) -> Property:
    def read(alg: Algebra, v: Inputs, which: str) -> tuple[Tail, Array]:
        tail = Tail(alg, fmt, {"x": v[f"x{which}"], "y": v[f"y{which}"]})
        return tail, tail.magnitude(v[f"r{which}"])

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield holds(alg, at_most(alg, read(alg, v, "1")[1], read(alg, v, "2")[1]), "fl(z) ≤ fl(z')")

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        (one, low), (other, high) = (read(alg, v, which) for which in "12")
        for tail, rounded in ((one, low), (other, high)):
            yield from tail.is_between()
            yield alg.same(tail.bits & fmt.sign_mask, alg.constant(0, fmt))
            yield (alg.same(rounded, tail.x) & at_most(alg, tail.y, tail.half)) | (
                alg.same(rounded, tail.x + alg.whole(1)) & at_most(alg, tail.half, tail.y)
            )
        same = alg.same(one.x, other.x)
        yield at_most(alg, one.x + alg.whole(1), other.x) | (same & at_most(alg, one.y, other.y))
        if alike:
            yield ~(same & alg.same(one.y, other.y)) | alg.same(low, high)

    names = [f"{name}{which}" for which in "12" for name in "xyr"]
    one = fmt.bias << fmt.fraction_bits
    tied = {"x1": one, "x2": one, "y1": one, "y2": one, "r1": one + 1, "r2": one}
    return Property(
        tuple(Variable(name, fmt, (1,)) for name in names), claim, assuming,
        None if alike else tied, abstract=False,
    )  # fmt: skip


THEOREMS = (nearest, directed, exact_below, monotone)
