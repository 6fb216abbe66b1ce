"""Rows of scalar instructions, on numbers and on Z3 terms, against the interpreter."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
import z3
from interpreter.ptx_integers import INTEGER, Undefined, lop3
from interpreter.ptx_scalar_forms import _element

from mmaproof.api.instructions import explain, run
from mmaproof.refinement.ptx.text.module import InstructionStatement
from mmaproof.smt.z3_algebra import element
from mmaproof.smt.z3_words import Z3Words
from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.numpy_words import NumpyWords
from mmaproof.spec.ptx.scalar.catalogue import by_opcode, every_form
from mmaproof.spec.ptx.scalar.formulas import formulas
from mmaproof.spec.ptx.scalar.rows import Form

EXECUTED = [form for form in every_form() if form.row.meaning is not None]
INTERPRETED = [form for form in EXECUTED if form.row.opcode in INTEGER and "CC.CF" not in form.row.operands]


def names(form: Form) -> str:
    return form.mnemonic


def operands(form: Form, count: int, seed: int) -> Iterator[list[int]]:
    """Yield operands at the ends of their types, and any."""
    draw = random.Random(f"{form.mnemonic} {seed}")
    for _ in range(count):
        row = []
        for place in form.places[1]:
            control = (place.type.name == "u32" and place.name != "a") or place.name in ("base", "offset")
            kind = "pred" if place.type.kind == "pred" else "amount" if control else f"u{place.type.bits}"
            row.append(_element(draw, kind))
        yield row


def interpreted(form: Form, row: list[int]) -> int | None:
    """Return what the interpreter computes; None where the manual leaves it open."""
    modifiers = tuple(form.mnemonic.split(".")[1:])
    statement = InstructionStatement(form.row.opcode, modifiers, ())
    scalar = INTEGER[form.row.opcode](statement, str(form.type))
    try:
        return scalar.compute(*row) & (1 << form.places[0][0].type.bits) - 1
    except Undefined:
        return None


@pytest.mark.parametrize("form", INTERPRETED, ids=names)
def test_rows_on_numbers(form: Form) -> None:
    rows = list(operands(form, 200, 1))
    wanted = [interpreted(form, row) for row in rows]
    known = [index for index, value in enumerate(wanted) if value is not None]
    columns = [np.array(column, dtype=np.uint64)[known] for column in zip(*rows, strict=True)]
    (found,) = form.results(NumpyWords(), columns)
    assert np.broadcast_to(found, len(known)).tolist() == [wanted[index] for index in known]
    for index in sorted(set(range(len(rows))) - set(known))[:1]:
        with pytest.raises(InputError, match="PTX leaves open"):
            form.results(NumpyWords(), [np.array([n], dtype=np.uint64) for n in rows[index]])


@pytest.mark.parametrize("form", [form for form in INTERPRETED if form.row.opcode != "fns"], ids=names)
def test_rows_on_terms_of_z3(form: Form) -> None:
    cheap = form.width < 64 or form.row.opcode not in ("bfe", "bfi")
    for row in operands(form, 3 if cheap else 1, 2):
        wanted = interpreted(form, row)
        if wanted is None:
            continue
        words = [
            element(z3.BitVecVal(number, place.type.bits))
            for number, place in zip(row, form.places[1], strict=True)
        ]
        (found,) = form.results(Z3Words(), words)
        value = z3.simplify(found[()])
        assert (value.as_long(), value.size()) == (wanted, form.places[0][0].type.bits)


def test_fns_has_too_many_numbers_for_z3() -> None:
    (form,) = (form for form in EXECUTED if form.row.opcode == "fns")
    with pytest.raises(UnsupportedError):
        form.results(Z3Words(), [element(z3.BitVecVal(1, 32))] * 3)


def test_every_table_of_lop3() -> None:
    form = next(form for form in EXECUTED if form.mnemonic == "lop3.b32")
    draw = random.Random("lop3")
    for table in range(256):
        a, b, c = (draw.getrandbits(32) for _ in range(3))
        words = [np.array([n], dtype=np.uint64) for n in (a, b, c)]
        (found,) = form.results(NumpyWords(), [*words, table])
        assert int(found[0]) == lop3(table, a, b, c)


def test_every_opcode_is_tried() -> None:
    tried = {form.row.opcode for form in INTERPRETED} | {"lop3", "addc", "subc", "madc"}
    assert {form.row.opcode for form in EXECUTED} == tried


@pytest.mark.parametrize("form", EXECUTED, ids=names)
def test_every_meaning_is_written(form: Form) -> None:
    lines = formulas(form)
    assert lines and all(line.strip() for line in lines)


def test_heads_are_told_apart() -> None:
    for opcode, rows in by_opcode().items():
        assert all(row.head.split(".")[0] == opcode for row in rows)


def test_carries_on_named_arrays() -> None:
    low = run("add.cc.u32", {"a": np.uint32(0xFFFFFFFF), "b": np.uint32(2)})
    assert (int(low["d"]), int(low["carry"])) == (1, 1)
    high = run("addc.u32", {"a": np.uint32(1), "b": np.uint32(2), "carry": low["carry"]})
    assert int(high["d"]) == 4


def test_arrays_have_batches() -> None:
    found = run("sad.s32", {"a": np.array([1, -5]), "b": np.array([4, 5]), "c": np.array([0, 1])})
    assert found["d"].tolist() == [3, 11]


@pytest.mark.parametrize(
    ("text", "arrays", "message"),
    [
        ("div.u32", {"a": 1, "b": 0}, "PTX leaves open an integer quotient by zero"),
        ("rem.s32", {"a": -(1 << 31), "b": -1}, "PTX leaves open"),
        ("fns.b32", {"mask": 1, "base": 32, "offset": 0}, "PTX leaves open the place"),
        ("add.f32", {"a": 1.5, "b": 2.0}, "judged, but not executed"),
        ("add.f31", {"a": 1.5, "b": 2.0}, "is illegal"),
        ("lop3.b32", {"a": 1, "b": 2, "c": 3}, "immLut is a constant of the text"),
        ("add.s32", {"a": 1}, "no array .b."),
    ],
)
def test_what_is_not_executed(text: str, arrays: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(text, {name: np.asarray(value) for name, value in arrays.items()})


def test_an_explanation_has_the_row_and_the_meaning() -> None:
    text = str(explain("shf.l.wrap.b32"))
    assert "PTX ISA 9.1 section 9.7.8.7" in text and "m = c & 0x1f" in text
    assert "at m = 5: {b[26:0], a[31:27]}" in text and "ptx/scalar/bits" in text
