"""MFMA on the command line: every command knows the fourth instruction set."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import mmaproof
from document_schemas import validate

from mmaproof.spec.mfma.catalogue import ROWS

LINE = "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]"


def test_legal() -> None:
    assert mmaproof("legal", LINE).out == f"legal on gfx942: {LINE}\n"
    result = mmaproof("legal", LINE, "--target", "gfx90a", "--json")
    answer = json.loads(result.out)
    validate("legal", answer)
    assert (result.status, [v["rule"] for v in answer["violations"]]) == (1, ["target"])
    lines = mmaproof("legal", "-", stdin=f"{LINE}\nxvf32ger a0, vs34, vs35\n").out.splitlines()
    assert [json.loads(line)["target"] for line in lines] == ["gfx942", "power10"]


@pytest.mark.parametrize("text", ["v_smfmac_f32_16x16x32_f16", "v_mfma_f32_16x16x128_f8f6f4"])
def test_what_is_not_modelled_is_status_3(text: str) -> None:
    result = mmaproof("legal", text)
    assert result.status == 3 and "known, but not modelled" in result.err


def test_layout_against_another_notation() -> None:
    linear = mmaproof("layout", LINE, "--operand", "c", "--format", "linear")
    assert linear.status == 0
    assert mmaproof("layout", LINE, "--operand", "c", "--against", linear.out).status == 0
    other = mmaproof("layout", "v_mfma_f32_32x32x8_f16", "--operand", "d", "--lane", "37", "--format", "csv")
    rows = other.out.splitlines()
    assert rows[0] == "lane,element,register,bit,row,column" and rows[1] == "37,0,0,0,4,5" and len(rows) == 17


@pytest.mark.parametrize("table", ["--rules", "--contradictions", "--format=csv"])
def test_tables(table: str) -> None:
    assert mmaproof("tables", "mfma", table).status == 0
    document = json.loads(mmaproof("tables", "mfma", "--format", "json").out)
    validate("tables", document)
    assert [row["mnemonic"] for row in document["rows"]] == [row.name for row in ROWS]


def test_run(tmp_path: Path) -> None:
    given, result = tmp_path / "in.npz", tmp_path / "out.npz"
    np.savez(given, a=np.ones((4, 32, 8)), b=np.ones((4, 8, 32)), c=np.zeros((4, 32, 32)))
    assert mmaproof("run", LINE, given, "--out", result).status == 0
    assert (np.load(result)["d"] == 8).all()
    assert mmaproof("run", LINE, given, "--out", result, "--rounding", "upward").wrong_use


def test_theorems_are_listed_with_the_instruction() -> None:
    assert "mfma/blocked/step" in mmaproof("list", "mfma").out
    assert mmaproof("explain", "mfma/layout/printed").status == 0
