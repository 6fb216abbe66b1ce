"""Every exponent of a float where a condition holds is told; bounds of its magnitude leave out others."""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.analysis.exponents_on_path import possible_exponents
from mmaproof.refinement.terms import bit_slices, operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore
from mmaproof.refinement.terms.truth_tables import A, B
from mmaproof.spec.formats import BF16, F16, F32, F64, FloatFormat

CODES = np.arange(256, dtype=np.uint64)
RELATIONS = [relation + u for relation in ("lt", "le", "gt", "ge", "eq", "ne") for u in ("", "u")]
WORDS = st.one_of(
    st.integers(0, 2**32 - 1),
    st.sampled_from(
        [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0x007FFFFF, 0x00800000]
    ),
)


class Float:
    """A float of 32 bits, its exponent, and conditions on it."""

    def __init__(self, fmt: FloatFormat = F32) -> None:
        self.store, self.format = TermStore(), fmt
        self.x = self.store.inputs("x", fmt, np.arange(1))
        exponent = bit_slices.extract(self.store, self.x, fmt.fraction_bits, fmt.exponent_bits)
        self.exponent = bit_slices.zero_extend(self.store, exponent, 64)

    def magnitude(self, *, nan: bool) -> Ids:
        negated = apply(self.store, operations.negate(self.format), self.x)
        return apply(self.store, operations.extremum(self.format, "max", nan=nan), self.x, negated)

    def compared(self, relation: str, left: Ids, word: int) -> Ids:
        bound = self.store.constants([word], self.format.bits)
        return apply(self.store, operations.compare(self.format, relation), left, bound)

    def both(self, one: Ids, other: Ids, table: int) -> Ids:
        return bit_slices.bitwise(self.store, table, one, other, other)

    def possible(self, condition: Ids) -> list[int]:
        codes = np.arange(1 << self.format.exponent_bits, dtype=np.uint64)
        return np.flatnonzero(
            possible_exponents(self.store, int(condition[0]), int(self.exponent[0]), codes)
        ).tolist()


@settings(max_examples=examples(300))
@given(
    st.lists(
        st.tuples(st.sampled_from(RELATIONS), WORDS, st.sampled_from(["x", "number", "nan"])),
        min_size=2,
        max_size=2,
    ),
    st.integers(0, 255),
    st.lists(WORDS, min_size=1, max_size=20),
)
def test_what_has_an_exponent_that_is_not_told_fails_the_condition(
    atoms: list[tuple[str, int, str]], table: int, words: list[int]
) -> None:
    number = Float()
    sides = {"x": number.x, "number": number.magnitude(nan=False), "nan": number.magnitude(nan=True)}
    one, other = (number.compared(relation, sides[side], word) for relation, word, side in atoms)
    condition = number.both(one, other, table)
    possible = number.possible(condition)
    near = [word ^ low for _, bound, _ in atoms for word in (bound, bound ^ 1 << 31) for low in (0, 1)]
    for word in (*words, *near):
        holds = Assignment(number.store, {"x": np.array([word], dtype=np.uint32)}).values(condition)[0]
        assert not holds or (word >> 23 & 255) in possible


@pytest.mark.parametrize(("fmt", "bound"), [(F32, 105615.0), (F64, 105615.0), (F16, 1024.0), (BF16, 1024.0)])
def test_a_bound_of_the_magnitude_leaves_out_smaller_exponents(fmt: FloatFormat, bound: float) -> None:
    number = Float(fmt)
    last = (1 << fmt.exponent_bits) - 1
    word = {F32: 0x47CE4780, F64: 0x40F9C8F000000000, F16: 0x6400, BF16: 0x4480}[fmt]
    small = number.compared("ltu", number.magnitude(nan=True), word)
    infinite = number.compared("eq", number.magnitude(nan=True), last << fmt.fraction_bits)
    path = number.both(number.both(small, small, 0xFF ^ A), infinite, A & (0xFF ^ B))
    least = int(np.log2(bound)) + last // 2
    assert number.possible(path) == [*range(least, last)]
    assert number.possible(small)[-1] == last  # a NaN


def test_nothing_is_told_of_other_integers_and_conditions() -> None:
    number = Float()
    other = number.store.inputs("y", F32, np.arange(1))
    assert len(number.possible(number.compared("lt", other, 0))) == 256
    small = number.compared("lt", number.x, 0x3F800000)
    of_other = bit_slices.zero_extend(number.store, bit_slices.extract(number.store, other, 23, 8), 32)
    low = bit_slices.zero_extend(number.store, bit_slices.extract(number.store, number.x, 22, 8), 32)
    for integer in (of_other, low):
        assert possible_exponents(number.store, int(small[0]), int(integer[0]), CODES).all()
