"""The table of kernels in ``docs/certificates.md``: each certificate is made and has what a row says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from row_contracts import contract as row_contract

from mmaproof.api import kernels
from mmaproof.refinement.certificate.sections import NO_STEPS
from mmaproof.refinement.recheck.rechecking import NOT_OF_REALS, recheck

REPOSITORY = Path(__file__).parents[2]
TEXT = (REPOSITORY / "docs" / "certificates.md").read_text(encoding="utf-8")


class Row(NamedTuple):
    """A kernel, and how many elements are equal in which way; None where rows are not counted."""

    kernel: Path
    sizes: dict[str, int]
    elements: dict[str, int]
    instances: int | None
    open: int


def rows() -> Iterator[Row]:
    for path, sizes, *counts in re.findall(r"^\| `(\S+\.ptx)` \|" + r"([^|]*)\|" * 6, TEXT, re.MULTILINE):
        *elements, instances, left_open = (int(count) if count.strip() else None for count in counts)
        named = zip(("identical", "ring", "reals"), elements, strict=True)
        read = {name: int(number) for name, number in re.findall(r"(\w+) = (\d+)", sizes)}
        yield Row(REPOSITORY / path, read, {k: n for k, n in named if n}, instances, left_open or 0)


ROWS = list(rows())


def test_the_table_is_read() -> None:
    assert len(ROWS) >= 15
    assert {"ring", "reals"} <= {name for row in ROWS for name in row.elements}


@pytest.mark.sample(4)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.kernel.stem} {row.sizes or ''}")
def test_kernels_recheck_as_the_table_says(row: Row, tmp_path: Path) -> None:
    contract = row.kernel.with_name(f"{row.kernel.stem.rpartition('_sm')[0]}.toml")
    if row.sizes:
        contract = tmp_path / "contract.toml"
        contract.write_text(row_contract(row.kernel.name, row.sizes), encoding="utf-8")
    document = kernels.verify(row.kernel, contract, certified=True).found.certificate
    assert document is not None
    found = recheck(json.loads(json.dumps(document)))
    assert found.elements == row.elements
    assert row.instances is None or found.rows.total() == row.instances
    steps = [each for each in found.open if NO_STEPS in each]
    counts = [
        int(number.replace(",", "")) for step in steps for number in re.findall(r"([\d,]+) elements", step)
    ]
    assert sum(counts) == row.open
    rest = [each for each in found.open if each not in steps and NOT_OF_REALS not in each]
    assert rest == []
    assert (str(found) == "rechecked") == (set(found.elements) <= {"identical", "ring"} and not row.open)
