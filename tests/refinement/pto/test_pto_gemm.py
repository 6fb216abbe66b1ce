"""PTO kernels against contracts: the shipped example, right and with faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings import Kind
from mmaproof.refinement.result import Equality
from mmaproof.refinement.verification import Verification, verify

EXAMPLE = Path(__file__).parents[3] / "examples" / "pto" / "gemm.pto"

CONTRACT = """
[kernel]
isa = "pto"

[[param]]
name = "C"
type = "f32"
shape = [64, 96]
access = "out"

[[param]]
name = "A"
type = "f16"
shape = [64, 512]

[[param]]
name = "B"
type = "f16"
shape = [512, 96]

[[param]]
name = "bias"
type = "f32"
shape = [96]

[[param]]
name = "has_bias"
type = "b1"
value = 1

[ensures]
formula = "C[i, j] = sum(k, A[i, k] * B[k, j]) + bias[j]"
"""


def verified(tmp_path: Path, text: str, contract: str = CONTRACT) -> Verification:
    kernel, file = tmp_path / "kernel.pto", tmp_path / "contract.toml"
    kernel.write_text(text, encoding="utf-8")
    file.write_text(contract, encoding="utf-8")
    return verify(kernel, file)


def test_the_example_is_verified(tmp_path: Path) -> None:
    found = verified(tmp_path, EXAMPLE.read_text(encoding="utf-8")).result
    assert (found.verdict, found.equality) == ("verified", Equality.VALUE)
    assert "513 to f32" in str(found.bound)


@pytest.mark.parametrize(
    ("dropped", "kind"),
    [("set_flag[<PIPE_MTE1>, <PIPE_M>", Kind.DEADLOCK), ("wait_flag[<PIPE_MTE1>, <PIPE_M>", Kind.RACE)],
)
def test_a_missing_half_of_a_flag_is_found(tmp_path: Path, dropped: str, kind: Kind) -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    found = verified(tmp_path, "\n".join(line for line in lines if dropped not in line)).result
    assert found.verdict == "refuted"
    assert found.findings[0].kind is kind
