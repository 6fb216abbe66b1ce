"""Sparsity metadata: where its nibbles are, which selectors and which nibbles are legal."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial, reduce
from operator import and_
from typing import NamedTuple

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import U4, U16
from ...spec.ptx.catalogue import forms
from ...spec.ptx.choices import AS_TWICE_K
from ...spec.ptx.fragments import QUAD_LANES, QUADS
from ...spec.ptx.mma_forms import MmaForm
from ...spec.ptx.sparsity import Sparsity
from ...spec.ptx.variant import WARP_LANES, Family
from ..enumeration import enumerated
from ..families.layouts import COORDINATE, bijections
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
    theorem,
)
from .layouts import below, coordinate, held_only_at, in_four, one_of

SOURCE = "PTX ISA 9.1 section 9.7.14.6.1 and its figures"

LISTED_SELECTORS = 8
"""Sparsity selectors below it are listed one by one where they are illegal."""

NIBBLES = 16


class SparseType(NamedTuple):
    """A shape and type of A, as part of an id, with what its metadata means."""

    name: str
    sparsity: Sparsity
    selectors: int
    """The catalogue's bound of the sparsity selector."""


@cache
def sparse_types() -> tuple[SparseType, ...]:
    """Return every shape and A type of ``mma.sp``, once for each order that metadata may be asked to have."""
    found = {}
    for form in forms(Family.MMA_SP):
        assert isinstance(form, MmaForm)
        for a, _ in form.multiplicands:
            ordered = form.ordered_metadata or (form.container <= 8 and a.startswith("e"))
            name = f"{form.shape}/{a}/{'ordered' if ordered else 'plain'}"
            sparsity = Sparsity(form.shape, form.container, form.chunk, ordered)
            found[name] = SparseType(name, sparsity, form.selectors)
    return tuple(found.values())


@cache
def _placed_types() -> tuple[SparseType, ...]:
    """Return every shape and A type once: the order of indices doesn't move the metadata."""
    named = {sparse_type.name.rpartition("/")[0]: sparse_type for sparse_type in sparse_types()}
    return tuple(each._replace(name=name) for name, each in named.items())


@theorem(
    "ptx/sparsity/metadata-layout",
    "metadata nibbles and nibbles of the warp's registers correspond one to one",
    "(lane, nibble) ↦ (selector, row, chunk) is a bijection; for each legal selector (row, chunk) ↦ "
    "(lane, nibble) stays in the row's quad and in the register, with an explicit inverse; "
    f"of shapes of half a K by half-k-metadata={AS_TWICE_K}",
    SOURCE,
)
def metadata_layout() -> Iterator[Case]:
    """Yield the whole layout of each shape and type of A, and one obligation per selector."""
    for name, sparsity, _ in _placed_types():
        yield from bijections({name: sparsity.layout})
        for selector in range(sparsity.selectors):
            yield Case(
                f"{name}/selector-{selector}",
                partial(_picked, sparsity, selector),
                method=Method.CERTIFICATE,
            )


def _picked(sparsity: Sparsity, selector: int) -> Certificate:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        row, chunk = v["row"], v["chunk"]
        known = below(alg, row, sparsity.shape.m) & below(alg, chunk, sparsity.chunks)
        lane, nibble = sparsity.slot(row, chunk, selector)
        yield holds(alg, below(alg, lane, WARP_LANES), "lane in range", known)
        yield holds(alg, below(alg, nibble, 8), "nibble in range", known)
        yield Equation(lane >> 2, row & (QUADS - 1), COORDINATE, known, "quad of the row")
        expected = (alg.constant(selector, COORDINATE), row, chunk)
        for returned, point in zip(sparsity.layout.forward(lane, nibble), expected, strict=True):
            yield Equation(returned, point, COORDINATE, known, "comes back")

    prop = Property((coordinate("row"), coordinate("chunk")), claim, abstract=False)
    return enumerated(prop, {"row": range(sparsity.shape.m), "chunk": range(sparsity.chunks)})


@theorem(
    "ptx/sparsity/metadata-gathered",
    "what is written under a sparsity selector is read under it, and lies in the nibbles of the formula only",
    "gather(scatter(E, f), f) = E; scatter(E, f) holds E in the nibbles of the formula, 0 in the others; "
    f"of shapes of half a K by half-k-metadata={AS_TWICE_K}",
    SOURCE,
)
def metadata_gathered() -> Iterator[Case]:
    """Yield one obligation per shape, width and selector."""
    seen = set()
    for name, sparsity, _ in _placed_types():
        if (key := (sparsity.shape, sparsity.container)) not in seen:
            seen.add(key)
            for selector in range(sparsity.selectors):
                yield Case(
                    f"{name}/selector-{selector}",
                    partial(_gathered, sparsity, selector),
                    method=Method.STRUCTURAL,
                )


def _gathered(sparsity: Sparsity, selector: int) -> Property:
    shape = (sparsity.shape.m, sparsity.chunks)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        held = sparsity.held(selector)
        registers = held.scatter(alg, v["nibbles"])
        yield Equation(held.gather(alg, registers), v["nibbles"], U4, label="read")
        row, chunk = np.indices(shape)
        yield from held_only_at(alg, registers[..., 0], sparsity.slot(row, chunk, selector), v["nibbles"], U4)

    return Property((Variable("nibbles", U4, shape),), claim, abstract=False)


@theorem(
    "ptx/sparsity/selector",
    "the legal sparsity selectors are exactly those whose lanes stay in the quad",
    "∀ f < 2^16: f is in the manual's table ⇔ the lane of every row and chunk is in the row's quad",
    SOURCE + " and the table of section 9.7.14.6",
)
def selector() -> Iterator[Case]:
    """Yield the equivalence for each shape and type, and a refutation per illegal selector below 8."""
    for name, sparsity, legal in _placed_types():
        yield Case(name, partial(_selector, sparsity, legal))
        for value in range(legal, LISTED_SELECTORS):
            yield Case(
                f"{name}/illegal-{value}",
                partial(_stays_in_quad, sparsity, value),
                Status.REFUTED,
                statement=f"with sparsity selector {value}, the lane of every row is in the row's quad",
            )


def _selector(sparsity: Sparsity, legal: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        exact = alg.integer(v["selector"], U16)
        stays = []
        for row in range(sparsity.shape.m):
            for chunk in range(sparsity.chunks):
                lane = sparsity.slot(row, chunk, exact).lane
                stays.append(in_four(alg, lane - QUAD_LANES * (row & (QUADS - 1))))
        listed = one_of(alg, v["selector"], range(legal))
        yield Equation(reduce(and_, stays), listed, label="stays = legal")

    return Property((coordinate("selector"),), claim, abstract=False)


def _stays_in_quad(sparsity: Sparsity, value: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        lane = sparsity.slot(v["row"], 0, value).lane
        known = below(alg, v["row"], sparsity.shape.m)
        yield Equation(lane >> 2, v["row"] & (QUADS - 1), COORDINATE, known, "quad of the lane = of the row")

    return Property((coordinate("row"),), claim, pinned={"row": 0}, abstract=False)


@theorem(
    "ptx/sparsity/nibbles",
    "the legal nibbles are exactly those that keep half of the chunk, each column once",
    "∀ nibble: it is legal ⇔ the stored columns it names are increasing (plain .sp: distinct); tf32: ⇔ it "
    "names the two halves of one column. They are columns of the chunk",
    SOURCE,
)
def nibbles() -> Iterator[Case]:
    """Yield the equivalence for each meaning of a nibble, and a refutation per illegal nibble (pinned)."""
    for name, sparsity in meanings().items():
        yield Case(name, partial(_nibbles, sparsity), method=Method.CERTIFICATE)
        for nibble in sorted(set(range(NIBBLES)) - set(sparsity.legal_nibbles)):
            yield Case(
                f"{name}/illegal-{nibble:04b}",
                partial(_sound, sparsity, nibble),
                Status.REFUTED,
                statement=f"nibble {nibble:04b} (i1 i0) names each kept column once, in order (.sp: in any)",
            )


@cache
def meanings() -> dict[str, Sparsity]:
    """Return what a nibble may mean: granularity and order, each with one sparsity that has it."""
    granularity = {2: "1:2", 4: "2:4", 8: "4:8"}
    return {
        f"{granularity[sparse.sparsity.chunk]}/{sparse.name.rpartition('/')[2]}": sparse.sparsity
        for sparse in reversed(sparse_types())
    }


def _increasing(alg: Algebra, left: Array, right: Array) -> Array:
    """Return the condition left < right."""
    difference = alg.integer(right, COORDINATE) - alg.integer(left, COORDINATE)
    return alg.in_range(difference - alg.whole(1), COORDINATE)


def _names_each_once(alg: Algebra, sparsity: Sparsity, nibble: Array) -> Array:
    """Return the condition that a nibble, as a coordinate, is sound, without asking the legal values.

    In terms of quarters of a chunk: the indices are increasing (or distinct), and where a quarter is
    half a column both halves are of one column.
    """
    first, second = nibble & 3, nibble >> 2
    if sparsity.kept == 1:
        return _increasing(alg, first, second) & alg.same(first >> 1, second >> 1)
    columns = [sparsity.column(stored, nibble) for stored in range(sparsity.kept)]
    sound = alg.same(nibble, nibble)
    for i, left in enumerate(columns):
        for right in columns[i + 1 :]:
            sound = sound & (_increasing(alg, left, right) if sparsity.ordered else ~alg.same(left, right))
    return sound


def _nibbles(sparsity: Sparsity) -> Certificate:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        known = below(alg, v["nibble"], NIBBLES)
        legal = one_of(alg, v["nibble"], sparsity.legal_nibbles)
        sound = _names_each_once(alg, sparsity, v["nibble"])
        yield Equation(legal, sound, None, known, "legal = sound")
        for stored in range(sparsity.kept):
            column = sparsity.column(stored, v["nibble"])
            yield holds(alg, below(alg, column, sparsity.chunk), "column of the chunk", known)

    return enumerated(Property((coordinate("nibble"),), claim, abstract=False), {"nibble": range(NIBBLES)})


def _sound(sparsity: Sparsity, nibble: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield holds(alg, _names_each_once(alg, sparsity, v["nibble"]), "each column once")

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        yield alg.same(v["nibble"], alg.constant(nibble, COORDINATE))

    return Property((coordinate("nibble"),), claim, assuming, {"nibble": nibble}, abstract=False)


THEOREMS = (metadata_layout, metadata_gathered, selector, nibbles)
