"""What was proved is decided again by other programs, and a fault of the rewriting does not survive it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import toy_theorems as toy
import z3
from theorem_checks import SOLVE

from mmaproof.proofs import catalogue
from mmaproof.proofs.decision import decide
from mmaproof.proofs.obligation import (
    Equation,
    Goal,
    Inputs,
    IntegerProperty,
    Obligation,
    Property,
    RingProperty,
    Status,
    Variable,
    holds,
)
from mmaproof.proofs.recheck import Asking, recheck
from mmaproof.proofs.rechecking import Recheck, decide_again, possible
from mmaproof.proofs.runner import Settings
from mmaproof.proofs.verdict import RING, Verdict
from mmaproof.smt import bit_fields, number_algebra
from mmaproof.smt.dyadic import NO_TRANSLATION
from mmaproof.smt.solvers import Answer, Query
from mmaproof.smt.z3_algebra import Z3Algebra, elementwise
from mmaproof.spec.algebra import Algebra, Array, Operand
from mmaproof.spec.formats import F32, U8, U16, U32, U64
from mmaproof.spec.rounding import Rounding

WORDS = (Variable("w", U32, (2,)),)


def twice(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    """Bytes that are taken apart and put together are the words."""
    yield Equation(alg.unpack(alg.pack(v["w"], U32), U32), v["w"], U32)


def swapped(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    """The words are their own mirror images, which is false."""
    yield Equation(v["w"][::-1], v["w"], U32)


def again(goal: Goal, solve=SOLVE, naively=SOLVE, over_reals=SOLVE) -> Verdict:
    whom = [each if isinstance(each, Asking) else Asking(each, each) for each in (solve, naively, over_reals)]
    return recheck(Obligation("a/b/c", "", lambda: goal), *whom)


def never(query: Query) -> Answer:
    raise AssertionError("nothing is to be asked of it")


@pytest.mark.parametrize("abstract", [False, True])
def test_what_rewriting_proved_is_asked_whole_and_naively(abstract: bool) -> None:
    asked: list[Query] = []

    def recording(query: Query) -> Answer:
        asked.append(query)
        return SOLVE(query)

    verdict = again(Property(WORDS, twice, abstract=abstract), never, recording, never)
    assert verdict.status is Status.PROVED and verdict.solver.startswith("z3")
    (query,) = asked
    assert not query.trivial and query.text.count("concat") >= 2 and "extract" in query.text


@pytest.mark.parametrize("claim", [swapped, toy._absorption])
def test_a_normal_form_that_proves_a_falsehood_is_contradicted(
    monkeypatch: pytest.MonkeyPatch, claim
) -> None:
    """Every equation is true to a faulty `same`: the first decision believes it, the second doesn't."""
    variables = WORDS if claim is swapped else toy.BYTES

    def true(alg: Z3Algebra, left: Array, right: Array) -> Array:
        return elementwise(lambda *_: z3.BoolVal(True), left, right)

    wrong = Obligation("a/b/c", "", lambda: Property(variables, claim))
    monkeypatch.setattr(Z3Algebra, "same", true)
    verdict = decide(wrong, SOLVE)
    assert (verdict.status, verdict.method) == (Status.PROVED, "normal form")
    second = again(wrong.goal(), never)
    assert second.status is Status.REFUTED and "numpy confirms" in second.message
    worth = Recheck({"a/b/c": second}).worth(verdict)
    assert worth.status is Status.ERROR and "normal form proved it" in worth.message


def halves(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    """The words with their middle bytes exchanged have the squares that the words have: false."""
    exchanged = alg.integer(alg.unpack(alg.pack(v["w"], U32)[..., [0, 2, 1, 3, 4, 5, 6, 7]], U32), U32)
    words = alg.integer(v["w"], U32)
    yield Equation(alg.wrap(exchanged * exchanged + exchanged, U32), alg.wrap(words * (words + 1), U32), U32)


def exchanged_factors(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    """A sum is the same with a factor for the addend, which is false."""
    x, y, z = (Operand(v[name], F32) for name in "xyz")
    sums = [alg.fused(F32, Rounding.NEAREST_EVEN, [(x, a)], [b]) for a, b in ((y, z), (z, y))]
    yield Equation(*sums, F32)


def joins_what_does_not_fit(patch: pytest.MonkeyPatch) -> None:
    def extended(field: bit_fields._Field, lower: bit_fields._Field) -> bit_fields._Field | None:
        return (
            bit_fields._Field(field.base, field.high, lower.low)
            if field.base.value == lower.base.value
            else None
        )

    patch.setattr(bit_fields._Field, "extended", extended)


def sorts_the_operands_of_sums(patch: pytest.MonkeyPatch) -> None:
    applied = number_algebra.applied

    def sorted_first(function: z3.FuncDeclRef, *arguments: z3.ExprRef) -> z3.ExprRef:
        return applied(function, *sorted(arguments, key=lambda each: (each.size() > 2, each.get_id())))

    patch.setattr(number_algebra, "applied", sorted_first)


FLOATS = tuple(Variable(name, F32, (1,)) for name in "xyz")


@pytest.mark.parametrize(
    ("fault", "prop", "method"),
    [
        (joins_what_does_not_fit, Property(WORDS, halves, abstract=False), "z3"),
        (sorts_the_operands_of_sums, Property(FLOATS, exchanged_factors), "normal form"),
    ],
)
def test_a_fault_of_the_translation_that_a_solver_is_given_does_not_survive(
    monkeypatch: pytest.MonkeyPatch, fault: Callable[[pytest.MonkeyPatch], None], prop: Property, method: str
) -> None:
    wrong = Obligation("a/b/c", "", lambda: prop)
    fault(monkeypatch)
    verdict = decide(wrong, SOLVE)
    assert (verdict.status, verdict.method) == (Status.PROVED, method)
    second = again(prop)
    assert second.status is Status.REFUTED and "numpy confirms" in second.message


def test_what_a_solver_proved_goes_to_the_other_as_it_was_asked() -> None:
    def distributes(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x, y = alg.integer(v["x"], U8), alg.integer(v["y"], U8)
        yield Equation(alg.wrap((x + alg.whole(1)) * y, U8), alg.wrap(x * y + y, U8), U8)

    prop = Property((Variable("x", U8), Variable("y", U8)), distributes, abstract=False)
    assert again(prop, SOLVE, never, never).status is Status.PROVED
    late = again(prop, lambda query: Answer("unknown", "other 1", message="timeout after 1 s"), never)
    assert (late.status, late.message) == (Status.UNKNOWN, "timeout after 1 s")
    wrong = again(prop, lambda query: Answer("sat", "other 1"), never)
    assert wrong.status is Status.REFUTED and "numpy does not confirm" in wrong.message


def test_polynomials_are_compared_as_functions_of_the_reals() -> None:
    def square(alg: Algebra, v: Inputs, term: int) -> Iterator[Equation]:
        x, y = v["x"][0], v["y"][0]
        yield Equation((x + y) * (x + y), x * x + term * x * y + y * y)

    identity, falsehood = (RingProperty(toy.BYTES, partial(square, term=term)) for term in (2, 3))
    assert again(identity, never, never).status is Status.PROVED
    assert again(falsehood, never, never).status is Status.REFUTED


def test_what_can_t_be_decided_again_is_said_with_the_reason() -> None:
    verdicts = [replace(decide(obligation, SOLVE)) for obligation in toy.OBLIGATIONS.values()]
    ids, reasons = possible(verdicts)
    assert ids == [toy.COMMUTES.id, toy.ENUMERATED.id]
    assert set(reasons) | set(ids) == set(toy.OBLIGATIONS) and all(reasons.values())
    tables = Verdict("a/b/c", Status.PROVED, "numpy", method="comparison")
    assert possible([tables])[0] == []


def test_unconfirmed_is_unknown_and_never_a_pass() -> None:
    first = Verdict("a/b/c", Status.PROVED, "z3 1", method="z3")
    found = Recheck({"a/b/c": Verdict("a/b/c", Status.UNKNOWN, "", message="timeout after 1 s")})
    assert found.worth(first).status is Status.UNKNOWN
    assert found.worth(first).message == "z3 proved it, but decided again: timeout after 1 s"
    assert Recheck().worth(first) is first


def test_the_catalogue_is_decided_again_in_processes() -> None:
    sample = ["power/masking/disabled/pmxvf32gerpp", "power/blocked/ring/xvf32gernp"]
    truncated = [f"ptx/numerics/dot-add-{each}/24-bits/k4" for each in ("sum", "truncation", "order")]
    sample += truncated
    first = [decide(catalogue.obligations()[each], SOLVE) for each in sample]
    assert first[1].method == RING
    reported: list[str] = []
    found = decide_again(first, Settings(jobs=1), lambda verdict: reported.append(verdict.id))
    assert sorted(reported) == sorted(sample)
    assert found.count(Status.PROVED) == found.by_solver.total() == len(found.again) == 2
    assert found.not_possible == dict.fromkeys(truncated, NO_TRANSLATION)


class Asked:
    """Solvers that answer what they are said to, and note who was asked."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def whoever(self, name: str, answers: Callable[[Query], bool]) -> Callable[[Query], Answer]:
        def solve(query: Query) -> Answer:
            self.names.append(name)
            return SOLVE(query) if answers(query) else Answer("unknown", name, message="too much")

        return solve


THREE = {"first": U16, "second": U32, "third": U64}


def apart(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    """Words of three widths that are taken apart and put together are the words."""
    for name, fmt in THREE.items():
        yield Equation(alg.unpack(alg.pack(v[name], fmt), fmt), v[name], fmt)


def single(query: Query) -> bool:
    return sum(name in query.text for name in THREE) == 1


def test_what_is_too_much_together_is_asked_one_by_one() -> None:
    words = Property(tuple(Variable(name, fmt, (1,)) for name, fmt in THREE.items()), apart, abstract=False)
    asked = Asked()
    quick = asked.whoever("quick", lambda query: single(query) and "second" not in query.text)
    verdict = again(words, never, Asking(quick, asked.whoever("patient", single)), never)
    assert verdict.status is Status.PROVED
    assert asked.names == ["quick", "quick", "quick", "patient", "quick"]
    asked.names.clear()
    verdict = again(words, never, Asking(quick, asked.whoever("patient", lambda query: False)), never)
    assert (verdict.status, verdict.message) == (Status.UNKNOWN, "too much")
    assert asked.names == ["quick", "quick", "quick", "patient"]
    wrong = Property(WORDS, swapped, abstract=False)
    verdict = again(wrong, Asking(asked.whoever("quick", lambda query: False), SOLVE), never, never)
    assert verdict.status is Status.REFUTED


def test_who_gives_up_soonest_is_asked_first_and_once_where_there_is_one_goal() -> None:
    asked = Asked()
    nobody, somebody = (lambda query: False), (lambda query: True)
    whom = Asking(
        asked.whoever("quick", nobody), asked.whoever("patient", somebody), asked.whoever("brief", nobody)
    )
    one = Property((Variable("w", U32, (1,)),), twice, abstract=False)
    assert again(one, never, whom, never).status is Status.PROVED
    assert asked.names == ["brief", "quick", "patient"]


def test_goals_that_are_the_same_but_for_names_are_asked_about_once() -> None:
    asked = Asked()
    quick = asked.whoever("quick", lambda query: "w_1" not in query.text)
    whom = Asking(quick, asked.whoever("patient", lambda query: False))
    words = Property((Variable("w", U32, (4,)),), twice, abstract=False)
    assert again(words, never, whom, never).status is Status.PROVED
    assert asked.names == ["quick", "quick"]


@pytest.mark.parametrize("place", range(4))
def test_one_wrong_goal_among_many_alike_is_found(place: int) -> None:
    """Its shape is another one, so that what was proved of the others says nothing of it."""

    def one_swapped(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        order = np.arange(4)
        order[place] = (place + 1) % 4
        yield Equation(alg.unpack(alg.pack(v["w"][order], U32), U32), v["w"], U32)

    whom = Asking(Asked().whoever("quick", lambda query: query.text.count("concat") <= 3), SOLVE)
    words = Property((Variable("w", U32, (4,)),), one_swapped, abstract=False)
    assert again(words, whom, whom, never).status is Status.REFUTED


def test_quotients_go_to_the_other_solver_by_their_definition() -> None:
    """Also where it divides itself, it does not decide them in time otherwise."""

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        place, blocks = v["place"], v["blocks"]
        inside = alg.below(place, blocks * 1024)
        yield holds(alg, alg.below((place // 1024) * 64 + place % 1024 % 64, blocks * 64), "line", inside)

    texts: list[str] = []

    def recording(query: Query) -> Answer:
        texts.append(query.text)
        return SOLVE(query)

    prop = IntegerProperty((Variable("place", U32), Variable("blocks", U32)), claim)
    assert again(prop, never, never, recording).status is Status.PROVED
    assert texts and not any("(div" in text or "(mod" in text for text in texts)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "identifier", ["power/integers/overflow/xvi16ger2", "power/blocked/ragged/pmxvi16ger2pp"]
)
def test_what_no_solver_decides_whole_is_confirmed(identifier: str) -> None:
    """By abstraction of products, and element by element."""
    pytest.importorskip("bitwuzla")
    verdict = Verdict(identifier, Status.PROVED, "z3", method="z3")
    second = decide_again([verdict], Settings(jobs=1, cache=None))
    assert [each.status for each in second.again.values()] == [Status.PROVED]
