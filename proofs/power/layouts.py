"""Layouts and transport: accumulator ↔ VSR ↔ (i, j), operand maps, notations, loads and stores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...spec.algebra import Algebra, Array
from ...spec.formats import F32, F64, S32, U8, Format
from ...spec.layout import Layout
from ...spec.power import memory, registers
from ...spec.power.builtins import Builtins
from ...spec.power.catalogue import FAMILIES, UPDATES, Family, RankKUpdate
from ...spec.power.memory import Endian
from ...spec.power.rank_k_update import Live
from ..families.foreign_layouts import foreign_layouts
from ..families.layouts import HeldMatrix, bijections
from ..families.layouts import readings as register_readings
from ..obligation import Case, Equation, Inputs, Method, Property, Theorem, Variable, theorem
from .operands import is_float, live, operand_variables, readings, updated

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
        yield from register_readings(held)


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


def _operands() -> Iterator[tuple[str, str]]:
    for family in FAMILIES:
        for operand in ("x", "y", "acc"):
            yield family.name, operand


TRANSPORT_SOURCE = (
    "Power ISA 3.1 section 7.6; GCC manual, PowerPC MMA built-in functions; Moreira et al. Table II"
)


updates_in_memory = Theorem(
    "power/transport/memory-order",
    "lxv and lxvp, a masked update, and the stores compute the product of the arrays in memory",
    "r[i][j] = update(x, y, acc)[i, j] for arrays x[4][k], y[n][k], acc[4][n] in memory; mask bit 1 << i "
    "belongs to row (column, product) i of memory on little-endian, 8 >> i on big-endian",
    TRANSPORT_SOURCE,
    lambda: (
        Case(
            f"pm{update.mnemonic}/{endian}",
            partial(_update_in_memory, update, endian),
            method=Method.STRUCTURAL,
        )
        for update in UPDATES.values()
        for endian in Endian
    ),
)


def in_memory(alg: Algebra, array: Array, fmt: Format, endian: Endian) -> Array:
    """Return the bytes of a matrix (…, rows, columns) stored row-major."""
    return memory.to_memory(alg, array.reshape(*array.shape[:-2], -1), fmt, endian)


def _update_in_memory(update: RankKUpdate, endian: Endian) -> Property:
    family = update.family

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        masks = [v[name] for name in ("xmsk", "ymsk", "pmsk") if name in v]
        isa = live(alg, update, v)
        little = endian is Endian.LITTLE
        natural = Live(*(mask[..., ::-1] for mask in isa)) if little else isa
        # Which of the two products comes first shows in NaN payloads only; memory order has them reversed.
        swapped = little and is_float(update)
        x, y = (v[name][..., ::-1] if swapped else v[name] for name in ("x", "y"))
        expected_live = natural._replace(products=isa.products) if swapped else natural
        for choices in readings(update):
            machine = Builtins(alg, endian, v.get("rounding"), choices)
            loaded_x = machine.load_pair(in_memory(alg, v["x"], family.x, endian))
            result = machine.rank_k_update(
                "pm" + update.mnemonic,
                machine.load_pair(in_memory(alg, v["acc"], family.result, endian)),
                loaded_x if family.x_registers == 2 else loaded_x[..., 0, :],
                machine.load_vector(in_memory(alg, v["y"], family.y, endian)),
                *masks,
            )
            stored = memory.from_memory(alg, machine.disassemble(result), family.result, endian)
            expected = updated(alg, update, v, choices, x=x, y=y, live=expected_live)
            yield Equation(
                stored.reshape(expected.shape), expected, family.result, label=f"stored, {choices}"
            )

    return Property(operand_variables(update), claim)


built_ins = Theorem(
    "power/transport/built-ins",
    "what assemble, build and disassemble do to the order of vectors",
    "assemble puts its first vector in the lowest-numbered VSR; build then disassemble keeps the order "
    "of its vectors in memory, assemble then disassemble reverses it on little-endian",
    TRANSPORT_SOURCE,
    lambda: (
        Case(f"{name}/{endian}", partial(_built_ins, count, endian), method=Method.STRUCTURAL)
        for endian in Endian
        for name, count in (("acc", 4), ("pair", 2))
    ),
)


def _built_ins(count: int, endian: Endian) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        machine = Builtins(alg, endian)
        data = v["memory"]
        vectors = [machine.load_vector(data[..., 16 * i : 16 * i + 16]) for i in range(count)]
        assembled = machine.assemble(*vectors)
        yield Equation(assembled[..., 0, :], vectors[0], U8, label="first vector, lowest VSR")
        yield Equation(machine.disassemble(machine.build(*vectors)), data, U8, label="build keeps the order")
        kept = range(count) if endian is Endian.BIG else reversed(range(count))
        for place, i in enumerate(kept):
            stored = machine.disassemble(assembled)[..., 16 * place : 16 * place + 16]
            yield Equation(stored, data[..., 16 * i : 16 * i + 16], U8, label="assemble, then disassemble")

    return Property((Variable("memory", U8, (16 * count,)),), claim)


THEOREMS = (
    operand,
    accumulator,
    memory_bytes,
    executed,
    memory_order,
    *foreign_layouts("power", _operands),
    updates_in_memory,
    built_ins,
)
