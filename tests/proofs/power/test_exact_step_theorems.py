"""One step of each float form reaches the exact theory of floating point, and faults in it are refuted."""

from __future__ import annotations

import pytest
from theorem_checks import judged

from mmaproof.proofs.obligation import Equality, Property
from mmaproof.proofs.power import chains
from mmaproof.proofs.power.operands import FLOAT
from mmaproof.proofs.recorded_methods import recorded_method
from mmaproof.proofs.replay import search
from mmaproof.spec.power.catalogue import UPDATES


def test_every_float_form_is_there_and_asks_a_solver_exactly() -> None:
    obligations = list(chains.one_term.obligations())
    named = {obligation.id.split("/")[3] for obligation in obligations}
    assert named == {update.mnemonic for update in FLOAT}
    for obligation in obligations:
        goal = obligation.goal()
        assert isinstance(goal, Property) and not goal.abstract
        assert recorded_method(obligation.id) == "z3"


@pytest.mark.parametrize("mnemonic", ["xvf16ger2pp", "xvf32ger"])
def test_a_step_is_decided_by_a_solver(mnemonic: str) -> None:
    (chosen,) = (o for o in chains.one_term.obligations() if o.id.endswith(f"/{mnemonic}"))
    assert chosen.equality is Equality.IEEE
    found = judged(chosen.goal())
    assert found.method == "z3"


@pytest.mark.parametrize("mnemonic", ["xvf16ger2pp", "xvbf16ger2pp", "xvf32gerpp", "xvf64gerpp"])
@pytest.mark.parametrize("wrong", ["nn", "np", "pn"])
def test_another_form_s_signs_are_refuted(monkeypatch: pytest.MonkeyPatch, mnemonic: str, wrong: str) -> None:
    """The claim of one form about the specification of another."""
    right = UPDATES[mnemonic]
    other = UPDATES[mnemonic.removesuffix("pp") + wrong]
    updated = chains.updated
    monkeypatch.setattr(
        chains, "updated", lambda alg, update, *rest, **live: updated(alg, other, *rest, **live)
    )
    goals = [chains._one_term(right), chains._accumulator(right)]
    found = [search(goal, Equality.IEEE) for goal in goals]
    assert any(each is not None for each in found)
