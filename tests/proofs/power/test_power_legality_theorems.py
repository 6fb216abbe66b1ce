"""A rule on Power instructions that is gone, or wider, is noticed by the products of operands."""

from __future__ import annotations

import pytest

from mmaproof.proofs.obligation import Certificate
from mmaproof.proofs.power.documented import complete
from mmaproof.spec.power import legality
from mmaproof.spec.power.legality import RULES, Rule


def _defects() -> list[str]:
    goals = [obligation.goal() for obligation in complete.obligations()]
    found = (goal.check() for goal in goals if isinstance(goal, Certificate))
    return [defect for defect in found if defect is not None]


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.id in ("gpr-range", "vsr-overlap")], ids=lambda rule: rule.id
)
def test_a_rule_that_is_gone_is_missed(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legality, "RULES", tuple(each for each in RULES if each is not rule))
    (defect,) = _defects()
    assert rule.id in defect


def test_an_accumulator_has_four_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legality, "associated_vsrs", lambda number: range(4 * number, 4 * number + 3))
    (defect,) = _defects()
    assert "vsr-overlap" in defect
