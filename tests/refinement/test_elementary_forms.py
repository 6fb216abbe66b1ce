"""Normal forms of powers, logarithms, quotients and roots: what is equal over the reals, and nothing else."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from contract_texts import contract_of
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from real_expressions import Expressions, NoValueError

from mmaproof.refinement.analysis.literal_constants import fraction
from mmaproof.refinement.equality.equivalence import Comparison, compare
from mmaproof.refinement.expected.contract_terms import expected_terms
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import BF16, F16, F32, F64, FloatFormat

SIZES = {"M": 2, "N": 5}
ARRAYS = {"X": "f32 M N", "S": "f32 M N", "V": "f32 N N", "a": "f32 M", "b": "f32 M", "Y": "f32 M N out"}


def compared(first: str, second: str, let: tuple[str, ...] = ()) -> Comparison:
    store = TermStore()
    instances = [
        next(contract_of(f"Y[i, j] = {text}", ARRAYS, sizes=SIZES, let=let).instances())
        for text in (first, second)
    ]
    terms = [expected_terms(instance, instance.outputs[0], store).reshape(-1) for instance in instances]
    return compare(NormalForms(store), *terms, instances[0].outputs[0].format)


def equal(first: str, second: str, let: tuple[str, ...] = ()) -> bool:
    return bool(compared(first, second, let).equal.all())


ROWS = ("m[i] = max(k, X[i, k])", "l[i] = sum(k, exp(X[i, k]))", "mean[i] = sum(k, X[i, k]) / N")

IDENTITIES = [
    ("exp(X[i, j] - m[i]) / sum(k, exp(X[i, k] - m[i]))", "exp(X[i, j]) / l[i]"),
    ("exp(X[i, j] - a[i]) / sum(k, exp(X[i, k] - a[i]))",
     "exp(X[i, j] + b[i]) / sum(k, exp(X[i, k] + b[i]))"),
    ("exp2(X[i, j] + 3) / 8", "exp2(X[i, j])"),
    ("exp2(X[i, j] + 0.5) * exp2(0.5 - X[i, j])", "2 + 0 * X[i, j]"),
    ("log2(exp2(X[i, j]) * 4) + 0.25", "X[i, j] + 2.25"),
    ("log2(sum(k, exp2(X[i, k] - m[i]))) + m[i] - X[i, j]", "log2(sum(k, exp2(X[i, k]))) - X[i, j]"),
    ("rsqrt(a[i]) * X[i, j]", "X[i, j] / sqrt(a[i])"),
    ("rsqrt(a[i]) * rsqrt(a[i])", "rcp(a[i])"),
    ("sqrt(a[i] + b[i]) * sqrt(b[i] + a[i]) - b[i]", "a[i] + 0 * X[i, j]"),
    ("sqrt(4 * a[i])", "2 * sqrt(a[i])"),
    ("1 / sqrt(a[i])", "rsqrt(a[i])"),
    ("a[i] * X[i, j] / (a[i] * b[i])", "X[i, j] * a[i] / b[i] / a[i]"),
    ("X[i, j] / (2 * a[i] + 4 * b[i])", "0.5 * X[i, j] / (a[i] + 2 * b[i])"),
    ("silu(X[i, j])", "X[i, j] * exp(X[i, j]) / (exp(X[i, j]) + 1)"),
    ("sigmoid(X[i, j])", "1 / (1 + exp(-X[i, j]))"),
    ("(X[i, j] - mean[i]) / sqrt(sum(k, (X[i, k] - mean[i]) * (X[i, k] - mean[i])))",
     "(X[i, j] - mean[i]) * rsqrt(sum(k, X[i, k] * X[i, k]) - 2 * mean[i] * sum(k, X[i, k]) + N *"
     " mean[i] * mean[i])"),
    ("sum(k, exp(S[i, k] - m[i]) * V[k, j]) / sum(k, exp(S[i, k] - m[i]))",
     "sum(k, exp(S[i, k]) * V[k, j]) / sum(k, exp(S[i, k]))"),
    # online: the first two keys with their own maximum, rescaled
    ("(exp(max(S[i, 0], S[i, 1]) - max(k, S[i, k])) * sum(k < 2, exp(S[i, k] - max(S[i, 0], S[i,"
     " 1])) * V[k, j])"
     " + sum(k < 3, exp(S[i, k + 2] - max(x, S[i, x])) * V[k + 2, j]))"
     " / sum(k, exp(S[i, k] - max(S[i, 4], S[i, 3], S[i, 2], S[i, 1], S[i, 0], S[i, 2])))",
     "sum(k, exp(S[i, k]) * V[k, j]) / sum(k, exp(S[i, k]))"),
    ("sum(k, exp(where(k <= j, S[i, k], -inf)) * V[k, j])",
     "sum(k, where(k <= j, exp(S[i, k]), 0) * V[k, j])"),
    ("max(k, where(k <= j, S[i, k], -inf))", "max(k, where(k <= j, S[i, k], S[i, 0]))"),
    # quotients, crosswise
    ("a[i] * X[i, j] / (a[i] * b[i])", "X[i, j] / b[i]"),
    ("X[i, j] / a[i] * a[i]", "X[i, j]"),
    ("X[i, j] / a[i] - X[i, j] / a[i]", "0 * X[i, j]"),
    ("a[i] * rsqrt(a[i])", "sqrt(a[i]) + 0 * X[i, j]"),
    ("(a[i] + b[i]) * (X[i, j] / (a[i] + b[i]))", "X[i, j]"),
    ("a[i] / (a[i] + b[i]) + b[i] / (a[i] + b[i])", "1 + 0 * X[i, j]"),
    ("a[i] / b[i] + X[i, j] / S[i, j]", "(a[i] * S[i, j] + b[i] * X[i, j]) / (b[i] * S[i, j])"),
    ("1 / (1 / a[i] + 1 / b[i])", "a[i] * b[i] / (a[i] + b[i]) + 0 * X[i, j]"),
    ("tanh(X[i, j])", "(exp(X[i, j]) - exp(-X[i, j])) / (exp(X[i, j]) + exp(-X[i, j]))"),
    ("0.5 * X[i, j] * (1 + tanh(a[i]))", "X[i, j] * sigmoid(2 * a[i])"),
    ("tanh(X[i, j] + a[i]) * (1 + tanh(X[i, j]) * tanh(a[i]))", "tanh(X[i, j]) + tanh(a[i])"),
    # quotients within functions, where nothing is compared crosswise
    ("exp(2 * sigmoid(2 * X[i, j]) - 1)", "exp(tanh(X[i, j]))"),
    ("exp2(a[i] * (exp(X[i, j]) - exp(-X[i, j])) / (exp(X[i, j]) + exp(-X[i, j])))",
     "exp2(a[i] - 2 * a[i] / (1 + exp(2 * X[i, j])))"),
    ("sqrt(exp(-3 * X[i, j]) / (2 + exp(X[i, j])))",
     "sqrt(0.125 * (4 * exp(-3 * X[i, j]) - 2 * exp(-2 * X[i, j]) + exp(-X[i, j])"
     " - 1 / (2 + exp(X[i, j]))))"),
    ("exp2(sigmoid(X[i, j]) * (1 - sigmoid(X[i, j])))",
     "exp2(exp(X[i, j]) / (1 + exp(X[i, j])) / (1 + exp(X[i, j])))"),
    # natural powers and logarithms
    ("log(sum(k, exp(X[i, k] - m[i]))) + m[i]", "log(l[i]) + 0 * X[i, j]"),
    ("exp(X[i, j] - (m[i] + log(sum(k, exp(X[i, k] - m[i])))))", "exp(X[i, j]) / l[i]"),
    ("exp(3 * log(a[i]))", "a[i] * a[i] * a[i] + 0 * X[i, j]"),
    ("exp2(0.5 * log2(a[i] + b[i]))", "sqrt(a[i] + b[i]) + 0 * X[i, j]"),
    ("log(exp(X[i, j]))", "X[i, j]"),
    # whatever the sign of a number
    ("max(X[i, j], 0) - X[i, j] * a[i] + log(1 + exp(-abs(X[i, j])))",
     "log(1 + exp(X[i, j])) - X[i, j] * a[i]"),
    ("where(j < 2, max(X[i, j], 0) + min(X[i, j], 0), max(S[i, j], 0) * min(S[i, j], 0))",
     "where(j < 2, X[i, j], 0)"),
    ("max(X[i, j], 0) * exp(-abs(X[i, j]))", "max(X[i, j], 0) * exp(-X[i, j])"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), IDENTITIES)
def test_what_is_equal_over_the_reals(first: str, second: str) -> None:
    assert equal(first, second, ROWS)


FALSE = [
    ("exp(2 * sigmoid(X[i, j]) - 1)", "exp(tanh(X[i, j]))"),
    ("exp(exp(X[i, j]) / (1 + 2 * exp(X[i, j])))", "exp(1 - 1 / (1 + 2 * exp(X[i, j])))"),
    ("exp(exp(-X[i, j]) / (2 + exp(X[i, j])))", "exp(exp(-X[i, j]) - 1 / (2 + exp(X[i, j])))"),
    # what divides is 0 whatever the inputs are
    ("X[i, j] / (a[i] - a[i])", "a[i] / (a[i] - a[i])"),
    ("a[i] / (a[i] / (a[i] + b[i]) + b[i] / (a[i] + b[i]) - 1) + 0 * X[i, j]",
     "b[i] / (a[i] / (a[i] + b[i]) + b[i] / (a[i] + b[i]) - 1)"),
    ("a[i] / b[i] + X[i, j] / S[i, j]", "(a[i] + X[i, j]) / (b[i] + S[i, j])"),
    ("a[i] / b[i] + X[i, j] / S[i, j]", "(a[i] * S[i, j] - b[i] * X[i, j]) / (b[i] * S[i, j])"),
    ("1 / (1 / a[i] + 1 / b[i])", "a[i] * b[i] / (a[i] - b[i]) + 0 * X[i, j]"),
    ("sum(k, X[i, k] / (S[i, k] + a[i]))", "sum(k, X[i, k]) / sum(k, S[i, k] + a[i])"),
    ("tanh(X[i, j])", "2 * sigmoid(X[i, j]) - 1"),
    ("tanh(X[i, j])", "1 - 2 * sigmoid(2 * X[i, j])"),
    ("exp(2 * log(a[i]))", "2 * a[i] + 0 * X[i, j]"),
    ("exp2(log(a[i]))", "a[i] + 0 * X[i, j]"),
    ("log(sum(k, exp(X[i, k] - a[i]))) + b[i]", "log(l[i]) + 0 * X[i, j]"),
    ("log(exp2(X[i, j]))", "X[i, j]"),
    ("exp(X[i, j] - m[i]) / sum(k, exp(X[i, k] - m[i]))", "exp(X[i, j]) / sum(k < N - 1, exp(X[i, k]))"),
    ("exp(X[i, j] - m[0]) / sum(k, exp(X[i, k] - m[i]))", "exp(X[i, j]) / l[i]"),
    ("exp(X[i, j] - a[i]) / sum(k, exp(X[i, k] - b[i]))", "exp(X[i, j]) / l[i]"),
    ("exp(X[i, j]) / l[i]", "exp2(X[i, j]) / sum(k, exp2(X[i, k]))"),
    ("exp2(X[i, j] + 3) / 4", "exp2(X[i, j])"),
    ("exp2(2 * X[i, j])", "2 * exp2(X[i, j])"),
    ("exp2(X[i, j] * a[i])", "exp2(X[i, j]) * exp2(a[i])"),
    ("log2(a[i] * b[i])", "log2(a[i]) * log2(b[i])"),
    ("log2(a[i] + b[i])", "log2(a[i]) + log2(b[i])"),
    ("sqrt(a[i] + b[i])", "sqrt(a[i]) + sqrt(b[i])"),
    ("sqrt(a[i] * a[i])", "a[i]"),
    ("sqrt(2 * a[i])", "2 * sqrt(a[i])"),
    ("rsqrt(a[i]) * rsqrt(b[i])", "rcp(a[i])"),
    ("X[i, j] * rsqrt(a[i] + 0.001)", "X[i, j] / (sqrt(a[i]) + 0.001)"),
    ("1 / (a[i] + b[i])", "1 / a[i] + 1 / b[i]"),
    ("1 / (a[i] - b[i])", "1 / (b[i] - a[i])"),
    ("silu(X[i, j])", "sigmoid(X[i, j])"),
    ("max(X[i, j], 0) * exp(-abs(X[i, j]))", "max(X[i, j], 0) * exp(where(j < 4, -1, 1) * X[i, j])"),
    ("max(X[i, j], 0) + log(1 + exp(-abs(X[i, j])))", "log(1 + exp(X[i, 0])) + 0 * X[i, j]"),
    ("silu(X[i, j])", "X[i, j] / (1 + exp(X[i, j]))"),
    # online without the rescaling, with the maximum of the first keys only, with the rescaling upside down
    ("(sum(k < 2, exp(S[i, k] - max(S[i, 0], S[i, 1])) * V[k, j])"
     " + sum(k < 3, exp(S[i, k + 2] - max(x, S[i, x])) * V[k + 2, j])) / sum(k, exp(S[i, k] -"
     " max(x, S[i, x])))",
     "sum(k, exp(S[i, k]) * V[k, j]) / sum(k, exp(S[i, k]))"),
    ("sum(k, exp(S[i, k] - max(S[i, 0], S[i, 1])) * V[k, j]) / sum(k, exp(S[i, k] - max(x, S[i, x])))",
     "sum(k, exp(S[i, k]) * V[k, j]) / sum(k, exp(S[i, k]))"),
    ("sum(k, exp(where(k < j, S[i, k], -inf)) * V[k, j])",
     "sum(k, where(k <= j, exp(S[i, k]), 0) * V[k, j])"),
    ("exp(a[i] * where(j < 2, X[i, j], -inf))", "where(j < 2, exp(a[i] * X[i, j]), 0)"),
    ("max(k, where(k <= j, S[i, k], inf))", "max(k, where(k <= j, S[i, k], S[i, 0]))"),
]  # fmt: skip


FRACTIONS = "literals for the simple fractions"


@pytest.mark.parametrize(
    ("first", "second", "holds"),
    [
        ("sum(k, (X[i, k] - mean[i]) * (X[i, k] - mean[i])) / N",
         "sum(k, X[i, k] * X[i, k]) / N - mean[i] * mean[i]", True),
        ("0.1 * X[i, j] + 0.2 * X[i, j]", "0.3 * X[i, j]", True),
        ("rsqrt(a[i] * 0.2 + a[i] * 0.1)", "rsqrt(0.3 * a[i])", True),
        ("sum(k, (X[i, k] - mean[i]) * (X[i, k] - mean[i])) / N",
         "sum(k, X[i, k] * X[i, k]) / N - mean[i] * mean[i] * 1.000001", False),
        ("0.1 * X[i, j]", "0.10000001 * X[i, j]", False),
        ("0.33333 * X[i, j] * 3", "X[i, j]", False),
        ("sum(k, (X[i, k] - mean[i]) * (X[i, k] - mean[i])) / N", "sum(k, X[i, k] * X[i, k]) / N", False),
    ],
)  # fmt: skip
def test_floats_are_the_fractions_that_they_are_next_to(first: str, second: str, holds: bool) -> None:
    found = compared(first, second, ROWS)
    assert bool(found.equal.all()) == holds
    if holds:
        assert found.roundings is not None
        assert any(FRACTIONS in approximation for approximation in found.roundings.approximations)


@given(st.floats(-(2.0**100), 2.0**100, width=32, allow_subnormal=False))
def test_a_fraction_rounds_to_the_float_that_it_is_taken_for(number: float) -> None:
    found = fraction(Fraction(number), F32)
    assert abs(found - Fraction(number)) <= Fraction(float(np.spacing(np.float32(abs(number))))) / 2


def test_every_reciprocal_of_a_count_is_found() -> None:
    for count in (*range(1, 100), 768, 1000, 3072, 5120, 11008, 32767):
        for times in (1, -1, 4):
            assert fraction(Fraction(float(np.float32(times / count))), F32) == Fraction(times, count)


@pytest.mark.parametrize("fmt", [F16, BF16])
def test_floats_of_16_bits_are_fractions_of_five_at_most(fmt: FloatFormat) -> None:
    near = {Fraction(1, 10): True, Fraction(1, 3): True, Fraction(3, 10): True, Fraction(1, 100): False}
    for number, found in near.items():
        rounded = number * 2**16
        while rounded >= 2**fmt.precision:
            rounded /= 2
        exponent = number / rounded
        literal = round(rounded) * exponent
        assert (fraction(literal, fmt) == number) == found
    taken = [fraction(Fraction((1 << 10) + step, 1 << 10), F16).denominator % 2 for step in range(1 << 10)]
    assert sum(taken) < 12


def test_running_means_are_means() -> None:
    texts = ["0 * S[i, 0]"]
    for k in range(5):
        texts.append(f"({texts[-1]} + (S[i, {k}] - ({texts[-1]})) / {k + 1})")
    assert equal(f"{texts[-1]} + 0 * X[i, j]", "sum(k, S[i, k]) / N + 0 * X[i, j]")
    assert not equal(f"{texts[-1]} + 0 * X[i, j]", "sum(k, S[i, k]) / 4 + 0 * X[i, j]")


@pytest.mark.parametrize(
    ("first", "second", "holds"),
    [
        ("max(-3.4028234663852886e38, X[i, j])", "X[i, j]", True),
        ("min(X[i, j], 3.4028234663852886e38)", "X[i, j]", True),
        ("max(3.4028234663852886e38, X[i, j])", "X[i, j]", False),
        ("max(-3.4028233e38, X[i, j])", "X[i, j]", False),
        ("max(-3.4028234663852886e38, max(k, where(k < j, X[i, k], -inf)))",
         "max(k, where(k < j, X[i, k], -inf))", False),
    ],
)  # fmt: skip
def test_the_least_number_is_no_limit_of_numbers(first: str, second: str, holds: bool) -> None:
    assert equal(first, second) == holds


MASKED = (
    "sum(k, exp(where(k <= j, S[i, k], {0}) {1}) * V[k, j]) / sum(k, exp(where(k <= j, S[i, k], {0}) {1}))"
)
UNMASKED = "sum(k, where(k <= j, exp(S[i, k]), 0) * V[k, j]) / sum(k, where(k <= j, exp(S[i, k]), 0))"
TAKEN = "for -∞ as a mask"


@pytest.mark.parametrize("fill", ["-1e6", "-10000.0", "-65504.0", "-1e9", "-2e38", "(S[i, k] - 1e6)"])
@pytest.mark.parametrize("shift", ["", "- m[i]", "- max(x, where(x <= j, S[i, x], -1e6))"])
def test_a_finite_mask_is_one_by_hypothesis(fill: str, shift: str) -> None:
    found = compared(MASKED.format(fill, shift), UNMASKED, ROWS)
    assert found.equal.all()
    assert found.roundings is not None
    assert any(TAKEN in approximation for approximation in found.roundings.approximations)


def test_a_mask_that_both_sides_have_needs_no_hypothesis() -> None:
    found = compared(MASKED.format("-1e6", "- m[i]"), MASKED.format("-1e6", "- a[i]"), ROWS)
    assert found.equal.all()
    assert found.roundings is not None
    assert not any(TAKEN in approximation for approximation in found.roundings.approximations)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (MASKED.format("-100.0", "- m[i]"), UNMASKED),  # too near
        (MASKED.format("-1e6", "- m[i]").replace("k <= j", "k < j"), UNMASKED),
        (MASKED.format("-1e6", "- m[i]").replace("k <= j", "k >= j"), UNMASKED),
        (MASKED.format("1e6", "- m[i]"), UNMASKED),
        # what a mask is subtracted from is not alone
        ("exp(X[i, j] - 1e6) * exp(1e6)", "0 * X[i, j]"),
        ("exp(X[i, j] - 1e6) / exp(S[i, j] - 1e6)", "0 * X[i, j]"),
        ("exp(X[i, j] - 10000.0) / exp(S[i, j] - 5000.0)", "0 * X[i, j]"),
        ("log(exp(X[i, j] - 1e6)) + 1e6", "0 * X[i, j]"),
        ("exp(X[i, j] - 1e6) / (exp(X[i, j] - 1e6) + exp(S[i, j] - 1e6))", "0 * X[i, j]"),
        ("exp(1e6 * X[i, j])", "0 * X[i, j]"),
        ("exp(X[i, j] - 1e6 * a[i])", "0 * X[i, j]"),
    ],
)
def test_a_finite_mask_is_none_elsewhere(first: str, second: str) -> None:
    assert not equal(first, second, ROWS)


@pytest.mark.parametrize(("first", "second"), FALSE)
def test_what_is_not_equal(first: str, second: str) -> None:
    assert not equal(first, second, ROWS)


def test_what_rests_on_a_hypothesis_says_so() -> None:
    found = compared("X[i, j] / a[i] * a[i]", "X[i, j]")
    assert found.roundings is not None
    assert "no divisor is 0" in [hypothesis.statement for hypothesis in found.roundings.hypotheses]
    found = compared("log(exp(X[i, j]))", "X[i, j]")
    assert found.roundings is not None
    assert any("ln(2) as literals" in hypothesis.statement for hypothesis in found.roundings.hypotheses)


# -- nothing is equal that numbers refute


TREES = st.recursive(
    st.integers(0, 2).map(lambda leaf: ("input", leaf))
    | st.sampled_from([-1.0, 0.5, 1.0, 2.0]).map(lambda n: ("number", n)),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["ex2", "lg2", "rcp", "sqrt", "rsqrt", "tanh", "negate"]), inner),
        st.tuples(st.sampled_from(["add", "multiply", "div", "max"]), inner, inner),
    ),
    max_leaves=6,
)  # fmt: skip


def rewritten(tree: tuple[Any, ...], choose: Any) -> tuple[Any, ...]:
    """Return an expression, most often with a part in another way, which may be wrong."""
    name, *rest = tree
    if name in ("input", "number"):
        return tree
    rest = [rewritten(each, choose) for each in rest]
    one, two = ("number", 1.0), ("number", 2.0)
    ways: list[tuple[Any, ...]] = [(name, *rest)]
    if len(rest) == 2 and name != "div":
        ways.append((name, rest[1], rest[0]))
    ways += {
        "ex2": [("rcp", ("ex2", ("negate", *rest))), ("div", ("ex2", ("add", *rest, one)), two)],
        "add": [
            ("multiply", rest[0], ("add", one, ("div", rest[-1], rest[0]))),
            ("div", one, ("div", one, (name, *rest))),
            ("div", ("add", ("multiply", rest[0], two), rest[-1]), two),
        ],
        "multiply": [
            ("div", rest[0], ("rcp", rest[-1])),
            ("ex2", ("add", ("lg2", rest[0]), ("lg2", rest[-1]))),
        ],
        "lg2": [("negate", ("lg2", ("rcp", *rest))), ("multiply", two, ("lg2", ("sqrt", *rest)))],
        "rcp": [("multiply", ("rsqrt", *rest), ("rsqrt", *rest)), ("div", one, *rest)],
        "sqrt": [("multiply", *rest, ("rsqrt", *rest)), ("rcp", ("rsqrt", *rest)), ("negate", (name, *rest))],
        "rsqrt": [("rcp", ("sqrt", *rest)), ("div", ("sqrt", *rest), *rest)],
        "div": [("multiply", rest[0], ("rcp", rest[-1])), ("div", ("negate", rest[0]), ("negate", rest[-1]))],
        "tanh": [("negate", (name, ("negate", *rest))), ("div", one, (name, *rest))],
        "max": [("add", *rest), ("max", rest[0], ("max", rest[-1], rest[0]))],
    }.get(name, [])  # fmt: skip
    return ways[choose(len(ways))]


@settings(max_examples=examples(150), deadline=None)
@given(TREES, st.data())
def test_nothing_is_equal_that_numbers_refute(tree: tuple[Any, ...], data: st.DataObject) -> None:
    expressions = Expressions()
    other = rewritten(tree, lambda count: data.draw(st.integers(0, count - 1)))
    left, right = (np.array([int(expressions.built(each))], dtype=np.int32) for each in (tree, other))
    if len(NormalForms(expressions.store).unequal(left, right, F64)):
        return
    with mpmath.workdps(60):
        for numbers in (
            (Fraction(7, 5), Fraction(2, 3), Fraction(11, 8)),
            (Fraction(1, 3), 5, Fraction(9, 7)),
        ):
            values = [mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator for x in numbers]
            inputs = dict(zip(expressions.inputs.tolist(), values, strict=True))
            try:
                sides = [expressions.value(int(each[0]), inputs) for each in (left, right)]
            except NoValueError:
                continue  # a side has no value, which a verdict excludes by hypothesis
            assert mpmath.almosteq(*sides, rel_eps=1e-40, abs_eps=1e-40)


RATIONAL = st.recursive(
    st.integers(0, 2).map(lambda leaf: ("input", leaf))
    | st.sampled_from([-1.0, 0.5, 1.0, 2.0]).map(lambda n: ("number", n)),
    lambda inner: st.tuples(st.sampled_from(["add", "multiply", "div", "div"]), inner, inner),
    max_leaves=7,
)
POINTS = [
    (Fraction(10007, 31), Fraction(-7919, 17), Fraction(6007, 57)),
    (Fraction(11, 3), -29, Fraction(5, 41)),
]


def exact(tree: tuple[Any, ...], point: tuple[Fraction | int, ...]) -> Fraction:
    """Return the value of a rational function."""
    name, *rest = tree
    if name == "input":
        return Fraction(point[rest[0]])
    if name == "number":
        return Fraction(rest[0])
    left, right = (exact(each, point) for each in rest)
    return {"add": lambda: left + right, "multiply": lambda: left * right, "div": lambda: left / right}[
        name
    ]()


@settings(max_examples=examples(150), deadline=None)
@given(RATIONAL, RATIONAL, st.booleans())
def test_rational_functions_are_equal_where_their_values_are(
    tree: tuple[Any, ...], other: tuple[Any, ...], rewrite: bool
) -> None:
    if rewrite:
        other = (
            "add",
            ("multiply", ("add", tree, other), ("number", 1.0)),
            ("multiply", other, ("number", -1.0)),
        )
    expressions = Expressions()
    try:
        values = [[exact(each, point) for point in POINTS] for each in (tree, other)]
    except ZeroDivisionError:
        return
    left, right = (np.array([int(expressions.built(each))], dtype=np.int32) for each in (tree, other))
    forms = NormalForms(expressions.store).thorough  # others keep sums of eight products together
    equal = not len(forms.unequal(left, right, F64))
    assert equal == (values[0] == values[1])
