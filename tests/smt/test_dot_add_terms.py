"""Exact terms of fused dot-adds: the same bits as on arrays, and claims that a solver can decide."""

from __future__ import annotations

from typing import Any

import dot_add_reference as reference
import numpy as np
import pytest
import z3

from mmaproof.smt.z3_algebra import UninterpretedAlgebra, Z3Algebra, variable
from mmaproof.spec.algebra import Algebra, Array, Operand, Product
from mmaproof.spec.dot_add_model import DotAddModel
from mmaproof.spec.formats import (
    BF16,
    E2M1,
    E2M3,
    E3M2,
    E4M3,
    E5M2,
    F16,
    F32,
    TF32,
    UE4M3,
    UE8M0,
)
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.rounding import Rounding

NUMPY, SYMBOLIC = NumpyAlgebra(), Z3Algebra()
ZERO, EVEN = Rounding.TOWARD_ZERO, Rounding.NEAREST_EVEN

# left, right, addend, result, model, K, and the format and number of scale factors
STEPS: list[tuple[Any, ...]] = [
    (F16, F16, F32, F32, DotAddModel(23, ZERO), 4, None, 0),
    (F16, F16, F16, F16, DotAddModel(24, EVEN), 8, None, 0),
    (F16, F16, F32, F16, DotAddModel(25, EVEN), 16, None, 0),
    (F16, F16, F16, F32, DotAddModel(25, Rounding.UPWARD), 2, None, 0),
    (F16, F16, F32, F16, DotAddModel(12, Rounding.DOWNWARD), 3, None, 0),
    (BF16, BF16, F32, F32, DotAddModel(25, ZERO), 16, None, 0),
    (TF32, TF32, F32, F32, DotAddModel(24, ZERO), 4, None, 0),
    (E4M3, E5M2, F32, F32, DotAddModel(13, ZERO, 13), 16, None, 0),
    (E5M2, E5M2, F16, F16, DotAddModel(13, EVEN), 16, None, 0),
    (E3M2, E2M1, F32, F32, DotAddModel(25, ZERO), 8, None, 0),
    (E2M3, E4M3, F32, F32, DotAddModel(25, ZERO), 4, UE8M0, 1),
    (E5M2, E2M1, F32, F32, DotAddModel(25, ZERO), 4, UE8M0, 2),
    (E2M1, E2M1, F32, F32, DotAddModel(35, ZERO, group=16), 32, UE4M3, 2),
    (E2M1, E2M1, F32, F32, DotAddModel(35, ZERO, group=4), 8, UE8M0, 1),
    (BF16, BF16, F32, F32, DotAddModel(25, ZERO, zero_terms=True), 4, None, 0),
    (F16, F16, F16, F16, DotAddModel(12, EVEN, signed_zeros=True), 2, None, 0),
    (E2M3, E4M3, F32, F32, DotAddModel(25, ZERO, zero_terms=True, signed_zeros=True), 2, UE8M0, 1),
    (E2M1, E2M1, F32, F32, DotAddModel(35, ZERO, group=4, zero_terms=True, signed_zeros=True), 8, UE4M3, 2),
]


def numerals(operand: Operand) -> Operand:
    terms = np.frompyfunc(lambda e: z3.BitVecVal(int(e), operand.format.bits), 1, 1)(operand.bits)
    return Operand(np.asarray(terms, dtype=object), operand.format)


@pytest.mark.sample(12)
@pytest.mark.parametrize("step", STEPS, ids=lambda step: "-".join(map(str, step)))
def test_a_term_has_the_bits_of_the_array(step: tuple[Any, ...]) -> None:
    x, y, a, result, model, count, of_scales, groups = step
    rng = np.random.default_rng(14)
    vectors = 400 // count
    left, right = (reference.factors(fmt, rng, vectors, count) for fmt in (x, y))
    if count > 1:
        left, right = reference.cancelling(left, right, x, rng)
    low, high = reference.exponent_range(x, y)
    addend = reference.addends(a, rng, vectors, low - 4, high + 8)
    operands = [Operand(left, x), Operand(right, y), Operand(addend, a)]
    if of_scales is not None:
        operands += [Operand(reference.factors(of_scales, rng, vectors, groups), of_scales) for _ in range(2)]

    def compute(alg: Algebra, operands: list[Operand]) -> Array:
        first, second, last, *factors = operands
        scales: Product | None = (factors[0], factors[1]) if factors else None
        return alg.dot_add(result, model, first, second, last, scales)

    concrete = compute(NUMPY, operands)
    symbolic = compute(SYMBOLIC, [numerals(operand) for operand in operands])
    assert [z3.simplify(term).as_long() for term in symbolic] == concrete.tolist()


def test_terms_broadcast() -> None:
    x, y, c = variable("x", (2, 1, 4), F16), variable("y", (1, 3, 4), F16), variable("c", (2, 3), F32)
    model = DotAddModel(25, ZERO)
    operands = Operand(x, F16), Operand(y, F16), Operand(c, F32)
    whole = SYMBOLIC.dot_add(F32, model, *operands)
    assert whole.shape == (2, 3)
    alone = SYMBOLIC.dot_add(
        F32, model, Operand(x[1, 0], F16), Operand(y[0, 2], F16), Operand(c[1:2, 2], F32)
    )
    assert whole[1, 2].eq(alone[0])


def step_on_tiny_factors(model: DotAddModel, order: list[int]) -> Any:
    """Return 1 plus two products of e2m1 variables, taken in an order."""
    x, y = variable("x", (2,), E2M1), variable("y", (2,), E2M1)
    one = Operand(SYMBOLIC.constant(F16.bias << F16.fraction_bits, F16), F16)
    return SYMBOLIC.dot_add(F16, model, Operand(x[order], E2M1), Operand(y[order], E2M1), one)[()]


def test_the_order_within_a_step_is_proved_open() -> None:
    model = DotAddModel(3, EVEN)
    solver = z3.Solver()
    solver.add(step_on_tiny_factors(model, [0, 1]) != step_on_tiny_factors(model, [1, 0]))
    assert solver.check() == z3.unsat


def test_truncation_has_a_witness() -> None:
    """With few fraction bits, some sum differs from that with many."""
    solver = z3.Solver()
    short, long = (step_on_tiny_factors(DotAddModel(bits, EVEN), [0, 1]) for bits in (3, 10))
    solver.add(short != long)
    assert solver.check() == z3.sat


def test_uninterpreted_steps_are_functions_of_model_and_operands() -> None:
    alg = UninterpretedAlgebra()
    x, y, c = variable("x", (4,), F16), variable("y", (4,), F16), variable("c", (), F32)
    operands = Operand(x, F16), Operand(y, F16), Operand(c, F32)
    one, again = (alg.dot_add(F32, DotAddModel(25, ZERO), *operands)[()] for _ in range(2))
    other = alg.dot_add(F32, DotAddModel(24, ZERO), *operands)[()]
    assert one.eq(again)
    assert not one.decl().eq(other.decl())
    assert all(a.eq(b) for a, b in zip(one.children(), [*x, *y, c[()]], strict=True))
