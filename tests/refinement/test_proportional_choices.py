"""Pairs of a maximum and a sum, merged by comparing the maxima, are sums relative to the greater one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.equality.proportional_choices import ProportionalChoices
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "B": "f32", "S": "f32", "T": "f32", "C": "f32 out"}
SCALED = """
sub.f32 %f5, %f2, %f1; mul.f32 %f5, %f5, 0f3FB8AA3B; ex2.approx.f32 %f6, %f5;
"""
SELECTS = f"""
setp.gt.f32 %p1, %A, %B; selp.f32 %f1, %A, %B, %p1; selp.f32 %f2, %B, %A, %p1;
selp.f32 %f3, %S, %T, %p1; selp.f32 %f4, %T, %S, %p1; {SCALED} fma.rn.f32 %C, %f4, %f6, %f3;
"""
BRANCHES = """
sub.f32 %f1, %B, %A; mul.f32 %f1, %f1, 0f3FB8AA3B; ex2.approx.f32 %f1, %f1; fma.rn.f32 %f2, %T, %f1, %S;
sub.f32 %f3, %A, %B; mul.f32 %f3, %f3, 0f3FB8AA3B; ex2.approx.f32 %f3, %f3; fma.rn.f32 %f4, %S, %f3, %T;
setp.lt.f32 %p1, %A, %B; selp.f32 %C, %f4, %f2, %p1;
"""
WITH_A_MAXIMUM = SELECTS.replace("selp.f32 %f1, %A, %B, %p1;", "max.f32 %f1, %A, %B;")
FORMULA = "C[i] = S[i] * exp(A[i] - max(A[i], B[i])) + T[i] * exp(B[i] - max(A[i], B[i]))"
BY_ANOTHER = SELECTS.replace("selp.f32 %f3", "setp.ge.f32 %p1, %A, %B; selp.f32 %f3")
RIGHT = {"selects": SELECTS, "cases": BRANCHES, "a maximum": WITH_A_MAXIMUM, "maxima by another": BY_ANOTHER}


@pytest.mark.parametrize("name", RIGHT)
def test_merges_are_sums_relative_to_the_greater_maximum(name: str) -> None:
    result = result_of(RIGHT[name], FORMULA, ARRAYS)
    assert result.verdict == "verified", result.findings


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("selects", "selp.f32 %f3, %S, %T", "selp.f32 %f3, %T, %S"),
        ("selects", "setp.gt", "setp.lt"),
        ("selects", "%f2, %f1", "%f1, %f2"),
        ("selects", "0f3FB8AA3B", "0f4038AA3B"),
        ("selects", "%f4, %f6, %f3", "%f3, %f6, %f4"),
        ("cases", "setp.lt", "setp.gt"),
        ("cases", "sub.f32 %f3, %A, %B", "sub.f32 %f3, %B, %A"),
        ("a maximum", "max.f32", "min.f32"),
        ("a maximum", "max.f32 %f1, %A, %B", "min.f32 %f1, %A, %A"),
        ("selects", "selp.f32 %f4", "setp.ge.f32 %p1, %A, %B; selp.f32 %f4"),  # equal maxima: T + T
        (
            "cases",
            "setp.lt.f32 %p1, %A, %B;",
            "setp.lt.f32 %p1, %A, %B; setp.gt.f32 %p2, %A, %B; selp.f32 %f2, %f2, %S, %p2;",
        ),
    ],
)
def test_other_merges_are_refuted(name: str, old: str, new: str) -> None:
    assert old in RIGHT[name]
    assert result_of(RIGHT[name].replace(old, new, 1), FORMULA, ARRAYS).verdict == "refuted"


# -- what is replaced has the same value
def merged(store: TermStore, row: Ids, orders: list[tuple[str, bool]]) -> Ids:
    """Return the sum of powers relative to the maximum of a row, merged number by number."""

    def float_constant(value: float) -> Ids:
        return store.constants([int(np.float32(value).view(np.uint32))], 32)

    maximum, total = row[:1], float_constant(1.0)
    for place, (relation, turned) in enumerate(orders, start=1):
        other, one = row[place : place + 1], float_constant(1.0)
        sides = (other, maximum) if turned else (maximum, other)
        holds = apply(store, operations.compare(F32, relation), *sides)
        first_is_greater = (relation in ("gt", "ge")) != turned

        def of(greater: Ids, less: Ids, *, holds: Ids = holds, first: bool = first_is_greater) -> Ids:
            return apply(
                store, operations.select(32), holds, *((greater, less) if first else (less, greater))
            )

        big, small = of(maximum, other), of(other, maximum)
        high, low = of(total, one), of(one, total)
        apart = apply(
            store, operations.fused(F32, (), (F32, F32)), small, apply(store, operations.negate(F32), big)
        )
        scale = apply(store, operations.fused(F32, ((F32, F32),)), float_constant(1.4426950408889634), apart)
        power = apply(store, operations.function("ex2.approx", F32, F32), scale)
        total = apply(store, operations.fused(F32, ((F32, F32),), (F32,)), low, power, high)
        maximum = big
    return total


@settings(max_examples=examples(40))
@given(
    st.lists(st.tuples(st.sampled_from(["gt", "ge", "lt", "le"]), st.booleans()), min_size=1, max_size=5),
    st.data(),
)
def test_replaced_merges_have_the_same_value(orders: list[tuple[str, bool]], data: st.DataObject) -> None:
    store = TermStore()
    row = store.inputs("x", F32, np.arange(len(orders) + 1))
    term = merged(store, row, orders)
    rewriting = ProportionalChoices(store)
    found = rewriting.values(term)
    assert rewriting.count == len(orders)
    numbers = data.draw(st.lists(st.floats(-20, 20, width=32), min_size=len(row), max_size=len(row)))
    words = np.array(numbers, dtype=np.float32).view(np.uint32)
    old, new = (
        Assignment(store, {"x": words}).values(each).astype(np.uint32).view(np.float32)[0]
        for each in (term, found)
    )
    assert new == pytest.approx(old, rel=1e-5)


def expf(argument: str, result: str) -> str:
    """Return the exponential as CUDA's library writes it out."""
    return (
        f"fma.rn.f32 %f9, {argument}, 0f3BBB989D, 0f3F000000; cvt.sat.f32.f32 %f9, %f9;"
        "fma.rm.f32 %f9, %f9, 0f437C0000, 0f4B400001; add.f32 %f8, %f9, 0fCB40007F; neg.f32 %f8, %f8;"
        f"fma.rn.f32 %f8, {argument}, 0f3FB8AA3B, %f8; fma.rn.f32 %f8, {argument}, 0f32A57060, %f8;"
        "mov.b32 %r9, %f9; shl.b32 %r9, %r9, 23; mov.b32 %f9, %r9; ex2.approx.ftz.f32 %f8, %f8;"
        f"mul.f32 {result}, %f8, %f9;"
    )


def fast(argument: str, result: str) -> str:
    """Return the exponential of the hardware."""
    return f"mul.f32 %f9, {argument}, 0f3FB8AA3B; ex2.approx.f32 {result}, %f9;"


FIRST = "mov.f32 %f1, %A; mov.f32 %f3, 0f3F800000;"
NOTHING = "mov.f32 %f1, 0fFF800000; mov.f32 %f3, 0f00000000;"
"""What an online softmax starts from: the first number, or the maximum of none, -∞."""


def online(exponential: Callable[[str, str], str], start: str = FIRST, numbers: str = "BS") -> str:
    """Return a softmax that keeps (maximum %f1, sum %f3) and compares with each number."""
    steps = "".join(
        f"mov.f32 %f2, %{name}; setp.gt.f32 %p1, %f2, %f1; sub.f32 %f4, %f1, %f2; {exponential('%f4', '%f4')}"
        "@%p1 mul.f32 %f3, %f3, %f4; @%p1 mov.f32 %f1, %f2;"
        f"sub.f32 %f5, %f2, %f1; {exponential('%f5', '%f5')} add.f32 %f3, %f3, %f5;"
        for name in numbers
    )
    last = f"sub.f32 %f6, %A, %f1; {exponential('%f6', '%f6')} div.rn.f32 %C, %f6, %f3;"
    return f"{start} {steps} {last}"


SOFTMAX = "C[i] = exp(A[i]) / (exp(A[i]) + exp(B[i]) + exp(S[i]))"


@pytest.mark.parametrize("exponential", [expf, fast])
def test_an_online_softmax_may_compare_with_each_number(exponential: Callable[[str, str], str]) -> None:
    result = result_of(online(exponential), SOFTMAX, ARRAYS)
    assert result.verdict == "verified", result.findings


@pytest.mark.parametrize("exponential", [expf, fast])
def test_an_online_softmax_may_start_from_no_number(exponential: Callable[[str, str], str]) -> None:
    names = "ABSTUV"
    arrays = {**dict.fromkeys(names, "f32"), "C": "f32 out"}
    formula = f"C[i] = exp(A[i]) / ({' + '.join(f'exp({name}[i])' for name in names)})"
    result = result_of(online(exponential, NOTHING, names), formula, arrays)
    assert result.verdict == "verified", result.findings


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("setp.gt.f32", "setp.lt.f32"),
        ("@%p1 mul.f32 %f3, %f3, %f4;", ""),
        ("@%p1 mov.f32 %f1, %f2;", ""),
        ("sub.f32 %f4, %f1, %f2", "sub.f32 %f4, %f2, %f1"),
        ("mov.f32 %f3, 0f3F800000", "mov.f32 %f3, 0f00000000"),
    ],
)
@pytest.mark.parametrize("exponential", [expf, fast])
def test_an_online_softmax_with_a_fault_is_not_shown(
    old: str, new: str, exponential: Callable[[str, str], str]
) -> None:
    body = online(exponential)
    assert old in body
    expected = "undecided" if "lt" in new else "refuted"  # from the minimum it is right, but may overflow
    assert result_of(body.replace(old, new), SOFTMAX, ARRAYS).verdict == expected


@pytest.mark.parametrize("relation", ["gt", "ge", "lt", "le", "ne"])
def test_powers_of_opposite_differences_are_not_both_small(relation: str) -> None:
    body = (
        f"setp.{relation}.f32 %p1, %A, %B; sub.f32 %f1, %B, %A; ex2.approx.f32 %f2, %f1; sub.f32 %f1, %A, %B;"
        "ex2.approx.f32 %f3, %f1; mul.f32 %f3, %f3, %S; mul.f32 %f3, %f3, %f2; selp.f32 %C, %f3, %S, %p1;"
    )
    assert result_of(body, "C[i] = S[i]", ARRAYS).verdict != "verified"
