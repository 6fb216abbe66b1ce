"""Limits and the greatest of several numbers: any order is right, and a limit that is off is found."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.refinement.findings.result import Verdict

from ..elementwise_kernels import result_of


def word(number: float, fmt: str) -> str:
    if fmt == "f16":
        return f"0x{int(np.float16(number).view(np.uint16)):04X}"
    return f"0f{int(np.float32(number).view(np.uint32)):08X}"


@pytest.mark.parametrize("fmt", ["f16", "f32"])
@pytest.mark.parametrize("first", ["max", "min"])
@pytest.mark.parametrize(("high", "verdict"), [(6.0, Verdict.VERIFIED), (6.5, Verdict.REFUTED)])
def test_both_limits_in_either_order(fmt: str, first: str, high: float, verdict: Verdict) -> None:
    limits = {"max": word(0.0, fmt), "min": word(high, fmt)}
    second = {"max": "min", "min": "max"}[first]
    constants = (f"mov.b16 %h{n}, {limits[each]}; " for n, each in enumerate((first, second), 3))
    body = f"{first}.f32 %f1, %A, {limits[first]}; {second}.f32 %C, %f1, {limits[second]};"
    if fmt == "f16":
        body = "".join(constants) + f"{first}.f16 %h2, %A, %h3; {second}.f16 %C, %h2, %h4;"
    assert (
        result_of(body, "C[i] = max(min(A[i], 6.0), 0.0)", {"A": fmt, "C": f"{fmt} out"}).verdict is verdict
    )


def test_the_greatest_of_negative_numbers() -> None:
    arrays = {"A": "f32", "B": "f32", "C": "f32 out"}
    for start, verdict in (("0fFF800000", Verdict.VERIFIED), ("0f00000000", Verdict.REFUTED)):
        body = f"max.f32 %f1, %A, {start}; max.f32 %C, %B, %f1;"
        assert result_of(body, "C[i] = max(A[i], B[i])", arrays).verdict is verdict
