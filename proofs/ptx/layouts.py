"""Fragments of ``mma`` and ``mma.sp``: bijections, registers, coordinates, quad pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial, reduce
from operator import or_
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import F16, F32, U16, U32, Format, IntegerFormat
from ...spec.fragment import Fragment
from ...spec.layout import Axis, Layout
from ...spec.ptx.catalogue import ALL_FORMS
from ...spec.ptx.fragments import LANE
from ...spec.ptx.mma_forms import MmaForm
from ...spec.ptx.quad_pairs import COMPUTATIONS, accumulator_layout, multiplicand_layout
from ...spec.ptx.resolution import Multiplication, multiplication
from ...spec.ptx.variant import WARP_LANES
from ...spec.rearrangement import rearranged
from ..enumeration import enumerated
from ..families.layouts import COORDINATE, bijections, held_in, readings
from ..obligation import (
    Case,
    Certificate,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Theorem,
    Variable,
    theorem,
)

_OF_FOUR = IntegerFormat("one of four", 2, signed=False)


def coordinate(name: str) -> Variable:
    """Return a 16-bit unsigned variable."""
    return Variable(name, COORDINATE, (1,))


def below(alg: Algebra, value: Any, extent: int) -> Array:
    """Return the condition that a value is less than `extent`."""
    exact = alg.integer(np.asarray(value), COORDINATE)
    return np.asarray(alg.in_range(alg.whole(extent - 1) - exact, COORDINATE))


def one_of(alg: Algebra, value: Any, values: Iterable[int], fmt: IntegerFormat = COORDINATE) -> Array:
    """Return the condition that an encoding is one of `values`."""
    return np.asarray(reduce(or_, (alg.same(value, alg.constant(v, fmt)) for v in values)))


def constant(alg: Algebra, value: int) -> Array:
    """Return a coordinate that is known."""
    return alg.constant(value, COORDINATE)


def in_four(alg: Algebra, exact: Any) -> Array:
    """Return the condition that an exact integer is 0, 1, 2 or 3: a lane of a quad, a byte of a register."""
    return np.asarray(alg.in_range(exact, _OF_FOUR))


def held_only_at(
    alg: Algebra, registers: Array, slot: tuple[Array, Array], values: Array, fmt: Format
) -> Iterator[Equation]:
    """Yield that registers hold values in the fields that a formula names, and 0 in all others.

    Parameters
    ----------
    registers : array (…, 32)
        One register of every lane.
    slot : pair of array
        The lane of each value, and the field of its register, 0 in the lowest bits.
    values : array
        What is held, in fields of `fmt`.
    """
    lows = range(0, U32.bits, fmt.bits)
    held = np.stack([alg.extract(registers, low, fmt) for low in lows], axis=-1)
    yield Equation(held[(..., *slot)], values, fmt, label="the fields of the formula")
    others = np.ones(held.shape[-2:], dtype=bool)
    others[slot] = False
    yield Equation(held[..., others], alg.constant(0, fmt), fmt, label="other fields")


SOURCE = "PTX ISA 9.1 sections 9.7.14.5.1 to 9.7.14.5.13 and 9.7.14.6.2 (matrix fragments)"


@dataclass(frozen=True)
class HeldOperand:
    """An operand as a warp holds it.

    Attributes
    ----------
    product : Multiplication
        One of the instructions that have it.
    role : str
        ``a``, ``b``, ``c`` or ``d``.
    """

    product: Multiplication
    role: str

    @property
    def fragment(self) -> Fragment:
        """How the registers hold it."""
        return self.product.fragment(self.role)

    @property
    def form(self) -> MmaForm:
        """The row of the catalogue."""
        assert isinstance(self.product.form, MmaForm)
        return self.product.form

    @property
    def instruction(self) -> str:
        """Family and shape: ``mma.m16n8k16``."""
        return f"{self.form.family}.{self.form.shape}"

    @property
    def width(self) -> str:
        """The operand by the bits of its elements: ``mma.m16n8k16/16-bit/a``."""
        return f"{self.instruction}/{self.fragment.packing.container}-bit/{self.role}"

    @property
    def typed(self) -> str:
        """The operand by its element type, and by its layout where that is free."""
        packing = self.fragment.packing
        element = f"{packing.format}-in-{packing.container}" if packing.padding else str(packing.format)
        layout = self.product.variant.layouts["ab".index(self.role)] if self.role in "ab" else ""
        parts = [self.instruction, element, self.role]
        return "/".join([*parts, layout] if layout and self.product.is_quad_pairs else parts)


@cache
def held_operands() -> tuple[HeldOperand, ...]:
    """Return every distinct (instruction, shape, element type, operand, layout)."""
    found: dict[str, HeldOperand] = {}
    for form in ALL_FORMS:
        for variant in form.variants() if isinstance(form, MmaForm) else ():
            for role in "abcd":
                operand = HeldOperand(multiplication(variant), role)
                found.setdefault(operand.typed, operand)
    return tuple(found.values())


@cache
def by_width() -> dict[str, HeldOperand]:
    """Return an operand of each (instruction, shape, bits of an element, operand) but the quad pairs."""
    named = ((operand.width, operand) for operand in held_operands() if not operand.product.is_quad_pairs)
    found: dict[str, HeldOperand] = {}
    for name, operand in named:
        found.setdefault(name, operand)
    return found


layout = Theorem(
    "ptx/fragment/layout",
    "elements of a matrix and elements of the warp's registers correspond one to one",
    "(lane, i) ↦ (row, column) is a bijection, with an explicit inverse",
    SOURCE,
    lambda: bijections({name: operand.fragment.layout for name, operand in by_width().items()}),
)


executed = Theorem(
    "ptx/fragment/executed",
    "what the executor reads is what the layout's formula says",
    "gather(R)[row, column] is the element i of the lane's registers that the layout names; "
    "scatter(gather(R)) = R without padding",
    SOURCE,
    lambda: readings({operand.typed: held_in(operand.fragment) for operand in held_operands()}),
)


@theorem(
    "ptx/fragment/registers",
    "elements fill the registers: nothing is lost, and without padding no bit is left over",
    "gather(scatter(X)) = X; scatter(gather(R)) = R without padding; "
    "elements · container bits = registers · register bits, as many registers as the instruction takes",
    SOURCE + " and 9.7.14.2",
)
def registers() -> Iterator[Case]:
    """Yield one obligation per shape, element type and operand; padding (pinned) does not come back."""
    for operand in held_operands():
        yield Case(operand.typed, partial(_fills_registers, operand), method=Method.STRUCTURAL)
        if operand.fragment.packing.padding:
            yield Case(
                f"{operand.typed}/padding",
                partial(_registers_come_back, operand.fragment),
                Status.REFUTED,
                statement="scatter(gather(R)) = R, padding bits included",
            )


def _fills_registers(operand: HeldOperand) -> Property:
    fragment = operand.fragment
    packing, fmt = fragment.packing, fragment.packing.format

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield Equation(fragment.gather(alg, fragment.scatter(alg, v["x"])), v["x"], fmt, label="elements")
        if not packing.padding:
            yield from _same_registers(alg, fragment, v["registers"])
        for left, right, label in (
            (fragment.elements * packing.container, fragment.registers * packing.word.bits, "bits"),
            (fragment.registers, operand.form.registers(operand.role, fmt.name), "registers"),
            (fragment.elements, operand.form.elements(operand.role), "elements"),
        ):
            yield Equation(alg.constant(left, U16), alg.constant(right, U16), U16, label=f"number of {label}")

    return Property((Variable("x", fmt, fragment.shape), *_register_variable(fragment)), claim)


def _register_variable(fragment: Fragment) -> tuple[Variable, ...]:
    return (Variable("registers", fragment.packing.word, (WARP_LANES, fragment.registers)),)


def _same_registers(alg: Algebra, fragment: Fragment, held: Array) -> Iterator[Equation]:
    again = fragment.scatter(alg, fragment.gather(alg, held))
    yield Equation(again, held, fragment.packing.word, label="registers")


def _registers_come_back(fragment: Fragment) -> Property:
    padding = fragment.packing.padding
    return Property(
        _register_variable(fragment),
        lambda alg, v: _same_registers(alg, fragment, v["registers"]),
        pinned={"registers": padding & -padding},
    )


ElementClaim = Callable[[Algebra, Any, Any, Array], Iterator[Equation]]
"""Maps an algebra, a lane, an element and the condition that both are in range to equations."""


def on_elements(described: Layout, claim: ElementClaim) -> Certificate:
    """Return the certificate of a claim about every lane and element of a layout."""
    elements = described.source[1].extent

    def conditioned(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        lane, i = v["lane"], v["i"]
        known = below(alg, lane, WARP_LANES) & below(alg, i, elements)
        yield from claim(alg, lane, i, known)

    prop = Property((coordinate("lane"), coordinate("i")), conditioned, abstract=False)
    return enumerated(prop, {"lane": range(WARP_LANES), "i": range(elements)})


QUAD_PAIR_LAYOUTS: dict[tuple[str, str], Layout] = {
    **{(role, order): multiplicand_layout(role, order) for role in "ab" for order in ("row", "col")},
    **{("c", fmt.name): accumulator_layout(fmt) for fmt in (F16, F32)},
}
"""The layouts of the f16 ``m8n8k4``: of A and B by layout, of C and D by type."""

PAIR_LANES = rearranged(
    "lanes of the computations of m8n8k4",
    (Axis("computation", COMPUTATIONS), Axis("member", WARP_LANES // COMPUTATIONS)),
    (LANE,),
    "pair second lane -> second pair lane",
    pair=COMPUTATIONS,
    second=2,
    lane=4,
)
"""Which eight lanes compute one product: two quads."""


@theorem(
    "ptx/fragment/quad-pairs",
    "the four computations of the f16 m8n8k4 partition the warp",
    "(computation, member) ↦ lane is a bijection, 8 lanes each; whatever a lane holds of A, B, C and D "
    "belongs to its one computation; (lane, i) ↦ (computation, row, column) is a bijection",
    "PTX ISA 9.1 section 9.7.14.5.1",
)
def quad_pairs() -> Iterator[Case]:
    """Yield the partition, each operand's lanes and layout, and that f16 and f32 accumulators differ."""
    yield from bijections({"partition": PAIR_LANES})
    for (role, kind), described in QUAD_PAIR_LAYOUTS.items():
        yield Case(f"{role}/{kind}/lanes", partial(_in_its_lanes, described), method=Method.CERTIFICATE)
        yield from bijections({f"{role}/{kind}/layout": described})
    yield Case(
        "c-f16-as-d-f32",
        _accumulators_alike,
        Status.REFUTED,
        statement="C on f16 and D on f32 have the same element in the same place",
    )


def _in_its_lanes(described: Layout) -> Certificate:
    def claim(alg: Algebra, lane: Any, i: Any, known: Array) -> Iterator[Equation]:
        computation, _ = PAIR_LANES.inverse(lane)
        yield Equation(described.forward(lane, i)[0], computation, COORDINATE, known, "computation")

    return on_elements(described, claim)


def _accumulators_alike() -> Property:
    c, d = (QUAD_PAIR_LAYOUTS["c", name] for name in ("f16", "f32"))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        lane, i = v["lane"], v["i"]
        known = below(alg, lane, WARP_LANES) & below(alg, i, c.source[1].extent)
        places = zip(c.target, c.forward(lane, i), d.forward(lane, i), strict=True)
        for axis, left, right in places:
            yield Equation(left, right, COORDINATE, known, axis.name)

    variables = (coordinate("lane"), coordinate("i"))
    return Property(variables, claim, pinned={"lane": 0, "i": 2}, abstract=False)


THEOREMS = (
    layout,
    executed,
    registers,
    quad_pairs,
)
