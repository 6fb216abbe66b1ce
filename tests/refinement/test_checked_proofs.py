"""What the checker could not evaluate of a proof for every size is named on the verdict, as of outputs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from document_schemas import validate
from quantified_kernels import SIMT, prove_blocks, prove_size, stated

from mmaproof.refinement.checker.evaluated import Checked
from mmaproof.refinement.equality import equivalence
from mmaproof.refinement.verification import verify
from mmaproof.reports.verdict_text import verdict_lines

REASON = "bits of rounded numbers"
EVERY_K = stated(SIMT, 16, 16, "any multiple of 16 up to 4096")


@pytest.fixture
def one_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the checker be at a loss with one of the pairs that it is given at a time."""
    original: Callable[..., Checked] = equivalence.checked

    def without_one(*arguments: object) -> Checked:
        found = original(*arguments)
        if not found.by_residues:
            return found
        return replace(found, by_residues=found.by_residues - 1, open=Counter({REASON: 1}))

    monkeypatch.setattr(equivalence, "checked", without_one)


def test_steps_of_an_induction_are_evaluated_again() -> None:
    checked = prove_size(EVERY_K, SIMT).checked
    assert checked.elements >= 16 * 16 and not checked.open
    assert checked.elements == checked.by_residues + checked.by_points


def test_what_is_open_of_an_induction_is_kept(one_is_open: None) -> None:
    assert prove_size(EVERY_K, SIMT).checked.open[REASON] >= 1


def test_what_is_open_of_a_block_that_stands_for_all_is_kept(one_is_open: None) -> None:
    text = stated(SIMT, "any multiple of 16 up to 4096", 16, "any multiple of 16 up to 4096")
    assert prove_blocks(SIMT, text, "K").checked.open[REASON] >= 1


def test_the_verdict_names_it(one_is_open: None, tmp_path: Path) -> None:
    contract = tmp_path / "contract.toml"
    contract.write_text(EVERY_K, encoding="utf-8")
    found = verify(SIMT, contract)
    result = found.result
    assert result.verdict == "verified"
    of_proofs = result.stats["checker_of_proofs"]
    assert [proof["reason"] for proof in of_proofs["open"]] == [REASON]
    count, every = of_proofs["open"][0]["elements"], of_proofs["elements"]
    named = (
        f"not evaluated again: {count} of {every:,} equalities of proofs for every size ({count}: {REASON})"
    )
    assert named in [line.text for line in verdict_lines(found)]
    validate("verify", json.loads(json.dumps(result.document())))
