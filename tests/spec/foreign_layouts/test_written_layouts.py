"""What is written in another tool's notation is that operand's layout when it is read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.errors import InputError
from mmaproof.spec.foreign_layouts.against import Notation, compare_layout, written_layout
from mmaproof.spec.instruction_set import instruction_set, read
from mmaproof.spec.power.catalogue import FAMILIES
from mmaproof.spec.ptx.catalogue import ALL_FORMS
from mmaproof.spec.ptx.matrix_move_forms import MatrixMoveForm
from mmaproof.spec.ptx.mma_forms import MmaForm
from mmaproof.spec.ptx.operand_tables import operands
from mmaproof.spec.ptx.resolution import multiplication

PTX = [
    (str(variant), operand)
    for form in ALL_FORMS
    if isinstance(form, MmaForm)
    for variant in form.variants()
    for operand in operands(multiplication(variant))
] + [
    (str(variant), operand)
    for form in ALL_FORMS
    if isinstance(form, MatrixMoveForm)
    for variant in form.variants()
    for operand in ("registers", "addresses")[: 1 if variant.family == "movmatrix" else 2]
]
MFMA = [(row["mnemonic"], operand) for row in instruction_set("mfma").instructions() for operand in "abcd"]
POWER = [(family.name, operand) for family in FAMILIES for operand in ("x", "y", "acc")]
notations = pytest.mark.parametrize("notation", Notation)


def text(rows: int, k: int, columns: int, element: str = "f16") -> str:
    """Return a PTO product of these extents."""
    tiles = (f"!pto.tile<{rows}x{k}x{element}>", f"!pto.tile<{k}x{columns}x{element}>")
    return f"%c = tmatmul %a, %b : ({', '.join(tiles)}) -> !pto.tile<{rows}x{columns}xf32>"


@given(st.sampled_from(PTX), st.sampled_from(list(Notation)))
def test_operands_of_ptx(named: tuple[str, str], notation: Notation) -> None:
    found = compare_layout(*named, written_layout(*named, notation))
    assert found.equal
    assert not found.notes


@given(st.sampled_from(MFMA), st.sampled_from(list(Notation)))
def test_operands_of_mfma(named: tuple[str, str], notation: Notation) -> None:
    assert compare_layout(*named, written_layout(*named, notation)).equal


@notations
@pytest.mark.parametrize("named", POWER, ids="-".join)
def test_operands_of_power(named: tuple[str, str], notation: Notation) -> None:
    assert compare_layout(*named, written_layout(*named, notation)).equal


@notations
@pytest.mark.parametrize("target", ["A2A3", "A5", "CPU"])
@pytest.mark.parametrize("operand", ["a", "b", "d"])
def test_tiles_of_pto(operand: str, target: str, notation: Notation) -> None:
    tile = text(32, 64, 16)
    assert compare_layout(tile, operand, written_layout(tile, operand, notation, target), target).equal


@pytest.mark.parametrize("operand", ["a", "b", "d"])
def test_tiles_of_extents_that_are_no_powers_of_two_have_strides_and_no_vectors(operand: str) -> None:
    tile = text(48, 80, 96)
    assert compare_layout(tile, operand, written_layout(tile, operand, Notation.CUTE)).equal
    with pytest.raises(InputError, match="is not linear: the extents are not powers of two"):
        written_layout(tile, operand, Notation.LINEAR)


def test_what_cutlass_and_triton_write() -> None:
    mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    assert written_layout(mma, "a", Notation.CUTE) == "((4,8),(2,2,2)):((32,1),(16,8,128))"
    assert written_layout(mma, "c", Notation.LINEAR) == (
        "{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}"
    )
    assert written_layout("v_mfma_f32_32x32x8_f16", "b", Notation.CUTE) == "((32,2),4):((1,128),32)"
    assert written_layout(text(32, 32, 16), "a", Notation.CUTE, "A5") == "(32,(16,2)):(16,(1,512))"


@pytest.mark.parametrize(
    "named", [PTX[0], ("xvf32ger", "acc"), (text(32, 32, 16), "a")], ids=("ptx", "power", "pto")
)
def test_vectors_are_the_layouts_images(named: tuple[str, str]) -> None:
    """The first vector of a lane, register or offset is the element that the table names at 1."""
    table = read(named[0]).layout(named[1])
    text = written_layout(*named, Notation.LINEAR)
    column = "offset" if "offset" in table.holders else table.owners.name
    others = [name for name in list(table.holders)[:2] if name not in (column, "block")]
    row = next(row for row in table.rows() if row[column] == 1 and all(row[other] == 0 for other in others))
    assert f"{column} = [[{', '.join(str(row[axis.name]) for axis in table.axes)}]" in text
