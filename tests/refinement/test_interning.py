"""A table numbers equal rows equally and different rows differently, whatever the batches."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.terms.interning import RowTable
from mmaproof.refinement.terms.store import Operation, TermStore, bits
from mmaproof.spec.formats import F16

ROWS = st.lists(st.tuples(*[st.integers(-2, 2)] * 3), max_size=60)


@given(st.lists(ROWS, max_size=6))
def test_numbers_are_those_of_a_dictionary(batches: list[list[tuple[int, int, int]]]) -> None:
    table = RowTable(3, capacity=4)
    known: dict[tuple[int, ...], int] = {}
    for batch in batches:
        numbers = table.numbers(np.array(batch, dtype=np.int32).reshape(-1, 3))
        for row, number in zip(batch, numbers.tolist(), strict=True):
            assert known.setdefault(row, number) == number
        assert sorted(known.values()) == list(range(len(table)))
    assert [tuple(row) for row in table.rows.tolist()] == sorted(known, key=known.__getitem__)


def test_many_rows_survive_growth() -> None:
    table = RowTable(2, capacity=2)
    rows = np.stack([np.arange(5000) % 977, np.arange(5000) % 31], axis=1).astype(np.int32)
    first = table.numbers(rows)
    assert (table.numbers(rows[::-1])[::-1] == first).all()
    assert (table.rows[first] == rows).all()


def test_a_term_remembers_the_line_that_made_it_first() -> None:
    store = TermStore()
    store.line = 7
    first = store.inputs("A", F16, np.arange(3))
    store.line = 9
    both = store.inputs("A", F16, np.arange(5))
    assert store.lines(both).tolist() == [7, 7, 7, 9, 9]
    assert (both[:3] == first).all()


def test_vectors_give_their_elements_back() -> None:
    store = TermStore()
    elements = store.inputs("A", F16, np.arange(24)).reshape(2, 3, 4)
    vectors = store.vectors(elements)
    assert vectors.shape == (2, 3)
    assert (store.elements(vectors) == elements).all()
    assert (store.vectors(elements[::-1]) == vectors[::-1]).all()


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=8))
def test_constants_keep_their_values(values: list[int]) -> None:
    store = TermStore()
    terms = store.constants(values, 64)
    assert store.constant_values(terms).tolist() == values
    assert (store.widths(terms) == 64).all()


def test_operations_are_one_by_name_format_and_attribute() -> None:
    store = TermStore()
    operation = Operation("select", bits(32), attribute=3)
    assert store.number(operation) == store.number(Operation("select", bits(32), attribute=3))
    assert store.number(operation) != store.number(Operation("select", bits(32), attribute=4))
