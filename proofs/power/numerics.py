"""Floating-point arithmetic of the float forms: exact products, fused and double roundings, open points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import BF16, F16, F32, F64, FloatFormat, IntegerFormat
from ...spec.matrix_product import chain, rounded, unfused
from ...spec.power.catalogue import UPDATES, RankKUpdate
from ...spec.power.choices import Choices
from ...spec.power.rank_k_update import SIGNIFICAND_24
from ...spec.rounding import Rounding
from ..obligation import Case, Equality, Equation, Inputs, Property, Status, Theorem, Variable, holds, theorem
from .operands import all_live, operand_variables, updated

SOURCE = "Power ISA 3.1 section 7.2.1.3; Moreira et al. section II-B3"


exact_product = Theorem(
    "power/numerics/exact-product",
    "which formats hold the product of two 16-bit floats exactly",
    "rounding x·y upward and downward gives the same encoding",
    SOURCE,
    lambda: (
        Case(f"{operand}-in-{result}", partial(_exact_product, operand, result), expect)
        for operand, result, expect in (
            (F16, F32, Status.PROVED),
            (BF16, SIGNIFICAND_24, Status.PROVED),
            (BF16, F32, Status.REFUTED),
        )
    ),
)


def _exact_product(operand: FloatFormat, result: FloatFormat) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        factors = [(Operand(v["x"], operand), Operand(v["y"], operand))]
        up, down = (
            alg.fused(result, direction, factors) for direction in (Rounding.UPWARD, Rounding.DOWNWARD)
        )
        yield Equation(up, down, result, label="upward = downward")

    return Property((Variable("x", operand, (1,)), Variable("y", operand, (1,))), claim, abstract=False)


@theorem(
    "power/numerics/significand",
    "bf16's first rounding, to nearest: off by half a last place, in order, f32's where that has the number",
    "every finite x of f64, and s, what it is rounded to with a 24-bit significand and unbounded exponent: "
    "s is at most half a unit of its last place from x, of any size, in other directions less than one; "
    "x ≤ x' ⇒ s ≤ s'; s is x rounded to f32, if that is finite and above 2^-126; toward zero not beyond "
    "f32's largest number (pinned)",
    SOURCE,
)
def significand() -> Iterator[Case]:
    """Yield what a rounding to nearest is, and toward zero, where f32 stops at its largest number."""
    place = 1 << F64.fraction_bits - SIGNIFICAND_24.fraction_bits
    for direction in Rounding:
        if direction is not Rounding.NEAREST_EVEN:
            name, goal = direction.name.lower(), partial(_of_magnitudes, partial(_near, place - 1), direction)
            yield Case(f"a-place/{name}", goal, statement="s is less than a unit of x's last place from x")
    yield Case("half-a-place", partial(_of_magnitudes, partial(_near, place // 2)))
    yield Case("monotone", partial(_of_magnitudes, _in_order))
    yield Case("as-f32", partial(_as_f32, Rounding.NEAREST_EVEN), equality=Equality.IEEE)
    huge = (F64.bias + 200) << F64.fraction_bits
    goal = partial(_as_f32, Rounding.TOWARD_ZERO, {"x": huge})
    yield Case("as-f32/toward-zero", goal, Status.REFUTED, Equality.IEEE)


def _of_magnitudes(
    claim: Callable[[Algebra, Array, Array], Array], direction: Rounding = Rounding.NEAREST_EVEN
) -> Property:
    """Return a claim about the magnitudes of two numbers and of what they are rounded to, as encodings."""
    magnitude = IntegerFormat("magnitude", F64.magnitude_bits, signed=False)

    def read(alg: Algebra, v: Inputs) -> Array:
        return alg.integer(alg.extract(v["x"], 0, magnitude), magnitude)

    def claimed(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        s = alg.fused(SIGNIFICAND_24, direction, (), [Operand(v["x"], F64)])
        wide = alg.fused(F64, Rounding.NEAREST_EVEN, (), [Operand(s, SIGNIFICAND_24)])
        yield holds(alg, claim(alg, read(alg, v), read(alg, {"x": wide})))

    def finite(alg: Algebra, v: Inputs) -> Iterator[Array]:
        x = Operand(v["x"], F64)
        yield ~(alg.is_nan(x) | alg.is_infinite(x))

    return Property((Variable("x", F64, (2,)),), claimed, finite, abstract=False)


def _near(most: int, alg: Algebra, exact: Array, rounded: Array) -> Array:
    unsigned = IntegerFormat("twice", (2 * most).bit_length(), signed=False)
    off = rounded - exact + alg.whole(most)
    return alg.in_range(off, unsigned) & alg.in_range(alg.whole(2 * most) - off, unsigned)


def _in_order(alg: Algebra, exact: Array, rounded: Array) -> Array:
    difference = IntegerFormat("difference", F64.bits, signed=False)
    ordered, kept = (alg.in_range(each[..., 1:] - each[..., :1], difference) for each in (exact, rounded))
    return ~ordered | kept


def _as_f32(direction: Rounding, pinned: dict[str, int] | None = None) -> Property:
    magnitude = IntegerFormat("magnitude", F32.magnitude_bits, signed=False)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x = Operand(v["x"], F64)
        wide, narrow = (Operand(alg.fused(f, direction, (), [x]), f) for f in (SIGNIFICAND_24, F32))
        one, other = (alg.fused(F64, Rounding.NEAREST_EVEN, (), [each]) for each in (wide, narrow))
        size = alg.integer(alg.extract(narrow.bits, 0, magnitude), magnitude)
        normal = alg.in_range(size - alg.whole((1 << F32.fraction_bits) + 1), magnitude)
        where = normal & ~alg.is_infinite(narrow) & ~alg.is_nan(x)
        yield Equation(one, other, F64, where, f"rounded {direction.name.lower()}")

    return Property((Variable("x", F64, (1,)),), claim, pinned=pinned, abstract=False)


fused = Theorem(
    "power/numerics/fused",
    "f32 and f64 accumulate with one rounding, not two (pinned)",
    "gerpp(x, y, acc) = round(round(x·y) + acc) is false",
    SOURCE,
    lambda: (
        Case(name, partial(_fused, UPDATES[name], fmt), Status.REFUTED)
        for name, fmt in (("xvf32gerpp", F32), ("xvf64gerpp", F64))
    ),
)


def _fused(update: RankKUpdate, fmt: FloatFormat) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        once = updated(alg, update, v, Choices(nan="default"), live=all_live(alg, update))
        x, y = Operand(v["x"][..., :, None, :], fmt), Operand(v["y"][..., None, :, :], fmt)
        step = unfused(rounded(alg, v["rounding"]))
        twice = chain(step, fmt, x, y, Operand(v["acc"], fmt))
        yield Equation(once, twice.bits, fmt, label="fused = multiply, then add")

    # x = y = 1 + h, acc = -(1 + 2h) with h² just lost by a rounded product.
    half = fmt.fraction_bits // 2 + 1
    one = fmt.bias << fmt.fraction_bits
    h = one + (1 << (fmt.fraction_bits - half))
    acc = fmt.sign_mask | (one + (1 << (fmt.fraction_bits - half + 1)))
    return Property(operand_variables(update, masks=False), claim, pinned={"x": h, "y": h, "acc": acc})


two_roundings = Theorem(
    "power/numerics/two-roundings",
    "f16 and bf16 accumulate with two roundings, not one (pinned)",
    "gerpp(x, y, acc) = fma(x0, y0, fma(x1, y1, acc)) is false",
    SOURCE,
    lambda: (
        Case(name, partial(_two_roundings, UPDATES[name], operand), Status.REFUTED)
        for name, operand in (("xvf16ger2pp", F16), ("xvbf16ger2pp", BF16))
    ),
)


def _two_roundings(update: RankKUpdate, operand: FloatFormat) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        acc = Operand(v["acc"], F32)
        for p in (1, 0):
            pair = (Operand(v["x"][..., :, None, p], operand), Operand(v["y"][..., None, :, p], operand))
            acc = Operand(alg.fused(F32, v["rounding"], [pair], [acc]), F32)
        once = updated(alg, update, v, Choices(nan="default"), live=all_live(alg, update))
        yield Equation(once, acc.bits, F32, label="two products, then add = two fused multiply-adds")

    one = operand.bias << operand.fraction_bits
    tiny = (operand.bias - 12) << operand.fraction_bits
    rows = [[one, tiny]] * 4
    pinned = {"x": rows, "y": rows, "acc": (F32.bias - 24) << F32.fraction_bits}
    return Property(operand_variables(update, masks=False), claim, pinned=pinned)


@theorem(
    "power/numerics/bf16-sum",
    "the readings of bf16's first rounding differ (pinned); f16 has only one",
    "ger2pp under 'two-step' = ger2pp under 'single'",
    SOURCE + "; see the open point bf16-sum",
)
def bf16_sum() -> Iterator[Case]:
    """Yield a proof per f16 form and a refutation per bf16 form."""
    for update in UPDATES.values():
        if update.family.x == F16:
            yield Case(update.mnemonic, partial(_bf16_sum, update))
        elif update.family.x == BF16:
            yield Case(update.mnemonic, partial(_bf16_sum, update), Status.REFUTED)


def _bf16_sum(update: RankKUpdate) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        masks = all_live(alg, update)
        two_step, single = (
            updated(alg, update, v, replace(Choices(), bf16_sum=reading), live=masks)
            for reading in ("two-step", "single")
        )
        yield Equation(two_step, single, F32, label="two-step = single")

    # 2^127 · 2 leaves f32, and comes back with acc = ∓2^127; alone, a tie of subnormals rounds twice.
    huge = {
        "x": [[0x7F00, 0]] * 4,
        "y": [[0x4000, 0]] * 4,
        "acc": 0xFF000000 if update.suffix in ("pp", "nn") else 0x7F000000,
    }
    tiny = {"x": [[(BF16.bias - 75) << 7, (BF16.bias - 90) << 7]] * 4}
    pinned = (huge if update.accumulates else {**tiny, "y": tiny["x"]}) if update.family.x == BF16 else None
    return Property(operand_variables(update, masks=False), claim, pinned=pinned)


THEOREMS = (exact_product, significand, fused, two_roundings, bf16_sum)
