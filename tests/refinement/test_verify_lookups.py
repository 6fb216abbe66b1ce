"""Tables that are data, indexed by small integers, as kernels that dequantise by a code book have them."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import result_of

BODY = (
    "min.u32 %r1, %A, 3; mul.wide.u32 %d1, %r1, 4; ld.param.u64 %d2, [p1]; "
    "add.s64 %d3, %d2, %d1; ld.global.f32 %f1, [%d3]; mul.f32 %C, %f1, %B;"
)
ARRAYS = {"A": "u8", "T": "f32", "B": "f32", "C": "f32 out"}


def verdict(table: str, body: str = BODY) -> str:
    result = result_of(body, f"C[i] = lookup(min(A[i], 3), {table}) * B[i]", ARRAYS)
    return str(result.verdict.value)


def test_a_table_may_hold_data() -> None:
    assert verdict("T[0], T[1], T[2], T[3]") == "verified"
    assert verdict("T[0], T[1], T[2], T[3], 7") == "verified"


@pytest.mark.parametrize(
    "table",
    ["T[0], T[1], T[3], T[2]", "T[0], T[1], T[2], 2 * T[3]", "T[0], T[1], T[2], 0.5", "0, T[1], T[2], T[3]"],
)
def test_another_table_is_refuted(table: str) -> None:
    assert verdict(table) == "refuted"


def test_another_entry_is_refuted() -> None:
    assert verdict("T[0], T[1], T[2], T[3]", BODY.replace("%A, 3", "%A, 2")) == "refuted"
