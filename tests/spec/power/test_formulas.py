"""Printed formulas compute what the semantics compute: they are evaluated beside it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from printed_formulas import evaluated

from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.power.catalogue import MOVES, UPDATES, IntegerFamily, RankKUpdate
from mmaproof.spec.power.choices import Choices
from mmaproof.spec.power.forms import FORMS, Form, Transfer
from mmaproof.spec.power.formula import formula, semantics
from mmaproof.spec.power.instructions import Instruction
from mmaproof.spec.power.memory import Endian, load, store
from mmaproof.spec.power.rank_k_update import rank_k_update
from mmaproof.spec.power.state import State, step
from mmaproof.spec.rounding import Rounding

EXACT = dict.fromkeys(("round_f32", "round_f64", "round_significand"), lambda value: value)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("mnemonic", UPDATES)
def test_a_formula_computes_what_the_semantics_compute_on_small_integers(mnemonic: str, masked: bool) -> None:
    update = UPDATES[mnemonic]
    family = update.family
    rng = np.random.default_rng(7)
    right = formula(update, masked=masked).partition("←")[2].strip()
    for _ in range(20):
        x, y = (rng.integers(0, 8, (rows, family.rank)) for rows in (4, family.columns))
        acc = rng.integers(0, 8, (4, family.columns))
        masks = [rng.random(width) < (0.6 if masked else 2) for width in (4, family.columns, family.rank)]
        if family.rank == 1:
            masks[2][:] = True
        names = dict(zip(("XMSK", "YMSK", "PMSK"), masks, strict=True))
        expected = computed(update, x, y, acc, masks)
        for i, j in np.ndindex(4, family.columns):
            elements = {"X": x.astype(object), "Y": y.astype(object), "ACC": acc.astype(object)}
            assert evaluated(right, i=i, j=j, **EXACT, **names, **elements) == expected[i, j]


def computed(update: RankKUpdate, x, y, acc, masks) -> np.ndarray:
    from mmaproof.spec.power.rank_k_update import Live
    from mmaproof.spec.values import encodings_of_values, values_of_encodings

    family = update.family
    operands = [
        encodings_of_values("v", v, f) for v, f in ((x, family.x), (y, family.y), (acc, family.result))
    ]
    bits = rank_k_update(NumpyAlgebra(), update, *operands, Live(*masks), Rounding.NEAREST_EVEN, Choices())
    values = values_of_encodings(bits, family.result)
    return values.view(np.uint32) if isinstance(family, IntegerFamily) and not update.saturates else values


def sides(line: str) -> tuple[str, str]:
    """Return both sides of an assignment, without the ranges of its indices."""
    left, _, right = line.partition(" ← ")
    return left, re.split(r", \w = 0\.\.", right)[0]


TRANSFERS = [form for form in FORMS.values() if isinstance(form.operation, Transfer)]


@pytest.mark.parametrize("endian", Endian)
@pytest.mark.parametrize("form", TRANSFERS, ids=lambda form: form.mnemonic)
def test_a_transfers_formula_is_what_it_moves(form: Form, endian: Endian) -> None:
    (line,) = [line for line in semantics(form) if line.endswith(f"{endian}-endian")]
    (left, right), count = sides(line), form.operation.registers
    data = np.random.default_rng(3).integers(0, 256, (64, 16), dtype=np.uint8)
    first, address = 4, 100
    names = {form.operands[0].name: first, "EA": address}
    held = data[first : first + count]
    if form.operation.store:
        memory = store(held, endian)
        places = [{"b": b} for b in range(16 * count)]
        places = [(p, f"M[{address + p['b']}]", memory[p["b"]]) for p in places]
    else:
        memory = load(data.ravel()[: 16 * count], endian)
        places = [
            ({"r": r, "b": b}, f"VSR[{first + r}, {b}]", memory[r, b])
            for r in range(count)
            for b in range(16)
        ]
    arrays = {"VSR": data, "M": np.concatenate([np.zeros(address, np.uint8), data.ravel()])}
    name, _, indices = left[:-1].partition("[")
    for place, target, value in places:
        written = ", ".join(str(evaluated(index, **names, **place)) for index in indices.split(","))
        assert f"{name}[{written}]" == target
        assert evaluated(right, **names, **place, **arrays) == value


@pytest.mark.parametrize("mnemonic", MOVES)
def test_an_accumulator_moves_formula_is_its_step(mnemonic: str) -> None:
    form, rng = FORMS[mnemonic], np.random.default_rng(4)
    line, *_ = semantics(form)
    left, right = sides(line)
    before = State(*(rng.integers(0, 256, shape, dtype=np.uint8) for shape in ((64, 16), (8, 4, 16))))
    for number in range(8):
        after = step(NumpyAlgebra(), before, Instruction(form, (number,)), Choices())
        expected = before._replace(vsr=before.vsr.copy(), acc=before.acc.copy())
        files = {"VSR": expected.vsr, "ACC": expected.acc}
        name, _, indices = left[:-1].partition("[")
        for i, b in np.ndindex(4, 16):
            names = {form.operands[0].name: number, "i": i, "b": b}
            place = tuple(evaluated(index, **names) for index in indices.split(","))
            files[name][place] = evaluated(right, **names, VSR=before.vsr, ACC=before.acc)
        np.testing.assert_array_equal(after.vsr, expected.vsr)
        np.testing.assert_array_equal(after.acc, expected.acc)
