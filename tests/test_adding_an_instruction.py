"""What docs/adding-an-instruction.md shows is executed: a small instruction set end to end."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from command_line import mmaproof
from theorem_checks import unexpected

import mmaproof.proofs as proofs_package
import mmaproof.spec as spec_package
from mmaproof.proofs import catalogue
from mmaproof.reports import site
from mmaproof.spec import instruction_set
from mmaproof.spec.errors import InputError

DOCUMENT = Path(__file__).parent.parent / "docs" / "adding-an-instruction.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n# (\S+\.py)\n(.*?)^```$", TEXT, re.M | re.DOTALL)


@pytest.fixture(autouse=True)
def arm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the folders that the document shows beside the others."""
    for name, code in BLOCKS:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")
    for package in (spec_package, proofs_package):
        folder = package.__name__.rpartition(".")[2]
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path / folder)])
    names = (*instruction_set.NAMES, "arm")
    monkeypatch.setattr(instruction_set, "NAMES", names)
    monkeypatch.setattr(catalogue, "NAMES", names)
    catalogue.families.cache_clear()
    yield
    catalogue.families.cache_clear()
    for name in [name for name in sys.modules if re.match(r"mmaproof\.(spec|proofs)\.arm\b", name)]:
        del sys.modules[name]


def test_legal() -> None:
    text = "smmla v0.4s, v1.16b, v2.16b"
    assert mmaproof("legal", text).out == f"legal on armv8.6-a: {text}\n"
    refused = mmaproof("legal", "smmla v0.4s, v1.16b, v32.16b", "--target", "armv8-a")
    assert refused.status == 1
    assert (
        "target: armv8-a has no smmla" in refused.out and "v32.16b must be v0.16b to v31.16b" in refused.out
    )
    assert mmaproof("legal", "smmla v0.4s, v1.16b").wrong_use
    assert mmaproof("legal", "smmlax").wrong_use


def test_site() -> None:
    pages = {page.path: page.text for page in site.pages(["arm"])}
    assert "Arm, 8-bit matrix multiplies" in pages["arm/index.html"]
    assert "A[i,k]" in pages["arm/smmla.html"] and "arm/smmla.layout.html" in pages


def test_what_it_has_none_of() -> None:
    assert mmaproof("run", "smmla", "--list-choices").out == "arm leaves nothing open\n"
    empty = mmaproof("tables", "arm", "--contradictions")
    assert empty.status == 0 and "the table of contradictions of arm has no rows" in empty.err


def test_layout() -> None:
    table = instruction_set.read("usmmla").layout("b")
    assert {(row["element"], row["k"], row["column"]) for row in table.rows()} == {
        (8 * column + k, k, column) for column in range(2) for k in range(8)
    }
    assert (table.format, mmaproof("layout", "usmmla", "--operand", "b").status) == ("s8", 0)
    with pytest.raises(InputError, match="has no operand 'x'"):
        instruction_set.read("usmmla").layout("x")


@pytest.mark.parametrize("as_registers", [False, True])
def test_run(as_registers: bool) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 256, (5, 2, 8), dtype=np.uint8), rng.integers(-128, 128, (5, 8, 2), dtype=np.int8)
    c = rng.integers(-(2**31), 2**31, (5, 2, 2))
    arrays = {"a": a, "b": b, "c": c}
    if as_registers:
        columns, sums = np.ascontiguousarray(b.swapaxes(1, 2)), c.astype(np.int32)
        arrays = {name: np.ascontiguousarray(each).view(np.uint8).reshape(5, 1, -1).view(np.uint32)
                  for name, each in (("a", a), ("b", columns), ("c", sums))}  # fmt: skip
    d = instruction_set.read("usmmla").execute(
        arrays, as_registers=as_registers, rounding=None, choices=(), target=None
    )["d"]
    expected = (a.astype(np.int64) @ b.astype(np.int64) + c).astype(np.int32)
    assert np.array_equal(d.view(np.int32).reshape(5, 2, 2), expected)


def test_explain() -> None:
    assert "D[i,j] = " in mmaproof("explain", "ummla").out


def test_theorems() -> None:
    found = catalogue.theorems(("arm",))
    assert {"arm/layout/operand", "arm/blocked/any-k"} < {theorem.id for theorem in found}
    assert unexpected(found) == {}


def test_every_block_of_code_is_a_file_of_the_instruction_set() -> None:
    assert len(BLOCKS) == TEXT.count("```python") == 8
