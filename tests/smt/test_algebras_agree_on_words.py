"""Z3Algebra and NumpyAlgebra agree on registers, fields of words, masks and choices."""

from __future__ import annotations

import numpy as np
import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st
from symbolic_values import evaluated, numerals

from mmaproof.smt.z3_algebra import UninterpretedAlgebra, Z3Algebra, elementwise, variable
from mmaproof.spec.formats import (
    B1,
    BF16,
    E2M1,
    E3M2,
    F16,
    F32,
    F64,
    S4,
    S8,
    S16,
    S64,
    U4,
    U8,
    U16,
    U32,
    Format,
)
from mmaproof.spec.numpy_algebra import NumpyAlgebra

NUMPY, SYMBOLIC = NumpyAlgebra(), Z3Algebra()


@pytest.mark.parametrize("fmt", [S4, U8, BF16, F32, F64], ids=str)
@settings(max_examples=10, deadline=None)
@given(data=st.binary(min_size=32, max_size=32))
def test_registers(fmt: Format, data: bytes) -> None:
    image = np.frombuffer(data, dtype=np.uint8).reshape(2, 16)
    elements = SYMBOLIC.unpack(numerals(image, U8), fmt)
    assert elements.shape == (2, 128 // fmt.bits)
    assert evaluated(elements).tolist() == NUMPY.unpack(image, fmt).tolist()
    assert evaluated(SYMBOLIC.pack(elements, fmt)).tolist() == image.tolist()


FIELDS = [
    (B1, list(range(32)), U32),
    (U4, [0, 4, 8, 12, 16, 20, 24, 28], U32),
    (E3M2, [0, 8, 16, 24], U32),
    (E2M1, [2, 10, 18, 26], U32),
    (F16, [0, 16], U32),
    (F32, [0, 32], S64),
    (U8, [3], U16),
]


@pytest.mark.parametrize(("fmt", "positions", "word"), FIELDS, ids=str)
def test_fields_of_words(fmt: Format, positions: list[int], word: Format) -> None:
    fields = np.random.default_rng(13).integers(0, 2**fmt.bits, (5, len(positions)), dtype=np.uint64)
    fields = fields.astype(fmt.storage)
    words = NUMPY.assemble(fields, fmt, positions, word)
    assert (
        evaluated(SYMBOLIC.assemble(numerals(fields, fmt), fmt, positions, word)).tolist() == words.tolist()
    )
    for low in positions:
        extracted = SYMBOLIC.extract(numerals(words, word), low, fmt)
        assert evaluated(extracted).tolist() == NUMPY.extract(words, low, fmt).tolist()


@pytest.mark.parametrize(("fmt", "positions", "word"), FIELDS, ids=str)
def test_fields_and_words_come_back_as_the_identical_terms(
    fmt: Format, positions: list[int], word: Format
) -> None:
    fields = variable("field", (2, len(positions)), fmt)
    words = SYMBOLIC.assemble(fields, fmt, positions, word)
    back = np.stack([SYMBOLIC.extract(words, low, fmt) for low in positions], axis=-1)
    assert all(same.eq(term) for same, term in zip(back.flat, fields.flat, strict=True))
    image = variable("word", (3,), word)
    if len(positions) * fmt.bits == word.bits:
        fields = np.stack([SYMBOLIC.extract(image, low, fmt) for low in positions], axis=-1)
        words = SYMBOLIC.assemble(fields, fmt, positions, word)
        assert all(same.eq(term) for same, term in zip(words.flat, image, strict=True))


@pytest.mark.parametrize("alg", [Z3Algebra(), UninterpretedAlgebra()], ids=lambda alg: type(alg).__name__)
def test_an_arbitrary_function_has_its_arguments_in_order(alg: Z3Algebra) -> None:
    left, right, last = (
        variable("left", (3, 1, 40), S4),
        variable("right", (1, 2, 40), S8),
        variable("c", (), F32),
    )
    values = alg.arbitrary("open", [(left, S4), (right, S8), (last[None], F32)], F16)
    assert values.shape == (3, 2)
    for i, j in np.ndindex(3, 2):
        arguments = [*left[i, 0], *right[0, j], last[()]]
        term = values[i, j]
        assert term.size() == 16
        assert all(a.eq(b) for a, b in zip(term.children(), arguments, strict=True))
        assert term.decl().eq(values[0, 0].decl())
    swapped = alg.arbitrary("open", [(right, S8), (left, S4), (last[None], F32)], F16)
    assert swapped[0, 0].decl().name() != values[0, 0].decl().name()


@given(immediate=st.integers(0, 255), count=st.integers(1, 8))
def test_flags(immediate: int, count: int) -> None:
    expected = NUMPY.flags(immediate, count).tolist()
    assert evaluated(SYMBOLIC.flags(immediate, count)).tolist() == expected
    assert evaluated(SYMBOLIC.flags(z3.BitVecVal(immediate, 8), count)).tolist() == expected
    several = numerals(np.array([immediate, 255]), U8)
    assert evaluated(SYMBOLIC.flags(several, count)).tolist() == [expected, [True] * count]


@pytest.mark.parametrize("count", [1, 31, 32, 133])
def test_functions_of_any_number_of_operands_broadcast(count: int) -> None:
    operands = [np.full((2, 1), 1), *[np.arange(3) * (place % 5) for place in range(1, count)]]
    expected = sum(operands)
    found = elementwise(lambda *each: int(sum(each)), *operands)
    assert found.dtype == object
    assert found.tolist() == np.asarray(expected).tolist()


def test_choices_broadcast() -> None:
    condition, column = NUMPY.flags(0b10, 2), np.array([[1], [2]], dtype=np.uint8)
    expected = NUMPY.where(condition, column, NUMPY.constant(9, U8)).tolist()
    undecided = SYMBOLIC.flags(z3.BitVecVal(0b10, 2), 2)
    for conditions in (SYMBOLIC.flags(0b10, 2), undecided, condition):
        chosen = SYMBOLIC.where(conditions, numerals(column, U8), SYMBOLIC.constant(9, U8))
        assert evaluated(chosen).tolist() == expected
    whole = SYMBOLIC.where(undecided, SYMBOLIC.whole(-200), SYMBOLIC.whole(2))
    assert evaluated(SYMBOLIC.wrap(whole, S16)).tolist() == [2**16 - 200, 2]
