"""Grids that leave out tiles, or have too many blocks, at some sizes of a domain are findings at these."""

from __future__ import annotations

from pathlib import Path

import pytest
from overflowing_kernels import CONTRACT, KERNEL

from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.uneven_grids import uneven
from mmaproof.refinement.verification import verify

OPERATORS = Path(__file__).parents[1] / "kernels" / "cuda_operators"

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
    assert all(finding.message.endswith(f"; at n = {GRIDS[grid]}") for finding in found.result.findings)


TWO = {
    ("M // 8", "N // 16"): [],
    ("(M // 8) * (N // 16)", 1): [],
    ("(M // 8) * (N // 16) - (M // 512) * (N // 256)", 1): [{"M": 512, "N": 256}],
    ("(M // 8) * (N // 16) + M // 4096", 1): [{"M": 4096, "N": 16}, {"M": 4096, "N": 32}],
    ("M // 8 + N // 4096", "N // 16"): [{"M": 8, "N": 4096}, {"M": 16, "N": 4096}],
    ("5", "N // 16"): [],
}

THREE = {
    ("min(M // 8 * (N // 16), 132)", 1): [(1064, 16, 32), (8, 2128, 32), (120, 144, 32)],
    ("M // 8", "N // 16", "(K + 4095) // 4096"): [(8, 16, 4128)],
    ("M // 8", "N // 16", "min(K // 32, 8)"): [(8, 16, 288)],
    ("N // 16", "M // 8 * ((K + 4095) // 4096)"): [(8, 16, 4128)],
    ("M // 8 * (N // 16) * ((K + 4095) // 4096)", 1): [(8, 16, 4128)],
    ("M // 8 * (N // 16) * (K // 32)", 1): [],
    ("M // 8", "N // 16", 4): [],
}
"""Grids of kernels that go on to other tiles, and of kernels that part K."""


@pytest.mark.parametrize("grid", TWO)
def test_sizes_are_the_smallest_at_which_extents_grow_otherwise(grid: tuple[str, str]) -> None:
    found = sizes_of(grid, 'n = 64\nM = "any multiple of 8"\nN = "any multiple of 16"')
    assert [{name: each[name] for name in "MN"} for each in found] == TWO[grid]


@pytest.mark.parametrize("grid", THREE)
def test_extents_of_three_sizes_are_told_from_even_ones(grid: tuple[str, ...]) -> None:
    sizes = 'n = 64\nM = "any multiple of 8"\nN = "any multiple of 16"\nK = "any multiple of 32"'
    assert [tuple(each[name] for name in "MNK") for each in sizes_of(grid, sizes)] == THREE[grid]


def sizes_of(grid: tuple[str, ...], sizes: str) -> list[dict[str, int]]:
    text = CONTRACT.replace('n = "any multiple of 64END"', sizes)
    contract = parse_contract(text.replace('"n // 64"', ", ".join(f'"{each}"' for each in grid)))
    assert contract.quantified is not None
    return uneven(contract.launch.grid, contract.quantified, contract.sizes)


@pytest.mark.sweep
def test_a_part_of_k_that_is_no_number_of_tiles_is_a_finding(tmp_path: Path) -> None:
    text = (OPERATORS / "serial_split_k_f32.toml").read_text(encoding="utf-8")
    for old, new in (
        ('"M // 16", 3]', '"M // 16", "(K + 127) // 128"]'),
        ("N = 32\nK = 48", 'N = 16\nK = "any multiple of 16"'),
    ):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "parts.toml").write_text(text, encoding="utf-8")
    found = verify(OPERATORS / "serial_split_k_f32_sm80.ptx", tmp_path / "parts.toml")
    assert found.result.verdict == "refuted"
    assert found.result.findings[0].message.endswith("would be A[16,0], row 16 of 16; at K = 144")
