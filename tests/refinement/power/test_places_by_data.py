"""Loads and stores of Power kernels at a place that one integer of few values tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from power_kernels import messages, verified

CONTRACT = """
[kernel]
isa = "power"

[[param]]
name = "y"
type = "f32"
shape = [4]
access = "inout"

[[param]]
name = "w"
type = "f32"
shape = [4]

[[param]]
name = "index"
type = "s32"
shape = [1]

[requires]
conditions = "0 <= index[i] < {}"

[ensures]
formula = "{}"
"""

HEAD = """
	.abiversion 2
	.text
	.globl f
	.type f,@function
f:
	lwa 6,0(5)
	sldi 6,6,2
"""
GATHER = HEAD + "\tlfsx 1,4,6\n\tstfs 1,0(3)\n\tblr\n"
SCATTER = HEAD + "\tlfs 1,0(4)\n\tstfsx 1,3,6\n\tblr\n"
GATHERED = "y[i] = where(i == 0, w[index[0]], old(y[i]))"
SCATTERED = "y[i] = where(i == index[0], w[0], old(y[i]))"


def verdict(tmp_path: Path, text: str, formula: str, below: int = 4) -> tuple[str, str]:
    kernel = tmp_path / "f.s"
    kernel.write_text(text)
    found = verified(kernel, CONTRACT.format(below, formula))
    return found.result.verdict, messages(found)


@pytest.mark.parametrize(("text", "formula"), [(GATHER, GATHERED), (SCATTER, SCATTERED)])
def test_elements_by_data_are_verified(tmp_path: Path, text: str, formula: str) -> None:
    found, said = verdict(tmp_path, text, formula)
    assert found == "verified", said


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        (GATHER.replace("lfsx 1,4,6", "lfs 1,4(4)"), GATHERED),
        (SCATTER.replace("lfs 1,0(4)", "lfs 1,4(4)"), SCATTERED),
        (SCATTER.replace("\tblr", "\tstfs 1,0(3)\n\tblr"), SCATTERED),
    ],
)
def test_other_elements_are_refuted(tmp_path: Path, text: str, formula: str) -> None:
    assert verdict(tmp_path, text, formula)[0] == "refuted"


@pytest.mark.parametrize(("text", "formula"), [(GATHER, GATHERED), (SCATTER, SCATTERED)])
def test_a_place_outside_that_data_may_lead_to_is_found(tmp_path: Path, text: str, formula: str) -> None:
    found, said = verdict(tmp_path, text, formula.replace("index[0]", "min(index[0], 3)"), below=5)
    assert found == "refuted", said
    assert "has 0x10 bytes" in said


def test_no_place_that_conditions_exclude_refutes(tmp_path: Path) -> None:
    kernel = tmp_path / "f.s"
    kernel.write_text(GATHER)
    text = CONTRACT.format(5, GATHERED.replace("index[0]", "min(index[0], 3)"))
    found = verified(kernel, text.replace("index[i] < 5", "index[i] < 5 and index[i] != 4"))
    assert found.result.verdict != "refuted", messages(found)


def test_more_places_than_are_looked_at_are_unsupported(tmp_path: Path) -> None:
    found, said = verdict(tmp_path, GATHER, GATHERED.replace("index[0]", "min(index[0], 3)"), below=1000)
    assert found == "unsupported", said
    assert "an address depends on data" in said
