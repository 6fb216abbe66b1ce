"""A warp's product is a product of the matrices in its registers, whatever that product computes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import U4
from ...spec.fragment import Fragment, Packing
from ...spec.ptx.catalogue import ALL_FORMS
from ...spec.ptx.choices import Choices
from ...spec.ptx.mma_forms import MmaForm
from ...spec.ptx.multiplication import Multiplication, multiplication
from ...spec.ptx.product import Operands
from ...spec.ptx.warp import Immediates, WarpRegisters, execute
from ..obligation import Equation, Inputs, Method, Property, Variable, Variant, theorem

SOURCE = "PTX ISA 9.1 sections 9.7.14.3, 9.7.14.5 and 9.7.14.6"


@cache
def products() -> dict[str, Multiplication]:
    """Return ``mma`` and ``mma.sp`` by name, once for all roundings and with or without ``.satfinite``."""
    found = {}
    for form in ALL_FORMS:
        for variant in form.variants() if isinstance(form, MmaForm) else ():
            if not variant.satfinite and variant.rounding is None:
                found[str(replace(variant, sync=False, aligned=False))] = multiplication(variant)
    return found


def selectors(form: Multiplication) -> Immediates:
    """Return the greatest legal selectors."""
    scale_a = scale_b = sparsity = None
    if form.block_scale is not None:
        scale_a, scale_b = (form.block_scale.factors(operand).selectors[-1] for operand in "ab")
    if form.sparsity is not None:
        sparsity = form.sparsity.selectors - 1
    return Immediates(scale_a, scale_b, sparsity)


class Held(NamedTuple):
    """An operand in registers.

    Attributes
    ----------
    fragment : Fragment
        Everything in the registers.
    selected : tuple of int
        What of it the instruction takes: all, or what the selectors pick.
    """

    fragment: Fragment
    selected: tuple[int, ...] = ()


def held(form: Multiplication, selected: Immediates) -> dict[str, Held]:
    """Return how a warp holds each operand of an instruction."""
    operands = {role: Held(form.fragment(role)) for role in "abc"}
    if form.block_scale is not None:
        for name in ("scale_a", "scale_b"):
            factors, pair = form.block_scale.factors(name[-1]), getattr(selected, name)
            fragment = Fragment(factors.layout, Packing(form.block_scale.format, 8))
            operands[name] = Held(fragment, (pair.thread_id, pair.byte_id // factors.size))
    if form.sparsity is not None:
        assert selected.sparsity is not None
        fragment = Fragment(form.sparsity.layout, Packing(U4, U4.bits))
        operands["metadata"] = Held(fragment, (selected.sparsity,))
    return operands


@theorem(
    "ptx/warp/product",
    "the instruction on registers is the product of the matrices they hold, whatever it computes",
    "gather_D(execute(scatter(A, B, C, scales, metadata))) = f(A, B, C, scales, metadata) for every f: the "
    "product is given these matrices, and any D that it returns is the one that is gathered; bytes and "
    "nibbles that are not selected are arbitrary. Satfinite and rounding are part of f. Selectors are the "
    "greatest legal ones; ptx/selector and ptx/sparsity have the others",
    SOURCE,
)
def product() -> Iterator[Variant]:
    """Yield one obligation per instruction; modifiers of the arithmetic do not move elements."""
    for name, form in products().items():
        yield Variant(name, partial(_on_registers, form), method=Method.STRUCTURAL)


def _on_registers(form: Multiplication) -> Property:
    selected = selectors(form)
    operands = held(form, selected)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        given: list[Operands] = []

        def multiply(matrices: Operands) -> Array:
            """Return f(matrices): as f is arbitrary, any matrix."""
            given.append(matrices)
            return np.asarray(v["d"])

        registers = {name: each.fragment.scatter(alg, v[name]) for name, each in operands.items()}
        d = execute(alg, form, WarpRegisters(**registers), selected, Choices(), multiply)
        for name, each in operands.items():
            rest = (slice(None),) * len(form.matrix_shape("d"))
            expected = v[name][(..., *each.selected, *rest)]
            found = getattr(given[0], name)
            yield Equation(found, expected, each.fragment.packing.format, label=name)
        yield Equation(form.fragment("d").gather(alg, d), v["d"], form.d, label="d")

    variables = [
        Variable(name, each.fragment.packing.format, each.fragment.shape) for name, each in operands.items()
    ]
    return Property((*variables, Variable("d", form.d, form.matrix_shape("d"))), claim)


THEOREMS = (product,)
