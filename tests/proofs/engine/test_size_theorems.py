"""What proofs for every size suppose of positions holds, and neither without conditions nor with faults."""

from __future__ import annotations

from importlib import import_module

import pytest
from rule_mutants import mutants
from theorem_checks import judged, unexpected

from mmaproof.proofs import catalogue
from mmaproof.proofs.engine.rules import goal_of
from mmaproof.proofs.engine.sizes import SPLITS, Split
from mmaproof.proofs.engine.values import difference_at
from mmaproof.proofs.obligation import Status

EACH = pytest.mark.parametrize("split", SPLITS, ids=lambda split: split.rule.name)


def test_every_obligation_is_as_expected() -> None:
    assert unexpected(catalogue.theorems(("engine/sizes",))) == {}


@EACH
def test_it_names_what_supposes_it(split: Split) -> None:
    module, _, name = split.rule.place.partition(":")
    assert hasattr(import_module(f"mmaproof.refinement.{module}"), name)


@EACH
def test_it_is_false_where_its_condition_is(split: Split) -> None:
    rule = split.rule
    if rule.guard:
        assert difference_at(rule, rule.fails, guarded=False) is not None
        assert difference_at(rule, rule.fails, guarded=True) is None


@EACH
def test_a_fault_in_it_is_refuted(split: Split) -> None:
    statuses = {judged(goal_of(mutant)).status for mutant in mutants(split.rule)}
    assert Status.REFUTED in statuses
