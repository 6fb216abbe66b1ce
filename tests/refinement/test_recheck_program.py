"""What rechecks certificates: numbers modulo a prime, and a program that stands alone."""

from __future__ import annotations

import ast
from fractions import Fraction
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.recheck.residues import Point, inverse, number, plus, times

RECHECK = Path(__file__).parents[2] / "refinement" / "recheck"


# -- residues
@given(st.fractions(), st.fractions())
def test_residues_are_a_field(x: Fraction, y: Fraction) -> None:
    left, right = number(x), number(y)
    assert plus(left, right).value == number(x + y).value
    assert times(left, right).value == number(x * y).value
    if x:
        assert times(left, inverse(left)).value == 1


def test_an_equation_defines_only_what_nobody_has_asked_for() -> None:
    point = Point()
    ex2 = point.functions["ex2"]
    x, y = point.applied("x"), point.applied("y")
    asked = ex2(x)
    assert not point.equated(lambda: ex2(x), lambda: y)
    assert ex2(x) == asked
    assert point.equated(lambda: ex2(plus(x, y)), lambda: times(ex2(x), ex2(y)))
    assert ex2(plus(y, x)).value == times(ex2(y), ex2(x)).value
    assert not point.equated(lambda: ex2(y), lambda: y)


def test_an_equation_may_not_define_an_application_by_itself() -> None:
    point = Point()
    ex2, x = point.functions["ex2"], point.applied("x")
    assert not point.equated(lambda: ex2(x), lambda: plus(ex2(x), number(1)))


# -- the program
def test_the_recheck_imports_neither_engine_nor_machine() -> None:
    for path in RECHECK.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                module = (node.module or "").partition(".")[0]
                assert (node.level, module) in ((2, "rules"), (3, "spec")) or node.level == 1, path


def test_the_recheck_has_at_most_400_statements() -> None:
    """Imports and docstrings not counted, as of the checker."""
    count = 0
    for path in RECHECK.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            is_left_out = is_text or isinstance(node, ast.Import | ast.ImportFrom)
            count += isinstance(node, ast.stmt) and not is_left_out
    assert count <= 400
