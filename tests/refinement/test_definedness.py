"""Undefined bits flow, and count only where something depends on them."""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.analysis.definedness import Definedness, reaching
from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.terms import bit_slices, operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.choices import chosen
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.store import TermStore, bits
from mmaproof.spec.formats import F32

from ..elementwise_kernels import result_of

WIDTH = 32
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["lop", "add", "mul", "neg", "cut", "sext", "shl", "join", "sel", "cmp", "fadd", "fneg", "max"]
        ),
        st.integers(0, 255),
        st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50)),
    ),
    min_size=1,
    max_size=10,
)


def _made(
    store: TermStore, words: list[np.ndarray], step: tuple[str, int, tuple[int, int, int]]
) -> np.ndarray:
    what, number, places = step
    a, b, c = (words[place % len(words)] for place in places)
    low = number % 25
    signed = operations.signed(WIDTH)
    match what:
        case "lop":
            return bit_slices.bitwise(store, number, a, b, c)
        case "add":
            return apply(store, operations.ring(WIDTH, 0, 2), a, b)
        case "mul":
            return apply(store, operations.ring(WIDTH, 1, 0), a, b)
        case "neg":
            return apply(store, operations.negate(bits(WIDTH)), a)
        case "cut":
            return bit_slices.zero_extend(store, bit_slices.extract(store, a, low, 8), WIDTH)
        case "sext":
            return bit_slices.sign_extend(store, bit_slices.extract(store, a, low, 8), WIDTH)
        case "shl":
            return bit_slices.shift_left(store, a, low)
        case "join":
            parts = [bit_slices.extract(store, each, low // 8 * 8, 8) for each in (a, b, c, a)]
            return bit_slices.concatenate(store, parts)
        case "sel":
            condition = apply(store, operations.compare(signed, "lt"), a, b)
            return np.asarray(chosen(store, condition, b, c))
        case "cmp":
            found = apply(store, operations.compare(signed, "eq"), a, b)
            return bit_slices.zero_extend(store, found, WIDTH)
        case "fadd":
            return apply(store, operations.fused(F32, (), (F32, F32)), a, b)
        case "fneg":
            return apply(store, operations.negate(F32), a)
    return apply(store, operations.extremum(signed, "max"), a, b)


@settings(max_examples=examples(150), deadline=None)
@given(STEPS, st.lists(st.integers(0, 2**32 - 1), min_size=8, max_size=8))
def test_bits_that_are_said_to_be_defined_are_the_same_whatever_the_others_are(
    steps: list[tuple[str, int, tuple[int, int, int]]], numbers: list[int]
) -> None:
    store = TermStore()
    undefined = store.undefined(2, WIDTH)
    partly = bit_slices.concatenate(
        store, [bit_slices.extract(store, undefined[:1], 8, 8), store.inputs("A", bits(24), [0])]
    )
    words = [store.inputs("A", bits(WIDTH), [1]), partly, undefined[1:], store.constants([numbers[0]], WIDTH)]
    for step in steps:
        words.append(_made(store, words, step))
    terms = np.concatenate(words)
    masks = Definedness(store, undefined).undefined_bits(terms)
    inputs = {"A": np.array(numbers[1:3], dtype=np.uint64) & np.uint64(0xFFFFFF)}
    found = [
        Assignment(store, inputs, given=dict(zip(undefined.tolist(), pair, strict=True))).values(terms)
        for pair in (numbers[3:5], numbers[5:7], (0, 0), (0xFFFFFFFF, 0xFFFFFFFF))
    ]
    for other in found[1:]:
        changed = (found[0] ^ other) & ~masks
        assert not changed.any()


def test_only_the_leaves_that_reach_wanted_bits_are_named() -> None:
    store = TermStore()
    low, high = (store.undefined(1, 8) for _ in range(2))
    zero = store.constants([0], 16)
    word = bit_slices.concatenate(store, [low, zero, high])
    assert reaching(store, np.concatenate([low, high]), word).tolist() == [low[0], high[0]]
    assert reaching(store, low, word, np.array([0xFF000000], dtype=np.uint64)).tolist() == []
    assert reaching(store, high, word, np.array([0xFF000000], dtype=np.uint64)).tolist() == [high[0]]


TILES = {
    "shared": ".shared .align 16 .b8 tile[512]; mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 16, %r9; ",
    "local": ".local .align 16 .b8 tile[16]; mov.u32 %r9, tile; ",
}
"""16 bytes of each thread that nobody has written, to which %r9 points."""
ARRAYS = {"A": "u32", "C": "u32 out"}
LOAD = "ld.{0}.u32 %r1, [%r9]; "
CHOICE = LOAD + "setp.eq.u32 %p0, %r1, 0; selp.u32 %r2, %A, {1}, %p0; and.b32 %C, %r2, 0xff;"
LOW = "and.b32 %r2, %A, 0xff; or.b32 %C, %r1, %r2;"


@pytest.mark.parametrize("place", TILES)
@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (LOAD + "and.b32 %C, %A, 0xff;", False),
        ("ld.{0}.v4.u32 {{%r1, %r2, %r3, %r4}}, [%r9]; and.b32 %C, %A, 0xff;", False),
        ("st.{0}.u8 [%r9], %A; " + LOAD + "and.b32 %C, %r1, 0xff;", False),
        ("st.{0}.u8 [%r9+1], %A; " + LOAD + "bfe.u32 %C, %r1, 8, 8;", False),
        ("st.{0}.u8 [%r9+2], %A; " + LOAD + "prmt.b32 %C, %r1, 0, 0x4442;", False),
        ("st.{0}.u8 [%r9+3], %A; " + LOAD + "shr.u32 %C, %r1, 24;", False),
        ("st.{0}.u8 [%r9], %A; " + LOAD + "cvt.u32.u8 %C, %r1;", False),
        ("st.{0}.u8 [%r9], %A; " + LOAD + "st.{0}.u32 [%r9+8], %r1; ld.{0}.u8 %C, [%r9+8];", False),
        ("st.{0}.u8 [%r9], %A; " + LOAD + "shfl.sync.idx.b32 %r1, %r1, %t, 31, -1; cvt.u32.u8 %C, %r1;",
         False),
        (LOAD + "and.b32 %r1, %r1, 0; " + LOW, False),
        (LOAD + "mul.lo.u32 %r1, %r1, 2; and.b32 %r1, %r1, 1; " + LOW, False),
        (CHOICE.replace("{1}", "%A"), False),
        ("st.{0}.u8 [%r9], %A; " + LOAD + "mov.u32 %C, %r1;", True),
        ("st.{0}.u8 [%r9], %A; " + LOAD + "and.b32 %C, %r1, 0x1ff;", True),
        ("st.{0}.u8 [%r9+1], %A; " + LOAD + "bfe.u32 %C, %r1, 7, 8;", True),
        ("st.{0}.u8 [%r9], %A; " + LOAD + "add.u32 %r1, %r1, %r1; shr.u32 %r1, %r1, 1; and.b32 %C, %r1, 511;",
         True),
        (CHOICE.replace("{1}", "0"), True),
    ],
)  # fmt: skip
def test_undefined_bits_count_only_where_an_output_depends_on_them(
    place: str, body: str, wrong: bool
) -> None:
    result = result_of(f"{TILES[place]}\n{body.format(place)}", "C[i] = A[i] & 255", ARRAYS)
    if wrong:
        assert result.verdict is not Verdict.VERIFIED
        assert {finding.line for finding in result.findings if finding.kind is Kind.UNINITIALISED} == {17}
    else:
        assert result.verdict is Verdict.VERIFIED
        assert [note.line for note in result.notes if "no result depends on it" in note.message] == [17]


@pytest.mark.parametrize("place", TILES)
@pytest.mark.parametrize(
    "use",
    [
        "setp.eq.u32 %p0, %r1, 0; @%p0 bra END; mov.u32 %C, %A; END:",
        "cvt.u64.u32 %d1, %r1; add.u64 %d1, %at0, %d1; ld.global.u32 %C, [%d1];",
        "cvt.u64.u32 %d1, %r1; add.u64 %d1, %at1, %d1; st.global.u32 [%d1], %A; mov.u32 %C, %A;",
        "and.b32 %r1, %r1, 31; shfl.sync.idx.b32 %C, %A, %r1, 31, -1;",
    ],
)
def test_branches_addresses_and_lanes_by_undefined_bits_are_found(place: str, use: str) -> None:
    result = result_of(f"{TILES[place]}\n{LOAD.format(place)}{use}", "C[i] = A[i]", ARRAYS)
    assert result.verdict is Verdict.REFUTED
    assert result.findings[0].kind is Kind.UNINITIALISED and result.findings[0].line == 17


@pytest.mark.parametrize(("used", "wrong"), [("%A", False), ("%r7", True)])
def test_what_an_output_holds_before_may_be_read_and_dropped(used: str, wrong: bool) -> None:
    body = f"ld.global.u32 %r7, [%at1]; mov.u32 %C, {used};"
    result = result_of(body, "C[i] = A[i]", ARRAYS)
    assert result.verdict is (Verdict.REFUTED if wrong else Verdict.VERIFIED)
    told = result.findings if wrong else result.notes
    assert {each.line for each in told} == {16}


MMA = (
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, "
    "{%f5, %f5, %f5, %f5}; "
)


@pytest.mark.parametrize(("result", "wrong"), [("%f1", False), ("%f3", True)])
def test_an_undefined_operand_spoils_its_own_rows_alone(result: str, wrong: bool) -> None:
    """Rows 8 to 15 of A are in the second register, which nobody has written."""
    body = f"mov.f32 %f5, 0f00000000; mov.u32 %r1, 0; mov.u32 %r3, 0; {MMA} add.f32 %C, %A, {result};"
    found = result_of(body, "C[i] = A[i]", {"A": "f32", "C": "f32 out"})
    assert (found.verdict is Verdict.VERIFIED) is not wrong
