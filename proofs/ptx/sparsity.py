"""Sparse A: the product with what is stored is the product with the expanded matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import product as cartesian
from operator import add, and_

import numpy as np

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import F32, S64, U4, FloatFormat, Format, IntegerFormat, Special, as_float, format_named
from ...spec.ptx.sparsity import INDEX, QUARTERS, Sparsity
from ...spec.ptx.variant import Shape
from ...spec.rounding import Rounding
from ..induction import Formula, Instance, Transition, induction
from ..obligation import (
    Case,
    Equality,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Theorem,
    Variable,
    holds,
    theorem,
)
from .metadata import SparseType, meanings, sparse_types

SOURCE = "PTX ISA 9.1 section 9.7.14.6.1"

ELEMENT = IntegerFormat("element", 8, signed=False)
"""An element whose type does not matter."""


def one_chunk(sparsity: Sparsity) -> Sparsity:
    """Return the sparsity of an A of one chunk."""
    return replace(sparsity, shape=Shape(sparsity.shape.m, sparsity.shape.n, sparsity.chunk))


def _chunk_variables(sparsity: Sparsity, a: Format, b: Format) -> tuple[Variable, ...]:
    """Return a row of A of one chunk, its nibble and a column of B."""
    return (
        Variable("stored", a, (1, sparsity.kept)),
        Variable("metadata", U4, (1, 1)),
        Variable("b", b, (sparsity.chunk, 1)),
    )


def _legal(sparsity: Sparsity, alg: Algebra, v: Inputs) -> Iterator[Array]:
    yield sparsity.allows(alg, v["metadata"])


@theorem(
    "ptx/sparsity/expand",
    "selecting from the expanded row gives the stored elements back, every other column is zero",
    "∀ legal metadata: select(expand(A'), metadata) = A'; as many columns of a chunk are kept as are stored",
    SOURCE,
)
def expand() -> Iterator[Case]:
    """Yield both claims for each meaning of a nibble."""
    for name, sparsity in meanings().items():
        yield Case(f"{name}/select-back", partial(_select_back, one_chunk(sparsity)))
        yield Case(f"{name}/kept", partial(_kept, one_chunk(sparsity)))


def _select_back(sparsity: Sparsity) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        expanded = sparsity.expand(alg, v["stored"], v["metadata"], alg.constant(0, ELEMENT))
        back = sparsity.select(alg, expanded.swapaxes(-1, -2), v["metadata"])[..., 0]
        yield Equation(back, v["stored"], ELEMENT, label="select ∘ expand")

    variables = _chunk_variables(sparsity, ELEMENT, ELEMENT)[:2]
    return Property(variables, claim, partial(_legal, sparsity), abstract=False)


def _kept(sparsity: Sparsity) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        one, zero = alg.constant(1, ELEMENT), alg.constant(0, ELEMENT)
        stored = np.broadcast_to(one, (*v["metadata"].shape[:-1], sparsity.kept))
        marks = alg.integer(sparsity.expand(alg, stored, v["metadata"], zero), ELEMENT)
        yield Equation(marks.sum(-1), alg.whole(sparsity.kept), label="columns kept")

    return Property((Variable("metadata", U4, (1, 1)),), claim, partial(_legal, sparsity), abstract=False)


columns = Theorem(
    "ptx/sparsity/columns",
    "the element of B that meets a stored element is the one in its logical column",
    "∀ metadata: select(B)[s] = B[column(s)] and, if it is legal, expand(A')[column(s)] = A'[s]",
    SOURCE,
    lambda: (
        Case(
            f"{name}/{nibble:04b}",
            partial(_columns, one_chunk(sparsity), nibble),
            statement=f"nibble {nibble:04b} (i1 i0) keeps columns "
            + ", ".join(str(one_chunk(sparsity).column(s, nibble)) for s in range(sparsity.kept)),
        )
        for name, sparsity in meanings().items()
        for nibble in sparsity.legal_nibbles
    ),
)


def _columns(sparsity: Sparsity, nibble: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        metadata = np.broadcast_to(alg.constant(nibble, U4), (1, 1))
        met = sparsity.select(alg, v["b"], metadata)
        expanded = sparsity.expand(alg, v["stored"], metadata, alg.constant(0, ELEMENT))
        kept = [sparsity.column(stored, nibble) for stored in range(sparsity.kept)]
        yield Equation(met[..., 0, :, :], v["b"][..., kept, :], ELEMENT, label="select")
        yield Equation(expanded[..., kept], v["stored"], ELEMENT, label="expand")
        dropped = sorted(set(range(sparsity.chunk)) - set(kept))
        yield Equation(expanded[..., dropped], alg.constant(0, ELEMENT), ELEMENT, label="dropped")

    stored, _, b = _chunk_variables(sparsity, ELEMENT, ELEMENT)
    return Property((stored, b), claim, abstract=False)


chunks = Theorem(
    "ptx/sparsity/chunks",
    "a row is its chunks: each depends on its own nibble, stored elements and rows of B only",
    "select(B, E)[c-th kept] = select(B of chunk c, E[c]) and expand(A', E)[chunk c] = expand(A' of c, E[c])",
    SOURCE,
    lambda: (
        Case(sparse_type.name, partial(_chunks, sparse_type.sparsity), method=Method.STRUCTURAL)
        for sparse_type in sparse_types()
    ),
)


def _chunks(sparsity: Sparsity) -> Property:
    k, one = sparsity.shape.k, one_chunk(sparsity)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        zero = alg.constant(0, ELEMENT)
        met = sparsity.select(alg, v["b"], v["metadata"])
        expanded = sparsity.expand(alg, v["stored"], v["metadata"], zero)
        for chunk in range(sparsity.chunks):
            kept = slice(chunk * sparsity.kept, (chunk + 1) * sparsity.kept)
            rows = slice(chunk * sparsity.chunk, (chunk + 1) * sparsity.chunk)
            nibble = v["metadata"][..., chunk : chunk + 1]
            alone = one.select(alg, v["b"][..., rows, :], nibble)
            yield Equation(met[..., kept, :], alone, ELEMENT, label=f"select of chunk {chunk}")
            part = one.expand(alg, v["stored"][..., kept], nibble, zero)
            yield Equation(expanded[..., rows], part, ELEMENT, label=f"expand of chunk {chunk}")

    variables = (
        Variable("stored", ELEMENT, (1, k // 2)),
        Variable("metadata", U4, (1, sparsity.chunks)),
        Variable("b", ELEMENT, (k, 1)),
    )
    return Property(variables, claim, abstract=False)


@theorem(
    "ptx/sparsity/product",
    "the sparse product of integers is the dense product of the expanded matrix, for rows of any length",
    "∀ legal metadata of a chunk: Σ_s A'[s]·B[column(s)] + C = Σ_k expand(A')[k]·B[k] + C, modulo 2^64, C "
    "being any partial sum; that a row is its chunks is ptx/sparsity/chunks",
    SOURCE,
)
def product() -> Iterator[Case]:
    """Yield one obligation per pair of integer types, order and legal nibble; rows are sums of chunks."""
    for meaning, types in (("2:4", ("s8", "u8")), ("4:8", ("s4", "u4"))):
        for order in ("ordered", "plain"):
            sparsity = one_chunk(meanings()[f"{meaning}/{order}"])
            for a, b in cartesian(types, types):
                formats = _integer(a), _integer(b)
                chunks_of = {
                    f"ptx/sparsity/product/{a}-{b}/{order}/{nibble:04b}": Chunk(sparsity, *formats, nibble)
                    for nibble in sparsity.legal_nibbles
                }
                for name, chunk in chunks_of.items():
                    yield Case(name.removeprefix("ptx/sparsity/product/"), partial(_product, chunk))
                rows = [
                    f"{chunks.id}/{sparse_type.name}"
                    for sparse_type in sparse_types()
                    if _stores(sparse_type, a, order)
                ]
                yield Case(
                    f"{a}-{b}/{order}/row",
                    partial(induction, SameSum(), chunks_of, {}, rows),
                    method=Method.INDUCTION,
                    statement="∀ legal metadata: C + Σ_s A'[s]·B[column(s)] = C + Σ_k expand(A')[k]·B[k] "
                    "over a row: its chunks one after the other, the sum of those before being C",
                )


def _integer(name: str) -> IntegerFormat:
    fmt = format_named(name)
    assert isinstance(fmt, IntegerFormat)
    return fmt


def _stores(each: SparseType, a: str, order: str) -> bool:
    _, element, ordered = each.name.split("/")
    return (element, ordered) == (a, order)


def _case(sparsity: Sparsity, alg: Algebra, metadata: Array, nibble: int) -> Array:
    """Return the condition that a nibble is this one, in terms of what every index is and is not."""
    facts = []
    for half, index in enumerate((nibble & 3, nibble >> 2)):
        read = alg.extract(metadata, INDEX.bits * half, INDEX)
        for quarter in range(QUARTERS):
            named = alg.same(read, alg.constant(quarter, INDEX))
            facts.append(named if quarter == index else ~named)
    return reduce(and_, facts)


@dataclass(frozen=True)
class Chunk:
    """How both sums go on with a chunk whose metadata are a legal nibble."""

    sparsity: Sparsity
    a: IntegerFormat
    b: IntegerFormat
    nibble: int
    begins: bool = False

    def following(self, alg: Algebra, v: Inputs, before: Array) -> tuple[Array, Array]:
        """Return the sums of stored elements, and of the expanded ones, onto the same sum before."""
        met = self.sparsity.select(alg, v["b"], v["metadata"])[..., 0]
        expanded = self.sparsity.expand(alg, v["stored"], v["metadata"], alg.constant(0, self.a))
        dense = self._total(alg, before, expanded, v["b"][..., 0][..., None, :])
        return self._total(alg, before, v["stored"], met), dense

    def _total(self, alg: Algebra, c: Array, x: Array, y: Array) -> Array:
        # from C on, so that every sum has 64 bits: rewriting then sees sums of the same terms as equal
        terms = alg.integer(x, self.a) * alg.integer(y, self.b)
        return alg.wrap(reduce(add, np.moveaxis(terms, -1, 0), alg.integer(c, S64)), S64)


@dataclass(frozen=True)
class SameSum(Formula):
    """The sum of the stored elements of n chunks is that of the expanded ones."""

    @property
    def text(self) -> str:
        """P(n)."""
        return "sparse_n = dense_n"

    def instance(self, transition: Transition) -> Instance:
        """Return the claim about a chunk more, onto any sum that both have come to."""
        assert isinstance(transition, Chunk)
        return Instance(_Goes(transition))


@dataclass(frozen=True)
class _Goes:
    chunk: Chunk

    def __call__(self, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        sparse, dense = self.chunk.following(alg, v, v["c"])
        case = _case(self.chunk.sparsity, alg, v["metadata"], self.chunk.nibble)[..., 0]
        yield Equation(sparse, dense, S64, case, "sparse = dense")


def _product(chunk: Chunk) -> Property:
    variables = (*_chunk_variables(chunk.sparsity, chunk.a, chunk.b), Variable("c", S64, (1,)))
    return Property(variables, SameSum().instance(chunk).claim, abstract=False)


FLOATS = ("tf32", "f16", "bf16", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1")


@theorem(
    "ptx/sparsity/discarded",
    "a discarded element of B counts nothing; expanded to 0·b it counts if it is infinite or a NaN (pinned)",
    "fma(±0, b, c) = c for finite b; for b infinite or NaN it is NaN",
    SOURCE + "; the discarded elements are never read",
)
def discarded() -> Iterator[Case]:
    """Yield a proof for finite elements, a refutation for any, and one of identical bits (-0)."""
    for name in FLOATS:
        fmt = as_float(format_named(name))
        finite = fmt.special is Special.FINITE
        yield Case(
            f"{name}/finite",
            partial(_discarded, fmt, assume_finite=not finite),
            equality=Equality.IEEE,
            statement="fma(0, b, c) = c as numbers, for finite b",
        )
        yield Case(
            f"{name}/signed-zero",
            partial(_discarded, fmt, assume_finite=not finite, pinned={"c": F32.sign_mask}),
            Status.REFUTED,
            statement="fma(0, b, c) = c bit for bit, for finite b",
        )
        for special, encoding in _specials(fmt):
            yield Case(
                f"{name}/{special}",
                partial(_discarded, fmt, assume_finite=False, pinned={"b": encoding}),
                Status.REFUTED,
                Equality.IEEE,
                statement="fma(0, b, c) = c as numbers, for every b",
            )


def _specials(fmt: FloatFormat) -> Iterator[tuple[str, int]]:
    if fmt.infinity is not None:
        yield "infinity", fmt.infinity << fmt.padding_bits
    if fmt.default_nan is not None:
        yield "nan", fmt.default_nan << fmt.padding_bits


def _discarded(fmt: FloatFormat, assume_finite: bool, pinned: dict[str, int] | None = None) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        zero = Operand(alg.constant(0, fmt), fmt)
        total = alg.fused(F32, Rounding.NEAREST_EVEN, [(zero, Operand(v["b"], fmt))], [Operand(v["c"], F32)])
        yield Equation(total, v["c"], F32, label="fma(0, b, c) = c")

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        b = Operand(v["b"], fmt)
        if assume_finite:
            yield ~(alg.is_nan(b) | alg.is_infinite(b))

    variables = (Variable("b", fmt, (1,)), Variable("c", F32, (1,)))
    return Property(variables, claim, assuming, pinned, abstract=False)


swapped = Theorem(
    "ptx/sparsity/swapped",
    "plain .sp with decreasing indices is ordered metadata with the stored elements swapped",
    "∀ metadata with i0 ≠ i1: expand(A', (i0, i1)) = expand(A' swapped, (i1, i0)), and select likewise",
    SOURCE,
    lambda: (
        Case(granularity, partial(_swapped, one_chunk(meanings()[f"{granularity}/plain"])))
        for granularity in ("2:4", "4:8")
    ),
)


def _swapped(sparsity: Sparsity) -> Property:
    half = sparsity.kept // 2
    order = [*range(half, sparsity.kept), *range(half)]

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        zero = alg.constant(0, ELEMENT)
        indices = np.stack([alg.extract(v["metadata"], low, INDEX) for low in (INDEX.bits, 0)], axis=-1)
        exchanged = alg.assemble(indices, INDEX, (0, INDEX.bits), U4)
        yield Equation(
            sparsity.expand(alg, v["stored"], v["metadata"], zero),
            sparsity.expand(alg, v["stored"][..., order], exchanged, zero),
            ELEMENT,
            label="expand",
        )
        met = sparsity.select(alg, v["b"], v["metadata"])[..., order, :]
        yield Equation(met, sparsity.select(alg, v["b"], exchanged), ELEMENT, label="select")
        ordered = replace(sparsity, ordered=True)
        yield holds(
            alg,
            ordered.allows(alg, v["metadata"]) | ordered.allows(alg, exchanged),
            "one of the two is ordered",
        )

    variables = _chunk_variables(sparsity, ELEMENT, ELEMENT)
    return Property(variables, claim, partial(_legal, sparsity), abstract=False)


THEOREMS = (expand, columns, chunks, product, discarded, swapped)
