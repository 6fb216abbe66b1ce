"""The checker of clause proofs accepts proofs, and nothing that is none."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mmaproof.smt.clause_proofs import Clause, RejectedProofError, check, main, read_clauses, read_steps
from mmaproof.spec.errors import InputError

LITERALS = st.integers(1, 5).flatmap(lambda n: st.sampled_from([n, -n]))
CLAUSES = st.lists(st.lists(LITERALS, min_size=1, max_size=3).map(tuple), max_size=14)

PIGEONS: list[Clause] = [
    *((3 * p + 1, 3 * p + 2, 3 * p + 3) for p in range(4)),
    *((-(3 * p + h), -(3 * q + h)) for h in (1, 2, 3) for p, q in itertools.combinations(range(4), 2)),
]
"""Four pigeons in three holes."""


def satisfiable(clauses: list[Clause]) -> bool:
    models = itertools.product((False, True), repeat=5)
    return any(all(any(m[abs(x) - 1] == (x > 0) for x in clause) for clause in clauses) for m in models)


def refutation(clauses: list[Clause]) -> list[Clause]:
    """Return Glucose's proof."""
    solvers = pytest.importorskip("pysat.solvers")
    with solvers.Glucose4(bootstrap_with=[*map(list, clauses)], with_proof=True) as solver:
        assert solver.solve() is False
        return [*read_steps("\n".join(solver.get_proof()), "proof"), ()]


@given(CLAUSES, CLAUSES)
def test_no_proof_of_what_has_a_model_is_accepted(clauses: list[Clause], steps: list[Clause]) -> None:
    assume(satisfiable(clauses))
    with pytest.raises(RejectedProofError):
        check(clauses, [*steps, ()])


@settings(suppress_health_check=[HealthCheck.filter_too_much])  # few clauses have no model
@given(CLAUSES)
def test_a_solver_s_proofs_are_accepted(clauses: list[Clause]) -> None:
    assume(not satisfiable(clauses))
    check(clauses, refutation(clauses))


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(CLAUSES, CLAUSES)
def test_what_was_needed_is_a_proof_of_its_own(clauses: list[Clause], surplus: list[Clause]) -> None:
    assume(not satisfiable(clauses))
    given = [*clauses, *surplus]
    found = check(given, refutation(given))
    assert set(found.clauses) <= set(given)
    again = check(
        read_clauses(found.formula(), "formula"),
        read_steps(found.proof(), "proof"),
    )
    assert set(again.clauses) <= set(found.clauses)
    assert found.steps[-1] == ()
    earlier = {*found.clauses}
    for step, reasons in zip(found.steps, found.reasons, strict=True):
        assert set(reasons) <= earlier
        check([*reasons, *((-literal,) for literal in step)], [()])
        earlier.add(step)


def test_a_proof_needs_its_steps_and_every_clause() -> None:
    proof = refutation(PIGEONS)
    assert len(check(PIGEONS, proof).steps) > 1
    with pytest.raises(RejectedProofError, match="does not follow"):
        check(PIGEONS, [()])
    for missing in range(len(PIGEONS)):
        with pytest.raises(RejectedProofError):
            check(PIGEONS[:missing] + PIGEONS[missing + 1 :], proof)


@pytest.mark.parametrize("step", [(1,), (-1,), (1, 2), (-1, -5)])
def test_a_step_that_does_not_follow_is_named(step: Clause) -> None:
    text = " ".join(map(str, step))
    with pytest.raises(RejectedProofError, match=f"step 1 of the proof does not follow: {text} 0"):
        check([(1, 2, 3), (-1, -2), (4, 5)], [step])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2 0", 'a line "p cnf'),
        ("p cnf 2 2\n1 2 0\n", "1 clauses, not the 2"),
        ("p cnf 2 1\n1 2\n", "must end in its only 0"),
        ("p cnf 2 1\n1 0 2 0\n", "must end in its only 0"),
        ("p cnf 2 1\n1 x 0\n", "must be literals"),
    ],
)
def test_malformed_clauses_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_clauses(text, "a.cnf"))


def test_files_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    formula, proof = tmp_path / "a.cnf", tmp_path / "a.drup"
    formula.write_text("c comment\np cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n")
    for text, status in (("2 0\nd 1 2 0\n0\n", 0), ("0\n", 1), ("2\n", 2)):
        proof.write_text(text)
        assert main([str(formula), str(proof)]) == status
    assert main([str(formula), str(tmp_path / "none")]) == 2
    assert main([]) == 2
    assert "proved from 4 of them in 2 steps" in capsys.readouterr().out
