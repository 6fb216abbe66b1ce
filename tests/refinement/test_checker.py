"""What the checker may know, how little of it there is, and what it objects to."""

from __future__ import annotations

import ast
import pickle
import random
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest
from checker_terms import RIGHT, WRONG, Terms
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from source_modules import REPOSITORY

from mmaproof.refinement.checker.evaluated import ObjectionError, Taken
from mmaproof.refinement.checker.numbers import Name
from mmaproof.refinement.checker.points import around
from mmaproof.refinement.checker.residues import PRIME, inverse, plus, products, times, total
from mmaproof.refinement.examine.counterexamples import Difference, KernelCounterexample
from mmaproof.refinement.examine.trials import DisagreementError
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.spec.formats import F32

MODULES = sorted((REPOSITORY / "refinement" / "checker").glob("*.py"))
ALLOWED = {
    f"terms.{each}" for each in ("store", "operations", "traversal", "domains", "evaluation", "interning")
}
MOST_STATEMENTS = 600

RESIDUES = st.integers(0, PRIME - 1)


def test_the_checker_is_short_enough_to_read_in_an_hour() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in MODULES]
    statements = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    does_nothing = (ast.Import, ast.ImportFrom)
    docstrings = [statement for statement in statements if ast.unparse(statement).startswith(('"', "'"))]
    assert docstrings
    counted = (
        len(statements)
        - len(docstrings)
        - sum(isinstance(statement, does_nothing) for statement in statements)
    )
    assert 100 < counted <= MOST_STATEMENTS


def test_the_checker_imports_the_rows_of_terms_and_the_formats_alone() -> None:
    found = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 2:
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= names if node.module == "terms" else {str(node.module)}
            elif isinstance(node, ast.ImportFrom) and node.level == 3:
                assert str(node.module).startswith("spec."), (path, node.module)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 1 or not str(node.module).startswith("mmaproof")
    assert found <= ALLOWED


@given(RESIDUES, RESIDUES)
@settings(max_examples=examples(300), deadline=None)
def test_arithmetic_of_the_field(left: int, right: int) -> None:
    x, y = (np.array([each], dtype=np.uint64) for each in (left, right))
    with np.errstate(over="ignore"):
        assert int(times(x, y)[0]) == left * right % PRIME
        assert int(plus(x, y)[0]) == (left + right) % PRIME
        assert int(inverse(x)[0]) == (pow(left, -1, PRIME) if left else 0)


@given(st.lists(st.tuples(RESIDUES, RESIDUES), min_size=1, max_size=40))
@settings(max_examples=examples(200), deadline=None)
def test_sums_of_products_of_the_field(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.array([column, column], dtype=np.uint64) for column in zip(*pairs, strict=True))
    with np.errstate(over="ignore"):
        assert total(products(x, y)).tolist() == [sum(a * b for a, b in pairs) % PRIME] * 2
    largest = np.full((1, 1000), (1 << 64) - 1, dtype=np.uint64)
    assert int(total(largest)[0]) == 1000 * ((1 << 64) - 1) % PRIME


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_equal_over_the_reals_is_evaluated_without_objection(name: str) -> None:
    terms = Terms()
    report = terms.checked(*RIGHT[name](terms))
    assert report.by_residues + report.by_points == 1


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_equal_meets_an_objection(name: str) -> None:
    terms = Terms()
    with pytest.raises(ObjectionError, match="evaluate to"):
        terms.checked(*WRONG[name](terms))


class Grown:
    """A random term of f32, and the same with one node rewritten in a way that is right or wrong."""

    def __init__(self, seed: int) -> None:
        self.terms, self.random = Terms(), random.Random(seed)

    def term(self, depth: int) -> int:
        t = self.terms
        if not depth:
            return t.x(self.random.randrange(6)) if self.random.random() < 0.8 else t.number(0.75)
        one, other = self.term(depth - 1), self.term(depth - 1)
        return {
            "sum": lambda: t.plus(one, other),
            "product": lambda: t.times(one, other),
            "difference": lambda: t.plus(one, t.minus(other)),
            "quotient": lambda: t.function("div", one, t.plus(t.times(other, other), t.number(0.5))),
            "extremum": lambda: t.extremum(self.random.choice(["max", "min"]), one, other),
            "choice": lambda: t.choice(self.random.choice("<>"), one, other, other, t.minus(one)),
            "function": lambda: t.function("tanh", one),
            "sine": lambda: t.plus(t.function("sin", one), other),
            "wider": lambda: int(apply(t.store, operations.fused(F32, (), (F32,)), one)),
        }[self.random.choice(KINDS)]()

    def within(self, node: int, others: list[int]) -> int:
        """Return a term that is injective in a node."""
        t = self.terms
        return t.plus(others[0], t.times(t.number(1.5), t.function("tanh", t.times(node, t.number(0.125)))))

    def right(self) -> tuple[int, int]:
        t, (a, b, c) = self.terms, (self.term(2) for _ in range(3))
        pairs = [
            (t.times(a, t.plus(b, c)), t.plus(t.times(c, a), t.times(b, a))),
            (t.plus(t.plus(a, b), c), t.plus(a, t.plus(b, c))),
            (t.extremum("max", a, b), t.choice(">", b, a, b, a)),
            (t.extremum("min", a, b), t.minus(t.extremum("max", t.minus(a), t.minus(b)))),
            (t.function("sin", t.minus(a)), t.minus(t.function("sin", a))),
            (t.times(t.plus(a, b), t.plus(a, t.minus(b))), t.plus(t.times(a, a), t.minus(t.times(b, b)))),
            (t.function("div", a, t.number(4)), t.times(a, t.number(0.25))),
        ]
        one, other = self.random.choice(pairs)
        return self.within(one, [c]), self.within(other, [c])

    def wrong(self) -> tuple[int, int]:
        t, (x, y, c) = self.terms, (self.terms.x(7), self.terms.x(8), self.term(2))
        a = t.plus(x, t.times(c, t.number(0.5)))
        pairs = [
            (t.plus(a, y), t.plus(a, t.minus(y))),
            (t.times(a, y), t.times(a, x)),
            (t.times(y, t.number(1.0)), t.times(y, t.number(1.00006103515625))),
            (t.extremum("max", x, y), t.extremum("min", x, y)),
            (t.choice("<", x, y, x, c), t.choice(">", x, y, x, c)),
            (t.function("tanh", x), t.function("sin", x)),
            (t.function("div", x, y), t.function("div", y, x)),
            (t.plus(a, t.number(2.0**-20)), a),
        ]
        one, other = self.random.choice(pairs)
        return self.within(one, [c]), self.within(other, [c])


KINDS = ("sum", "product", "difference", "quotient", "extremum", "choice", "function", "sine", "wider")


@pytest.mark.parametrize("seed", range(60))
def test_no_right_rewriting_of_a_random_term_meets_an_objection(seed: int) -> None:
    grown = Grown(seed)
    grown.terms.checked(*grown.right())


@pytest.mark.parametrize("seed", range(60))
def test_wrong_rewritings_of_random_terms_meet_objections(seed: int) -> None:
    grown = Grown(seed)
    pair = grown.wrong()
    with pytest.raises(ObjectionError):
        grown.terms.checked(*pair)


def test_what_the_bits_of_comparisons_hide_is_not_taken_for_equal() -> None:
    """A hash of one bit would be that of another comparison every other time."""
    for index in range(20):
        t = Terms()
        pair = [t.choice(sign, t.x(index), t.number(77), t.x(50), t.x(51)) for sign in ("<", "<=")]
        try:
            assert not t.checked(*pair).by_residues
        except ObjectionError as objection:
            assert objection.member == 0


def test_small_wrong_outputs_do_not_pass_for_functions_written_out() -> None:
    t = Terms()
    small = t.times(t.function("ex2", t.x(0)), t.number(2.0**-20))
    report = t.checked(small, t.times(small, t.number(1.0 + 2.0**-20)), Taken(2.0**-18))
    assert report.by_points == 1
    report = t.checked(small, t.times(small, t.number(3.0)), Taken(2.0**-18))
    assert report.open.total() == 1
    with pytest.raises(ObjectionError):
        t.checked(
            t.function("ex2", t.x(0)), t.times(t.function("ex2", t.x(0)), t.number(1.01)), Taken(2.0**-18)
        )


def test_a_formula_that_overflows_says_nothing_of_the_kernel() -> None:
    """``expm1f`` stops at the greatest number; the formula goes on beyond the format."""
    t = Terms()
    square = t.times(t.x(0), t.x(0))
    pair = t.extremum("min", square, t.number(float(np.finfo(np.float32).max))), square

    def great(words: Mapping[Name, int]) -> dict[Name, int]:
        return dict.fromkeys(words, int(np.float32(2.0**100).view(np.uint32)))

    report = t.checked(*pair, Taken(admitted=great))
    assert list(report.open) == ["no finite numbers of the format"]
    with pytest.raises(ObjectionError):
        t.checked(*pair[::-1], Taken(admitted=great))


def test_inputs_meet_the_conditions_between_them() -> None:
    """`x[0] < x[1]`: what is equal there alone meets no objection."""
    t = Terms()
    pair = t.extremum("max", t.x(0), t.x(1)), t.x(1)
    with pytest.raises(ObjectionError):
        t.checked(*pair)

    def ordered(words: Mapping[Name, int]) -> dict[Name, int]:
        names = sorted(words, key=lambda name: name[2])
        floats = sorted(float(np.uint32(words[name]).view(np.float32)) for name in names)
        return {name: int(np.float32(each).view(np.uint32)) for name, each in zip(names, floats, strict=True)}

    assert t.checked(*pair, Taken(admitted=ordered)).by_points == 1
    assert t.checked(*pair, Taken(admitted=lambda words: None)).open.total() == 1


def test_objections_can_be_sent_to_another_process() -> None:
    objection = ObjectionError(3, "1", "2", {("x", F32, 0): 7})
    again = pickle.loads(pickle.dumps(objection))
    assert (again.member, again.actual, again.inputs, str(again)) == (
        3,
        "1",
        objection.inputs,
        str(objection),
    )
    difference = Difference("Y[0]", "1", "2")
    found = KernelCounterexample("k", None, "c", {}, {}, difference, 0.0, 0.0)
    sent = pickle.loads(pickle.dumps(DisagreementError(found, "evaluated again")))
    assert (sent.counterexample, str(sent)) == (found, str(DisagreementError(found, "evaluated again")))


@pytest.mark.parametrize("number", [Fraction(1, 10**30), Fraction(1, 1000), Fraction(3), Fraction(0)])
def test_points_lie_on_both_sides_of_a_number_and_near_for_its_size(number: Fraction) -> None:
    near = [each for each in around([number]) if abs(each - number) <= (abs(number) or 1) / 32]
    assert {(each > number) - (each < number) for each in near} == {0, 1, -1}
