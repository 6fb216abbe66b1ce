"""Lists of pieces mean the same bits for numbers as for data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.ptx.registers.bit_moves import moved, moving
from mmaproof.refinement.ptx.registers.values import Value, known
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.store import TermStore, bits
from mmaproof.spec.errors import UnsupportedError
from mmaproof.spec.word_algebra import Field, Fill, Pieces

WIDTHS = (16, 64)
WORDS = st.tuples(*(st.integers(0, (1 << width) - 1) for width in WIDTHS))


@st.composite
def pieces(draw: st.DrawFn) -> Pieces:
    """Draw pieces of 64 bits at most, some of them empty."""
    found: list[Field | Fill] = []
    left = 64
    for _ in range(draw(st.integers(1, 6))):
        source = draw(st.integers(0, 1))
        low = draw(st.integers(0, WIDTHS[source] - 1))
        width = draw(st.integers(0, min(left, WIDTHS[source] - low)))
        match draw(st.sampled_from(["field", "signed", "fill"])):
            case "signed" if width:
                total = draw(st.integers(width, left))
                found.append(Field(low, width, source, total))
                left -= total
            case "fill":
                found.append(Fill(draw(st.integers(0, (1 << width) - 1)), width))
                left -= width
            case _:
                found.append(Field(low, width, source))
                left -= width
    return found if left < 64 else [*found, Fill(1, 1)]


def _expected(parts: Pieces, words: tuple[int, ...]) -> tuple[int, int]:
    """Return a word as a string of bits says it, and its width."""
    text = ""
    for part in parts:
        if isinstance(part, Fill):
            text = format(part.value, f"0{part.width}b")[: part.width] + text
            continue
        source = format(words[part.source], f"0{WIDTHS[part.source]}b")[::-1]
        field = source[part.low : part.low + part.width][::-1]
        text = (field[0] * (part.extended - part.width) if part.extended else "") + field + text
    return int(text, 2), len(text)


def _data(store: TermStore, name: str, width: int) -> Value:
    terms = store.inputs(name, bits(width), np.arange(1))
    return Value(width, np.zeros(1, dtype=np.uint64), terms)


@given(pieces(), WORDS)
def test_pieces_of_numbers_and_of_data_are_the_same_bits(parts: Pieces, words: tuple[int, int]) -> None:
    store = TermStore()
    expected, width = _expected(parts, words)
    numbers = moved(store, parts, *(known([word], size) for word, size in zip(words, WIDTHS, strict=True)))
    assert (numbers.width, numbers.is_known, int(numbers.numbers[0])) == (width, True, expected)
    data = moved(store, parts, *(_data(store, name, size) for name, size in zip("ab", WIDTHS, strict=True)))
    assert data.width == width
    terms = data.as_terms(store)
    assert store.widths(terms).tolist() == [width]
    inputs = {name: np.array([word], dtype=np.uint64) for name, word in zip("ab", words, strict=True)}
    assert int(Assignment(store, inputs).values(terms)[0]) == expected


@given(st.lists(st.integers(0, 16), min_size=1, max_size=12), st.integers(0, 0xFFFF))
def test_threads_with_different_controls_have_different_pieces(amounts: list[int], word: int) -> None:
    rule = moving(lambda amount: [Fill(0, amount), Field(0, 16 - amount)], 1, "an amount")
    found = rule(TermStore(), [known([word] * len(amounts), 16), known(amounts, 32)])
    assert found.numbers.tolist() == [word << amount & 0xFFFF for amount in amounts]


def test_controls_that_are_data_are_refused_by_their_name() -> None:
    store = TermStore()
    rule = moving(lambda amount: [Fill(0, 16)], 1, "the amount of a shift")
    with pytest.raises(UnsupportedError, match=r"^the amount of a shift depends on data$"):
        rule(store, [known([1], 16), _data(store, "n", 32)])
