"""Bounds of errors hold on random terms and random data, by exact arithmetic; and roundings are counted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mmaproof.refinement.errors.absolute_errors import AbsoluteErrors
from mmaproof.refinement.errors.absolute_parts import NONE
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.store import CONSTANT, INPUT, NORMAL_FORM, TermStore
from mmaproof.spec.float_encoding import encode
from mmaproof.spec.formats import F16, F32, F64, FloatFormat
from mmaproof.spec.rounding import Rounding

INPUTS = 6


def _constant(store: TermStore, value: float, fmt: FloatFormat) -> int:
    return int(store.constants(encode(np.array(value), fmt, Rounding.NEAREST_EVEN), fmt.bits))


class _ReciprocalError(Exception):
    """A magnitude has a reciprocal in it, whose value over the rationals is not reckoned here."""


class _Random:
    """Sums, products, opposites, extrema and quotients by positive numbers, of one format."""

    def __init__(self, seed: int, fmt: FloatFormat) -> None:
        self.random, self.store, self.fmt = np.random.default_rng(seed), TermStore(), fmt
        self.inputs = [int(self.store.inputs("x", fmt, index)) for index in range(INPUTS)]

    def term(self, depth: int) -> int:
        """Return a term."""
        fmt, store = self.fmt, self.store
        if not depth:
            return int(self.random.choice(self.inputs))
        x, y, z = (self.term(depth - 1 - int(self.random.integers(0, depth))) for _ in range(3))
        which = int(self.random.integers(0, 6))
        match which:
            case 0:
                return int(store.apply(operations.fused(fmt, ((fmt, fmt),), (fmt,)), x, y, z))
            case 1:
                return int(store.apply(operations.fused(fmt, (), (fmt, fmt)), x, y))
            case 2:
                negated = int(store.apply(operations.negate(fmt), x))
                return int(store.apply(operations.fused(fmt, (), (fmt, fmt)), negated, y))
            case 3:
                return int(store.apply(operations.fused(fmt, ((fmt, fmt),)), x, y))
            case 4:
                return int(store.apply(operations.extremum(fmt, "max"), x, y))
        square = int(store.apply(operations.fused(fmt, ((fmt, fmt),), (fmt,)), y, y, self.positive))
        return int(store.apply(operations.function("div", fmt, fmt, fmt), x, square))

    @property
    def positive(self) -> int:
        """A constant."""
        return _constant(self.store, 0.75, self.fmt)

    def divides(self, term: int) -> bool:
        """Tell whether a term has a quotient in it, of whose magnitude the test has no value."""
        operation = self.store.operation(term)
        given = self.store.arguments(np.array([term]))[0].tolist()[: len(operation.operands)]
        return operation.attribute == "div" or any(map(self.divides, given))

    def exact(self, term: int, values: list[Fraction]) -> Fraction:
        """Return what a term would be if nothing rounded."""
        operation, arguments = self.store.operation(term), self.store.arguments(np.array([term]))[0].tolist()
        if operation.name == CONSTANT:
            return self._number(term)
        if operation.name == INPUT:
            return values[arguments[0]]
        if operation.name == NORMAL_FORM:
            assert operation.attribute[0] == "absolute", operation  # type: ignore[index]
            return abs(self._atom(arguments[0], values))
        given = [self.exact(argument, values) for argument in arguments[: len(operation.operands)]]
        match operation.name:
            case operations.FUSED:
                pairs = 2 * operation.attribute.products  # type: ignore[union-attr]
                return sum(
                    (given[i] * given[i + 1] for i in range(0, pairs, 2)),
                    start=sum(given[pairs:], Fraction(0)),
                )
            case operations.NEGATE:
                return -given[0]
            case operations.EXTREMUM:
                return max(given)
        assert operation.attribute == "div"
        return given[0] / given[1]

    def _atom(self, term: int, values: list[Fraction]) -> Fraction:
        if self.store.operation(term).name == NORMAL_FORM:  # a reciprocal, whose argument is tested apart
            raise _ReciprocalError
        return self.exact(term, values)

    def _number(self, term: int) -> Fraction:
        width = int(self.store.widths(np.array([term]))[0])
        fmt = {64: F64, self.fmt.bits: self.fmt}[width]
        found = fmt.exact(int(self.store.constant_values(np.array([term]))[0]))
        assert found is not None
        return found


@pytest.mark.parametrize("fmt", [F16, F32], ids=str)
@pytest.mark.parametrize("seed", range(40))
def test_no_error_is_beyond_its_bound(seed: int, fmt: FloatFormat) -> None:
    made = _Random(seed, fmt)
    terms = np.array([made.term(3) for _ in range(4)], dtype=np.int32)
    part = AbsoluteErrors(NormalForms(made.store)).of(terms, fmt)
    checked = 0
    for trial in range(6):
        random = np.random.default_rng([seed, trial])
        numbers = random.choice([-1.0, 1.0], INPUTS) * random.uniform(0.5, 2, INPUTS)
        words = encode(numbers, fmt, Rounding.NEAREST_EVEN).astype(np.uint64)
        values = [fmt.exact(int(word)) or Fraction(0) for word in words]
        computed = Assignment(made.store, {"x": words}).values(terms)
        for place, term in enumerate(terms.tolist()):
            number = fmt.exact(int(computed[place]))
            if number is None or part.reasons[place] != NONE:
                continue
            exact = made.exact(term, values)
            try:
                magnitude = made.exact(int(part.magnitudes[place]), values)
            except _ReciprocalError:
                continue
            checked += 1
            assert abs(exact) <= magnitude
            if part.definite[place]:
                assert abs(exact) == magnitude
            if part.positive[place]:
                assert exact >= 0
            assert (
                abs(number - exact) <= Fraction(float(np.expm1(part.growth[place]) * (1 + 1e-9))) * magnitude
            )
            assert part.low[place] <= float(number) <= part.high[place]
    known = [
        int(store_term) for store_term, reason in zip(terms, part.reasons, strict=True) if reason == NONE
    ]
    assert checked or not known or any(made.divides(each) for each in known)


def test_a_sum_that_cancels_is_no_divisor_whose_error_is_known() -> None:
    store = TermStore()
    x, y = (int(store.inputs("x", F32, index)) for index in range(2))
    difference = int(store.apply(operations.fused(F32, (), (F32, F32)), x, y))
    quotient = store.apply(operations.function("div", F32, F32, F32), [x], [difference])
    assert AbsoluteErrors(NormalForms(store)).of(quotient, F32).reasons[0] == quotient[0]


def test_what_is_done_to_a_rounded_exponent_has_no_bound() -> None:
    store = TermStore()
    x = int(store.inputs("x", F32, 0))
    rounded = int(store.apply(operations.fused(F32, ((F32, F32),)), x, x))
    for argument, known in ((x, True), (rounded, False)):
        power = store.apply(operations.function("ex2.approx", F32, F32), [argument])
        assert (AbsoluteErrors(NormalForms(store)).of(power, F32).reasons[0] == NONE) == known


@pytest.mark.parametrize("fmt", [F16, F32])
@pytest.mark.parametrize(("which", "value"), [("max", -np.inf), ("min", np.inf)])
def test_an_infinity_that_is_never_chosen_adds_nothing(fmt: FloatFormat, which: str, value: float) -> None:
    store = TermStore()
    total = store.apply(operations.fused(fmt, (), (fmt, fmt)), *store.inputs("x", fmt, np.arange(2))).reshape(
        1
    )
    limit, other = (np.array([_constant(store, each, fmt)], dtype=np.int32) for each in (value, -value))
    operation = operations.extremum(fmt, which)
    beside = [store.apply(operation, *sides) for sides in ((limit, total), (total, limit))]
    infinite = store.apply(operation, other, total)
    errors = AbsoluteErrors(NormalForms(store))
    alone = errors.of(total, fmt)
    for each in beside:
        found = errors.of(each, fmt)
        assert found.growth == alone.growth and found.reasons == NONE
        assert found.magnitudes == alone.magnitudes
    assert errors.of(infinite, fmt).reasons != NONE
