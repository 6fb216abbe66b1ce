"""Loads from where one small element of the data says: what they give, and where they must not lead."""

from __future__ import annotations

import numpy as np
import pytest
from ptx_machine import Bench, kernel, kinds, written

from mmaproof.refinement.findings.finding import Kind
from mmaproof.spec.formats import U8, U16, U32, IntegerFormat, format_named

from ...elementwise_kernels import result_of

TABLE = f".const .align 4 .u32 table[16] = {{{', '.join(str(i * i + 7) for i in range(16))}}};"
NIBBLE = """
ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; mov.u32 %r0, %tid.x; cvt.u64.u32 %d2, %r0;
shr.u64 %d3, %d2, 1; add.s64 %d3, %d0, %d3; ld.global.u8 %r1, [%d3];
and.b32 %r2, %r0, 1; shl.b32 %r2, %r2, 2; shr.u32 %r1, %r1, %r2; and.b32 %r1, %r1, 15;
cvt.u64.u32 %d4, %r1; shl.b64 %d4, %d4, 2; mad.lo.s64 %d6, %d2, 4, %d1;
"""
FROM_TABLE = "mov.u64 %d5, table; add.s64 %d5, %d5, %d4; ld.const.u32 %r3, [%d5]; st.global.u32 [%d6], %r3;"


def run(body: str, declared: str, entries: object) -> tuple[Bench, object]:
    bench = Bench()
    text = kernel(NIBBLE + body, 2).replace(".visible", f"{declared}\n.visible")
    return bench, bench.run(text, [bench.given("w", entries, format_named("u4")), written("c", 128)])


def test_entries_of_a_table_are_those_that_the_data_says() -> None:
    entries = np.random.default_rng(0).integers(0, 16, 32)
    bench, done = run(FROM_TABLE, TABLE, entries)
    assert done.findings == ()
    np.testing.assert_array_equal(bench.left(done, "c", U32), entries**2 + 7)


def test_a_table_may_be_local_and_a_load_a_vector() -> None:
    body = """
    .local .align 16 .b8 own[256]; mov.u32 %r5, 0;
    next: mad.lo.u32 %r6, %r5, 3, 1; mul.lo.u32 %r7, %r5, 8; mov.u32 %r8, own; add.u32 %r8, %r8, %r7;
    st.local.v2.u32 [%r8], {%r5, %r6}; add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 16; @%p0 bra next;
    mov.u32 %r8, own; mad.lo.u32 %r8, %r1, 8, %r8; ld.local.v2.u32 {%r9, %r10}, [%r8]; add.u32 %r9, %r9, %r10;
    st.global.u32 [%d6], %r9;
    """
    entries = np.random.default_rng(1).integers(0, 16, 32)
    bench, done = run(body, "", entries)
    assert done.findings == ()
    np.testing.assert_array_equal(bench.left(done, "c", U32), 4 * entries + 1)


@pytest.mark.parametrize(
    ("there", "instead", "wrong"),
    [
        ("[%d5]", "[%d5+4]", {Kind.OUT_OF_BOUNDS}),
        ("shl.b64 %d4, %d4, 2;", "shl.b64 %d4, %d4, 1;", {Kind.MISALIGNED}),
        ("and.b32 %r1, %r1, 15;", "", {Kind.OUT_OF_BOUNDS, Kind.UNDECIDED}),  # both elements of a byte
        ("ld.const.u32 %r3, [%d5];", "ld.const.u32 %r3, [%d5]; mov.b64 %d5, %d5; st.global.u32 [%d5], %r3;",
         {Kind.UNSUPPORTED}),
    ],
)  # fmt: skip
def test_every_place_that_an_entry_leads_to_is_looked_at(there: str, instead: str, wrong: set[Kind]) -> None:
    bench = Bench()
    text = kernel((NIBBLE + FROM_TABLE).replace(there, instead), 2).replace(".visible", f"{TABLE}\n.visible")
    entries = bench.given("w", np.zeros(32, dtype=int), format_named("u4"))
    assert set(kinds(bench.run(text, [entries, written("c", 128)]))) == wrong


@pytest.mark.parametrize(("fmt", "found"), [(U8, set()), (U16, {Kind.UNSUPPORTED})])
def test_an_entry_has_at_most_eight_bits(fmt: IntegerFormat, found: set[Kind]) -> None:
    bench = Bench()
    size = fmt.bits // 8
    body = f"""
    ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.param.u64 %d2, [p2]; ld.global.u{fmt.bits} %r1, [%d0];
    cvt.u64.u32 %d4, %r1; mad.lo.s64 %d5, %d4, {size}, %d1; ld.global.u{fmt.bits} %r2, [%d5];
    st.global.u32 [%d2], %r2;
    """
    count = 1 << fmt.bits
    given = [bench.given("x", [200], fmt), bench.given("t", np.arange(count)[::-1], fmt)]
    done = bench.run(kernel(body, 3), [*given, written("c", 4)], block=1)
    assert set(kinds(done)) == found
    if not found:
        np.testing.assert_array_equal(bench.left(done, "c", U32), [55])


@pytest.mark.parametrize(("fmt", "found"), [(U8, set()), (U16, {Kind.UNSUPPORTED})])
def test_a_table_may_be_held_by_lanes(fmt: IntegerFormat, found: set[Kind]) -> None:
    """Every thread reads the lane that its element says, of numbers that each lane holds one of."""
    bench = Bench()
    size = fmt.bits // 8
    body = f"""
    ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; mov.u32 %r1, %tid.x; mad.wide.u32 %d2, %r1, {size}, %d0;
    ld.global.u{fmt.bits} %r2, [%d2]; mad.lo.u32 %r3, %r1, 3, 7;
    shfl.sync.idx.b32 %r4, %r3, %r2, 31, 0xffffffff; mad.wide.u32 %d3, %r1, 4, %d1; st.global.u32 [%d3], %r4;
    """
    elements = np.arange(32) * 11 % 256
    done = bench.run(kernel(body, 2), [bench.given("x", elements, fmt), written("c", 128)])
    assert set(kinds(done)) == found
    if not found:
        np.testing.assert_array_equal(bench.left(done, "c", U32), 3 * (elements % 32) + 7)


OF_TWO_WIDTHS = """
and.b32 %r1, %I, 255; setp.lt.u32 %p1, %t, 16; selp.b32 %r3, %r1, %J, %p1;
ld.param.u64 %d1, [p0]; mad.wide.s32 %d3, %r3, 4, %d1; ld.global.f32 %C, [%d3];
"""


@pytest.mark.parametrize(("wide", "verdict"), [("u8", "verified"), ("s32", "refuted")])
def test_indices_of_several_widths_have_values_of_their_own(wide: str, verdict: str) -> None:
    """Of -4 to -1, and of bytes: those that are the same words in 8 bits are not in 32."""
    arrays = {"A": "f32", "I": "u8", "J": wide, "C": "f32 out"}
    bounds = ["0 <= I[i] < 4", "0 <= J[i] < 4" if wide == "u8" else "-4 <= J[i] < 0"]
    formula = "C[i] = where(i < 16, A[I[i]], A[max(J[i], 0)])"
    found = result_of(OF_TWO_WIDTHS, formula, arrays, requires=bounds)
    assert found.verdict == verdict
    other_way = result_of(
        OF_TWO_WIDTHS.replace("setp.lt.u32", "setp.ge.u32").replace("%I, 255", "%J, 255")
        .replace("%r1, %J, %p1", "%r1, %I, %p1"), formula, arrays, requires=bounds,
    )  # fmt: skip
    assert other_way.verdict == ("verified" if wide == "u8" else "refuted")


GUARDED = """
mov.f32 %C, 0f00000000; setp.lt.s32 %p1, %I, 0; @%p1 bra $OVER;
ld.param.u64 %d1, [p0]; mad.wide.s32 %d3, %I, 4, %d1; ld.global.f32 %C, [%d3];
$OVER:
"""


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("", "", "verified"),
        ("%I, 0;", "%I, -1;", "refuted"),
        ("%I, 0;", "%I, 1;", "refuted"),
        ("lt.s32 %p1, %I, 0;", "le.s32 %p1, %I, -1;", "verified"),
        ("4, %d1", "4, %d1; add.s64 %d3, %d3, -4", "refuted"),
    ],
)
def test_places_are_those_to_which_a_guard_lets_data_lead(old: str, new: str, verdict: str) -> None:
    arrays = {"A": "f32", "I": "s32", "C": "f32 out"}
    formula = "C[i] = where(I[i] < 0, 0, A[max(I[i], 0)])"
    found = result_of(GUARDED.replace(old, new), formula, arrays, requires=["-1 <= I[i] < 4"])
    assert found.verdict == verdict


READ_AND_ADDED = """
.shared .align 4 .b8 s[128]; mov.u32 %r40, s; shl.b32 %r42, %t, 2; add.u32 %r42, %r40, %r42;
st.shared.f32 [%r42], %A; bar.sync 0; ld.param.u64 %d1, [p1]; ld.global.u32 %r1, [%d1];
and.b32 %r2, %r1, 31; shl.b32 %r3, %r2, 2; add.u32 %r4, %r40, %r3; FIRST add.u32 %r5, %r2, 1;
and.b32 %r5, %r5, 31; shl.b32 %r5, %r5, 2; add.u32 %r5, %r40, %r5; setp.eq.u32 %p2, %t, 0; SECOND
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ld.shared.f32 %C, [%r4];", "@%p2 red.shared.add.u32 [%r5], 1;"),
        ("@%p2 red.shared.add.u32 [%r5], 1;", "ld.shared.f32 %C, [%r4];"),
    ],
)
def test_places_that_data_lead_to_are_no_sure_races(first: str, second: str) -> None:
    """What is read is never what is changed, which is not seen; nor is the contrary known."""
    body = READ_AND_ADDED.replace("FIRST", "").replace("SECOND", first + second)
    found = result_of(body, "C[i] = A[I[0] & 31]", {"A": "f32", "I": "s32", "C": "f32 out"})
    assert found.verdict == "undecided"
    assert first.startswith("@") or any("if data lead there" in finding.message for finding in found.findings)
