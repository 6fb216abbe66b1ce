"""Blocked = full: loops over K of any trip count, split K, ragged edges, and what loops must not do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.pto.choices import UNSPECIFIED, Choices
from ..families.block_products import (
    BlockProduct,
    Blocks,
    added,
    one_after_the_other,
    outer,
    power_of_two,
    sum_of_products,
)
from ..families.chains import (
    Chain,
    InTiles,
    Totals,
    adds_in_tiles,
    over_bits,
    over_the_reals,
    polynomial,
    split_loops,
    splits,
    tiled,
)
from ..induction import Same, induction
from ..obligation import (
    Case,
    Equality,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Theorem,
    theorem,
)
from .operands import (
    ADDED_LAST_CHOICES,
    ARBITRARY_CHOICES,
    SEEDED_CHOICES,
    STARTS,
    WRAPPING,
    Formats,
    float_types,
    is_integer,
    multiplied,
    operands_of,
    reading,
    typed,
    variables,
)

SOURCE = "pto-isa demos (gemm_basic, gemm_performance) and ptoas split-K sample; pto-isa issue 280"

LENGTHS = (1, 3, 32, 64)
"""Products in a block for which the step is decided as it is; others by `one_more`."""

SEEDED_ONLY = reading(SEEDED_CHOICES)
ADDED_LAST_ONLY = reading(ADDED_LAST_CHOICES)


def block(
    suffix: str, formats: Formats, k: int, *readings: Choices, choices: str = SEEDED_ONLY
) -> BlockProduct:
    """Return a form on k products; integers are the same in every reading."""
    starts = STARTS[suffix]

    def multiply(alg: Algebra, v: Inputs, reading: Choices) -> Array:
        return multiplied(alg, suffix, v, formats, reading, start={role: v[role] for role in starts})

    return BlockProduct(
        operands_of(formats, k, *starts),
        formats["d"],
        multiply,
        lambda alg, v, reading: plain_sum(alg, suffix, v, formats),
        readings or (SEEDED_CHOICES,),
        WRAPPING if is_integer(formats) else choices,
        total=lambda v: sum((v[role] for role in starts), sum_of_products(v)),
    )


def plain_sum(alg: Algebra, suffix: str, v: Inputs, formats: Formats) -> Array:
    """Return the products one after the other onto what a form starts from, without the instruction."""
    zero = alg.constant(0, formats["d"])[np.newaxis, np.newaxis]
    start = v[STARTS[suffix][0]] if STARTS[suffix] else zero
    factors = outer(v["a"], v["b"], (formats["a"], formats["b"]))
    return one_after_the_other(alg, start, factors, formats["d"])


def _forms() -> Iterator[tuple[str, str, Formats]]:
    """Yield the name, the suffix and the types of every form and types."""
    for name, formats in typed().items():
        for suffix in STARTS:
            yield f"{name}/tmatmul{suffix}", suffix, formats


def float_forms() -> Iterator[tuple[str, str, Formats]]:
    """Yield those that sum floats."""
    return (form for form in _forms() if not is_integer(form[2]))


@cache
def _of_lengths() -> Blocks:
    """Return every form and types, for every length of a block."""
    return {f"{name}/k{k}": block(suffix, formats, k) for name, suffix, formats in _forms() for k in LENGTHS}


def _chains(name: str, make: Callable[[BlockProduct], Chain]) -> dict[str, Chain]:
    """Return the steps of a form of every length, by their obligations' ids."""
    return {f"{step.id}/{name}/k{k}": make(_of_lengths()[f"{name}/k{k}"]) for k in LENGTHS}


step = Theorem(
    "pto/blocked/step",
    "a block adds the products of a row and a column to what their element starts from, one after the other, "
    "in tiles, too",
    "D[i, j] = fma(a[i, k−1], b[k−1, j], … fma(a[i, 0], b[0, j], start[i, j])), start = 0, C or the bias "
    "row, on tiles of 2 x 2 to 1 x 1 of a D of 3 x 3, each computed from its rows, columns and start; "
    "integers modulo 2^32",
    SOURCE,
    lambda: over_bits(adds_in_tiles, _of_lengths()),
)


one_more = Theorem(
    "pto/blocked/one-more",
    "a block of one product more is the block, then the product",
    "D(k + 1 products) = acc(D(k products), product k)",
    SOURCE,
    lambda: (
        Case(
            name,
            partial(_one_more, suffix, formats),
            choices=(WRAPPING if is_integer(formats) else SEEDED_ONLY),
        )
        for name, suffix, formats in _forms()
    ),
)


def _one_more(suffix: str, formats: Formats) -> Property:
    longest = 8

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        given = {role: v[role] for role in STARTS[suffix]}
        for k in range(1, longest):
            before = multiplied(alg, suffix, v, formats, lanes=slice(k), start=given)
            after = multiplied(alg, ".acc", v, formats, lanes=slice(k, k + 1), start={"c": before})
            whole = multiplied(alg, suffix, v, formats, lanes=slice(k + 1), start=given)
            yield Equation(whole, after, formats["d"], label=f"{k} products and one")

    return Property(variables(formats, (1, longest, 1), *STARTS[suffix]), claim)


@theorem(
    "pto/blocked/any-trip-count",
    "a first block and any number of accumulating ones, of 1, 3, 32 or 64 products each, in tiles of D, are "
    "the unsplit product",
    "∀ T ≥ 1: D_T[i, j] = the chain over all of K of row i and column j from start[i, j], where D_1 = "
    "form(A_1, B_1) and D_{t+1} = acc(D_t, A_t, B_t), tile by tile of a D of 3 x 3, blocks of 1, 3, 32 and "
    "64 products in any sequence, so any K: integers modulo 2^32, f32 bit for bit in the order of K; start = "
    "0, C, or the bias, once",
    SOURCE,
)
def any_trip_count() -> Iterator[Case]:
    """Yield one induction per form and types; the first block of an accumulating form starts from any C."""
    for name, _, formats in _forms():
        accumulating = _accumulating(name)
        base = {} if name == accumulating else _chains(name, InTiles)
        goal = partial(induction, Same(), _chains(accumulating, InTiles), base)
        choices = WRAPPING if is_integer(formats) else SEEDED_ONLY
        yield Case(name, goal, method=Method.INDUCTION, choices=choices)


def _accumulating(name: str) -> str:
    """Return the name of the accumulating form of the same types."""
    return f"{name.partition('/')[0]}/tmatmul.acc"


@cache
def _over_the_reals() -> Blocks:
    return {
        name: block(suffix, formats, 5, SEEDED_CHOICES, ADDED_LAST_CHOICES)
        for name, suffix, formats in _forms()
    }


reals = Theorem(
    "pto/blocked/reals",
    "over the reals a block adds the sum of its products, wherever C or the bias is added",
    "D = start + Σ_t a[t]·b[t] as polynomials",
    SOURCE,
    lambda: over_the_reals(partial(polynomial, m=2, n=2), _over_the_reals()),
)


@theorem(
    "pto/blocked/any-trip-count-reals",
    "over the reals a loop of blocks of five products computes start + A·B for every trip count",
    "∀ T ≥ 1: D_T = start + Σ_t a[t]·b[t]",
    SOURCE,
)
def any_trip_count_reals() -> Iterator[Case]:
    """Yield one induction per form and types."""
    for name, _, _ in _forms():
        accumulating = _accumulating(name)
        steps, first = ({f"{reals.id}/{n}": Totals(_over_the_reals()[n])} for n in (accumulating, name))
        goal = partial(induction, Same(), steps, {} if name == accumulating else first)
        yield Case(name, goal, equality=Equality.VALUE, method=Method.INDUCTION)


# -- what loops must not do
Loop = tuple[str, str]
"""The forms of the first and of the second block."""


@theorem(
    "pto/blocked/mistake",
    "loops that do not compute the product (pinned)",
    "two blocks = the product of both with the same start",
    SOURCE,
)
def mistakes() -> Iterator[Case]:
    """Yield restarting sums, a bias in every block, and splitting where C is added last."""
    for name, formats in typed().items():
        for mistake, second, statement in (
            ("plain-again", "", "tmatmul instead of tmatmul.acc for the second block"),
            ("bias-again", ".bias", "tmatmul.bias for the second block too"),
        ):
            goal = partial(_loop, formats, second, SEEDED_CHOICES)
            yield Case(f"{mistake}/{name}", goal, Status.REFUTED, statement=statement)
        yield Case(
            f"bias-in-every-part/{name}",
            partial(_bias_twice, formats),
            Status.REFUTED,
            statement="the sum of two parts of K, both with the bias",
        )
    for name, formats in float_types():
        yield Case(
            f"added-last/{name}",
            partial(_loop, formats, ".acc", ADDED_LAST_CHOICES),
            Status.REFUTED,
            choices=ADDED_LAST_ONLY,
            statement="an accumulating loop is the unsplit product bit for bit where C is added last",
        )


def _lost_one_by_one(formats: Formats, bias: int) -> dict[str, Any]:
    """Return two products, both 1, and a bias of 2**24: each is lost alone, their sum is not."""
    return {
        "a": power_of_two(formats["a"], 0),
        "b": power_of_two(formats["b"], 0),
        "bias": power_of_two(formats["d"], bias),
    }


def _loop(formats: Formats, second: str, choices: Choices) -> Property:
    """Return the claim that the bias form, then the form of the second block, is the bias form on both."""

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        first = multiplied(alg, ".bias", v, formats, choices, slice(1), {"bias": v["bias"]})
        given = {"": {}, ".acc": {"c": first}, ".bias": {"bias": v["bias"]}}[second]
        blocks = multiplied(alg, second, v, formats, choices, slice(1, 2), given)
        whole = multiplied(alg, ".bias", v, formats, choices, start={"bias": v["bias"]})
        yield Equation(blocks, whole, formats["d"], label="D")

    bias = 24 if second == ".acc" else 1
    return Property(variables(formats, (1, 2, 1), "bias"), claim, pinned=_lost_one_by_one(formats, bias))


def _bias_twice(formats: Formats) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        first, second = (
            multiplied(alg, ".bias", v, formats, lanes=slice(t, t + 1), start={"bias": v["bias"]})
            for t in range(2)
        )
        whole = multiplied(alg, ".bias", v, formats, start={"bias": v["bias"]})
        yield Equation(added(alg, first, second, formats["d"]), whole, formats["d"], label="D")

    return Property(variables(formats, (1, 2, 1), "bias"), claim, pinned=_lost_one_by_one(formats, 1))


@cache
def partial_sums() -> Blocks:
    """Return the accumulating form on four products and a partial sum p, for every types."""
    return {name: _partial_sum(formats) for name, formats in typed().items()}


split_step = Theorem(
    "pto/blocked/split-k-step",
    "what is added to the accumulator before a block may be added after it, but for roundings (pinned)",
    "acc(p, A_t, B_t) + q = acc(p + q, A_t, B_t)",
    SOURCE,
    lambda: splits(partial_sums(), partial_sums()),
)


def _partial_sum(formats: Formats) -> BlockProduct:
    accumulating = block(".acc", formats, 4)
    lost = _lost_one_by_one(formats, 24)
    return replace(
        accumulating,
        operands=operands_of(formats, 4, "p"),
        multiply=lambda alg, v, reading: accumulating.multiply(alg, {**v, "c": v["p"]}, reading),
        accumulator="p",
        pinned={} if is_integer(formats) else {"a": lost["a"], "b": lost["b"], "p": 0, "q": lost["bias"]},
    )


split_k = Theorem(
    "pto/blocked/split-k",
    "the sum of the loops over two parts of K, the bias in one of them, is the loop over K",
    "∀ T blocks of four products each: loop_T(p) + q = loop_T(p + q), hence loop over K₁ from the start + "
    "loop over K₂ from 0 = loop over K; modulo 2^32, over the reals for floats",
    SOURCE,
    lambda: split_loops(split_step, partial_sums(), partial_sums()),
)


# -- edges
@theorem(
    "pto/blocked/tiles",
    "a tile of D depends on its rows of A, its columns of B and its start only",
    "D[tile i, j] = form(A[rows i], B[columns j], start[tile i, j]), for tiles of 2 x 2 to 1 x 1 of a D of "
    "3 x 3, however products are accumulated",
    SOURCE,
)
def tiles() -> Iterator[Case]:
    """Yield every form and types: tiles of 2 x 1 and of 1 x 2 of a 3 x 3 result."""
    arbitrary = f"accumulation={UNSPECIFIED}"
    return over_bits(
        tiled,
        {
            name: block(suffix, formats, 4, ARBITRARY_CHOICES, choices=arbitrary)
            for name, suffix, formats in _forms()
        },
    )


THEOREMS = (
    step,
    one_more,
    any_trip_count,
    reals,
    any_trip_count_reals,
    mistakes,
    split_step,
    split_k,
    tiles,
)
