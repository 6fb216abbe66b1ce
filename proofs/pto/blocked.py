"""Blocked = full: loops over K of any trip count, split K, ragged edges, and what loops must not do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ...spec.algebra import Algebra, Array
from ...spec.pto.choices import ADDED_LAST, SEEDED, UNSPECIFIED, Choices
from ..obligation import (
    Equality,
    Equation,
    Induction,
    Inputs,
    Method,
    Property,
    RingProperty,
    Status,
    Variant,
    theorem,
)
from .operands import (
    ADDED_LAST_CHOICES,
    ARBITRARY_CHOICES,
    SEEDED_CHOICES,
    STARTS,
    Formats,
    added,
    chain,
    float_types,
    is_integer,
    multiplied,
    power_of_two,
    typed,
    variables,
    zero,
)

SOURCE = "pto-isa demos (gemm_basic, gemm_performance) and ptoas split-K sample; pto-isa issue 280"

LENGTHS = (1, 3, 32, 64)
"""Products in a block for which the step is decided as it is; others by `one_more`."""

SEEDED_ONLY = f"accumulation={SEEDED}"
ADDED_LAST_ONLY = f"accumulation={ADDED_LAST}"


def _start(alg: Algebra, suffix: str, v: Inputs, formats: Formats) -> Array:
    """Return what the sum of a form starts from."""
    (start,) = _given(suffix, v).values() or (zero(alg, formats),)
    return start


def _given(suffix: str, v: Inputs) -> dict[str, Array]:
    return {role: v[role] for role in STARTS[suffix]}


@theorem(
    "pto/blocked/step",
    "a block adds its products to what it starts from, one after the other",
    "D = fma(a[k−1], b[k−1], … fma(a[0], b[0], start)), start = 0, C or the bias row; integers modulo 2^32",
    SOURCE,
)
def step() -> Iterator[Variant]:
    """Yield every form and types for several lengths of a block."""
    for name, formats in typed().items():
        choices = "all" if is_integer(formats) else SEEDED_ONLY
        for suffix in STARTS:
            for k in LENGTHS:
                yield Variant(
                    f"{name}/tmatmul{suffix}/k{k}", partial(_step, suffix, formats, k), choices=choices
                )


def _step(suffix: str, formats: Formats, k: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        d = multiplied(alg, suffix, v, formats, start=_given(suffix, v))
        yield Equation(d, chain(alg, formats, v, _start(alg, suffix, v, formats)), formats["d"], label="D")

    return Property(variables(formats, (1, k, 1), *STARTS[suffix]), claim)


@theorem(
    "pto/blocked/one-more",
    "a block of one product more is the block, then the product",
    "D(k + 1 products) = acc(D(k products), product k)",
    SOURCE,
)
def one_more() -> Iterator[Variant]:
    """Yield every form and types, for up to 8 products: the sum is a loop whose body does not depend on k."""
    for name, formats in typed().items():
        choices = "all" if is_integer(formats) else SEEDED_ONLY
        for suffix in STARTS:
            yield Variant(f"{name}/tmatmul{suffix}", partial(_one_more, suffix, formats), choices=choices)


def _one_more(suffix: str, formats: Formats) -> Property:
    longest = 8

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        given = _given(suffix, v)
        for k in range(1, longest):
            before = multiplied(alg, suffix, v, formats, lanes=slice(k), start=given)
            after = multiplied(alg, ".acc", v, formats, lanes=slice(k, k + 1), start={"c": before})
            whole = multiplied(alg, suffix, v, formats, lanes=slice(k + 1), start=given)
            yield Equation(whole, after, formats["d"], label=f"{k} products and one")

    return Property(variables(formats, (1, longest, 1), *STARTS[suffix]), claim)


@theorem(
    "pto/blocked/any-trip-count",
    "a first block and any number of accumulating ones compute the unsplit product, whatever their lengths",
    "∀ T ≥ 1: D_T = the chain over all of K from the start, where D_1 = form(A_1, B_1) and "
    "D_{t+1} = acc(D_t, A_t, B_t): integers modulo 2^32, f32 bit for bit in the order of K; start = 0, C, or "
    "the bias, once",
    SOURCE,
)
def any_trip_count() -> Iterator[Variant]:
    """Yield one induction per form and types."""
    for name, formats in typed().items():
        choices = "all" if is_integer(formats) else SEEDED_ONLY
        for suffix in STARTS:
            premises = dict.fromkeys(
                f"{theorem}/{name}/tmatmul{form}{k}"
                for form in (suffix, ".acc")
                for theorem, lengths in ((step.id, [f"/k{k}" for k in LENGTHS]), (one_more.id, [""]))
                for k in lengths
            )
            yield Variant(
                f"{name}/tmatmul{suffix}",
                partial(Induction, tuple(premises)),
                method=Method.INDUCTION,
                choices=choices,
            )


@theorem(
    "pto/blocked/reals",
    "over the reals a block adds the sum of its products, wherever C or the bias is added",
    "D = start + Σ_t a[t]·b[t] as polynomials",
    SOURCE,
)
def reals() -> Iterator[Variant]:
    """Yield every form and types, for both orders; then the induction."""
    for name, formats in typed().items():
        for suffix in STARTS:
            yield Variant(
                f"{name}/tmatmul{suffix}",
                partial(_reals, suffix, formats),
                equality=Equality.VALUE,
                method=Method.STRUCTURAL,
            )


def _reals(suffix: str, formats: Formats) -> RingProperty:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        total = (v["a"][:, :, None] * v["b"][None, :, :]).sum(axis=-2)
        start = _given(suffix, v).values()
        for choices in (SEEDED_CHOICES, ADDED_LAST_CHOICES):
            d = multiplied(alg, suffix, v, formats, choices, start=_given(suffix, v))
            yield Equation(d, sum(start, total), formats["d"], label=choices.accumulation)

    return RingProperty(variables(formats, (2, 5, 2), *STARTS[suffix]), claim)


@theorem(
    "pto/blocked/any-trip-count-reals",
    "over the reals the loop computes start + A·B for every trip count, in both orders",
    "∀ T ≥ 1: D_T = start + Σ_t a[t]·b[t]",
    SOURCE,
)
def any_trip_count_reals() -> Iterator[Variant]:
    """Yield one induction per form and types."""
    for name in typed():
        for suffix in STARTS:
            premises = tuple(dict.fromkeys(f"{reals.id}/{name}/tmatmul{form}" for form in (suffix, ".acc")))
            yield Variant(
                f"{name}/tmatmul{suffix}",
                partial(Induction, premises),
                equality=Equality.VALUE,
                method=Method.INDUCTION,
            )


# -- what loops must not do
Loop = tuple[str, str]
"""The forms of the first and of the second block."""


@theorem(
    "pto/blocked/mistake",
    "loops that do not compute the product (pinned)",
    "two blocks = the product of both with the same start",
    SOURCE,
)
def mistakes() -> Iterator[Variant]:
    """Yield restarting sums, a bias in every block, and splitting where C is added last."""
    for name, formats in typed().items():
        for mistake, second, statement in (
            ("plain-again", "", "tmatmul instead of tmatmul.acc for the second block"),
            ("bias-again", ".bias", "tmatmul.bias for the second block too"),
        ):
            goal = partial(_loop, formats, second, SEEDED_CHOICES)
            yield Variant(f"{mistake}/{name}", goal, Status.REFUTED, statement=statement)
        yield Variant(
            f"bias-in-every-part/{name}",
            partial(_bias_twice, formats),
            Status.REFUTED,
            statement="the sum of two parts of K, both with the bias",
        )
    for name, formats in float_types():
        yield Variant(
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
        parts = [
            multiplied(alg, ".bias", v, formats, lanes=slice(t, t + 1), start={"bias": v["bias"]})
            for t in range(2)
        ]
        whole = multiplied(alg, ".bias", v, formats, start={"bias": v["bias"]})
        yield Equation(added(alg, formats, *parts), whole, formats["d"], label="D")

    return Property(variables(formats, (1, 2, 1), "bias"), claim, pinned=_lost_one_by_one(formats, 1))


@theorem(
    "pto/blocked/split-k-step",
    "what is added to the accumulator before a block may be added after it, but for roundings (pinned)",
    "acc(p, A_t, B_t) + q = acc(p + q, A_t, B_t)",
    SOURCE,
)
def split_step() -> Iterator[Variant]:
    """Yield a proof for integers; for floats one over the reals, and a refutation."""
    for name, formats in typed().items():
        if is_integer(formats):
            yield Variant(name, partial(_split, formats))
            continue
        goal = partial(_split_reals, formats)
        yield Variant(f"{name}/reals", goal, equality=Equality.VALUE, method=Method.STRUCTURAL)
        yield Variant(f"{name}/bits", partial(_split, formats), Status.REFUTED, choices=SEEDED_ONLY)


def _split_claim(formats: Formats, alg: Algebra, v: Inputs) -> Iterator[Equation]:
    after = added(alg, formats, multiplied(alg, ".acc", v, formats, start={"c": v["p"]}), v["q"])
    before = multiplied(alg, ".acc", v, formats, start={"c": added(alg, formats, v["p"], v["q"])})
    yield Equation(after, before, formats["d"], label="added after = added before")


def _split(formats: Formats) -> Property:
    pinned = None
    if not is_integer(formats):
        pinned = _lost_one_by_one(formats, 24)
        pinned |= {"q": pinned["bias"], "p": 0}
    return Property(variables(formats, (1, 4, 1), "p", "q"), partial(_split_claim, formats), pinned=pinned)


def _split_reals(formats: Formats) -> RingProperty:
    return RingProperty(variables(formats, (1, 4, 1), "p", "q"), partial(_split_claim, formats))


@theorem(
    "pto/blocked/split-k",
    "the sum of the loops over two parts of K, the bias in one of them, is the loop over K",
    "∀ T: loop_T(p) + q = loop_T(p + q), hence loop over K₁ from the start + loop over K₂ from 0 = "
    "loop over K",
    SOURCE,
)
def split_k() -> Iterator[Variant]:
    """Yield one induction per types: modulo 2^32 for integers, over the reals for floats."""
    for name, formats in typed().items():
        premise = f"{split_step.id}/{name}" + ("" if is_integer(formats) else "/reals")
        equality = Equality.BITS if is_integer(formats) else Equality.VALUE
        yield Variant(name, partial(Induction, (premise,)), equality=equality, method=Method.INDUCTION)


# -- edges
@theorem(
    "pto/blocked/tiles",
    "a tile of D depends on its rows of A, its columns of B and its start only",
    "D[tile i, j] = form(A[rows i], B[columns j], start[tile i, j]), tiles of any size: ragged M and N",
    SOURCE,
)
def tiles() -> Iterator[Variant]:
    """Yield every form and types: tiles of 2 x 1 and of 1 x 2 of a 3 x 3 result."""
    for name, formats in typed().items():
        choices = "all" if is_integer(formats) else f"accumulation={UNSPECIFIED}"
        for suffix in STARTS:
            yield Variant(f"{name}/tmatmul{suffix}", partial(_tiles, suffix, formats), choices=choices)


CUTS = (slice(0, 2), slice(2, 3))
"""Rows or columns of the tiles: the second is ragged."""


def _tiles(suffix: str, formats: Formats) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        whole = multiplied(alg, suffix, v, formats, ARBITRARY_CHOICES, start=_given(suffix, v))
        for rows in CUTS:
            for columns in CUTS:
                block = {"a": v["a"][..., rows, :], "b": v["b"][..., columns]}
                cuts = {"c": (..., rows, columns), "bias": (..., slice(None), columns)}
                start = {role: array[cuts[role]] for role, array in _given(suffix, v).items()}
                part = multiplied(alg, suffix, block, formats, ARBITRARY_CHOICES, start=start)
                yield Equation(whole[..., rows, columns], part, formats["d"], label="tile")

    return Property(variables(formats, (3, 4, 3), *STARTS[suffix]), claim)


@theorem(
    "pto/blocked/full",
    "a grid of tiles, each a loop over K, is the full product for every M, N, K and block size",
    "∀ partitions of rows, columns and K: D = start + A·B, integers modulo 2^32, f32 bit for bit in the "
    "order of K",
    SOURCE,
)
def full() -> Iterator[Variant]:
    """Yield one induction per form and types: tiles are independent, each is a loop."""
    for name, formats in typed().items():
        for suffix in STARTS:
            form = f"{name}/tmatmul{suffix}"
            premises = dict.fromkeys(
                (f"{tiles.id}/{form}", f"{tiles.id}/{name}/tmatmul.acc", f"{any_trip_count.id}/{form}")
            )
            yield Variant(
                form,
                partial(Induction, tuple(premises)),
                method=Method.INDUCTION,
                choices="all" if is_integer(formats) else SEEDED_ONLY,
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
    full,
)
