"""No verdict without a run: what is shown to be right and differs on numbers is a defect of mmaproof."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import mmaproof
from triton_contracts import CORPUS, KERNELS, contract

from mmaproof.refinement.equality.equivalence import Comparison
from mmaproof.refinement.examine import output_comparison
from mmaproof.refinement.examine.trials import DisagreementError

from ..elementwise_kernels import result_of

SHORT = "gemm_f16_f32_f32_32x32x32_s2_ragged_sm80_fault_k_loop_short.ptx"
HALVED = "gemm_f16_f32_f32_32x32x32_s2_bias_sm80_fault_bias_axis.ptx"

FAULTS = {
    "lost thread": ("xor.b32 %C, %A, 0x80000000;", "A[i] + 2147483647", "s32"),
    "last bit": ("add.f32 %C, %A, 0f34000000;", "A[i]", "f32"),
    "sign of zero": ("add.f32 %C, %A, 0f00000000;", "A[i]", "f32"),
    "half": ("mul.f32 %C, %A, 0f3F000000;", "A[i]", "f32"),
    "one thread": ("setp.eq.u32 %p0, %t, 17; @%p0 neg.f32 %A, %A; mov.b32 %C, %A;", "A[i]", "f32"),
}


@pytest.fixture
def believing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the comparison of terms believe everything."""
    compare = output_comparison.compare_unrefuted

    def believe(*given: Any, **options: Any) -> tuple[Comparison, Any]:
        found, some = compare(*given, **options)
        everywhere = np.ones(len(found.equal), dtype=bool)
        return replace(found, identical=everywhere, equal=everywhere), some

    monkeypatch.setattr(output_comparison, "compare_unrefuted", believe)


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.usefixtures("believing")
def test_what_is_wrong_on_numbers_is_never_verified(name: str) -> None:
    body, right, kind = FAULTS[name]
    with pytest.raises(DisagreementError, match=r"C\[\d+\] is .*, not .*"):
        result_of(body, f"C[i] = {right}", {"A": kind, "C": f"{kind} out"})


@pytest.mark.parametrize("name", [SHORT, HALVED])
@pytest.mark.usefixtures("believing")
def test_a_disagreement_is_a_defect_with_inputs_that_replay(name: str, tmp_path: Path) -> None:
    against = tmp_path / "gemm.toml"
    against.write_text(contract(KERNELS[name]), encoding="utf-8")
    result = mmaproof("verify", CORPUS / name, "--contract", against, "--counterexamples", tmp_path)
    assert result.status == 4
    (saved,) = tmp_path.glob("*.json")
    assert str(saved) in result.err
    assert json.loads(saved.read_text(encoding="utf-8"))["difference"]["output"].startswith("C[")
    assert mmaproof("replay", saved).status == 1


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64", "s32", "u32"])
def test_every_verified_kernel_has_run(kind: str) -> None:
    width = int("".join(filter(str.isdigit, kind)))
    result = result_of(f"mov.b{width} %C, %A;", "C[i] = A[i]", {"A": kind, "C": f"{kind} out"})
    assert (result.verdict, result.equality) == ("verified", "bits")
    runs = result.stats["runs"]
    assert runs["inputs"] > 4 and runs["elements"] >= 5 * 32 and runs["unjudged"] == 0


def test_numbers_that_are_none_are_no_disagreement() -> None:
    result = result_of(
        "rcp.rn.f32 %f0, %A; mul.f32 %C, %f0, %B;",
        "C[i] = B[i] * rcp(A[i])",
        {"A": "f32", "B": "f32", "C": "f32 out"},
    )
    assert result.verdict == "verified"
