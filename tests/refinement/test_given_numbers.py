"""What is verified for all data is verified where the data are given, too."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import contract_corpora
import pytest
from frozen_table import seconds
from given_numbers import differences

SETS, MORE = 3, 9
"""Sets of numbers that a kernel is given in an ordinary run, and in a sweep: small ones, some near zero, and
positive ones; then numbers that the kernel compares with, ends of formats, and masks."""

VERIFIED = {kernel.name: kernel for kernel in contract_corpora.kernels() if kernel.verdict == "verified"}
QUICK = {
    min((seconds(each.corpus, each.name), each.name) for each in some)[1]
    for _, some in groupby(VERIFIED.values(), key=lambda each: each.corpus)
}
"""Kernels of an ordinary run: the cheapest of each corpus."""


@pytest.mark.parametrize(
    "name", [each if each in QUICK else pytest.param(each, marks=pytest.mark.sweep) for each in VERIFIED]
)
def test_what_is_verified_for_all_data_is_verified_for_given_ones(name: str, tmp_path: Path) -> None:
    assert differences(VERIFIED[name], tmp_path, SETS if name in QUICK else MORE) == []
