"""Certificates of what is proved: written where there is one, and accepted by the checker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import toy_theorems as toy

from mmaproof.proofs.certificates import certify
from mmaproof.proofs.obligation import Equation, Inputs, Obligation, Property, Status, Variable
from mmaproof.smt import certified
from mmaproof.smt.clause_proofs import RejectedProofError, main
from mmaproof.spec.algebra import Algebra
from mmaproof.spec.formats import U4

pytest.importorskip("pysat")
pytest.importorskip("bitwuzla")


def distributes(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    """Say (x + y)·y = xy + yy modulo 16, which unit propagation alone does not show."""
    x, y = alg.integer(v["x"], U4), alg.integer(v["y"], U4)
    yield Equation(alg.wrap((x + y) * y, U4), alg.wrap(x * y + y * y, U4), U4, label="products")


NIBBLES = (Variable("x", U4, (1,)), Variable("y", U4, (1,)))
CLAIMED = Obligation("power/toy/products/nibbles", "", lambda: Property(NIBBLES, distributes, abstract=False))


@pytest.mark.parametrize("obligation", [CLAIMED, toy.COMMUTES, toy.ENUMERATED])
def test_what_is_proved_leaves_files_that_the_checker_accepts(obligation: Obligation, tmp_path: Path) -> None:
    assert certify(obligation, tmp_path, 20).status is Status.PROVED
    formulas = sorted(tmp_path.glob("*.cnf"))
    assert formulas
    assert {path.name.split(".1.")[0] for path in formulas} == {obligation.id.replace("/", ".")}
    for formula in formulas:
        assert main([str(formula), str(formula.with_suffix(".drup"))]) == 0


@pytest.mark.parametrize("obligation", [toy.FALSE, toy.IN_RING, toy.INDUCTIVE])
def test_what_has_no_certificate_leaves_no_file(obligation: Obligation, tmp_path: Path) -> None:
    assert certify(obligation, tmp_path, 20).status is not Status.PROVED
    assert not list(tmp_path.iterdir())


def test_a_proof_that_is_rejected_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(certified, "_refutation", lambda clauses, timeout: "0\n")
    with pytest.raises(RejectedProofError):
        certify(CLAIMED, tmp_path, 20)
    assert not list(tmp_path.iterdir())
