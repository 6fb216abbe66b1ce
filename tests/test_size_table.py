"""The table of what is shown for every size is about the corpora's kernels, and says what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from size_table import HEADING, questions, row

WRITTEN = Path(__file__).parents[1] / "docs" / "kernels-of-every-size.md"
TOLD = "write it: python tests/size_table.py > docs/kernels-of-every-size.md"


def written() -> list[str]:
    text = WRITTEN.read_text(encoding="utf-8")
    assert text.startswith(HEADING), TOLD
    return text.removeprefix(HEADING).splitlines(keepends=True)


def test_the_table_has_a_line_for_each_kernel() -> None:
    kernels = [line.split("|")[1].strip() for line in written()]
    assert kernels == [question.kernel for question in questions()], TOLD


@pytest.mark.parametrize(
    "kernel",
    [
        pytest.param("shuffled_gemv_f32_sm80.ptx", marks=pytest.mark.sweep),
        "split_k_f16_sm80.ptx",
        "split_k_tickets_f32_sm80.ptx",
        pytest.param("gemm_f16_f32_f32_32x32x32_s1_ragged_sm80.ptx", marks=pytest.mark.sweep),
        pytest.param("mma_sparse_f16_sm80.ptx", marks=pytest.mark.sweep),
        pytest.param("simt_f32_sm80.ptx", marks=pytest.mark.sweep),
        pytest.param("triton_warpgroup/by_maps.ptx", marks=pytest.mark.sweep),
        pytest.param("triton_tensor_memory/by_roles.ptx", marks=pytest.mark.sweep),
        pytest.param("gemm_f16_f32_f32_32x32x32_s1_sm80.ptx", marks=pytest.mark.sweep),
    ],
)
def test_a_line_says_what_is_shown(kernel: str) -> None:
    (question,) = (each for each in questions() if each.kernel == kernel)
    assert row(question) in written(), TOLD
