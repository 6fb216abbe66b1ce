"""Words made of slices mean what the same operations on integers compute, and have one normal form."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.machine.memory import ByteLanes
from mmaproof.refinement.terms import bit_slices, operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import CONCATENATION, TermStore
from mmaproof.refinement.terms.traversal import leaves_of
from mmaproof.refinement.terms.truth_tables import A, B
from mmaproof.spec.formats import F16, S4, S8, U32

WORD = 32
ONES = (1 << WORD) - 1
MEMBERS = 12


class Words:
    """32-bit words of every make: whole elements, packed ones, constants, and mixtures of these."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.store = TermStore()
        self.inputs = {
            "W": random.integers(0, 1 << 32, MEMBERS, dtype=np.uint64),
            "H": random.integers(0, 1 << 16, 2 * MEMBERS, dtype=np.uint64),
            "B": random.integers(0, 1 << 8, 4 * MEMBERS, dtype=np.uint64),
            "N": random.integers(0, 1 << 4, 8 * MEMBERS, dtype=np.uint64),
        }
        store, index = self.store, np.arange(MEMBERS)
        self.made = [
            store.inputs("W", U32, index),
            self._packed("H", F16, 2),
            self._packed("B", S8, 4),
            self._packed("N", S4, 8),
            store.constants(random.integers(0, 1 << 32, MEMBERS, dtype=np.uint64), WORD),
            store.constants(np.full(MEMBERS, 0x0F0F00FF), WORD),
        ]
        self.made += [self._mixed(random), self._mixed(random)]
        for low in (4, 8, 16):  # fields alike in their widths alone
            upper = bit_slices.extract(store, self._mixed(random), low, WORD - low)
            lower = bit_slices.extract(store, self._mixed(random), 0, low)
            self.made.append(bit_slices.concatenate(store, [lower, upper]))
        for low in (8, 13):
            self.made.append(self._signed(random, low))
        self.made += [self._signed(random, 8), *self._computed(random)]

    def _packed(self, name: str, fmt: object, count: int) -> Ids:
        terms = self.store.inputs(name, fmt, np.arange(count * MEMBERS)).reshape(MEMBERS, count)  # type: ignore[arg-type]
        return bit_slices.concatenate(self.store, list(terms.T))

    def _mixed(self, random: np.random.Generator) -> Ids:
        return np.choose(random.integers(0, len(self.made), MEMBERS), self.made).astype(np.int32)

    def _signed(self, random: np.random.Generator, width: int) -> Ids:
        return bit_slices.sign_extend(
            self.store, bit_slices.extract(self.store, self._mixed(random), 3, width), WORD
        )

    def _computed(self, random: np.random.Generator) -> list[Ids]:
        """Return products and sums, some of which move bits and some of which do not."""
        store = self.store
        factors = store.constants(random.choice([1, 2, 256, 1 << 31, 3], MEMBERS), WORD)
        multiples = apply(store, operations.ring(WORD, 1, 0), self._mixed(random), factors)
        low = bit_slices.extract(store, self._mixed(random), 0, 16)
        places = random.choice([16, 20, 8], MEMBERS)
        high = [bit_slices.shift_left(store, self._mixed(random)[:1], int(place)) for place in places]
        low = bit_slices.zero_extend(store, low, WORD)
        total = apply(store, operations.ring(WORD, 0, 2), low, np.concatenate(high))
        both = apply(store, operations.ring(WORD, 1, 1), low, store.constants(65536, WORD), low)
        nibbles = store.inputs("N", S4, np.arange(4 * MEMBERS)).reshape(MEMBERS, 4)
        above = store.constants(random.choice([0x0, 0x8, 0x7, 0xF], MEMBERS), 4)
        packed = bit_slices.concatenate(store, [each for part in nibbles.T for each in (part, above)])
        spread = store.constants(random.choice([0xFEFEFEFF, 0x01010101, 0x12345678], MEMBERS), WORD)
        return [multiples, total, both, apply(store, operations.ring(WORD, 0, 2), packed, spread)]

    def values(self, terms: Ids) -> list[int]:
        return [int(value) for value in Assignment(self.store, self.inputs).values(terms)]


@cache
def made(seed: int) -> Words:
    """Return words, the same for the same seed."""
    return Words(seed)


SEEDS = st.integers(0, 30)
COMPUTED = 14
"""Words from here on are results of arithmetic."""
KIND = st.integers(0, COMPUTED + 3)


@given(SEEDS, KIND, st.integers(0, 31), st.integers(1, 32))
def test_fields(seed: int, kind: int, low: int, width: int) -> None:
    words = made(seed)
    width = min(width, WORD - low)
    word = words.made[kind]
    field = bit_slices.extract(words.store, word, low, width)
    assert words.values(field) == [value >> low & ((1 << width) - 1) for value in words.values(word)]
    rest = [
        bit_slices.extract(words.store, word, a, b)
        for a, b in ((0, low), (low + width, WORD - low - width))
        if b
    ]
    joined = [*rest[: low > 0], field, *rest[low > 0 :]]
    together = bit_slices.concatenate(words.store, joined)
    assert words.values(together) == words.values(word)
    assert kind >= COMPUTED or (together == word).all()


@given(SEEDS, KIND, st.integers(0, 40))
def test_shifts(seed: int, kind: int, amount: int) -> None:
    words = made(seed)
    word = words.made[kind]
    values = words.values(word)
    left = bit_slices.shift_left(words.store, word, amount)
    assert words.values(left) == [value << amount & ONES for value in values]
    down = min(amount, WORD - 1)
    high = bit_slices.extract(words.store, word, down, WORD - down)
    logical = bit_slices.zero_extend(words.store, high, WORD)
    assert words.values(logical) == [value >> down for value in values]
    arithmetic = bit_slices.sign_extend(words.store, high, WORD)
    signed = [value - (value >> 31 << 32) for value in values]
    assert words.values(arithmetic) == [value >> amount & ONES for value in signed]


@given(SEEDS, st.tuples(KIND, KIND, KIND), st.integers(0, 255))
def test_truth_tables(seed: int, kinds: tuple[int, int, int], table: int) -> None:
    words = made(seed)
    given_words = [words.made[kind] for kind in kinds]
    result = bit_slices.bitwise(words.store, table, *given_words)
    expected = []
    for row in zip(*(words.values(word) for word in given_words), strict=True):
        bits = (
            (table >> sum((value >> i & 1) << (2 - j) for j, value in enumerate(row)) & 1) << i
            for i in range(WORD)
        )
        expected.append(sum(bits))
    assert words.values(result) == expected


@pytest.mark.parametrize(
    "same",
    [
        lambda s, w: bit_slices.bitwise(s, A & B, w, w, w),
        lambda s, w: bit_slices.bitwise(s, A | B, w, s.constants(np.zeros(MEMBERS), WORD), w),
        lambda s, w: bit_slices.bitwise(
            s,
            A | B,
            bit_slices.shift_left(s, bit_slices.zero_extend(s, bit_slices.extract(s, w, 16, 16), WORD), 16),
            bit_slices.zero_extend(s, bit_slices.extract(s, w, 0, 16), WORD),
            w,
        ),
        lambda s, w: bit_slices.concatenate(s, [bit_slices.extract(s, w, 4 * i, 4) for i in range(8)]),
    ],
    ids=["and itself", "or zero", "halves put together", "nibbles put together"],
)
def test_what_moves_bits_back_is_the_identical_term(same: Callable[[TermStore, Ids], Ids]) -> None:
    words = made(0)
    for word in words.made[:COMPUTED]:
        assert (same(words.store, word) == word).all()


@given(SEEDS, KIND, st.integers(0, 6), st.sampled_from([1, 2, 4]))
def test_memory_gives_back_what_its_bytes_say(seed: int, kind: int, offset: int, size: int) -> None:
    words = made(seed)
    lanes, offsets = ByteLanes(words.store, 8 * MEMBERS), 8 * np.arange(MEMBERS)
    word = words.made[kind]
    lanes.write(offsets, word)
    lanes.write(offsets + 4, words.made[(kind + 1) % len(words.made)])
    start = min(offset, 8 - size)
    assert lanes.written(offsets + start, size).all()
    read = lanes.read(offsets + start, size)
    both = [
        low | high << 32
        for low, high in zip(
            words.values(word), words.values(words.made[(kind + 1) % len(words.made)]), strict=True
        )
    ]
    assert words.values(read) == [value >> 8 * start & ((1 << 8 * size) - 1) for value in both]
    assert (lanes.read(offsets, 4) == word).all()


@settings(max_examples=30)
@given(SEEDS, st.tuples(KIND, KIND, KIND), st.integers(0, 255))
def test_words_do_not_depend_on_what_they_are_computed_with(
    seed: int, kinds: tuple[int, int, int], table: int
) -> None:
    words = made(seed)
    given_words = [words.made[kind] for kind in kinds]
    together = bit_slices.bitwise(words.store, table, *given_words)
    alone = [
        bit_slices.bitwise(words.store, table, *(w[i : i + 1] for w in given_words)) for i in range(MEMBERS)
    ]
    assert (together == np.concatenate(alone)).all()


@given(SEEDS, KIND, st.integers(0, 31), st.integers(1, 32))
def test_a_field_has_the_width_that_it_is_given(seed: int, kind: int, low: int, width: int) -> None:
    words = made(seed)
    width = min(width, WORD - low)
    field = bit_slices.extract(words.store, words.made[kind], low, width)
    assert (words.store.widths(field) == width).all()


def test_a_byte_of_a_packed_word_is_kept_as_the_element_it_belongs_to() -> None:
    words = made(0)
    lanes = ByteLanes(words.store, 4)
    lanes.write(np.array([0]), words.made[1][:1])
    assert not words.store.are(CONCATENATION, lanes.terms).any()


def test_packed_numbers_that_are_subtracted_at_once_are_apart() -> None:
    """What ``__vsub4`` compiles to, of bytes below 128: bytes of the difference are apart."""
    store = TermStore()
    nibbles = store.inputs("N", S4, np.arange(4)).reshape(1, 4)
    guarded = store.constants(np.array([8]), 4)
    packed = bit_slices.concatenate(store, [each for part in nibbles.T for each in (part, guarded)])
    less = apply(store, operations.ring(WORD, 0, 2), packed, store.constants(0xFEFEFEFF, WORD))
    for byte in range(4):
        found = bit_slices.extract(store, less, 8 * byte, 8)
        assert np.intersect1d(leaves_of(store, found), nibbles).tolist() == [int(nibbles[0, byte])]


def test_sums_of_sums_are_taken_apart_in_steps_as_many_as_there_are_sums() -> None:
    """Not twice as many for each sum: a word of a long dot product is read back in no time."""
    store = TermStore()
    total = store.constants([0], 64)
    for index in range(16):
        factors = [bit_slices.sign_extend(store, store.inputs(name, S8, [index]), 64) for name in ("A", "B")]
        product = apply(store, operations.ring(64, 1, 0), *factors)
        total = apply(store, operations.ring(64, 0, 2), total, product)
    with patch.object(bit_slices, "taken_apart", wraps=bit_slices.taken_apart) as steps:
        bit_slices.extract(store, total, 0, 32)
    assert steps.call_count < 100
