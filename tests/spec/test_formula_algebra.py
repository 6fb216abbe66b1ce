"""What the algebra of formulas writes for sums of products and for what has no formula."""

import pytest

from mmaproof.spec.algebra import Operand
from mmaproof.spec.dot_add_model import DotAddModel
from mmaproof.spec.errors import UnsupportedError
from mmaproof.spec.formats import E2M1, F32, S8, U8, U32, UE8M0
from mmaproof.spec.formula_algebra import FormulaAlgebra, named
from mmaproof.spec.rounding import Rounding

ALG = FormulaAlgebra()
ROW, COLUMN = named("A", ["i"], ["0", "1"]), named("B", ["j"], ["0", "1"])
ADDEND = named("C", ["i"])
MODEL = DotAddModel(25, Rounding.TOWARD_ZERO)


def test_a_dot_add_is_one_rounding_of_a_sum() -> None:
    operands = Operand(ROW, E2M1), Operand(COLUMN, E2M1), Operand(ADDEND, F32)
    (formula,) = ALG.dot_add(F32, MODEL, *operands)
    assert formula.text == "round_f32(A[i,0]·B[j,0] + A[i,1]·B[j,1] + C[i])"
    scales = Operand(named("a", ["0"]), UE8M0), Operand(named("b", ["0", "1"]), UE8M0)
    (formula,) = ALG.dot_add(F32, MODEL, *operands, scales)
    assert formula.text == "round_f32(A[i,0]·B[j,0]·a[0]·b[0] + A[i,1]·B[j,1]·a[0]·b[1] + C[i])"


def test_an_arbitrary_function_is_named() -> None:
    (formula,) = ALG.arbitrary("f", [(ROW, S8), (ADDEND[:, None], F32)], F32)
    assert formula.text == "f(A[i,0], A[i,1], C[i])"


def test_registers_have_no_formula() -> None:
    with pytest.raises(UnsupportedError, match=r"^registers have no formula$"):
        ALG.extract(ADDEND, 0, U8)
    with pytest.raises(UnsupportedError, match=r"^registers have no formula$"):
        ALG.assemble(ROW, U8, [0, 8], U32)
