"""The theorems on priming and state hold, say something, and notice mutants of the specification."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from theorem_checks import decided, judged, unexpected, vacuous
from theorem_mutants import Mutant, Patch, assert_refuted, each, of

from mmaproof.proofs.induction import Induction
from mmaproof.proofs.obligation import Certificate, Status, Theorem
from mmaproof.proofs.power import priming as automaton
from mmaproof.proofs.power import state as machines
from mmaproof.proofs.power.priming import CLASSES, SHAPES, UPDATES, Class
from mmaproof.spec.algebra import Algebra, Array
from mmaproof.spec.power import priming as spec_priming
from mmaproof.spec.power import state as spec_state
from mmaproof.spec.power.catalogue import Move, RankKUpdate
from mmaproof.spec.power.forms import FORMS
from mmaproof.spec.power.instructions import Instruction
from mmaproof.spec.power.legality import RULES, Rule
from mmaproof.spec.power.priming import CONDITIONS, Condition, Priming

THEOREMS = (*automaton.THEOREMS, *machines.THEOREMS)


def test_every_obligation_has_the_expected_verdict() -> None:
    assert unexpected(THEOREMS) == {}


def test_no_obligation_is_vacuous() -> None:
    assert vacuous(THEOREMS) == []


def test_every_form_is_in_one_class() -> None:
    assert sorted(f.mnemonic for forms in CLASSES.values() for f in forms) == sorted(FORMS)


@pytest.mark.parametrize("forms", CLASSES.values(), ids=CLASSES)
def test_the_forms_of_a_class_use_the_same_registers(forms: Class) -> None:
    numbers = {"AT": 5, "AS": 5, "XA": 9, "XAp": 8, "XB": 33, "XT": 7, "XTp": 6, "XS": 7, "XSp": 6}
    uses = set()
    for form in forms:
        i = Instruction(form, tuple(numbers.get(operand.name, 0) for operand in form.operands))
        uses.add((i.accumulator, i.vsrs_read, i.vsrs_written, spec_priming.priming(i.operation)))
    assert len(uses) == 1


@pytest.mark.parametrize("classes", [UPDATES, SHAPES], ids=["use", "operands"])
def test_every_rank_k_update_is_in_one_class_of_updates(classes: dict[str, Any]) -> None:
    updates = [f.mnemonic for f in FORMS.values() if isinstance(f.operation, RankKUpdate)]
    assert sorted(f.mnemonic for forms in classes.values() for f in forms) == sorted(updates)


def test_every_form_is_named_in_the_simulation_theorem() -> None:
    named = [set(v.statement.rpartition("any of ")[2].split(", ")) for v in machines.simulation.cases()]
    assert set().union(*named) == set(FORMS)


def test_the_induction_rests_on_the_base_and_on_every_step() -> None:
    (case,) = machines.aliasing.cases()
    goal = case.goal()
    assert isinstance(goal, Induction)
    base_and_steps = (*machines.initial.obligations(), *machines.simulation.obligations())
    assert {*goal.premises} == {obligation.id for obligation in base_and_steps}


def test_small_claims_are_enumerated() -> None:
    goals = {o.id: o.goal() for theorem in automaton.THEOREMS for o in theorem.obligations()}
    points = {name: goal.points for name, goal in goals.items() if isinstance(goal, Certificate)}
    assert points["power/state/after-xxmfacc/xxmfacc"] == 256 * 8
    assert points["power/state/accepted/lxvp"] == 256 * 32


def _replace_rule(patch: pytest.MonkeyPatch, rule: str, condition: Condition) -> None:
    patch.setattr(spec_priming, "CONDITIONS", {**CONDITIONS, rule: condition})


def _priming_survives_xxmfacc(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Priming, "leaves_primed", True)


def _nothing_needs_priming(patch: pytest.MonkeyPatch) -> None:
    _replace_rule(patch, "unprimed", lambda alg, primed, instruction: primed & ~primed)


def _xxmtacc_may_read_what_is_in_use(patch: pytest.MonkeyPatch) -> None:
    def operands_only(alg: Algebra, primed: Array, i: Instruction) -> Array:
        unused: Array = primed & ~primed
        return unused if i.operation is Move.XXMTACC else CONDITIONS["vsr-in-use"](alg, primed, i)

    _replace_rule(patch, "vsr-in-use", operands_only)


def _eight_vsrs_to_an_accumulator(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(spec_priming, "_OWNER_SHIFT", 3)


def _a_clobber_loses_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(automaton, "after", partial(spec_priming.after, associated=False))


def _nothing_changes_the_state(patch: pytest.MonkeyPatch) -> None:
    for module in (automaton, machines):
        patch.setattr(module, "after", lambda alg, primed, instruction: primed)


def _other_accumulators_are_meant(patch: pytest.MonkeyPatch) -> None:
    own = spec_priming.own
    patch.setattr(spec_priming, "own", lambda alg, instruction: own(alg, instruction)[..., ::-1])


def _whoever_has_none_means_the_first(patch: pytest.MonkeyPatch) -> None:
    def own(alg: Any, instruction: Any) -> Any:
        return spec_priming.one_of(alg, instruction.accumulator or 0, spec_priming.ACCUMULATORS)

    patch.setattr(automaton, "own", own)


def _rows_are_moved_backwards(patch: pytest.MonkeyPatch) -> None:
    rows = spec_state.rows
    patch.setattr(spec_state, "rows", lambda flat: rows(flat)[..., ::-1, :])


def _shared_accumulators_are_kept_apart(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(spec_state, "accumulators", lambda state, aliasing: state.acc)


MUTANTS: list[Mutant] = [
    (_whoever_has_none_means_the_first, automaton.transition, "lxv"),
    (_priming_survives_xxmfacc, automaton.accepted_instructions, "xxmfacc"),
    (_nothing_needs_priming, automaton.accepted_instructions, "xvf64gerpp"),
    (_nothing_needs_priming, automaton.accepted_instructions, "xxmfacc"),
    (_nothing_needs_priming, automaton.after_xxmfacc, "xxmfacc"),
    (_nothing_needs_priming, machines.simulation, "xvi4ger8pp"),
    (_xxmtacc_may_read_what_is_in_use, automaton.accepted_instructions, "xxmtacc"),
    (_xxmtacc_may_read_what_is_in_use, machines.simulation, "xxmtacc"),
    (_eight_vsrs_to_an_accumulator, automaton.accepted_instructions, "lxv"),
    (_eight_vsrs_to_an_accumulator, automaton.accepted_instructions, "xvf64ger"),
    (_eight_vsrs_to_an_accumulator, automaton.after_clobber, "lxvp"),
    (_eight_vsrs_to_an_accumulator, machines.simulation, "stxvp"),
    (_a_clobber_loses_nothing, automaton.after_clobber, "lxv"),
    (_nothing_changes_the_state, automaton.after_xxmfacc, "xvi4ger8pp"),
    (_nothing_changes_the_state, automaton.transition, "xxsetaccz"),
    (_nothing_changes_the_state, automaton.primed_again, "xxmfacc"),
    (_nothing_changes_the_state, machines.simulation, "xxmtacc"),
    (_other_accumulators_are_meant, automaton.accepted_instructions, "xvi4ger8pp"),
    (_other_accumulators_are_meant, automaton.transition, "xxsetaccz"),
    (_other_accumulators_are_meant, machines.simulation, "xxsetaccz"),
    (_rows_are_moved_backwards, machines.simulation, "xxmfacc"),
    (_rows_are_moved_backwards, machines.simulation, "xxmtacc"),
    (_shared_accumulators_are_kept_apart, machines.simulation, "xvi4ger8"),
    (_shared_accumulators_are_kept_apart, machines.in_place, "shared/disjoint/xvi4ger8"),
]


@each(MUTANTS)
def test_mutants_are_refuted(
    monkeypatch: pytest.MonkeyPatch, mutate: Patch, theorem: Theorem, name: str
) -> None:
    obligation = of(theorem, name)
    mutate(monkeypatch)
    assert_refuted(decided(obligation))


@pytest.mark.parametrize("name", SHAPES)
def test_an_overlap_rule_that_forgets_the_second_operand_is_refuted(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (rule,) = (rule for rule in RULES if rule.id == "vsr-overlap")

    def forgetful(instruction: Any, target: Any) -> list[str]:
        return [message for message in rule.check(instruction, target) if not message.startswith("XB")]

    mutant: Rule = type(rule)(rule.id, rule.reason, rule.source, forgetful)
    monkeypatch.setattr(machines, "RULES", (mutant,))
    goal = of(machines.overlap, name).goal()
    assert judged(goal).status is Status.REFUTED


@pytest.mark.parametrize("name", SHAPES)
def test_an_automaton_that_disagrees_with_the_overlap_rule_is_refuted(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    goal = of(machines.overlap, f"{name}/automaton").goal()
    _eight_vsrs_to_an_accumulator(monkeypatch)
    assert judged(goal).status is Status.REFUTED
