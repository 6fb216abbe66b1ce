"""How far terms may be from their exact values on inputs: never less than they are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.analysis.approximations import documented_error
from mmaproof.refinement.analysis.rounding_errors import rounded_sum
from mmaproof.refinement.errors.error_bounds import ErrorBounds
from mmaproof.refinement.examine.counterexamples import telling
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.operations import Accumulation
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import BF16, F16, F32, F64, FloatFormat

from ..elementwise_kernels import result_of

FORMATS = [F16, BF16, F32, F64]


def exact(fmt: FloatFormat, word: int) -> Fraction:
    value = fmt.exact(int(word))
    assert value is not None
    return value


def finite(fmt: FloatFormat, small: bool) -> st.SearchStrategy[int]:
    """Return encodings from 2^-4 to 2^4 of either sign, all bits or few of them."""
    shift = fmt.fraction_bits - 2 if small else 0
    mantissas = st.integers(0, (1 << (fmt.fraction_bits - shift)) - 1)
    parts = st.tuples(st.booleans(), st.integers(-4, 3), mantissas)
    return parts.map(
        lambda each: each[0] * fmt.sign_mask | (each[1] + fmt.bias) << fmt.fraction_bits | each[2] << shift
    )


@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_a_sum_of_products_is_no_further_off_than_its_bound(data: st.DataObject) -> None:
    fmt = data.draw(st.sampled_from(FORMATS))
    count = data.draw(st.integers(1, 6))
    words = data.draw(st.lists(finite(fmt, data.draw(st.booleans())), min_size=2 * count, max_size=2 * count))
    store = TermStore()
    inputs = store.inputs("A", fmt, np.arange(2 * count))
    total, expected = store.constants(0, fmt.bits), Fraction(0)
    for x, y in zip(range(0, 2 * count, 2), range(1, 2 * count, 2), strict=True):
        if data.draw(st.booleans()):
            operation = operations.fused(fmt, ((fmt, fmt),), (fmt,))
            total = apply(store, operation, inputs[x], inputs[y], total)
        else:
            product = apply(store, operations.fused(fmt, ((fmt, fmt),)), inputs[x], inputs[y])
            total = apply(store, operations.fused(fmt, (), (fmt, fmt)), product, total)
        expected += exact(fmt, words[x]) * exact(fmt, words[y])
    bounds = ErrorBounds(store, {"A": np.array(words, dtype=np.uint64)})
    found = exact(fmt, bounds.words(np.array([total]))[0])
    assert abs(found - expected) <= Fraction(float(bounds.errors(np.array([total]))[0])) * (
        1 + Fraction(1, 1 << 40)
    )


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_a_matrix_unit_is_exact_on_small_integers_and_bounded_on_others(data: st.DataObject) -> None:
    small = data.draw(st.booleans())
    numbers = st.sampled_from([0, 0x3C00, 0x4000, 0xBC00]) if small else finite(F16, small=False)
    words = np.array(data.draw(st.lists(numbers, min_size=16, max_size=16)), dtype=np.uint64)
    store = TermStore()
    inputs = store.inputs("A", F16, np.arange(16))
    x, y = store.vectors(inputs[:8]), store.vectors(inputs[8:])
    dot = operations.dot(F32, F16, F16, F32, Accumulation("unspecified", 8))
    term = np.array([store.apply(dot, x, y, store.constants(0, 32))])
    bounds = ErrorBounds(store, {"A": words})
    error = float(bounds.errors(term)[0])
    total = sum(exact(F16, words[i]) * exact(F16, words[i + 8]) for i in range(8))
    assert abs(exact(F32, bounds.words(term)[0]) - total) <= error or error == 0
    if small:
        assert error == 0


def _sums(order: list[int], count: int, store: TermStore) -> np.ndarray:
    """Return the sum of the products of neighbours in f16, in an order, and then as f32."""
    inputs = store.inputs("A", F16, np.arange(count))
    total = store.constants(0, 16)
    for index in order:
        operation = operations.fused(F16, ((F16, F16),), (F16,))
        total = apply(store, operation, inputs[index], inputs[(index + 1) % count], total)
    return np.array([total])


def test_a_kernel_is_not_wrong_by_what_its_own_roundings_explain() -> None:
    """Two orders of a sum that cancels, in f16: their difference is large beside the result."""
    count, store = 256, TermStore()
    random = np.random.default_rng(3)
    signs = np.where(np.arange(count) % 4 < 2, 0, 0x8000).astype(np.uint64)
    words = (0x3C00 + random.integers(0, 1024, count)).astype(np.uint64) | signs
    forwards, backwards = (_sums(order, count, store) for order in ([*range(count)], [*range(count)][::-1]))
    bounds = ErrorBounds(store, {"A": words})
    left, right = (exact(F16, bounds.words(each)[0]) for each in (forwards, backwards))
    assert left != right
    assert telling(store, {"A": words}, forwards, backwards, F16) is None
    lacking = _sums([*range(count)][:-1], count, store)
    single = np.zeros(count, dtype=np.uint64)
    single[[0, count - 1]] = 0x3C00
    assert telling(store, {"A": single}, lacking, backwards, F16) == (0, pytest.approx(0, abs=1e-6))


@pytest.mark.parametrize(
    ("name", "off"), [("ex2.approx", 1e-7), ("ex2.approx.ftz", 1e-7), ("tanh.approx", 2e-4)]
)
def test_what_is_approximated_may_be_off_as_documented(name: str, off: float) -> None:
    results = np.array([1.0])
    assert off < documented_error(name, F32, results, results)[0] < 4 * off
    store = TermStore()
    argument = store.inputs("A", F32, np.arange(1))
    stem = name.partition(".")[0]
    kernel, wanted = (store.apply(operations.function(each, F32, F32), argument) for each in (name, stem))
    near = apply(store, operations.fused(F32, (), (F32, F32)), wanted, store.constants(0x33800000, 32))
    inputs = {"A": np.array([0x3F800000], dtype=np.uint64)}
    assert telling(store, inputs, kernel, near, F32) is None
    far = apply(store, operations.fused(F32, (), (F32, F32)), wanted, store.constants(0x3C800000, 32))
    assert telling(store, inputs, kernel, far, F32) is not None


def test_an_approximation_of_unknown_error_shows_nothing() -> None:
    assert documented_error("rsqrt.approx.ftz", F64, np.ones(1), np.ones(1))[0] == np.inf


@pytest.mark.parametrize("divisor", [0x00000000, 0x80000000, 0x40000000])
def test_inputs_by_which_a_contract_divides_by_zero_tell_nothing(divisor: int) -> None:
    """``keep * x / (1 - p)`` is no number at p = 1, where a kernel that chooses by `keep` has 0."""
    store = TermStore()
    keep, x, p = store.inputs("A", F32, np.arange(3))
    quotient = apply(
        store, operations.fused(F32, ((F32, F32),)), x, apply(store, operations.function("rcp", F32, F32), p)
    )
    expected = apply(store, operations.fused(F32, ((F32, F32),)), keep, quotient)
    zero, one = store.constants(np.array([0, 0x3F800000]), 32)
    inputs = {"A": np.array([0, 0x3F800000, divisor], dtype=np.uint64)}
    assert telling(store, inputs, np.array([zero]), np.array([expected]), F32) is None
    assert (telling(store, inputs, np.array([one]), np.array([expected]), F32) is None) == (
        divisor in (0, 1 << 31)
    )


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@pytest.mark.parametrize("negative", [False, True])
def test_a_mask_that_is_added_is_exact_whatever_it_is_added_to(fmt: FloatFormat, negative: bool) -> None:
    assert fmt.infinity is not None
    infinity = fmt.infinity | (fmt.sign_mask if negative else 0)
    store = TermStore()
    x, y = store.inputs("A", fmt, np.arange(2))
    root = apply(store, operations.function("sqrt", fmt, fmt), x)
    masked = apply(
        store, operations.fused(fmt, (), (fmt, fmt)), store.constants(infinity, fmt.bits), root.reshape(())
    )
    beyond = apply(store, operations.fused(fmt, (), (fmt, fmt)), y, root.reshape(()))
    two = (fmt.bias + 1) << fmt.fraction_bits
    bounds = ErrorBounds(store, {"A": np.array([two, fmt.largest], dtype=np.uint64)}, overflows=False)
    terms = np.array([root, masked, beyond]).reshape(-1)
    inexact, exactly, _ = bounds.errors(terms)
    assert inexact > 0 and exactly == 0
    assert int(bounds.words(terms)[1]) == infinity


def test_the_greatest_number_that_is_exact_may_be_what_a_greater_one_is_rounded_to() -> None:
    """1 + (1 + 2^-23) is no multiple of 2^-22, and is rounded to 2, of which 2^-23 is a unit."""
    unit = np.array([-23, -23, -23])
    values = np.array([2.0, 2.0 - 2.0**-23, 1.0])
    off = rounded_sum(F32, 2.0**-24, values, np.abs(values), unit)
    assert off[0] >= 2.0**-24 and (off[1:] == 0).all()


def test_roundings_alone_refute_nothing() -> None:
    body = "sub.f32 %f1, %B, %A; add.f32 %f1, %f1, %A; setp.eq.s32 %p1, %I, 1; selp.f32 %C, %f1, %A, %p1;"
    formula = "C[i] = where(I[i] == 0, A[i], 0) + where(I[i] == 1, B[i], 0)"
    arrays = {"A": "f32", "B": "f32", "I": "s32", "C": "f32 out"}
    assert result_of(body, formula, arrays, requires=["0 <= I[i] < 2"]).verdict != "refuted"
    assert result_of(body, formula, arrays).verdict == "refuted"  # where I is 2
