"""Comparisons of a formula are those of IEEE 754: with a NaN, `!=` and what is not another one hold."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import evaluate
from mmaproof.spec.formats import F32, S32

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "B": "f32", "C": "f32 out"}
SIGNS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
SIGNS |= {"==": np.equal, "!=": np.not_equal}


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("holds", [True, False])
def test_they_are_those_of_numpy(sign: str, holds: bool) -> None:
    numbers = np.array([-np.inf, -1, -0.0, 0, 2, np.nan], dtype=np.float32)
    for fmt, values in ((F32, numbers), (S32, np.arange(-2, 3, dtype=np.int32))):
        left, right = (each.reshape(-1) for each in np.meshgrid(values, values))
        words = [each.view(np.uint32).astype(np.uint64) for each in (left, right)]
        found = evaluate(operations.compare_as(fmt, sign, holds=holds), words).astype(bool)
        assert (found == (SIGNS[sign](left, right) == holds)).all()


@pytest.mark.parametrize(
    ("relation", "condition", "equality"),
    [
        ("neu", "A[i] != B[i]", "bits"),
        ("ne", "A[i] != B[i]", "value"),
        ("eq", "A[i] == B[i]", "bits"),
        ("equ", "A[i] == B[i]", "value"),
        ("geu", "not A[i] < B[i]", "bits"),
        ("ge", "not A[i] < B[i]", "value"),
        ("ge", "A[i] >= B[i]", "bits"),
    ],
)
def test_kernels_that_take_nan_otherwise_are_right_for_numbers_only(
    relation: str, condition: str, equality: str
) -> None:
    body = f"setp.{relation}.f32 %p1, %A, %B; selp.f32 %C, %A, %B, %p1;"
    result = result_of(body, f"C[i] = where({condition}, A[i], B[i])", ARRAYS)
    assert result.verdict.value == "verified", result.findings
    assert result.equality is not None and result.equality.value == equality
