"""Low bits of sums with half of their range: nibbles that are packed with an offset of 8."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.equality.halved_sums import HalvedSums
from mmaproof.refinement.terms import bit_slices, operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore
from mmaproof.refinement.terms.truth_tables import A
from mmaproof.spec.formats import U8, U16, U32, IntegerFormat

from ..elementwise_kernels import result_of

ARRAYS = {"A": "s8", "B": "s8", "C": "u8 out"}
FORMULA = "C[i] = ((A[i] + 8) & 15) + 16 * ((B[i] + 8) & 15)"
PACKED = {
    "highest": "add.s32 %r1, %A, 8; and.b32 %r1, %r1, 15; shl.b32 %r2, %B, 28; xor.b32 %r2, %r2, 0x80000000; "
    "shr.u32 %r2, %r2, 24; or.b32 %C, %r1, %r2;",
    "flipped": "and.b32 %r1, %A, 15; shl.b32 %r2, %B, 4; or.b32 %r1, %r1, %r2; xor.b32 %C, %r1, 136;",
    "one added": "add.s32 %r1, %A, 8; and.b32 %r1, %r1, 15; shl.b32 %r2, %B, 4; xor.b32 %r2, %r2, 128; "
    "or.b32 %C, %r1, %r2;",
    "subtracted": "add.s32 %r1, %A, -8; add.s32 %r2, %B, 24; bfi.b32 %C, %r2, %r1, 4, 4;",
}
FAULTS = [
    ("highest", "0x80000000", "0x40000000"),
    ("highest", "%r2, 24", "%r2, 25"),
    ("flipped", "136", "8"),
    ("flipped", "136", "137"),
    ("one added", "%A, 8", "%A, 4"),
    ("one added", "%A, 8", "%A, 9"),
    ("one added", "128", "64"),
    ("subtracted", "-8", "-9"),
    ("subtracted", "24", "16"),
    ("subtracted", "%r2, %r1, 4, 4", "%r1, %r2, 4, 4"),
]


@pytest.mark.parametrize("name", PACKED)
def test_nibbles_with_an_offset_are_packed(name: str) -> None:
    assert result_of(PACKED[name], FORMULA, ARRAYS).verdict == "verified"


@pytest.mark.parametrize(("name", "old", "new"), FAULTS)
def test_other_nibbles_are_refuted(name: str, old: str, new: str) -> None:
    assert old in PACKED[name]
    assert result_of(PACKED[name].replace(old, new), FORMULA, ARRAYS).verdict == "refuted"


@given(
    st.sampled_from([U8, U16, U32]),
    st.lists(st.tuples(st.integers(0, 7), st.integers(1, 8), st.integers(0, 300)), min_size=1, max_size=4),
    st.integers(0, 2**32 - 1),
)
def test_the_words_are_the_same(fmt: IntegerFormat, steps: list[tuple[int, int, int]], seed: int) -> None:
    store = TermStore()
    term = store.inputs("x", fmt, np.arange(16))

    def constant(value: int) -> Ids:
        return store.constants([value & (1 << fmt.bits) - 1], fmt.bits)

    for low, width, added in steps:
        total = apply(store, operations.ring(fmt.bits, 0, 2), term, constant(added))
        taken = bit_slices.extract(store, total, min(low, fmt.bits - width), width)
        if width < fmt.bits:
            rest = bit_slices.extract(store, term, width, fmt.bits - width)
            term = bit_slices.concatenate(store, [taken, rest])
    words = np.random.default_rng(seed).integers(0, 1 << fmt.bits, 16, dtype=np.uint64)
    old, new = (
        Assignment(store, {"x": words}).values(each) for each in (term, HalvedSums(store).values(term))
    )
    assert (old == new).all()


def test_words_are_looked_at_one_by_one() -> None:
    """Of sums in one array some have half of the range added, in words of their own widths."""
    store = TermStore()
    x = store.inputs("x", U32, np.arange(3))
    short = bit_slices.extract(store, x[:1], 0, 12)
    sums = [
        apply(store, operations.ring(12, 0, 2), short, store.constants([8], 12)),
        apply(store, operations.ring(32, 0, 2), x[1:2], store.constants([8], 32)),
        apply(store, operations.ring(32, 0, 2), x[2:], store.constants([9], 32)),
    ]
    low = np.concatenate([bit_slices.extract(store, each, 0, 4) for each in sums])
    made = HalvedSums(store).values(low)
    for term, kept in zip([*x[:2].tolist()], made.tolist(), strict=False):
        word = np.array([term], dtype=np.int32)
        top = bit_slices.extract(store, word, 3, 1)
        flipped = bit_slices.bitwise(store, 0xFF ^ A, top, top, top)
        parts = [bit_slices.extract(store, word, 0, 3), flipped]
        assert kept == bit_slices.concatenate(store, parts)[0]
    assert made[2] == low[2]
