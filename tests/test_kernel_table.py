"""The table of what can be verified is that of the corpora."""

from __future__ import annotations

from pathlib import Path

from kernel_table import table

WRITTEN = Path(__file__).parents[1] / "docs" / "kernel-kinds.md"


def test_the_table_of_kinds_of_kernels_is_that_of_the_corpora() -> None:
    written = WRITTEN.read_text(encoding="utf-8")
    assert written == table(), "write it: python tests/kernel_table.py > docs/kernel-kinds.md"
