"""Numerics of the products and sums: exact products, integer ranges, saturation, small integers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import frexp

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import (
    BF16,
    E2M1,
    E2M3,
    E3M2,
    E4M3,
    E5M2,
    F16,
    F32,
    S4,
    S8,
    S32,
    TF32,
    U4,
    U8,
    FloatFormat,
    IntegerFormat,
)
from ...spec.rounding import Rounding
from ..obligation import (
    Equation,
    Induction,
    Inputs,
    Method,
    Property,
    Status,
    Variable,
    Variant,
    holds,
    theorem,
)

SOURCE = "PTX ISA 9.1 section 9.7.14.5.14"

WIDE = IntegerFormat("s48", 48, signed=True)
COUNT = IntegerFormat("u8", 8, signed=False)
UNSIGNED = IntegerFormat("u60", 60, signed=False)
DIRECTIONS = (Rounding.UPWARD, Rounding.DOWNWARD)


def within(alg: Algebra, value: Array, low: Array, high: Array) -> Array:
    """Return the condition low ≤ value ≤ high on exact integers."""
    return alg.in_range(value - low, UNSIGNED) & alg.in_range(high - value, UNSIGNED)


# -- products of floats

NARROW = (E4M3, E5M2, E3M2, E2M3, E2M1)


@theorem(
    "ptx/numerics/exact-product",
    "f32 holds every product of f16 and of 8-, 6- and 4-bit floats; of bf16 and tf32 only within its range",
    "rounding x·y upward and downward gives the same encoding",
    SOURCE,
)
def exact_product() -> Iterator[Variant]:
    """Yield each pair in f32; bf16 and tf32 also where exponents are moderate, and narrow ones in f16."""
    yield Variant("f16-f16-in-f32", partial(_exact_product, F16, F16, F32))
    for fmt in NARROW:
        yield Variant(
            f"{fmt}-is-f16",
            partial(_exact_conversion, fmt),
            statement="every number of the format is one of f16: its products are f16's",
        )
    for fmt in (BF16, TF32):
        yield Variant(f"{fmt}-{fmt}-in-f32", partial(_exact_product, fmt, fmt, F32), Status.REFUTED)
        yield Variant(
            f"{fmt}-{fmt}-in-f32/moderate",
            partial(_exact_product, fmt, fmt, F32, moderate=True),
            statement="2^-63 ≤ |x|, |y| < 2^64 ⇒ x·y is a normal number of f32",
        )
    for x, y in ((E3M2, E3M2), (E3M2, E2M3), (E2M3, E2M3), (E2M1, E2M1)):
        yield Variant(f"{x}-{y}-in-f16", partial(_exact_product, x, y, F16))
    for fmt in (E4M3, E5M2):
        yield Variant(f"{fmt}-{fmt}-in-f16", partial(_exact_product, fmt, fmt, F16), Status.REFUTED)


def _exact_product(
    x: FloatFormat, y: FloatFormat, result: FloatFormat, *, moderate: bool = False
) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        factors = [(Operand(v["x"], x), Operand(v["y"], y))]
        up, down = (alg.fused(result, direction, factors) for direction in DIRECTIONS)
        yield Equation(up, down, result, label="upward = downward")

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        for name, fmt in (("x", x), ("y", y)):
            field = IntegerFormat("exponent", fmt.exponent_bits, signed=False)
            exponent = alg.integer(alg.extract(v[name], fmt.fraction_bits + fmt.padding_bits, field), field)
            yield within(alg, exponent, alg.whole(fmt.bias - 63), alg.whole(fmt.bias + 63))

    variables = (Variable("x", x, (1,)), Variable("y", y, (1,)))
    return Property(variables, claim, assuming if moderate else None, abstract=False)


def _exact_conversion(fmt: FloatFormat) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        up, down = (alg.fused(F16, direction, (), [Operand(v["x"], fmt)]) for direction in DIRECTIONS)
        yield Equation(up, down, F16, label="upward = downward")

    return Property((Variable("x", fmt, (1,)),), claim, abstract=False)


# -- ranges of integers

INTEGER_PAIRS = tuple((a, b) for types in ((S8, U8), (S4, U4)) for a in types for b in types)
MOST_PRODUCTS = 64
"""Products of a row: m16n8k64 on 4 bits, and the kept half of the sparse k128."""


def product_range(a: IntegerFormat, b: IntegerFormat) -> tuple[int, int]:
    """Return the least and the greatest product."""
    corners = [x * y for x in (a.minimum, a.maximum) for y in (b.minimum, b.maximum)]
    return min(corners), max(corners)


@theorem(
    "ptx/numerics/product-range",
    "the range of one product of integers, both ends attained",
    "min ≤ a·b ≤ max",
    SOURCE,
)
def one_product() -> Iterator[Variant]:
    """Yield a proof and two refutations of tighter bounds per pair."""
    for a, b in INTEGER_PAIRS:
        low, high = product_range(a, b)
        for name, bounds, expect in (
            ("bounds", (low, high), Status.PROVED),
            ("minimum-attained", (low + 1, high), Status.REFUTED),
            ("maximum-attained", (low, high - 1), Status.REFUTED),
        ):
            text = f"{bounds[0]} ≤ a·b ≤ {bounds[1]}"
            yield Variant(f"{a}-{b}/{name}", partial(_product_range, a, b, bounds), expect, statement=text)


def _product_range(a: IntegerFormat, b: IntegerFormat, bounds: tuple[int, int]) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        value = alg.integer(v["a"], a) * alg.integer(v["b"], b)
        yield holds(alg, within(alg, value, *map(alg.whole, bounds)), "product in range")

    return Property((Variable("a", a, (1,)), Variable("b", b, (1,))), claim, abstract=False)


@theorem(
    "ptx/numerics/sum-range-step",
    "one product more widens the range of a sum by the range of a product",
    "k·min ≤ S ≤ k·max and min ≤ p ≤ max ⇒ (k + 1)·min ≤ S + p ≤ (k + 1)·max, for all k < 256",
    SOURCE,
)
def sum_step() -> Iterator[Variant]:
    """Yield one step per pair of types."""
    for a, b in INTEGER_PAIRS:
        yield Variant(f"{a}-{b}", partial(_sum_step, *product_range(a, b)))


def _sum_step(low: int, high: int) -> Property:
    def read(alg: Algebra, v: Inputs) -> tuple[Array, Array, Array]:
        return alg.integer(v["k"], COUNT), alg.integer(v["s"], S32), alg.integer(v["p"], S32)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        k, s, p = read(alg, v)
        more = k + alg.whole(1)
        bounds = more * alg.whole(low), more * alg.whole(high)
        yield holds(alg, within(alg, s + p, *bounds), "sum in range")

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        k, s, p = read(alg, v)
        yield within(alg, s, k * alg.whole(low), k * alg.whole(high))
        yield within(alg, p, alg.whole(low), alg.whole(high))

    variables = (Variable("k", COUNT, (1,)), Variable("s", S32, (1,)), Variable("p", S32, (1,)))
    return Property(variables, claim, assuming, abstract=False)


@theorem(
    "ptx/numerics/headroom",
    "the products of a row never overflow by themselves, only with C: 64 products stay below 2^22",
    "64·min ≤ S ≤ 64·max ⇒ -2^22 < S < 2^22, so that S is an s32 and S + C an s33",
    SOURCE,
)
def headroom() -> Iterator[Variant]:
    """Yield one obligation per pair of types."""
    for a, b in INTEGER_PAIRS:
        low, high = (MOST_PRODUCTS * bound for bound in product_range(a, b))
        yield Variant(f"{a}-{b}", partial(_headroom, low, high))


def _headroom(low: int, high: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        total, c = alg.integer(v["s"], WIDE), alg.integer(v["c"], S32)
        limit = (1 << 22) - 1
        yield holds(alg, within(alg, total, alg.whole(-limit), alg.whole(limit)), "|S| < 2^22")
        yield holds(alg, alg.in_range(total, S32), "S is an s32")
        yield holds(alg, alg.in_range(total + c, IntegerFormat("s33", 33, signed=True)), "S + C is an s33")

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        yield within(alg, alg.integer(v["s"], WIDE), alg.whole(low), alg.whole(high))

    return Property((Variable("s", WIDE, (1,)), Variable("c", S32, (1,))), claim, assuming, abstract=False)


@theorem(
    "ptx/numerics/sum-range",
    "the sum of a row's products is in K times the range of one",
    "K·min ≤ Σ_{k<K} a[k]·b[k] ≤ K·max for every K ≤ 256",
    SOURCE,
)
def sum_range() -> Iterator[Variant]:
    """Yield one induction per pair of types; the empty sum is 0."""
    for a, b in INTEGER_PAIRS:
        premises = (f"{one_product.id}/{a}-{b}/bounds", f"{sum_step.id}/{a}-{b}")
        yield Variant(f"{a}-{b}", partial(Induction, premises), method=Method.INDUCTION)


@theorem(
    "ptx/numerics/saturation",
    ".satfinite is wrapping unless the exact total leaves s32, and then the nearest end",
    "T in s32 ⇒ clamp(T) = T mod 2^32; T > max ⇒ clamp(T) = max; T < min ⇒ clamp(T) = min",
    SOURCE,
)
def saturation() -> Iterator[Variant]:
    """Yield the rule for any total, and the refutation that it never matters."""
    yield Variant("total", partial(_saturation, always=False))
    yield Variant("always-wraps", partial(_saturation, always=True), Status.REFUTED)


def _saturation(*, always: bool) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        total = alg.integer(v["total"], WIDE)
        clamped, wrapped = alg.saturate(total, S32), alg.wrap(total, S32)
        if always:
            yield Equation(clamped, wrapped, S32, label="clamped = wrapped")
            return
        inside, positive = alg.in_range(total, S32), alg.in_range(total, UNSIGNED)
        yield Equation(clamped, wrapped, S32, inside, "in range")
        yield Equation(clamped, alg.constant(S32.maximum, S32), S32, ~inside & positive, "above")
        yield Equation(clamped, alg.constant(1 << 31, S32), S32, ~inside & ~positive, "below")

    return Property((Variable("total", WIDE, (1,)),), claim, abstract=False)


# -- small integers, exact in every order


@theorem(
    "ptx/numerics/small-integers",
    "sums of small integers are exact in every order of accumulation",
    "b²·K + |C| < 2^p, p the result's precision: partial sums stay below it, it is representable, "
    "and rounding what is representable changes nothing; so does each order, or tree, of roundings",
    SOURCE,
)
def small_integers() -> Iterator[Variant]:
    """Yield, for f16 and f32, the bound of two partial sums, representability, and rounding."""
    for fmt in (F16, F32):
        p = fmt.precision
        yield Variant(
            f"{fmt}/partial-sums",
            partial(_partial_sums, 1 << p),
            statement=f"|S| ≤ B, |S'| ≤ B', B + B' < 2^{p} ⇒ |S + S'| < 2^{p}: sums of disjoint terms",
        )
        yield Variant(
            f"{fmt}/representable",
            partial(_representable, fmt, -(2.0 ** (p - 1))),
            statement=f"integers from 2^{p - 1} to 2^{p} are numbers of {fmt}; less 2^{p - 1}, still",
        )
        yield Variant(
            f"{fmt}/rounding",
            partial(_rounds_to_itself, fmt),
            statement="a number of the format, rounded in any direction, is itself",
        )
        yield Variant(
            f"{fmt}/halves",
            partial(_representable, fmt, 0.5),
            Status.REFUTED,
            statement=f"n + 1/2 is a number of {fmt} for every integer n from 2^{p - 1} to 2^{p}",
        )


def _partial_sums(limit: int) -> Property:
    def read(alg: Algebra, v: Inputs) -> list[Array]:
        return [alg.integer(v[name], S32) for name in ("s", "s2", "b", "b2")]

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        left, right, *_ = read(alg, v)
        bound = alg.whole(limit - 1)
        yield holds(alg, within(alg, left + right, -bound, bound), "sum below the limit")

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        left, right, b, b2 = read(alg, v)
        yield within(alg, left, -b, b)
        yield within(alg, right, -b2, b2)
        yield within(alg, b + b2, alg.whole(0), alg.whole(limit - 1))

    variables = tuple(Variable(name, S32, (1,)) for name in ("s", "s2", "b", "b2"))
    return Property(variables, claim, assuming, abstract=False)


def _representable(fmt: FloatFormat, addend: float) -> Property:
    """Claim that n + 2^(p-1), the number of the format whose fraction is n, plus an addend is exact."""
    digits = IntegerFormat(f"u{fmt.fraction_bits}", fmt.fraction_bits, signed=False)
    word = IntegerFormat("word", fmt.bits, signed=False)
    leading = (fmt.bias + fmt.fraction_bits) << fmt.fraction_bits
    mantissa, exponent = frexp(abs(addend))
    assert mantissa == 0.5
    other = (fmt.sign_mask if addend < 0 else 0) | (exponent - 1 + fmt.bias) << fmt.fraction_bits

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        encoding = alg.wrap(alg.integer(v["n"], digits) + alg.whole(leading), word)
        terms = [Operand(encoding, fmt), Operand(alg.constant(other, fmt), fmt)]
        up, down = (alg.fused(fmt, direction, (), terms) for direction in DIRECTIONS)
        zero = alg.same(v["n"], alg.constant(0, digits))  # an exact sum 0 has the direction's sign
        yield Equation(up, down, fmt, ~zero, label="upward = downward")

    return Property((Variable("n", digits, (1,)),), claim, abstract=False)


def _rounds_to_itself(fmt: FloatFormat) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x = Operand(v["x"], fmt)
        for direction in Rounding:
            rounded = alg.fused(fmt, direction, (), [x])
            yield Equation(rounded, v["x"], fmt, ~alg.is_nan(x), label=f"{direction.name.lower()}")

    return Property((Variable("x", fmt, (1,)),), claim, abstract=False)


THEOREMS = (exact_product, one_product, sum_step, sum_range, headroom, saturation, small_integers)
