"""Instances of terms: inputs replaced one for one, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.equality.equivalence import compare
from mmaproof.refinement.equality.instances_of_pairs import without_instances
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.instances import RELATED, SHARED, TermInstances
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import NORMAL_FORM, Operation, TermStore
from mmaproof.spec.formats import F32

from ..elementwise_kernels import result_of

LEAVES = 4
TREES = st.recursive(
    st.integers(0, LEAVES - 1) | st.sampled_from(["one", "two"]),
    lambda inner: (
        st.tuples(st.sampled_from(["ex2", "rcp"]), inner)
        | st.tuples(st.sampled_from(["add", "multiply", "max"]), inner, inner)
    ),
    max_leaves=8,
)
ADD, MULTIPLY = operations.fused(F32, (), (F32, F32)), operations.fused(F32, ((F32, F32),))
BINARY = {"add": ADD, "multiply": MULTIPLY, "max": operations.extremum(F32, "max")}


def built(store: TermStore, tree: Any, leaves: list[int], names: str = "xxxx") -> int:
    if isinstance(tree, int):
        return int(store.inputs(names[tree], F32, leaves[tree]))
    if isinstance(tree, str):
        return int(store.constants(np.float32(1 + (tree == "two")).view(np.uint32), 32))
    given = [built(store, each, leaves, names) for each in tree[1:]]
    operation = BINARY.get(tree[0]) or operations.function(tree[0], F32, F32)
    return int(store.apply(operation, *given))  # as written: nothing is sorted or simplified


def inputs_in(tree: Any) -> set[int]:
    if isinstance(tree, tuple):
        return set().union(*map(inputs_in, tree[1:]))
    return {tree} if isinstance(tree, int) else set()


def is_instance(store: TermStore, pattern: list[int], other: list[int]) -> bool:
    instances = TermInstances(store)
    sides = [np.array(each, dtype=np.int32) for each in (pattern, other)]
    shapes = [instances.shapes(side) for side in sides]
    return bool((shapes[0] == shapes[1]).all() and instances.of(sides[0], sides[1][None])[0])


@given(
    trees=st.tuples(TREES, TREES),
    one=st.lists(st.integers(0, 9), min_size=LEAVES, max_size=LEAVES),
    other=st.lists(st.integers(0, 9), min_size=LEAVES, max_size=LEAVES),
)
def test_an_instance_has_one_input_in_the_place_of_each(
    trees: tuple[Any, Any], one: list[int], other: list[int]
) -> None:
    store = TermStore()
    pattern, given = ([built(store, tree, each) for tree in trees] for each in (one, other))
    used = sorted(set().union(*map(inputs_in, trees)))
    replaced: dict[int, set[int]] = {}
    for leaf in used:
        replaced.setdefault(one[leaf], set()).add(other[leaf])
    assert is_instance(store, pattern, given) == all(len(each) == 1 for each in replaced.values())


@given(TREES, TREES)
def test_another_structure_array_or_constant_is_no_instance(tree: Any, other: Any) -> None:
    store = TermStore()
    places = list(range(LEAVES))
    assert is_instance(store, [built(store, tree, places)], [built(store, tree, places[::-1])])
    if built(store, tree, [0] * LEAVES) != built(store, other, [0] * LEAVES):
        assert not is_instance(store, [built(store, tree, places)], [built(store, other, places)])
    if inputs_in(tree):
        assert not is_instance(
            store, [built(store, tree, places)], [built(store, tree, places, names="yyyy")]
        )


def test_only_instances_of_what_is_equal_are_equal() -> None:
    """Each element is ``exp2(x + y) * z`` against ``exp2(x) * exp2(y) * z``, but one adds another element."""
    store = TermStore()
    x, y = (store.inputs(name, F32, np.arange(32)) for name in "xy")
    exponential = operations.function("ex2", F32, F32)
    added = y.copy()
    added[17] = y[3]
    left: Ids = store.apply(exponential, store.apply(ADD, x, added))
    right = store.apply(MULTIPLY, store.apply(exponential, x), store.apply(exponential, y))
    found = compare(NormalForms(store), left, right, F32)
    assert np.flatnonzero(~found.equal).tolist() == [17]


def test_vectors_are_compared_element_by_element() -> None:
    store = TermStore()
    x = store.inputs("x", F32, np.arange(16))
    first, second = (store.vectors(x[start : start + 4]) for start in (0, 8))
    odd = store.vectors(x[[8, 9, 10, 10]])
    product = operations.fused(F32, ((F32, F32),))
    heads = store.apply(product, x[[0, 8, 8]], x[[3, 11, 10]])
    assert is_instance(store, [int(first), int(heads[0])], [int(second), int(heads[1])])
    assert is_instance(store, [int(first), int(heads[0])], [int(odd), int(heads[2])])
    assert not is_instance(store, [int(first), int(heads[0])], [int(odd), int(heads[1])])
    assert not is_instance(store, [int(odd)], [int(second)])


def test_elements_of_which_other_ends_are_known_are_of_other_shapes() -> None:
    """What is shown of one element by its ends holds of no other one."""
    body = "mov.f32 %f1, 0f00000000; max.f32 %f1, %X, %f1; ex2.approx.f32 %Y, %f1;"
    arrays, formula = {"X": "f32", "Y": "f32 out"}, "Y[i] = exp2(X[i])"
    assert result_of(body, formula, arrays, requires=["X[i] >= 0"]).verdict == "verified"
    result = result_of(body, formula, arrays, requires=["X[i] >= 0 if i < 3"])
    assert result.verdict == "refuted"
    assert "those with i from 3 to 31" in result.findings[0].message


def test_one_pair_is_compared_for_those_that_are_instances_of_it() -> None:
    store = TermStore()
    x, y = store.inputs("x", F32, np.arange(100)), store.inputs("y", F32, np.arange(100))
    double = operations.fused(F32, (), (F32, F32))
    greater = store.apply(operations.extremum(F32, "max"), x, y)
    left = store.apply(double, greater, greater)
    other = y.copy()
    other[7] = x[8]
    right = store.apply(
        operations.extremum(F32, "max"), store.apply(double, x, x), store.apply(double, other, other)
    )
    members = np.arange(100)
    assert without_instances(NormalForms(store), left, right, members, F32).tolist() == [7]
    assert without_instances(NormalForms(store), left, right, members[:20], F32).tolist() == [*range(20)]


def test_atoms_that_stand_for_sums_are_as_inputs() -> None:
    """An output is an instance of another one with other atoms, but not with two where that has one."""
    store = TermStore()
    shared = [int(store.apply(Operation(NORMAL_FORM, F32, attribute=SHARED), each)) for each in range(3)]
    related = int(store.apply(Operation(NORMAL_FORM, F32, attribute=RELATED), 1))

    def squared(one: int, other: int) -> int:
        return int(store.apply(MULTIPLY, one, other))

    terms = [squared(shared[0], shared[0]), squared(shared[1], shared[1]), squared(shared[1], shared[2])]
    rows = np.array([*terms, squared(related, related)], dtype=np.int32)
    instances = TermInstances(store)
    shapes = instances.shapes(rows)
    assert (shapes[:3] == shapes[0]).all() and shapes[3] != shapes[0]
    assert instances.of(rows[:1], rows[1:3, None]).tolist() == [True, False]
