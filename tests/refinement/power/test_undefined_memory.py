"""Bytes on the stack that nobody has written may be copied, and count where results depend on them."""

from __future__ import annotations

from pathlib import Path

import pytest
from power_kernels import messages, verified

from mmaproof.refinement.findings.finding import Kind

CONTRACT = """
[kernel]
isa = "power"
entry = "f"

[[param]]
name = "y"
type = "u32"
shape = [8]
access = "out"
{gaps}

[[param]]
name = "x"
type = "u32"
shape = [8]

[ensures]
formula = "y[i] = x[i]"
"""

COPY = "".join(f"\tlwz {5 + n},{4 * n}(4)\n\tstw {5 + n},{4 * n}(3)\n" for n in range(8))
"""Copies x to y."""
LINE = 4
"""Of the first instruction."""


def finding_lines(text: str, folder: Path, of: str) -> tuple[dict[Kind, set[int]], list[int], str]:
    path = folder / "kernel.s"
    path.write_text(f"\t.globl f\n\t.type f, @function\nf:\n{text}\tblr\n")
    found = verified(path, of)
    kinds: dict[Kind, set[int]] = {}
    for finding in found.result.findings:
        kinds.setdefault(finding.kind, set()).add(finding.line)
    notes = [note.line for note in found.result.notes if "no result depends on it" in note.message]
    return kinds, notes, f"{found.result.verdict}: {messages(found)}"


@pytest.mark.parametrize(
    "text",
    [
        "\tlxv 0,-32(1)\n",
        "\tlxv 0,-32(1)\n\tstxv 0,-64(1)\n",
        "\tld 9,-16(1)\n\tstd 9,-24(1)\n\tld 9,-24(1)\n",
        "\tlxv 0,-32(1)\n\txxpermdi 0,0,0,2\n\tstxv 0,-64(1)\n",
        "\tld 9,-16(1)\n\tli 10,0\n\tand 9,9,10\n\tldx 9,4,9\n",
        "\tld 9,0(3)\n\tstd 9,-24(1)\n",
        "\tlxv 0,-32(1)\n\txvaddsp 0,0,0\n\tstxv 0,-64(1)\n",
        "\tlxv 0,-32(1)\n\tlxv 1,-32(1)\n\tlxv 2,-32(1)\n\tlxv 3,-32(1)\n\txxmtacc 0\n\txvf32gerpp 0,34,35\n"
        "\txxmfacc 0\n",
    ],
)
def test_what_is_copied_and_dropped_is_a_note(text: str, tmp_path: Path) -> None:
    kinds, notes, told = finding_lines(text + COPY, tmp_path, CONTRACT.format(gaps=""))
    assert kinds == {} and told.startswith("verified"), told
    assert LINE in notes


STRUCTURE = "\tlwz 9,0(4)\n\tstw 9,-12(1)\n\tstb 9,-16(1)\n\tld 9,-16(1)\n"
"""A byte and a word with three bytes of padding between, loaded as a doubleword."""


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (STRUCTURE + "\tstd 9,-32(1)\n\tlwz 9,-28(1)\n", False),
        (STRUCTURE + "\trldicl 9,9,32,32\n", False),
        (STRUCTURE + "\tstd 9,-32(1)\n\tlwz 9,-32(1)\n", True),
        (STRUCTURE + "\trldicl 9,9,40,32\n", True),
    ],
)  # fmt: skip
def test_the_padding_of_a_structure_may_be_copied(text: str, whole: bool, tmp_path: Path) -> None:
    kinds, notes, told = finding_lines(f"{COPY}{text}\tstw 9,0(3)\n", tmp_path, CONTRACT.format(gaps=""))
    line = LINE + 16 + 3
    if whole:
        assert line in kinds[Kind.UNINITIALISED], told
    else:
        assert kinds == {} and told.startswith("verified"), told
        assert notes == [line]


@pytest.mark.parametrize(
    "text",
    [
        "\tld 9,-16(1)\n\tstw 9,0(3)\n",
        "\tld 9,-16(1)\n\tldx 9,4,9\n",
        "\tld 9,-16(1)\n\tcmpdi 9,0\n\tbeqlr\n",
        "\tld 9,-16(1)\n\tadd 10,3,9\n\tstw 9,0(10)\n",
        "\tlfs 0,-16(1)\n\tfsubs 0,0,0\n\tstfs 0,0(3)\n",
        "\tlxv 0,-32(1)\n\tstxv 0,-64(1)\n\tlwz 9,-64(1)\n\tstw 9,0(3)\n",
    ],
)
def test_what_reaches_an_output_an_address_or_a_branch_is_found(text: str, tmp_path: Path) -> None:
    kinds, _, told = finding_lines(COPY + text, tmp_path, CONTRACT.format(gaps=""))
    assert told.startswith("refuted"), told
    assert LINE + 16 in kinds[Kind.UNINITIALISED]


def test_a_load_over_the_end_of_an_array_is_out_of_bounds(tmp_path: Path) -> None:
    kinds, _, told = finding_lines(f"{COPY}\tli 9,24\n\tlxvx 0,4,9\n", tmp_path, CONTRACT.format(gaps=""))
    assert set(kinds) == {Kind.OUT_OF_BOUNDS}, told


@pytest.mark.parametrize(("used", "verdict"), [("", "verified"), ("\tstw 12,28(3)\n", "refuted")])
def test_a_load_over_rows_into_their_padding_is_a_note(used: str, verdict: str, tmp_path: Path) -> None:
    """As of packed panels, whose rows a vector register is longer than."""
    padded = CONTRACT.replace("shape = [8]\naccess", "shape = [2, 4]\nstrides = [6, 1]\naccess").replace(
        "y[i] = x[i]", "y[i, j] = x[4*i + j]"
    )
    copy = "".join(f"\tlwz 5,{4 * n}(4)\n\tstw 5,{4 * n + n // 4 * 8}(3)\n" for n in range(8))
    _, notes, told = finding_lines(f"\tlwz 12,16(3)\n{copy}{used}", tmp_path, padded.format(gaps=""))
    assert told.startswith(verdict), told
    assert notes == ([] if used else [LINE])
