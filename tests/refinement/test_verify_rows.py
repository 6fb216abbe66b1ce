"""Functions of rows that Triton compiled, from softmax to attention: verified, and refuted with faults.

``tests/tools/test_frozen_verdicts.py`` verifies them; that what it compares with is right is said here.
"""

from __future__ import annotations

from frozen_table import frozen
from row_contracts import CORPUS, KERNELS

from mmaproof.refinement.findings.result import Verdict


def test_the_frozen_verdicts_are_those_of_the_sources() -> None:
    for name, facts in KERNELS.items():
        verdict, _, findings = frozen("Triton rows", name)
        assert verdict == (Verdict.REFUTED if facts["fault"] else Verdict.VERIFIED), name
        assert bool(findings) == bool(facts["fault"]), name


def test_every_kernel_has_three_faults() -> None:
    for kernel in {facts["kernel"] for facts in KERNELS.values()}:
        assert sum(facts["kernel"] == kernel and bool(facts["fault"]) for facts in KERNELS.values()) >= 3


def test_edits_change_nothing_but_the_text() -> None:
    edited = {facts["kernel"] for facts in KERNELS.values() if facts["edit"]}
    assert len(edited) >= 10
    for name, facts in KERNELS.items():
        if facts["edit"]:
            assert (CORPUS / name).read_bytes() != (CORPUS / f"{facts['kernel']}.ptx").read_bytes(), name
