"""Rules and tables of the verifier hold, without their guards they do not, and faults in them are refuted."""

from __future__ import annotations

import pytest
import z3
from rule_mutants import mutants
from theorem_checks import decided, judged, unexpected

from mmaproof.proofs import catalogue
from mmaproof.proofs.engine import domains
from mmaproof.proofs.engine.rules import THEOREMS, goal_of, unguarded
from mmaproof.proofs.engine.terms import RealTerms
from mmaproof.proofs.engine.values import difference_at
from mmaproof.proofs.obligation import Certificate, Obligation, RefutableProperty, Status
from mmaproof.refinement.rules.float_class_tables import CLASSES
from mmaproof.refinement.rules.rows import RULES
from mmaproof.refinement.rules.rule import Rule

EACH = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


def test_every_obligation_is_as_expected() -> None:
    assert unexpected(catalogue.theorems(("engine",))) == {}


@EACH
def test_every_rule_has_its_obligation(rule: Rule) -> None:
    obligation = catalogue.obligations()[f"engine/rules/{rule.name}"]
    assert obligation.expect is (Status.PROVED if rule.holds else Status.REFUTED)
    assert rule.left in obligation.statement and rule.place in obligation.statement


@EACH
def test_without_what_it_holds_under_a_rule_is_refuted_where_it_can_be(rule: Rule) -> None:
    """Where both sides are no number (what divides is 0), none is false."""
    if not rule.condition:
        return
    found = goal_of(unguarded(rule)).refuting()
    assert (found is not None) is bool(rule.fails)
    if rule.fails:
        assert difference_at(rule, rule.fails, guarded=False) is not None
        assert difference_at(rule, rule.fails, guarded=True) is None


@EACH
def test_a_fault_in_a_rule_is_refuted(rule: Rule) -> None:
    """Each mutant is refuted by values, or is another rule that a solver proves; some are refuted."""
    statuses = []
    for mutant in mutants(rule):
        try:
            statuses.append(judged(goal_of(mutant)).status)
        except (AttributeError, ValueError, z3.Z3Exception):  # bits that a word does not have
            continue
    assert set(statuses) <= {Status.REFUTED, Status.PROVED}
    assert Status.REFUTED in statuses or not rule.holds


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.by], ids=lambda rule: rule.name)
def test_no_derivation_rests_on_a_contradiction(rule: Rule) -> None:
    """Axioms and condition together are true of something: else they would prove anything."""
    goal = goal_of(rule)
    claim = goal.claim()
    solver = z3.Solver()
    solver.set(timeout=20_000)
    solver.add(*claim.assumptions)
    assert solver.check() != z3.unsat


@pytest.mark.parametrize("name", domains.TABLES)
def test_a_fault_in_any_entry_of_a_table_is_refuted(name: str) -> None:
    table = dict(domains.TABLES[name])
    for place, (pair, found) in enumerate(table.items()):
        one, other = (CLASSES[each % len(CLASSES)] for each in (place, place + 1))
        wrong = frozenset({other if found == {one} else one})
        message = domains.unlike(name, {**table, pair: wrong})
        assert message is not None and f"of {pair[0]} and {pair[1]}" in message


def test_a_fault_in_a_relation_is_refuted() -> None:
    for rule in domains.tables():
        for mutant in mutants(rule):
            assert judged(goal_of(mutant)).status in (Status.REFUTED, Status.PROVED)
    assert all(isinstance(goal_of(rule), RefutableProperty) for rule in domains.tables())


def test_functions_of_one_polynomial_are_one_constant() -> None:
    terms = RealTerms()
    x, y = z3.Reals("x y")
    power = terms.functions["ex2"]
    assert power(x + 2 * y).eq(power(y * 2 + x)) and not power(x + y).eq(power(x - y))


def test_what_does_not_follow_is_not_proved() -> None:
    terms = RealTerms()
    x, y = z3.Reals("x y")
    power = terms.functions["ex2"]
    goal = power(x + y) == power(x) * power(y)
    solver = z3.Solver()
    solver.add(*terms.known(), z3.Not(goal))
    assert solver.check() == z3.sat
    terms.assume("sum(x, y)", {"x": x, "y": y})
    solver.add(*terms.known())
    assert solver.check() == z3.unsat


def test_certificates_of_tables_count_every_pair() -> None:
    for obligation in domains.float_classes.obligations():
        goal = obligation.goal()
        assert isinstance(goal, Certificate) and goal.points == 65536


def test_theorems_are_the_groups_of_rules() -> None:
    assert [
        obligation for theorem in THEOREMS for obligation in theorem.obligations() if not obligation.statement
    ] == []
    assert decided(Obligation("test/rule", "", lambda: goal_of(RULES[0]))).status is Status.PROVED
