"""Products of any K: biases and accumulators by induction, and lanes beyond a ragged K."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import F16, F32
from ...spec.pto import cube
from ...spec.pto.buffers import read, write
from ...spec.pto.catalogue import OPERATIONS, ROLE_LOCATIONS
from ...spec.pto.choices import UNSPECIFIED, Choices
from ...spec.pto.element_types import ELEMENT_TYPES
from ...spec.pto.placement import physical
from ...spec.pto.sizes import Sizes, operand_extents
from ...spec.pto.targets import A2A3, A5, Profile, alias
from ...spec.rounding import Rounding
from ..families.blocked import zero_lanes
from ..families.chains import FirstOf, LaterBy, TwoLoops, without_rounding
from ..induction import Commutes, Same, induction
from ..obligation import (
    Case,
    Equality,
    Equation,
    Inputs,
    Method,
    Property,
    RingProperty,
    Status,
    Theorem,
    Variable,
    theorem,
)
from .blocked import LENGTHS, SEEDED_ONLY, block, partial_sums, split_step
from .operands import WRAPPING, is_integer, multiplied, typed, variables
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
        steps = {f"{two_loops.id}/further/{length}": _further()[length] for length in lengths}
        base = {f"{two_loops.id}/bias/{length}": _biased()[length] for length in lengths}
        goal = partial(induction, Same(), steps, base)
        choices = WRAPPING if is_integer(formats) else SEEDED_ONLY
        yield Case(f"bias/{name}", goal, method=Method.INDUCTION, choices=choices)

        exact = is_integer(formats)
        later = f"{split_step.id}/{name}" + ("" if exact else "/reals")
        first = {f"{two_loops.id}/accumulator/{name}": _plain()[name]}
        formula, further = LaterBy(formats["d"]), TwoLoops(partial_sums()[name])
        goal = partial(induction, formula, {later: further}, first)
        equality = Equality.BITS if exact else Equality.VALUE
        yield Case(f"accumulator/{name}", goal, equality=equality, method=Method.INDUCTION)


zero_lane = Theorem(
    "pto/blocked/zero-lane",
    "lanes beyond k that hold zeros in A and B add nothing: ragged K, where k counts in whole C0 groups",
    "acc(C, 0, 0) = C: the same number; of integers the same bits, with zeros in A alone too",
    "tilelang-ascend issue 1341 and pull request 1723",
    lambda: zero_lanes({name: block(".acc", formats, 1) for name, formats in typed().items()}),
)


@theorem(
    "pto/blocked/granules",
    "a matrix unit that takes whole C0 groups of K computes what lies behind k, zero or stale (pinned)",
    "k = 18 counts in whole groups of 16 ⇒ D on buffers = form(A and B with zero lanes appended), which "
    "pto/blocked/zero-lane compares with form(A, B)",
    "tilelang-ascend issue 1341 and pull request 1723",
)
def granules() -> Iterator[Case]:
    """Yield lanes that a load has filled with zeros, and lanes that nothing has written."""
    for profile in (A2A3, A5):
        goal, stale = (partial(_granules, profile, zeros=zeros) for zeros in (True, False))
        yield Case(f"{profile}/zeros", goal, method=Method.STRUCTURAL, choices=GRANULES)
        yield Case(
            f"{profile}/stale",
            stale,
            Status.REFUTED,
            choices=GRANULES,
            statement="the same with tiles of which only k lanes were written",
        )


GRANULES = f"accumulation={UNSPECIFIED}, k-tail=granules, unit-pitches=derived"


def _granules(profile: Profile, *, zeros: bool) -> Property:
    m, k, n = 16, 18, 16
    operation, group = OPERATIONS["tmatmul"], 32  # two groups of C0 = 16 elements
    element = {"a": "f16", "b": "f16", "d": "f32"}
    used, whole = operand_extents(m, k, n), operand_extents(m, group, n)
    tiles = {
        role: alias(profile, ROLE_LOCATIONS[role], ELEMENT_TYPES[element[role]], whole[role], used[role])
        for role in element
    }
    formats = {"a": F16, "b": F16, "d": F32}
    choices = Choices(accumulation=UNSPECIFIED, k_tail="granules")

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        tail = (*v["a"].shape[:-1], group - k)
        nothing = np.broadcast_to(alg.constant(0, F16), tail)
        appended = {
            "a": np.concatenate([v["a"], nothing], axis=-1),
            "b": np.concatenate([v["b"], nothing.swapaxes(-1, -2)], axis=-2),
        }
        buffers = {}
        for role, tile in tiles.items():
            before = np.broadcast_to(v[f"before_{role}"], (*v["a"].shape[:-2], tile.rows * tile.columns))
            place = physical(tile)
            written = {"d": None, **(appended if zeros else {"a": v["a"], "b": v["b"]})}[role]
            buffers[role] = before if written is None else write(role, before, place, written)
        d = cube.multiply(alg, operation, profile, tiles, buffers, Sizes(m, k, n), choices)
        expected = multiplied(alg, "", appended, formats, choices)
        yield Equation(read("d", d, physical(tiles["d"]), m, n), expected, F32, label="D")

    before = (Variable(f"before_{role}", fmt, (1,)) for role, fmt in formats.items())
    return Property((*variables(formats, (m, k, n)), *before), claim)


THEOREMS = (
    two_loops,
    any_size,
    zero_lane,
    granules,
)
