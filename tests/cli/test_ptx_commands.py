"""``legal``, ``tables``, ``explain``, ``list`` and ``run`` on PTX."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import mmaproof
from document_schemas import validate

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def test_legality_depends_on_target_and_version() -> None:
    statuses = [
        mmaproof("legal", MMA, "--target", target, *version).status
        for target, version in (("sm_80", ()), ("sm_75", ()), ("sm_80", ("--ptx", "6.5")))
    ]
    assert statuses == [0, 1, 1]


def test_lines_of_several_instruction_sets_are_answered() -> None:
    lines = "\n".join(
        [MMA, "xvf32ger", json.dumps({"instr": MMA, "target": "sm_75", "ptx": "8.0"}), "mma.what"]
    )
    result = mmaproof("legal", "-", stdin=lines)
    answers = [json.loads(line) for line in result.out.splitlines()]
    for answer in answers:
        validate("legal", answer)
    assert [(a["target"], a["legal"]) for a in answers] == [
        ("sm_120a", True), ("power10", True), ("sm_75", False), ("", False),
    ]  # fmt: skip


@pytest.mark.parametrize("table", [(), ("--rules",), ("--contradictions",)])
def test_tables_have_rows(table: tuple[str, ...]) -> None:
    document = json.loads(mmaproof("tables", "ptx", *table, "--format", "json").out)
    validate("tables", document)
    assert len(document["rows"]) > 20


def test_explain_says_what_is_computed() -> None:
    assert "sum(A[i,k]·B[k,j], k = 0..15)" in mmaproof("explain", MMA).out


def test_run_multiplies_matrices_as_an_architecture_does(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    a, b = random.integers(-8, 8, (3, 16, 16)), random.integers(-8, 8, (3, 16, 8))
    c = random.integers(-8, 8, (16, 8))
    np.savez(tmp_path / "in.npz", a=a, b=b, c=c)
    for choice in ((), ("--choice", "hopper"), ("--choice", "ampere")):
        result = mmaproof("run", MMA, str(tmp_path / "in.npz"), "--out", str(tmp_path / "out.npz"), *choice)
        assert (result.status, result.err) == (0, "")
        assert np.array_equal(np.load(tmp_path / "out.npz")["d"], a @ b + c)


def test_float32_arrays_are_tf32_operands(tmp_path: Path) -> None:
    instruction = "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32"
    a, b, c = (np.ones(shape, dtype=np.float32) for shape in ((16, 4), (4, 8), (16, 8)))
    np.savez(tmp_path / "in.npz", a=a, b=b, c=c)
    result = mmaproof("run", instruction, str(tmp_path / "in.npz"), "--out", str(tmp_path / "out.npz"))
    assert (result.status, result.err) == (0, "")
    assert (np.load(tmp_path / "out.npz")["d"] == 5).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--choice", "unspecified"), "no value to compute"),
        (("--choice", "volta"), "has no matrix unit"),
        (("--rounding", "upward"), "as a modifier"),
        (("--choice", "fermi"), "unknown choice"),
    ],
)
def test_bad_choices_are_one_line_and_status_2(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    np.savez(tmp_path / "in.npz", a=np.ones((16, 16)), b=np.ones((16, 8)), c=np.ones((16, 8)))
    result = mmaproof("run", MMA, str(tmp_path / "in.npz"), "--out", str(tmp_path / "out.npz"), *options)
    assert result.status == 2
    assert message in result.err
    assert not (tmp_path / "out.npz").exists()
