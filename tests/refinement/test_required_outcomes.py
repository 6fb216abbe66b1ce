"""Comparisons are decided by bounds of inputs only if all inputs agree."""

from __future__ import annotations

import numpy as np
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.analysis.required_outcomes import RequiredOutcomes
from mmaproof.refinement.terms import bit_slices, operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.input_ends import Ends
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore
from mmaproof.refinement.terms.truth_tables import A, B
from mmaproof.spec.formats import F32

COUNT = 64
FLOATS = st.floats(width=32, allow_nan=False)
FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)
RELATIONS = [relation + u for relation in ("lt", "le", "gt", "ge", "eq", "ne") for u in ("", "u")]
FUNCTIONS = ["ex2", "sqrt", "rcp", "sin", *(f"{each}.approx.ftz" for each in ("lg2", "sqrt", "rcp", "rsqrt"))]
STEPS = st.sampled_from(["negate", "max", "min", "add", "add.ftz", "product", "square", *FUNCTIONS])


def _made(store: TermStore, term: Ids, step: str, constant: Ids) -> Ids:
    match step:
        case "negate":
            return apply(store, operations.negate(F32), term)
        case "max" | "min":
            return apply(store, operations.extremum(F32, step), term, constant)
        case "add" | "add.ftz":
            return apply(store, operations.fused(F32, (), (F32, F32), flush=step != "add"), term, constant)
        case _ if step in FUNCTIONS:
            return apply(store, operations.function(step, F32, F32), term)
    other = term if step == "square" else constant
    return apply(store, operations.fused(F32, ((F32, F32),)), term, other)


@settings(max_examples=examples(300))
@given(
    st.tuples(FINITE, FINITE),
    st.booleans(),
    st.lists(st.tuples(STEPS, FLOATS), max_size=3),
    st.lists(st.tuples(st.sampled_from(RELATIONS), FLOATS), min_size=1, max_size=2),
    st.sampled_from([A & B, A | B, A & ~B & 0xFF]),
    st.integers(0, 2**32 - 1),
)
def test_what_is_told_is_so(
    ends: tuple[float, float],
    number: bool,
    steps: list[tuple[str, float]],
    compared: list[tuple[str, float]],
    table: int,
    seed: int,
) -> None:
    low, high = sorted(ends)
    store = TermStore()
    every = np.ones(1, dtype=bool)
    store.ends = {"x": Ends(F32, low * np.ones(1), high * np.ones(1), every & number, ~every, ~every)}
    x = term = store.inputs("x", F32, np.arange(1))

    def constant(value: float) -> Ids:
        return store.constants([int(np.float32(value).view(np.uint32))], 32)

    with np.errstate(all="ignore"):
        for step, value in steps:
            term = _made(store, term, step, constant(value))
        bits = [
            apply(store, operations.compare(F32, each), term, constant(value)) for each, value in compared
        ]
        condition = bit_slices.bitwise(store, table, bits[0], bits[-1], bits[-1])
        outcomes, known = RequiredOutcomes(store).outcomes(condition)
        random = np.random.default_rng(seed)
        drawn = np.clip(random.normal(size=COUNT) * abs(high - low) + low, low, high).astype(np.float32)
        drawn = np.clip(drawn, np.float32(low), np.float32(high))
        words = np.concatenate([drawn, np.array([low, high], np.float32)]).view(np.uint32).astype(np.uint64)
        if not number:
            words = np.append(words, np.uint64(0x7FC00000))
        found = Assignment(store, {"x": words[None, :]}).values(condition)
    assert x.shape == (1,)
    if known[0]:
        assert (found.astype(bool) == outcomes[0]).all()


def test_bounds_decide() -> None:
    store, every = TermStore(), np.ones(1, dtype=bool)
    store.ends = {"x": Ends(F32, np.array([-2.0]), np.array([3.0]), every, ~every, ~every)}
    x = store.inputs("x", F32, np.arange(1))
    square = apply(store, operations.fused(F32, ((F32, F32),)), x, x)
    bound = store.constants([int(np.float32(100.0).view(np.uint32))], 32)
    conditions = np.concatenate(
        [apply(store, operations.compare(F32, each), square, bound) for each in ("lt", "geu", "eq")]
    )
    outcomes, known = RequiredOutcomes(store).outcomes(conditions)
    assert known.all() and outcomes.tolist() == [True, False, False]
