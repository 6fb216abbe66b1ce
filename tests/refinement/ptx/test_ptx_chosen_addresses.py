"""Accesses at addresses that conditions on data choose: done at each, as both ways of a branch are."""

from __future__ import annotations

import pytest

from ...elementwise_kernels import Kernel, result_of

PICKED = Kernel(
    "setp.gt.f32 %p1, %A, %B; selp.b64 %d1, %at0, %at1, %p1; ld.global.f32 %C, [%d1+0];",
    "C[i] = where(A[i] > B[i], A[i], B[i])",
    {"A": "f32", "B": "f32", "C": "f32 out"},
    ("%at0, %at1", "%at1, %at0"),
)
SWAPPED = Kernel(
    "xor.b32 %r1, %t, 1; setp.lt.f32 %p1, %A, 0f00000000; selp.b32 %r2, %r1, %t, %p1; "
    "setp.ge.f32 %p2, %B, 0f40000000; ld.param.u64 %d1, [p0]; ld.param.u64 %d2, [p1]; "
    "selp.b64 %d3, %d1, %d2, %p2; mad.wide.u32 %d4, %r2, 4, %d3; ld.global.f32 %C, [%d4];",
    "C[i] = where(B[i] >= 2, where(A[i] < 0, A[i + 1 - 2 * (i % 2)], A[i]), "
    "where(A[i] < 0, B[i + 1 - 2 * (i % 2)], B[i]))",
    {"A": "f32", "B": "f32", "C": "f32 out"},
    ("xor.b32 %r1, %t, 1", "xor.b32 %r1, %t, 2"),
)
STORED = Kernel(
    "setp.gt.f32 %p1, %A, 0f00000000; neg.f32 %f1, %A; mov.f32 %C, 0f00000000; mov.f32 %D, 0f00000000; "
    "selp.b64 %d1, %at1, %at2, %p1; st.global.f32 [%at1], %C; st.global.f32 [%at2], %D; "
    "st.global.f32 [%d1], %f1; ld.global.f32 %C, [%at1]; ld.global.f32 %D, [%at2];",
    ["C[i] = where(A[i] > 0, -A[i], 0)", "D[i] = where(A[i] > 0, 0, -A[i])"],
    {"A": "f32", "C": "f32 out", "D": "f32 out"},
    ("setp.gt", "setp.ge"),
)
DISPLACED = Kernel(
    "setp.gt.f32 %p1, %A, 0f00000000; ld.param.u64 %d1, [p0]; ld.param.u64 %d2, [p1]; "
    "selp.b64 %d3, %d1, %d2, %p1; mul.wide.u32 %d4, %t, 4; add.s64 %d5, %d4, %d3; sub.s64 %d5, %d5, -4; "
    "add.s64 %d5, %d5, -4; ld.global.f32 %C, [%d5];",
    "C[i] = where(A[i] > 0, A[i], B[i])",
    {"A": "f32", "B": "f32", "C": "f32 out"},
    ("sub.s64 %d5, %d5, -4", "sub.s64 %d5, %d5, 4"),
)
CONVERTED = Kernel(
    "setp.gt.f32 %p1, %A, 0f00000000; ld.param.u64 %d1, [p0]; ld.param.u64 %d2, [p1]; "
    "selp.b64 %d3, %d1, %d2, %p1; cvta.to.global.u64 %d4, %d3; mul.wide.u32 %d5, %t, 4; "
    "add.s64 %d6, %d4, %d5; ld.global.f32 %C, [%d6];",
    "C[i] = where(A[i] > 0, A[i], B[i])",
    {"A": "f32", "B": "f32", "C": "f32 out"},
    ("%d1, %d2, %p1", "%d2, %d1, %p1"),
)
KERNELS = {
    "picked": PICKED, "swapped": SWAPPED, "stored": STORED, "displaced": DISPLACED, "converted": CONVERTED,
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_they_are_verified(name: str) -> None:
    result = KERNELS[name].result()
    assert result.verdict.value == "verified", result.findings


@pytest.mark.parametrize("name", ["picked", "swapped", "displaced", "converted"])
def test_faults_in_them_are_refuted(name: str) -> None:
    assert KERNELS[name].faulty_result().verdict.value == "refuted"


def test_a_place_outside_is_refuted_if_data_lead_there() -> None:
    body = PICKED.body.replace("+0]", "+4]")
    found = result_of(body, "C[i] = where(A[i] > B[i], A[min(i + 1, 31)], B[min(i + 1, 31)])", PICKED.arrays)
    assert found.verdict.value == "refuted"
    assert "out-of-bounds" in {finding.kind.value for finding in found.findings}


def test_a_place_outside_where_no_data_lead_is_not() -> None:
    body = PICKED.body.replace("setp.gt.f32 %p1, %A, %B;", "fma.rn.f32 %f1, %A, %A, 0f3F800000; "
        "setp.lt.f32 %p1, %f1, 0f00000000;").replace("%at0, %at1", "%d2, %at1")  # fmt: skip
    found = result_of("add.s64 %d2, %at0, 4096;" + body, "C[i] = B[i]", PICKED.arrays)
    assert found.verdict.value == "undecided"


@pytest.mark.parametrize(
    "looking",
    [
        "setp.gt.u64 %p2, %d1, %at1;",  # of another array
        "sub.s64 %d2, %d1, %at0; setp.gt.s64 %p2, %d2, 0;",
        "add.s64 %d2, %d1, %d1; setp.gt.u64 %p2, %d2, 4;",
        "sub.s64 %d2, 64, %d1; setp.gt.s64 %p2, %d2, 0;",
        "add.s64 %d2, %d1, %at1; setp.gt.u64 %p2, %d2, 4;",
    ],
)
def test_what_else_is_made_of_them_is_not_known(looking: str) -> None:
    body = "setp.gt.f32 %p1, %A, %B; selp.b64 %d1, %at0, %at1, %p1; " + looking
    for numbers in ("0f3F800000, 0f00000000", "0f00000000, 0f3F800000"):
        found = result_of(f"{body} selp.f32 %C, {numbers}, %p2;", "C[i] = 1", PICKED.arrays)
        assert found.verdict.value != "verified"


def test_many_places_are_those_of_an_integer() -> None:
    bits = "".join(
        f"setp.gt.f32 %p1, %A, 0f{0x3F800000 + step:08X}; selp.b32 %r1, 1, 0, %p1; add.u32 %r2, %r2, %r1;"
        for step in range(4)
    )
    body = f"mov.u32 %r2, 0; {bits} and.b32 %r2, %r2, 3; "
    body += "mad.wide.u32 %d1, %r2, 4, %at1; ld.global.f32 %C, [%d1];"
    found = result_of(body, "C[i] = B[i]", PICKED.arrays)
    assert found.verdict.value == "refuted"
    assert "wrong-value" in {finding.kind.value for finding in found.findings}
