"""A table of elements is the same, computed with Python's integers or with NumPy."""

import sys

import pytest

from mmaproof.spec import element_table
from mmaproof.spec.instruction_set import read

OPERANDS = [
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "a"),
    ("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "metadata"),
    ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "addresses"),
    ("xvi8ger4pp", "x"),
    ("xvf64ger", "acc"),
    ("v_mfma_f32_32x32x8_f16", "b"),
]


def table(instruction, operand):
    return read(instruction).layout(operand, None)


@pytest.mark.parametrize(("instruction", "operand"), OPERANDS)
def test_integers_and_arrays_say_the_same(instruction, operand, monkeypatch):
    many = table(instruction, operand)
    with monkeypatch.context() as without:
        without.delitem(sys.modules, "numpy.linalg")  # as before NumPy is imported
        few = table(instruction, operand)
    assert isinstance(few.holders, element_table.Columns)
    assert not isinstance(many.holders, element_table.Columns)
    assert few.rows() == many.rows()
    assert len(few) == len(many) == len(few.rows())
    for columns, others in ((few.holders, many.holders), (few.coordinates, many.coordinates)):
        assert list(columns) == list(others)
        assert all((columns[name] == others[name]).all() for name in columns)


def test_a_column_that_is_not_there_is_no_key():
    columns = element_table.Columns([{"lane": 1, "register": 2}])
    assert len(columns) == 2
    with pytest.raises(KeyError, match="bit"):
        columns["bit"]
