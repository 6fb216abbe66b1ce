"""Layouts: accumulator ↔ VSR ↔ (i, j), operand element maps, and the memory views of both byte orders."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...spec.algebra import Algebra
from ...spec.formats import F32, F64, S32, U8, Format
from ...spec.layout import Layout
from ...spec.power import memory, registers
from ...spec.power.catalogue import FAMILIES, Family
from ...spec.power.memory import Endian
from ..families.layouts import HeldMatrix, bijections, readings
from ..obligation import Case, Equation, Inputs, Method, Property, Theorem, Variable, theorem

SOURCE = "Power ISA 3.1 sections 7.2 and 7.6; Moreira et al. Figure 1"


@theorem(
    "power/layout/operand",
    "operand elements and register fields correspond one to one",
    "(row, k) ↦ (register, field) is a bijection onto the operand's VSRs",
    SOURCE,
)
def operand() -> Iterator[Case]:
    """Yield X and Y of every family."""
    for family in FAMILIES:
        layouts = {"x": registers.x_layout(family), "y": registers.y_layout(family)}
        yield from bijections({f"{family.name}/{name}": layout for name, layout in layouts.items()})


accumulator = Theorem(
    "power/layout/accumulator",
    "accumulator elements and fields of its four VSRs correspond one to one",
    "ACC[i, j] ↦ (VSR 4k + register, field) is a bijection",
    SOURCE,
    lambda: bijections({fmt.name: registers.accumulator_layout(fmt) for fmt in (S32, F32, F64)}),
)


@theorem(
    "power/layout/memory-bytes",
    "memory bytes and register bytes of loads and stores correspond one to one",
    "address ↦ (register, byte) is a bijection, for lxv and stxv (1), lxvp and stxvp (2), an accumulator (4)",
    SOURCE,
)
def memory_bytes() -> Iterator[Case]:
    """Yield both byte orders and the three sizes."""
    layouts = {f"{endian}/{n}": memory.byte_layout(endian, n) for endian in Endian for n in (1, 2, 4)}
    return bijections(layouts)


@theorem(
    "power/layout/executed",
    "what the executor reads is what the layout's formula says",
    "matrix(registers)[row, k] is the field that the layout names, and registers(matrix(r)) = r",
    SOURCE,
)
def executed() -> Iterator[Case]:
    """Yield X and Y of every family and the accumulator formats."""
    for family in FAMILIES:
        held = {f"{family.name}/{name}": _held(layout, fmt) for name, layout, fmt in _views(family)}
        yield from readings(held)


def _views(family: Family) -> tuple[tuple[str, Layout, Format], ...]:
    return (
        ("x", registers.x_layout(family), family.x),
        ("y", registers.y_layout(family), family.y),
        ("acc", registers.accumulator_layout(family.result), family.result),
    )


def _held(layout: Layout, fmt: Format) -> HeldMatrix:
    fragment = registers.fragment(layout, fmt)
    return HeldMatrix(
        layout,
        fmt,
        Variable("registers", U8, fragment.words),
        lambda alg, held: alg.unpack(held, fmt),
        fragment.gather,
        fragment.scatter,
    )


memory_order = Theorem(
    "power/layout/memory-order",
    "arrays in memory arrive reversed on little-endian, in order on big-endian",
    "little: M[i, p] = array[rows - 1 - i][k - 1 - p]; big: M[i, p] = array[i][p]",
    SOURCE,
    lambda: (
        Case(
            f"{family.name}/{name}/{endian}",
            partial(_memory_order, layout, fmt, endian),
            method=Method.STRUCTURAL,
        )
        for family in FAMILIES
        for name, layout, fmt in _views(family)
        for endian in Endian
    ),
)


def _memory_order(layout: Layout, fmt: Format, endian: Endian) -> Property:
    fragment = registers.fragment(layout, fmt)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        array = v["array"]
        data = memory.to_memory(alg, array.reshape(*array.shape[:-2], -1), fmt, endian)
        loaded = fragment.gather(alg, memory.load(data, endian))
        expected = array[..., ::-1, ::-1] if endian is Endian.LITTLE else array
        yield Equation(loaded, expected, fmt, label="loaded matrix")
        yield Equation(memory.store(memory.load(data, endian), endian), data, U8, label="store inverts load")
        elements = memory.from_memory(alg, data, fmt, endian)
        yield Equation(elements, array.reshape(elements.shape), fmt, label="memory read back")

    return Property((Variable("array", fmt, fragment.shape),), claim)


THEOREMS = (operand, accumulator, memory_bytes, executed, memory_order)
