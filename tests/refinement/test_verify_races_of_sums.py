"""Lanes that store the same sum to one place, each having summed in an order of its own."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

PAIR = """
.shared .align 4 .b8 tile[64];
mul.f32 %f0, %A, %A;
shfl.sync.bfly.b32 %f2, %f0, 1, 31, -1;
fma.rn.f32 %f1, %A, %A, %f2;
shr.u32 %r1, %t, 1;
mov.u32 %r2, tile;
mad.lo.u32 %r3, %r1, 4, %r2;
st.shared.f32 [%r3], %f1;
bar.sync 0;
ld.shared.f32 %C, [%r3];
"""
SQUARES = "C[i] = A[i // 2 * 2] * A[i // 2 * 2] + A[i // 2 * 2 + 1] * A[i // 2 * 2 + 1]"
ARRAYS = {"A": "f32", "C": "f32 out"}


def test_equal_sums_of_any_order_are_no_race() -> None:
    result = result_of(PAIR, SQUARES, ARRAYS)
    assert (result.verdict, result.equality) == ("verified", "value")
    assert result.stats["runs"]["elements"] >= 5 * 32


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("%A, %A, %f2", "%A, %A, %A"),  # what only one lane has
        ("%A, %A, %f2", "%A, %f2, %f2"),
        ("st.shared.f32 [%r3], %f1", "add.u32 %r4, %t, 1; st.shared.u32 [%r3], %r4"),
        ("shr.u32 %r1, %t, 1", "shr.u32 %r1, %t, 2"),
    ],
)
def test_what_is_not_the_same_number_is_a_race(right: str, wrong: str) -> None:
    assert right in PAIR
    result = result_of(PAIR.replace(right, wrong), SQUARES, ARRAYS)
    assert result.verdict == "refuted"
    assert "race" in {finding.kind.value for finding in result.findings}
