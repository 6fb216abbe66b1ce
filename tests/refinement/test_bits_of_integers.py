"""Formulas that shift and mask integers which are data, against kernels that do so, and numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mmaproof.refinement.expected.contract_terms import expected_terms
from mmaproof.refinement.expected.reference_result import formula_values
from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.errors import InputError

from ..contract_texts import contract_of
from ..elementwise_kernels import Kernel, result_of

INTEGERS = {"A": "s32", "C": "s32 out"}

KERNELS = {
    "a field": Kernel(
        "shr.s32 %r1, %A, 3; and.b32 %C, %r1, 15;", "C[i] = (A[i] >> 3) & 15", INTEGERS, ("%A, 3", "%A, 4")
    ),
    "a field, as quotient and rest": Kernel(
        "bfe.u32 %C, %A, 3, 4;", "C[i] = A[i] // 8 % 16", INTEGERS, ("3, 4", "3, 5")
    ),
    "sign kept": Kernel("shr.s32 %C, %A, 5;", "C[i] = A[i] >> 5", INTEGERS, ("shr.s32", "shr.u32")),
    "unsigned": Kernel(
        "shr.u32 %C, %A, 5;", "C[i] = A[i] >> 5", {"A": "u32", "C": "u32 out"}, ("shr.u32", "shr.s32")
    ),
    "moved up, wrapped": Kernel("shl.b32 %C, %A, 7;", "C[i] = A[i] << 7", INTEGERS, ("%A, 7", "%A, 8")),
    "another one for each": Kernel(
        "and.b32 %r1, %t, 7; shl.b32 %r1, %r1, 2; shr.u32 %r2, %A, %r1; and.b32 %C, %r2, 15;",
        "C[i] = A[i] >> 4 * (i % 8) & 15",
        {"A": "u32", "C": "u32 out"},
        ("%t, 7", "%t, 3"),
    ),
    "rounded half up, and clamped": Kernel(
        "cvt.s64.s32 %d1, %A; cvt.s64.s32 %d2, %B; mul.lo.s64 %d1, %d1, %d2; add.s64 %d1, %d1, 64; "
        "shr.s64 %d1, %d1, 7; max.s64 %d1, %d1, -128; min.s64 %d1, %d1, 127; cvt.u32.u64 %C, %d1;",
        "C[i] = min(max(A[i] * B[i] + 64 >> 7, -128), 127)",
        {"A": "s32", "B": "s32", "C": "s32 out"},
        ("%d1, 64", "%d1, 0"),
    ),
    "a field as a number": Kernel(
        "shr.u32 %r1, %W, 4; and.b32 %r1, %r1, 15; cvt.rn.f32.u32 %f1, %r1; mul.f32 %C, %f1, %A;",
        "C[i] = A[i] * (W[i] >> 4 & 15)",
        {"A": "f32", "W": "u32", "C": "f32 out"},
        ("%W, 4", "%W, 5"),
    ),
    "a field of a sign extended byte as a number": Kernel(
        "and.b32 %r1, %W, 240; cvt.rn.f32.s32 %f1, %r1; mul.f32 %C, %f1, %A;",
        "C[i] = A[i] * 16 * (W[i] // 16 % 16)",
        {"A": "f32", "W": "s8", "C": "f32 out"},
        ("240", "224"),
    ),
    "chosen by a bit": Kernel(
        "and.b32 %r1, %M, 4; setp.ne.s32 %p1, %r1, 0; selp.f32 %C, %A, 0f00000000, %p1;",
        "C[i] = where(M[i] & 4 != 0, A[i], 0)",
        {"A": "f32", "M": "u8", "C": "f32 out"},
        ("%M, 4", "%M, 2"),
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_shifts_and_masks_of_data_are_verified(name: str) -> None:
    assert KERNELS[name].result().verdict is Verdict.VERIFIED


@pytest.mark.parametrize("name", KERNELS)
def test_another_field_is_refuted(name: str) -> None:
    assert KERNELS[name].faulty_result().verdict is Verdict.REFUTED


HALF = "shr.u32 %r1, %A, 31; add.s32 %r1, %A, %r1; shr.s32 %C, %r1, 1;"
SIGN_OF_SUM = "add.s32 %r1, %A, %A; shr.s32 %C, %r1, 31;"


@pytest.mark.parametrize(
    ("body", "formula", "conditions", "verdict"),
    [
        (HALF, "A[i] >> 1", "A[i] >= 0", Verdict.VERIFIED),
        (HALF, "A[i] >> 1", "A[i] >= -1", Verdict.REFUTED),
        ("shr.u32 %C, %A, 4;", "0 * A[i]", "0 <= A[i] <= 15", Verdict.VERIFIED),
        ("shr.u32 %C, %A, 4;", "0 * A[i]", "0 <= A[i] <= 16", Verdict.REFUTED),
        (SIGN_OF_SUM, "0 * A[i]", "0 <= A[i] <= 1073741824", Verdict.REFUTED),
    ],
)
def test_bits_above_a_number_are_zeros(body: str, formula: str, conditions: str, verdict: Verdict) -> None:
    """As compilers divide by powers of two: the sign is added first, which is 0 of no negative number."""
    assert result_of(body, f"C[i] = {formula}", INTEGERS, requires=[conditions]).verdict is verdict


def test_the_sign_of_a_float_that_is_not_less_than_zero_may_be_set() -> None:
    arrays = {"A": "f32", "C": "s32 out"}
    found = result_of("mov.b32 %r1, %A; shr.s32 %C, %r1, 31;", "C[i] = 0", arrays, requires=["A[i] >= 0"])
    assert found.verdict is Verdict.REFUTED


@pytest.mark.parametrize(("shift", "verdict"), [(3, Verdict.VERIFIED), (4, Verdict.REFUTED)])
def test_sums_of_shifted_products_are_no_wider_than_they_are(shift: int, verdict: Verdict) -> None:
    """A filter of fixed-point numbers: what is shifted down by 3 bits has 3 bits less to be summed in."""
    body = "mul.wide.s16 %r1, %A, %B; shr.s32 %r1, %r1, 3; mul.wide.s16 %r2, %A, %A; shr.s32 %r2, %r2, 3;"
    body += "add.s32 %r1, %r1, %r2; shr.s32 %C, %r1, 12;"
    arrays = {"A": "s16", "B": "s16", "C": "s32 out"}
    formula = f"C[i] = s32((((A[i] * B[i]) >> {shift}) + ((A[i] * A[i]) >> 3)) >> 12)"
    assert result_of(body, formula, arrays).verdict is verdict


NUMBERS = np.array([-(2**31), -129, -8, -1, 0, 1, 7, 8, 127, 2**31 - 1])

EXPRESSIONS: dict[str, Callable[[int], int]] = {
    "A[i] >> 3": lambda x: x >> 3,
    "A[i] >> 62": lambda x: x >> 62,
    "A[i] // 16": lambda x: x // 16,
    "A[i] % 16": lambda x: x % 16,
    "A[i] & 1023": lambda x: x & 1023,
    "A[i] << 5": lambda x: x << 5,
    "(A[i] + 5) * 3 >> 1": lambda x: (x + 5) * 3 >> 1,
    "-A[i] % 8 - (A[i] & 6)": lambda x: -x % 8 - (x & 6),
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_they_are_those_of_python(expression: str) -> None:
    contract = contract_of(f"C[i] = {expression}", {"A": "s32 10", "C": "s64 10 out"})
    (instance,), store = contract.instances(), TermStore()
    given = {"A": (NUMBERS & 0xFFFFFFFF).astype(np.uint64)}
    wanted = [EXPRESSIONS[expression](int(x)) for x in NUMBERS]
    terms = expected_terms(instance, instance.arrays["C"], store)
    assert Assignment(store, given).values(terms.reshape(-1)).astype(np.int64).tolist() == wanted
    assert formula_values(instance, given)["C"].tolist() == wanted


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("A[i] >> A[i]", "the right operand of >> must depend on indices"),
        ("F[i] >> 2", ">> takes integers"),
        ("A[i] % 3", "% of data takes a power of two, not 3"),
        ("A[i] // 0", "// of data takes a power of two, not 0"),
        ("A[i] >> i - 1", "the right operand of >> is -1"),
        ("A[i] << 63", "allowed: 0 to 62"),
        ("A[i] & -2", "the right operand of & is -2"),
    ],
)
def test_what_has_no_meaning_is_said(expression: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        contract = contract_of(f"C[i] = s32({expression})", {"A": "s32 10", "F": "f32 10", "C": "s32 10 out"})
        (instance,) = contract.instances()
        expected_terms(instance, instance.arrays["C"], TermStore())
