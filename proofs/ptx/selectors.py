"""Selectors of scale factors: table 37 is what stays in the quad and in the register, and tiles both."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from itertools import product
from operator import and_
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import U16, UE4M3, UE8M0, FloatFormat
from ...spec.ptx.block_scaling import REGISTER_BYTES, ScaleFactors, Selectors
from ...spec.ptx.fragments import QUAD_LANES, QUADS
from ...spec.ptx.variant import WARP_LANES
from ..enumeration import enumerated
from ..families.layouts import COORDINATE, bijections
from ..obligation import (
    Case,
    Certificate,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Variable,
    holds,
    theorem,
)
from .layouts import below, constant, coordinate, held_only_at, in_four, one_of

SOURCE = "PTX ISA 9.1 section 9.7.14.3 and table 37"

SCALES = tuple(ScaleFactors(operand, size) for operand in "ab" for size in (1, 2, 4))

BYTE_IDS = {1: (0, 1, 2, 3), 2: (0, 2), 4: (0,)}
"""Table 37: the byte selectors by size of ``scale_vec``."""

THREAD_IDS = {"a": (0, 1), "b": (0, 1, 2, 3)}
"""Table 37: the thread selectors by operand."""

FIRST_ILLEGAL_IN_EVERY_TABLE = 8
"""Selectors below it are listed one by one where they are illegal."""


def name_of(factors: ScaleFactors) -> str:
    """Return the part of an id that says whose factors."""
    return f"scale_{factors.operand}/{factors.size}X"


@theorem(
    "ptx/selector/scale-layout",
    "scale factors and bytes of the warp's registers correspond one to one",
    "(lane, byte) ↦ (thread_id, byte_id, line, chunk) is a bijection; for each legal selector pair "
    "(line, chunk) ↦ (lane, byte) stays in the line's quad and in the register, with an explicit inverse",
    SOURCE,
)
def scale_layout() -> Iterator[Case]:
    """Yield the whole layout of each operand and vector size, and one obligation per legal selector pair."""
    for factors in SCALES:
        yield from bijections({name_of(factors): factors.layout})
        for selectors in factors.selectors:
            yield Case(
                f"{name_of(factors)}/{_pair(selectors)}",
                partial(_picked, factors, selectors),
                method=Method.CERTIFICATE,
            )


def _pair(selectors: Selectors) -> str:
    return f"byte-{selectors.byte_id}-thread-{selectors.thread_id}"


def _picked(factors: ScaleFactors, selectors: Selectors) -> Certificate:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        line, chunk = v["line"], v["chunk"]
        known = below(alg, line, factors.lines) & below(alg, chunk, factors.size)
        slot = factors.slot(line, chunk, selectors)
        yield holds(alg, below(alg, slot.lane, WARP_LANES), "lane in range", known)
        yield holds(alg, below(alg, slot.byte, REGISTER_BYTES), "byte in range", known)
        yield Equation(slot.lane >> 2, line & (QUADS - 1), COORDINATE, known, "quad of the line")
        vector = selectors.byte_id // factors.size
        matrix = (line, chunk) if factors.operand == "a" else (chunk, line)
        expected = (constant(alg, selectors.thread_id), constant(alg, vector), *matrix)
        for returned, point in zip(factors.layout.forward(*slot), expected, strict=True):
            yield Equation(returned, point, COORDINATE, known, "comes back")

    prop = Property((coordinate("line"), coordinate("chunk")), claim, abstract=False)
    return enumerated(prop, {"line": range(factors.lines), "chunk": range(factors.size)})


@theorem(
    "ptx/selector/table-37",
    "table 37 lists exactly the selectors that stay in the quad and in the register",
    "∀ byte_id, thread_id < 2^16: (byte_id, thread_id) in table 37 ⇔ every lane picked is in its line's "
    "quad, every byte picked is in the register, and byte_id is a multiple of the vector's size",
    SOURCE,
)
def table_37() -> Iterator[Case]:
    """Yield the equivalence, and whether it holds without the alignment: not for 2X, byte_id 1 (pinned)."""
    for factors in SCALES:
        yield Case(name_of(factors), partial(_table_37, factors, aligned=True))
        yield Case(
            f"{name_of(factors)}/without-alignment",
            partial(_table_37, factors, aligned=False),
            Status.REFUTED if factors.size == 2 else Status.PROVED,
            statement="∀ byte_id, thread_id < 2^16: (byte_id, thread_id) in table 37 ⇔ every lane picked is "
            "in its line's quad, every byte picked is in the register",
        )


def _table_37(factors: ScaleFactors, aligned: bool) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        exact = Selectors(*(alg.integer(v[name], U16) for name in Selectors._fields))
        stays = []
        for line, chunk in product(range(factors.lines), range(factors.size)):
            slot = factors.slot(line, chunk, exact)
            stays.append(in_four(alg, slot.lane - QUAD_LANES * (line & (QUADS - 1))))
            stays.append(in_four(alg, slot.byte))
        if aligned:
            stays.append(alg.same(v["byte_id"] & (factors.size - 1), alg.constant(0, U16)))
        listed = one_of(alg, v["byte_id"], BYTE_IDS[factors.size]) & one_of(
            alg, v["thread_id"], THREAD_IDS[factors.operand]
        )
        yield Equation(reduce(and_, stays), listed, label="stays = in table 37")

    pinned = None if aligned or factors.size != 2 else {"byte_id": 1}
    return Property(tuple(map(coordinate, Selectors._fields)), claim, None, pinned, False)


@theorem(
    "ptx/selector/once",
    "every scale factor has one byte, every byte one selector pair",
    "the bytes that two legal (selectors, line, chunk) name are equal only if all three are, and every byte "
    "of the warp's registers is named: the legal selectors' bytes are disjoint and cover the registers",
    SOURCE,
)
def once() -> Iterator[Case]:
    """Yield disjointness and coverage for each operand and vector size."""
    for factors in SCALES:
        yield Case(f"{name_of(factors)}/disjoint", partial(_disjoint, factors))
        yield Case(f"{name_of(factors)}/covers", partial(_covers, factors))


def _legal(alg: Algebra, factors: ScaleFactors, selectors: Selectors) -> Array:
    return one_of(alg, selectors.byte_id, factors.byte_ids) & one_of(
        alg, selectors.thread_id, factors.thread_ids
    )


def _disjoint(factors: ScaleFactors) -> Property:
    names = ("line", "chunk", "byte_id", "thread_id")

    def points(v: Inputs) -> Iterator[tuple[Any, Any, Selectors]]:
        for which in ("one", "other"):
            line, chunk, byte_id, thread_id = (v[f"{which}_{name}"] for name in names)
            yield line, chunk, Selectors(byte_id, thread_id)

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        for line, chunk, selectors in points(v):
            yield _legal(alg, factors, selectors)
            yield below(alg, line, factors.lines) & below(alg, chunk, factors.size)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        one, other = (factors.slot(*point) for point in points(v))
        shared = alg.same(one.lane, other.lane) & alg.same(one.byte, other.byte)
        for name in names:
            yield Equation(v[f"one_{name}"], v[f"other_{name}"], COORDINATE, shared, f"same {name}")

    variables = tuple(coordinate(f"{which}_{name}") for which in ("one", "other") for name in names)
    return Property(variables, claim, assuming, abstract=False)


def _covers(factors: ScaleFactors) -> Certificate:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        known = below(alg, v["lane"], WARP_LANES) & below(alg, v["byte"], REGISTER_BYTES)
        thread_id, vector, *matrix = factors.layout.forward(v["lane"], v["byte"])
        line, chunk = matrix if factors.operand == "a" else reversed(matrix)
        selectors = Selectors(vector * factors.size, thread_id)
        yield holds(alg, _legal(alg, factors, selectors), "legal selectors", known)
        yield holds(alg, below(alg, line, factors.lines), "line in range", known)
        yield holds(alg, below(alg, chunk, factors.size), "chunk in range", known)
        slot = factors.slot(line, chunk, selectors)
        for name in ("lane", "byte"):
            yield Equation(getattr(slot, name), v[name], COORDINATE, known, f"names the {name}")

    variables = (coordinate("lane"), coordinate("byte"))
    prop = Property(variables, claim, abstract=False)
    return enumerated(prop, {"lane": range(WARP_LANES), "byte": range(REGISTER_BYTES)})


@theorem(
    "ptx/selector/gathered",
    "what is written under a selector pair is read under it, and lies in the bytes of the formula only",
    "gather(scatter(S, s), s) = S; scatter(S, s) holds S in the bytes of the formula, 0 in the others",
    SOURCE,
)
def gathered() -> Iterator[Case]:
    """Yield one obligation per operand, vector size and legal selector pair."""
    for factors in SCALES:
        fmt = UE4M3 if factors.size == 4 else UE8M0
        for selectors in factors.selectors:
            yield Case(
                f"{name_of(factors)}/{_pair(selectors)}",
                partial(_gathered, factors, selectors, fmt),
                method=Method.STRUCTURAL,
            )


def _gathered(factors: ScaleFactors, selectors: Selectors, fmt: FloatFormat) -> Property:
    shape = tuple(axis.extent for axis in factors.layout.target[2:])
    indices = np.indices(shape)
    line, chunk = indices if factors.operand == "a" else indices[::-1]

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        held = factors.held(selectors, fmt)
        registers = held.scatter(alg, v["factors"])
        yield Equation(held.gather(alg, registers), v["factors"], fmt, label="read")
        slot = factors.slot(line, chunk, selectors)
        yield from held_only_at(alg, registers[..., 0], slot, v["factors"], fmt)

    return Property((Variable("factors", fmt, shape),), claim, abstract=False)


@theorem(
    "ptx/selector/illegal",
    "what goes wrong with each illegal selector below 8 (pinned); of all others table-37 tells that it does",
    "an illegal thread_id or byte_id picks a lane of another quad, a byte out of the register, or a byte "
    "that a legal selector picks for another factor",
    SOURCE,
)
def illegal() -> Iterator[Case]:
    """Yield a refutation for each illegal value below 8: of staying in range, else of being disjoint."""
    for factors in SCALES:
        for thread_id in range(FIRST_ILLEGAL_IN_EVERY_TABLE):
            if thread_id not in factors.thread_ids:
                yield Case(
                    f"{name_of(factors)}/thread-{thread_id}",
                    partial(_stays_in_quad, factors, thread_id),
                    Status.REFUTED,
                    statement=f"with thread_id {thread_id}, the lane of every line is in the line's quad",
                )
        for byte_id in range(FIRST_ILLEGAL_IN_EVERY_TABLE):
            if byte_id in factors.byte_ids:
                continue
            if byte_id + factors.size > REGISTER_BYTES:
                goal = partial(_stays_in_register, factors, byte_id)
                text = f"with byte_id {byte_id}, the byte of every chunk is in the register"
            else:
                goal = partial(_shares_no_byte, factors, byte_id)
                text = f"no legal byte_id picks a byte that byte_id {byte_id} picks"
            yield Case(f"{name_of(factors)}/byte-{byte_id}", goal, Status.REFUTED, statement=text)


def _stays_in_quad(factors: ScaleFactors, thread_id: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        lane = factors.slot(v["line"], 0, Selectors(0, thread_id)).lane
        known = below(alg, v["line"], factors.lines)
        yield Equation(
            lane >> 2, v["line"] & (QUADS - 1), COORDINATE, known, "quad of the lane = of the line"
        )

    return Property((coordinate("line"),), claim, pinned={"line": 0}, abstract=False)


def _stays_in_register(factors: ScaleFactors, byte_id: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        byte = factors.slot(0, v["chunk"], Selectors(byte_id, 0)).byte
        yield holds(
            alg, below(alg, byte, REGISTER_BYTES), "byte in range", below(alg, v["chunk"], factors.size)
        )

    pinned = {"chunk": factors.size - 1}
    return Property((coordinate("chunk"),), claim, pinned=pinned, abstract=False)


def _shares_no_byte(factors: ScaleFactors, byte_id: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        byte = factors.slot(0, v["chunk"], Selectors(byte_id, 0)).byte
        known = below(alg, v["chunk"], factors.size)
        for legal, chunk in product(factors.byte_ids, range(factors.size)):
            taken = constant(alg, factors.slot(0, chunk, Selectors(legal, 0)).byte)
            yield holds(alg, ~alg.same(byte, taken), f"not chunk {chunk} of byte_id {legal}", known)

    return Property((coordinate("chunk"),), claim, pinned={"chunk": 0}, abstract=False)


THEOREMS = (scale_layout, table_37, once, gathered, illegal)
