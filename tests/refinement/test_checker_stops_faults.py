"""Faulty kernels while the equality engine answers "equal" always: the checker alone has to stop them."""

from __future__ import annotations

from pathlib import Path

import contract_corpora
import pytest
from forced_equality import equality_forced
from operator_kernels import CORPUS, KERNELS, contract_of

from mmaproof.refinement.checker.evaluated import ObjectionError
from mmaproof.refinement.examine.trials import DisagreementError
from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.verification import verify

SAMPLE = (
    "softmax_f32_fault_maximum_of_each_warp_alone.ptx",
    "awq_f16_fault_order_of_memory.ptx",
    "gemm_relu_f16_fault_bias_scaled.ptx",
    "layer_norm_f32_fault_variance_not_centred.ptx",
    "moe_f16_fault_slot_for_token.ptx",
    "rms_norm_f16_fault_one_of_a_pair_squared.ptx",
    "row_scales_f32_fault_scale_of_128.ptx",
    "swiglu_f16_fault_halves_exchanged.ptx",
    "ternary_s8_fault_shift_of_the_third.ptx",
)
FAULTS = [each for each in contract_corpora.kernels() if each.verdict == "refuted"]


def stopped(kernel: Path, contract: Path) -> str:
    """Return who stops a faulty kernel, or what the verdict names as not evaluated."""
    with equality_forced():
        try:
            result = verify(kernel, contract).result
        except (DisagreementError, ObjectionError) as objection:
            told = str(objection)
            return "checker" if "evaluated again" in told or "evaluate to" in told else "runs"
    if result.verdict is not Verdict.VERIFIED:
        return "findings"
    return "named" if result.stats["checker"]["open"] else "nobody"


@pytest.mark.sample(3)
@pytest.mark.parametrize("file", SAMPLE)
def test_the_checker_stops_a_fault(file: str) -> None:
    assert KERNELS[file]["fault"]
    assert stopped(CORPUS / file, contract_of(file)) == "checker"


@pytest.mark.sweep
@pytest.mark.parametrize("known", FAULTS, ids=lambda known: f"{known.corpus} {known.name}")
def test_no_fault_of_a_corpus_passes(known: contract_corpora.Known, tmp_path: Path) -> None:
    kernel = known.place(tmp_path)
    contract = tmp_path / "contract.toml"
    contract.write_text(known.contract, encoding="utf-8")
    assert stopped(kernel, contract) in ("checker", "findings", "named", "runs")
