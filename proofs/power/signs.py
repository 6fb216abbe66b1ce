"""The sign letters of the float forms: pp, pn, np, nn against each other, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import as_float
from ...spec.power.catalogue import FAMILIES, UPDATES, FloatFamily, RankKUpdate
from ...spec.power.choices import Choices
from ...spec.rounding import Rounding
from ..families.chains import adds
from ..obligation import Case, Equality, Equation, Inputs, Property, Status, Theorem, theorem
from .blocked import block
from .operands import live, operand_variables, readings, updated

SOURCE = (
    "Power ISA 3.1 section 7.2.1.3 "
    "(bfp_NEGATE after rounding for f32 and f64, before the add for f16 and bf16)"
)

FLOAT_FAMILIES = tuple(family for family in FAMILIES if isinstance(family, FloatFamily))
ONE_STEP = tuple(family for family in FLOAT_FAMILIES if family.rank == 1)


def form(family: FloatFamily, suffix: str) -> RankKUpdate:
    """Return a family's update by suffix."""
    return UPDATES[family.name + suffix]


negative_accumulator = Theorem(
    "power/signs/negative-accumulator",
    "subtracting the accumulator is adding its negation",
    "pn(x, y, acc) = pp(x, y, -acc) and nn(x, y, acc) = np(x, y, -acc) (a NaN has no negation)",
    SOURCE,
    lambda: (
        Case(f"{family.name}{minus}", partial(_negative_accumulator, family, minus, plus))
        for family in FLOAT_FAMILIES
        for minus, plus in (("pn", "pp"), ("nn", "np"))
    ),
)


def _negative_accumulator(family: FloatFamily, minus: str, plus: str) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        negated = alg.negate(Operand(v["acc"], family.result))
        on = live(alg, form(family, minus), v).elements
        for choices in readings(form(family, minus)):
            left = updated(alg, form(family, minus), v, choices)
            right = updated(alg, form(family, plus), v, choices, acc=negated)
            yield Equation(left, right, family.result, on, f"{minus} = {plus} of -acc, {choices}")

    return Property(operand_variables(form(family, minus)), claim)


@theorem(
    "power/signs/negated-result",
    "for f32 and f64, np and nn are minus the rounded fused multiply-add",
    "np(x, y, acc) = -pn(x, y, acc) and nn(x, y, acc) = -pp(x, y, acc) on live elements, NaNs unchanged",
    SOURCE,
)
def negated_result() -> Iterator[Case]:
    """Yield two proofs per one-step family; for two-step families two refutations."""
    for family in FLOAT_FAMILIES:
        expect = Status.PROVED if family.rank == 1 else Status.REFUTED
        for negative, positive in (("np", "pn"), ("nn", "pp")):
            yield Case(
                f"{family.name}{negative}",
                partial(_negated_result, family, negative, positive),
                expect,
                choices="all" if expect is Status.REFUTED else "negation=after-rounding",
            )


def _negated_result(family: FloatFamily, negative: str, positive: str) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        on = live(alg, form(family, negative), v).elements
        for nan in ("operand-order", "default"):
            left = updated(alg, form(family, negative), v, Choices(nan=nan))
            right = updated(alg, form(family, positive), v, Choices(nan=nan))
            minus = alg.negate(Operand(right, family.result))
            yield Equation(left, minus, family.result, on, f"{negative} = -{positive}")

    return Property(operand_variables(form(family, negative)), claim)


@theorem(
    "power/signs/negated-product",
    "np is not the positive form of a negated operand (pinned for f32 and f64)",
    "np(x, y, acc) = pp(-x, y, acc) is false for f32 and f64: "
    "exact zeros differ in sign, directed roundings in value",
    SOURCE,
)
def negated_product() -> Iterator[Case]:
    """Yield two refutations per one-step family: bits under RN = 0, numbers under RN = 2."""
    for family in ONE_STEP:
        fmt = family.result
        one = fmt.bias << fmt.fraction_bits
        masks = {"xmsk": 15, "ymsk": 15 >> (4 - family.columns)}
        zero = {"x": one, "y": one, "acc": one, **masks, "rounding": Rounding.NEAREST_EVEN.value}
        above = {"x": one + 1, "y": one + 1, **masks, "rounding": Rounding.UPWARD.value}
        np_form = form(family, "np")
        yield Case(f"{np_form.mnemonic}/zero", partial(_negated_product, np_form, zero), Status.REFUTED)
        yield Case(
            f"{np_form.mnemonic}/directed",
            partial(_negated_product, np_form, above),
            Status.REFUTED,
            Equality.IEEE,
        )


def _negated_product(update: RankKUpdate, pinned: dict[str, int]) -> Property:
    family = update.family
    assert isinstance(family, FloatFamily)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x = alg.negate(Operand(v["x"], family.x))
        positive = updated(alg, form(family, "pp"), v, Choices(), x=x)
        yield Equation(updated(alg, update, v, Choices()), positive, family.result, label="np = pp of -x")

    return Property(operand_variables(update), claim, pinned=pinned)


@theorem(
    "power/signs/negation-choice",
    "negating before or after rounding agree in the symmetric directions, not in the directed ones (pinned)",
    "RN ∈ {0, 1} ⇒ np and nn are the same under both readings of 'negation'; under RN = 2, 3 they differ",
    SOURCE + "; QEMU before 2025-05 negates first",
)
def negation_choice() -> Iterator[Case]:
    """Yield a proof and two refutations per one-step family and negative form."""
    for family in ONE_STEP:
        for suffix in ("np", "nn"):
            update = form(family, suffix)
            yield Case(f"{update.mnemonic}/symmetric", partial(_negation_choice, update, (0, 1)))
            for direction in (Rounding.UPWARD, Rounding.DOWNWARD):
                yield Case(
                    f"{update.mnemonic}/{direction.name.lower()}",
                    partial(_negation_choice, update, (direction.value,)),
                    Status.REFUTED,
                )


def _negation_choice(update: RankKUpdate, directions: tuple[int, ...]) -> Property:
    fmt = as_float(update.family.result)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        for direction in directions:
            values: list[Array] = [
                updated(alg, update, v, replace(Choices(), negation=negation), rounding=Rounding(direction))
                for negation in ("after-rounding", "before-rounding")
            ]
            yield Equation(values[0], values[1], fmt, label=f"RN = {direction}")

    variables = tuple(variable for variable in operand_variables(update) if variable.name != "rounding")
    odd = dict.fromkeys(("x", "y"), (fmt.bias << fmt.fraction_bits) + 1)
    pinned = {**odd, "xmsk": 15, "ymsk": 15 >> (4 - update.family.columns)} if len(directions) == 1 else None
    return Property(variables, claim, pinned=pinned)


@theorem(
    "power/signs/step",
    "what each float form rounds, and what its letters negate",
    "pn: fl(p - acc); np: -fl(p - acc), of f16 and bf16 fl(-fl(p) + acc); nn: -fl(p + acc), of f16 and bf16 "
    "fl(-fl(p) - acc), where p is a product, of f16 and bf16 the exact sum of two; bit for bit",
    SOURCE,
)
def step() -> Iterator[Case]:
    """Yield the forms whose sign letters are not both positive; those are power/blocked/next."""
    for family in FLOAT_FAMILIES:
        for suffix in ("pn", "np", "nn"):
            whole = block(form(family, suffix))
            stated = tuple(reading for reading in whole.readings if reading.negation == "after-rounding")
            goal = partial(adds, replace(whole, readings=stated))
            yield Case(form(family, suffix).mnemonic, goal, choices="negation=after-rounding")


THEOREMS = (negative_accumulator, negated_result, negated_product, negation_choice, step)
