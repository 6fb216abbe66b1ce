"""Triton's block-scaled, dequantising and tf32x3 products are verified, and refuted with a fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from frozen_table import cheapest, frozen
from scaled_triton_contracts import CORPUS, KERNELS, contract

from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.verification import verify


def result_of(kernel: str, text: str, folder: Path) -> Result:
    (folder / "kernel.ptx").write_text(text, encoding="utf-8")
    (folder / "contract.toml").write_text(contract(KERNELS[kernel]), encoding="utf-8")
    return verify(folder / "kernel.ptx", folder / "contract.toml").result


def test_the_frozen_verdicts_are_those_of_the_sources() -> None:
    """``tests/tools/test_frozen_verdicts.py`` verifies the kernels."""
    for name in KERNELS:
        verdict, _, findings = frozen("Triton scaled", name)
        assert (verdict, findings) == ("verified", ()), name


FAULTS = {
    "mxfp8_32x32x64_sm120.ptx": ("{ 0, 0 }, ", "{ 1, 0 }, "),
    "mxfp4_32x32x64_sm120.ptx": ("scale_vec::2X", "scale_vec::1X"),
    "nvfp4_32x32x64_sm120.ptx": (".ue4m3 ", ".ue8m0 "),
    "w4a16_32x32x64_sm80.ptx": (", -8;", ", -7;"),
    "tf32x3_32x32x32_sm80.ptx": ("sub.f32", "add.f32"),
}
"""What stands in a kernel, everywhere, and what does not belong there."""


@pytest.mark.parametrize("kernel", cheapest("Triton scaled", FAULTS))
def test_a_faulty_kernel_is_not_verified(kernel: str, tmp_path: Path) -> None:
    right, wrong = FAULTS[kernel]
    text = (CORPUS / kernel).read_text(encoding="utf-8")
    assert right in text
    assert result_of(kernel, text.replace(right, wrong), tmp_path).verdict == "refuted"
