"""Faults planted at random, that show for some sizes or in some blocks only, are not claimed absent there.

``pytest -m sweep tests/refinement/test_planted_conditions.py`` plants some hundred.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from planted_conditions import ALWAYS, Condition, Fault, condition, fault, planted
from quantified_kernels import SIMT, TRITON, of_triton, prove_blocks, prove_size, stated

from mmaproof.refinement.ptx.any_size import residue_classes
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import UnsupportedError

MOST = 40000
SIZES = "MNK"


@dataclass(frozen=True)
class Subject:
    """A kernel in which faults are planted.

    Attributes
    ----------
    path : Path
        The kernel.
    parameters : mapping of str to str
        The kernel's parameter of each size.
    steps : mapping of str to int
        What sizes are multiples of.
    axes : mapping of str to str
        Sizes by the axis of the grid that counts their tiles.
    """

    path: Path
    parameters: Mapping[str, str]
    steps: Mapping[str, int]
    axes: Mapping[str, str]

    def contract(self, sizes: Mapping[str, str | int]) -> str:
        """Return the contract at sizes, of which some may be domains."""
        given = (sizes["M"], sizes["N"], sizes["K"])
        return of_triton(self.path.name, *given) if self.path == TRITON else stated(self.path, *given)

    def claimed(self, path: Path, every: str) -> tuple[int, Mapping[str, int]]:
        """Return from which K, and up to which sizes, a kernel is shown for all numbers of some."""
        domains = {size: f"any multiple of {self.steps[size]} up to {MOST}" for size in every}
        text = self.contract({**self.steps, "K": 2 * self.steps["K"], **domains})
        if every == "K":
            proof = prove_size(text, path)
            return proof.first, {"K": proof.domain.most}
        return 0, {domain.name: domain.most for domain in prove_blocks(path, text).domains}


CUDA = Subject(
    SIMT,
    {size: f"simt_f32_param_{place}" for place, size in enumerate(SIZES, 3)},
    dict.fromkeys(SIZES, 16),
    {"x": "N", "y": "M"},
)
COMPILED = Subject(
    TRITON,
    {size: f"gemm_param_{place}" for place, size in enumerate(SIZES, 3)},
    {"M": 32, "N": 64, "K": 32},
    {},
)


def check(subject: Subject, seed: int, folder: Path) -> None:
    """Plant a fault, and check that the kernel is not claimed right at sizes at which it shows."""
    random = np.random.default_rng(seed)
    text = subject.path.read_text(encoding="utf-8")
    every = str(random.choice(["K", "MN"]))
    axes = {axis: size for axis, size in subject.axes.items() if size in every}
    wrong, when = fault(random, text), condition(random, axes, tuple(every))
    ends = dict.fromkeys(SIZES, MOST)
    if when.example(subject.steps, ends, {}) is None:
        return
    path = folder / "planted.ptx"
    path.write_text(planted(text, wrong, when, subject.parameters), encoding="utf-8")
    try:
        first, most = subject.claimed(path, every)
    except UnsupportedError:
        return
    shows = when.example(subject.steps, ends, {"K": first} if first else {})
    if shows is None or any(shows[size] > last for size, last in most.items()):
        return  # numbers below the first are verified one by one
    # What is claimed is right only if the fault is none.
    path.write_text(planted(text, wrong, ALWAYS, subject.parameters), encoding="utf-8")
    contract = folder / "contract.toml"
    contract.write_text(subject.contract({size: 3 * step for size, step in subject.steps.items()}), "utf-8")
    assert verify(path, contract).result.verdict == "verified", (wrong, when.name, every, most)


@pytest.mark.parametrize("seed", [1, 4, 7])
def test_planted_faults_are_not_claimed_absent(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(residue_classes, "_SEARCH", 1)
    check(CUDA, seed, tmp_path)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(100, 110))
@pytest.mark.parametrize("subject", [CUDA, COMPILED], ids=lambda each: each.path.stem)
def test_many_planted_faults_are_not_claimed_absent(
    subject: Subject, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(residue_classes, "_SEARCH", 4)
    for each in range(12):
        check(subject, 1000 * seed + each, tmp_path)


@pytest.mark.parametrize(("depth", "verdict"), [(16, "verified"), (32, "refuted")])
def test_a_planted_fault_shows_where_its_condition_holds(depth: int, verdict: str, tmp_path: Path) -> None:
    text = SIMT.read_text(encoding="utf-8")
    line = next(place for place, each in enumerate(text.splitlines()) if "fma.rn.f32 \t%f67" in each)
    when = Condition("K is 32", "setp.eq.s32 %fault, {K}, 32;", lambda steps, ends, start: None)
    path, contract = tmp_path / "planted.ptx", tmp_path / "contract.toml"
    wrong = Fault(line, "mov.f32 %f67, 0f00000000;")
    path.write_text(planted(text, wrong, when, CUDA.parameters), encoding="utf-8")
    contract.write_text(CUDA.contract({"M": 16, "N": 16, "K": depth}), encoding="utf-8")
    assert verify(path, contract).result.verdict == verdict
