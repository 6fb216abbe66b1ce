"""What decided is told from where it was decided, kept by the cache, and recorded for every theorem."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import toy_theorems as toy
from theorem_checks import SOLVE

from mmaproof.proofs import catalogue
from mmaproof.proofs.cache import Cache
from mmaproof.proofs.decision import decide
from mmaproof.proofs.obligation import Certificate, Method, Obligation, Property, Status, theorem_of
from mmaproof.proofs.recorded_methods import (
    COMMAND,
    record,
    recorded_method,
    recorded_methods,
)
from mmaproof.proofs.verdict import MEANINGS, meaning
from mmaproof.smt.solvers import Answer

IN_NO_TIME = {
    "power/masking/disabled/pmxvf32gerpp": "normal form",
    "power/layout/memory-order/xvbf16ger2/x/big": "bit origins",
    "power/layout/accumulator/f32": "enumeration, normal form",
    "power/blocked/ring/xvf32ger": "ring",
}


def differing(obligation: Obligation) -> Obligation:
    """Return the obligation of a claim that rewriting leaves to a solver."""
    prop = obligation.goal()
    assert isinstance(prop, Property)
    return replace(obligation, goal=lambda: replace(prop, abstract=False))


@pytest.mark.parametrize(
    ("obligation", "method"),
    [
        (toy.COMMUTES, "normal form"),
        (toy.FALSE, "counterexample"),
        (toy.PINNED, "counterexample"),
        (differing(toy.FALSE), "z3"),
        (toy.IN_RING, "ring"),
        (toy.ENUMERATED, "enumeration, normal form"),
    ],
)
def test_the_method_is_where_it_was_decided(obligation: Obligation, method: str) -> None:
    assert obligation.method.value != method
    assert decide(obligation, SOLVE).decided_by == method


@pytest.mark.parametrize("label", Method)
def test_no_label_makes_a_method(label: Method) -> None:
    if label is not Method.STRUCTURAL:  # which tries the origins of bits first, and these bits are added
        assert decide(replace(toy.COMMUTES, method=label), SOLVE).method == "normal form"


def test_all_solvers_that_answered_are_named_and_no_other() -> None:
    both = Answer("unsat", "z3 5.4.0, cvc5 1.4.2 (bitwuzla 0.9.1: timeout after 1 s)")
    verdict = decide(differing(toy.FALSE), lambda query: both)
    assert verdict.method == both.names == "z3, cvc5"
    assert meaning("z3, cvc5").startswith("z3 and cvc5 answered")


def test_what_is_undecided_has_no_method() -> None:
    wrong = Certificate(lambda: None, 1, toy.FALSE.goal())  # type: ignore[arg-type]
    verdict = decide(Obligation("a/b", "", lambda: wrong), SOLVE)
    assert (verdict.status, verdict.decided_by.partition(",")[0]) == (Status.ERROR, verdict.witness)


def test_the_cache_keeps_it(tmp_path: Path) -> None:
    cache, verdict = Cache(tmp_path), decide(toy.ENUMERATED, SOLVE)
    cache.keep_verdict("state", verdict)
    assert cache.verdicts("state")[verdict.id].decided_by == verdict.decided_by != ""


def test_every_method_has_a_meaning_and_nothing_else_has() -> None:
    assert all(map(meaning, (*MEANINGS, "z3", "bitwuzla", "cvc5")))
    with pytest.raises(ValueError, match="'smt' decides nothing"):
        meaning("smt")


def test_every_theorem_is_recorded() -> None:
    missing = [theorem.id for theorem in catalogue.theorems() if not recorded_method(f"{theorem.id}/any")]
    assert not missing, f"run {COMMAND} {' '.join(missing)}"


def test_a_record_reads_as_it_was_decided() -> None:
    methods = {
        obligation.id: decide(obligation, SOLVE).decided_by
        for obligation in toy.OBLIGATIONS.values()
        if obligation != toy.INDUCTIVE
    }
    by_id = {theorem.id: theorem for theorem in toy.THEOREMS}
    owners = {each: theorem_of(toy.OBLIGATIONS[each], by_id).id for each in methods}
    lines = record(methods, owners).splitlines()
    known = {prefix: method for prefix, _, method in (line.partition(": ") for line in lines)}
    assert {each: recorded_method(each, known) for each in methods} == methods
    assert recorded_method("power/other/theorem/case", known) == ""


@pytest.mark.parametrize("identifier", IN_NO_TIME)
def test_what_is_recorded_is_what_decides(identifier: str) -> None:
    verdict = decide(catalogue.obligations()[identifier], SOLVE)
    assert verdict.decided_by == recorded_method(identifier) == IN_NO_TIME[identifier]
    assert recorded_methods([identifier]) == (IN_NO_TIME[identifier],)
