"""Faults on few inputs, while the equality engine always answers "equal"."""

from __future__ import annotations

import pytest
from forced_equality import equality_forced

from mmaproof.refinement.equality.distinguishing_inputs import DistinguishingInputs
from mmaproof.refinement.examine.trials import DisagreementError
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F16, S32, S64, U16, U64, Format

from ..elementwise_kernels import result_of

ONE, TWO = {"A": "s32", "Y": "s32 out"}, {"A": "s32", "B": "s32", "Y": "s32 out"}
WORD = {"A": "u32", "Y": "u32 out"}
SHORT = {"A": "u16", "Y": "u32 out"}
FOUR = {"A": "f32", "B": "f32", "C": "f32", "D": "f32", "I": "s32 out"}
TREE = (
    "setp.{one}.f32 %p1, %B, %A; selp.f32 %f1, %B, %A, %p1; selp.b32 %r1, 1, 0, %p1;"
    "setp.{other}.f32 %p2, %D, %C; selp.f32 %f2, %D, %C, %p2; selp.b32 %r2, 3, 2, %p2;"
    "setp.gt.f32 %p3, %f2, %f1; selp.b32 %I, %r2, %r1, %p3;"
)
GREATEST = "max(A[i], B[i], C[i], D[i])".replace(", B", ", max(B").replace(", C", ", max(C") + "))"
FIRST = f"I[i] = where(A[i] == {GREATEST}, 0, where(B[i] == {GREATEST}, 1, where(C[i] == {GREATEST}, 2, 3)))"
FAULTS = {
    "three numbers of a range": (
        "sub.u32 %r1, %A, 123456; setp.lt.u32 %p1, %r1, 3; selp.b32 %Y, 0, %A, %p1;", "Y[i] = A[i]", WORD,
    ),
    "64 of 16 bits": (
        "cvt.u32.u16 %r2, %A; and.b32 %r1, %r2, 0x3ff; mul.lo.u32 %r1, %r1, 64;"
        "setp.eq.u32 %p1, %r1, 30016; selp.b32 %Y, 7, %r2, %p1;",
        "Y[i] = A[i]", SHORT,
    ),
    "doubled, modulo 2^32": (
        "shl.b32 %r1, %A, 1; shl.b32 %r2, %B, 1; setp.eq.s32 %p1, %r1, %r2; selp.b32 %Y, 1, 0, %p1;",
        "Y[i] = where(A[i] == B[i], 1, 0)", TWO,
    ),
    "a difference that wraps": (
        "sub.s32 %r1, %A, %B; setp.lt.s32 %p1, %r1, 0; selp.b32 %Y, 1, 0, %p1;",
        "Y[i] = where(A[i] < B[i], 1, 0)", TWO,
    ),
    "twice a number": (
        "shl.b32 %r1, %A, 1; setp.eq.s32 %p1, %r1, 24690; selp.b32 %Y, 1, 0, %p1;",
        "Y[i] = where(A[i] == 12345, 1, 0)", ONE,
    ),
    "ties on one side": (TREE.format(one="gt", other="ge"), FIRST, FOUR),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_on_few_inputs_is_stopped(name: str) -> None:
    with equality_forced(), pytest.raises(DisagreementError):
        result_of(*FAULTS[name])


SEARCH = (
    "mov.f32 %f1, 0fBF800000; mov.u32 %r1, 9;"
    "setp.gt.f32 %p1, %A, %f1; selp.f32 %f1, %A, %f1, %p1; selp.b32 %r1, 0, %r1, %p1;"
    "setp.gt.f32 %p1, %B, %f1; selp.f32 %f1, %B, %f1, %p1; selp.b32 %I, 1, %r1, %p1;"
)
OF_TWO = "I[i] = where(A[i] >= B[i], 0, 1)"
AT_ENDS = {
    "all at the lower end": (SEARCH, OF_TWO, {"A": "f32", "B": "f32", "I": "s32 out"}, "{} >= -1"),
    "both at the upper end": (
        "add.s32 %Y, %A, %B; shr.s32 %Y, %Y, 1;", "Y[i] = (s64(A[i]) + s64(B[i])) >> 1", TWO,
        "-1073741824 <= {} <= 1073741824",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", AT_ENDS)
def test_a_fault_at_the_ends_of_all_inputs_is_stopped(name: str) -> None:
    body, formula, arrays, condition = AT_ENDS[name]
    conditions = [condition.format(f"{each}[i]") for each in "AB"]
    with equality_forced(), pytest.raises(DisagreementError):
        result_of(body, formula, arrays, requires=conditions)


@pytest.mark.parametrize("first", ["FE967699", "7E967699", "F149F2CA"])
def test_an_extremum_that_begins_within_its_range_is_stopped(first: str) -> None:
    """All numbers are beyond ±1e38 and -1e30, which nothing bounds, before that is seen."""
    which = "min" if first.startswith("7") else "max"
    body = f"{which}.f32 %f1, %A, 0f{first}; {which}.f32 %Y, %f1, %B;"
    arrays = {"A": "f32", "B": "f32", "Y": "f32 out"}
    with equality_forced(), pytest.raises(DisagreementError):
        result_of(body, f"Y[i] = {which}(A[i], B[i])", arrays)


def test_the_tree_without_the_fault_is_right() -> None:
    assert result_of(TREE.format(one="gt", other="gt"), FIRST, FOUR).verdict == "verified"


@pytest.mark.parametrize("fmt", [U16, F16])
@pytest.mark.parametrize("word", [0x0000, 0x1234, 0x7BFF, 0xC001])
def test_one_word_of_16_bits_is_found(fmt: Format, word: int) -> None:
    store = TermStore()
    x, constant = store.inputs("x", fmt, [0]), store.constants([word], 16)
    same = apply(store, operations.compare(operations.signed(16), "eq"), x, constant)
    other = apply(store, operations.select(16), same, store.constants([0x3C0F], 16), x)
    (found,) = DistinguishingInputs(store).of([(int(x[0]), int(other[0]))], fmt)
    assert [*found.values()] == [word]


@pytest.mark.parametrize("fmt", [S64, U64])
def test_integers_of_64_bits_are_drawn(fmt: Format) -> None:
    store = TermStore()
    x, y = (store.inputs(name, fmt, [0]) for name in "xy")
    total = apply(store, operations.ring(64, 0, 2), x, y)
    either = apply(store, operations.ring(64, 0, 2), x, apply(store, operations.negate(fmt), y))
    assert any(DistinguishingInputs(store).of([(int(total[0]), int(either[0]))], fmt))


def test_inputs_stay_within_what_is_known_of_them() -> None:
    store = TermStore()
    x = store.inputs("x", S32, [0])
    store.bounded[int(x[0])] = (5, 9)
    doubled = apply(store, operations.ring(32, 0, 2), x, x)
    found = list(DistinguishingInputs(store).of([(int(x[0]), int(doubled[0]))], S32))
    assert found and all(5 <= word <= 9 for each in found for word in each.values())


def test_constants_are_rounded_where_they_are_converted() -> None:
    """The choice of integers is one of floats, of which no comparison with the integers is made."""
    body = "setp.gt.f32 %p1, %A, 0f00000000; selp.b32 %r1, {}, 0, %p1; cvt.rn.f32.s32 %Y, %r1;"
    arrays = {"A": "f32", "Y": "f32 out"}
    formula = "Y[i] = where(A[i] > 0, 16777216.0, 0.0)"
    assert result_of(body.format(16777217), formula, arrays).verdict == "verified"
    assert result_of(body.format(16777219), formula, arrays).verdict == "refuted"
    with equality_forced(), pytest.raises(DisagreementError):
        result_of(body.format(16777219), formula, arrays)
