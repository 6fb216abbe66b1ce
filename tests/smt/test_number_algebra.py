"""Uninterpreted sums of numbers: what they identify, what not, and that real sums are such functions."""

from __future__ import annotations

from typing import Any

import exact_arithmetic as exact
import numpy as np
import pytest
import z3

from mmaproof.smt.number_algebra import NumberAlgebra
from mmaproof.smt.z3_algebra import UninterpretedAlgebra, variable
from mmaproof.spec.algebra import Operand
from mmaproof.spec.formats import (
    BF16,
    E2M1,
    E4M3,
    E5M2,
    F16,
    F32,
    F64,
    TF32,
    UE8M0,
    FloatFormat,
)
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx.block_scaling import SCALED
from mmaproof.spec.rounding import Rounding

SYMBOLIC, NUMPY = NumberAlgebra(), NumpyAlgebra()
EVEN = Rounding.NEAREST_EVEN


def entails(assumption: Any, claim: Any) -> bool:
    solver = z3.Solver()
    solver.add(assumption, z3.Not(claim))
    return bool(solver.check() == z3.unsat)


def test_operands_that_are_one_number_have_one_sum() -> None:
    x, wide, y, c = (
        Operand(variable(name, (), fmt), fmt)
        for name, fmt in (("x", E4M3), ("wide", SCALED), ("y", E5M2), ("c", F32))
    )
    for alg, expected in ((SYMBOLIC, True), (UninterpretedAlgebra(), False)):
        numbers = [alg.fused(F64, EVEN, (), [operand])[()] for operand in (x, wide)]
        sums = [alg.fused(F32, EVEN, [(operand, y)], [c])[()] for operand in (x, wide)]
        assert entails(numbers[0] == numbers[1], sums[0] == sums[1]) is expected


@pytest.mark.parametrize("what", ["direction", "order", "result", "kind"])
def test_different_operations_stay_different(what: str) -> None:
    x, y = (Operand(variable(name, (), F16), F16) for name in "xy")
    one = SYMBOLIC.fused(F32, EVEN, (), [x, y])[()]
    other = {
        "direction": lambda: SYMBOLIC.fused(F32, Rounding.UPWARD, (), [x, y]),
        "order": lambda: SYMBOLIC.fused(F32, EVEN, (), [y, x]),
        "result": lambda: SYMBOLIC.fused(F16, EVEN, (), [x, y]),
        "kind": lambda: SYMBOLIC.fused(F32, EVEN, [(x, y)]),
    }[what]()[()]
    assert one.sort() != other.sort() or not entails(z3.BoolVal(True), one == other)


WIDER = [(E4M3, F16), (E5M2, F16), (E2M1, E4M3), (E2M1, E5M2), (BF16, F32), (F16, TF32), (UE8M0, F32)]


@pytest.mark.parametrize(("narrow", "wide"), WIDER, ids=str)
def test_sums_are_functions_of_numbers(narrow: FloatFormat, wide: FloatFormat) -> None:
    """What the algebra takes for granted, on encodings of one number in two formats."""
    rng = np.random.default_rng(16)
    bits = np.concatenate([exact.edge_encodings(narrow), rng.integers(0, 1 << narrow.bits, 300)])
    x = Operand(bits.astype(narrow.storage), narrow)
    same = Operand(NUMPY.fused(wide, EVEN, (), [x]), wide)
    numbers = [NUMPY.fused(F64, EVEN, (), [operand]) for operand in (x, same)]
    assert numbers[0].tolist() == numbers[1].tolist()
    y = Operand(rng.choice(exact.edge_encodings(F16), x.bits.shape).astype(np.uint16), F16)
    c = Operand(rng.choice(exact.edge_encodings(F32), x.bits.shape).astype(np.uint32), F32)
    for rounding in Rounding:
        for result in (F16, F32):
            fused, again = (NUMPY.fused(result, rounding, [(each, y)], [c]) for each in (x, same))
            assert fused.tolist() == again.tolist()
            sums, others = (NUMPY.fused(result, rounding, (), [each, c]) for each in (x, same))
            assert sums.tolist() == others.tolist()
