"""Integers made of floats: however they are clamped, equal ones are equal, and others are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.equality.clamped_conversions import ClampedConversions
from mmaproof.refinement.equality.limited_numbers import LimitedNumbers
from mmaproof.refinement.examine.trials import DisagreementError
from mmaproof.refinement.examine.wrong_values import WrongValues
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32, S8, S16, S32, S64, U8, U32, U64, IntegerFormat
from mmaproof.spec.rounding import Rounding

from ..elementwise_kernels import result_of

ARRAYS = {"A": "f32", "C": "s8 out"}
ROUNDED = "mul.f32 %f1, %A, 0f3F000000; cvt.rni.f32.f32 %f1, %f1; "
CLAMPED = "max.f32 %f2, %f1, 0fC2FE0000; min.f32 %f2, %f2, 0f42FE0000; cvt.rzi.s32.f32 %C, %f2;"
CONVERTED = "cvt.rni.s32.f32 %r1, %f1; min.s32 %r1, %r1, 127; max.s32 %C, %r1, -127;"
SATURATED = "cvt.rni.sat.s8.f32 %C, %f1;"
FORMULAS = {
    "before": "s8(min(max(rint(A[i] / 2), -127), 127))",
    "behind": "s8(min(max(s32(round(A[i] / 2)), -127), 127))",
    "not rounded": "s8(min(max(A[i] / 2, -127), 127))",
    "not clamped": "s8(round(A[i] / 2))",
    "wrapped": "s8(s32(round(A[i] / 2)))",
    "one less": "s8(min(max(rint(A[i] / 2), -127), 126))",
    "down": "s8(min(max(floor(A[i] / 2), -127), 127))",
}
CHOSEN = """setp.gt.f32 %p1, %f1, 0f42FE0000; setp.lt.f32 %p2, %f1, 0fC2FE0000;
selp.f32 %f2, 0fC2FE0000, %f1, %p2;
selp.f32 %f2, 0f42FE0000, %f2, %p1; cvt.rzi.s32.f32 %C, %f2;"""
KERNELS = {
    "before": (CLAMPED, {"before", "behind"}),
    "chosen": (CHOSEN, {"before", "behind"}),
    "chosen, the other way round": (
        CHOSEN.replace("setp.gt", "setp.le").replace("0f42FE0000, %f2, %p1", "%f2, 0f42FE0000, %p1"),
        {"before", "behind"},
    ),
    "chosen from another number": (CHOSEN.replace("0f42FE0000, %f2, %p1", "0f42FC0000, %f2, %p1"), set()),
    "chosen where it is greater": (CHOSEN.replace("setp.lt", "setp.gt"), set()),
    "behind": (CONVERTED, {"before", "behind"}),
    "saturated": (SATURATED, {"not clamped"}),
    "wrapped": ("cvt.rzi.s32.f32 %C, %f1;", {"wrapped"}),
}


@pytest.mark.sample(10)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("formula", FORMULAS)
def test_clamps_before_and_behind_a_conversion_are_the_same(kernel: str, formula: str) -> None:
    body, right = KERNELS[kernel]
    verdict = result_of(ROUNDED + body, f"C[i] = {FORMULAS[formula]}", ARRAYS).verdict
    assert (verdict == "verified") == (formula in right)


OF_DOUBLES = """max.f64 %d1, %A, 0dC060000000000000; min.f64 %d1, %d1, 0d405FC00000000000;
cvt.rni.s32.f64 %C, %d1;"""


@pytest.mark.parametrize(
    ("formula", "is_right"),
    [("s8(round(A[i]))", True), ("s8(A[i])", False), ("s8(min(rint(A[i]), 126))", False)],
)
def test_clamps_of_doubles_are_the_same(formula: str, is_right: bool) -> None:
    verdict = result_of(OF_DOUBLES, f"C[i] = {formula}", {"A": "f64", "C": "s8 out"}).verdict
    assert (verdict == "verified") == is_right


@pytest.mark.parametrize(("kind", "is_right"), [("s64", True), ("u64", False)])
def test_integers_of_64_bits_are_clamped_before(kind: str, is_right: bool) -> None:
    body = f"""max.f32 %f1, %A, 0fC3000000; min.f32 %f1, %f1, 0f42FE0000; cvt.rni.{kind}.f32 %d1, %f1;
    cvt.u32.u64 %C, %d1;"""
    assert (result_of(body, "C[i] = s8(round(A[i]))", ARRAYS).verdict == "verified") == is_right


NUMBERS = st.floats(width=32, allow_nan=False)
LIMITS = st.sampled_from([-300.0, -128.0, -127.5, -2.5, -0.5, 0.0, 0.5, 1.5, 126.5, 127.0, 255.0, 70000.0])
RELATIONS = ("gt", "ge", "lt", "le", "geu", "ltu")
FLOAT_STEPS = st.one_of(
    st.tuples(st.sampled_from(["max", "min"]), LIMITS),
    st.tuples(st.sampled_from([*RELATIONS, *(f"not {each}" for each in RELATIONS)]), LIMITS),
    st.tuples(st.sampled_from(operations.INTEGRAL), LIMITS),
)


@given(
    st.lists(FLOAT_STEPS, max_size=4),
    st.sampled_from([S8, U8, S16, S32, U32, S64, U64]),
    st.sampled_from(list(Rounding)),
    st.lists(st.tuples(st.sampled_from(["max", "min"]), st.integers(-200, 200)), max_size=2),
    st.lists(NUMBERS, min_size=1, max_size=20),
)
def test_the_form_is_the_same_integer(
    steps: list[tuple[str, float]],
    fmt: IntegerFormat,
    rounding: Rounding,
    clamps: list[tuple[str, int]],
    numbers: list[float],
) -> None:
    store = TermStore()
    number = term = store.inputs("x", F32, np.arange(len(numbers)))
    for name, limit in steps:
        word = int(np.float32(limit).view(np.uint32))
        relation = name.removeprefix("not ")
        if name in operations.INTEGRAL:
            term = apply(store, operations.function(name, F32, F32), term)
        elif relation in RELATIONS:
            before = [number, term][int(abs(limit)) % 2]
            constant = store.constants(np.full(len(numbers), word, dtype=np.uint64), 32)
            holds = apply(store, operations.compare(F32, relation), before, constant)
            either = (term, constant) if name.startswith("not ") else (constant, term)
            term = apply(store, operations.select(32), holds, *either)
        else:
            term = apply(store, operations.extremum(F32, name), term, store.constants([word], 32))
    term = apply(store, operations.convert(fmt, F32, rounding), term)
    for which, limit in clamps if fmt == S32 else []:
        term = apply(store, operations.extremum(S32, which), term, store.constants([limit & 0xFFFFFFFF], 32))
    found = ClampedConversions(store).values(term)
    words = np.array(numbers, dtype=np.float32).view(np.uint32)
    old, new = (Assignment(store, {"x": words}).values(each) for each in (term, found))
    assert (old == new).all()


@pytest.mark.parametrize(("fmt", "bits"), [(S32, 32), (S64, 64)])
def test_sums_of_products_of_integers_have_the_width_of_their_format(fmt: IntegerFormat, bits: int) -> None:
    """In 64 bits a negative sum has ones above the lower 32."""
    store = TermStore()
    x, y = (store.vectors(store.inputs(name, S8, np.arange(4))) for name in "xy")
    dot = operations.dot(fmt, S8, S8, fmt, operations.Accumulation("exact", 4))
    term = apply(store, dot, x.reshape(1), y.reshape(1), store.constants([0], bits))
    words = {"x": np.array([128, 1, 0, 0], dtype=np.uint8), "y": np.array([127, 1, 0, 0], dtype=np.uint8)}
    assert Assignment(store, words).values(term).tolist() == [(1 - 128 * 127) % (1 << bits)]


def test_the_checker_evaluates_what_the_kernel_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A choice that is taken for a limit wrongly is stopped: 200 is no number up to 127."""
    monkeypatch.setattr(LimitedNumbers, "_keeps", lambda *_: True)
    monkeypatch.setattr(WrongValues, "refuted", lambda _, terms, *__, **___: np.zeros(len(terms), dtype=bool))
    body = f"""{ROUNDED} max.f32 %f2, %f1, 0f43480000; setp.gt.f32 %p1, %f1, 0f42FE0000;
    selp.f32 %f2, 0f42FE0000, %f2, %p1; cvt.rzi.s32.f32 %C, %f2;"""
    with pytest.raises(DisagreementError, match="evaluated again"):
        result_of(body, "C[i] = s8(min(max(rint(A[i] / 2), 200), 127))", ARRAYS)


WIDE = "{{ .reg .s64 %w; cvt.{rounding}.s64.f32 %w, %A; cvt.u32.u64 %C, %w; }}"


@pytest.mark.parametrize(
    ("rounding", "bound", "verdict"),
    [
        ("rni", "100000", "verified"),
        ("rzi", "100000", "refuted"),
        ("rni", "1e12", "refuted"),  # the formula saturates, the kernel takes the low bits
    ],
)
def test_low_bits_of_wide_conversions_are_narrow_ones(rounding: str, bound: str, verdict: str) -> None:
    """``(int)lrintf(x)`` is converted to 64 bits."""
    result = result_of(
        WIDE.format(rounding=rounding),
        "C[i] = s32(round(A[i]))",
        {"A": "f32", "C": "s32 out"},
        requires=[f"abs(A[i]) <= {bound}"],
    )
    assert result.verdict.value == verdict
