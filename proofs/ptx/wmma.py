"""Products of a warp: of matrices in registers, and by ``wmma`` of matrices in memory, with its alignment.

Which slot (thread, register, part of it) of a fragment has which element is unspecified. Of an
arbitrary map no more can be used than that each slot has one element and each element some slot.
Slots can then be named after what they hold: a slot is a pair of coordinates and a number, and the
slot at which a product finds an element has these coordinates and an arbitrary number, which may
even differ between the products that use a replicated element.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import U4, U16, U32, U64, Format, format_named
from ...spec.fragment import Fragment, Packing
from ...spec.ptx.catalogue import ALL_FORMS
from ...spec.ptx.choices import OPEN_POINTS, UNSPECIFIED, Choices
from ...spec.ptx.mma_forms import MmaForm
from ...spec.ptx.product import Matrices, product
from ...spec.ptx.resolution import Multiplication, multiplication
from ...spec.ptx.variant import Family
from ...spec.ptx.warp import Immediates, WarpRegisters, execute, layout_points
from ...spec.ptx.wmma import MemoryOperand, memory_operands
from ...spec.ptx.wmma_forms import WMMA_FORMS, WmmaForm
from ..families.layouts import Multiply, RegisterOperand, Registers, held_in, sees_matrices
from ..obligation import Case, Equation, Inputs, Method, Property, Theorem, Variable
from .layouts import HeldOperand
from .printed_fragments import held_as_printed

WARP_SOURCE = "PTX ISA 9.1 sections 9.7.14.3, 9.7.14.5 and 9.7.14.6"


@cache
def products() -> dict[str, Multiplication]:
    """Return ``mma`` and ``mma.sp`` by name, once for all roundings and with or without ``.satfinite``."""
    return {
        str(replace(variant, sync=False, aligned=False)): multiplication(variant)
        for form in ALL_FORMS
        for variant in (form.variants() if isinstance(form, MmaForm) else ())
        if not variant.satfinite and variant.rounding is None
    }


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


warp_product = Theorem(
    "ptx/warp/product",
    "the instruction on registers is the product of the matrices they hold by the manual's formulas",
    "D(execute(registers(A, B, C, scales, metadata))) = f(A, B, C, scales, metadata) for every f: the "
    "product is given the matrices that were written where the manual's piecewise formulas say, and any D "
    "that it returns is read where they say. What has no formula in the manual (A of mma.sp, its B where no "
    "dense instruction has the shape, scale factors, metadata) is written by the layout: of these, see "
    "ptx/fragment/manual and ptx/stated. What is not selected is arbitrary; satfinite and rounding are part "
    "of f. Selectors are the greatest legal ones; ptx/selector and ptx/sparsity have the others",
    WARP_SOURCE,
    lambda: (
        Case(
            name,
            partial(_on_registers, form),
            method=Method.STRUCTURAL,
            choices=", ".join(f"{p.name}={p.default}" for p in OPEN_POINTS if p.name in layout_points(form))
            or "all",
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


SOURCE = "PTX ISA 9.7.14.4.1 to 9.7.14.4.5 (fragments, storage, wmma.load, wmma.store, wmma.mma)"


ARBITRARY = Choices(accumulation=UNSPECIFIED, f64_order=UNSPECIFIED)


def widened(alg: Algebra, bits: Array, fmt: Format) -> Array:
    """Return unsigned encodings as 64-bit ones."""
    return alg.assemble(bits[..., np.newaxis], fmt, (0,), U64)


def slot(alg: Algebra, name: str, row: Array, column: Array, user: Array) -> Array:
    """Return the slot of a fragment at which a product finds an element.

    Parameters
    ----------
    alg : Algebra
        What coordinates are.
    name : str
        The fragment.
    row, column : array of u16
        The element.
    user : array of u16
        Which product looks for it: a replicated element has several slots.
    """
    row, column, user = np.broadcast_arrays(row, column, user)
    number = alg.arbitrary(f"slot of {name}", [(np.stack([row, column, user], axis=-1), U16)], U16)
    return alg.assemble(np.stack([number, row, column], axis=-1), U16, (0, 16, 32), U64)


def held(alg: Algebra, slots: Array) -> tuple[Array, Array]:
    """Return the coordinates of what slots hold."""
    row, column = (alg.extract(slots, low, U16) for low in (16, 32))
    return row, column


@dataclass(frozen=True)
class WmmaTransfer:
    """One matrix in memory: its operand, pointer and stride, and the fragment on its other side.

    Attributes
    ----------
    operand : MemoryOperand
        The matrix.
    pointer, stride : array of u64
        Where it is.
    """

    operand: MemoryOperand
    pointer: Array
    stride: Array

    def address(self, alg: Algebra, slots: Array) -> tuple[Array, Array]:
        """Return the byte address and the bit of the element that belongs to a slot."""
        row, column = (widened(alg, coordinate, U16) for coordinate in held(alg, slots))
        byte, bit = self.operand.address(self.pointer, row, column, self.stride)
        return byte, bit

    def load(self, alg: Algebra, slots: Array) -> Array:
        """Return what a load writes to slots."""
        return contents(alg, self.operand, *self.address(alg, slots))

    def stated(self, alg: Algebra, row: Array, column: Array) -> tuple[Array, Array]:
        """Return the address of element (row, column) as the manual has it."""
        row, column = widened(alg, row, U16), widened(alg, column, U16)
        line, place = {"row": (row, column), "col": (column, row)}[self.operand.layout]
        bits = (line * self.stride + place) * self.operand.format.bits
        return self.pointer + (bits >> 3), bits & 7


def contents(alg: Algebra, operand: MemoryOperand, byte: Array, bit: Array) -> Array:
    """Return the element at an address of an arbitrary memory."""
    place = np.stack(np.broadcast_arrays(byte, bit), axis=-1)
    return alg.arbitrary(f"memory of {operand.role}", [(place, U64)], operand.format)


transfer = Theorem(
    "ptx/wmma/transfer",
    "wmma.load and wmma.store move each element from or to where its layout and stride put it",
    "for every map of elements to slots, pointer and stride: the slot of element (r, c) is read from, or "
    "written to, byte p + (r·stride + c)·bits / 8 (row), p + (c·stride + r)·bits / 8 (col)",
    SOURCE,
    lambda: (
        Case(
            (f"{operand.shape}/{operand.format}/{operand.role}/{operand.layout}"),
            partial(_moved, operand),
            method=Method.STRUCTURAL,
        )
        for operand in memory_operands()
    ),
)


def _moved(operand: MemoryOperand) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        moved = WmmaTransfer(operand, v["pointer"], widened(alg, v["stride"], U32))
        reached = moved.address(alg, slot(alg, operand.role, v["row"], v["column"], v["user"]))
        stated = moved.stated(alg, v["row"], v["column"])
        for part, address, expected in zip(("byte", "bit"), reached, stated, strict=True):
            yield Equation(address, expected, U64, label=part)

    coordinates = tuple(Variable(name, U16, (1,)) for name in ("row", "column", "user"))
    return Property((*coordinates, Variable("pointer", U64, (1,)), Variable("stride", U32, (1,))), claim)


load_mma_store = Theorem(
    "ptx/wmma/load-mma-store",
    "wmma.load, wmma.mma and wmma.store compute an element of the product of the matrices in memory",
    "for every map of elements to slots, pointer, stride, i and j: D[i, j] in memory is what the product "
    "computes of A[i, :], B[:, j] and C[i, j] in memory, floats however they are accumulated, with every "
    "modifier; that D[i, j] depends on no other element is ptx/blocked/tiles. In other layouts too, by "
    "ptx/wmma/transfer",
    SOURCE,
    lambda: (
        Case(
            f"{form.shape}/{d}.{a}.{c}",
            partial(_product_in_memory, form, (d, a, c)),
            method=Method.STRUCTURAL,
        )
        for form in WMMA_FORMS
        for a, _ in form.multiplicands
        for d, c in form.accumulators
    ),
)


def _product_in_memory(form: WmmaForm, types: tuple[str, str, str]) -> Property:
    d, multiplicand, c = map(format_named, types)
    operands = {
        role: MemoryOperand(form.shape, role, fmt, layout)
        for role, fmt, layout in zip("abcd", (multiplicand, multiplicand, c, d), DEFAULT_LAYOUTS, strict=True)
    }

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        def elements(role: str, row: Array, column: Array, user: Array) -> tuple[Array, Array]:
            """Return elements as the product finds them in slots, and as they are in memory."""
            memory = memories[role]
            found = memory.load(alg, slot(alg, role, row, column, user))
            return found, contents(alg, memory.operand, *memory.stated(alg, row, column))

        memories = {
            role: WmmaTransfer(operand, v[f"pointer_{role}"], widened(alg, v[f"stride_{role}"], U32))
            for role, operand in operands.items()
        }
        i, j = v["i"], v["j"]
        k = np.stack([alg.constant(number, U16) for number in range(form.shape.k)])
        sides = tuple(
            zip(elements("a", i, k, j), elements("b", k, j, i), elements("c", i, j, i), strict=True)
        )
        for operation, instruction in products_of(form, multiplicand, (d, c)).items():
            result, expected = (
                product(alg, instruction, Matrices(x[..., None, :], y[..., None], z[..., None]), ARBITRARY)
                for x, y, z in sides
            )
            yield Equation(result, expected, d, label=f"D[i, j], {operation}")
        stored = memories["d"].address(alg, slot(alg, "d", i, j, i))
        stated = memories["d"].stated(alg, i, j)
        for part, address, place in zip(("byte", "bit"), stored, stated, strict=True):
            yield Equation(address, place, U64, label=f"{part} of D[i, j]")

    variables = [Variable(name, U16, (1,)) for name in "ij"]
    for role in operands:
        variables += [Variable(f"pointer_{role}", U64, (1,)), Variable(f"stride_{role}", U32, (1,))]
    return Property(tuple(variables), claim)


def products_of(
    form: WmmaForm, multiplicand: Format, accumulators: tuple[Format, Format]
) -> dict[str, Multiplication]:
    """Return what wmma.mma does on types, by its spelling: saturation, roundings, bit operations."""
    found = [multiplication(variant) for variant in form.variants() if variant.family is Family.WMMA_MMA]
    return {
        each.name: each
        for each in found
        if each.variant.layouts == form.layouts[0]
        and (each.a, each.d, each.c) == (multiplicand, *accumulators)
    }


DEFAULT_LAYOUTS = ("row", "col", "row", "row")


THEOREMS = (
    warp_product,
    transfer,
    load_mma_store,
)
