"""One step of every float form in the exact theory of floating point; no operation is uninterpreted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import BF16, F64, FloatFormat
from ...spec.power.catalogue import RankKUpdate
from ...spec.power.choices import Choices
from ...spec.rounding import Rounding
from ..obligation import RN, Case, Equality, Equation, Inputs, Property, Variable, theorem
from .operands import FLOAT, all_live, updated

SOURCE = "Power ISA 3.1 section 7.2.1.3; IEEE 754-2019 section 5.4.1"


CHOICES = Choices(nan="default")
"""Which NaN a result is, is not compared."""


def _read_as(update: RankKUpdate) -> str:
    """Return the readings, besides that of NaNs, that an update depends on."""
    family = update.family
    points = ["bf16-sum"] if family.x == BF16 else []
    points += ["negation"] if update.negative_product and family.rank == 1 else []
    return ", ".join(f"{point}={getattr(CHOICES, point.replace('-', '_'))}" for point in points) or "all"


@theorem(
    "power/numerics/one-term",
    "float forms are exact on a single term x · 1 (f64: without accumulator), and on the accumulator alone",
    "every product 0 but x · 1 ⇒ ACC'[0,0] = ± x, where the accumulator is 0 or not read; "
    "every product 0 ⇒ ACC'[0,0] = ± acc; in every direction, or to nearest where the product is negated",
    SOURCE,
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
    found: Array = updated(alg, update, operands, CHOICES, live=live)[..., 0, 0]
    return found


def _with_first(alg: Algebra, value: Array, fmt: FloatFormat, shape: tuple[int, int]) -> Array:
    """Return an array whose first column is a value, and whose others are 0."""
    batch = value.shape
    first = np.broadcast_to(value[..., None, None], (*batch, shape[0], 1))
    zeros = np.broadcast_to(alg.constant(0, fmt), (*batch, shape[0], shape[1] - 1))
    return np.concatenate([first, zeros], axis=-1)


THEOREMS = (one_term,)
