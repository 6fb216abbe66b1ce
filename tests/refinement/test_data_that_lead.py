"""Loads, atomics and elements of formulas at places that data tell."""

from __future__ import annotations

import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict
from mmaproof.spec.errors import InputError

from ..elementwise_kernels import result_of

GATHER = "ld.param.u64 %d1, [p0]; mad.wide.s32 %d2, {index}, 4, %d1; ld.global.f32 %C, [%d2];"
ARRAYS = {"A": "f32", "I": "s32", "C": "f32 out"}
WITHIN = ["0 <= I[i] < 32"]


def gathered(
    index: str = "%I", *, before: str = "", formula: str = "C[i] = A[I[i]]", **more: object
) -> Verdict:
    body = before + GATHER.format(index=index)
    return result_of(body, formula, ARRAYS, **{"requires": WITHIN, **more}).verdict  # type: ignore[arg-type]


def test_an_element_at_an_index_that_is_data() -> None:
    assert gathered() is Verdict.VERIFIED
    assert gathered(formula="C[i] = sum(j < 32, where(I[i] == j, A[j], 0))") is Verdict.VERIFIED
    assert gathered(formula="C[i] = A[31 - I[i]]") is Verdict.REFUTED
    assert gathered(formula="C[i] = A[i]") is Verdict.REFUTED
    assert gathered(formula="C[i] = sum(j < 31, where(I[i] == j, A[j], 0))") is Verdict.REFUTED


@pytest.mark.parametrize(
    ("before", "formula", "right"),
    [
        ("and.b32 %r1, %I, 31;", "C[i] = A[I[i] & 31]", True),
        ("and.b32 %r1, %I, 15;", "C[i] = A[I[i] & 31]", False),
        ("and.b32 %r1, %I, 31;", "C[i] = A[I[i] % 32]", True),
        ("shr.u32 %r1, %I, 27;", "C[i] = A[(I[i] >> 27) & 31]", True),
        ("shr.s32 %r2, %I, 27; and.b32 %r1, %r2, 31;", "C[i] = A[(I[i] >> 27) & 31]", True),
        ("max.s32 %r2, %I, 0; min.s32 %r1, %r2, 31;", "C[i] = A[min(max(I[i], 0), 31)]", True),
        ("max.s32 %r2, %I, 0; min.s32 %r1, %r2, 31;", "C[i] = A[min(max(I[i], 1), 31)]", False),
        ("min.u32 %r1, %I, 31;", "C[i] = A[min(max(I[i], 0), 31)]", False),
    ],
)
def test_masked_and_clamped_indices(before: str, formula: str, right: bool) -> None:
    found = gathered("%r1", before=before, formula=formula, requires=[])
    assert (found is Verdict.VERIFIED) == right


def test_a_place_outside_is_found() -> None:
    result = result_of(
        GATHER.format(index="%I"), "C[i] = A[min(I[i], 31)]", ARRAYS, requires=["0 <= I[i] <= 32"]
    )
    assert {each.kind for each in result.findings} >= {Kind.OUT_OF_BOUNDS}
    result = result_of(
        GATHER.format(index="%I"), "C[i] = A[max(I[i], 0)]", ARRAYS, requires=["-1 <= I[i] < 32"]
    )
    assert {each.kind for each in result.findings} >= {Kind.OUT_OF_BOUNDS}


def test_an_index_that_may_be_anything_is_unsupported() -> None:
    result = result_of(GATHER.format(index="%I"), "C[i] = A[I[i] & 31]", ARRAYS)
    assert result.verdict is Verdict.UNSUPPORTED


@pytest.mark.parametrize(
    ("formula", "requires", "message"),
    [
        ("C[i] = A[I[i]]", [], "which may have more than 1024 values: conditions in"),
        ("C[i] = A[I[i]]", ["0 <= I[i] <= 32"], "may be 32, outside 0 to 31"),
        ("C[i] = A[I[i] - 1]", WITHIN, "may be -1, outside 0 to 31"),
        ("C[i] = A[A[i]]", WITHIN, "an index of A is an integer, no real number"),
    ],
)
def test_mistakes_in_formulas(formula: str, requires: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        result_of(GATHER.format(index="%I"), formula, ARRAYS, requires=requires)


def test_places_that_undefined_bits_tell_are_not_looked_up() -> None:
    result = result_of("and.b32 %r1, %r9, 31;" + GATHER.format(index="%r1"), "C[i] = A[0]", ARRAYS)
    assert result.verdict is not Verdict.VERIFIED
