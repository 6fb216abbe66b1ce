"""Transport: loads, built-ins and stores around a rank-k update, in memory order, masks included."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...spec.algebra import Algebra, Array
from ...spec.formats import U8, Format
from ...spec.power import memory
from ...spec.power.builtins import Builtins
from ...spec.power.catalogue import UPDATES, RankKUpdate
from ...spec.power.memory import Endian
from ...spec.power.rank_k_update import Live
from ..obligation import Case, Equation, Inputs, Method, Property, Theorem, Variable
from .operands import is_float, live, operand_variables, readings, updated

SOURCE = "Power ISA 3.1 section 7.6; GCC manual, PowerPC MMA built-in functions; Moreira et al. Table II"


memory_order = Theorem(
    "power/transport/memory-order",
    "lxv and lxvp, a masked update, and the stores compute the product of the arrays in memory",
    "r[i][j] = update(x, y, acc)[i, j] for arrays x[4][k], y[n][k], acc[4][n] in memory; mask bit 1 << i "
    "belongs to row (column, product) i of memory on little-endian, 8 >> i on big-endian",
    SOURCE,
    lambda: (
        Case(
            f"pm{update.mnemonic}/{endian}",
            partial(_memory_order, update, endian),
            method=Method.STRUCTURAL,
        )
        for update in UPDATES.values()
        for endian in Endian
    ),
)


def in_memory(alg: Algebra, array: Array, fmt: Format, endian: Endian) -> Array:
    """Return the bytes of a matrix (…, rows, columns) stored row-major."""
    return memory.to_memory(alg, array.reshape(*array.shape[:-2], -1), fmt, endian)


def _memory_order(update: RankKUpdate, endian: Endian) -> Property:
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
    SOURCE,
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


THEOREMS = (memory_order, built_ins)
