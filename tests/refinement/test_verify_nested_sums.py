"""Functions and powers of sums: atoms as long as that decides, and never more products than memory has."""

from __future__ import annotations

import re
import resource

import numpy as np
import pytest

from mmaproof.refinement.equality.equivalence import compare
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.operations import Accumulation
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F16, F32

from ..elementwise_kernels import result_of

LENGTH = 32


def multiplied(store: TermStore, *factors: Ids) -> Ids:
    product, *others = factors
    for other in others:
        product = apply(store, operations.fused(F32, ((F32, F32),)), product, other)
    return product


def added(store: TermStore, *terms: Ids) -> Ids:
    total, *others = terms
    for other in others:
        total = apply(store, operations.fused(F32, (), (F32, F32)), total, other)
    return total


class Case:
    """Sums of products of rows of A and columns of B."""

    def __init__(self) -> None:
        self.store = TermStore()
        self.a = self.store.inputs("A", F16, np.arange(4 * LENGTH)).reshape(4, LENGTH)
        self.b = self.store.inputs("B", F16, np.arange(LENGTH))[None].repeat(4, axis=0)

    def sums(self, order: str, start: int = 0, end: int = LENGTH) -> Ids:
        columns = np.arange(LENGTH)[:: -1 if order == "backward" else 1][start:end]
        vectors = (self.store.vectors(each[:, columns]) for each in (self.a, self.b))
        how = Accumulation(order, end - start)
        zero = np.full(4, self.store.constants(0, 32), dtype=np.int32)
        return self.store.apply(operations.dot(F32, F16, F16, F32, how), *vectors, zero)


def nested(store: TermStore, x: Ids, depth: int) -> Ids:
    """Return functions of cubes of sums of functions ..., whose expansions are astronomical."""
    for _ in range(depth):
        x = store.apply(operations.function("tanh", F32, F32), added(store, x, multiplied(store, x, x, x)))
        x = added(store, x, multiplied(store, x, x))
    return x


def test_functions_of_powers_of_equal_sums_are_equal() -> None:
    case = Case()
    sides = [nested(case.store, case.sums(order), 3) for order in ("forward", "backward")]
    assert compare(NormalForms(case.store), *sides, F32).equal.all()


def test_what_is_too_much_to_multiply_out_is_not_decided_and_takes_no_memory() -> None:
    case = Case()
    whole = case.sums("forward")
    halves = added(case.store, case.sums("forward", 0, 16), case.sums("forward", 16, 32))
    seventh = multiplied(case.store, *[whole] * 7)
    mixed = multiplied(case.store, *[whole] * 5, added(case.store, halves, case.a[:, 0]), halves)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = compare(NormalForms(case.store), seventh, mixed, F32)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20  # KiB
    assert not found.equal.any()
    assert found.reason is not None and "multiplied out" in found.reason


def test_a_factor_is_taken_into_a_sum_where_only_that_decides() -> None:
    case = Case()
    scale = case.store.inputs("alpha", F32, np.zeros(4, dtype=np.int64))
    outside = multiplied(case.store, case.sums("forward"), scale)
    inside = added(
        case.store,
        *(multiplied(case.store, case.sums("forward", 4 * i, 4 * i + 4), scale) for i in range(8)),
    )
    assert compare(NormalForms(case.store), outside, inside, F32).equal.all()
    short = added(
        case.store,
        *(multiplied(case.store, case.sums("forward", 4 * i, 4 * i + 4), scale) for i in range(7)),
    )
    assert not compare(NormalForms(case.store), outside, short, F32).equal.any()


GELU = """mul.f32 %f0, %A, %A; mul.f32 %f0, %f0, %A; fma.rn.f32 %f0, %f0, {cube}, %A;
mul.f32 %f0, %f0, 0f3F4C422A; tanh.approx.f32 %f0, %f0; add.f32 %f0, %f0, 0f3F800000;
mul.f32 %f1, %A, 0f3F000000; mul.f32 %C, %f0, %f1;"""


@pytest.mark.parametrize(("cube", "right"), [("0f3D372713", True), ("0f3D3F7CEE", False)])
def test_gelu(cube: str, right: bool) -> None:
    formula = "C[i] = 0.5 * A[i] * (1.0 + tanh(0.7978845608 * (A[i] + 0.044715 * A[i] * A[i] * A[i])))"
    result = result_of(GELU.format(cube=cube), formula, {"A": "f32", "C": "f32 out"})
    assert (result.verdict == "verified") == right, result.findings
    if not right:
        said = result.findings[0].message
        assert said.startswith("C[0] uses 0.5*A[0]*tanh.approx(") and "expected 0.5*A[0]*tanh(" in said
        assert re.search(
            r"\(its argument has 0\.0373\d*\*A\[0\]\*A\[0\]\*A\[0\], expected 0\.0356\d*\*A", said
        )


def test_a_quotient_of_data_that_the_formula_does_not_have_must_be_one() -> None:
    """``alpha * (A + C * (beta / alpha))`` is ``alpha * A + beta * C`` but for 0: then it is NaN."""
    body = "div.rn.f32 %f0, %B, %D; fma.rn.f32 %f1, %C, %f0, %A; mul.f32 %E, %f1, %D;"
    arrays = {"A": "f32", "B": "f32", "C": "f32", "D": "f32", "E": "f32 out"}
    formula = "E[i] = D[i] * A[i] + B[i] * C[i]"
    result = result_of(body, formula, arrays)
    assert result.verdict == "undecided"
    assert '"D[i] != 0"' in result.findings[0].message
    nonzero = "abs(D[i]) >= 1e-4"
    result = result_of(body, formula, arrays, requires=[nonzero])
    assert "overflows" in result.findings[0].message  # C * (B / D), of which D * A + B * C need not
    bounded = [f"abs({each}[i]) <= 1e6" for each in "ABCD"]
    result = result_of(body, formula, arrays, requires=["D[i] >= 1e-4", *bounded])
    assert result.verdict == "verified", result.findings
    assert "no divisor is 0" not in [hypothesis.statement for hypothesis in result.hypotheses]


def test_what_the_contract_divides_by_is_told_of_a_kernel_that_may_be_contracted() -> None:
    """``mul`` and ``add`` without a rounding may be fused, so that the order of roundings is open."""
    body = "mul.f32 %f0, %A, %B; add.f32 %C, %f0, %B;"
    result = result_of(
        body, "C[i] = B[i] + A[i] / B[i] * B[i] * B[i]", {"A": "f32", "B": "f32", "C": "f32 out"}
    )
    assert result.verdict == "verified", result.findings
    assert "no divisor is 0" in [hypothesis.statement for hypothesis in result.hypotheses]
