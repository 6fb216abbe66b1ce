"""Signs of integers that are not negative are 0: in halves, remainders and masks of compilers."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

REMAINDER = (
    "shr.s32 %r1, %A, 31; shr.u32 %r1, %r1, 29; add.s32 %r1, %A, %r1; "
    "and.b32 %r1, %r1, -8; sub.s32 %C, %A, %r1;"
)
QUARTER = (
    "add.s32 %r1, %A, %B; shr.s32 %r2, %r1, 31; shr.u32 %r2, %r2, 30; "
    "add.s32 %r1, %r1, %r2; shr.s32 %C, %r1, 2;"
)


@pytest.mark.parametrize(
    ("body", "least", "greatest", "formula", "verdict"),
    [
        (REMAINDER, 0, 100000, "A[i] & 7", "verified"),
        (REMAINDER, -1, 100000, "A[i] & 7", "refuted"),
        (REMAINDER, 0, 100000, "A[i] & 3", "refuted"),
        (QUARTER, 0, 2**30 - 1, "(A[i] + B[i]) >> 2", "verified"),
        (QUARTER, 0, 2**30, "(A[i] + B[i]) >> 2", "refuted"),  # the sum wraps
        (QUARTER, -1, 1000, "(A[i] + B[i]) >> 2", "refuted"),
        ("shl.b32 %r1, %B, 8; or.b32 %C, %A, %r1;", 0, 256, "A[i] + 256 * B[i]", "refuted"),
        ("and.b32 %r1, %A, 7; sub.s32 %C, %A, %r1;", -9, 9, "(A[i] >> 3) << 3", "verified"),
        ("and.b32 %r1, %A, 6; sub.s32 %C, %A, %r1;", -9, 9, "(A[i] >> 3) << 3", "refuted"),
        ("and.b32 %r1, %B, -8; sub.s32 %C, %A, %r1;", 0, 9, "A[i] & 7", "refuted"),
    ],
)
def test_what_a_sign_is_added_to(body: str, least: int, greatest: int, formula: str, verdict: str) -> None:
    arrays = {"A": "s32", "B": "s32", "C": "s32 out"}
    requires = [f"{least} <= {name}[i] <= {greatest}" for name in "AB"]
    found = result_of(body, f"C[i] = {formula}", arrays, requires=requires)
    assert found.verdict.value == verdict
