"""Every kernel of the corpora, right and faulty: the interpreter and the machine, run on the same numbers."""

import re
from collections.abc import Iterator
from pathlib import Path

import contract_corpora
import cuda_contracts
import pytest
from contract_corpora import Known
from cuda_faults import FAULTS, Fault
from interpreter.ptx_interpreter import SCHEDULES
from interpreter.ptx_launched_kernels import SEVERAL, Outcome, compare

STOPS = re.compile(r"out-of-bounds|out of bounds|misaligned|deadlock")
"""Findings of the machine at which no order of threads goes on."""


def _ptx() -> Iterator[Known]:
    for known in contract_corpora.kernels():
        if known.corpus == "Power":
            return
        yield known


KNOWN = list(_ptx())
SAMPLE = KNOWN[::20]
"""What every run looks at: some of each corpus."""


def judge(outcome: Outcome) -> None:
    """Check that the two sides say the same.

    What the machine finds nothing wrong with must run in any order, and leave the same. What it stops at must
    stop the interpreter; of races and undefined values the interpreter need see nothing.
    """
    if outcome.left_out == SEVERAL:
        pytest.skip("the contract is of several launches")
    if not outcome.findings:
        assert outcome.fault == ""
        assert outcome.left_out == ""
        assert outcome.compared > 0
        assert outcome.differing == []
    elif all(STOPS.search(finding) for finding in outcome.findings):
        assert outcome.fault or outcome.left_out


def _placed(known: Known, folder: Path) -> Outcome:
    contract = folder / "contract.toml"
    contract.write_text(known.contract, encoding="utf-8")
    return compare(known.place(folder), contract, SCHEDULES[len(known.name) % len(SCHEDULES)])


@pytest.mark.parametrize("known", SAMPLE, ids=lambda known: known.name)
def test_a_sample(known: Known, tmp_path: Path) -> None:
    judge(_placed(known, tmp_path))


@pytest.mark.sweep
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_all(known: Known, tmp_path: Path) -> None:
    judge(_placed(known, tmp_path))


def _faulty(fault: Fault, folder: Path) -> Outcome:
    path = folder / fault.edit.kernel
    path.write_text(fault.edit.applied(), encoding="utf-8")
    return compare(path, cuda_contracts.contract_of(fault.edit.kernel), "random")


@pytest.mark.parametrize("fault", FAULTS[::12], ids=lambda fault: fault.name)
def test_a_sample_of_faults(fault: Fault, tmp_path: Path) -> None:
    judge(_faulty(fault, tmp_path))


@pytest.mark.sweep
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_all_faults(fault: Fault, tmp_path: Path) -> None:
    judge(_faulty(fault, tmp_path))
