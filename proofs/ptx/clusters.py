"""Clusters: ranks number blocks, mapped addresses keep their place, multicasts reach the blocks of a mask."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from ...spec.algebra import Algebra
from ...spec.errors import InputError
from ...spec.ptx.asynchronous.clusters import (
    MOST_BLOCKS,
    PLACE_BITS,
    cluster_rank,
    mapped,
    rank_of,
    receivers,
)
from ...spec.ptx.asynchronous.mbarrier import OBJECT_BYTES
from ..comparison import compared
from ..obligation import (
    Case,
    Certificate,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Variable,
    holds,
    immediate,
    theorem,
)

SOURCE = "PTX ISA 9.1 sections 9.7.9 (mapa, getctarank) and 9.7.9.25 (multicast); ptxas of CUDA 13.0"

ADDRESS = immediate(32)


def _variables(*names: str) -> tuple[Variable, ...]:
    return tuple(Variable(name, ADDRESS, (1,)) for name in names)


@theorem(
    "ptx/cluster/ranks",
    "ranks number the blocks of a cluster from 0, each block once",
    "∀ clusters of at most 16 blocks: (x, y, z) ↦ x + nx·(y + ny·z) is a bijection onto 0 … nx·ny·nz - 1",
    SOURCE,
)
def ranks() -> Iterator[Case]:
    """Yield one obligation for each number of blocks."""
    for blocks in range(1, MOST_BLOCKS + 1):
        yield Case(f"{blocks}-blocks", partial(_ranks, blocks), method=Method.CERTIFICATE)


def _ranks(blocks: int) -> Certificate:
    shapes = [each for each in product(range(1, blocks + 1), repeat=3) if np.prod(each) == blocks]

    def asked() -> Iterator[tuple[tuple[int, ...], object]]:
        for x, y, z in shapes:
            yield (x, y, z), sorted(cluster_rank((i, j, k), (x, y, z)) for i, j, k in np.ndindex(x, y, z))

    expected: dict[tuple[int, ...], object] = {shape: list(range(blocks)) for shape in shapes}
    return compared(expected, asked)


@theorem(
    "ptx/cluster/mapped",
    "mapa keeps the place in the block, and getctarank gives back the rank",
    "∀ addresses a, ∀ ranks r, s < 16: getctarank(mapa(a, r)) = r; mapa(mapa(a, r), s) = mapa(a, s); "
    "mapa(a, getctarank(a)) = a; multiples of 8 stay so; addresses of different places, or of different "
    "ranks, differ. Of places from 2^24 on (pinned) they need not",
    SOURCE,
)
def mapping() -> Iterator[Case]:
    """Yield the claims on places, and what is false of larger ones."""
    yield Case("places", _mapped)
    yield Case("apart", partial(_apart, PLACE_BITS))
    yield Case(
        "too-far", partial(_apart, PLACE_BITS + 1), Status.REFUTED,
        statement="addresses of different places below 2^25 are mapped to different ones",
    )  # fmt: skip


def _is_rank(alg: Algebra, v: Inputs, name: str) -> np.ndarray:
    exact = alg.whole(MOST_BLOCKS - 1) - alg.integer(v[name], ADDRESS)
    return np.asarray(alg.in_range(exact, ADDRESS))


def _mapped() -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        a, r, s = v["a"], v["r"], v["s"]
        known = _is_rank(alg, v, "r") & _is_rank(alg, v, "s") & _is_rank(alg, {"a": rank_of(a)}, "a")
        yield Equation(rank_of(mapped(a, r)), r, ADDRESS, known, "rank")
        yield Equation(mapped(mapped(a, r), s), mapped(a, s), ADDRESS, known, "twice")
        yield Equation(mapped(a, rank_of(a)), a, ADDRESS, known, "own")
        low = OBJECT_BYTES - 1
        yield Equation(mapped(a, r) & low, a & low, ADDRESS, known, "alignment")

    return Property(_variables("a", "r", "s"), claim, abstract=False)


def _apart(bits: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        known = _is_rank(alg, v, "r") & _is_rank(alg, v, "s")
        for name in "ab":
            known = known & alg.same(v[name] >> bits, 0 * v[name])
        differ = ~(alg.same(v["a"], v["b"]) & alg.same(v["r"], v["s"]))
        there = alg.same(mapped(v["a"], v["r"]), mapped(v["b"], v["s"]))
        yield holds(alg, ~there, "differ", known & differ)

    pinned = {"a": [0], "b": [1 << PLACE_BITS], "r": [0], "s": [0]} if bits > PLACE_BITS else None
    return Property(_variables("a", "b", "r", "s"), claim, pinned=pinned, abstract=False)


@theorem(
    "ptx/cluster/multicast",
    "a multicast reaches the blocks whose bits are set, once each, and none outside of the cluster",
    "∀ clusters of 1 to 16 blocks, ∀ masks of up to 8 bits, and some of 16: r receives ⇔ bit r; a mask with "
    "a bit of no block is refused",
    SOURCE,
)
def multicast() -> Iterator[Case]:
    """Yield one obligation for each number of blocks."""
    for blocks in (1, 2, 4, 8, 16):
        yield Case(f"{blocks}-blocks", partial(_multicast, blocks), method=Method.CERTIFICATE)


def _multicast(blocks: int) -> Certificate:
    masks = (*range(256), 0x100, 0x8000, 0xFFFF, 0xAAAA)

    def asked(mask: int) -> object:
        try:
            return receivers(mask, blocks)
        except InputError:
            return "refused"

    return compared(
        {
            mask: tuple(r for r in range(16) if f"{mask:016b}"[15 - r] == "1")
            if mask < 2**blocks
            else "refused"
            for mask in masks
        },
        lambda: {mask: asked(mask) for mask in masks},
    )


THEOREMS = (ranks, mapping, multicast)
