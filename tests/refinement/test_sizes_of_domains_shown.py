"""At random sizes of the domains for which kernels are shown, the verdict without domains is the same.

``pytest -m sweep tests/refinement/test_sizes_of_domains_shown.py`` verifies 220 pairs of a kernel and a set
of sizes, each run the same; ``--sizes-seed N`` adds as many that N makes. The ends of domains are looked at
in `test_ends_of_domains`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import triton_contracts
from cuda_contracts import CORPUS, KERNELS, TILES, for_every_k
from quantified_kernels import SIMT, TRITON, of_triton, prove_blocks, prove_size, stated

from mmaproof.refinement.verification import verify

EACH, NEAR = 10, 24
"""Sets of sizes of each kernel, and how many steps they go beyond the first that is shown."""

BY_K = [name for name in KERNELS if KERNELS[name]["entry"] in TILES]
COMPILED = [
    "gemm_f16_f16_f16_32x64x32_s2_sm80.ptx",
    "gemm_f16_f32_f32_32x32x32_s1_sm80.ptx",
    "gemm_tf32_f32_f32_32x32x32_s2_sm80.ptx",
]


def at_sets(text: str, sets: Sequence[Mapping[str, int]]) -> str:
    """Return a contract at several sets of sizes in place of its domains."""
    stated_sizes = tomllib.loads(text)["sizes"]
    tables = ""
    for chosen in sets:
        numbers = {name: chosen.get(name, number) for name, number in stated_sizes.items()}
        lines = "".join(f"{name} = {json.dumps(number)}\n" for name, number in numbers.items())
        tables += f"[[sizes]]\n{lines}\n"
    return re.sub(r"(?m)^\[sizes\]\n(?:\w+ = .*\n)+", lambda _: tables, text)


def check(kernel: Path, text: str, sets: Sequence[Mapping[str, int]], folder: Path) -> None:
    """Check that a kernel is verified at sets of sizes."""
    path = folder / "contract.toml"
    path.write_text(at_sets(text, sets), encoding="utf-8")
    result = verify(kernel, path).result
    assert result.verdict == "verified", [str(finding) for finding in result.findings]
    assert len(result.stats["sizes"]) == len(sets)


def check_by_k(
    kernel: Path, text: str, folder: Path, seeds: Sequence[int], count: int = EACH, near: int = NEAR
) -> None:
    """Check random numbers of K from the first on that is shown by induction."""
    proof = prove_size(text, kernel)
    step, last = proof.domain.step, proof.domain.most
    numbers = np.arange(proof.first, min(proof.first + near * step, last) + 1, step)
    count = min(count, len(numbers))
    chosen = {
        number: None
        for seed in (5, *seeds)
        for number in np.random.default_rng(seed).choice(numbers, count, replace=False).tolist()
    }
    check(kernel, text, [{"K": number} for number in chosen], folder)


def test_sizes_of_one_domain_agree(tmp_path: Path, more_seeds: list[int]) -> None:
    check_by_k(SIMT, for_every_k("simt_f32"), tmp_path, more_seeds, 2, 2)


@pytest.mark.sweep
@pytest.mark.parametrize("name", BY_K)
def test_random_k_of_cuda_kernels_agree(name: str, tmp_path: Path, more_seeds: list[int]) -> None:
    check_by_k(CORPUS / name, for_every_k(KERNELS[name]["entry"]), tmp_path, more_seeds)


@pytest.mark.sweep
@pytest.mark.parametrize("name", COMPILED)
def test_random_k_of_triton_kernels_agree(name: str, tmp_path: Path, more_seeds: list[int]) -> None:
    step = triton_contracts.KERNELS[name]["tile"][2]
    text = triton_contracts.for_every_k(name, f"any multiple of {step}")
    check_by_k(triton_contracts.CORPUS / name, text, tmp_path, more_seeds)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("kernel", "ragged"),
    [(SIMT, False), (SIMT, True), (TRITON, False)],
    ids=["cuda, whole tiles", "cuda, parts of tiles", "triton, whole tiles"],
)
def test_random_grids_agree(kernel: Path, ragged: bool, tmp_path: Path, more_seeds: list[int]) -> None:
    steps = (1, 1) if ragged else (16, 16) if kernel == SIMT else (32, 64)
    domains = [f"any multiple of {step}" for step in steps]
    text = stated(SIMT, *domains, 32) if kernel == SIMT else of_triton(kernel.name, *domains, 32)
    shown = {domain.name: domain for domain in prove_blocks(kernel, text).domains}
    randoms = [np.random.default_rng(seed) for seed in (6, *more_seeds)]
    most = [
        min(160 if kernel == SIMT else 8 * step, shown[name].most)
        for name, step in zip("MN", steps, strict=True)
    ]
    sets = [
        {
            name: int(step * random.integers(1, end // step + 1))
            for name, step, end in zip("MN", steps, most, strict=True)
        }
        for random in randoms
        for _ in range(EACH)
    ]
    distinct = [each for place, each in enumerate(sets) if each not in sets[:place]]
    check(kernel, text, distinct, tmp_path)
