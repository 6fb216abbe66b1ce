"""What is verified for all data is verified where the data are given, too."""

from __future__ import annotations

from pathlib import Path

import contract_corpora
import pytest
from given_numbers import differences

SETS, MORE = 3, 9
"""Sets of numbers that a kernel is given in an ordinary run, and in a sweep: small ones, some near zero, and
positive ones; then numbers that the kernel compares with, ends of formats, and masks."""

QUICK = (
    "softmax_f32_sm80.ptx",
    "rms_norm_f16_sm80.ptx",
    "layer_norm_f32_sm80.ptx",
    "swiglu_f16_sm80.ptx",
    "simt_f32_sm80.ptx",
    "locked_sum_f32_edit_released_by_cuda_atomics.ptx",
    "cute_f32",
)
"""Kernels of an ordinary run."""

VERIFIED = {each.name: each for each in contract_corpora.kernels() if each.verdict == "verified"}


def test_the_names_are_those_of_kernels() -> None:
    assert set(QUICK) <= VERIFIED.keys()


@pytest.mark.parametrize(
    "name", [each if each in QUICK else pytest.param(each, marks=pytest.mark.sweep) for each in VERIFIED]
)
def test_what_is_verified_for_all_data_is_verified_for_given_ones(name: str, tmp_path: Path) -> None:
    assert differences(VERIFIED[name], tmp_path, SETS if name in QUICK else MORE) == []
