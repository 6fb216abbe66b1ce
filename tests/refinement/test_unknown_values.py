"""What PTX leaves open is unknown: nothing that depends on it is verified, and what does not, is."""

from __future__ import annotations

import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result, Verdict
from mmaproof.spec.ptx.open_results import SPECIAL_REGISTERS

from ..elementwise_kernels import result_of

ARRAYS = {"A": "u32", "C": "u32 out"}
NAN = "sub.f32 %f0, 0f7f800000, 0f7f800000; "
"""An infinity less itself."""


def kinds(result: Result) -> set[Kind]:
    return {finding.kind for finding in result.findings}


def _wide(register: str) -> bool:
    return register.endswith("64") or register in ("%gridid", "%globaltimer", "%current_graph_exec")


def _read(register: str) -> str:
    if _wide(register):
        return f"mov.u64 %d0, {register}; cvt.u32.u64 %r0, %d0; "
    return f"mov.b32 %r0, {register}; "


@pytest.mark.parametrize("register", SPECIAL_REGISTERS)
def test_a_register_of_which_nothing_is_promised_is_unknown(register: str) -> None:
    stored = result_of(_read(register) + "add.u32 %C, %A, %r0;", "C[i] = A[i]", ARRAYS)
    assert stored.verdict is Verdict.REFUTED
    assert kinds(stored) == {Kind.UNDEFINED}
    assert register in stored.findings[0].message and stored.findings[0].line == 16
    masked = result_of(_read(register) + "and.b32 %r0, %r0, 0; add.u32 %C, %A, %r0;", "C[i] = A[i]", ARRAYS)
    assert masked.verdict is Verdict.VERIFIED


@pytest.mark.parametrize("register", ["%warpid", "%nwarpid", "%smid", "%clock"])
@pytest.mark.parametrize(
    "use",
    [
        "setp.eq.u32 %p0, %r0, 0; @%p0 bra END; mov.u32 %C, %A; END:",
        "cvt.u64.u32 %d1, %r0; add.u64 %d1, %at0, %d1; ld.global.u32 %C, [%d1];",
        "mov.u32 %C, %A; setp.ne.u32 %p0, %r0, 0; @%p0 trap;",
    ],
)
def test_branches_and_addresses_by_it_are_not_verified(register: str, use: str) -> None:
    result = result_of(_read(register) + use, "C[i] = A[i]", ARRAYS)
    assert result.verdict is Verdict.UNSUPPORTED
    assert register in result.findings[0].message and "which is left open" in result.findings[0].message


def test_two_reads_are_two_values() -> None:
    body = "mov.u32 %r0, %warpid; mov.u32 %r1, %warpid; sub.u32 %r2, %r0, %r1; add.u32 %C, %A, %r2;"
    assert result_of(body, "C[i] = A[i]", ARRAYS).verdict is not Verdict.VERIFIED


@pytest.mark.parametrize(
    "use",
    [
        "mov.b32 %C, %f0;",
        "mov.b32 %r0, %f0; setp.eq.s32 %p0, %r0, 0x7fc00000; selp.b32 %C, 0x7fc00000, 0, %p0;",
        "mov.b32 %r0, %f0; setp.eq.s32 %p0, %r0, 0x7fffffff; selp.b32 %C, 0, 0x7fc00000, %p0;",
        "mov.b32 %r0, %f0; and.b32 %r0, %r0, 0x00400000; or.b32 %C, %r0, 0x7f800000;",
        "mov.b32 %r0, %f0; shr.u32 %r0, %r0, 31; add.u32 %C, %r0, 0x7fc00000;",
        "neg.f32 %f1, %f0; mov.b32 %r1, %f1; and.b32 %r1, %r1, 0x80000000; shr.u32 %r1, %r1, 9; "
        "or.b32 %C, %r1, 0x7f800000;",
    ],
)
def test_a_computed_nan_has_no_known_bits(use: str) -> None:
    result = result_of(NAN + use, "C[i] = 2143289344", {"C": "u32 out"})
    assert result.verdict is not Verdict.VERIFIED
    assert kinds(result) <= {Kind.UNDEFINED, Kind.UNDECIDED}


@pytest.mark.parametrize(
    "nan",
    [
        "mul.f32 %f0, 0f7f800000, 0f00000000;",
        "add.f32 %f0, 0f7fffffff, 0f3f800000;",
        "fma.rn.f32 %f0, 0f7f800000, 0f00000000, 0f3f800000;",
        "div.rn.f32 %f0, 0f00000000, 0f00000000;",
        "sqrt.rn.f32 %f0, 0fbf800000;",
        "sqrt.approx.f32 %f0, 0fbf800000;",
        "lg2.approx.f32 %f0, 0fbf800000;",
        "rsqrt.approx.f32 %f0, 0fbf800000;",
        "max.NaN.f32 %f0, 0f7fc00000, 0f3f800000;",
        "mov.b32 %r9, 0x7e00; cvt.u16.u32 %h0, %r9; cvt.f32.f16 %f0, %h0;",
    ],
)
def test_it_has_none_whatever_computes_it_but_is_a_nan(nan: str) -> None:
    bits = result_of(f"{nan} mov.b32 %C, %f0;", "C[i] = 2143289344", {"C": "u32 out"})
    assert bits.verdict is not Verdict.VERIFIED
    tested = f"{nan} setp.nan.f32 %p0, %f0, %f0; selp.b32 %C, %A, 0, %p0;"
    if not nan.startswith(("div", "sqrt.rn")):
        assert result_of(tested, "C[i] = A[i]", ARRAYS).verdict is Verdict.VERIFIED


@pytest.mark.parametrize(
    "use",
    [
        "cvt.rni.s32.f32 %r0, %f0; add.u32 %C, %A, %r0;",  # 0, as PTX states
        "max.f32 %f1, %f0, 0f00000000; mov.b32 %r0, %f1; add.u32 %C, %A, %r0;",
        "setp.eq.f32 %p0, %f0, %f0; selp.b32 %C, 0, %A, %p0;",
        "testp.notanumber.f32 %p0, %f0; selp.b32 %C, %A, 0, %p0;",
        "testp.finite.f32 %p0, %f0; selp.b32 %C, 0, %A, %p0;",
        "mov.b32 %r1, %f0; shfl.sync.idx.b32 %r1, %r1, 0, 31, -1; mov.b32 %f2, %r1; "
        "setp.nan.f32 %p0, %f2, %f2; selp.b32 %C, %A, 0, %p0;",
        "mov.b32 %r0, %f0; and.b32 %r0, %r0, 0; add.u32 %C, %A, %r0;",
    ],
)
def test_what_is_stated_of_nans_stays_known(use: str) -> None:
    assert result_of(NAN + use, "C[i] = A[i]", ARRAYS).verdict is Verdict.VERIFIED


def test_a_constant_that_is_moved_keeps_its_bits() -> None:
    body = "mov.f32 %f0, 0f7fc00000; mov.b32 %C, %f0;"
    assert result_of(body, "C[i] = 2143289344", {"C": "u32 out"}).verdict is Verdict.VERIFIED


def test_tables_of_values_do_not_rest_on_bits_of_nans() -> None:
    arrays = {"A": "f16", "C": "u32 out"}
    body = "mov.b16 %h1, 0x7e00; mul.f16 %h0, %A, %h1; setp.eq.s16 %p0, %h0, 0x7e00; selp.b32 %C, 1, 0, %p0;"
    assert result_of(body, "C[i] = 1", arrays).verdict is not Verdict.VERIFIED
    finite = body.replace("0x7e00", "0x3c00")
    assert result_of(finite, "C[i] = where(A[i] == 1, 1, 0)", arrays).verdict is Verdict.VERIFIED


@pytest.mark.parametrize(
    ("instruction", "value"),
    [
        ("div.u32 %r0, 5, 0;", 4294967295),
        ("rem.s32 %r0, 5, 0;", 5),
        ("div.s32 %r0, 0x80000000, -1;", 2147483648),
        ("rem.s32 %r0, 0x80000000, -1;", 0),
        ("mov.b16 %h1, 0x8000; div.s16 %h0, %h1, -1; cvt.u32.u16 %r0, %h0;", 32768),
        ("mov.u32 %r1, 32; fns.b32 %r0, -1, %r1, 1;", 4294967295),
        ("mov.u32 %r1, 40; fns.b32 %r0, -1, %r1, -1;", 31),
        ("mov.u32 %r0, %total_smem_size;", 0),
        ("mov.u32 %r0, %aggr_smem_size;", 0),
    ],
)
def test_what_the_manual_leaves_open_is_unknown(instruction: str, value: int) -> None:
    result = result_of(instruction + " mov.u32 %C, %r0;", f"C[i] = {value}", {"C": "u32 out"})
    assert result.verdict is Verdict.REFUTED
    assert kinds(result) == {Kind.UNDEFINED}


@pytest.mark.parametrize("value", [0, 7, 255, 4294967295])
@pytest.mark.parametrize("opcode", ["div", "rem"])
@pytest.mark.parametrize("array", ["u8", "u16", "u32"])
def test_no_value_of_a_quotient_by_data_that_are_zero_is_verified(
    array: str, opcode: str, value: int
) -> None:
    body = f"cvt.u32.{array} %r1, %A; {opcode}.u32 %r0, 7, %r1; setp.eq.u32 %p0, %r1, 0; "
    formula = f"C[i] = where(A[i] == 0, {value}, 0)"
    result = result_of(body + "selp.b32 %C, %r0, 0, %p0;", formula, {"A": array, "C": "u32 out"})
    assert result.verdict is not Verdict.VERIFIED


@pytest.mark.parametrize(
    ("instruction", "value"),
    [
        ("div.s32 %r0, 0x80000001, -1;", 2147483647),
        ("div.u32 %r0, 0x80000000, -1;", 0),
        ("rem.s32 %r0, -7, 3;", 4294967295),
        ("fns.b32 %r0, -1, 31, 1;", 31),
    ],
)
def test_their_neighbours_are_known(instruction: str, value: int) -> None:
    result = result_of(instruction + " mov.u32 %C, %r0;", f"C[i] = {value}", {"C": "u32 out"})
    assert result.verdict is Verdict.VERIFIED


def test_lanes_that_activemask_finds_together_are_an_assumption() -> None:
    body = "activemask.b32 %r1; not.b32 %r1, %r1; add.u32 %C, %A, %r1;"
    result = result_of(body, "C[i] = A[i]", {"A": "u32", "C": "u32 out"})
    assert result.verdict == "verified"
    assert any("activemask in line" in assumption for assumption in result.assumptions)
