"""Chains of multiplications: what a step of a loop claims, of bits and over the reals, split and in tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import Format
from ...spec.rounding import Rounding
from ..induction import Commutes, Image, Recursion, Same, Terms, induction
from ..obligation import (
    RN,
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
)
from .block_products import BlockProduct, Blocks, added

ROWS = COLUMNS = (slice(0, 2), slice(2, 3))
"""Tiles of a D of 3 x 3: the second is ragged."""


@dataclass(frozen=True)
class Chain(Recursion):
    """D as the instruction computes it, and as it is stated without it, each from its own D before."""

    block: BlockProduct

    @property
    def result(self) -> Format:
        """The format of D."""
        return self.block.result

    @property
    def readings(self) -> tuple[Any, ...]:
        """The block's."""
        return self.block.readings

    @property
    def begins(self) -> bool:
        """Whether the sum starts from nothing that came before."""
        return self.block.accumulator not in self.block.operands

    def state(self, v: Inputs) -> Array:
        """Return the accumulator."""
        before: Array = v[self.block.accumulator]
        return before

    def following(self, alg: Algebra, v: Inputs, before: Terms | None, reading: Any) -> Terms:
        """Return both D."""
        one, other = ({**v, self.block.accumulator: term} if before else v for term in before or (None, None))
        return self.block.multiply(alg, one, reading), self._stated(alg, other, reading)

    def _stated(self, alg: Algebra, v: Inputs, reading: Any) -> Array:
        return self.block.expected(alg, v, reading)


@dataclass(frozen=True)
class Totals(Chain):
    """The same over the reals or the integers, where the order of a sum doesn't matter."""

    def _stated(self, alg: Algebra, v: Inputs, reading: Any) -> Array:
        return self.block.total(v)


@dataclass(frozen=True)
class TwoLoops(Chain):
    """D of two loops of the same instructions on the same operands, which start from different C."""

    def _stated(self, alg: Algebra, v: Inputs, reading: Any) -> Array:
        return self.block.multiply(alg, v, reading)


@dataclass(frozen=True)
class InTiles(Chain):
    """The same of a D that is computed in tiles, each from its parts of the operands and its own D."""

    def following(self, alg: Algebra, v: Inputs, before: Terms | None, reading: Any) -> Terms:
        """Return both D, the tiles put together."""
        _, stated = super().following(alg, v, before, reading)
        one = {**v, self.block.accumulator: before[0]} if before else v
        lines = []
        for rows in ROWS:
            tiles = []
            for columns in COLUMNS:
                parts = {name: o.part(one[name], rows, columns) for name, o in self.block.operands.items()}
                tiles.append(self.block.multiply(alg, parts, reading))
            lines.append(np.concatenate(tiles, axis=-1))
        return np.concatenate(lines, axis=-2), stated


@dataclass(frozen=True)
class FirstOf(Chain):
    """D of the first block of two loops: as `block` computes it, and as another form does from a start.

    Attributes
    ----------
    other : BlockProduct
        The other form.
    start : callable
        Maps the operands of `block` to the accumulator of `other`.
    """

    other: BlockProduct
    start: Callable[[Inputs], Array]

    @property
    def begins(self) -> bool:
        """It does."""
        return True

    def following(self, alg: Algebra, v: Inputs, before: Terms | None, reading: Any) -> Terms:
        """Return both D."""
        from_start = {**v, self.other.accumulator: self.start(v)}
        return self.block.multiply(alg, v, reading), self.other.multiply(alg, from_start, reading)


@dataclass(frozen=True)
class LaterBy(Image):
    """The second loop's D is the first one's, and q added to it; q is the same for every n."""

    result: Format

    @property
    def text(self) -> str:
        """P(n)."""
        return "loop_n(p) + q = loop_n(p + q)"

    def image(self, alg: Algebra, v: Inputs, term: Array) -> Array:
        """Return D + q."""
        return added(alg, term, v["q"], self.result, v.get("rounding", Rounding.NEAREST_EVEN))


def adds(block: BlockProduct, m: int = 1, n: int = 1) -> Property:
    """Return the claim that an instruction computes the sum that is stated without it."""
    return Property(block.variables(m, n), Commutes(Same(), Chain(block)))


def adds_in_tiles(block: BlockProduct) -> Property:
    """Return the same claim of tiles of 2 x 2 to 1 x 1 of a D of 3 x 3."""
    return Property(block.variables(ROWS[-1].stop, COLUMNS[-1].stop), Commutes(Same(), InTiles(block)))


def polynomial(block: BlockProduct, m: int = 1, n: int = 1) -> RingProperty:
    """Return the claim that an instruction computes the total, over the reals or the integers."""
    claim = Commutes(Same(), Totals(block))
    return RingProperty(without_rounding(block.variables(m, n)), claim, {"rounding": Rounding.NEAREST_EVEN})


def without_rounding(variables: Iterable[Variable]) -> tuple[Variable, ...]:
    """Return the variables of a ring, in which nothing is rounded."""
    return tuple(variable for variable in variables if variable.format != RN)


def added_later(block: BlockProduct) -> Property:
    """Return the claim that what is added to the accumulator may be added to D instead."""
    q = Variable("q", block.operands[block.accumulator].format, (1, 1))
    claim = Commutes(LaterBy(block.result), TwoLoops(block))
    return Property((*block.variables(), q), claim, pinned=block.pinned or None)


def added_later_over_the_reals(block: BlockProduct) -> RingProperty:
    """Return the same claim of polynomials."""
    prop = added_later(block)
    return RingProperty(without_rounding(prop.variables), prop.claim, {"rounding": Rounding.NEAREST_EVEN})


def tiled(block: BlockProduct) -> Property:
    """Return the claim that a tile of D is the D of its parts of the operands."""

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        for reading in block.readings:
            whole = block.multiply(alg, v, reading)
            for rows in ROWS:
                for columns in COLUMNS:
                    parts = {name: o.part(v[name], rows, columns) for name, o in block.operands.items()}
                    part = block.multiply(alg, parts, reading)
                    yield Equation(whole[..., rows, columns], part, block.result, label="tile")

    return Property(block.variables(ROWS[-1].stop, COLUMNS[-1].stop), claim)


def over_bits(claim: Callable[[BlockProduct], Property], blocks: Blocks) -> Iterator[Case]:
    """Yield a claim on encodings of each block."""
    return (Case(name, partial(claim, block), choices=block.choices) for name, block in blocks.items())


def over_the_reals(claim: Callable[[BlockProduct], RingProperty], blocks: Blocks) -> Iterator[Case]:
    """Yield a claim on polynomials of each block."""
    for name, block in blocks.items():
        yield Case(name, partial(claim, block), equality=Equality.VALUE, method=Method.STRUCTURAL)


def splits(blocks: Blocks, in_a_ring: Blocks) -> Iterator[Case]:
    """Yield `added_later`: of integers a proof; of floats one over the reals, and the refutation."""
    for name, block in blocks.items():
        if block.is_integer:
            yield Case(name, partial(added_later, block), choices=block.choices)
            continue
        yield from over_the_reals(added_later_over_the_reals, {f"{name}/reals": in_a_ring[name]})
        yield Case(f"{name}/bits", partial(added_later, block), Status.REFUTED, choices=block.choices)


def split_loops(step: Theorem, blocks: Blocks, in_a_ring: Blocks) -> Iterator[Case]:
    """Yield the induction on split K: modulo 2**bits for integers, over the reals for floats."""
    for name, block in blocks.items():
        exact = block.is_integer
        premise = f"{step.id}/{name}" if exact else f"{step.id}/{name}/reals"
        decided = block if exact else in_a_ring[name]
        goal = partial(induction, LaterBy(block.result), {premise: TwoLoops(decided)})
        equality = Equality.BITS if exact else Equality.VALUE
        choices = block.choices if exact else "all"
        yield Case(name, goal, equality=equality, method=Method.INDUCTION, choices=choices)
