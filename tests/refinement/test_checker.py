"""What the checker may know, how little of it there is, and what it objects to."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from source_modules import REPOSITORY

from mmaproof.refinement import operations
from mmaproof.refinement.checker.evaluated import Checked, ObjectionError, checked
from mmaproof.refinement.checker.residues import PRIME, inverse, plus, times
from mmaproof.refinement.evaluation import apply
from mmaproof.refinement.terms import TermStore
from mmaproof.spec.formats import F32, FloatFormat

MODULES = sorted((REPOSITORY / "refinement" / "checker").glob("*.py"))
ALLOWED = {"terms", "operations", "traversal", "evaluation", "interning"}
MOST_STATEMENTS = 850

RESIDUES = st.integers(0, PRIME - 1)


def test_the_checker_is_short_enough_to_read_in_an_hour() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in MODULES]
    statements = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    does_nothing = (ast.Import, ast.ImportFrom)
    docstrings = [each for each in statements if ast.unparse(each).startswith(('"', "'"))]
    assert docstrings
    counted = len(statements) - len(docstrings) - sum(isinstance(each, does_nothing) for each in statements)
    assert 100 < counted <= MOST_STATEMENTS


def test_the_checker_imports_the_rows_of_terms_and_the_formats_alone() -> None:
    found = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 2:
                found |= {node.module} if node.module else {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 3:
                assert str(node.module).startswith("spec."), (path, node.module)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 1 or not str(node.module).startswith("mmaproof")
    assert found <= ALLOWED


@given(RESIDUES, RESIDUES)
@settings(max_examples=300, deadline=None)
def test_arithmetic_of_the_field(left: int, right: int) -> None:
    x, y = (np.array([each], dtype=np.uint64) for each in (left, right))
    with np.errstate(over="ignore"):
        assert int(times(x, y)[0]) == left * right % PRIME
        assert int(plus(x, y)[0]) == (left + right) % PRIME
        assert int(inverse(x)[0]) == (pow(left, -1, PRIME) if left else 0)


class Terms:
    """Terms of f32 over inputs of an array."""

    def __init__(self) -> None:
        self.store = TermStore()

    def x(self, index: int, fmt: FloatFormat = F32) -> int:
        return int(self.store.inputs("x", fmt, index))

    def number(self, value: float) -> int:
        return int(self.store.constants(int(np.float32(value).view(np.uint32)), 32))

    def plus(self, one: int, other: int) -> int:
        return self._made(operations.fused(F32, (), (F32, F32)), one, other)

    def times(self, one: int, other: int) -> int:
        return self._made(operations.fused(F32, ((F32, F32),)), one, other)

    def minus(self, one: int) -> int:
        return self._made(operations.negate(F32), one)

    def function(self, name: str, *of: int) -> int:
        return int(self.store.apply(operations.function(name, F32, *(F32,) * len(of)), *of))

    def extremum(self, which: str, one: int, other: int) -> int:
        return self._made(operations.extremum(F32, which), one, other)

    def choice(self, sign: str, one: int, other: int, then: int, otherwise: int) -> int:
        condition = self._made(operations.compare_as(F32, sign), one, other)
        return self._made(operations.select(32), condition, then, otherwise)

    def _made(self, operation: operations.Operation, *of: int) -> int:
        return int(apply(self.store, operation, *of))

    def checked(self, one: int, other: int) -> Checked:
        return checked(self.store, np.array([one], np.int32), np.array([other], np.int32), F32)


RIGHT = {
    "distributed": lambda t: (
        t.times(t.x(0), t.plus(t.x(1), t.x(2))),
        t.plus(t.times(t.x(0), t.x(1)), t.times(t.x(0), t.x(2))),
    ),
    "a quotient is a product": lambda t: (
        t.function("div", t.x(0), t.x(1)),
        t.times(t.x(0), t.function("rcp", t.x(1))),
    ),
    "a power of a sum": lambda t: (
        t.function("ex2.approx.ftz", t.plus(t.x(0), t.x(1))),
        t.times(t.function("ex2", t.x(0)), t.function("ex2", t.x(1))),
    ),
    "a maximum is a choice": lambda t: (
        t.extremum("max", t.x(0), t.x(1)),
        t.choice(">", t.x(0), t.x(1), t.x(0), t.x(1)),
    ),
    "a third of three": lambda t: (t.times(t.times(t.x(0), t.number(1 / 3)), t.number(3)), t.x(0)),
    "a root of a square": lambda t: (
        t.function("sqrt", t.times(t.x(0), t.x(0))),
        t.extremum("max", t.x(0), t.minus(t.x(0))),
    ),
    "a hyperbolic tangent": lambda t: (
        t.function("tanh.approx", t.x(0)),
        t.minus(t.function("tanh", t.minus(t.x(0)))),
    ),
}

WRONG = {
    "a sign": lambda t: (t.plus(t.x(0), t.x(1)), t.plus(t.x(0), t.minus(t.x(1)))),
    "another element": lambda t: (t.times(t.x(0), t.x(1)), t.times(t.x(0), t.x(2))),
    "a constant": lambda t: (t.times(t.x(0), t.number(0.5)), t.times(t.x(0), t.number(0.50001))),
    "a great constant": lambda t: (t.plus(t.plus(t.x(0), t.number(2**23)), t.number(-(2**23))), t.x(0)),
    "a power": lambda t: (t.function("ex2", t.x(0)), t.function("ex2", t.times(t.x(0), t.number(1.0001)))),
    "a limit": lambda t: (t.extremum("max", t.x(0), t.number(0)), t.extremum("max", t.x(0), t.number(0.25))),
    "a limit far away": lambda t: (t.extremum("min", t.x(0), t.number(6000)), t.x(0)),
    "a hole": lambda t: (
        t.choice(
            "<",
            t.extremum("max", t.plus(t.x(0), t.number(-3.3)), t.minus(t.plus(t.x(0), t.number(-3.3)))),
            t.number(0.001),
            t.number(0),
            t.times(t.x(0), t.x(0)),
        ),
        t.times(t.x(0), t.x(0)),
    ),
    "an end of a choice": lambda t: (
        t.choice("<", t.x(0), t.number(77), t.x(0), t.x(1)),
        t.choice("<=", t.x(0), t.number(77), t.x(0), t.x(1)),
    ),
    "NaN for all inputs": lambda t: (t.plus(t.x(0), t.number(np.nan)), t.x(0)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_equal_over_the_reals_is_evaluated_without_objection(name: str) -> None:
    terms = Terms()
    report = terms.checked(*RIGHT[name](terms))
    assert report.by_residues + report.by_points == 1


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_equal_meets_an_objection(name: str) -> None:
    terms = Terms()
    with pytest.raises(ObjectionError, match="evaluated again"):
        terms.checked(*WRONG[name](terms))
