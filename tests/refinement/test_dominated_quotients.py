"""What is divided by the greatest magnitude among which it is has a bound, and nothing else has."""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.analysis.integer_intervals import Magnitudes
from mmaproof.refinement.analysis.real_ranges import RealRanges
from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import Operation, TermStore
from mmaproof.spec.formats import F32

from ..elementwise_kernels import result_of

PRODUCT = operations.fused(F32, ((F32, F32),))
SUM = operations.fused(F32, (), (F32, F32))
DIVISION = operations.function("div.full", F32, F32, F32)
RECIPROCAL = operations.function("rcp.approx", F32, F32)
GREATER = operations.extremum(F32, "max")
COUNT = 4

NORMAL = st.floats(2.0**-60, 2.0**60, width=32).flatmap(lambda x: st.sampled_from([x, -x]))
NUMBERS = st.one_of(NORMAL, st.just(0.0))


class Terms:
    """Terms of a row of numbers, the first of which is divided."""

    def __init__(self) -> None:
        self.store = TermStore()
        self.row = self.store.inputs("x", F32, np.arange(COUNT))

    def number(self, value: float) -> Ids:
        return self.store.constants([int(np.float32(value).view(np.uint32))], 32)

    def apply(self, operation: Operation, *arguments: Ids) -> Ids:
        return apply(self.store, operation, *arguments)

    def magnitude(self, places: list[int], *, signed: bool = False) -> Ids:
        """Return the greatest magnitude among some numbers, or the greatest number."""
        found = self.number(0.0)
        for place in places:
            one = self.row[place : place + 1]
            opposite = self.apply(operations.negate(F32), one)
            found = self.apply(GREATER, found, one if signed else self.apply(GREATER, one, opposite))
        return found

    def guarded(self, maximum: Ids, relation: str, *sides: Ids) -> Ids:
        """Return a choice by a comparison of a maximum with 0."""
        condition = self.apply(operations.compare(F32, relation), maximum, self.number(0.0))
        return self.apply(operations.select(32), condition, *sides)

    def quotient(self, form: str, maximum: Ids, scale: float) -> Ids:
        """Return the first number, scaled and divided, in one of the ways in which it is written."""
        first, number = self.row[:1], self.number(scale)
        match form:
            case "by the scaled reciprocal":
                return self.apply(PRODUCT, first, self.apply(DIVISION, number, maximum))
            case "by the scale":
                return self.apply(DIVISION, first, self.apply(PRODUCT, maximum, self.number(1 / scale)))
            case "scaled afterwards":
                return self.apply(
                    PRODUCT, self.apply(PRODUCT, first, self.apply(RECIPROCAL, maximum)), number
                )
            case "an opposite":
                opposite = self.apply(operations.negate(F32), first)
                return self.apply(DIVISION, self.apply(PRODUCT, opposite, number), maximum)
            case "0 for 0":
                inverse = self.apply(DIVISION, number, maximum)
                return self.apply(PRODUCT, first, self.guarded(maximum, "gt", inverse, self.number(0.0)))
            case "1 for 0":
                kept = self.guarded(maximum, "eq", self.number(1.0), maximum)
                return self.apply(DIVISION, self.apply(PRODUCT, first, number), kept)
        assert form == "with a small number added"
        return self.apply(
            PRODUCT, first, self.apply(DIVISION, number, self.apply(SUM, maximum, self.number(1e-6)))
        )

    def range(self, term: Ids) -> tuple[float, float]:
        """Return the interval of a term."""
        ranges = RealRanges(self.store, Magnitudes(self.store), quotients=True)
        ranges.fill(term)
        low, high = ranges.read(term, F32)[0]
        return float(low), float(high)


FORMS = (
    "by the scaled reciprocal", "by the scale", "scaled afterwards", "an opposite", "0 for 0", "1 for 0",
    "with a small number added",
)  # fmt: skip


@settings(max_examples=examples(80))
@given(
    st.sampled_from(FORMS),
    st.sampled_from([7.0, 127.0, 448.0]),
    st.sets(st.integers(1, COUNT - 1)),
    st.lists(NUMBERS, min_size=COUNT, max_size=COUNT),
)
def test_quotients_lie_within_their_bounds(
    form: str, scale: float, others: set[int], row: list[float]
) -> None:
    terms = Terms()
    found = terms.quotient(form, terms.magnitude([0, *sorted(others)]), scale)
    low, high = terms.range(found)
    assert -scale * 1.01 < low < 0 < high < scale * 1.01
    words = np.array(row, dtype=np.float32).view(np.uint32)
    value = Assignment(terms.store, {"x": words}).values(found).astype(np.uint32).view(np.float32)[0]
    assert np.isnan(value) or low <= value <= high  # 0 / 0 is no number


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fault", ["another number's", "signed", "the least"])
def test_what_is_no_greatest_magnitude_bounds_nothing(form: str, fault: str) -> None:
    terms = Terms()
    maximum = terms.magnitude([1, 2, 3] if fault == "another number's" else [0, 1], signed=fault == "signed")
    if fault == "the least":
        maximum = terms.apply(operations.extremum(F32, "min"), maximum, terms.magnitude([2]))
    assert terms.range(terms.quotient(form, maximum, 127.0)) == (-np.inf, np.inf)


@pytest.mark.parametrize(("relation", "first"), [("ne", True), ("gt", True), ("eq", False), ("lt", True)])
def test_a_constant_where_the_maximum_is_not_0_bounds_nothing(relation: str, first: bool) -> None:
    terms = Terms()
    maximum, one = terms.magnitude([0, 1]), terms.number(1.0)
    kept = terms.guarded(maximum, relation, *((one, maximum) if first else (maximum, one)))
    found = terms.apply(DIVISION, terms.row[:1], kept)
    assert terms.range(found) == (-np.inf, np.inf)


@pytest.mark.parametrize("first", [True, False])
def test_a_divisor_that_may_be_0_bounds_nothing(first: bool) -> None:
    terms = Terms()
    maximum, zero = terms.magnitude([0, 1]), terms.number(0.0)
    chosen = terms.guarded(terms.row[2:3], "gt", *((zero, maximum) if first else (maximum, zero)))
    found = terms.apply(PRODUCT, terms.row[:1], terms.apply(RECIPROCAL, chosen))
    assert terms.range(found) == (-np.inf, np.inf)


def test_a_guard_by_another_maximum_bounds_nothing() -> None:
    terms = Terms()
    kept = terms.guarded(terms.magnitude([1, 2]), "eq", terms.number(1.0), terms.magnitude([0, 1]))
    assert terms.range(terms.apply(DIVISION, terms.row[:1], kept)) == (-np.inf, np.inf)


LOW_BYTE = """
abs.f32 %f1, %A;
abs.f32 %f2, %B;
max.f32 %f1, %f1, %f2;
mov.f32 %f3, SCALE;
div.rn.f32 %f3, %f3, %f1;
mul.f32 %f3, %A, %f3;
cvt.rni.s32.f32 %r1, %f3;
cvt.s32.s8 %C, %r1;
"""
"""`A` scaled by the greater magnitude of `A` and `B`, rounded, and its low byte stored without a clamp."""


@pytest.mark.parametrize(
    ("scale", "standing"), [(127, "verified"), (100, "verified"), (128, None), (255, None)]
)
def test_low_bytes_of_what_fits_need_no_clamp(scale: int, standing: str | None) -> None:
    word = f"0f{int(np.float32(scale).view(np.uint32)):08X}"
    found = result_of(
        LOW_BYTE.replace("SCALE", word),
        f"C[i] = s8(round(A[i] * ({scale} / max(abs(A[i]), abs(B[i])))))",
        {"A": "f32", "B": "f32", "C": "s8 out"},
    )
    assert (found.verdict == "verified") is (standing == "verified")
    if scale == 255:
        assert found.verdict == "refuted" and found.findings[0].kind == Kind.WRONG_VALUE
