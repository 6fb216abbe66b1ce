"""Each rule is what the engine does: its sides become one normal form just where its guard is met."""

from __future__ import annotations

import pytest
from rule_mutants import mutants
from rule_terms import RuleTerms, Shape, called, code_of, shapes

from mmaproof.proofs.engine.rules import goal_of
from mmaproof.refinement.rules.rows import BY_NAME, GROUPS, RULES
from mmaproof.refinement.rules.rule import Rule

MAKERS = {"nonnegative": 3, "root": 2}
"""In how many ways the engine knows that a variable is not negative."""

EACH = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


def ways(rule: Rule) -> range:
    return range(max(MAKERS.get(sort, 1) for sort in (*rule.sorts.values(), "")))


@EACH
def test_the_sides_become_identical_where_the_rule_says(rule: Rule) -> None:
    for maker in ways(rule):
        with called() as functions:
            terms = RuleTerms(rule, maker=maker)
            assert terms.equal(rule.left, rule.right)
        assert code_of(rule.place) in functions, f"{rule.place} does not apply {rule.name}"


@EACH
def test_the_sides_become_identical_in_other_formats(rule: Rule) -> None:
    for shape in shapes(rule):
        assert RuleTerms(rule, shape).equal(rule.left, rule.right), shape


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.guard], ids=lambda rule: rule.name)
def test_the_engine_checks_the_guard(rule: Rule) -> None:
    assert rule.fails
    assert not RuleTerms(rule, guarded=False).equal(rule.left, rule.right)


@EACH
def test_the_engine_does_not_apply_mutants(rule: Rule) -> None:
    """Of mutants that values refute; those that none refutes are other rules, perhaps true ones."""
    refuted = 0
    for mutant in mutants(rule):
        try:
            found = goal_of(mutant).refuting()
        except (AttributeError, ValueError):  # bits that a word does not have
            continue
        if found is None or not rule.holds:
            continue
        try:
            assert not RuleTerms(mutant, Shape()).equal(mutant.left, mutant.right), mutant.right
        except IndexError:  # words of two widths are added
            continue
        refuted += 1
    assert refuted or not rule.holds


def test_rules_have_names_of_their_own_and_groups() -> None:
    assert len(BY_NAME) == len(RULES)
    assert {rule.group for rule in RULES} == set(GROUPS)
