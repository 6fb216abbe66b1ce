"""Indices of extrema are found by scans and trees of comparisons, and nothing else is taken for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.equality.arg_extrema import ArgExtrema
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.bit_slices import extract, zero_extend
from mmaproof.refinement.terms.evaluation import apply, evaluate
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import Operation, TermStore
from mmaproof.spec.formats import E5M2, F32, S32, U32, Format, IntegerFormat

from ..elementwise_kernels import result_of

S3 = IntegerFormat("s3", 3, signed=True)
NUMBERS = 4
STARTS = {S3: (4, 7, 0, 3), E5M2: (0xFC, 0xFB, 0xBC, 0x7B), F32: (0xFF80_0000, 0xFF7F_FFFF, 0xBF80_0000, 0)}
"""With what a search begins: the least number, or an infinity, and others."""


class OnTerms:
    """Applies operations to terms (1,)."""

    def __init__(self, fmt: Format) -> None:
        self.store = TermStore()
        self.numbers = [self.store.inputs("x", fmt, [at]) for at in range(NUMBERS)]

    def constant(self, word: int, bits: int) -> Ids:
        return self.store.constants(np.array([word]), bits)

    def __call__(self, operation: Operation, *given: Any) -> Any:
        return apply(self.store, operation, *given)


class OnWords:
    """Applies operations to words."""

    def __init__(self, words: Sequence[int]) -> None:
        columns = np.meshgrid(*[np.array(words, dtype=np.uint64)] * NUMBERS)
        self.numbers = [column.reshape(-1) for column in columns]

    def constant(self, word: int, bits: int) -> Any:
        return np.full(len(self.numbers[0]), word, dtype=np.uint64)

    def __call__(self, operation: Operation, *given: Any) -> Any:
        return evaluate(operation, given)


HOW = ("gt", "ge", "least", "greatest", "lt", "wrong")
Merge = tuple[int, int, int]
MERGES = st.tuples(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from(HOW)), min_size=3, max_size=5),
    st.permutations(range(NUMBERS)),
    st.none() | st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 3, 9])),
)


def found(
    on: Any,
    fmt: Format,
    merges: list[tuple[int, int, str]],
    order: Sequence[int],
    start: tuple[int, int] | None = None,
) -> Any:
    """Return the index that some merges of pairs (number, index) come to, one of them perhaps a start."""
    wide, bit, narrow = operations.select(fmt.bits), operations.select(1), operations.select(32)
    pairs = [(on.numbers[at], on.constant(index, 32)) for index, at in enumerate(order)]
    if start is not None:
        pairs.append((on.constant(STARTS[fmt][start[0]], fmt.bits), on.constant(start[1], 32)))
    yes, no = on.constant(1, 1), on.constant(0, 1)
    for first, second, how in merges:
        if len(pairs) < 2:
            break
        m1, i1 = pairs.pop(first % len(pairs))
        m2, i2 = pairs.pop(second % len(pairs))
        if how in ("gt", "ge", "lt"):
            condition = on(operations.compare(fmt, how), m1, m2)
        else:
            before = on(operations.compare(S32, "gt" if how == "greatest" else "lt"), i1, i2)
            equal = on(operations.compare(fmt, "eq" if how != "wrong" else "le"), m1, m2)
            tied = on(bit, equal, before, no)
            condition = on(bit, on(operations.compare(fmt, "gt"), m1, m2), yes, tied)
        pairs.append((on(wide, condition, m1, m2), on(narrow, condition, i1, i2)))
    return pairs[-1][1]


def written(on: Any, fmt: Format, order: Sequence[int], which: str, index: str) -> Any:
    """Return the index as a formula has it."""
    extremum = on.numbers[0]
    for each in on.numbers[1:]:
        extremum = on(operations.extremum(fmt, which), extremum, each)
    end = on.constant(999 if index == "min" else 0xFFFFFFFF, 32)
    total = None
    for number, at in enumerate(order):
        equal = on(operations.compare(fmt, "eq"), on.numbers[at], extremum)
        member = on(operations.select(32), equal, on.constant(number, 32), end)
        total = member if total is None else on(operations.extremum(S32, index), total, member)
    return total


def shown(store: TermStore, one: Ids, other: Ids) -> bool:
    return not len(ArgExtrema(NormalForms(store)).unequal(one, other, S32))


@pytest.mark.sample(1)
@pytest.mark.parametrize("fmt", [S3, E5M2])
@settings(max_examples=examples(80), deadline=None)
@given(merges=MERGES, which=st.sampled_from(["max", "min"]), index=st.sampled_from(["min", "max"]))
def test_an_index_that_is_shown_is_right_for_all_numbers(
    fmt: Format, merges: tuple[Any, ...], which: str, index: str
) -> None:
    words = range(8) if fmt == S3 else [0, 0x80, 0x01, 0x3C, 0x3D, 0xBC, 0x7B, 0xFB]
    terms, values = OnTerms(fmt), OnWords(words)
    index_of_terms = found(terms, fmt, *merges)
    sides = index_of_terms, written(terms, fmt, merges[1], which, index)
    if shown(terms.store, *sides):
        assert (found(values, fmt, *merges) == written(values, fmt, merges[1], which, index)).all()


@pytest.mark.parametrize("how", ["gt", "ge", "least", "greatest"])
@pytest.mark.parametrize("tree", [False, True])
def test_scans_and_trees_find_the_same_index(how: str, tree: bool) -> None:
    """A scan keeps the pair that it has; of equal numbers that is the first."""
    on = OnTerms(F32)
    first, second = (1, 0) if how == "gt" else (0, 0)  # who comes later has to exceed
    merges = [(0, 0, how)] * 3 if tree else [(first, second if how != "gt" else 0, how)] * 3
    index = "max" if how in ("greatest",) or (how == "ge" and not tree) else "min"
    formula = written(on, F32, range(NUMBERS), "max", index)
    scan = found(on, F32, merges, range(NUMBERS))
    values = OnWords(range(0, 8))
    right = (
        found(values, S3, merges, range(NUMBERS)) == written(values, S3, range(NUMBERS), "max", index)
    ).all()
    assert shown(on.store, scan, formula) == right


def test_another_row_is_not_the_same() -> None:
    on = OnTerms(F32)
    merges = [(1, 0, "gt"), (0, 0, "least"), (0, 0, "least")]
    scan = found(on, F32, merges, range(NUMBERS))
    assert not shown(on.store, scan, written(on, F32, (1, 0, 2, 3), "max", "min"))
    assert not shown(on.store, scan, written(on, F32, range(NUMBERS), "min", "min"))


@pytest.mark.parametrize(
    ("least", "order", "same"), [(0, S32, True), (-1, S32, True), (0, U32, True), (-1, U32, False)]
)
def test_indices_are_compared_as_the_signed_integers_that_they_are(
    least: int, order: IntegerFormat, same: bool
) -> None:
    """As unsigned integers negative ones are the greatest."""
    on = OnTerms(F32)
    pairs = [(x, on.constant((least + at) % 2**32, 32)) for at, x in enumerate(on.numbers)]
    sides = []
    for (m1, i1), (m2, i2) in (pairs[:2], pairs[2:]):
        second = on(operations.compare(F32, "gt"), m2, m1)
        sides.append([on(operations.select(32), second, *each) for each in ((m2, m1), (i2, i1))])
    (m1, i1), (m2, i2) = sides
    tied = on(operations.compare(F32, "eq"), m2, m1)
    first = on(operations.select(1), tied, on(operations.compare(order, "lt"), i2, i1), on.constant(0, 1))
    second = on(operations.select(1), on(operations.compare(F32, "gt"), m2, m1), on.constant(1, 1), first)
    tree = on(operations.select(32), second, i2, i1)
    extremum = on(operations.extremum(F32, "max"), m1, m2)
    formulas = []
    for fmt in (S32, order):
        total = None
        for number, index in pairs:
            equal = on(operations.compare(F32, "eq"), number, extremum)
            member = on(operations.select(32), equal, index, on.constant(99, 32))
            total = member if total is None else on(operations.extremum(fmt, "min"), total, member)
        formulas.append(total)
    assert shown(on.store, tree, formulas[0]) == same
    assert shown(on.store, formulas[1], formulas[0]) == same


ARGMAX = (
    "mov.f32 %f1, {start}; mov.u32 %r1, {index}; "
    "setp.{relation}.f32 %p1, %A, %f1; selp.f32 %f1, %A, %f1, %p1; selp.b32 %r1, 0, %r1, %p1; "
    "setp.{relation}.f32 %p1, %B, %f1; selp.f32 %f1, %B, %f1, %p1; selp.b32 %r1, 1, %r1, %p1; "
    "setp.{relation}.f32 %p1, %D, %f1; selp.f32 %f1, %D, %f1, %p1; selp.b32 %C, 2, %r1, %p1;"
)
ARRAYS = {"A": "f32", "B": "f32", "D": "f32", "C": "s32 out"}
M = "max(max(A[i], B[i]), D[i])"
FIRST = f"C[i] = where(A[i] == {M}, 0, where(B[i] == {M}, 1, 2))"
LAST = f"C[i] = where(D[i] == {M}, 2, where(B[i] == {M}, 1, 0))"


@pytest.mark.parametrize(
    ("start", "index", "relation", "formula", "verdict"),
    [
        ("0fFF800000", "-1", "gt", FIRST, "verified"),
        ("0fFF800000", "-1", "ge", LAST, "verified"),
        ("0fFF800000", "-1", "ge", FIRST, "refuted"),
        ("0fFF800000", "-1", "gt", LAST, "refuted"),
        ("0fFF7FFFFF", "0", "gt", FIRST, "verified"),  # of the least number the first index
        ("0fFF7FFFFF", "2", "gt", FIRST, "refuted"),
        ("0f00000000", "0", "gt", FIRST, "refuted"),
        ("0fFF7FFFFF", "-1", "gt", FIRST, "refuted"),  # of three numbers that are the least none
        ("0fFF7FFFFF", "-1", "ge", LAST, "verified"),
        ("0fFF7FFFFF", "2", "ge", LAST, "verified"),
    ],
)
def test_a_scan_from_a_start(start: str, index: str, relation: str, formula: str, verdict: str) -> None:
    body = ARGMAX.format(start=start, index=index, relation=relation)
    assert result_of(body, formula, ARRAYS).verdict.value == verdict


@pytest.mark.parametrize(
    ("start", "requires", "verdict"),
    [
        ("0fC2C80000", "-100 < {}", "verified"),
        ("0fC2C80000", "-100 <= {}", "refuted"),
        ("0fBF800000", "", "refuted"),
    ],
)
def test_a_start_is_below_all_numbers_if_the_contract_says_so(
    start: str, requires: str, verdict: str
) -> None:
    body = ARGMAX.format(start=start, index=-1, relation="gt")
    conditions = [requires.format(f"{each}[i]") for each in "ABD" if requires]
    assert result_of(body, FIRST, ARRAYS, requires=conditions).verdict.value == verdict


@pytest.mark.parametrize(("start", "verdict"), [("0f00000000", "verified"), ("0f3F800000", "refuted")])
def test_magnitudes_are_searched_from_0(start: str, verdict: str) -> None:
    body = ARGMAX.format(start=start, index=0, relation="gt")
    magnitudes = "".join(f"abs.f32 %{each}, %{each}; " for each in "ABD")
    formula = f"C[i] = min(where(A[i] == {M}, 0, 3), where(B[i] == {M}, 1, 3), where(D[i] == {M}, 2, 3))"
    for each in "ABD":
        formula = formula.replace(f"{each}[i]", f"abs({each}[i])")
    assert result_of(magnitudes + body, formula, ARRAYS).verdict.value == verdict


def test_the_index_of_many_numbers_is_found_however_deep_the_formula_is() -> None:
    on, count = OnTerms(F32), 150
    on.numbers = [on.store.inputs("x", F32, [at]) for at in range(count)]
    tree = found(on, F32, [(0, 0, "least")] * (count - 1), range(count))
    assert shown(on.store, tree, written(on, F32, range(count), "max", "min"))
    assert not shown(on.store, tree, written(on, F32, range(count), "max", "max"))


def test_indices_of_64_bits_are_those_of_32_bits() -> None:
    on = OnTerms(F32)
    formula = on(operations.extend(64, 32), written(on, F32, range(NUMBERS), "max", "min"))
    best, index = on.numbers[0], on.constant(0, 64)
    for at, number in enumerate(on.numbers[1:], 1):
        holds = on(operations.compare(F32, "gt"), number, best)
        best = on(operations.select(32), holds, number, best)
        index = on(operations.select(64), holds, on.constant(at, 64), index)
    assert shown(on.store, index, formula)


@pytest.mark.parametrize(("last", "zeros", "same"), [(3, 0, True), (3, 32, True), (2**32 + 3, 0, False)])
def test_the_low_bits_of_an_index_are_the_index_if_it_fits(last: int, zeros: int, same: bool) -> None:
    on = OnTerms(F32)
    best, index = on.numbers[0], on.constant(0, 64)
    for at, number in zip((1, 2, last), on.numbers[1:], strict=True):
        holds = on(operations.compare(F32, "gt"), number, best)
        best = on(operations.select(32), holds, number, best)
        index = on(operations.select(64), holds, on.constant(at, 64), index)
    low = extract(on.store, index, 0, 32)
    formula = written(on, F32, range(NUMBERS), "max", "min")
    if zeros:
        low, formula = zero_extend(on.store, low, 64), on(operations.extend(64, 32), formula)
    assert shown(on.store, low, formula) == same


def test_low_bits_with_zeros_above_are_no_negative_index() -> None:
    on = OnTerms(F32)
    holds = on(operations.compare(F32, "gt"), on.numbers[1], on.numbers[0])
    index = on(operations.select(32), holds, on.constant(0, 32), on.constant(0xFFFFFFFF, 32))
    sides = zero_extend(on.store, index, 64), on(operations.extend(64, 32), index)
    assert not shown(on.store, *sides)


@pytest.mark.parametrize("which", ["max", "min"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_scan_may_begin_with_a_bit(which: str, swapped: bool) -> None:
    """``x1 > x0 ? 1 : 0`` is a comparison with zeros above it."""
    on = OnTerms(F32)
    relation, wide = {"max": "gt", "min": "lt"}[which], operations.select(32)
    best, index = on.numbers[0], on.constant(0, 32)
    for at, number in enumerate(on.numbers[1:], 1):
        holds = on(operations.compare(F32, relation), *((best, number) if swapped else (number, best)))
        word = zero_extend(on.store, holds, 32) if at == 1 else on(wide, holds, on.constant(at, 32), index)
        best, index = on(wide, holds, number, best), word
    assert shown(on.store, index, written(on, F32, range(NUMBERS), which, "min")) != swapped


@pytest.mark.parametrize(
    ("scanned", "written_", "same"),
    [
        (1, 1, True),
        (-3, -3, True),
        (1, 2, False),
        (2**31 - NUMBERS, 2**31 - NUMBERS, True),
        (2**31 - NUMBERS + 1, 2**31 - NUMBERS + 1, False),  # the last index wraps in 32 bits
        (-(2**31), -(2**31), True),
        (2**31, 2**31, False),
    ],
)
def test_a_constant_may_be_added_to_an_index_where_none_wraps(
    scanned: int, written_: int, same: bool
) -> None:
    on = OnTerms(F32)
    best, index = on.numbers[0], on.constant(0, 32)
    for at, number in enumerate(on.numbers[1:], 1):
        holds = on(operations.compare(F32, "gt"), number, best)
        best = on(operations.select(32), holds, number, best)
        index = on(operations.select(32), holds, on.constant(at, 32), index)
    narrow = on(operations.ring(32, 0, 2), index, on.constant(scanned % 2**32, 32))
    formula = on(operations.extend(64, 32), written(on, F32, range(NUMBERS), "max", "min"))
    wide = on(operations.ring(64, 0, 2), on.constant(written_ % 2**64, 64), formula)
    assert shown(on.store, on(operations.extend(64, 32), narrow), wide) == same


def test_a_tile_of_a_scan_adds_where_it_begins() -> None:
    """Constants are added to what one side of a choice is alone."""
    on = OnTerms(F32)
    wide = operations.select(32)
    for added, same in ((2, True), (1, False), (0, False)):
        pairs = []
        for x, y in (on.numbers[:2], on.numbers[2:]):
            holds = on(operations.compare(F32, "gt"), y, x)
            index = on(wide, holds, on.constant(1, 32), on.constant(0, 32))
            pairs.append((on(wide, holds, y, x), index))
        (m1, i1), (m2, i2) = pairs
        holds = on(operations.compare(F32, "gt"), m2, m1)
        index = on(wide, holds, on(operations.ring(32, 0, 2), i2, on.constant(added, 32)), i1)
        assert shown(on.store, index, written(on, F32, range(NUMBERS), "max", "min")) == same
