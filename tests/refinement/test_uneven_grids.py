"""Grids that leave out tiles, or have too many blocks, at some sizes of a domain are findings at these."""

from __future__ import annotations

from pathlib import Path

import pytest
from overflowing_kernels import CONTRACT, KERNEL

from mmaproof.refinement.contract_reading import parse_contract
from mmaproof.refinement.uneven_grids import uneven
from mmaproof.refinement.verification import verify

GRIDS = {
    "n // 64 - n // 4096": 4096,
    "min(n // 64, 37)": 38 * 64,
    "n // 64 + n // 2048": 2048,
    "(n - n // 1024) // 64": 1024,
    "n // 64 - (n + 64) // 3008 % 2": 2944,
}


@pytest.mark.parametrize("grid", GRIDS)
def test_where_a_grid_does_not_cover_its_output_is_a_finding(grid: str, tmp_path: Path) -> None:
    (tmp_path / "doubled.ptx").write_text(KERNEL, encoding="utf-8")
    text = CONTRACT.replace("END", " up to 100000").replace('"n // 64"', f'"{grid}"')
    (tmp_path / "doubled.toml").write_text(text, encoding="utf-8")
    found = verify(tmp_path / "doubled.ptx", tmp_path / "doubled.toml")
    assert found.result.verdict == "refuted"
    assert dict(found.examinations[-1][0].sizes) == {"n": GRIDS[grid]}
    assert all(each.message.endswith(f"; at n = {GRIDS[grid]}") for each in found.result.findings)


TWO = {
    ("M // 8", "N // 16"): [],
    ("(M // 8) * (N // 16)", 1): [],
    ("(M // 8) * (N // 16) - (M // 512) * (N // 256)", 1): [{"M": 512, "N": 256}],
    ("(M // 8) * (N // 16) + M // 4096", 1): [{"M": 4096, "N": 16}, {"M": 4096, "N": 32}],
    ("M // 8 + N // 4096", "N // 16"): [{"M": 8, "N": 4096}, {"M": 16, "N": 4096}],
    ("5", "N // 16"): [],
}


@pytest.mark.parametrize("grid", TWO)
def test_sizes_are_the_smallest_at_which_extents_grow_otherwise(grid: tuple[str, str]) -> None:
    text = CONTRACT.replace(
        'n = "any multiple of 64END"', 'n = 64\nM = "any multiple of 8"\nN = "any multiple of 16"'
    )
    contract = parse_contract(text.replace('"n // 64"', ", ".join(f'"{each}"' for each in grid)))
    assert contract.quantified is not None
    found = uneven(contract.launch.grid, contract.quantified, contract.sizes)
    assert [{name: each[name] for name in "MN"} for each in found] == TWO[grid]
