"""A difference vanishes exactly where two terms are the same function, rounding aside."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.analysis.rounding_depth import roundings, worst
from mmaproof.refinement.equality.equivalence import compare
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import bit_slices, operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.operations import Accumulation
from mmaproof.refinement.terms.store import TermStore, bits
from mmaproof.refinement.terms.truth_tables import A, B, C
from mmaproof.spec.formats import BF16, F16, F32, F64, S4, S8, S32, TF32, U8
from mmaproof.spec.rounding import Rounding

NEAREST = Rounding.NEAREST_EVEN
WIDTH = 16


class Expressions:
    """Random sums and products of four inputs, over the reals or modulo ``2**WIDTH``."""

    def __init__(self, real: bool) -> None:
        self.store = TermStore()
        self.real = real
        self.fmt = F64 if real else bits(WIDTH)
        self.leaves = self.store.inputs("x", self.fmt if real else bits(WIDTH), np.arange(4))

    def number(self, value: int) -> Ids:
        encoding = np.float64(value).view(np.uint64) if self.real else value % (1 << WIDTH)
        return self.store.constants(encoding, self.fmt.bits)

    def combined(self, products: list[tuple[Ids, Ids]], addends: list[Ids]) -> Ids:
        if self.real:
            operation = operations.fused(F64, ((F64, F64),) * len(products), (F64,) * len(addends))
        else:
            operation = operations.ring(WIDTH, len(products), len(addends))
        return apply(self.store, operation, *(term for pair in products for term in pair), *addends)

    def values(self, terms: Ids, seed: int) -> list[float]:
        random = np.random.default_rng(seed).integers(-3, 4, 4)
        inputs = (
            random.astype(np.float64).view(np.uint64)
            if self.real
            else random.astype(np.uint64) % (1 << WIDTH)
        )
        values = np.atleast_1d(Assignment(self.store, {"x": inputs}).values(terms))
        return list(values.view(np.float64) if self.real else values)


TREES = st.recursive(
    st.integers(0, 3).map(lambda leaf: ("leaf", leaf)) | st.integers(-2, 2).map(lambda n: ("number", n)),
    lambda inner: st.tuples(st.sampled_from(["add", "multiply", "fma", "negate"]), inner, inner, inner),
    max_leaves=10,
)


def built(expressions: Expressions, tree: tuple[object, ...]) -> Ids:
    name, *rest = tree
    if name == "leaf":
        return expressions.leaves[rest[0]]
    if name == "number":
        return expressions.number(rest[0])  # type: ignore[arg-type]
    a, b, c = (built(expressions, each) for each in rest)  # type: ignore[arg-type]
    if name == "negate":
        return apply(expressions.store, operations.negate(expressions.fmt), a)
    if name == "add":
        return expressions.combined([], [a, b])
    if name == "multiply":
        return expressions.combined([(a, b)], [])
    return expressions.combined([(a, b)], [c])


@settings(deadline=None, max_examples=examples(60))
@given(st.booleans(), TREES, TREES)
def test_a_difference_vanishes_where_the_functions_are_equal(real: bool, one: object, other: object) -> None:
    expressions = Expressions(real)
    terms = [np.atleast_1d(built(expressions, tree)) for tree in (one, other)]  # type: ignore[arg-type]
    found = NormalForms(expressions.store).difference(*terms, expressions.fmt)
    differs = any(
        expressions.values(terms[0], seed) != expressions.values(terms[1], seed) for seed in range(12)
    )
    if differs:
        assert len(found)
    elif real:  # 12 points of 7 values: a polynomial of this degree hardly vanishes on all
        assert not len(found) or all(float(c) != 0 for c in found.coefficients)


@settings(deadline=None, max_examples=25)
@given(st.booleans(), TREES, TREES, TREES)
def test_the_laws_of_a_ring_hold(real: bool, one: object, two: object, three: object) -> None:
    e = Expressions(real)
    a, b, c = (built(e, tree) for tree in (one, two, three))  # type: ignore[arg-type]
    pairs = [
        (e.combined([], [a, b]), e.combined([], [b, a])),
        (e.combined([(a, b)], []), e.combined([(b, a)], [])),
        (e.combined([(a, e.combined([], [b, c]))], []), e.combined([(a, b)], [e.combined([(a, c)], [])])),
        (e.combined([], [a, e.combined([], [b, c])]), e.combined([], [e.combined([], [a, b]), c])),
    ]
    forms = NormalForms(e.store)
    for left, right in pairs:
        assert not len(forms.difference(np.atleast_1d(left), np.atleast_1d(right), e.fmt))


@pytest.mark.parametrize("factor", [0, 1, 2, 4])
def test_sums_with_zeros_at_the_end_of_one_summand_are_still_sums(factor: int) -> None:
    e = Expressions(real=False)
    x, y = e.leaves[:2]
    for inner in (x, y, e.combined([(x, e.number(0))], []), e.combined([], [x, y])):
        left = e.combined([(x, e.combined([], [e.number(factor), inner]))], [])
        right = e.combined([(x, e.number(factor))], [e.combined([(x, inner)], [])])
        assert not len(NormalForms(e.store).difference(np.atleast_1d(left), np.atleast_1d(right), e.fmt))


class Products:
    """A product of two matrices, accumulated in steps of 4 as a kernel does, and whole."""

    def __init__(self, element: object = F16, result: object = F32, order: str = "mma") -> None:
        self.m, self.n, self.k = 3, 5, 16
        self.store = TermStore()
        self.element, self.result, self.order = element, result, order
        self.a = self.store.inputs("A", element, np.arange(self.m * self.k)).reshape(self.m, self.k)  # type: ignore[arg-type]
        self.b = self.store.inputs("B", element, np.arange(self.k * self.n)).reshape(self.k, self.n)  # type: ignore[arg-type]

    def dot(self, a: Ids, b: Ids, c: Ids, saturate: bool = False) -> Ids:
        how = Accumulation(self.order, a.shape[-1], saturate)
        operation = operations.dot(self.result, self.element, self.element, self.result, how)  # type: ignore[arg-type]
        left, right = self.store.vectors(a)[:, None], self.store.vectors(b.T)[None, :]
        return apply(self.store, operation, left, right, c)

    def zeros(self) -> Ids:
        return np.broadcast_to(self.store.constants(0, 32), (self.m, self.n))

    def stepped(self, a: Ids | None = None, order: tuple[int, ...] = (0, 4, 8, 12), **how: bool) -> Ids:
        a = self.a if a is None else a
        total = self.zeros()
        for start in order:
            total = self.dot(a[:, start : start + 4], self.b[start : start + 4], total, **how)
        return total.reshape(-1)

    def whole(self) -> Ids:
        return self.dot(self.a, self.b, self.zeros()).reshape(-1)


def test_steps_in_any_order_are_the_whole_product() -> None:
    case = Products()
    forms = NormalForms(case.store)
    for order in ((0, 4, 8, 12), (12, 4, 0, 8)):
        found = compare(forms, case.stepped(order=order), case.whole(), F32)
        assert found.equal.all() and not found.identical.any()
        assert found.roundings is not None and found.roundings.counts == ((F32, 4 * 4 + 1),)


@pytest.mark.parametrize(
    "order", [(0, 4, 8), (0, 4, 8, 8), (0, 4, 8, 12, 12)], ids=["short", "twice", "more"]
)
def test_other_steps_are_not(order: tuple[int, ...]) -> None:
    case = Products()
    found = compare(NormalForms(case.store), case.stepped(order=order), case.whole(), F32)
    assert not found.equal.any()


def test_a_swapped_element_is_the_difference() -> None:
    case = Products()
    faulty = case.a.copy()
    faulty[1, 9] = case.a[2, 9]
    found = compare(NormalForms(case.store), case.stepped(faulty), case.whole(), F32)
    assert found.equal.reshape(3, 5).all(axis=1).tolist() == [True, False, True]
    assert found.reason is None


def test_integers_are_equal_as_bits_and_saturation_matters_only_where_it_can_happen() -> None:
    case = Products(S8, S32, "exact")
    found = compare(NormalForms(case.store), case.stepped(saturate=True), case.whole(), S32)
    assert found.identical.all()
    large = np.broadcast_to(case.store.inputs("C", S32, np.arange(15)), 15).reshape(3, 5)
    sums = [case.dot(case.a, case.b, large, saturate=saturate).reshape(-1) for saturate in (False, True)]
    assert not compare(NormalForms(case.store), *sums, S32).equal.any()


def element(store: TermStore, value: float) -> Ids:
    return store.constants(int(np.float16(value).view(np.uint16)), 16)


@pytest.mark.parametrize(("offset", "right"), [(-1032.0, True), (-1031.0, False)])
def test_a_magic_number_dequantises(offset: float, right: bool) -> None:
    store = TermStore()
    packed = store.inputs("Q", S4, np.arange(32)).reshape(4, 8)
    words = bit_slices.concatenate(store, list(packed.T))
    biased = bit_slices.bitwise(store, A ^ B, words, store.constants([0x88888888] * 4, 32), words)
    table = (A & B) | C
    masks = [store.constants([value] * 4, 32) for value in (0x000F000F, 0x64006400)]
    magic = bit_slices.extract(store, bit_slices.bitwise(store, table, biased, *masks), 0, 16)
    value = apply(store, operations.fused(F16, (), (F16, F16)), magic, element(store, offset))
    expected = apply(store, operations.convert(F16, S4, NEAREST), packed[:, 0])
    assert compare(NormalForms(store), value, expected, F16).equal.all() == right


def relu_by_selection(store: TermStore, x: Ids, relation: str) -> Ids:
    zero = store.constants(0, 32)
    condition = apply(store, operations.compare(F32, relation), x, zero)
    return apply(store, operations.select(32), condition, x, zero)


@pytest.mark.parametrize(
    ("relation", "which", "equal"),
    [
        ("gt", "max", True),
        ("geu", "max", True),
        ("lt", "min", True),
        ("gt", "min", False),
        ("lt", "max", False),
    ],
)
def test_a_selection_by_comparison_is_an_extremum(relation: str, which: str, equal: bool) -> None:
    case = Products()
    extremum = apply(case.store, operations.extremum(F32, which), case.store.constants(0, 32), case.whole())
    selected = relu_by_selection(case.store, case.stepped(), relation)
    assert compare(NormalForms(case.store), selected, extremum, F32).equal.all() == equal


@pytest.mark.parametrize(("slope", "which"), [(0.25, "max"), (1.5, "min"), (-1.0, "max")])
def test_a_piecewise_linear_function_is_an_extremum(slope: float, which: str) -> None:
    case = Products()
    store, x, zero = case.store, case.stepped(), case.store.constants(0, 32)
    factor = store.constants(int(np.float32(slope).view(np.uint32)), 32)

    def scaled(terms: Ids) -> Ids:
        return apply(store, operations.fused(F32, ((F32, F32),)), factor, terms)

    condition = apply(store, operations.compare(F32, "ge"), x, zero)
    selected = apply(store, operations.select(32), condition, x, scaled(x))
    for name in ("max", "min"):
        extremum = apply(store, operations.extremum(F32, name), case.whole(), scaled(case.whole()))
        assert compare(NormalForms(store), selected, extremum, F32).equal.all() == (name == which)


def test_sums_of_a_butterfly_are_one_term() -> None:
    store = TermStore()
    lanes = store.inputs("x", F32, np.arange(8))
    add = operations.fused(F32, (), (F32, F32))
    for distance in (4, 2, 1):
        lanes = apply(store, add, lanes, lanes[np.arange(8) ^ distance])
    assert len(np.unique(lanes)) == 1


Reading = Callable[[TermStore], tuple[Ids, Ids]]


def _sign_extended(store: TermStore) -> tuple[Ids, Ids]:
    bytes_ = store.inputs("A", S8, np.arange(4))
    return bit_slices.sign_extend(store, bytes_, 32), apply(store, operations.extend(32, 8), bytes_)


def _zero_extended(store: TermStore) -> tuple[Ids, Ids]:
    bytes_ = store.inputs("A", S8, np.arange(4))
    return bit_slices.zero_extend(store, bytes_, 32), apply(store, operations.extend(32, 8), bytes_)


@pytest.mark.parametrize(("made", "equal"), [(_sign_extended, True), (_zero_extended, False)])
def test_the_sign_of_a_byte_matters(made: Reading, equal: bool) -> None:
    store = TermStore()
    assert compare(NormalForms(store), *made(store), S32).equal.all() == equal


def test_unsigned_bytes_are_their_fields() -> None:
    store = TermStore()
    bytes_ = store.inputs("A", U8, np.arange(4))
    shifted = bit_slices.shift_left(store, bit_slices.zero_extend(store, bytes_, 32), 4)
    scaled = apply(
        store, operations.ring(32, 1, 0), bit_slices.zero_extend(store, bytes_, 32), store.constants(16, 32)
    )
    assert compare(NormalForms(store), shifted, scaled, S32).equal.all()


def test_an_integer_that_may_wrap_is_not_the_number() -> None:
    store = TermStore()
    x = store.inputs("x", S32, np.arange(2))
    doubled = apply(store, operations.ring(32, 0, 2), x, x)
    as_float = apply(store, operations.convert(F32, S32, NEAREST), doubled)
    number = apply(store, operations.convert(F32, S32, NEAREST), x)
    twice = apply(store, operations.fused(F32, (), (F32, F32)), number, number)
    assert not compare(NormalForms(store), as_float, twice, F32).equal.any()
    small = bit_slices.sign_extend(store, store.inputs("y", S8, np.arange(2)), 32)
    doubled = apply(store, operations.ring(32, 0, 2), small, small)
    as_float = apply(store, operations.convert(F32, S32, NEAREST), doubled)
    number = apply(store, operations.convert(F32, S32, NEAREST), small)
    twice = apply(store, operations.fused(F32, (), (F32, F32)), number, number)
    assert compare(NormalForms(store), as_float, twice, F32).equal.all()


def test_reading_tf32_counts_as_rounding() -> None:
    case = Products(TF32, F32)
    case.a = case.store.inputs("A", F32, np.arange(48)).reshape(3, 16)
    found = compare(NormalForms(case.store), case.stepped(), case.whole(), F32)
    assert found.roundings is not None
    assert found.equal.all()
    assert found.roundings.counts == ((TF32, 2), (F32, 4 * 4 + 1))


@pytest.mark.parametrize(
    ("rounding", "count"), [(NEAREST, 1), (Rounding.TOWARD_ZERO, 2), (Rounding.UPWARD, 2)]
)
def test_a_directed_rounding_counts_twice(rounding: Rounding, count: int) -> None:
    store = TermStore()
    x = store.inputs("x", F32, np.arange(2))
    total = apply(store, operations.fused(F32, (), (F32, F32), rounding), x[:1], x[1:])
    assert roundings(store, total).counts == ((F32, count),)
    converted = apply(store, operations.convert(BF16, F32, rounding, saturate=True), x)
    assert roundings(store, converted).counts == ((BF16, count),)


def test_an_integer_made_of_rounded_floats_is_not_certain_to_the_bit() -> None:
    case = Products()
    towards_zero = operations.convert(S32, F32, Rounding.TOWARD_ZERO)
    stepped, whole = (apply(case.store, towards_zero, terms) for terms in (case.stepped(), case.whole()))
    for wrapped in (False, True):  # an integer operation behind the conversion hides nothing
        if wrapped:
            add = operations.ring(32, 0, 2)
            stepped, whole = (apply(case.store, add, terms, terms) for terms in (stepped, whole))
        found = compare(NormalForms(case.store), stepped, whole, S32)
        assert found.equal.all() and not found.identical.any()
        assert found.roundings is not None and found.roundings.turned
        assert "no rounding changes the outcome" in str(found.roundings)


def test_a_verdict_names_the_hypotheses_of_all_that_it_is_about() -> None:
    store = TermStore()
    x = store.inputs("x", F32, np.arange(2))
    total = apply(store, operations.fused(F32, (), (F32, F32)), x[:1], x[1:])
    half = apply(store, operations.fused(F16, (), (F32,)), x[:1])
    whole = apply(store, operations.convert(S32, F32, NEAREST), total)
    both = worst([roundings(store, half), roundings(store, whole)])
    assert both is not None and both.counts == ((F16, 1),)
    assert [hypothesis.name for hypothesis in both.hypotheses] == [
        "finite-inputs",
        "no-overflow",
        "no-underflow",
        "no-turning",
    ]
    assert both.hypotheses[1].statement == "no rounding to f16 or f32 overflows"
    exact = roundings(store, apply(store, operations.convert(S32, F32, NEAREST), x))
    assert [hypothesis.name for hypothesis in exact.hypotheses] == ["finite-inputs"]
    assert worst([]) is None
