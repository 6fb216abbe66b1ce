"""What host code of Triton's kernels does beside launches: trials of configurations, warm-ups, questions.

``pytest -m sweep PATH``; see `test_torch_modules` for what they need.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.torch import verify

from .test_torch_modules import PROBLEM, _pytorch, of_triton

__all__ = ["_pytorch"]

pytestmark = pytest.mark.sweep

ON_DEVICE = """
        with torch.cuda.device(x.device):
            torch.cuda.set_device(0)
            count = triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"]
        assert count > 1
"""

ADDED = """
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"]RESET)
@triton.jit
def doubled(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    STORED(y + at, tl.load(x + at, mask=at < n) * 2.0, mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.zeros_like(x)
        doubled[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
        return y
"""


@pytest.mark.parametrize(
    ("before", "wanted", "message"),
    [
        (ON_DEVICE, "verified", ""),
        ("double.warmup(x, x, x.numel(), BLOCK=128, grid=(1,))", "unsupported", "warmup of double"),
        ("torch.cuda.Stream()", "unsupported", "torch.cuda.Stream is not recorded"),
    ],
)
def test_what_host_code_asks(before: str, wanted: str, message: str, tmp_path: Path) -> None:
    result = of_triton(tmp_path, before)
    assert result.verdict == wanted, result.findings
    assert message in " ".join(result.findings)


@pytest.mark.parametrize(
    ("stored", "reset", "wanted"),
    [
        ("tl.store", "", "verified"),
        ("tl.atomic_add", "", "refuted"),
        ("tl.atomic_add", ', reset_to_zero=["y"]', "verified"),
    ],
)
def test_trials_of_configurations_leave_what_they_add(
    stored: str, reset: str, wanted: str, tmp_path: Path
) -> None:
    pytest.importorskip("triton")
    (tmp_path / "problem.py").write_text(PROBLEM, encoding="utf-8")
    text = ADDED.replace("STORED", stored).replace("RESET", reset)
    (tmp_path / "solution.py").write_text(text, encoding="utf-8")
    result = verify(tmp_path / "problem.py", tmp_path / "solution.py")
    assert result.verdict == wanted, result.findings


def test_larger_sizes_are_tried_where_a_candidate_asks_for_multiples(tmp_path: Path) -> None:
    problem = PROBLEM.replace("rows = 8", "rows = 1024").replace("columns = 24", "columns = 4096")
    result = of_triton(tmp_path, "assert x.shape[0] % 64 == x.shape[1] % 64 == 0", problem=problem)
    assert result.verdict == "verified" and not result.own_sizes, result.findings
    assert result.sizes["rows"] == 64
