"""Races of accesses of one size leave some value: they count only where something depends on it."""

from __future__ import annotations

import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict

from ..elementwise_kernels import result_of

ARRAYS = {"A": "u32", "B": "u32", "C": "u32 out"}
TILE = (
    ".shared .align 16 .b8 tile[512]; mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 4, %r9;\n"
    "xor.b32 %r8, %t, 1; mov.u32 %r7, tile; mad.lo.u32 %r7, %r8, 4, %r7;\n"
)
"""%r9 is the thread's own word, %r7 its neighbour's."""
RACE = TILE + "st.shared.u32 [%r9], %A;\nld.shared.u32 %r1, [%r7];\n"
MIXED = RACE.replace("ld.shared.u32 %r1", "ld.shared.u8 %r1")
COPY = TILE + "cp.async.ca.shared.global [%r9], [%at0], 4;\nld.shared.u32 %r1, [%r9];\n"


@pytest.mark.parametrize(
    "use",
    [
        "mov.u32 %C, %A;",
        "and.b32 %r1, %r1, 0; add.u32 %C, %A, %r1;",
        "mul.lo.u32 %r1, %r1, 0; add.u32 %C, %A, %r1;",
        "mul.lo.u32 %r1, %r1, 0x10000; and.b32 %r1, %r1, 0xffff; add.u32 %C, %A, %r1;",
        "st.shared.u32 [%r9+128], %r1; mov.u32 %C, %A;",
    ],
)
@pytest.mark.parametrize("body", [RACE, COPY])
def test_a_race_whose_value_reaches_nothing_is_a_note(body: str, use: str) -> None:
    result = result_of(body + use, "C[i] = A[i]", ARRAYS)
    assert result.verdict is Verdict.VERIFIED
    (note,) = [each for each in result.notes if "no result depends on it" in each.message]
    assert "reads tile+0x" in note.message


@pytest.mark.parametrize(
    "use",
    [
        "add.u32 %C, %A, %r1;",
        "xor.b32 %C, %r1, %A;",
        "mul.lo.u32 %r1, %r1, 0x8000; and.b32 %r1, %r1, 0xffff; add.u32 %C, %A, %r1;",
        "mul.lo.u32 %r2, %r1, %r1; and.b32 %r2, %r2, 1; add.u32 %C, %A, %r2;",
        "setp.eq.u32 %p0, %r1, 0; @%p0 bra END; mov.u32 %C, %A; END:",
        "cvt.u64.u32 %d1, %r1; add.u64 %d1, %at0, %d1; ld.global.u32 %r2, [%d1]; mov.u32 %C, %A;",
        "st.shared.u32 [%r9+128], %r1; ld.shared.u8 %C, [%r9+128];",
    ],
)
@pytest.mark.parametrize("body", [RACE, COPY])
def test_one_whose_value_is_used_is_found(body: str, use: str) -> None:
    result = result_of(body + use, "C[i] = A[i]", ARRAYS)
    assert result.verdict is Verdict.REFUTED
    assert Kind.RACE in {finding.kind for finding in result.findings}


@pytest.mark.parametrize(
    "body",
    [
        MIXED,
        RACE.replace("ld.shared.u32 %r1, [%r7]", "ld.shared.u64 %d1, [%r9]").replace("%t, 4", "%t, 8"),
        TILE + "st.shared.u16 [%r9], %A;\nst.shared.u32 [%r9], %A;\nld.shared.u16 %r1, [%r7];\n",
        TILE + "ld.shared.u32 %r1, [%r7];\nst.shared.u32 [%r9], %A;\n",  # the value was read before
        TILE + "st.shared.u32 [%r9], %A;\nld.shared.u32 %r1, [%r9];\nst.shared.u32 [%r7], %B;\n",
        TILE + "st.shared.u32 [%r9], %A;\natom.shared.add.u32 %r1, [%r9], 1;\nst.shared.u32 [%r7], %B;\n",
        TILE + "st.shared.u32 [%r9], %A;\nst.shared.v2.u16 [%r7], {%h1, %h1};\n",
        TILE + "mov.u16 %h1, 1; st.shared.u32 [%r9], %A;\nst.shared.u16 [%r7], %h1;\n",
    ],
)
def test_others_are_found_used_or_not(body: str) -> None:
    if "u64" in body:
        body = body.replace("st.shared.u32 [%r9], %A;", "xor.b32 %r6, %r9, 8;\nst.shared.u32 [%r6], %A;")
    result = result_of(body + "mov.u32 %C, %A;", "C[i] = A[i]", ARRAYS)
    assert result.verdict is Verdict.REFUTED
    assert Kind.RACE in {finding.kind for finding in result.findings}


STORES = {
    "each other's word": TILE + "st.shared.u32 [%r9], %A;\nst.shared.u32 [%r7], %B;\n",
    "one word": TILE + "st.volatile.shared.u32 [tile], %t;\n",
    "neighbouring words": TILE + "and.b32 %r6, %r9, -8; st.shared.v2.u32 [%r6], {%t, %A};\n",
}
OWN = {"each other's word": "%r9", "one word": "tile", "neighbouring words": "%r9"}


@pytest.mark.parametrize("name", STORES)
def test_stores_that_race_and_reach_nothing_are_a_note(name: str) -> None:
    body = STORES[name] + "bar.sync 0;\n"
    for use in ("mov.u32 %C, %A;", f"st.shared.u32 [%r9], %A; ld.shared.u32 %C, [%r9]; // {name}"):
        result = result_of(body + use, "C[i] = A[i]", ARRAYS)
        assert result.verdict is Verdict.VERIFIED, result.findings
        assert [note for note in result.notes if "no result depends on it" in note.message]


@pytest.mark.parametrize(
    "use",
    [
        "ld.shared.u32 %C, [{own}];",
        "ld.shared.u32 %r1, [{own}]; and.b32 %r1, %r1, 1; add.u32 %C, %A, %r1;",
        "ld.shared.u32 %r1, [{own}]; setp.eq.u32 %p0, %r1, 0; @%p0 bra END; mov.u32 %C, %A; END:",
        "ld.shared.u32 %r1, [{own}]; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %at0, %d1; "
        "ld.global.u32 %r2, [%d1]; mov.u32 %C, %A;",
    ],
)
@pytest.mark.parametrize("name", STORES)
def test_stores_that_race_and_are_read_are_found(name: str, use: str) -> None:
    body = STORES[name] + "bar.sync 0;\n" + use.format(own=OWN[name])
    result = result_of(body, "C[i] = A[i]", ARRAYS)
    assert result.verdict is Verdict.REFUTED
    assert {finding.kind for finding in result.findings} & {Kind.RACE, Kind.WRONG_VALUE}


def test_stores_that_race_for_an_output_are_found() -> None:
    body = "mov.u32 %C, %A; xor.b32 %r1, %t, 1; sub.u32 %r1, %r1, %t; mul.wide.s32 %d1, %r1, 4; "
    body += "add.u64 %d1, %at2, %d1; st.global.u32 [%d1], %B;"
    result = result_of(body, "C[i] = A[i]", ARRAYS)
    assert result.verdict is Verdict.REFUTED
    assert Kind.RACE in {finding.kind for finding in result.findings}


def test_a_barrier_makes_it_right() -> None:
    body = RACE.replace("ld.shared", "bar.sync 0;\nld.shared") + "add.u32 %C, %r1, %A;"
    result = result_of(body, "C[i] = A[i] + A[i + 1 - 2*(i % 2)]", ARRAYS)
    assert result.verdict is Verdict.VERIFIED
    assert result.notes == ()
