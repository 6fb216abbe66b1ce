"""The frozen table of verdicts is what the corpora give: the quick kernels in every run, all in a sweep."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from frozen_table import COSTS, QUICK, VERDICTS

from tools.verdicts import table
from tools.verdicts.cases import Case, every_case
from tools.verdicts.measurement import Row, measured

CASES = {each.key: each for each in every_case()}
COMMAND = "python -m tools.verdicts run DIR, then compare tests/frozen DIR"


def assert_as_frozen(case: Case) -> None:
    frozen = [row for row in VERDICTS if row[:2] == case.key]
    rows, _ = measured(case)
    assert list(table.differing_verdicts(frozen, rows)) == [], COMMAND


def test_every_case_is_frozen() -> None:
    assert {row[:2] for row in VERDICTS} == set(CASES) == {row[:2] for row in COSTS}


def test_every_run_verifies_right_and_faulty_kernels_and_finds_of_every_kind() -> None:
    rows = [row for row in VERDICTS if row[:2] in QUICK]
    assert {row[0] for row in rows} == {corpus for corpus, _ in CASES}
    assert {row[3] for row in rows} == {row[3] for row in VERDICTS}
    assert kinds(rows) == kinds(VERDICTS)


def kinds(rows: Iterable[Row]) -> set[str]:
    """Return the kinds of all findings."""
    return {finding.partition(":")[0] for row in rows for finding in row[6].split(" | ")}


@pytest.mark.parametrize(
    "key",
    [key if key in QUICK else pytest.param(key, marks=pytest.mark.sweep) for key in CASES],
    ids=": ".join,
)
def test_the_verdict_is_the_frozen_one(key: tuple[str, str]) -> None:
    assert_as_frozen(CASES[key])
