"""Formulas that choose by data: `where` with comparisons, against kernels that compare in other ways."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.bit_slices import bitwise, zero_extend
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore
from mmaproof.refinement.terms.truth_tables import A, B
from mmaproof.spec.formats import F32, S8, S32

from ..elementwise_kernels import Kernel

FLOATS = {"A": "f32", "B": "f32", "C": "f32 out"}
MASKED = {"A": "f32", "M": "s8", "C": "f32 out"}

KERNELS = {
    "leaky": Kernel(
        "mul.f32 %f1, %A, 0f3E800000; setp.gt.f32 %p1, %A, 0f00000000; selp.f32 %C, %A, %f1, %p1;",
        "C[i] = where(A[i] > 0, A[i], 0.25 * A[i])",
        {"A": "f32", "C": "f32 out"},
        ("setp.gt", "setp.lt"),
    ),
    "sides exchanged": Kernel(
        "setp.le.f32 %p1, %A, %B; selp.f32 %C, 0f00000000, %A, %p1;",
        "C[i] = where(B[i] < A[i], A[i], 0)",
        FLOATS,
        ("setp.le", "setp.lt"),
    ),
    "differences": Kernel(
        "sub.f32 %f1, %A, %B; setp.geu.f32 %p1, %f1, 0f3F800000; selp.f32 %C, %A, %B, %p1;",
        "C[i] = where(A[i] - 1 >= B[i], A[i], B[i])",
        FLOATS,
        ("0f3F800000", "0f3F000000"),
    ),
    "both": Kernel(
        "setp.gt.f32 %p1, %A, 0f3F800000; setp.ne.and.f32 %p2, %B, 0f00000000, %p1; "
        "selp.f32 %C, %A, %B, %p2;",
        "C[i] = where(not (A[i] <= 1 or B[i] == 0), A[i], B[i])",
        FLOATS,
        ("setp.ne.and", "setp.ne.or"),
    ),
    "mask of bytes, loaded unsigned": Kernel(
        "and.b32 %r1, %M, 255; setp.eq.s32 %p1, %r1, 0; selp.f32 %C, 0f00000000, %A, %p1;",
        "C[i] = where(M[i] != 0, A[i], 0)",
        MASKED,
        ("%M, 255", "%M, 127"),
    ),
    "signed integers compared as words": Kernel(
        "setp.eq.u32 %p1, %M, 3; selp.f32 %C, %A, 0f00000000, %p1;",
        "C[i] = where(M[i] == 3, A[i], 0)",
        {"A": "f32", "M": "s32", "C": "f32 out"},
        ("setp.eq", "setp.ge"),
    ),
    "mask as a factor": Kernel(
        "setp.gt.s32 %p1, %M, 3; selp.f32 %f1, 0f3F800000, 0f00000000, %p1; mul.f32 %C, %A, %f1;",
        "C[i] = where(M[i] >= 4, A[i], 0)",
        MASKED,
        ("%M, 3", "%M, 4"),
    ),
    "by an index and by data": Kernel(
        "setp.lt.u32 %p1, %t, 5; setp.lt.and.f32 %p2, %A, 0f00000000, %p1; selp.f32 %C, %B, %A, %p2;",
        "C[i] = where(i < 5 and A[i] < 0, B[i], A[i])",
        FLOATS,
        ("%t, 5", "%t, 6"),
    ),
    "integers": Kernel(
        "max.s32 %r1, %A, -100; min.s32 %r1, %r1, 100; setp.eq.s32 %p1, %A, 7; selp.b32 %C, 0, %r1, %p1;",
        "C[i] = where(A[i] == 7, 0, max(min(A[i], 100), -100))",
        {"A": "s32", "C": "s32 out"},
        ("%A, 7", "%A, 8"),
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_choices_by_data_are_verified(name: str) -> None:
    assert KERNELS[name].result().verdict is Verdict.VERIFIED


@pytest.mark.parametrize("name", KERNELS)
def test_another_choice_is_refuted(name: str) -> None:
    assert KERNELS[name].faulty_result().verdict is Verdict.REFUTED


def test_a_choice_by_rounded_numbers_supposes_that_no_rounding_turns_it() -> None:
    result = Kernel(
        "fma.rn.f32 %f1, %A, %B, %A; setp.gt.f32 %p1, %f1, 0f3F800000; selp.f32 %C, %A, %B, %p1;",
        "C[i] = where(A[i] * B[i] + A[i] > 1, A[i], B[i])",
        FLOATS,
        ("", ""),
    ).result()
    assert result.verdict is Verdict.VERIFIED
    assert any(
        "no rounding changes the outcome of a comparison" in hypothesis.statement
        for hypothesis in result.hypotheses
    )


def test_numbers_that_are_equal_but_for_roundings_are_not_taken_for_equal() -> None:
    """What a comparison of a number with itself, rounded, tells is no matter of real numbers."""
    kernel = Kernel(
        "cvt.rn.f16.f32 %h1, %A; cvt.f32.f16 %f1, %h1; setp.eq.f32 %p1, %f1, %A; "
        "selp.f32 %C, %A, 0f00000000, %p1;",
        "C[i] = A[i]",
        {"A": "f32", "C": "f32 out"},
        ("", ""),
    )
    assert kernel.result().verdict is not Verdict.VERIFIED


# -- equal numbers of conditions, equal bits

VALUES = (-2, -1, 0, 1, 3)
RELATIONS = ("lt", "le", "gt", "ge", "eq", "ne")

Conditions = st.recursive(
    st.tuples(
        st.sampled_from(RELATIONS),
        st.integers(0, 5),
        st.integers(0, 5),
        st.sampled_from(["f32", "s32", "s8"]),
    ),
    lambda inner: st.tuples(st.sampled_from(["and", "or", "not", "xor"]), inner, inner),
    max_leaves=4,
)


class Made:
    """Conditions on two variables of three formats each, as terms and as their bits for all values."""

    def __init__(self) -> None:
        self.store = TermStore()
        pairs = np.array(list(product(VALUES, VALUES)))
        self.inputs = {}
        for name, fmt in (("f32", F32), ("s32", S32), ("s8", S8)):
            numbers = (
                pairs.astype(np.float32).view(np.uint32) if fmt == F32 else pairs & ((1 << fmt.bits) - 1)
            )
            self.inputs[name] = np.asarray(numbers, dtype=np.uint64)
        self.formats = {"f32": F32, "s32": S32, "s8": S8}

    def operand(self, index: int, name: str) -> Ids:
        """Return a variable, an opposite, or a constant."""
        fmt = self.formats[name]
        x = self.store.inputs(name, fmt, [index % 2])
        if index < 2:
            return x
        if index < 4 and name == "s32":
            return apply(self.store, operations.ring(32, 0, 2), x, self.store.constants([1], 32))
        word = np.float32(index - 3).view(np.uint32) if name == "f32" else (index - 3) & ((1 << fmt.bits) - 1)
        return self.store.constants([int(word)], fmt.bits)

    def condition(self, tree: tuple[object, ...]) -> Ids:
        match tree:
            case (str(relation), int(left), int(right), str(name)):
                sides = [self.operand(each, name) for each in (left, right)]
                fmt = self.formats[name]
                if name == "s8" and relation in ("eq", "ne"):  # as loaded without a sign
                    sides = [zero_extend(self.store, side, 32) for side in sides]
                    return apply(self.store, operations.compare(operations.bits(32), relation), *sides)
                return apply(self.store, operations.compare(fmt, relation), *sides)
            case (str(how), tuple(one), tuple(other)):
                left, right = self.condition(one), self.condition(other)
                table = {"and": A & B, "or": A | B, "xor": A ^ B, "not": 0xFF ^ A}[how]
                return bitwise(self.store, table, left, right, left)
        raise AssertionError(tree)

    def bits(self, condition: Ids) -> list[int]:
        """Return the bits of a condition for all values of the variables."""
        rows = range(len(VALUES) ** 2)
        return [
            int(
                Assignment(self.store, {name: each[row] for name, each in self.inputs.items()}).values(
                    condition
                )[0]
            )
            for row in rows
        ]


@given(Conditions, Conditions)
def test_conditions_of_one_number_are_the_same_or_opposite(
    one: tuple[object, ...], other: tuple[object, ...]
) -> None:
    made = Made()
    terms = np.concatenate([made.condition(one), made.condition(other)])
    numbers, opposite = NormalForms(made.store).conditions.of(terms)
    if numbers[0] == numbers[1]:
        left, right = made.bits(terms[:1]), made.bits(terms[1:])
        assert left == [bit ^ (opposite[0] != opposite[1]) for bit in right]


@given(Conditions)
def test_the_opposite_has_the_same_number(tree: tuple[object, ...]) -> None:
    made = Made()
    condition = made.condition(tree)
    turned = bitwise(made.store, 0xFF ^ A, condition, condition, condition)
    numbers, opposite = NormalForms(made.store).conditions.of(np.concatenate([condition, turned]))
    assert numbers[0] == numbers[1]
    assert opposite[0] != opposite[1]


def test_what_is_left_out_of_a_message_is_not_said_to_be_read_in_another_way() -> None:
    result = Kernel(
        "add.f32 %f1, %A, 0f40400000; max.f32 %f1, %f1, 0f00000000; min.f32 %f1, %f1, 0f40A00000; "
        "mul.f32 %C, %f1, %A;",
        "C[i] = A[i] * min(max(A[i] + 3, 0), 6)",
        {"A": "f32", "C": "f32 out"},
        ("", ""),
    ).result()
    assert result.verdict is Verdict.REFUTED
    assert "of other values in place of …, expected" in result.findings[0].message
