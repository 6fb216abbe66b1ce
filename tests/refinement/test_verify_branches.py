"""Kernels that branch on data: right ones are verified, and refuted with a fault on either way."""

from __future__ import annotations

import pytest

from ..elementwise_kernels import Kernel

PAIR = {"A": "f32", "B": "f32", "C": "f32 out"}
ONE = {"A": "f32", "C": "f32 out"}

KERNELS = {
    "relu": Kernel(
        "setp.lt.f32 %p1, %A, 0f00000000; mov.b32 %C, %A; @!%p1 bra done; mov.b32 %C, 0; done:",
        "C[i] = max(A[i], 0)",
        ONE,
        ("@!%p1", "@%p1"),
    ),
    "maximum": Kernel(
        "setp.gt.f32 %p1, %A, %B; mov.b32 %C, %B; @!%p1 bra done; mov.b32 %C, %A; done:",
        "C[i] = max(A[i], B[i])",
        PAIR,
        ("setp.gt", "setp.lt"),
    ),
    "stores on both ways": Kernel(
        """setp.lt.f32 %p1, %A, 0f00000000; mov.b32 %C, %A; @%p1 bra less; st.global.b32 [%at1], %C;
        @!%p1 ret; less: mov.b32 %C, 0;""",
        "C[i] = max(A[i], 0)",
        ONE,
        ("st.global.b32 [%at1], %C;\n        @!%p1 ret;", "@!%p1 ret;"),
    ),
    "the same on both ways": Kernel(
        """setp.lt.f32 %p1, %A, 0f3F800000; @%p1 bra less; mul.f32 %C, %A, %A; bra done;
        less: mul.f32 %C, %A, %A; done:""",
        "C[i] = A[i] * A[i]",
        ONE,
        ("less: mul.f32 %C, %A, %A", "less: add.f32 %C, %A, %A"),
    ),
    "the greatest, from -∞": Kernel(
        """mov.b32 %C, 0fFF800000; setp.leu.f32 %p1, %A, %C; @%p1 bra second; mov.b32 %C, %A;
        second: setp.leu.f32 %p1, %B, %C; @%p1 bra done; mov.b32 %C, %B; done:""",
        "C[i] = max(A[i], B[i])",
        PAIR,
        ("0fFF800000", "0f7F800000"),
    ),
    "the least, from ∞": Kernel(
        """mov.b32 %C, 0f7F800000; setp.lt.f32 %p1, %C, %A; selp.b32 %C, %C, %A, %p1;
        setp.gt.f32 %p1, %C, %B; selp.b32 %C, %B, %C, %p1;""",
        "C[i] = min(A[i], B[i])",
        PAIR,
        ("setp.lt", "setp.gt"),
    ),
    "four ways": Kernel(
        """setp.lt.f32 %p1, %A, 0f00000000; setp.lt.f32 %p2, %B, 0f00000000; mov.b32 %f1, %A; mov.b32 %f2, %B;
        @!%p1 bra first; mov.b32 %f1, 0; @!%p2 bra done; mov.b32 %f2, 0; bra done;
        first: @!%p2 bra done; mov.b32 %f2, 0; done: add.f32 %C, %f1, %f2;""",
        "C[i] = max(A[i], 0) + max(B[i], 0)",
        PAIR,
        ("first: @!%p2", "first: @%p2"),
    ),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_branch_on_data_is_a_choice(kernel: Kernel) -> None:
    result = kernel.result()
    assert (result.verdict, result.findings) == ("verified", ())
    assert kernel.faulty_result().verdict == "refuted"
