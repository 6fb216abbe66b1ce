"""Sums of Power's floats as chains and trees of roundings: one step, bounds, order, what is printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array, Operand, Product
from ...spec.formats import BF16, F32, F64, FloatFormat
from ...spec.power import catalogue
from ...spec.power.catalogue import UPDATES, RankKUpdate
from ...spec.power.choices import Choices
from ...spec.power.error_bounds import error_bounds
from ...spec.power.rank_k_update import SIGNIFICAND_24
from ...spec.rounding import Rounding
from ..families import rounded_chains
from ..families.block_products import Blocks
from ..families.exact_steps import small_integers
from ..families.rounded_chains import RoundedSum
from ..obligation import RN, Case, Certificate, Equality, Equation, Inputs, Property, Variable, theorem
from ..table_theorem import answered, table_theorem
from ..text_tables import rows
from .blocked import block, first, following
from .numerics import exact_product, significand
from .operands import FLOAT, all_live, updated
from .signs import negation_choice, step
from .stated.instructions import UPDATES as STATED_UPDATES

STEP_SOURCE = "Power ISA 3.1 section 7.2.1.3; IEEE 754-2019 section 5.4.1"


CHOICES = Choices(nan="default")
"""Which NaN a result is, is not compared."""


def _read_as(update: RankKUpdate) -> str:
    """Return the readings, besides that of NaNs, that an update depends on."""
    family = update.family
    points = ["bf16-sum", "bf16-direction"] if family.x == BF16 else []
    points += ["negation"] if update.negative_product and family.rank == 1 else []
    return ", ".join(f"{point}={getattr(CHOICES, point.replace('-', '_'))}" for point in points) or "all"


@theorem(
    "power/numerics/one-term",
    "float forms are exact on a single term x · 1 (f64: without accumulator), and on the accumulator alone",
    "every product 0 but x · 1 ⇒ ACC'[0,0] = ± x, where the accumulator is 0 or not read; "
    "every product 0 ⇒ ACC'[0,0] = ± acc; in every direction, or to nearest where the product is negated",
    STEP_SOURCE,
)
def one_term() -> Iterator[Case]:
    """Yield the obligations of each float form: each format with each operation.

    No solver decides in a minute that a fused f64 product with 1 is its factor, so that the term is there for
    the form without an accumulator alone.
    """
    for update in FLOAT:
        if not (update.accumulates and update.family.x == F64):
            yield Case(
                update.mnemonic, partial(_one_term, update), equality=Equality.IEEE, choices=_read_as(update)
            )
        if update.accumulates:
            name = f"{update.mnemonic}/accumulator"
            goal = partial(_accumulator, update)
            yield Case(name, goal, equality=Equality.IEEE, choices=_read_as(update))


def _one_term(update: RankKUpdate) -> Property:
    source, result = _formats(update)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        direction = v.get("rounding", Rounding.NEAREST_EVEN)
        found = _element(alg, update, v["x"], alg.constant(0, result), direction)
        term = Operand(v["x"], source)
        signed = Operand(alg.negate(term), source) if update.negative_product else term
        yield Equation(found, alg.fused(result, direction, (), [signed]), result, label="± x")

    return Property((Variable("x", source), *_direction(update)), claim, abstract=False)


def _accumulator(update: RankKUpdate) -> Property:
    source, result = _formats(update)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        direction = v.get("rounding", Rounding.NEAREST_EVEN)
        found = _element(alg, update, alg.constant(0, source), v["acc"], direction)
        addend = Operand(v["acc"], result)
        expected = alg.negate(addend) if update.negative_accumulator else addend.bits
        yield Equation(found, expected, result, label="± acc")

    return Property((Variable("acc", result), *_direction(update)), claim, abstract=False)


def _formats(update: RankKUpdate) -> tuple[FloatFormat, FloatFormat]:
    source, result = update.family.x, update.family.result
    assert isinstance(source, FloatFormat) and isinstance(result, FloatFormat)
    return source, result


def _direction(update: RankKUpdate) -> tuple[Variable, ...]:
    """Return the direction as a variable, unless negating before and after rounding differ by it."""
    return () if update.negative_product else (Variable("rounding", RN),)


def _element(alg: Algebra, update: RankKUpdate, x: Array, acc: Array, direction: Any) -> Array:
    """Execute an update whose other terms are 0, and return its first element."""
    family, (source, _) = update.family, _formats(update)
    one = alg.constant(source.bias << source.fraction_bits + source.padding_bits, source)
    operands = {
        "x": _with_first(alg, x, source, (4, family.rank)),
        "y": _with_first(alg, one, source, (family.columns, family.rank)),
        "acc": np.broadcast_to(acc[..., None, None], (*acc.shape, 4, family.columns)),
        "rounding": direction,
    }
    live = all_live(alg, update)
    return updated(alg, update, operands, CHOICES, live=live)[..., 0, 0]


def _with_first(alg: Algebra, value: Array, fmt: FloatFormat, shape: tuple[int, int]) -> Array:
    """Return an array whose first column is a value, and whose others are 0."""
    batch = value.shape
    first = np.broadcast_to(value[..., None, None], (*batch, shape[0], 1))
    zeros = np.broadcast_to(alg.constant(0, fmt), (*batch, shape[0], shape[1] - 1))
    return np.concatenate([first, zeros], axis=-1)


SOURCE = "Power ISA 3.1 section 7.2.1.3"


def sums() -> dict[str, RoundedSum]:
    """Return the float forms: of f32 and f64 chains, of f16 and bf16 trees, two exact products first."""
    return {update.mnemonic: _sum(update) for update in FLOAT}


def _sum(update: RankKUpdate) -> RoundedSum:
    family, result, name = update.family, update.family.result, update.mnemonic
    assert isinstance(result, FloatFormat)
    known = {"": f"{first.id}/{family.name}", "pp": f"{following.id}/{family.name}"}
    proved, read_as = [known.get(update.suffix, f"{step.id}/{name}")], "RN=0"
    nearest, directed = [], []
    if family.rank > 1:
        proved.append(f"{exact_product.id}/{family.x}-in-{SIGNIFICAND_24 if family.x == BF16 else F32}")
    elif update.negative_product:
        nearest = [f"{negation_choice.id}/{name}/symmetric"]
    if family.x == BF16:
        read_as += ", bf16-sum=two-step, bf16-direction=fpscr"
        nearest = [f"{significand.id}/{each}" for each in ("half-a-place", "monotone", "as-f32")]
        directed = [f"{significand.id}/a-place/{way}" for way in rounded_chains.DIRECTIONS]
    negates = update.negative_product or update.negative_accumulator
    return RoundedSum(
        result, (*proved, *nearest), family.rank == 1, read_as, negates, (*proved, *directed)
    )  # fmt: skip


def blocks() -> Blocks:
    """Return every form by name."""
    return {name: block(update) for name, update in UPDATES.items()}


def product_is_exact(result: FloatFormat, products: Sequence[Product], addends: Sequence[Operand]) -> bool:
    """Tell whether a product alone is rounded to a format that holds it (power/numerics/exact-product)."""
    if addends or len(products) != 1:
        return False
    ((x, _),) = products
    return result == (SIGNIFICAND_24 if x.format == BF16 else F32)


_ROUNDINGS = """
family     | significand | alone | accumulating
xvf64ger   | 53          | 1     | 1
xvf32ger   | 24          | 1     | 1
xvf16ger2  | 24          | 1     | 2
xvbf16ger2 | 24          | 2     | 2
"""


printed = table_theorem(
    "power/numerics/printed-bound",
    "the printed bound counts the roundings of the pseudocode, with half an ulp to nearest, one otherwise",
    "∀ updates: of integers nothing is printed; of f32 and f64 one rounding, of bf16 two, of f16 one, or two "
    "with an accumulator, each by a factor of 1 + 2^-p, p the bits of the significand, or 1 + 2^-(p-1) if "
    "directed; |ACC| is in S ⇔ the update accumulates",
    "Power ISA 3.1B, VSX vector floating-point outer-product instructions",
    lambda: {"table": _printed},
)


def _printed() -> Certificate:
    families = {row["family"]: row for row in rows(_ROUNDINGS)}
    expected: dict[str, tuple[str, ...]] = dict.fromkeys(STATED_UPDATES, ())
    for name in STATED_UPDATES:
        family = next((each for each in families if name.startswith(each)), None)
        if family is None:
            continue
        accumulating = name != family
        column = "accumulating" if accumulating else "alone"
        power = "^2" if families[family][column] == "2" else ""
        p = int(families[family]["significand"])
        bounds = [f"|D - exact| ≤ ((1 + 2^-{bits}){power} - 1)·S" for bits in (p, p - 1)]
        expected[name] = (*bounds, f"S = {'|ACC| + ' * accumulating}sum(|X·Y|)")

    def said(name: str) -> tuple[str, ...]:
        lines = tuple(error_bounds(catalogue.UPDATES[name]))
        bounds = (line.partition(": ")[2].partition(", about")[0] for line in lines[:-1])
        return (*bounds, *(line.partition("; ")[0] for line in lines[-1:]))

    return answered(expected, said)


THEOREMS = (
    one_term,
    rounded_chains.bound(
        "power",
        SOURCE,
        sums,
        "r = K products; in the other directions twice u and η; two products of f16 or bf16 are added first",
    ),
    rounded_chains.order("power", SOURCE, blocks, product_is_exact),
    rounded_chains.monotone("power", SOURCE, sums),
    small_integers("power", SOURCE, sums, blocks),
    printed,
)
