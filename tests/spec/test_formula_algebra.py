"""What the algebra of formulas writes: sums, roundings, fields of words, and what has no formula."""

import numpy as np
import pytest

from mmaproof.spec.algebra import Operand
from mmaproof.spec.dot_add_model import DotAddModel
from mmaproof.spec.errors import UnsupportedError
from mmaproof.spec.formats import (
    BF16,
    E2M1,
    E4M3,
    F16,
    F32,
    F64,
    FORMATS,
    S8,
    U4,
    U8,
    U32,
    UE8M0,
    FloatFormat,
    IntegerFormat,
)
from mmaproof.spec.formula_algebra import FormulaAlgebra, named
from mmaproof.spec.formula_text import written
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.rounding import Rounding

ALG = FormulaAlgebra()
ROW, COLUMN = named("A", "i", 2), named("B", "j", 2)
ADDEND = named("C", "i")
MODEL = DotAddModel(25, Rounding.TOWARD_ZERO)
NEAREST = Rounding.NEAREST_EVEN


def test_a_dot_add_is_one_rounding_of_a_sum() -> None:
    operands = Operand(ROW, E2M1), Operand(COLUMN, E2M1), Operand(ADDEND, F32)
    (formula,) = ALG.dot_add(F32, MODEL, *operands)
    assert written(formula) == "dot_add_25_toward_zero_f32(A[i,0]·B[j,0] + A[i,1]·B[j,1] + C[i])"
    scales = Operand(named("a", 1), UE8M0), Operand(named("b", 2), UE8M0)
    (formula,) = ALG.dot_add(F32, MODEL, *operands, scales)
    total = "A[i,0]·B[j,0]·a[0]·b[0] + A[i,1]·B[j,1]·a[0]·b[1] + C[i]"
    assert written(formula) == f"dot_add_25_toward_zero_f32({total})"
    (formula,) = FormulaAlgebra(rounds=False).dot_add(F32, MODEL, *operands, scales)
    assert written(formula) == total


def test_an_arbitrary_function_is_named() -> None:
    (formula,) = ALG.arbitrary("f", [(ROW, S8), (ADDEND[:, None], F32)], F32)
    assert written(formula) == "f(A[i,0], A[i,1], C[i])"


FLOATS = [fmt for fmt in FORMATS.values() if isinstance(fmt, FloatFormat) and fmt.bits <= 8]


@pytest.mark.parametrize("result", [F16, BF16, F32])
@pytest.mark.parametrize("left", FLOATS, ids=str)
@pytest.mark.parametrize("right", FLOATS, ids=str)
def test_no_rounding_is_written_only_where_every_product_is_exact(
    left: FloatFormat, right: FloatFormat, result: FloatFormat
) -> None:
    (formula,) = ALG.fused(
        result, NEAREST, [(Operand(named("A", "i"), left), Operand(named("B", "j"), right))]
    )
    if written(formula) == "A[i]·B[j]":
        x, y = np.meshgrid(*(np.arange(1 << fmt.bits, dtype=np.uint8) for fmt in (left, right)))
        alg = NumpyAlgebra()
        pair = [(Operand(x, left), Operand(y, right))]
        once = Operand(alg.fused(result, NEAREST, pair), result)
        wide = alg.fused(F64, NEAREST, pair)
        assert alg.ieee_equal(Operand(alg.fused(F64, NEAREST, (), [once]), F64), Operand(wide, F64)).all()
    else:
        assert written(formula) == f"round_{result}(A[i]·B[j])"


def test_a_wider_format_has_what_it_is_given() -> None:
    (formula,) = ALG.fused(F32, NEAREST, (), [Operand(ADDEND, E4M3)])
    assert written(formula) == "C[i]"


def test_fields_of_a_word() -> None:
    word = named("W", "i")
    low, high = (ALG.extract(word, place, U8) for place in (8, 16))
    assert written(low[0]) == "bits(W[i], 8, 8)"
    assert written(ALG.extract(low, 4, U4)[0]) == "bits(W[i], 12, 4)"
    joined = ALG.assemble(np.stack([low, high], axis=-1), U8, [0, 8], U32)
    assert written(joined[0]) == "bits(W[i], 8, 16)"
    swapped = ALG.assemble(np.stack([high, low], axis=-1), U8, [0, 8], U32)
    assert written(swapped[0]) == "pack8(bits(W[i], 16, 8), bits(W[i], 8, 8))"
    assert ALG.extract(swapped, 8, U8)[0] == low[0]
    assert written(ALG.extract(swapped, 10, U4)[0]) == "bits(W[i], 10, 4)"


def test_subnormals_that_count_as_zeros() -> None:
    exponent = IntegerFormat("exponent", 8, signed=False)
    for alg, text in ((ALG, "flush(C[i])"), (FormulaAlgebra(rounds=False), "C[i]")):
        is_zero = alg.same(alg.extract(ADDEND, 23, exponent), alg.constant(0, exponent))
        assert written(alg.where(is_zero, alg.constant(0, F32), ADDEND)[0]) == text


def test_what_has_no_formula() -> None:
    with pytest.raises(UnsupportedError, match=r"^registers have no formula$"):
        ALG.unpack(ROW, U8)
    with pytest.raises(UnsupportedError, match=r"^fields of a word that are not equally far apart have"):
        ALG.assemble(named("A", 3), U8, [0, 8, 24], U32)
