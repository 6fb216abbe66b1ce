"""The PTO machine says what an interpreter that shares nothing with it computes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.interpreter import pto_machine, pto_numbers
from tests.interpreter.pto_comparison import Comparison, compared
from tests.interpreter.pto_programs import program
from tests.pto_kernels import KERNELS, contract_of, text_of
from tests.refinement.pto.test_verify_pto_mutants import FAULTS

GROUPS, OF_A_GROUP = 6, 20
SWEPT = range(*map(int, os.environ.get("MMAPROOF_SEEDS", "120:10120").split(":")))
"""Seeds that the sweep runs, ``first:end``; a range that was cut off goes on where it ended."""

NOT_THERE = {("gemv_f16", "CPU"), ("mx_e4m3", "A2A3")}
"""Kernels with instructions that a profile does not have."""


def of_texts(folder: Path, text: str, contract: str, seed: int) -> Comparison:
    kernel, file = folder / "kernel.pto", folder / "contract.toml"
    kernel.write_text(text, encoding="utf-8")
    file.write_text(contract, encoding="utf-8")
    return compared(kernel, file, seed)


def described(name: str, profile: str) -> str:
    """Return a kernel's contract with a bias where there may be one."""
    return contract_of(name, profile, first_sizes=True).replace('value = "any"', "value = 1")


@pytest.mark.sample(12)
@pytest.mark.parametrize("profile", ["A2A3", "A5", "CPU"])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_of_the_corpus(tmp_path: Path, name: str, profile: str) -> None:
    found = of_texts(tmp_path, text_of(name), described(name, profile), 1)
    assert not found.differences
    assert bool(found.compared) is ((name, profile) not in NOT_THERE)


@pytest.mark.parametrize("name", FAULTS)
def test_kernels_with_a_fault(tmp_path: Path, name: str) -> None:
    fault = FAULTS[name]
    text = text_of(fault.kernel, *fault.replacements)
    found = of_texts(tmp_path, text, described(fault.kernel, "A5"), 2)
    assert not found.differences
    assert found.compared or found.findings


def test_what_differs_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(pto_numbers.BINARY, "add", pto_numbers.BINARY["sub"])
    monkeypatch.setattr(pto_machine._Unit, "_move", lambda *_: None)
    for first in (0, 1):
        made = [program(seed) for seed in range(first, 40, 2)]
        found = [of_texts(tmp_path, each.text, each.contract, 3) for each in made]
        assert any(each.differences for each in found)


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_programs(tmp_path: Path, group: int) -> None:
    found = [_of_seed(tmp_path, group * OF_A_GROUP + number) for number in range(OF_A_GROUP)]
    assert sum(each.compared > 0 for each in found) > OF_A_GROUP // 3
    assert any(each.findings for each in found)


@pytest.mark.sweep
@pytest.mark.parametrize("first", SWEPT[::100])
def test_many_random_programs(tmp_path: Path, first: int) -> None:
    found = [_of_seed(tmp_path, seed) for seed in range(first, min(first + 100, SWEPT.stop))]
    assert sum(each.compared > 0 for each in found) > len(found) // 3


def _of_seed(folder: Path, seed: int) -> Comparison:
    made = program(seed)
    found = of_texts(folder, made.text, made.contract, seed)
    assert not found.differences, (seed, found.differences)
    return found
