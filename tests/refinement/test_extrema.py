"""Greatest and least numbers are the same in whatever order they are taken, and clamping is one of them."""

from __future__ import annotations

import inspect
import sys

import mpmath
import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.equality.equivalence import compare
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore, bits
from mmaproof.spec.formats import F32, S8, S32, U8, Format, IntegerFormat
from mmaproof.spec.rounding import Rounding

NEAREST = Rounding.NEAREST_EVEN
LEAVES = 3

TREES = st.recursive(
    st.integers(0, LEAVES - 1) | st.integers(-2, 2).map(lambda number: ("constant", number)),
    lambda inner: st.tuples(st.sampled_from(["max", "min"]), inner, inner),
    max_leaves=6,
)


AFFINE = st.recursive(
    st.integers(0, LEAVES - 1) | st.integers(-2, 2).map(lambda number: ("constant", number)),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["max", "min", "plus", "times"]), inner, inner),
        st.tuples(st.sampled_from(["half", "minus", "exp2"]), inner),
    ),
    max_leaves=7,
)
"""Trees of extrema, sums, products, halves, opposites and powers of two."""

EXACT = st.sampled_from([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])


def encoded(number: int, fmt: Format) -> int:
    return number & 0xFFFFFFFF if fmt == S32 else int(np.float32(number).view(np.uint32))


def made(store: TermStore, leaves: Ids, tree: object, fmt: Format) -> Ids:
    if isinstance(tree, int):
        return leaves[tree : tree + 1]
    assert isinstance(tree, tuple)
    if tree[0] == "constant":
        return store.constants([encoded(tree[1], fmt)], 32)
    return apply(store, operations.extremum(fmt, tree[0]), *(made(store, leaves, x, fmt) for x in tree[1:]))


@pytest.mark.parametrize("fmt", [F32, S32])
@settings(max_examples=examples(50))
@given(one=TREES, other=TREES)
def test_what_is_called_equal_is_equal(fmt: Format, one: object, other: object) -> None:
    store = TermStore()
    leaves = store.inputs("x", fmt, np.arange(LEAVES))
    left, right = (made(store, leaves, tree, fmt) for tree in (one, other))
    equal = bool(compare(NormalForms(store), left, right, fmt).equal.all())
    grid = np.stack(np.meshgrid(*[range(-3, 4)] * LEAVES), axis=-1).reshape(-1, LEAVES)
    words = [
        Assignment(store, {"x": np.array([encoded(int(n), fmt) for n in row], np.uint64)})
        for row in grid[::5]
    ]
    same = all(word.values(left) == word.values(right) for word in words)
    assert same or not equal


FLOATS = {
    "plus": operations.fused(F32, (), (F32, F32)),
    "times": operations.fused(F32, ((F32, F32),)),
    "minus": operations.negate(F32),
    "exp2": operations.function("ex2", F32, F32),
    **{which: operations.extremum(F32, which) for which in ("max", "min")},
}


def made_of_floats(store: TermStore, leaves: Ids, tree: object) -> Ids:
    if isinstance(tree, int):
        return leaves[tree : tree + 1]
    assert isinstance(tree, tuple)
    if tree[0] == "constant":
        return store.constants([encoded(tree[1], F32)], 32)
    inner = [made_of_floats(store, leaves, each) for each in tree[1:]]
    if tree[0] == "half":
        return apply(
            store, FLOATS["times"], store.constants([int(np.float32(0.5).view(np.uint32))], 32), *inner
        )
    return apply(store, FLOATS[tree[0]], *inner)


def value(tree: object, numbers: list[mpmath.mpf]) -> mpmath.mpf:
    if isinstance(tree, int):
        return numbers[tree]
    assert isinstance(tree, tuple)
    if tree[0] == "constant":
        return mpmath.mpf(tree[1])
    inner = [value(each, numbers) for each in tree[1:]]
    match tree[0]:
        case "max" | "min":
            return (max if tree[0] == "max" else min)(inner)
        case "plus":
            return inner[0] + inner[1]
        case "times":
            return inner[0] * inner[1]
        case "half":
            return inner[0] / 2
        case "minus":
            return -inner[0]
    return mpmath.mpf(2) ** inner[0]


def equal_trees(one: object, other: object) -> bool:
    store = TermStore()
    leaves = store.inputs("x", F32, np.arange(LEAVES))
    left, right = (made_of_floats(store, leaves, tree) for tree in (one, other))
    return bool(compare(NormalForms(store), left, right, F32).equal.all())


def near(one: object, other: object, numbers: list[float]) -> bool:
    exact = [mpmath.mpf(number) for number in numbers]
    left, right = value(one, exact), value(other, exact)
    return bool(left == right or mpmath.almosteq(left, right, 1e-9))


@settings(max_examples=examples(40), deadline=None)
@given(
    one=AFFINE, other=AFFINE, points=st.lists(st.lists(EXACT, min_size=3, max_size=3), min_size=4, max_size=8)
)
def test_extrema_that_are_called_equal_have_equal_values(
    one: object, other: object, points: list[list[float]]
) -> None:
    for pair in ((one, other), (("plus", one, other), ("plus", other, one)), (("max", one, other), one)):
        if equal_trees(*pair):
            assert all(near(*pair, numbers) for numbers in points)


X, Y, Z = 0, 1, 2
ONE, TWO, NOTHING = (("constant", number) for number in (1, 2, 0))


def opposite(tree: object) -> object:
    return ("minus", tree)


def magnitude(tree: object) -> object:
    return ("max", tree, opposite(tree))


POWER = ("exp2", Z)

SAME = {
    "summand": (("max", ("plus", X, Z), ("plus", Y, Z)), ("plus", ("max", X, Y), Z)),
    "number": (("max", ("half", X), ("half", Y)), ("half", ("max", X, Y))),
    "sign": (("min", X, Y), opposite(("max", opposite(X), opposite(Y)))),
    "power": (("max", ("times", POWER, X), ("times", POWER, Y)), ("times", POWER, ("max", X, Y))),
    "product": (magnitude(("times", Z, X)), ("times", magnitude(Z), magnitude(X))),
    "idle 0": (("max", X, ("max", opposite(X), NOTHING)), magnitude(X)),
    "idle limit": (("max", POWER, opposite(ONE)), POWER),
    "constant": (("max", ("plus", X, ONE), X), ("plus", X, ONE)),
    "limits": (
        ("min", ("max", ("plus", X, X), opposite(TWO)), TWO),
        ("times", TWO, ("max", ("min", X, ONE), opposite(ONE))),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_what_all_have_in_common_stands_outside(name: str) -> None:
    assert equal_trees(*SAME[name])
    for numbers in ([1.0, -2.0, 0.5], [-1.0, 3.0, -2.0], [0.0, -0.5, 1.0]):
        assert near(*SAME[name], numbers)


OTHER = {
    "factor of either sign": (("max", ("times", Z, X), ("times", Z, Y)), ("times", Z, ("max", X, Y))),
    "opposite": (("max", opposite(X), opposite(Y)), opposite(("max", X, Y))),
    "factor of one": (("max", ("half", X), Y), ("half", ("max", X, Y))),
    "summand of one": (("max", ("plus", X, Z), Y), ("plus", ("max", X, Y), Z)),
    "0 forgotten": (("max", X, NOTHING), X),
    "0 for the opposite": (("max", X, NOTHING), magnitude(X)),
    "least": (("min", POWER, NOTHING), POWER),
    "of the sum": (magnitude(("plus", X, Y)), ("plus", magnitude(X), magnitude(Y))),
}


@pytest.mark.parametrize("name", OTHER)
def test_what_not_all_have_in_common_stays_inside(name: str) -> None:
    assert not equal_trees(*OTHER[name])


@settings(max_examples=15)
@given(order=st.permutations(range(7)), which=st.sampled_from(["max", "min"]), split=st.integers(1, 6))
def test_the_order_makes_no_difference(order: list[int], which: str, split: int) -> None:
    store = TermStore()
    leaves = store.inputs("x", F32, np.arange(7))
    operation = operations.extremum(F32, which)

    def chain(numbers: list[int]) -> Ids:
        found = leaves[numbers[0]]
        for number in numbers[1:]:
            found = apply(store, operation, found, leaves[number])
        return found.reshape(1)

    tree = apply(store, operation, chain(order[:split]), chain(order[split:]))
    forms = NormalForms(store)
    assert compare(forms, tree, chain(list(range(7))), F32).equal.all()
    assert not compare(forms, tree, chain(list(range(6))), F32).equal.any()


def clamped(store: TermStore, x: Ids, limits: tuple[int, int], *, low_first: bool) -> Ids:
    pairs = list(zip(("max", "min"), limits, strict=True))
    for which, limit in pairs if low_first else pairs[::-1]:
        constant = store.constants([limit & 0xFFFFFFFF], 32)
        x = apply(store, operations.extremum(S32, which), x, constant)
    return x


@pytest.mark.parametrize(("target", "limits"), [(S8, (-128, 127)), (U8, (0, 255))])
@pytest.mark.parametrize("low_first", [True, False])
@pytest.mark.parametrize("source", [F32, S32])
def test_clamping_to_the_limits_of_a_format_converts_to_it(
    target: IntegerFormat, limits: tuple[int, int], low_first: bool, source: Format
) -> None:
    store = TermStore()
    x = store.inputs("x", source, np.arange(1))
    rounding = NEAREST if source == F32 else None
    expected = apply(store, operations.convert(target, source, rounding, saturate=True), x)
    whole = apply(store, operations.convert(S32, F32, rounding), x) if source == F32 else x
    forms = NormalForms(store)
    for changed, right in ((0, True), (1, False)):
        value = clamped(store, whole, (limits[0] + changed, limits[1]), low_first=low_first)
        assert compare(forms, value, expected, bits(8)).equal.all() == right
    if source == F32:
        other = apply(store, operations.convert(S32, F32, Rounding.TOWARD_ZERO), x)
        value = clamped(store, other, limits, low_first=low_first)
        assert not compare(forms, value, expected, bits(8)).equal.any()


def test_what_wraps_is_not_clamped() -> None:
    store = TermStore()
    x = store.inputs("x", S32, np.arange(1))
    wrapped, kept = (apply(store, operations.convert(S8, S32, None, saturate=s), x) for s in (False, True))
    assert not compare(NormalForms(store), wrapped, kept, S8).equal.any()


@pytest.mark.parametrize("count", [4, 48])
def test_extrema_may_be_nested_more_deeply_than_calls(count: int) -> None:
    """In either order; the first case imports what the other has no room for."""
    store = TermStore()
    x = list(store.inputs("x", F32, np.arange(count)).reshape(-1, 1))
    forth, back = x[0], x[-1]
    for one, other in zip(x[1:], x[-2::-1], strict=True):
        forth, back = (
            apply(store, operations.extremum(F32, "max"), *pair) for pair in ((forth, one), (back, other))
        )
    forms, most = NormalForms(store), sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 300)
    try:
        assert (forms.identifiers(forth, F32) == forms.identifiers(back, F32)).all()
    finally:
        sys.setrecursionlimit(most)
