"""Exact floats: one step, products that a format holds, and sums of small integers in every order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
    F64,
    S32,
    TF32,
    FloatFormat,
    IntegerFormat,
)
from ...spec.ptx.mma_forms import MmaForm
from ...spec.ptx.variant import Shape
from ...spec.rounding import Rounding
from ..families.block_products import BlockProduct, Blocks
from ..families.exact_steps import in_any_order, joined, one_term
from ..obligation import Case, Equality, Equation, Inputs, Method, Property, Status, Variable, holds, theorem
from .blocked import SOURCE as LOOPS_SOURCE
from .blocked import block_of, instructions
from .integers import SOURCE, within


def _of_one_product() -> Blocks:
    """Return an instruction for each types and modifiers of the arithmetic, on one product.

    Those with scale factors are on one product for each; a sparse A adds the products of what it stores.
    """
    found: dict[str, BlockProduct] = {}
    for name, form in instructions().items():
        if form.is_integer or form.sparsity is not None:
            continue
        assert isinstance(form.form, MmaForm)
        m, n, _ = form.shape
        k = 1 if form.block_scale is None else form.block_scale.vector
        one = replace(form, form=replace(form.form, shape=Shape(m, n, k)))
        found.setdefault(name.partition("/")[2], block_of(one))
    return found


DIRECTIONS = (Rounding.UPWARD, Rounding.DOWNWARD)

NARROW = (E4M3, E5M2, E3M2, E2M3, E2M1)


@theorem(
    "ptx/numerics/exact-product",
    "f32 holds every product of f16 and of 8-, 6- and 4-bit floats; of bf16 and tf32 only within its range",
    "rounding x·y upward and downward gives the same encoding",
    SOURCE,
)
def exact_product() -> Iterator[Case]:
    """Yield each pair in f32; bf16 and tf32 also where exponents are moderate, and narrow ones in f16."""
    yield Case("f16-f16-in-f32", partial(_exact_product, F16, F16, F32))
    for fmt in NARROW:
        yield Case(
            f"{fmt}-is-f16",
            partial(_exact_conversion, fmt),
            statement="every number of the format is one of f16: its products are f16's",
        )
    for fmt in (BF16, TF32):
        yield Case(f"{fmt}-{fmt}-in-f32", partial(_exact_product, fmt, fmt, F32), Status.REFUTED)
        yield Case(
            f"{fmt}-{fmt}-in-f32/moderate",
            partial(_exact_product, fmt, fmt, F32, moderate=True),
            statement="2^-63 ≤ |x|, |y| < 2^64 ⇒ x·y is a normal number of f32",
        )
    for x, y in ((E3M2, E3M2), (E3M2, E2M3), (E2M3, E2M3), (E2M1, E2M1)):
        yield Case(f"{x}-{y}-in-f16", partial(_exact_product, x, y, F16))
    for fmt in (E4M3, E5M2):
        yield Case(f"{fmt}-{fmt}-in-f16", partial(_exact_product, fmt, fmt, F16), Status.REFUTED)


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


@theorem(
    "ptx/numerics/small-integers",
    "sums of small integers are exact in every order of accumulation",
    "|C| + Σ |a·b| < 2^p, p the result's precision: partial sums stay below it, it is representable, "
    "and rounding what is representable changes nothing; so does each order, or tree, of roundings",
    SOURCE,
)
def small_integers() -> Iterator[Case]:
    """Yield, for each accumulator, the bound of two partial sums, representability, and rounding."""
    yield Case(
        "joined",
        joined,
        equality=Equality.VALUE,
        method=Method.STRUCTURAL,
        statement="|S| ≤ B, |S'| ≤ B' ⇒ |S + S'| ≤ B + B': B + B' ∓ (S + S') = [B ∓ S] + [B' ∓ S']",
    )
    for fmt in (F16, F32, F64):
        p = fmt.precision
        yield Case(
            f"{fmt}/partial-sums",
            partial(_partial_sums, 1 << p),
            statement=f"|S| ≤ B, |S'| ≤ B', B + B' < 2^{p} ⇒ |S + S'| < 2^{p}: sums of disjoint terms",
        )
        yield Case(
            f"{fmt}/representable",
            partial(_representable, fmt, -(2.0 ** (p - 1))),
            statement=f"integers from 2^{p - 1} to 2^{p} are numbers of {fmt}; less 2^{p - 1}, still",
        )
        yield Case(
            f"{fmt}/rounding",
            partial(_rounds_to_itself, fmt),
            statement="a number of the format, rounded in any direction, is itself",
        )
        yield Case(
            f"{fmt}/halves",
            partial(_representable, fmt, 0.5),
            Status.REFUTED,
            statement=f"n + 1/2 is a number of {fmt} for every integer n from 2^{p - 1} to 2^{p}",
        )
        yield Case(
            f"{fmt}/any-order",
            partial(in_any_order, fmt),
            method=Method.INDUCTION,
            statement=f"|C| + Σ |a·b| < 2^{p} ⇒ every partial sum, in any order or tree, is an integer below "
            f"2^{p}, so a number of {fmt}, so not changed by its rounding: the result is C + Σ a·b",
        )


def _partial_sums(limit: int) -> Property:
    integers = S32 if limit <= S32.maximum else IntegerFormat("s62", 62, signed=True)

    def read(alg: Algebra, v: Inputs) -> list[Array]:
        return [alg.integer(v[name], integers) for name in ("s", "s2", "b", "b2")]

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        left, right, *_ = read(alg, v)
        bound = alg.whole(limit - 1)
        yield holds(alg, within(alg, left + right, -bound, bound), "sum below the limit")

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        left, right, b, b2 = read(alg, v)
        yield within(alg, left, -b, b)
        yield within(alg, right, -b2, b2)
        yield within(alg, b + b2, alg.whole(0), alg.whole(limit - 1))

    variables = tuple(Variable(name, integers, (1,)) for name in ("s", "s2", "b", "b2"))
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


THEOREMS = (
    one_term("ptx", LOOPS_SOURCE, _of_one_product),
    exact_product,
    small_integers,
)
