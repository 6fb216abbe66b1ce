"""A warp's product is a product of the matrices in its registers, whatever that product computes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

from ...spec.algebra import Algebra, Array
from ...spec.formats import U4
from ...spec.fragment import Fragment, Packing
from ...spec.ptx.catalogue import ALL_FORMS
from ...spec.ptx.choices import AS_TWICE_K, Choices
from ...spec.ptx.mma_forms import MmaForm
from ...spec.ptx.resolution import Multiplication, multiplication
from ...spec.ptx.warp import Immediates, WarpRegisters, execute
from ..families.layouts import held_in
from ..families.transport import Multiply, RegisterOperand, Registers, sees_matrices
from ..obligation import Case, Method, Property, Theorem
from .layouts import HeldOperand
from .printed_fragments import held_as_printed

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


def operands(form: Multiplication, selected: Immediates) -> dict[str, RegisterOperand]:
    """Return how a warp holds each operand of an instruction, by the manual's formulas where it has some."""
    found = {role: RegisterOperand(held_as_printed(HeldOperand(form, role))) for role in "abc"}
    if form.block_scale is not None:
        for name in ("scale_a", "scale_b"):
            factors, pair = form.block_scale.factors(name[-1]), getattr(selected, name)
            fragment = Fragment(factors.layout, Packing(form.block_scale.format, 8))
            found[name] = RegisterOperand(held_in(fragment), (pair.thread_id, pair.byte_id // factors.size))
    if form.sparsity is not None:
        assert selected.sparsity is not None
        fragment = Fragment(form.sparsity.layout, Packing(U4, U4.bits))
        found["metadata"] = RegisterOperand(held_in(fragment), (selected.sparsity,))
    return found


product = Theorem(
    "ptx/warp/product",
    "the instruction on registers is the product of the matrices they hold by the manual's formulas",
    "D(execute(registers(A, B, C, scales, metadata))) = f(A, B, C, scales, metadata) for every f: the "
    "product is given the matrices that were written where the manual's piecewise formulas say, and any D "
    "that it returns is read where they say. What has no formula in the manual (A of mma.sp, its B where no "
    "dense instruction has the shape, scale factors, metadata) is written by the layout: of these, see "
    "ptx/fragment/manual and ptx/stated. What is not selected is arbitrary; satfinite and rounding are part "
    "of f. Selectors are the greatest legal ones; ptx/selector and ptx/sparsity have the others",
    SOURCE,
    lambda: (
        Case(
            name,
            partial(_on_registers, form),
            method=Method.STRUCTURAL,
            choices=(
                f"half-k-metadata={AS_TWICE_K}"
                if (form.sparsity is not None and form.sparsity.is_of_half_k)
                else "all"
            ),
        )
        for name, form in products().items()
    ),
)


def _on_registers(form: Multiplication) -> Property:
    selected = selectors(form)

    def executed(alg: Algebra, registers: Registers, multiply: Multiply) -> Array:
        return execute(
            alg, form, WarpRegisters(**registers), selected, Choices(), lambda given: multiply(vars(given))
        )

    return sees_matrices(operands(form, selected), held_as_printed(HeldOperand(form, "d")), executed)


THEOREMS = (product,)
