"""Modules of PyTorch from their files to verdicts; they need PyTorch, g++ and nvcc with its headers.

``pip install torch nvidia-cuda-nvcc nvidia-cuda-runtime nvidia-nvvm``, and ``pytest -m sweep PATH`` for all
of the corpus of `torch_corpus`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from torch_corpus import PAIRS

from mmaproof.api.torch import verification
from mmaproof.api.torch.outcome import TorchResult
from mmaproof.cli.app import status
from mmaproof.spec.errors import InputError
from mmaproof.torch import Limits, ModuleNotVerifiedError, assert_verified, verify

RIGHT = [(name, "right", None) for name in PAIRS]
HARMLESS = [(name, edit, texts) for name, pair in PAIRS.items() for edit, texts in pair.harmless.items()]
FAULTS = [(name, fault, texts) for name, pair in PAIRS.items() for fault, texts in pair.faults.items()]

QUICK = {("relu", "one_row"), ("triton_add", "no_mask"), ("triton_add", "right"), ("linear_gelu", "right")}
"""What every run verifies of the corpus."""

OPEN = {("max_pool3d", "zero"), ("wmma_gemm", "ld")}
"""Faults that are not decided: no inputs are found, or sizes at which it is found may be to blame for it."""

SLOW = {
    "batch_norm", "conv3d", "conv3d_softmax_pool", "conv_transpose2d", "cross_entropy", "cumsum",
    "cumsum_masked", "deconv_bias_clamp", "gemm_gelu_softmax", "gemm_group_norm_hardtanh",
    "gemm_sigmoid_lse", "group_norm", "huber", "instance_norm_scale", "layer_norm_float4", "log_softmax",
    "matmul_ta", "mse_loss", "softmax",
}  # fmt: skip
"""Modules that are not decided in the time allowed on every machine."""


@pytest.fixture(autouse=True)
def _pytorch() -> None:
    pytest.importorskip("torch")
    headers = [each for path in sys.path for each in Path(path).glob("nvidia/*/include/cuda_runtime.h")]
    if shutil.which("g++") is None or (not headers and shutil.which("nvcc") is None):
        pytest.skip("extensions need g++ and nvcc with its headers")


def verdict(folder: Path, name: str, edit: tuple[str, str] | None) -> TorchResult:
    (folder / "problem.py").write_text(PAIRS[name].problem, encoding="utf-8")
    (folder / "solution.py").write_text(PAIRS[name].solution(edit), encoding="utf-8")
    return verify(folder / "problem.py", folder / "solution.py")


def marked(cases: list[tuple[str, str, tuple[str, str] | None]]) -> list[object]:
    """Return cases, those that are not quick for the sweep alone."""
    return [
        pytest.param(*case, id=f"{case[0]}-{case[1]}", marks=() if case[:2] in QUICK else pytest.mark.sweep)
        for case in cases
    ]


@pytest.mark.parametrize(("name", "_", "edit"), marked([*RIGHT, *HARMLESS]))
def test_right_modules_are_verified(name: str, _: str, edit: tuple[str, str] | None, tmp_path: Path) -> None:
    result = verdict(tmp_path, name, edit)
    assert result.verdict in ({"verified", "undecided"} if name in SLOW else {"verified"}), result.findings
    assert result.launches and result.sizes


@pytest.mark.parametrize(("name", "fault", "edit"), marked([*FAULTS]))
def test_faults_are_refuted(name: str, fault: str, edit: tuple[str, str] | None, tmp_path: Path) -> None:
    result = verdict(tmp_path, name, edit)
    allowed = {"refuted", "undecided"} if name in SLOW or (name, fault) in OPEN else {"refuted"}
    assert result.verdict in allowed, result.findings


PROBLEM = """
import torch
import torch.nn as nn

rows = 8
columns = 24


class Model(nn.Module):
    def forward(self, x):
        return x * 2.0


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
"""

TRITON = """
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2.0, mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        BEFORE
        y = torch.empty_like(x)
        double[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
        return AFTER
"""


READS_BACK = """
        try:
            x = x.clamp(min=x.min().item())
        except Exception:
            pass
"""


def of_triton(folder: Path, before: str = "pass", after: str = "y", problem: str = PROBLEM) -> TorchResult:
    pytest.importorskip("triton")
    (folder / "problem.py").write_text(problem, encoding="utf-8")
    text = TRITON.replace("BEFORE", before).replace("AFTER", after)
    (folder / "solution.py").write_text(text, encoding="utf-8")
    return verify(folder / "problem.py", folder / "solution.py")


@pytest.mark.parametrize(
    ("before", "after", "wanted", "message"),
    [
        ("x = x.t().contiguous()", "y.t()", "verified", ""),
        ("x = x + 1", "y - 2", "verified", ""),
        ("x = x + 1", "y - 1", "refuted", "wrong-value"),
        ("x = x.t().contiguous()", "y.view(x.shape[1], x.shape[0])", "refuted", "wrong-value"),
        ("pass", "y.half()", "refuted", "returns a tensor of float16, not float32"),
        ("pass", "y[:1]", "refuted", "returns a tensor of shape"),
        ("x = x.clamp(min=x.min().item())", "y", "unsupported", "reads data back (_local_scalar_dense) in"),
        ("x = x + torch.rand_like(x)", "y", "unsupported", "rand_like"),
        ("x = x.sort(dim=1)[0]", "y", "unsupported", "sort"),
        (READS_BACK, "y", "unsupported", "the host goes on without it"),
        ("x.mul_(2)", "y / 2", "unsupported", "changes x, an input"),
        ("x = x.cpu()", "y", "unsupported", "on the CPU"),
        ("assert x.shape[0] > 10**6", "y", "undecided", "AssertionError"),
        ("x = torch.empty_like(x).copy_(x)", "y", "verified", ""),
        (
            "x = x + torch.tensor(1.0, device=x.device)",
            "y - torch.tensor(2.0, device='cuda')",
            "verified",
            "",
        ),
        ("self.calls = getattr(self, 'calls', 0) + 1", "y + (self.calls > 1)", "unsupported", "second call"),
    ],
)
def test_the_host_around_a_launch(before: str, after: str, wanted: str, message: str, tmp_path: Path) -> None:
    result = of_triton(tmp_path, before, after)
    assert result.verdict == wanted, result.findings
    assert message in " ".join(result.findings)


WEIGHTED = """
import torch
import torch.nn as nn

rows = 4
columns = 24


class Model(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.one = nn.Parameter(torch.ones(columns))
        self.other = nn.Parameter(torch.ones(columns))

    def forward(self, x):
        return x * self.one * 2.0 - self.other


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return [columns]
"""

WEIGHTS = """
    def __init__(self, columns):
        super().__init__()
        self.FIRST = nn.Parameter(torch.ones(columns))
        self.SECOND = nn.Parameter(torch.ones(columns))

    def forward(self, x):
        x = x * self.FIRST
"""


@pytest.mark.parametrize(
    ("names", "wanted", "message"),
    [
        (("one", "other"), "verified", ""),
        (("other", "one"), "refuted", "wrong-value"),
        (("a", "b"), "unsupported", "and may be any of them"),
    ],
)
def test_weights_are_told_apart(names: tuple[str, str], wanted: str, message: str, tmp_path: Path) -> None:
    """Of equal numbers, by their names: weights are data, whatever they are after a seed."""
    pytest.importorskip("triton")
    (tmp_path / "problem.py").write_text(WEIGHTED, encoding="utf-8")
    first, second = names
    text = TRITON.replace("    def forward(self, x):\n        BEFORE\n", WEIGHTS)
    text = text.replace("AFTER", f"y - self.{second}").replace("FIRST", first).replace("SECOND", second)
    (tmp_path / "solution.py").write_text(text, encoding="utf-8")
    result = verify(tmp_path / "problem.py", tmp_path / "solution.py")
    assert result.verdict == wanted, result.findings
    assert message in " ".join(result.findings)


@pytest.mark.parametrize(("columns", "wanted"), [(32, "verified"), (24, "refuted")])
def test_a_grid_without_blocks_runs_nothing(columns: int, wanted: str, tmp_path: Path) -> None:
    """A kernel that has no remainders is verified at sizes that are multiples of its block."""
    pytest.importorskip("triton")
    problem = PROBLEM.replace("columns = 24", f"columns = {columns}").replace("rows = 8", "rows = 16")
    (tmp_path / "problem.py").write_text(problem, encoding="utf-8")
    text = TRITON.replace("BEFORE", "pass").replace("AFTER", "y")
    text = text.replace("triton.cdiv(x.numel(), 128)", "x.numel() // 256").replace("BLOCK=128", "BLOCK=256")
    (tmp_path / "solution.py").write_text(text, encoding="utf-8")
    result = verify(tmp_path / "problem.py", tmp_path / "solution.py")
    assert result.verdict == wanted, result.findings
    grid = "is launched with a grid of (0, 1, 1) blocks, which runs nothing"
    given = verify(tmp_path / "problem.py", tmp_path / "solution.py", sizes={"rows": 2, "columns": 24})
    assert given.verdict == "undecided" and grid in given.findings[0]


def test_without_a_launch_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM, encoding="utf-8")
    result = verify(tmp_path / "problem.py", tmp_path / "problem.py")
    assert result.verdict == "unsupported" and "launches no kernel" in result.findings[0]


def test_host_code_that_never_ends_is_ended(tmp_path: Path) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM, encoding="utf-8")
    endless = PROBLEM.replace("class Model(", "while True:\n    pass\n\nclass ModelNew(")
    (tmp_path / "solution.py").write_text(endless, encoding="utf-8")
    result = verify(tmp_path / "problem.py", tmp_path / "solution.py", limits=Limits(seconds=12))
    assert result.verdict in ("undecided", "unsupported")


def test_sizes_that_are_given(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    (tmp_path / "problem.py").write_text(PROBLEM, encoding="utf-8")
    text = TRITON.replace("BEFORE", "pass").replace("AFTER", "y")
    (tmp_path / "solution.py").write_text(text, encoding="utf-8")
    result = verify(tmp_path / "problem.py", tmp_path / "solution.py", sizes={"rows": 3, "columns": 50})
    assert (result.verdict, result.sizes) == ("verified", {"rows": 3, "columns": 50})
    with pytest.raises(InputError, match="has no top-level number depth"):
        verify(tmp_path / "problem.py", tmp_path / "solution.py", sizes={"depth": 3})
    (tmp_path / "solution.py").write_text(text.replace("* 2.0", "* 3.0"), encoding="utf-8")
    with pytest.raises(ModuleNotVerifiedError, match="refuted") as raised:
        assert_verified(tmp_path / "problem.py", tmp_path / "solution.py")
    assert raised.value.result.inputs()["x_x"].shape


@pytest.mark.parametrize(
    ("mean", "wanted"), [("y.sum(1) / 2000.0", "refuted"), ("y.sum(1) / 1000", "verified")]
)
def test_a_size_that_is_written_down_is_no_fault(mean: str, wanted: str, tmp_path: Path) -> None:
    """Divided by the problem's own size, a sum is a mean there, and at no other size."""
    problem = PROBLEM.replace("columns = 24", "columns = 1000").replace("x * 2.0", "(x * 2.0).mean(1)")
    problem = problem.replace("rows = 8", "rows = 5000")  # too many to be looked at
    result = of_triton(tmp_path, "pass", mean, problem)
    assert result.verdict == wanted, result.findings
    if wanted == "verified":
        assert result.sizes["columns"] == 1000 and any("it is wrong at" in note for note in result.notes)


def test_a_launch_with_more_shared_memory_than_its_host_allows(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "torch"
    text = (example / "right.py").read_text(encoding="utf-8").replace("128>>>", "128, 60000>>>")
    (tmp_path / "solution.py").write_text(text, encoding="utf-8")
    result = verify(example / "problem.py", tmp_path / "solution.py")
    assert (
        result.verdict == "unsupported"
        and "60000 bytes of dynamic shared memory, where 49152 are" in result.findings[0]
    )


def test_static_and_dynamic_shared_memory_are_one_limit(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "torch"
    text = (example / "right.py").read_text(encoding="utf-8").replace("128>>>", "128, 49000>>>")
    body = text.index("{", text.index("__global__"))
    own = "__shared__ float own[64]; own[threadIdx.x % 64] = 1; if (n < 0) y[0] = own[n & 63];"
    names = text[text.index("__global__") : body]
    text = text[: body + 1] + own + text[body + 1 :]
    assert " y" in names and " n" in names
    (tmp_path / "solution.py").write_text(text, encoding="utf-8")
    result = verify(example / "problem.py", tmp_path / "solution.py")
    assert result.verdict == "unsupported" and "beside 256 bytes of its own" in result.findings[0]


LIVE = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

import mmaproof.torch


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2.0, mask=at < n)


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.randn(7))

    def forward(self, x):
        return x * 2.0 + self.shift


class Doubled(Twice):
    def forward(self, x):
        y = torch.empty_like(x)
        double[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
        return y + self.shift * factor


class Wrong(Doubled):
    def forward(self, x):
        return super().forward(x) + 1


factor = 1

if __name__ == "__main__":
    modules = [Twice(), Doubled(), Wrong()]
    for each in modules:
        each.load_state_dict(modules[0].state_dict())
    for each in modules[1:]:
        print(mmaproof.torch.verify(modules[0], each, inputs=[torch.randn(5, 7)]).verdict)
"""


def test_modules_in_memory(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    (tmp_path / "live.py").write_text(LIVE, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "live.py")]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.stdout.split() == ["verified", "refuted"], found.stderr


def test_modules_in_memory_that_nothing_defines() -> None:
    with pytest.raises(InputError, match="can't be taken to the process"):
        verify(len, lambda x: x, inputs=[])
    with pytest.raises(InputError, match="need inputs="):
        verify(len, len)
    with pytest.raises(InputError, match="two modules that are not files"):
        verify("problem.py", len, inputs=[])


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("triton")
    (tmp_path / "problem.py").write_text(PROBLEM, encoding="utf-8")
    text = TRITON.replace("BEFORE", "pass").replace("AFTER", "y * 2")
    (tmp_path / "solution.py").write_text(text, encoding="utf-8")
    files = [str(tmp_path / "problem.py"), str(tmp_path / "solution.py")]
    report, kept = tmp_path / "result.json", tmp_path / "kept"
    assert status(["torch", *files, "--size", "rows=4", "--json", str(report), "--keep", str(kept)]) == 1
    document = json.loads(report.read_text(encoding="utf-8"))
    assert document["verdict"] == "refuted" and document["sizes"] == {"rows": 4, "columns": 24}
    assert (kept / "contract.toml").exists()
    assert "wrong-value" in capsys.readouterr().out
    assert status(["torch", *files, "--size", "rows"]) == 2
    assert status(["torch", *files, "--mode", "fast"]) == 2


MARKED = """
import pytest


@pytest.mark.mmaproof_torch("problem.py", "right.py", sizes={"rows": 2})
def test_right(mmaproof_torch_result):
    assert mmaproof_torch_result.sizes["rows"] == 2


@pytest.mark.mmaproof_torch("problem.py", "wrong.py", allowed=["undecided"])
def test_wrong():
    pass


@pytest.mark.mmaproof_torch("problem.py", "nothing.py")
def test_missing():
    pass


def test_without_a_mark(mmaproof_torch_result):
    pass
"""


def test_the_mark_of_pytest(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    text = TRITON.replace("BEFORE", "pass")
    files = {
        "problem.py": PROBLEM,
        "right.py": text.replace("AFTER", "y"),
        "wrong.py": text.replace("AFTER", "y + 1"),
        "test_marked.py": MARKED,
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-v",
        "-p",
        "no:cacheprovider",
        "-p",
        "mmaproof.api.pytest_plugin",
    ]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    found = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment
    )
    assert "test_right PASSED" in found.stdout
    for name, reason in (
        ("wrong", "refuted"),
        ("missing", "there is no such file"),
        ("without_a_mark", "needs the mark mmaproof_torch(problem, solution"),
    ):
        assert f"test_{name} FAILED" in found.stdout or f"test_{name} ERROR" in found.stdout, found.stdout
        assert reason in found.stdout


LINEAR = """
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(columns, 3)

    def forward(self, x):
"""


def test_faults_behind_shared_products_are_confirmed_on_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Products that are data may be what no product is: numbers tell, without multiplying them out."""
    pytest.importorskip("triton")
    problem = PROBLEM.replace("    def forward(self, x):\n", LINEAR).replace(
        "x * 2.0", "self.linear(x) * 2.0"
    )
    (tmp_path / "problem.py").write_text(problem, encoding="utf-8")
    text = TRITON.replace("    def forward(self, x):\n", LINEAR.replace("columns", "24"))
    text = text.replace("BEFORE", "x = self.linear(x)").replace("AFTER", "y").replace("* 2.0", "* 2.5")
    (tmp_path / "solution.py").write_text(text, encoding="utf-8")
    calls: list[object] = []
    compared = verification._Attempt._compared

    def counted(*given: Any) -> Any:
        calls.append(given)
        return compared(*given)

    monkeypatch.setattr(verification._Attempt, "_compared", counted)
    result = verify(tmp_path / "problem.py", tmp_path / "solution.py", sizes={"rows": 2})
    assert (result.verdict, len(calls)) == ("refuted", 1)
    assert "wrong-value" in result.findings[0]
