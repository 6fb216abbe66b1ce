"""What biases and accumulators add to products of any K: inductions on two loops that begin differently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial

import numpy as np

from ...spec.algebra import Array
from ...spec.rounding import Rounding
from ..families.chains import FirstOf, LaterBy, TwoLoops, without_rounding
from ..induction import induction
from ..invariants import Commutes, Same
from ..obligation import Case, Equality, Inputs, Method, Property, RingProperty, Status, Variable, theorem
from .blocked import LENGTHS, SEEDED_ONLY, block, partial_sums, split_step
from .operands import is_integer, typed
from .products import SOURCE

ROWS, COLUMNS = 3, 2
"""Extents of D."""

K = 4
"""Products in a block of `partial_sums`."""


def _rows_of_bias(v: Inputs) -> Array:
    bias = v["bias"]
    return np.broadcast_to(bias, (*bias.shape[:-2], v["a"].shape[-2], bias.shape[-1]))


@cache
def _biased() -> Mapping[str, FirstOf]:
    """Return the first block with a bias, and the one with equal rows of C, by types and length."""
    return {
        f"{name}/k{k}": FirstOf(block(".bias", formats, k), block(".acc", formats, k), _rows_of_bias)
        for name, formats in typed().items()
        for k in LENGTHS
    }


@cache
def _further() -> Mapping[str, TwoLoops]:
    """Return the blocks that both loops go on by."""
    return {name: TwoLoops(first.other) for name, first in _biased().items()}


@cache
def _plain() -> Mapping[str, FirstOf]:
    """Return the first block that starts from nothing, and the one that starts from q, by types."""
    return {
        name: FirstOf(block("", formats, K), partial_sums()[name], lambda v: v["q"])
        for name, formats in typed().items()
    }


def _alike(step: FirstOf | TwoLoops) -> Property:
    return Property(step.block.variables(ROWS, COLUMNS), Commutes(Same(), step))


def _with_q(name: str) -> Property | RingProperty:
    first = _plain()[name]
    q = Variable("q", first.block.result, (1, 1))
    variables, claim = (*first.block.variables(), q), Commutes(LaterBy(first.block.result), first)
    if first.block.is_integer:
        return Property(variables, claim)
    return RingProperty(without_rounding(variables), claim, {"rounding": Rounding.NEAREST_EVEN})


@theorem(
    "pto/product/two-loops",
    "a first block with a bias is one with equal rows of C, with C it is the plain one and C; further blocks "
    "of equal operands are equal",
    "bias(A, B) = acc(A, B, C[i, j] = bias[0, j]); acc(A, B, q) = plain(A, B) + q, over the reals for "
    "floats; acc(A, B, D) = acc(A, B, D)",
    SOURCE,
)
def two_loops() -> Iterator[Case]:
    """Yield, for every types, what loops with a bias begin with and go on with, and with an accumulator."""
    for name, first in _biased().items():
        yield Case(f"bias/{name}", partial(_alike, first), choices=first.block.choices)
    for name, further in _further().items():
        yield Case(f"further/{name}", partial(_alike, further), choices=further.block.choices)
    for name, formats in typed().items():
        in_a_ring = (Equality.VALUE, Method.STRUCTURAL)
        decided = (Equality.BITS, Method.SMT) if is_integer(formats) else in_a_ring
        yield Case(f"accumulator/{name}", partial(_with_q, name), Status.PROVED, *decided)


@theorem(
    "pto/product/any-size",
    "for every K a bias is an accumulator of equal rows, and an accumulator is added to the product",
    "∀ T ≥ 1, D being computed by T blocks, of 1, 3, 32 or 64 products each: D(bias)[i, j] = D(acc with "
    "C[i, j] = bias[0, j])[i, j], modulo 2^32, f32 bit for bit in the order of K, on a D of 3 x 2; of four "
    "products each: D(acc) = C + D(plain), modulo 2^32, over the reals for floats",
    SOURCE,
)
def any_size() -> Iterator[Case]:
    """Yield an induction for the bias and one for the accumulator, for each types."""
    for name, formats in typed().items():
        lengths = [f"{name}/k{k}" for k in LENGTHS]
        steps = {f"{two_loops.id}/further/{each}": _further()[each] for each in lengths}
        base = {f"{two_loops.id}/bias/{each}": _biased()[each] for each in lengths}
        goal = partial(induction, Same(), steps, base)
        choices = "all" if is_integer(formats) else SEEDED_ONLY
        yield Case(f"bias/{name}", goal, method=Method.INDUCTION, choices=choices)

        exact = is_integer(formats)
        later = f"{split_step.id}/{name}" + ("" if exact else "/reals")
        first = {f"{two_loops.id}/accumulator/{name}": _plain()[name]}
        formula, further = LaterBy(formats["d"]), TwoLoops(partial_sums()[name])
        goal = partial(induction, formula, {later: further}, first)
        equality = Equality.BITS if exact else Equality.VALUE
        yield Case(f"accumulator/{name}", goal, equality=equality, method=Method.INDUCTION)


THEOREMS = (two_loops, any_size)
