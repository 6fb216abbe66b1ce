"""Diagrams are the functions that they stand for, equal ones are one number, and there are not too many."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.conditions.decision_diagrams import MOST_CONDITIONS, Diagrams
from mmaproof.spec.errors import UnsupportedError

COUNT = 4
TABLES = st.lists(st.integers(0, 5), min_size=1 << COUNT, max_size=1 << COUNT)


def made(diagrams: Diagrams, table: list[int], condition: int = 0) -> int:
    if len(table) == 1:
        return table[0]
    half = len(table) // 2
    sides = (made(diagrams, part, condition + 1) for part in (table[:half], table[half:]))
    return diagrams.node(condition, *sides)


def table_of(diagrams: Diagrams, diagram: int) -> list[int]:
    return [
        diagrams.value(diagram, lambda condition, bits=bits: bool(bits[condition]))
        for bits in product((0, 1), repeat=COUNT)
    ]


@given(TABLES, TABLES, TABLES)
def test_diagrams_are_functions(one: list[int], other: list[int], third: list[int]) -> None:
    diagrams = Diagrams()
    first, second, last = (made(diagrams, table) for table in (one, other, third))
    assert table_of(diagrams, first) == one
    total = diagrams.applied("sum", lambda x, y: x + y, first, second)
    assert table_of(diagrams, total) == [x + y for x, y in zip(one, other, strict=True)]
    assert total == made(diagrams, [x + y for x, y in zip(one, other, strict=True)])
    chosen = diagrams.chosen(first, second, last, 3)
    assert table_of(diagrams, chosen) == [
        y if x == 3 else z for x, y, z in zip(one, other, third, strict=True)
    ]
    assert diagrams.values(first) == set(one)


@given(TABLES, st.integers(0, 5))
def test_cases_are_those_with_the_value(table: list[int], wanted: int) -> None:
    diagrams = Diagrams()
    diagram = made(diagrams, table)
    found = [False] * len(table)
    for case in diagrams.cases(diagram, wanted):
        for place, bits in enumerate(product((False, True), repeat=COUNT)):
            found[place] |= all(bits[condition] == holds for condition, holds in case.items())
    assert found == [each == wanted for each in table]


def test_too_many_conditions_are_refused() -> None:
    diagrams = Diagrams()
    diagram = 1
    with pytest.raises(UnsupportedError, match="conditions"):
        for condition in reversed(range(MOST_CONDITIONS + 1)):
            diagram = diagrams.node(condition, 0, diagram)


def test_the_first_case_is_found_whatever_does_not_lead_to_it() -> None:
    """Half of a sum of forty bits that never is 100: its paths are too many to be gone through."""
    diagrams = Diagrams()
    total = 0
    for condition in reversed(range(1, 41)):
        bit = diagrams.node(condition, 0, 1)
        total = diagrams.applied("sum", lambda x, y: x + y, total, bit)
    diagram = diagrams.node(0, total, 100)
    assert list(diagrams.cases(diagram, 100)) == [{0: True}]
    assert list(diagrams.cases(diagram, 101)) == []
