"""Formulas: precedence, ranges, what a mistake is told, and equal ones compare equal."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from contract_texts import contract_of
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.equality.equivalence import compare
from mmaproof.refinement.expected.contract_terms import expected_terms
from mmaproof.refinement.formula.index_arithmetic import Expression, IndexArithmetic
from mmaproof.refinement.formula.parser import parse_expression, parse_formula
from mmaproof.refinement.formula.tree import (
    Binary,
    Cast,
    Element,
    Extremum,
    Formula,
    Name,
    Negative,
    Number,
    ReducedExtremum,
    Source,
    Sum,
    walk,
)
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import FORMATS, S8

SIZES = {"M": 6, "N": 5, "K": 3}


def parsed(text: str) -> Formula:
    return parse_formula(Source(text))


def value(text: str, **sizes: int) -> int:
    source = Source(text, "size")
    return Expression(source, parse_expression(source)).value(sizes)


# -- arithmetic in sizes is Python's


sizes_expressions = st.recursive(
    st.integers(0, 50).map(str) | st.sampled_from(sorted(SIZES)),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%", "&", "<<", ">>"]), inner).map(" ".join),
        inner.map("({})".format),
        inner.map("-{}".format),
    ),
    max_leaves=8,
)


@given(sizes_expressions)
@settings(max_examples=examples(300), deadline=None)
def test_sizes_follow_python(text: str) -> None:
    try:
        expected: Any = eval(text, {}, SIZES)
    except (ZeroDivisionError, ValueError, OverflowError, MemoryError):
        expected = None
    try:
        found: Any = value(text, **SIZES)
    except InputError as error:
        assert expected is None or "62" in str(error)
    else:
        assert found == expected


def test_words_for_sizes() -> None:
    assert value("cdiv(M, 4) + max(N, K) * min(2, 9) + 0x10", **SIZES) == 2 + 10 + 16
    assert value("where(M > N >= K, 7, 8)  # a comment", **SIZES) == 7


def test_a_chain_of_comparisons_is_a_conjunction() -> None:
    names = {"x": 3, "y": 1}
    for text, expected in (("1 <= x < 4", True), ("0 < y < x < 3", False), ("not x == 3 or y != 2", True)):
        condition = parsed(f"C[i] = 1 if {text}").condition
        assert condition is not None
        assert bool(IndexArithmetic(Source(text), names).truths(condition)) is expected


# -- trees


def test_the_parts_of_a_formula() -> None:
    formula = parsed("C[i, j] = f16(2.5 * sum(k < K, A[i, k])) - old(C[i, j]) if i < 3")
    body = formula.body
    assert formula.output == "C" and formula.condition is not None
    assert isinstance(body, Binary) and body.operator == "-"
    assert isinstance(body.left, Cast) and body.left.format.name == "f16"
    assert isinstance(body.right, Element) and body.right.old
    (summed,) = [node for node in walk(body) if isinstance(node, Sum)]
    assert summed.indices[0].name == "k" and isinstance(summed.indices[0].extent, Name)
    (number,) = [node for node in walk(body) if isinstance(node, Number)]
    assert number.value == Fraction(5, 2) and not number.whole


def test_round_belongs_to_its_cast() -> None:
    nearest, towards_zero = (parsed(f"C[i] = {text}").body for text in ("s8(round(A[i]))", "s8(A[i])"))
    assert isinstance(nearest, Cast) and nearest.nearest and nearest.format == S8
    assert isinstance(towards_zero, Cast) and not towards_zero.nearest


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_a_cast(name: str) -> None:
    body = parsed(f"C[i] = {name}(A[i])").body
    assert isinstance(body, Cast) and body.format == FORMATS[name]


def test_minus_binds_as_in_python() -> None:
    body = parsed("C[i] = -A[i] * B[i]").body
    assert isinstance(body, Binary) and isinstance(body.left, Negative)


@pytest.mark.parametrize(
    ("text", "value", "whole"),
    [("2^-24", Fraction(1, 1 << 24), False), ("2**10", Fraction(1024), True), ("2^0", Fraction(1), True)],
)
def test_powers_of_two_are_literals(text: str, value: Fraction, whole: bool) -> None:
    body = parsed(f"C[i] = {text}").body
    assert isinstance(body, Number) and (body.value, body.whole) == (value, whole)


def test_a_type_is_a_name_where_nothing_is_converted() -> None:
    body = parsed("C[i] = b1 * b1(A[i])").body
    assert isinstance(body, Binary) and isinstance(body.left, Name) and isinstance(body.right, Cast)


# -- mistakes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "column 1: expected a name, not the end"),
        ("C[i]", "column 5: expected '=', not the end"),
        ("C[i] = ", "expected an expression, not the end"),
        ("C = 1", "column 3: expected '[', not '='"),
        ("C[i] = A[i] A[j]", "column 13: expected an operator or the end, not 'A'"),
        ("C[i] = A[i", "column 11: expected ',' or ']', not the end"),
        ("C[i] = 1 + $", "column 12: expected an expression, not '$'"),
        ("C[i] = suum(k, A[k])", "column 8: there is no function suum; did you mean sum?"),
        ("C[i] = frobnicate(A[i])", "there is no function frobnicate; there are sum, max"),
        ("C[i] = sum(k)", "column 8: sum takes indices and what is summed"),
        ("C[i] = sum(k + 1, A[k])", "column 14: expected a summation index such as k, or k < K"),
        ("C[i] = sum(k > 1, A[k])", "expected a summation index"),
        ("C[i] = max(A[i])", "max takes at least 2 arguments, not 1"),
        ("C[i] = relu()", "relu takes 1 argument, not 0"),
        ("C[i] = where(i, 1, 2)", "column 14: expected a condition such as i < j"),
        ("C[i] = A[i] ** 17", "column 16: an exponent is at most 16, not 17"),
        ("C[i] = A[i] ** i", "column 16: an exponent must be a number"),
        ("C[i] = 1 if i", "column 13: expected a condition"),
        ("C[i] = not A[i]", "column 12: expected a condition"),
        ("C[i] = old(3)", "column 12: old takes an element of an array"),
        ("C[i] = round(A[i])", "round must stand directly in a cast to an integer"),
        ("C[i] = f16(round(A[i]))", "round must stand directly in a cast to an integer"),
        ("C[i] = 2^2000", "expected"),
        ("C[i] = 3^2", "an operator, not '^'"),
        ("C[i] = sum[i]", "column 8: sum needs arguments"),
        ("C[i] = 1e999", "1e999 is out of range"),
        ("C[i] = " + "9" * 50, "a literal of 50 characters; at most 40"),
        ("C[i] = " + "-" * 500 + "1", "nested too deeply"),
        ("C[i] = " + " + ".join("1" * 500), "too many operands"),
        ("C[i] = " + " " * 20000, "20007 characters are too many"),
        ("C[i] =\n  A[i] +\n  B[i", "line 3, column 6: expected"),
        ("C[i] = lookup(W[i])", "takes an integer and what a table has"),
    ],
)  # fmt: skip
def test_mistakes_are_located(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parsed(text)
    assert str(caught.value).startswith("formula, ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("let", "formula", "message"),
    [
        ("m[i] = max(j, A[i, j])", "C[i, j] = m", "formula, column 11: m is defined with 1 indices, not 0"),
        ("m[i, i] = 1", "C[i, j] = m[i, j]", "let, column 6: the indices of a definition are different"),
        ("m[2] = 1", "C[i, j] = m[2]", "the indices of a definition are different names"),
        ("A[i] = 1", "C[i, j] = A[i]", "A is a size or a parameter"),
        ("K = 1", "C[i, j] = K", "K is a size or a parameter"),
        ("m = A[0, z]", "C[i, j] = m", "let, column 10: unknown name z"),
        ("m = A[0, 0]", "C[i, m] = A[i, 0]", "column 6: m is the name of a definition"),
        (
            "m = A[0, 0]",
            "C[i, j] = sum(m, A[i, m])",
            "m is the name of a definition; choose another name for the index",
        ),
        ("exp = A[0, 0]", "C[i, j] = 1", "exp needs arguments"),
        ("m = C[0, 0]", "C[i, j] = m", 'C has access "out"'),
        ("m = m", "C[i, j] = 1", "let, column 5: unknown name m"),
        ("m = b1", "C[i, j] = m", "let, column 5: b1 needs arguments"),
        ("m[i] = sum(k, A[i, k] * n)", "C[i, j] = 1", "unknown name n"),
        ("m = ", "C[i, j] = m", "let, column 4: expected an expression"),
        ("m", "C[i, j] = m", "let, column 2: expected '=' or '[', not the end"),
    ],
)
def test_mistakes_in_definitions_are_located(let: str, formula: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        contract_of(formula, {"A": "f16 M K", "C": "f32 M N out"}, sizes=SIZES, let=[let])
    assert message in str(caught.value)


def test_definitions_that_grow_without_bound_are_refused() -> None:
    let = ["a0 = A[0, 0]", *(f"a{n} = a{n - 1} * a{n - 1}" for n in range(1, 40))]
    with pytest.raises(InputError, match="more than 20000 parts"):
        contract_of("C[i, j] = a39", {"A": "f16 M K", "C": "f32 M N out"}, sizes=SIZES, let=let)


def test_the_indices_of_a_part_are_its_own() -> None:
    """What is put in has indices of the same names as the formula around it."""
    arrays = {"A": "f16 M K", "B": "f16 K N", "C": "f32 M N out"}
    let = ["dot[j, i] = sum(k, A[j, k] * B[k, i])"]
    formulas = ["C[i, j] = sum(k < N, dot[i, k]) + dot[i, j]",
                "C[i, j] = sum(x < N, k, A[i, k] * B[k, x]) + sum(k, A[i, k] * B[k, j])"]  # fmt: skip
    store = TermStore()
    instances = [
        next(contract_of(text, arrays, sizes=SIZES, let=let if "dot" in text else ()).instances())
        for text in formulas
    ]
    terms = [expected_terms(instance, instance.outputs[0], store).reshape(-1) for instance in instances]
    assert compare(NormalForms(store), *terms, instances[0].outputs[0].format).equal.all()


def test_extrema_of_numbers_and_over_indices() -> None:
    over, two = (parsed(text).body for text in ("C[i] = max(k, A[i, k])", "C[i] = max(i, A[i, i])"))
    assert isinstance(over, ReducedExtremum) and isinstance(two, Extremum)
    assert isinstance(parsed("C[i] = max(x, y)").body, Extremum)
    assert isinstance(parsed("C[i] = min(k < 3, 2 * k)").body, ReducedExtremum)


PIECES = [
    *("C[i, j]", "=", "sum(", "k", ",", "A[", "]", ")", "(", "+", "-", "*", "//", "/", "%", "<", "<<", "if"),
    *(
        "and",
        "not",
        "where(",
        "f16(",
        "s8(round(",
        "old(",
        "1",
        "0.5",
        "1e9",
        "0x",
        "max(",
        "fma(",
        "é",
        "\n",
    ),
]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join) | st.text(max_size=60))
@settings(max_examples=examples(500), deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    for prefix in ("", "C[i, j] = "):
        try:
            parsed(prefix + text)
        except InputError as error:
            assert str(error).startswith("formula, ")


# -- equal formulas are equal polynomials, different ones are not


def compared(first: str, second: str, arrays: dict[str, str]) -> tuple[bool, bool]:
    store = TermStore()
    instances = [next(contract_of(text, arrays, sizes=SIZES).instances()) for text in (first, second)]
    terms = [expected_terms(instance, instance.outputs[0], store).reshape(-1) for instance in instances]
    found = compare(NormalForms(store), *terms, instances[0].outputs[0].format)
    return bool(found.equal.all()), bool(found.identical.all())


HALVES = {"A": "f16 M K", "B": "f16 K N", "W": "u4 N K", "s": "f32 N", "C": "f32 M N out"}
BYTES = {"A": "s8 M K", "B": "s8 K N", "C": "s32 M N out"}


@pytest.mark.parametrize(
    ("first", "second", "arrays"),
    [
        ("C[i, j] = sum(k, A[i, k] * B[k, j])", "C[x, y] = sum(k, B[k, y] * A[x, k])", HALVES),
        ("C[i, j] = s[j] * sum(k, A[i, k] * (W[j, k] - 8))",
         "C[i, j] = sum(k, s[j] * A[i, k] * W[j, k]) - 8 * s[j] * sum(k, A[i, k])", HALVES),
        ("C[i, j] = relu(s[j] - A[i, 0])", "C[i, j] = max(0, -(A[i, 0] - s[j]))", HALVES),
        ("C[i, j] = sum(k, A[i, k] * B[k, j])",
         "C[i, j] = sum(k < 2, A[i, k] * B[k, j]) + A[i, 2] * B[2, j]", HALVES),
        ("C[i, j] = f32(sum(k, A[i, k] * B[k, j])) / 4", "C[i, j] = sum(k, 0.25 * A[i, k] * B[k, j])",
         {**BYTES, "C": "f32 M N out"}),
        ("C[i, j] = sum(k, (A[i, k] - 5) * B[k, j])",
         "C[i, j] = sum(k, A[i, k] * B[k, j]) - 5 * sum(k, B[k, j])",
         BYTES),
        ("C[i, j] = s32(A[i, 0] * B[0, j])", "C[i, j] = B[0, j] * A[i, 0]", BYTES),
    ],
)  # fmt: skip
def test_equal_formulas_are_equal(first: str, second: str, arrays: dict[str, str]) -> None:
    equal, identical = compared(first, second, arrays)
    assert equal
    assert identical == (arrays is BYTES)  # integers that are equal are the same bits


@pytest.mark.parametrize(
    "other",
    [
        "C[i, j] = sum(k, A[i, k] * B[k, j]) + 1",
        "C[i, j] = sum(k, A[i, k] * B[K - 1 - k, j])",
        "C[i, j] = sum(k < K - 1, A[i, k] * B[k, j])",
        "C[i, j] = sum(k, A[i, k] * B[k, (j + 1) % N])",
        "C[i, j] = where(i == 5 and j == 4, 0, sum(k, A[i, k] * B[k, j]))",
    ],
)
@pytest.mark.parametrize("arrays", [HALVES, BYTES], ids=["f16", "s8"])
def test_different_formulas_are_different(other: str, arrays: dict[str, str]) -> None:
    assert compared("C[i, j] = sum(k, A[i, k] * B[k, j])", other, arrays) == (False, False)


@pytest.mark.parametrize(("sizes", "told"), [({}, "-1; allowed"), ({"N": 3}, "-1 is -1 at N = 3; allowed")])
def test_a_value_out_of_range_is_told_with_the_sizes_that_there_are(sizes: dict[str, int], told: str) -> None:
    source = Source("-1")
    with pytest.raises(InputError, match=f": {told}|, column 1: {told}"):
        Expression(source, parse_expression(source)).value(sizes, least=0)
