"""Memory between a contract's elements belongs to nobody: what is there before is there afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result, Verdict
from mmaproof.refinement.verification import verify

KERNEL = """\
.version 8.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 c)
{
.reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<8>;
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [c];
mov.u32 %r1, %tid.x;
"""
FIRST = KERNEL.count("\n") + 1
"""The line of a body's first instruction."""

ROWS = """
shr.u32 %r2, %r1, 3;
and.b32 %r3, %r1, 7;
mad.lo.u32 %r4, %r2, 16, %r3;
mul.wide.u32 %rd3, %r1, 4;
mul.wide.u32 %rd4, %r4, 4;
add.s64 %rd5, %rd1, %rd3;
add.s64 %rd6, %rd2, %rd4;
setp.lt.u32 %p1, %r2, 3;
ld.global.u32 %r5, [%rd5];
st.global.u32 [%rd6], %r5;
"""
"""32 threads copy a matrix of 4 by 8 words to rows of 16; the last row, where the array ends, is not %p1."""

PADDED = {"shape": "[4, 8]", "strides": "[16, 1]"}


def contract(
    output: Mapping[str, str], formula: str, fmt: str = "u32", block: int = 32, source: str = "[4, 8]"
) -> str:
    keys = "\n".join(f"{key} = {value}" for key, value in output.items())
    return f"""
[kernel]
isa = "ptx"
[launch]
block = {block}
[[param]]
name = "A"
type = "{"u32" if fmt == "u32" else "u8"}"
shape = {source}
[[param]]
name = "C"
type = "{fmt}"
{keys if "access" in output else 'access = "out"' + chr(10) + keys}
[ensures]
formula = "{formula}"
"""


def verified(folder: Path, body: str, text: str) -> Result:
    kernel, described = folder / "k.ptx", folder / "k.toml"
    kernel.write_text(KERNEL + body.lstrip() + "ret;\n}\n")
    described.write_text(text)
    return verify(kernel, described).result


COPIED = "C[i, j] = A[i, j]"


def line_of(body: str, instruction: str) -> int:
    return FIRST + body.lstrip()[: body.lstrip().index(instruction)].count("\n")


def test_a_kernel_that_leaves_the_gaps_alone(tmp_path: Path) -> None:
    assert verified(tmp_path, ROWS, contract(PADDED, COPIED)).verdict is Verdict.VERIFIED


@pytest.mark.parametrize("access", ["out", "inout"])
@pytest.mark.parametrize("value", ["%r5", "0", "%r1"])
def test_a_column_too_many(access: str, value: str, tmp_path: Path) -> None:
    body = ROWS + f"@%p1 st.global.u32 [%rd6+32], {value};\n"
    text = contract({**PADDED, "access": f'"{access}"'}, COPIED)
    result = verified(tmp_path, body, text)
    assert result.verdict is Verdict.REFUTED
    (finding,) = result.findings
    assert finding.kind is Kind.CLOBBERED
    assert finding.line == line_of(body, "@%p1 st")
    assert "the gap behind C[0,7]: byte 32 of C, would be C[0,8], column 8 of 8" in finding.message
    assert finding.thread == "block 0, thread 0"


def test_the_gap_is_read_and_written_back(tmp_path: Path) -> None:
    back = "@%p1 ld.global.u32 %r6, [%rd6+32];\nxor.b32 %r6, %r6, 5;\nxor.b32 %r6, %r6, 5;\n"
    body = ROWS + back + "@%p1 st.global.u32 [%rd6+32], %r6;\n"
    assert verified(tmp_path, body, contract(PADDED, COPIED)).verdict is Verdict.VERIFIED
    body = body.replace("6, %r6, 5;\nxor", "6, %r6, 4;\nxor")
    assert [finding.kind for finding in verified(tmp_path, body, contract(PADDED, COPIED)).findings] == [
        Kind.CLOBBERED
    ]


@pytest.mark.parametrize("access", ["out", "inout"])
@pytest.mark.parametrize(
    ("used", "verdict"),
    [("", Verdict.VERIFIED), ("@%p1 st.global.u32 [%rd6], %r6;\n", Verdict.REFUTED)],
)
def test_the_gap_is_only_read(access: str, used: str, verdict: Verdict, tmp_path: Path) -> None:
    """What is read of it and dropped is a note: a vector load over the end of a row does no harm."""
    body = ROWS + "@%p1 ld.global.u32 %r6, [%rd6+32];\n" + used
    result = verified(tmp_path, body, contract({**PADDED, "access": f'"{access}"'}, COPIED))
    assert result.verdict is verdict
    told = result.findings if used else result.notes
    assert not used or told[0].kind is Kind.UNINITIALISED
    assert told[0].line == line_of(body, "@%p1 ld")
    assert "would be C[0,8], column 8 of 8" in told[0].message


def test_gaps_that_may_be_anything(tmp_path: Path) -> None:
    body = ROWS + "@%p1 ld.global.u32 %r6, [%rd6+32];\n@%p1 st.global.u32 [%rd6+32], %r5;\n"
    text = contract({**PADDED, "gaps": '"any"'}, COPIED)
    assert verified(tmp_path, body, text).verdict is Verdict.VERIFIED
    body = ROWS + "@%p1 ld.global.u32 %r6, [%rd6+32];\nst.global.u32 [%rd6], %r6;\n"
    assert verified(tmp_path, body, text).verdict is Verdict.REFUTED


BYTES = """
cvt.u64.u32 %rd3, %r1;
add.s64 %rd5, %rd1, %rd3;
add.s64 %rd6, %rd2, %rd3;
ld.global.u8 %r5, [%rd5];
"""
NIBBLES = {"shape": "[32]", "element_bits": "8"}


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("st.global.u8 [%rd6], %r5;\n", Verdict.REFUTED),
        ("and.b32 %r5, %r5, 15;\nor.b32 %r5, %r5, 160;\nst.global.u8 [%rd6], %r5;\n", Verdict.REFUTED),
        (
            "ld.global.u8 %r6, [%rd6];\nand.b32 %r6, %r6, 240;\nand.b32 %r5, %r5, 15;\n"
            "or.b32 %r5, %r5, %r6;\nst.global.u8 [%rd6], %r5;\n",
            Verdict.VERIFIED,
        ),
    ],
)
@pytest.mark.parametrize("fmt", ["s4", "u4"])
def test_bits_beside_an_element(fmt: str, body: str, verdict: Verdict, tmp_path: Path) -> None:
    text = contract(NIBBLES, f"C[i] = {fmt}(A[i])", fmt, source="[32]")
    result = verified(tmp_path, BYTES + body, text)
    assert result.verdict is verdict
    if verdict is Verdict.REFUTED:
        assert {finding.kind for finding in result.findings} == {Kind.CLOBBERED}
        assert "the gap beside C[0]: bits 4 to 7 of byte 0 of C" in result.findings[0].message
    text = contract({**NIBBLES, "gaps": '"any"'}, f"C[i] = {fmt}(A[i])", fmt, source="[32]")
    assert verified(tmp_path, BYTES + body, text).verdict is Verdict.VERIFIED


def test_what_is_never_written_is_missing_though_its_byte_holds_something(tmp_path: Path) -> None:
    text = contract(NIBBLES, "C[i] = u4(A[i])", "u4", source="[32]")
    result = verified(tmp_path, BYTES, text)
    assert [finding.kind for finding in result.findings] == [Kind.MISSING_OUTPUT]


PAIRS = """
cvt.u64.u32 %rd3, %r1;
add.s64 %rd5, %rd1, %rd3;
add.s64 %rd6, %rd2, %rd3;
ld.global.u8 %r5, [%rd5];
and.b32 %r5, %r5, 15;
"""


@pytest.mark.parametrize(("kept", "verdict"), [("240", Verdict.VERIFIED), ("224", Verdict.REFUTED)])
def test_the_neighbour_in_a_byte(kept: str, verdict: Verdict, tmp_path: Path) -> None:
    body = f"{PAIRS}ld.global.u8 %r6, [%rd6];\nand.b32 %r6, %r6, {kept};\nor.b32 %r5, %r5, %r6;\n"
    text = contract({"shape": "[32]", "strides": "[2]"}, "C[i] = u4(A[i])", "u4", source="[32]")
    assert verified(tmp_path, body + "st.global.u8 [%rd6], %r5;\n", text).verdict is verdict


ELEMENTS = """
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd5, %rd1, %rd3;
add.s64 %rd6, %rd2, %rd3;
ld.global.u32 %r5, [%rd5];
"""


@pytest.mark.parametrize("access", ["out", "inout"])
def test_elements_that_no_formula_covers(access: str, tmp_path: Path) -> None:
    text = contract({"shape": "[32]", "access": f'"{access}"'}, "C[i] = A[i] if i < 10", source="[32]")
    body = ELEMENTS + "setp.lt.u32 %p1, %r1, 10;\n@%p1 st.global.u32 [%rd6], %r5;\n"
    assert verified(tmp_path, body, text).verdict is Verdict.VERIFIED
    for value in ("%r5", "0"):
        result = verified(tmp_path, ELEMENTS + f"st.global.u32 [%rd6], {value};\n", text)
        assert Kind.CLOBBERED in {each.kind for each in result.findings}
        (finding,) = (each for each in result.findings if each.kind is Kind.CLOBBERED)
        assert "C[10], which no formula covers" in finding.message
        assert finding.thread == "block 0, thread 10"


FAR = """
shr.u32 %r2, %r1, 3;
and.b32 %r3, %r1, 7;
mul.wide.u32 %rd3, %r1, 4;
mul.wide.u32 %rd4, %r2, 400000000;
mul.wide.u32 %rd7, %r3, 4;
add.s64 %rd5, %rd1, %rd3;
add.s64 %rd6, %rd2, %rd4;
add.s64 %rd6, %rd6, %rd7;
ld.global.u32 %r5, [%rd5];
st.global.u32 [%rd6], %r5;
"""


def test_rows_that_lie_far_apart_take_the_memory_of_their_elements(tmp_path: Path) -> None:
    text = contract({"shape": "[4, 8]", "strides": "[100000000, 1]"}, COPIED)
    assert verified(tmp_path, FAR, text).verdict is Verdict.VERIFIED
    result = verified(tmp_path, FAR + "st.global.u32 [%rd6+32], %r5;\n", text)
    assert {finding.kind for finding in result.findings} == {Kind.OUT_OF_BOUNDS}
    assert "would be C[0,8], column 8 of 8" in result.findings[0].message
