"""Faults that a module shows at its problem's own sizes alone; they need PyTorch, g++ and nvcc."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from mmaproof.api.torch.recording import NotRecordedError
from mmaproof.torch import Limits, verify


@pytest.fixture(autouse=True)
def _pytorch() -> None:
    pytest.importorskip("torch")
    headers = [each for path in sys.path for each in Path(path).glob("nvidia/*/include/cuda_runtime.h")]
    if shutil.which("g++") is None or (not headers and shutil.which("nvcc") is None):
        pytest.skip("extensions need g++ and nvcc with its headers")


PROBLEM = """
import torch
import torch.nn as nn

batch_size = ROWS
dim = COLUMNS


class Model(nn.Module):
    def forward(self, x):
        return FORMULA


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
"""

SOLUTION = '''
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
__global__ void k(const float* x, float* y, int rows, int n) {
KERNEL
}
torch::Tensor run(torch::Tensor x) {
    auto y = OUTPUT;
    int rows = x.size(0), n = x.size(1);
    k<<<LAUNCH>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows, n);
    return y;
}
"""
head = "torch::Tensor run(torch::Tensor x);"
extension = load_inline(name="own", cpp_sources=head, cuda_sources=SOURCE, functions=["run"])


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.run(x)
'''

RELU = "torch.relu(x) * 2", "torch::empty_like(x)"
SUM = "x.sum(dim=1, keepdim=True)", "torch::empty({x.size(0), 1}, x.options())"

ROW = """
    __shared__ float row[1024];
    for (int i = threadIdx.x; i < n; i += blockDim.x) row[i] = fmaxf(x[blockIdx.x * n + i], 0.f);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = 2.f * row[i];
"""
FLAT = """
    int t = blockIdx.x * blockDim.x + threadIdx.x, r = t / n, c = t % n;
    if (r < rows) y[r * n + c] = 2.f * fmaxf(x[r * n + c], 0.f);
"""
LOOP = """
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0;
    for (int i = 0; i < n; i++) s += x[r * n + i];
    y[r] = s;
"""
TREE = """
    __shared__ float s[1024];
    s[threadIdx.x] = x[blockIdx.x * n + threadIdx.x];
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = s[0];
"""
ALL = """
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * n; i += gridDim.x * blockDim.x) s += x[i];
    for (int h = 16; h > 0; h /= 2) s += __shfl_xor_sync(~0u, s, h);
    if (threadIdx.x % 32 == 0) atomicAdd(y, s);
"""
RIGHT = {
    "row": (16, 1024, RELU, ROW, "rows, 32"),
    "flat": (4096, 16384, RELU, FLAT, "(rows * n + 255) / 256, 256"),
    "loop": (16, 4096, SUM, LOOP, "(rows + 31) / 32, 32"),
    "tree": (16, 1024, SUM, TREE, "rows, n"),
    "tall": (8192, 64, RELU, ROW, "rows, 32"),
    "tallest": (70_000, 32, RELU, ROW, "rows, 32"),
    "all": (8192, 4096, ("x.sum()", "torch::zeros({}, x.options())"), ALL, "(rows * n + 255) / 256, 256"),
}
"""Rows, columns, the formula with the output, the kernel, and how it is launched."""

FAULTS = {
    "row": [("row[1024]", "row[48]", "out-of-bounds: 4 bytes at byte 192 of")],
    "flat": [("y[r * n + c] =", "y[(r * n * 64 + c * 64) / 64] =", "out-of-bounds")],
    "loop": [
        ("i < n", "i < min(n, 2048)", "wrong-value"),
        ("x[r * n + i]", "x[r * n + (unsigned char)(i / 8) * 8 + i % 8]", "wrong-value"),
    ],
    "tree": [("+ h];\n        __syncthreads();", "+ h];\n        __syncwarp();", "race")],
    "tall": [("<<<rows,", "<<<min(rows, 4096),", "missing-output: result 0 is unwritten at [4096, 0]")],
    "all": [("i < rows * n;", "i < min(rows * n, 40000);", "wrong-value: result 0 at []")],
    "tallest": [
        ("<<<rows,", "<<<dim3(1, rows),", "the grid has 70000 along y; at most 65535"),
    ],
}
"""Edits, and what they lead to; blocks of the last one are numbered along y."""

EVERY = [(name, *edit) for name, edits in FAULTS.items() for edit in edits]


def written(folder: Path, name: str, text: str = "", becomes: str = "") -> tuple[Path, Path]:
    rows, columns, (formula, output), kernel, launch = RIGHT[name]
    problem = PROBLEM.replace("ROWS", str(rows)).replace("COLUMNS", str(columns)).replace("FORMULA", formula)
    solution = SOLUTION.replace("KERNEL", kernel).replace("OUTPUT", output).replace("LAUNCH", launch)
    if text:
        assert solution.count(text) == 1
        solution = solution.replace(text, becomes)
    if name == "tallest" and text:
        solution = solution.replace("blockIdx.x", "blockIdx.y")
    (folder / "problem.py").write_text(problem, encoding="utf-8")
    (folder / "solution.py").write_text(solution, encoding="utf-8")
    return folder / "problem.py", folder / "solution.py"


@pytest.mark.parametrize(
    "name", [n if n == "row" else pytest.param(n, marks=pytest.mark.sweep) for n in RIGHT]
)
def test_right_modules_stay_verified(name: str, tmp_path: Path) -> None:
    result = verify(*written(tmp_path, name))
    assert result.verdict == "verified", result.findings
    assert result.own_run is not None and result.own_run.shows, result.own_run
    assert result.own_run.claim in result.claim and not result.own_sizes
    assert result.document()["own_run"]["compared"] == result.own_run.compared


@pytest.mark.parametrize(
    ("name", "text", "becomes", "message"),
    [each if each[0] == "row" else pytest.param(*each, marks=pytest.mark.sweep) for each in EVERY],
)
def test_faults_at_the_own_sizes_are_refuted(
    name: str, text: str, becomes: str, message: str, tmp_path: Path
) -> None:
    result = verify(*written(tmp_path, name, text, becomes))
    assert result.verdict == "refuted"
    assert result.own_sizes == (name != "all")  # of which the batch is smaller
    assert any(message in finding for finding in result.findings), result.findings
    assert result.own_run is not None and "on numbers at these sizes" in result.claim


@pytest.mark.sweep
def test_without_time_nothing_is_run(tmp_path: Path) -> None:
    result = verify(*written(tmp_path, "row", "row[1024]", "row[48]"), limits=Limits(own=0))
    assert result.verdict == "verified" and result.own_run is None


MIB, BILLION = 1 << 20, 10**9


@pytest.mark.parametrize(
    ("costs", "place"),
    [
        ([(100 * MIB, BILLION)], 0),
        ([(4096 * MIB, 8 * BILLION), (2048 * MIB, 4 * BILLION), (60 * MIB, BILLION), (MIB, 1)], 2),
        ([(300 * MIB, 40 * BILLION), (290 * MIB, 2 * BILLION), (285 * MIB, BILLION)], 1),  # weights
        ([(300 * MIB, 40 * BILLION), RuntimeError("these do not broadcast")], 0),
        ([(400 * MIB, 90 * BILLION), (300 * MIB, 80 * BILLION), ValueError("one value")], 1),
        ([(80 * MIB, 8 * BILLION), (40 * MIB, 4 * BILLION), (20 * MIB, 2 * BILLION)], 1),  # a batch of two
        ([(900 * MIB, 8 * BILLION), (600 * MIB, 4 * BILLION), (300 * MIB, 2 * BILLION)], 2),
    ],
)
def test_the_batch_is_as_large_as_is_quick(
    costs: list[tuple[int, int] | Exception], place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_reference = pytest.importorskip("mmaproof.api.torch.own_reference", exc_type=ImportError)

    def cost(made: tuple[int, int] | Exception) -> tuple[int, int]:
        if isinstance(made, Exception):
            raise made
        return made

    monkeypatch.setattr(own_reference, "cost", cost)
    assert own_reference.affordable(costs)[0] == place


def test_what_no_batch_makes_affordable_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    own_reference = pytest.importorskip("mmaproof.api.torch.own_reference", exc_type=ImportError)
    monkeypatch.setattr(own_reference, "cost", lambda made: made)
    with pytest.raises(NotRecordedError, match="takes 8,192 MiB and 4 billion operations"):
        own_reference.affordable([(8192 * MIB, 4 * BILLION), (8000 * MIB, BILLION)])


def test_large_weights_are_drawn_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """And alike by both modules, so that they are told apart as others are."""
    torch = pytest.importorskip("torch")
    own_reference = pytest.importorskip("mmaproof.api.torch.own_reference", exc_type=ImportError)
    monkeypatch.setattr(own_reference, "LARGE", 8)

    def made() -> tuple[object, ...]:
        torch.manual_seed(3)
        with own_reference.quickly_drawn():
            return tuple(torch.nn.Linear(3, 4).state_dict().values())

    (weight, bias), (again, bias_again) = made(), made()
    assert torch.equal(weight, again) and torch.equal(bias, bias_again)
    assert len(weight.unique()) == 1 and len(bias.unique()) == 4
