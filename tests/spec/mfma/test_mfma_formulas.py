"""Printed formulas compute what the instructions compute: they are evaluated beside ``execute``."""

from __future__ import annotations

import re

import numpy as np
import pytest
from printed_formulas import evaluated

from mmaproof.spec.instruction_set import read
from mmaproof.spec.mfma.catalogue import ROWS, MatrixMultiply
from mmaproof.spec.mfma.formula import product_formula
from mmaproof.spec.mfma.product import Modifiers
from mmaproof.spec.mfma.targets import TARGETS

RNG = np.random.default_rng(9)


def target_of(row: MatrixMultiply) -> str:
    return next(name for name, target in TARGETS.items() if row.opcode(target) is not None)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_formula_is_what_is_computed(row: MatrixMultiply) -> None:
    name = target_of(row)
    blocks = (row.blocks,) if row.blocks > 1 else ()
    arrays = {operand: RNG.integers(-4, 5, (*blocks, *row.extents(operand))) for operand in "abc"}
    text = row.names(TARGETS[name])[0]
    d = read(text).execute(arrays, as_registers=False, rounding=None, choices=(), target=name)["d"]
    for rounds in (False, True):
        formula = product_formula(row, TARGETS[name], Modifiers(), rounds=rounds).partition(" = ")[2]
        functions = dict.fromkeys(re.findall(r"round_\w+|flush", formula), lambda value: value)
        for _ in range(4):
            place = tuple(int(RNG.integers(extent)) for extent in d.shape)
            indices = dict(zip("bij" if blocks else "ij", place, strict=True))
            value = int(
                evaluated(formula, **indices, **functions, **{n.upper(): v for n, v in arrays.items()})
            )
            assert (value - int(d[place])) % (1 << 32 if row.result == "i32" else 1 << 64) == 0


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_lanes_hold_what_their_formulas_say(row: MatrixMultiply) -> None:
    name = target_of(row)
    instruction = read(row.names(TARGETS[name])[0])
    lines = instruction.formula(name)
    for operand in "abcd":
        (entry,) = [m[1] for line in lines if (m := re.fullmatch(rf"{operand}: (\w\[.+\]), e = .+", line))]
        table = instruction.layout(operand, name)
        rows = table.rows()
        matrix = RNG.integers(0, 1 << 30, [axis.extent for axis in table.axes])
        for held in rows[:: max(1, len(rows) // 40)]:
            place = tuple(held[axis.name] for axis in table.axes)
            names = {"lane": held["lane"], "e": held["element"], operand.upper(): matrix}
            assert evaluated(entry, **names) == matrix[place]


ROTATED = "v_mfma_f32_32x32x1_2b_f32 a[0:31], v0, v1, a[0:31]"


@pytest.mark.parametrize("modifiers", ["cbsz:1 abid:1", *(f"blgp:{number}" for number in range(1, 8))])
def test_operands_from_other_lanes_are_explained(modifiers: str) -> None:
    lines = read(f"{ROTATED} {modifiers}").formula()
    assert any("is read" in line for line in lines)


def test_a_rotation_of_lanes_is_one() -> None:
    (line,) = [line for line in read(f"{ROTATED} blgp:3").formula() if "is read from" in line]
    assert line == "B of lanes 0..63 is read from lanes 16..31, 32..47, 48..63, 0..15, in this order"
