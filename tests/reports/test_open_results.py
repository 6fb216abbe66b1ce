"""The page on open results is printed from the rows that the machines use."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.reports.open_results import page
from mmaproof.spec.open_results import OpenResult
from mmaproof.spec.power import open_results as power
from mmaproof.spec.ptx import open_results as ptx

ROOT = Path(__file__).parents[2]


def test_the_page_is_that_of_the_rows() -> None:
    written = (ROOT / "docs" / "open-results.md").read_text(encoding="utf-8")
    assert written == page(), "write it: python -m mmaproof.reports.open_results > docs/open-results.md"


@pytest.mark.parametrize("module", [ptx, power])
def test_every_row_is_listed_once(module: object) -> None:
    named = [var for var in vars(module).values() if isinstance(var, OpenResult)]
    listed = (*module.OPEN_RESULTS, *getattr(module, "TAKEN_ALIKE", ()))  # type: ignore[attr-defined]
    assert len(set(listed)) == len(listed)
    assert set(named) <= set(listed)
    assert all(each.instructions and each.bits and each.source for each in listed)
