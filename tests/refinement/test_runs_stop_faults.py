"""With an equality engine that answers "equal" always, no faulty kernel of the corpora is verified."""

from __future__ import annotations

from pathlib import Path

import pytest
from faulty_kernels import Faulty, faulty_kernels
from frozen_table import QUICK

from mmaproof.refinement.contract.reading import read_contract
from mmaproof.refinement.instance_verification import examined_in_cases
from mmaproof.refinement.machine.launch_sequence import kernel_of
from mmaproof.spec.errors import DefectError

from ..forced_equality import equality_forced

SAMPLE = [faulty for faulty in faulty_kernels() if faulty[:2] in QUICK][::3]
"""What every run looks at: a third of the faulty kernels that are quick."""


def stopped(faulty: Faulty, folder: Path) -> bool:
    """Tell whether a kernel is not verified at one of its contract's sizes, though all terms are "equal"."""
    path, wanted = faulty.placed(folder)
    contract = read_contract(wanted)
    kernel = kernel_of(contract, path)
    with equality_forced():
        for instance in contract.instances():
            try:
                found, _ = examined_in_cases(kernel, instance, None, None)
            except DefectError:
                return True
            if any(examination.equality is None for _, examination in found):
                return True
    return False


@pytest.mark.parametrize("faulty", SAMPLE, ids=str)
def test_what_no_engine_looks_at_is_stopped_all_the_same(faulty: Faulty, tmp_path: Path) -> None:
    assert stopped(faulty, tmp_path), faulty


@pytest.mark.sweep
@pytest.mark.parametrize("faulty", list(faulty_kernels()), ids=str)
def test_no_faulty_kernel_of_any_corpus_passes(faulty: Faulty, tmp_path: Path) -> None:
    assert stopped(faulty, tmp_path), faulty
