"""Checkers that others wrote accept the proofs that ours accepts, and no others."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.smt import proof_checkers
from mmaproof.smt.clause_proofs import Clause, Refutation, RejectedProofError, check

pytest.importorskip("dratify")

CHECKERS = ("dratify", *(("drup",) if proof_checkers.find_spec("drup") else ()))

CORNERS: list[Clause] = list(itertools.product((1, -1), (2, -2), (3, -3)))
"""Each clause forbids one corner of a cube."""

PROOF: list[Clause] = [(1, 2), (1, -2), (1,), (2,), ()]


def accepting(found: Refutation) -> tuple[str, ...]:
    return tuple(each.split()[0] for each in proof_checkers.accepting(found.formula(), found.proof(), found))


@given(st.permutations(CORNERS))
def test_a_proof_is_accepted_by_all(clauses: list[Clause]) -> None:
    assert accepting(check(clauses, PROOF)) == CHECKERS


@pytest.mark.parametrize("missing", range(len(CORNERS)))
def test_a_proof_without_a_clause_is_rejected(missing: int) -> None:
    found = check(CORNERS, PROOF)
    fewer = replace(found, clauses=tuple(CORNERS[:missing] + CORNERS[missing + 1 :]))
    with pytest.raises(RejectedProofError, match=r"dratify .* rejects"):
        accepting(fewer)


@pytest.mark.skipif("drup" not in CHECKERS, reason="the extra verified-checker is not installed")
def test_a_step_without_a_reason_is_rejected() -> None:
    found = check(CORNERS, PROOF)
    for step, reasons in enumerate(found.reasons):
        for clause in reasons:
            fewer = list(found.reasons)
            fewer[step] = tuple(reason for reason in reasons if reason != clause)
            with pytest.raises(RejectedProofError, match=r"drup .* rejects"):
                accepting(replace(found, reasons=tuple(fewer)))
