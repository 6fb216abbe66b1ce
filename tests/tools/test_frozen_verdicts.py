"""The frozen table of verdicts is what the corpora give: a few kernels of it in every run, all in a sweep."""

from __future__ import annotations

import sys

import pytest
from source_modules import REPOSITORY

sys.path.insert(0, str(REPOSITORY))
from tools.verdicts import table
from tools.verdicts.cases import Case, every_case
from tools.verdicts.measurement import measured

VERDICTS, COSTS = table.of_folder(REPOSITORY / "tests" / "frozen")
CASES = {each.key: each for each in every_case()}
SAMPLE = (
    ("CUDA", "wmma_s8_sm80.ptx"),
    ("CUDA operators", "layer_norm_f32_sm80.ptx"),
    ("CUDA operators", "layer_norm_f32_fault_no_barrier_before_reuse.ptx"),
    ("Triton rows", "softmax.ptx"),
    ("Triton rows", "softmax_backward_fault_not_along.ptx"),
    ("PTO", "gemm"),
)
COMMAND = "python -m tools.verdicts run DIR, then compare tests/frozen DIR"


def assert_as_frozen(case: Case) -> None:
    frozen = [row for row in VERDICTS if row[:2] == case.key]
    rows, _ = measured(case)
    assert list(table.differing_verdicts(frozen, rows)) == [], COMMAND


def test_every_case_is_frozen() -> None:
    assert {row[:2] for row in VERDICTS} == set(CASES) == {row[:2] for row in COSTS}


@pytest.mark.parametrize("key", SAMPLE, ids=": ".join)
def test_a_verdict_is_the_frozen_one(key: tuple[str, str]) -> None:
    assert_as_frozen(CASES[key])


@pytest.mark.sweep
@pytest.mark.parametrize("key", CASES, ids=": ".join)
def test_every_verdict_is_the_frozen_one(key: tuple[str, str]) -> None:
    assert_as_frozen(CASES[key])
