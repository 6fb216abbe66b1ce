"""Products of warpgroups: who holds A, D and metadata, how warps share them, what is scaled and negated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np

from ...spec.algebra import Algebra, Operand
from ...spec.formats import IntegerFormat
from ...spec.layout import Layout
from ...spec.ptx.assembly import parse
from ...spec.ptx.choices import SEQUENTIAL, UNSPECIFIED, Choices
from ...spec.ptx.fragments import ROWS, in_runs
from ...spec.ptx.product import Matrices, product
from ...spec.ptx.resolution import ACCUMULATOR_RUN, Multiplication, multiplication
from ...spec.ptx.variant import WARP_LANES, WARPGROUP_WARPS
from ...spec.ptx.warpgroup import Scales, warpgroup_product
from ...spec.ptx.wgmma_forms import COLUMNS_BY_8, WGMMA_FORMS, M
from ..comparison import compared
from ..enumeration import enumerated
from ..families.layouts import COORDINATE, bijections, held_in, readings
from ..obligation import Case, Certificate, Equation, Inputs, Method, Property, Status, Variable, theorem
from ..table_theorem import table_theorem
from .blocked import instructions
from .layouts import below, coordinate
from .operands import operands_of
from .stated import warpgroups as stated

SOURCE = "PTX ISA 9.1 section 9.7.15 (fragments of A and D, sparse A, semantics of wgmma.mma_async)"

THREADS = WARPGROUP_WARPS * WARP_LANES


@cache
def forms() -> dict[str, Multiplication]:
    """Return a product for every family and types, at the least N, without ``.satfinite``."""
    found: dict[str, Multiplication] = {}
    for form in WGMMA_FORMS:
        for variant in form.variants():
            if not variant.satfinite and variant.shape == form.shapes[0]:
                sparse = "sparse-" * form.sparse
                found[f"{sparse}k{form.k}/{'-'.join(variant.types)}"] = multiplication(variant)
    return found


@cache
def _a_by_width() -> dict[str, Multiplication]:
    return {f"a/{form.container}-bit": form for form in forms().values()}


@cache
def _sparse_by_width() -> dict[str, Multiplication]:
    return {f"metadata/{form.container}-bit": form for form in forms().values() if form.sparsity is not None}


@theorem(
    "ptx/warpgroup/layout",
    "elements of A, D and metadata, and those of the warpgroup's registers, correspond one to one",
    "(thread, i) ↦ (row, column) of A for each width and of D for each N, and (thread, nibble) ↦ (selector, "
    "row, chunk), are bijections, with an explicit inverse",
    SOURCE,
)
def layout() -> Iterator[Case]:
    """Yield one obligation for each layout."""
    yield from bijections({name: form.fragment("a").layout for name, form in _a_by_width().items()})
    yield from bijections(
        {f"d/n{n}": in_runs(f"d of {n} columns", M, n, ACCUMULATOR_RUN) for n in COLUMNS_BY_8}
    )
    for name, form in _sparse_by_width().items():
        assert form.sparsity is not None
        yield from bijections({name: form.sparsity.layout})


@theorem(
    "ptx/warpgroup/executed",
    "what the executor reads of a warpgroup's registers is what the layout's formula says",
    "gather(R)[row, column] is the element i of the thread's registers that the layout names; "
    "scatter(gather(R)) = R; A of each type, D and C of each type at N = 8 and 24",
    SOURCE,
)
def executed() -> Iterator[Case]:
    """Yield one obligation for each operand and element type."""
    held = {}
    for form in forms().values():
        held[f"a/{form.a}"] = held_in(form.fragment("a"))
        for n in (8, 24):
            text = form.name.replace("m64n8", f"m64n{n}")
            held[f"d/{form.d}/n{n}"] = held_in(multiplication(parse(text).variant).fragment("d"))
    yield from readings(held)


@theorem(
    "ptx/warpgroup/warps",
    "each warp of a warpgroup holds its 16 rows as mma holds them",
    "∀ threads, i: row and column of the element are 16·(thread / 32) + the row, and the column, that lane "
    "thread mod 32 holds of A, D and metadata of mma m16n8 with that element i",
    SOURCE + "; 9.7.14.5",
)
def warps() -> Iterator[Case]:
    """Yield one obligation for each width of A, for metadata, and for D of some N."""
    for name, form in _a_by_width().items():
        packing = form.fragment("a").packing
        alone = in_runs(name, ROWS, form.products, packing.per_register)
        yield Case(name, partial(_as_warp, form.fragment("a").layout, alone), method=Method.CERTIFICATE)
    for n in (8, 24, 256):
        pair = (in_runs("d", rows, n, ACCUMULATOR_RUN) for rows in (M, ROWS))
        yield Case(f"d/n{n}", partial(_as_warp, *pair), method=Method.CERTIFICATE)
    for name, form in _sparse_by_width().items():
        assert form.sparsity is not None
        alone = replace(form.sparsity, shape=form.shape._replace(m=ROWS)).layout
        yield Case(name, partial(_as_warp, form.sparsity.layout, alone), method=Method.CERTIFICATE)


def _as_warp(whole: Layout, alone: Layout) -> Certificate:
    elements = whole.source[1].extent

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        thread, i = v["thread"], v["i"]
        known = below(alg, thread, THREADS) & below(alg, i, elements)
        *selector, row, column = whole.forward(thread, i)
        *selector_alone, of_warp, column_alone = alone.forward(thread & (WARP_LANES - 1), i)
        yield Equation(row, of_warp + ((thread >> 5) << 4), COORDINATE, known, "row")
        for one, other in zip((*selector, column), (*selector_alone, column_alone), strict=True):
            yield Equation(one, other, COORDINATE, known, "column")

    prop = Property((coordinate("thread"), coordinate("i")), claim, abstract=False)
    return enumerated(prop, {"thread": range(THREADS), "i": range(elements)})


# -- one product after the other
@theorem(
    "ptx/warpgroup/chained",
    "D of one product is A of the next, for 16-bit A without exchange",
    "∀ threads, j, i < 8: elements 8j + i of D are row r and column 16j + c of it, where (r, c) is element "
    "i of A of 16 bits; of 8 bits (pinned) a thread would need elements of D that others hold",
    SOURCE,
)
def chained() -> Iterator[Case]:
    """Yield the claim on A of 16 bits for the largest N, and that it is false of 8 bits."""
    yield Case("16-bit", partial(_chained, "a/16-bit", 256), method=Method.CERTIFICATE)
    yield Case(
        "8-bit",
        partial(_chained_property, "a/8-bit", 64),
        Status.REFUTED,
        statement="elements 16j + i of D are row r and column 32j + c, where (r, c) is element i of A of 8 "
        "bits",
    )


def _chained_property(name: str, n: int) -> Property:
    a = _a_by_width()[name].fragment("a").layout
    d = in_runs("d", M, n, ACCUMULATOR_RUN)
    elements, columns = a.source[1].extent, a.target[1].extent

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        thread, i, j = v["thread"], v["i"], v["j"]
        known = below(alg, thread, THREADS) & below(alg, i, elements) & below(alg, j, n // columns)
        row, column = d.forward(thread, j * elements + i)
        wanted_row, wanted = a.forward(thread, i)
        yield Equation(row, wanted_row, COORDINATE, known, "row")
        yield Equation(column, j * columns + wanted, COORDINATE, known, "column")

    variables = tuple(map(coordinate, ("thread", "i", "j")))
    return Property(
        variables, claim, pinned=None if n == 256 else {"thread": 0, "i": 2, "j": 0}, abstract=False
    )


def _chained(name: str, n: int) -> Certificate:
    a = _a_by_width()[name].fragment("a").layout
    elements, columns = (axis.extent for axis in (a.source[1], a.target[1]))
    domains = {"thread": range(THREADS), "i": range(elements), "j": range(n // columns)}
    return enumerated(_chained_property(name, n), domains)


# -- what is computed
IN_ORDER = Choices(accumulation=SEQUENTIAL)
_CONDITION = IntegerFormat("condition", 1, signed=False)


def _matrices(form: Multiplication) -> tuple[Variable, ...]:
    """Return one row of A and one column of B."""
    return tuple(Variable(name, each.format, each.shape(1, 1)) for name, each in operands_of(form).items())


def _given(v: Inputs) -> Matrices:
    return Matrices(v["a"], v["b"], v["c"], metadata=v.get("metadata"))


@theorem(
    "ptx/warpgroup/arithmetic",
    "an element of D of a warpgroup is computed as mma of the same K and types computes it",
    "∀ rows of A, columns of B, metadata, C: wgmma's element is mma's, sums taken in order; so what "
    "ptx/blocked says of loops over any K, split K and tiles of mma is true of wgmma",
    SOURCE + "; 9.7.14.5.14",
)
def arithmetic() -> Iterator[Case]:
    """Yield one obligation for each K and types that mma has, too."""
    known = instructions()
    for name, form in forms().items():
        sparse, k = "sparse-" * (form.sparsity is not None), form.shape.k
        types = [form.a, form.b, form.d, *filter(None, [form.variant.bit_operation])]
        same = known.get(f"{sparse}k{k}/{'-'.join(map(str, types))}")
        if same is not None:
            yield Case(name, partial(_as_mma, form, same), method=Method.STRUCTURAL)


def _as_mma(form: Multiplication, same: Multiplication) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        ours = warpgroup_product(alg, form, _given(v), IN_ORDER, Scales())
        yield Equation(ours, product(alg, same, _given(v), IN_ORDER), form.d, label="d")

    return Property(_matrices(form), claim)


@theorem(
    "ptx/warpgroup/scales",
    "without scale-d the old D does not matter; scale-a and scale-b negate the factors, both of them nothing",
    "∀ A, B, C: D with scale-d false is A·B + 0, NaN in C or not; scale-a or scale-b = -1 is the product of "
    "-A or of -B (a NaN stays); with both each product, and D, is that without; sums in any order of which "
    "that is a function",
    SOURCE + "; that 0 is +0: machine code by ptxas of CUDA 13.0",
)
def scales() -> Iterator[Case]:
    """Yield one obligation for each types and scale; without scale-d D is not that with it (pinned)."""
    for name, form in forms().items():
        yield Case(f"{name}/scale-d", partial(_without_c, form), method=Method.STRUCTURAL)
        if not form.is_integer:
            yield Case(f"{name}/scale-a", partial(_negated, form, "a"), method=Method.STRUCTURAL)
            yield Case(f"{name}/scale-b", partial(_negated, form, "b"), method=Method.STRUCTURAL)
    form = forms()["k8/f32-tf32-tf32"]
    yield Case(
        "k8/f32-tf32-tf32/c-matters",
        partial(_with_c, form),
        Status.REFUTED,
        statement="D with scale-d true is D with scale-d false",
    )


_ANY = Choices(accumulation=UNSPECIFIED)


def _without_c(form: Multiplication) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        zero = np.broadcast_to(alg.constant(0, form.c), np.shape(v["c"]))
        wanted = product(alg, form, replace(_given(v), c=zero), _ANY)
        condition = alg.same(v["scale_d"], alg.constant(1, _CONDITION))
        kept = product(alg, form, _given(v), _ANY)
        found = warpgroup_product(alg, form, _given(v), _ANY, Scales(condition))
        yield Equation(found, wanted, form.d, ~condition, "scale-d false")
        yield Equation(found, kept, form.d, condition, "scale-d true")
        literal = warpgroup_product(alg, form, _given(v), _ANY, Scales(d=False))
        yield Equation(literal, wanted, form.d, label="scale-d 0")

    return Property((*_matrices(form), Variable("scale_d", _CONDITION)), claim)


def _negated(form: Multiplication, role: str) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        fmt = form.floats(form.format(role))
        changed = {**v, role: alg.negate(Operand(v[role], fmt))}
        scaled = Scales(a=-1) if role == "a" else Scales(b=-1)
        wanted = product(alg, form, _given(changed), _ANY)
        yield Equation(warpgroup_product(alg, form, _given(v), _ANY, scaled), wanted, form.d, label="negated")
        again = warpgroup_product(alg, form, _given(changed), _ANY, scaled)
        yield Equation(again, product(alg, form, _given(v), _ANY), form.d, label="twice")

    return Property(_matrices(form), claim)


def _with_c(form: Multiplication) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        kept, dropped = (
            warpgroup_product(alg, form, _given(v), IN_ORDER, Scales(d=each)) for each in (True, False)
        )
        yield Equation(kept, dropped, form.d, label="d")

    return Property(_matrices(form), claim, pinned={"a": 0, "b": 0, "c": 0x3F800000})


# -- stated again
fragments = table_theorem(
    "ptx/stated/warpgroup-fragments",
    "threads hold the elements of A, D and metadata that the manual's formulas say",
    "∀ threads, i: row and column of A of each width and of D of each N; ∀ selectors, rows, chunks: thread "
    "and nibble; each is that of the formulas written down from the manual's figures",
    SOURCE,
    lambda: {"a": _stated_a, "d": _stated_d, "metadata": _stated_metadata},
)


def _points(threads: int, elements: int) -> Iterator[tuple[int, int]]:
    return ((thread, i) for thread in range(threads) for i in range(elements))


def _stated_a() -> Certificate:
    widths = {form.container: form.fragment("a").layout for form in _a_by_width().values()}
    expected = {
        (bits, *at): stated.a_element(bits, *at)
        for bits, each in widths.items()
        for at in _points(THREADS, each.source[1].extent)
    }
    return compared(expected, lambda: {at: widths[at[0]].forward(*at[1:]) for at in expected})


def _stated_d() -> Certificate:
    layouts = {n: in_runs("d", M, n, ACCUMULATOR_RUN) for n in COLUMNS_BY_8}
    expected = {
        (n, *at): stated.d_element(*at)
        for n in layouts
        for at in _points(THREADS, n // 2)
        if at[1] < 12 or n == 256
    }
    return compared(expected, lambda: {at: layouts[at[0]].forward(*at[1:]) for at in expected})


def _stated_metadata() -> Certificate:
    sparse = {form.container: form.sparsity for form in _sparse_by_width().values()}
    expected = {
        (bits, selector, row, chunk): stated.metadata_nibble(bits, selector, row, chunk)
        for bits, chunks, selectors in stated.METADATA
        for selector in range(selectors)
        for row in range(M)
        for chunk in range(chunks)
    }

    def specified() -> Iterator[tuple[tuple[int, int, int, int], object]]:
        for bits, each in sparse.items():
            assert each is not None
            for selector in range(each.selectors):
                for row, chunk in np.ndindex(M, each.chunks):
                    yield (
                        (bits, selector, row, chunk),
                        tuple(map(int, each.layout.inverse(selector, row, chunk))),
                    )

    return compared(expected, specified)


THEOREMS = (layout, executed, warps, chained, arithmetic, scales, fragments)
