"""Sums that both sides have are atoms, what is made of them is compared, and nothing else is equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mmaproof.refinement.equality.shared_subterms import SharedSubterms
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32, S32

COLUMNS, DEPTH = 6, 12
SUM, PRODUCT = operations.fused(F32, (), (F32, F32)), operations.fused(F32, ((F32, F32),))
ADDED = operations.fused(F32, ((F32, F32),), (F32,))


def total(store: TermStore, terms: list[Ids], *, backwards: bool) -> Ids:
    """Return a sum in one order or the other."""
    first, *others = terms[::-1] if backwards else terms
    for other in others:
        first = apply(store, SUM, first, other)
    return first


def accumulators(store: TermStore, *, backwards: bool) -> list[Ids]:
    """Return the columns of a row of ``A B + R``, the products added in one order or the other."""
    found = []
    for column in range(COLUMNS):
        steps = range(DEPTH)[::-1] if backwards else range(DEPTH)
        value = store.inputs("R", F32, np.array([column]))
        for k in steps:
            a, b = (
                store.inputs("A", F32, np.array([k])),
                store.inputs("B", F32, np.array([k * COLUMNS + column])),
            )
            value = apply(store, ADDED, a, b, value)
        found.append(value)
    return found


def normalised(store: TermStore, *, backwards: bool, mean: int = COLUMNS, root: int = 1, of: int = 0) -> Ids:
    """Return ``(s - m) * rsqrt(v)`` of the first column, the squares of v added up in one of two orders."""
    sums = accumulators(store, backwards=backwards)
    share = store.constants(np.float32(1 / 8).view(np.uint32), 32)
    m = apply(store, PRODUCT, total(store, sums[:mean], backwards=backwards), share)
    less = apply(store, operations.negate(F32), m)
    centred = [apply(store, SUM, each, less) for each in sums]
    squares = [apply(store, PRODUCT, each, each) for each in centred]
    v = total(store, squares[:root] + squares[root:], backwards=backwards)
    factor = store.apply(operations.function("rsqrt", F32, F32), v)
    return np.asarray(apply(store, PRODUCT, centred[of], factor))


def shown(store: TermStore, one: Ids, other: Ids) -> bool:
    """Tell whether the two are shown equal with atoms in the place of what they share."""
    forms = NormalForms(store)
    shared = SharedSubterms(forms, forms.outer.unequal)
    return not len(shared.unequal(one.reshape(-1), other.reshape(-1), F32))


def test_what_is_made_of_equal_sums_is_equal() -> None:
    store = TermStore()
    assert shown(store, normalised(store, backwards=False), normalised(store, backwards=True))


def test_sums_are_not_searched_by_relations_where_equal_ones_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    """That is slow where threads hold partial sums: it took minutes for a layer norm of 40 numbers."""

    def searched(*_: object) -> bool:
        raise AssertionError("looked for relations")

    monkeypatch.setattr(SharedSubterms, "_match_by_relations", searched)
    store = TermStore()
    assert shown(store, normalised(store, backwards=False), normalised(store, backwards=True))


def test_columns_of_a_row_are_shown_with_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one side has the sum of squares as a dot product of a vector with itself."""
    store, searched, shared = TermStore(), list[int](), SharedSubterms._shared

    def counted(self: SharedSubterms, *given: Any) -> dict[int, int] | None:
        searched.append(1)
        return shared(self, *given)

    monkeypatch.setattr(SharedSubterms, "_shared", counted)
    zero = store.constants(0, 32)
    dot = operations.dot(F32, F32, F32, F32, operations.Accumulation("unspecified", COLUMNS))
    sides = []
    for backwards in (False, True):
        sums = accumulators(store, backwards=backwards)
        less = apply(store, operations.negate(F32), total(store, sums, backwards=backwards))
        centred = [apply(store, SUM, each, less) for each in sums]
        vector = store.vectors(np.stack(centred, axis=-1))
        squares = total(store, [apply(store, PRODUCT, each, each) for each in centred], backwards=False)
        v = store.apply(dot, vector, vector, zero) if backwards else squares
        factor = store.apply(operations.function("rsqrt", F32, F32), v)
        sides.append(np.stack([apply(store, PRODUCT, each, factor) for each in centred], axis=-1))
    assert shown(store, *sides)
    assert len(searched) == 1


@pytest.mark.parametrize("change", [{"mean": COLUMNS - 1}, {"of": 1}])
def test_what_is_made_of_other_sums_is_not(change: dict[str, Any]) -> None:
    store = TermStore()
    assert not shown(store, normalised(store, backwards=False), normalised(store, backwards=True, **change))


def test_an_equality_of_sums_that_were_rounded_in_two_ways_is_left() -> None:
    """``s == s'`` holds over the real numbers, and not always of what is computed."""
    store = TermStore()
    one, other = (accumulators(store, backwards=each)[0] for each in (False, True))
    equal = apply(store, operations.compare(F32, "eq"), one, other)
    chosen = apply(store, operations.select(32), equal, apply(store, SUM, one, one), other)
    assert not shown(store, np.asarray(chosen), np.asarray(apply(store, SUM, other, other)))


def test_a_comparison_of_sums_that_were_rounded_in_two_ways_is_left() -> None:
    """``s > s'`` is false over the real numbers, and not always of what is computed."""
    store = TermStore()
    one, other = (accumulators(store, backwards=each)[0] for each in (False, True))
    doubled = apply(store, SUM, one, other)
    greater = apply(store, operations.compare(F32, "gt"), one, other)
    chosen = apply(store, operations.select(32), greater, one, doubled)
    assert not shown(store, np.asarray(chosen), np.asarray(doubled))


def test_bits_of_sums_that_were_rounded_in_two_ways_are_left() -> None:
    """Where the bits of ``s`` and ``s'`` are compared as integers."""
    store = TermStore()
    one, other = (accumulators(store, backwards=each)[0] for each in (False, True))
    for relation, given in (("eq", (one, other)), ("lt", (one, other))):
        equal = apply(store, operations.compare(S32, relation), *given)
        doubled = apply(store, SUM, one, one)
        chosen = apply(store, operations.select(32), equal, doubled, apply(store, SUM, other, doubled))
        same = apply(store, operations.compare(S32, relation), other, other)
        twice = apply(store, SUM, other, other)
        wanted = apply(store, operations.select(32), same, twice, apply(store, SUM, other, twice))
        assert not shown(store, np.asarray(chosen), np.asarray(wanted))


def test_sums_with_infinite_constants_are_left() -> None:
    store = TermStore()
    infinite = store.constants(0x7F800000, 32)
    sides = []
    for backwards in (False, True):
        value = apply(store, SUM, accumulators(store, backwards=backwards)[0], infinite)
        sides.append(np.asarray(apply(store, PRODUCT, value, value)))
    assert not shown(store, *sides)


def standardised(
    store: TermStore,
    *,
    about: bool,
    squares: int = DEPTH,
    epsilon: float = 2.0**-16,
    row: int = 0,
    element: int = 0,
) -> Ids:
    """Return ``(x - m) * rsqrt(v + epsilon)``, v about the mean or as the mean of squares less its square."""
    x = [store.inputs("x", F32, np.array([row * DEPTH + each])) for each in range(DEPTH)]
    share, small = (
        store.constants(np.float32(each).view(np.uint32), 32) for each in (1 / 16, epsilon)
    )  # of 16, 12 of which are not 0
    mean = apply(store, PRODUCT, total(store, x, backwards=about), share)
    less = apply(store, operations.negate(F32), mean)
    centred = [apply(store, SUM, each, less) for each in x]
    if about:
        parts = [apply(store, PRODUCT, each, each) for each in centred]
        parts += [apply(store, PRODUCT, less, less)] * (16 - DEPTH)
        v = apply(store, PRODUCT, total(store, parts, backwards=False), share)
    else:
        parts = [apply(store, PRODUCT, each, each) for each in x[:squares]]
        v = apply(store, PRODUCT, total(store, parts, backwards=False), share)
        v = apply(store, ADDED, less, mean, v)
    factor = store.apply(operations.function("rsqrt", F32, F32), apply(store, SUM, v, small))
    return np.asarray(apply(store, PRODUCT, centred[element], factor))


@pytest.mark.parametrize(
    ("change", "holds"), [({}, True), ({"squares": DEPTH - 1}, False), ({"epsilon": 2.0**-15}, False)]
)
def test_a_variance_is_the_mean_of_squares_less_the_square_of_the_mean(
    change: dict[str, Any], holds: bool
) -> None:
    store = TermStore()
    one, other = standardised(store, about=True), standardised(store, about=False, **change)
    assert shown(store, one, other) == holds


@pytest.mark.parametrize("wrong", [None, 2])
def test_what_one_pair_shares_serves_those_that_are_instances_of_it(wrong: int | None) -> None:
    store = TermStore()
    x = [store.inputs("X", F32, np.array([k])) for k in range(COLUMNS)]
    sides = []
    for backwards in (False, True):
        mean = apply(store, operations.negate(F32), total(store, x, backwards=backwards))
        taken = [x[0] if backwards and k == wrong else x[k] for k in range(COLUMNS)]
        power = store.apply(operations.function("ex2", F32, F32), mean)
        sides.append(
            np.concatenate([apply(store, PRODUCT, apply(store, SUM, each, mean), power) for each in taken])
        )
    forms, asked = NormalForms(store), list[int]()

    def unequal(left: Ids, right: Ids, fmt: Any) -> Any:
        asked.append(len(left))
        return forms.outer.unequal(left, right, fmt)

    left = SharedSubterms(forms, unequal).unequal(sides[0], sides[1], F32).tolist()
    assert (left, asked) == (([], [1]) if wrong is None else ([2], [1, 1]))


@pytest.mark.parametrize(
    ("change", "holds"), [({}, True), ({"squares": DEPTH - 1}, False), ({"row": 0}, False)]
)
def test_rows_that_are_instances_of_the_first_share_what_that_shares(
    change: dict[str, Any], holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is shared is looked for in one row; in the others, it is the same of other elements."""
    looked: list[int] = []
    look = SharedSubterms._shared
    monkeypatch.setattr(SharedSubterms, "_shared", lambda *given: (looked.append(1), look(*given))[1])
    store = TermStore()
    places = [{"row": row, "element": element} for row in range(3) for element in (0, 1, DEPTH - 1)]
    one = [standardised(store, about=True, **place) for place in places]
    other = [standardised(store, about=False, **place) for place in places[:-1]]
    other.append(standardised(store, about=False, **{**places[-1], **change}))
    assert shown(store, np.stack(one), np.stack(other)) == holds
    assert len(looked) == (1 if holds else 2)


def number(store: TermStore, value: float) -> Ids:
    """Return a constant."""
    return store.constants(np.float32(value).view(np.uint32), 32)


def merged(store: TermStore, terms: list[Ids], share: float) -> tuple[Ids, Ids]:
    """Return mean and sum of squares about it of numbers, merged from those of both halves."""
    if len(terms) == 1:
        return terms[0], number(store, 0.0)
    middle = len(terms) // 2
    (mean, squares), (other, others) = (
        merged(store, each, share) for each in (terms[:middle], terms[middle:])
    )
    apart = apply(store, SUM, other, apply(store, operations.negate(F32), mean))
    both = apply(store, SUM, squares, others)
    part = apply(store, PRODUCT, apart, number(store, len(terms) * share))
    return apply(store, ADDED, apart, number(store, 0.5), mean), apply(store, ADDED, apart, part, both)


def scaled(store: TermStore, terms: list[Ids], of: int, mean: Ids, squares: Ids) -> Ids:
    """Return a number less the mean, by the root of the variance."""
    variance = apply(store, ADDED, squares, number(store, 1 / len(terms)), number(store, 2.0**-16))
    centred = apply(store, SUM, terms[of], apply(store, operations.negate(F32), mean))
    factor = store.apply(operations.function("rsqrt", F32, F32), variance)
    return np.asarray(apply(store, PRODUCT, centred, factor)).reshape(-1)


@pytest.mark.parametrize(("share", "right"), [(0.25, True), (0.5, False)])
def test_a_variance_that_is_merged_from_parts_is_multiplied_out(share: float, right: bool) -> None:
    """No product that the formula adds is one of the kernel's. Where one is shown, the others are, too."""
    store = TermStore()
    terms = [store.inputs("X", F32, np.array([each])) for each in range(8)]
    mean = apply(store, PRODUCT, total(store, terms, backwards=False), number(store, 1 / 8))
    centred = [apply(store, SUM, each, apply(store, operations.negate(F32), mean)) for each in terms]
    squares = total(store, [apply(store, PRODUCT, each, each) for each in centred], backwards=True)
    sides = [
        np.concatenate([scaled(store, terms, of, *some) for of in range(len(terms))])
        for some in (merged(store, terms, share), (mean, squares))
    ]
    assert shown(store, *sides) == right
