"""Block scaling: what a scale factor does to an element, and which elements it serves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import (
    E2M1,
    E2M3,
    E3M2,
    E4M3,
    E5M2,
    U16,
    UE4M3,
    UE8M0,
)
from ...spec.matrix_product import spread
from ...spec.ptx.block_scaling import SCALED
from ...spec.ptx.catalogue import forms
from ...spec.ptx.mma_forms import NARROW_FLOATS, MmaForm
from ...spec.ptx.resolution import Multiplication, multiplication
from ...spec.ptx.variant import Family
from ..families import scaling
from ..obligation import Case, Equation, Inputs, Method, Property, Theorem, Variable
from ..table_theorem import table_theorem

SOURCE = "PTX ISA 9.1 sections 5.2.3 and 9.7.14.3; OCP Microscaling Formats 1.0"

SCALED_ELEMENTS = (
    *((element, UE8M0) for element in (E4M3, E5M2, E3M2, E2M3, E2M1)), (E2M1, UE4M3)
)  # fmt: skip
"""The element types and the types of their scale factors."""


@cache
def instructions() -> dict[str, Multiplication]:
    """Return block-scaled instructions of every kind, each element type once as A and once as B."""
    neighbours = {*zip(NARROW_FLOATS, (*NARROW_FLOATS[1:], NARROW_FLOATS[0]), strict=True), ("e2m1", "e2m1")}
    found = {}
    for family in (Family.MMA, Family.MMA_SP):
        for form in forms(family):
            assert isinstance(form, MmaForm)
            if form.scale_type is None:
                continue
            for instruction in map(multiplication, form.variants()):
                a, b = instruction.a.name, instruction.b.name
                if (a, b) in neighbours and (form.kind == "mxf8f6f4") == (a != b):
                    name = f"{family}/{form.kind}/{form.scale_vec}/{form.scale_type}/{a}-{b}"
                    found[name] = instruction
    return found


unit = table_theorem(
    "ptx/block-scale/unit",
    "scale factor 1 (0x7F of ue8m0, 0x38 of ue4m3) changes no element",
    "∀ x: x · 1 = x as numbers, the sign of zero, infinities and NaNs included",
    SOURCE,
    lambda: {
        f"{element}/{scale}": partial(scaling.unit, element, scale, SCALED, True)
        for element, scale in SCALED_ELEMENTS
    },
)


exact = Theorem(
    "ptx/block-scale/exact",
    "an element of e4m3, e5m2 or e2m1 times its scale factor is exact; the others are numbers of these",
    "∀ x, s: the product in the 17-bit format is the number x · s, which f64 holds whichever way it rounds; "
    "numbers of e3m2 are numbers of e5m2, those of e2m3 of e4m3",
    SOURCE,
    lambda: (
        Case(
            f"{element}/{scale}",
            partial(scaling.exact, element, scale, SCALED, True),
            method=Method.CERTIFICATE,
        )
        for element, scale in ((E4M3, UE8M0), (E5M2, UE8M0), (E2M1, UE4M3))
    ),
)


chunk = Theorem(
    "ptx/block-scale/chunk",
    "a stored element and the element of B that it meets have scale factors of the same chunk of K",
    "∀ nibble: column(s) div (K / X) = s div (stored / X), which is how factors are spread over a row",
    SOURCE,
    lambda: (Case(name, partial(_chunk, instruction)) for name, instruction in instructions().items()),
)


def _chunk(instruction: Multiplication) -> Property:
    block_scale, sparsity = instruction.block_scale, instruction.sparsity
    assert block_scale is not None
    served = block_scale.chunk.bit_length() - 1

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        numbers = np.array([alg.constant(i, U16)[()] for i in range(block_scale.vector)])
        stored = instruction.products
        for s, number in enumerate(spread(numbers, stored // len(numbers), stored)):
            column = alg.constant(s, U16) if sparsity is None else sparsity.column(s, v["nibble"])
            yield Equation(column >> served, number, U16, known(alg, v), f"factor of element {s}")

    def known(alg: Algebra, v: Inputs) -> Array:
        return alg.same(v["nibble"] & 15, v["nibble"])

    return Property((Variable("nibble", U16, (1,)),), claim, abstract=False)


THEOREMS = (unit, exact, chunk)
