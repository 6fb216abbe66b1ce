"""Functions of rows that Triton compiled, from softmax to attention: verified, and refuted with faults."""

from __future__ import annotations

from pathlib import Path

import pytest
from row_contracts import CORPUS, KERNELS, contract

from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.verification import verify

SLOW = tuple(
    f"{name}_attention"
    for name in ("grouped", "window", "sloped", "capped", "sink", "paged", "wide", "ragged")
)
"""Kernels that take several seconds each, and are like others."""


def firsts() -> list[object]:
    """Return every kernel; in the sweep those edited, with later faults, slow ones, and every second."""
    quick = dict.fromkeys(each["kernel"] for each in KERNELS.values() if each["kernel"] not in SLOW)
    chosen = list(quick)[::2]
    seen: set[tuple[str, bool]] = set()
    found: list[object] = []
    for file, facts in KERNELS.items():
        key = facts["kernel"], bool(facts["fault"])
        again = key in seen or facts["kernel"] not in chosen
        found.append(pytest.param(file, marks=[pytest.mark.sweep] if again else []))
        seen.add(key)
    return found


@pytest.mark.parametrize("name", firsts())
def test_the_verdict_is_that_of_the_source(name: str, tmp_path: Path) -> None:
    written = tmp_path / "contract.toml"
    written.write_text(contract(name), encoding="utf-8")
    found = verify(CORPUS / name, written)
    if KERNELS[name]["fault"] is None:
        assert (found.result.verdict, found.result.findings) == (Verdict.VERIFIED, ())
    else:
        assert found.result.verdict is Verdict.REFUTED, found.result.findings


def test_every_kernel_has_three_faults() -> None:
    for kernel in {facts["kernel"] for facts in KERNELS.values()}:
        assert sum(facts["kernel"] == kernel and bool(facts["fault"]) for facts in KERNELS.values()) >= 3


def test_edits_change_nothing_but_the_text() -> None:
    edited = {facts["kernel"] for facts in KERNELS.values() if facts["edit"]}
    assert len(edited) >= 10
    for name, facts in KERNELS.items():
        if facts["edit"]:
            assert (CORPUS / name).read_bytes() != (CORPUS / f"{facts['kernel']}.ptx").read_bytes(), name
