"""Scalar instructions on integers against exact arithmetic: sums, products, order, carries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import S32, IntegerFormat
from ...spec.ptx.scalar.rows import Form
from ...spec.word_algebra import signed, unsigned
from ..obligation import Case, Equation, Inputs, Property, Status, Variable, holds, theorem
from .scalar_words import executed, form_named

_POSITIVE = IntegerFormat("u63", 63, signed=False)
"""A range that has every difference that is not negative."""

Stated = Callable[..., Iterator[Equation]]
"""From an algebra, a form, its result and the exact integers of its operands to what is claimed."""


def _integers(alg: Algebra, form: Form, v: Inputs) -> list[Any]:
    """Return the exact integers of the operands; 64 bits are read with a sign, as sums modulo 2^64 may be."""
    _, sources = form.places
    return [
        alg.integer(v[place.name], signed(64) if place.type.width == 64 else place.type.format)
        for place in sources
    ]


def _wrapped(alg: Algebra, form: Form, d: Array, total: Any) -> Iterator[Equation]:
    """Yield that the result is a number modulo a power of two, or the nearest that there is."""
    width = form.places[0][0].type.width
    encode = alg.saturate if form.has("sat") else alg.wrap
    yield Equation(d, encode(total, signed(width)), signed(width), label=form.mnemonic)


def _sum(alg: Algebra, form: Form, d: Array, a: Any, b: Any) -> Iterator[Equation]:
    yield from _wrapped(alg, form, d, a + b)


def _difference(alg: Algebra, form: Form, d: Array, a: Any, b: Any) -> Iterator[Equation]:
    yield from _wrapped(alg, form, d, a - b)


def _product(alg: Algebra, form: Form, d: Array, a: Any, b: Any, *c: Any) -> Iterator[Equation]:
    yield from _wrapped(alg, form, d, sum(c, a * b))


def _negation(alg: Algebra, form: Form, d: Array, a: Any) -> Iterator[Equation]:
    yield from _wrapped(alg, form, d, alg.whole(0) - a)


def _at_least(alg: Algebra, a: Any, b: Any) -> Array:
    return alg.in_range(a - b, _POSITIVE)


def _magnitude(alg: Algebra, form: Form, d: Array, a: Any) -> Iterator[Equation]:
    zero = alg.whole(0)
    yield from _wrapped(alg, form, d, alg.where(_at_least(alg, a, zero), a, zero - a))


def _distance(alg: Algebra, form: Form, d: Array, a: Any, b: Any, c: Any) -> Iterator[Equation]:
    yield from _wrapped(alg, form, d, c + alg.where(_at_least(alg, a, b), a - b, b - a))


def _extremum(alg: Algebra, form: Form, d: Array, a: Any, b: Any) -> Iterator[Equation]:
    greater, less = (a, b) if form.row.opcode == "max" else (b, a)
    chosen = alg.where(_at_least(alg, a, b), greater, less)
    if form.has("relu"):
        chosen = alg.where(_at_least(alg, chosen, alg.whole(0)), chosen, alg.whole(0))
    yield from _wrapped(alg, form, d, chosen)


_STATED: dict[str, Stated] = {
    "add": _sum, "sub": _difference, "mul.lo": _product, "mad.lo": _product, "mul.wide": _product,
    "mad.wide": _product, "neg": _negation, "abs": _magnitude, "sad": _distance, "min": _extremum,
    "max": _extremum,
}  # fmt: skip


def _variables(form: Form) -> tuple[Variable, ...]:
    _, sources = form.places
    return tuple(Variable(place.name, unsigned(place.type.bits), (1,)) for place in sources)


def exactly(mnemonic: str) -> Property:
    """Return the claim that a row is what exact arithmetic gives, for all operands."""
    form = form_named(mnemonic)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        (d,) = executed(alg, form, *(v[place.name] for place in form.places[1]))
        yield from _STATED[form.row.head](alg, form, d, *_integers(alg, form, v))

    return Property(_variables(form), claim, abstract=False)


_SUMS = (
    *(f"{opcode}.{sort}{width}" for opcode in ("add", "sub") for width in (16, 32, 64) for sort in "us"),
    "add.sat.s32", "sub.sat.s32", *(f"neg.s{width}" for width in (16, 32, 64)),
    "abs.s16", "abs.s32", "sad.u16", "sad.s16", "sad.u32", "sad.s32",
    *(f"{opcode}.{sort}{width}" for opcode in ("min", "max") for width in (16, 32) for sort in "us"),
    "min.relu.s32", "max.relu.s32",
)  # fmt: skip
_PRODUCTS = tuple(
    f"{head}.{sort}{width}"
    for head in ("mul.lo", "mul.wide", "mad.lo", "mad.wide")
    for sort in "us"
    for width in (16, 32)
)


@theorem(
    "ptx/scalar/integers",
    "integer sums, differences, products, magnitudes and extrema are those of exact arithmetic",
    "d = a + b, a - b, a·b + c, -a, |a|, c + |a - b|, min, max mod 2^w; .sat: the nearest; .wide: mod 2^2w",
    "PTX ISA 9.1 section 9.7.1",
)
def exact_integers() -> Iterator[Case]:
    """Yield one claim per form; sums of 64 bits modulo 2^64."""
    for mnemonic in (*_SUMS, *_PRODUCTS):
        yield Case(mnemonic, partial(exactly, mnemonic))
    yield Case(
        "add.s32/exact", partial(_without_wrapping, "add.s32"), Status.REFUTED,
        statement="d = a + b without a remainder",
    )  # fmt: skip


def _without_wrapping(mnemonic: str) -> Property:
    form = form_named(mnemonic)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        (d,) = executed(alg, form, v["a"], v["b"])
        a, b = _integers(alg, form, v)
        yield Equation(alg.integer(d, S32), a + b, None, label="no remainder")

    return Property(_variables(form), claim, abstract=False)


# -- halves of products


def _halves(sort: str, width: int) -> Property:
    """Return the claim that ``mul.hi`` and ``mul.lo`` are the halves of ``mul.wide``."""
    low, high, wide = (form_named(f"mul.{part}.{sort}{width}") for part in ("lo", "hi", "wide"))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        (d,) = executed(alg, wide, v["a"], v["b"])
        for form, at in ((low, 0), (high, width)):
            (half,) = executed(alg, form, v["a"], v["b"])
            yield Equation(half, alg.extract(d, at, unsigned(width)), unsigned(width), label=form.mnemonic)

    return Property(_variables(wide), claim, abstract=False)


@theorem(
    "ptx/scalar/products",
    "the halves of a product make the whole",
    "mul.wide = {mul.hi, mul.lo}",
    "PTX ISA 9.1 section 9.7.1.3",
)
def halves() -> Iterator[Case]:
    """Yield products of 16 and 32 bits."""
    for sort in "us":
        for width in (16, 32):
            yield Case(f"mul.wide.{sort}{width}", partial(_halves, sort, width))


# -- carries


def _chain(opcode: str) -> Property:
    """Return the claim that two steps with a carry are one of 64 bits."""
    first, then, whole = (
        form_named(name) for name in (f"{opcode}.cc.u32", f"{opcode}c.u32", f"{opcode}.u64")
    )

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        low, carry = executed(alg, first, v["a"][..., 0], v["b"][..., 0])
        (high,) = executed(alg, then, v["a"][..., 1], v["b"][..., 1], carry)
        wide = [alg.assemble(v[name], unsigned(32), (0, 32), unsigned(64)) for name in "ab"]
        (d,) = executed(alg, whole, *wide)
        for word, at in ((low, 0), (high, 32)):
            yield Equation(word, alg.extract(d, at, unsigned(32)), unsigned(32), label=f"bits from {at}")

    return Property(tuple(Variable(name, unsigned(32), (2,)) for name in "ab"), claim, abstract=False)


def _middle(opcode: str) -> Property:
    """Return the claim that a step in the middle of a chain says whether the sum of three leaves the word."""
    form = form_named(f"{opcode}c.cc.u32")

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        d, out = executed(alg, form, v["a"], v["b"], v["carry"])
        a, b, carry = (
            alg.integer(v[name], unsigned(32 if name in "ab" else 1)) for name in ("a", "b", "carry")
        )
        total = a + b + carry if opcode == "add" else a - b - carry
        leaves = ~alg.in_range(total, unsigned(32))
        one = alg.constant(1, unsigned(1))
        yield Equation(d, alg.wrap(total, unsigned(32)), unsigned(32), label="sum")
        yield holds(alg, ~(alg.same(out, one) ^ leaves), "carry")

    variables = (*(Variable(name, unsigned(32), (1,)) for name in "ab"), Variable("carry", unsigned(1), (1,)))
    return Property(variables, claim, abstract=False)


def _product_chain(sort: str) -> Property:
    """Return the claim that ``mad.lo.cc`` and ``madc.hi`` add 64 bits to the halves of a product."""
    low, high, whole = (form_named(name) for name in (f"mad.lo.cc.{sort}32", f"madc.hi.{sort}32", "add.u64"))
    halves = [form_named(f"mul.{part}.{sort}32") for part in ("lo", "hi")]

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        lower, upper = v["c"][..., 0], v["c"][..., 1]
        a, b = v["a"][..., 0], v["b"][..., 0]
        first, carry = executed(alg, low, a, b, lower)
        (second,) = executed(alg, high, a, b, upper, carry)
        parts = np.stack([executed(alg, half, a, b)[0] for half in halves], axis=-1)
        wide = (alg.assemble(words, unsigned(32), (0, 32), unsigned(64)) for words in (parts, v["c"]))
        (d,) = executed(alg, whole, *wide)
        for word, at in ((first, 0), (second, 32)):
            yield Equation(word, alg.extract(d, at, unsigned(32)), unsigned(32), label=f"bits from {at}")

    variables = (
        *(Variable(name, unsigned(32), (1,)) for name in "ab"), Variable("c", unsigned(32), (2,)),
    )  # fmt: skip
    return Property(variables, claim, abstract=False)


@theorem(
    "ptx/scalar/carries",
    "chains of sums, differences and products with a carry are one operation of twice the width",
    "{addc(a1, b1), add.cc(a0, b0)} = add.u64; so sub and mad.wide; addc.cc: CC.CF = (the sum leaves u32)",
    "PTX ISA 9.1 section 9.7.2",
)
def carries() -> Iterator[Case]:
    """Yield chains of two, and steps in the middle."""
    for opcode in ("add", "sub"):
        yield Case(f"{opcode}.cc.u32", partial(_chain, opcode))
        yield Case(f"{opcode}c.cc.u32", partial(_middle, opcode))
    for sort in "us":
        yield Case(f"mad.lo.cc.{sort}32", partial(_product_chain, sort))


THEOREMS = (exact_integers, halves, carries)
