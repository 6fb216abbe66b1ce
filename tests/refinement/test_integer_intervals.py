"""Intervals of integers: sums whose parts f64 does not have."""

from __future__ import annotations

import pytest

from tests.elementwise_kernels import result_of

LEAST = 1801439850948199
"""Five times it is 2^53 + 3, which f64 rounds up."""


@pytest.mark.parametrize("taken", [3, 5])
def test_the_end_of_a_sum_is_not_that_of_rounded_products(taken: int) -> None:
    body = f"mad.lo.s64 %d3, %A, %B, {1 - 2**53}; max.s64 %C, %d3, {taken};"
    arrays = {"A": "s64", "B": "s64", "C": "s64 out"}
    requires = ["5 <= A[i] <= 6", f"{LEAST} <= B[i] <= {LEAST + 5}"]
    result = result_of(body, f"C[i] = A[i] * B[i] - {2**53 - 1}", arrays, requires=requires)
    assert result.verdict == ("refuted" if taken > 4 else "undecided")


def test_a_sum_of_smaller_products_has_ends() -> None:
    body = "mad.lo.s64 %d3, %A, %B, -15; max.s64 %C, %d3, 0;"
    arrays = {"A": "s64", "B": "s64", "C": "s64 out"}
    result = result_of(
        body, "C[i] = A[i] * B[i] - 15", arrays, requires=["5 <= A[i] <= 6", f"3 <= B[i] <= {2**49}"]
    )
    assert result.verdict == "verified"
