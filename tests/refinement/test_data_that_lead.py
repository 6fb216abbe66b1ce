"""Loads, atomics and elements of formulas at places that data tell."""

from __future__ import annotations

import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict
from mmaproof.spec.errors import InputError

from ..elementwise_kernels import result_of

GATHER = "ld.param.u64 %d1, [p0]; mad.wide.s32 %d2, {index}, 4, %d1; ld.global.f32 %C, [%d2];"
ARRAYS = {"A": "f32", "I": "s32", "C": "f32 out"}
WITHIN = ["0 <= I[i] < 32"]


def gathered(
    index: str = "%I", *, before: str = "", formula: str = "C[i] = A[I[i]]", **more: object
) -> Verdict:
    body = before + GATHER.format(index=index)
    return result_of(body, formula, ARRAYS, **{"requires": WITHIN, **more}).verdict  # type: ignore[arg-type]


def test_an_element_at_an_index_that_is_data() -> None:
    assert gathered() is Verdict.VERIFIED
    assert gathered(formula="C[i] = sum(j < 32, where(I[i] == j, A[j], 0))") is Verdict.VERIFIED
    assert gathered(formula="C[i] = A[31 - I[i]]") is Verdict.REFUTED
    assert gathered(formula="C[i] = A[i]") is Verdict.REFUTED
    assert gathered(formula="C[i] = sum(j < 31, where(I[i] == j, A[j], 0))") is Verdict.REFUTED


@pytest.mark.parametrize(
    ("before", "formula", "right"),
    [
        ("and.b32 %r1, %I, 31;", "C[i] = A[I[i] & 31]", True),
        ("and.b32 %r1, %I, 15;", "C[i] = A[I[i] & 31]", False),
        ("and.b32 %r1, %I, 31;", "C[i] = A[I[i] % 32]", True),
        ("shr.u32 %r1, %I, 27;", "C[i] = A[(I[i] >> 27) & 31]", True),
        ("shr.s32 %r2, %I, 27; and.b32 %r1, %r2, 31;", "C[i] = A[(I[i] >> 27) & 31]", True),
        ("max.s32 %r2, %I, 0; min.s32 %r1, %r2, 31;", "C[i] = A[min(max(I[i], 0), 31)]", True),
        ("max.s32 %r2, %I, 0; min.s32 %r1, %r2, 31;", "C[i] = A[min(max(I[i], 1), 31)]", False),
        ("min.u32 %r1, %I, 31;", "C[i] = A[min(max(I[i], 0), 31)]", False),
    ],
)
def test_masked_and_clamped_indices(before: str, formula: str, right: bool) -> None:
    found = gathered("%r1", before=before, formula=formula, requires=[])
    assert (found is Verdict.VERIFIED) == right


def test_a_place_outside_is_found() -> None:
    result = result_of(
        GATHER.format(index="%I"), "C[i] = A[min(I[i], 31)]", ARRAYS, requires=["0 <= I[i] <= 32"]
    )
    assert {finding.kind for finding in result.findings} >= {Kind.OUT_OF_BOUNDS}
    result = result_of(
        GATHER.format(index="%I"), "C[i] = A[max(I[i], 0)]", ARRAYS, requires=["-1 <= I[i] < 32"]
    )
    assert {finding.kind for finding in result.findings} >= {Kind.OUT_OF_BOUNDS}


def test_an_index_that_may_be_anything_is_unsupported() -> None:
    result = result_of(GATHER.format(index="%I"), "C[i] = A[I[i] & 31]", ARRAYS)
    assert result.verdict is Verdict.UNSUPPORTED


@pytest.mark.parametrize(
    ("formula", "requires", "message"),
    [
        ("C[i] = A[I[i]]", [], "which may have more than 1024 values: bound it"),
        ("C[i] = A[I[i]]", ["0 <= I[i] <= 32"], "may be 32, outside 0 to 31"),
        ("C[i] = A[I[i] - 1]", WITHIN, "may be -1, outside 0 to 31"),
        ("C[i] = A[A[i]]", WITHIN, "an index of A must be an integer, not a real number"),
    ],
)
def test_mistakes_in_formulas(formula: str, requires: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        result_of(GATHER.format(index="%I"), formula, ARRAYS, requires=requires)


def test_places_that_undefined_bits_tell_are_not_looked_up() -> None:
    result = result_of("and.b32 %r1, %r9, 31;" + GATHER.format(index="%r1"), "C[i] = A[0]", ARRAYS)
    assert result.verdict is not Verdict.VERIFIED


TWICE = {
    "kernel": (
        "setp.eq.s32 %p1, %r1, 7; setp.eq.u32 %p2, %r1, 7; selp.f32 %f1, %B, 0f00000000, %p2;"
        "selp.f32 %C, %A, %f1, %p1;",
        "C[i] = where(s32(I[i] * J[i]) == 7, A[i], 0) + where(u32(I[i] * J[i]) == 7, B[i], 0)",
    ),
    "formula": (
        "setp.eq.s32 %p1, %r1, 7; setp.eq.u32 %p2, %r1, 7; selp.f32 %f1, %B, 0f00000000, %p2;"
        "selp.f32 %f2, %A, 0f00000000, %p1; add.f32 %C, %f1, %f2;",
        "C[i] = where(s32(I[i] * J[i]) == 7, A[i], where(u32(I[i] * J[i]) == 7, B[i], 0))",
    ),
}


@pytest.mark.parametrize("where", TWICE)
def test_one_number_as_signed_and_as_unsigned_is_one_case(where: str) -> None:
    body, formula = TWICE[where]
    arrays = {"I": "u32", "J": "u32", "A": "f32", "B": "f32", "C": "f32 out"}
    assert result_of("mul.lo.u32 %r1, %I, %J;" + body, formula, arrays).verdict is not Verdict.VERIFIED


def test_an_index_that_is_saturated_is_no_negative_one() -> None:
    """From -5 to -1 it is 0 as unsigned: the place is 3."""
    body = "cvt.sat.u32.s32 %r3, %I; max.s32 %r4, %r3, -3; add.s32 %r1, %r4, 3;"
    negative = ["-5 <= I[i] <= -1"]
    assert gathered("%r1", before=body, formula="C[i] = A[3]", requires=negative) is not Verdict.REFUTED
    found = gathered("%r1", before=body, formula="C[i] = A[max(I[i], -3) + 3]", requires=negative)
    assert found is not Verdict.VERIFIED


GUARDED = "setp.lt.s32 %p1, %I, 32; mov.f32 %C, 0f00000000; ld.param.u64 %d1, [p0];" + (
    "mad.wide.s32 %d2, %I, 4, %d1; @%p1 ld.global.f32 %C, [%d2];"
)


def test_a_place_to_which_no_data_lead_is_no_fault() -> None:
    """Nor where a guard or a condition that bounds nothing leaves it out."""
    formula = "C[i] = sum(j < 32, where(I[i] == j, A[j], 0))"
    result = result_of(GUARDED, formula, ARRAYS, requires=["0 <= I[i] <= 40"])
    assert result.verdict is not Verdict.REFUTED
    body = GATHER.format(index="%I")
    result = result_of(body, formula, ARRAYS, requires=["0 <= I[i] <= 32", "I[i] != 32"])
    assert result.verdict is not Verdict.REFUTED


@pytest.mark.parametrize(("kind", "low"), [("s8", -16), ("u8", 0), ("s16", -16), ("u16", 0)])
def test_indices_of_few_bits_are_bounded_too(kind: str, low: int) -> None:
    index = "cvt.s32.s16 %r1, %I;" if kind == "s16" else "cvt.u32.u16 %r1, %I;" if kind == "u16" else ""
    before = index or "mov.b32 %r1, %I;"
    before += f"sub.s32 %r1, %r1, {low};"
    result = result_of(
        before + GATHER.format(index="%r1"), f"C[i] = A[I[i] - {low}]", ARRAYS | {"I": kind},
        requires=[f"{low} <= I[i] < {low + 32}"],
    )  # fmt: skip
    assert result.verdict is Verdict.VERIFIED


@pytest.mark.parametrize("entries", [1, 2, 4, 16])
def test_tables_of_any_length(entries: int) -> None:
    table = ", ".join(f"A[{each}]" for each in range(entries))
    before, formula = f"and.b32 %r1, %I, {entries - 1};", f"C[i] = lookup(I[i] & {entries - 1}, {table})"
    assert gathered("%r1", before=before, formula=formula) is Verdict.VERIFIED


def test_conditions_take_no_index_that_is_data() -> None:
    with pytest.raises(InputError, match=r"an index of A is data; .requires. allows sizes"):
        gathered(requires=[*WITHIN, "A[I[i]] >= 0"])


@pytest.mark.parametrize("conversion", ["cvt.rn.f32.s32", "cvt.rn.sat.f32.s32"])
def test_the_bits_of_a_float_are_not_the_integer_that_it_was_made_of(conversion: str) -> None:
    """Those of 1.0 are 0x3f800000: the place is far outside."""
    body = f"{conversion} %f1, %I; mov.b32 %r2, %f1; add.s32 %r1, %r2, 0; max.s32 %r1, %r1, -1;"
    found = gathered("%r1", before=body, formula="C[i] = A[I[i]]")
    assert found in (Verdict.UNSUPPORTED, Verdict.REFUTED)


def chosen_of_softmax(maximum: str, members: int) -> str:
    """Return the softmax of A's first four numbers at I, shifted by the maximum of the first `members`."""
    power = "sub.f32 %f6, %f6, %f4; mul.f32 %f6, %f6, 0f3FB8AA3B; ex2.approx.f32 %f6, %f6;"
    load = "ld.param.u64 %d1, [p0];" + "".join(f"ld.global.f32 %f{k}, [%d1+{4 * k}];" for k in range(4))
    greatest = "mov.f32 %f4, %f0;" + "".join(maximum.format(k) for k in range(1, members))
    total = "".join(f"mov.f32 %f6, %f{k}; {power} add.f32 %f5, %f5, %f6;" for k in range(4))
    chosen = f"mad.wide.s32 %d2, %I, 4, %d1; ld.global.f32 %f6, [%d2]; {power} div.rn.f32 %C, %f6, %f5;"
    return f"{load}{greatest} mov.f32 %f5, 0f00000000; {total}{chosen}"


@pytest.mark.parametrize(
    ("maximum", "members", "right"),
    [
        ("max.f32 %f4, %f4, %f{0};", 4, True),
        ("setp.lt.f32 %p1, %f4, %f{0}; selp.f32 %f4, %f{0}, %f4, %p1;", 4, True),
        ("setp.lt.f32 %p1, %f4, %f{0}; selp.f32 %f4, %f{0}, %f4, %p1;", 3, False),
        ("setp.gt.f32 %p1, %f4, %f{0}; selp.f32 %f4, %f{0}, %f4, %p1;", 4, False),
    ],
)
def test_an_element_that_data_tell_is_among_those_of_a_maximum(
    maximum: str, members: int, right: bool
) -> None:
    result = result_of(
        chosen_of_softmax(maximum, members),
        "C[i] = exp(A[I[i]]) / sum(k < 4, exp(A[k]))",
        ARRAYS,
        requires=["0 <= I[i] < 4"],
    )
    assert (result.verdict is Verdict.VERIFIED) == right, result.findings
