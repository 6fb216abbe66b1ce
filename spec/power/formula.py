"""What the instructions compute, as mathematics: their semantics, run on names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..algebra import Array
from ..formula import Formula, digits, element, integer
from ..formula_algebra import FormulaAlgebra, named
from ..formula_contraction import contracted, tabulated
from ..formula_text import written
from ..rounding import Rounding
from . import memory
from .catalogue import Move, RankKUpdate
from .choices import OPEN_POINTS, Choices
from .forms import Form, Transfer
from .instructions import Instruction
from .memory import Endian
from .priming import ACCUMULATORS
from .rank_k_update import Live, rank_k_update
from .registers import ACCUMULATOR_ROWS, REGISTER_BYTES
from .state import VSRS, State, groups, step


def semantics(form: Form) -> Iterator[str]:
    """Yield what a form does, a line at a time; it is the same on every target."""
    match form.operation:
        case RankKUpdate() as update:
            yield formula(update, masked=form.prefixed)
            yield f"for i = 0..3 and j = 0..{update.family.columns - 1}, in ISA element order"
            yield f"open points, at their defaults: {', '.join(f'{p.name}={p.default}' for p in OPEN_POINTS)}"
        case Move():
            yield _move(form)
        case Transfer() as transfer:
            for endian in Endian:
                yield f"{_transfer(form, transfer, endian)}, {endian}-endian"
            yield f"EA = {form.operands[-1].name} + {form.operands[-2].name}, where RA is 0 for r0"
            yield "byte 0 of a VSR is its most significant"
        case _:
            yield f"Power ISA {form.isa} Book I"


def formula(update: RankKUpdate, *, masked: bool) -> str:
    """Return the formula of accumulator element (i, j).

    Parameters
    ----------
    update : RankKUpdate
        The instruction.
    masked : bool
        Whether the ``pm`` form is meant.
    """
    alg = FormulaAlgebra()
    steps = update.family.rank
    if masked:
        products = named("PMSK", steps) if steps > 1 else np.ones(1, dtype=bool)
        live = Live(named("XMSK", "i"), named("YMSK", "j"), products)
    else:
        live = Live(np.ones(1, dtype=bool), np.ones(1, dtype=bool), np.ones(steps, dtype=bool))
    x, y, acc = named("X", "i", steps), named("Y", "j", steps), named("ACC", "i", "j")
    result = rank_k_update(alg, update, x, y, acc, live, Rounding.NEAREST_EVEN, Choices())
    return f"ACC[i,j] ← {written(contracted(result[0, 0]))}"


def _move(form: Form) -> str:
    """Write what an accumulator move writes: one step of the machine for every accumulator."""
    before = State(
        named("VSR", VSRS, REGISTER_BYTES), named("ACC", ACCUMULATORS, ACCUMULATOR_ROWS, REGISTER_BYTES)
    )
    to_vsrs, alg = form.operation is Move.XXMFACC, FormulaAlgebra()
    steps = [step(alg, before, Instruction(form, (number,)), Choices()) for number in range(ACCUMULATORS)]
    places, values = (
        np.stack(
            [(groups(state.vsr) if to_vsrs else state.acc)[number] for number, state in enumerate(states)]
        )
        for states in ([before] * ACCUMULATORS, steps)
    )
    letters = (form.operands[0].name, "i", "b")
    extents = f"i = 0..{ACCUMULATOR_ROWS - 1}, b = 0..{REGISTER_BYTES - 1}"
    return f"{_entry(places, letters)} ← {_entry(values, letters)}, {extents}"


def _transfer(form: Form, transfer: Transfer, endian: Endian) -> str:
    """Write which byte of memory a load or a store moves where."""
    count, size = transfer.registers, transfer.registers * REGISTER_BYTES
    data = np.array([element("M", _after("EA", byte)) for byte in range(size)])
    registers = np.array(
        [
            [element("VSR", _after(form.operands[0].name, number), byte) for byte in range(REGISTER_BYTES)]
            for number in range(count)
        ]
    )
    if transfer.store:
        stored = _entry(memory.store(registers, endian), ("b",))
        return f"{_entry(data, ('b',))} ← {stored}, b = 0..{size - 1}"
    loaded = _entry(memory.load(data, endian), ("r", "b"))
    return (
        f"{_entry(registers, ('r', 'b'))} ← {loaded}, b = 0..{REGISTER_BYTES - 1}"
        + f", r = 0..{count - 1}" * (count > 1)
    )


def _after(base: str, number: int) -> Formula:
    return integer(number, [digits(1, Formula(base), 0, -1)])


def _entry(table: Array, letters: Sequence[str]) -> str:
    return written(tabulated(table, letters))
