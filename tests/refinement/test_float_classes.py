"""What operations make of float classes holds of every float, and what must be NaN is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.analysis import float_classes as classes
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import evaluate
from mmaproof.refinement.terms.store import Operation
from mmaproof.spec.formats import E2M1, E4M3, E5M2, F16, F32, FloatFormat
from mmaproof.spec.rounding import Rounding

RELATIONS = ["lt", "le", "gt", "ge", "eq", "ne", "ltu", "leu", "gtu", "geu", "equ", "neu", "num", "nan"]
SPECIAL = [0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x00000000, 0x80000000]
SPREAD = [np.float32(each).view(np.uint32) for each in (1, -1, 0.75, -2.5, 3, -0.125)]
WORDS = st.sampled_from([*SPECIAL, *map(int, SPREAD)])
SETS = st.integers(1, classes.ANYTHING)

FUNCTIONS = ["ex2", "lg2", "rcp", "sqrt", "rsqrt", "tanh", "sin", "cos", "erf", "rint", "floor", "ex2.approx"]


def value(operation: Operation, *words: int) -> int:
    found = evaluate(operation, [np.array([word], dtype=np.uint64) for word in words])
    return int(np.atleast_1d(found)[0])


def of(word: int, fmt: FloatFormat = F32) -> int:
    return classes.of_word(word, fmt)


def is_among(found: int, expected: int) -> bool:
    """Tell whether a class is in a set; that a number happens to be 0, or underflows, is excluded."""
    return bool(found & expected or (found == classes.ZERO and expected & classes.NUMBER))


SUM = operations.fused(F32, addends=(F32, F32))
PRODUCT = operations.fused(F32, ((F32, F32),))
QUOTIENT = operations.function("div.rn", F32, F32, F32)


@given(WORDS, WORDS)
def test_sums_products_and_quotients(left: int, right: int) -> None:
    for operation, rule in ((SUM, classes.added), (PRODUCT, classes.multiplied), (QUOTIENT, classes.divided)):
        assert is_among(of(value(operation, left, right)), rule(of(left), of(right)))


@pytest.mark.parametrize("which", ["max", "min"])
@pytest.mark.parametrize("nan", [False, True])
@given(left=WORDS, right=WORDS)
def test_extrema(which: str, nan: bool, left: int, right: int) -> None:
    found = of(value(operations.extremum(F32, which, nan=nan), left, right))
    expected = classes.extreme(of(left), of(right), which, nan=nan)
    assert found & expected or expected == classes.LOST
    assert (expected == classes.LOST) == (not nan and [of(left), of(right)].count(classes.NAN) == 1)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("constant", [False, True])
def test_comparisons(relation: str, constant: bool) -> None:
    for left in (*SPECIAL, *map(int, SPREAD)):
        for right in (*SPECIAL, *map(int, SPREAD)):
            holds = value(operations.compare(F32, relation), left, right)
            found = classes.compared(relation, of(left), of(right), constant=constant)
            cancels = of(left) == of(right) and bool(of(left) & classes.INFINITE) and not constant
            assert (found == classes.LOST_BIT) == (classes.NAN in (of(left), of(right)) or cancels)
            assert found & (classes.LOST_BIT | (classes.TRUE if holds else classes.FALSE))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    operation = operations.function(name, F32, F32)
    for word in (*SPECIAL, *map(int, SPREAD)):
        assert is_among(of(value(operation, word)), classes.of_unary(operation, of(word)))


@pytest.mark.parametrize("result", [F16, E4M3, E5M2, E2M1])
@pytest.mark.parametrize("saturate", [False, True])
def test_conversions(result: FloatFormat, saturate: bool) -> None:
    operation = operations.convert(result, F32, Rounding.NEAREST_EVEN, saturate=saturate)
    for word in (*SPECIAL, *map(int, SPREAD)):
        assert is_among(of(value(operation, word), result), classes.of_unary(operation, of(word)))


@given(SETS, SETS, SETS)
def test_sets_are_no_smaller_for_larger_ones(one: int, other: int, more: int) -> None:
    for rule in (classes.added, classes.multiplied, classes.divided):
        smaller, larger = rule(one, other), rule(one | more, other)
        assert smaller & larger == smaller


def test_a_value_must_be_nan_only_if_nothing_else_is_left() -> None:
    either, both = classes.INFINITE, classes.NUMBER
    assert classes.added(classes.POSITIVE_INFINITY, classes.NEGATIVE_INFINITY) == classes.NAN
    assert classes.added(either, classes.POSITIVE_INFINITY) != classes.NAN
    assert classes.multiplied(either, classes.ZERO) == classes.NAN
    assert classes.multiplied(classes.POSITIVE_INFINITY, both) == classes.INFINITE
    assert classes.divided(classes.ZERO, classes.ZERO) == classes.NAN
    assert classes.divided(both, classes.ZERO) == classes.INFINITE
    assert classes.of_unary(operations.function("lg2", F32, F32), both) == both
    assert classes.of_unary(operations.function("lg2", F32, F32), classes.NEGATIVE) == classes.NAN
