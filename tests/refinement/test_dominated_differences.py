"""A number less a maximum that it is among is not positive; no other difference is bounded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.analysis.integer_intervals import Magnitudes
from mmaproof.refinement.analysis.real_ranges import RealRanges
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.input_ends import Ends
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import Operation, TermStore
from mmaproof.spec.formats import F32, S32, TF32, Format
from mmaproof.spec.rounding import Rounding

PRODUCT = operations.fused(F32, ((F32, F32),))
DOWNWARD = operations.fused(F32, ((F32, F32),), rounding=Rounding.DOWNWARD)
SUM = operations.fused(F32, (), (F32, F32))
BOTH = operations.fused(F32, ((F32, F32),), (F32,))
NEGATED = operations.negate(F32)
CHOICE = operations.select(32)
COUNT = 4

NUMBERS = st.one_of(st.floats(-(2.0**40), 2.0**40, width=32), st.sampled_from([0.0, -0.0, 1e-40, -1e-40]))


class Row:
    """Terms of a row of numbers, of which some maximum is subtracted from the first."""

    def __init__(self) -> None:
        self.store = TermStore()
        self.x = self.store.inputs("x", F32, np.arange(COUNT))

    def number(self, value: float) -> Ids:
        return self.store.constants([int(np.float32(value).view(np.uint32))], 32)

    def apply(self, operation: Operation, *arguments: Ids) -> Ids:
        return apply(self.store, operation, *arguments)

    def maximum(self, first: float, last: int = COUNT, fmt: Format = F32, of: Ids | None = None) -> Ids:
        """Return the maximum of a constant and of the first of some numbers, by default the row's."""
        found = self.number(first)
        for one in (self.x if of is None else of)[:last]:
            found = self.apply(operations.extremum(fmt, "max"), found, np.array([one], dtype=np.int32))
        return found

    def choice(self, relation: str, left: Ids, right: Ids, fmt: Format = F32) -> Ids:
        """Return ``left relation right ? left : right``, compared in a format."""
        return self.apply(CHOICE, self.apply(operations.compare(fmt, relation), left, right), left, right)

    def minus(self, left: Ids, right: Ids) -> Ids:
        return self.apply(SUM, left, self.apply(NEGATED, right))

    def high(self, term: Ids) -> float:
        ranges = RealRanges(self.store, Magnitudes(self.store))
        ranges.fill(term)
        return float(ranges.exact[term][0, 1])


def shifted(row: Row) -> Ids:
    return row.minus(row.x[:1], row.maximum(-np.inf))


def scaled(row: Row) -> Ids:
    """``c·x - max(-1, c·max(x, …))``, each product rounded."""
    scale = row.number(0.18033688)
    greatest = row.apply(PRODUCT, row.maximum(-np.inf), scale)
    left = row.apply(PRODUCT, scale, row.x[:1])
    return row.minus(left, row.maximum(-1.0, of=greatest))


def nested(row: Row) -> Ids:
    """``x - max(max(x, y), z)``, as of tiles one after the other."""
    return row.minus(row.x[:1], row.maximum(-np.inf, of=np.concatenate([row.maximum(0, 2), row.x[2:]])))


def compared(row: Row) -> Ids:
    """``x - (x >= (w > z ? w : z) ? x : …)``: a maximum by comparisons."""
    others = row.choice("gt", row.x[1:2], row.x[2:3])
    return row.minus(row.x[:1], row.choice("geu", row.x[:1], others))


def chosen(row: Row) -> Ids:
    """``x[i] - max(x)``, of an element that data tell."""
    holds = row.apply(operations.compare(F32, "lt"), row.x[3:], row.number(0.5))
    return row.minus(row.apply(CHOICE, holds, row.x[:1], row.x[1:2]), row.maximum(-np.inf))


@pytest.mark.parametrize("difference", [shifted, scaled, nested, compared, chosen])
@settings(max_examples=examples(60))
@given(values=st.lists(NUMBERS, min_size=COUNT, max_size=COUNT))
def test_no_difference_is_positive(difference: Callable[[Row], Ids], values: list[float]) -> None:
    row = Row()
    term = difference(row)
    assert row.high(term) == 0
    words = np.array(values, dtype=np.float32).view(np.uint32)
    found = Assignment(row.store, {"x": words}).values(term).astype(np.uint32).view(np.float32)
    assert found[0] <= 0


@settings(max_examples=examples(200))
@given(values=st.lists(NUMBERS, min_size=COUNT, max_size=COUNT), scale=st.floats(0, 2.0**20, width=32))
def test_a_fused_difference_is_above_by_what_rounding_loses(values: list[float], scale: float) -> None:
    row, most, whole = Row(), np.full(COUNT, 2.0**40), np.ones(COUNT, dtype=bool)
    row.store.ends["x"] = Ends(F32, -most, most, whole, ~whole, ~whole)
    factor = row.number(scale)
    greatest = row.apply(PRODUCT, row.maximum(-1.0), factor)
    term = row.apply(BOTH, row.x[:1], factor, row.apply(NEGATED, greatest))
    words = np.array(values, dtype=np.float32).view(np.uint32)
    found = Assignment(row.store, {"x": words}).values(term).astype(np.uint32).view(np.float32)
    assert found[0] <= row.high(term) <= 2.0**40 * scale * 2.0**-22 + 2.0**-125


def wrong(row: Row) -> dict[str, Ids]:
    """Return differences that may be positive."""
    x, scale, other = row.x[:1], row.number(3.0), row.number(2.0)
    greatest = row.maximum(-np.inf)
    rounded = row.apply(PRODUCT, greatest, scale)
    negative = row.number(-3.0)
    opposite = row.apply(NEGATED, greatest)
    read, greater = operations.fused(F32, (), (TF32, F32)), operations.compare(F32, "gt")
    return {
        "not among": row.minus(x, row.maximum(-np.inf, of=row.x[1:])),
        "minimum": row.minus(x, row.apply(operations.extremum(F32, "min"), x, row.x[1:2])),
        "sum": row.apply(SUM, x, greatest),
        "of integers": row.minus(x, row.maximum(0.0, fmt=S32)),
        "other scale": row.minus(row.apply(PRODUCT, x, other), rounded),
        "negative scale": row.minus(*(row.apply(PRODUCT, each, negative) for each in (x, greatest))),
        "unknown scale": row.minus(*(row.apply(PRODUCT, each, row.x[1:2]) for each in (x, greatest))),
        "other rounding": row.minus(row.apply(PRODUCT, x, scale), row.apply(DOWNWARD, greatest, scale)),
        "scaled later": row.minus(row.apply(PRODUCT, x, scale), greatest),
        "read as another format": row.apply(read, x, opposite),
        "the less by comparison": row.minus(x, row.choice("lt", x, row.x[1:2])),
        "compared as integers": row.minus(x, row.choice("gt", x, row.x[1:2], S32)),
        "compared for equality": row.minus(x, row.choice("eq", row.x[1:2], x)),
        "others compared": row.minus(x, row.apply(CHOICE, row.apply(greater, x, scale), x, row.x[1:2])),
        "chosen from one more": row.minus(row.choice("lt", x, scale), greatest),
    }  # fmt: skip


@pytest.mark.parametrize("name", wrong(Row()))
def test_what_may_be_positive_is_not_bounded(name: str) -> None:
    row = Row()
    assert row.high(wrong(row)[name]) == np.inf
