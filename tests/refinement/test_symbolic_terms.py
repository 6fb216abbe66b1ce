"""Integers that depend on symbols against the integers themselves, modulo powers of two."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.sizes.integer_forms import Group, Symbols, divided
from mmaproof.refinement.sizes.symbolic_integers import INTEGER
from mmaproof.refinement.sizes.symbolic_terms import SymbolicTerms
from mmaproof.refinement.terms import bit_slices, operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import CONSTANT, TermStore

LAST_N, LAST_U = 40, 25
POINTS = [(n, u) for n in range(LAST_N + 1) for u in range(min(LAST_U, n) + 1)]
"""The domain: 0 ≤ n ≤ 40, 0 ≤ u ≤ 25, u ≤ n."""

CORNERS = ((0.0, 0.0), (40.0, 0.0), (40.0, 25.0), (25.0, 25.0))

Words = Callable[[TermStore, list[Ids]], Ids]


def _two(name: str, operation: operations.Operation) -> tuple[str, int, Words]:
    return name, 2, lambda store, words: apply(store, operation, *words[:2])


def _steps(width: int) -> list[tuple[str, int, Words]]:
    """Return operations on words of a width: name, how many words, and what makes the result."""
    signed, unsigned = operations.signed(width), operations.unsigned(width)
    truth = [operations.compare(fmt, name) for fmt in (signed, unsigned) for name in ("lt", "ge", "eq")]
    return [
        _two("sum", operations.ring(width, 0, 2)),
        _two("product", operations.ring(width, 1, 0)),
        _two("least", operations.extremum(signed, "min")),
        _two("greatest", operations.extremum(unsigned, "max")),
        *(
            (
                str(each),
                2,
                lambda store, w, o=each: bit_slices.zero_extend(store, apply(store, o, *w[:2]), width),
            )
            for each in truth
        ),
        ("shifted up", 1, lambda store, words: bit_slices.shift_left(store, words[0], 3)),
        (
            "shifted down",
            1,
            lambda store, words: bit_slices.zero_extend(
                store, bit_slices.extract(store, words[0], 4, width - 4), width
            ),
        ),
        (
            "sign",
            1,
            lambda store, words: bit_slices.sign_extend(
                store, bit_slices.extract(store, words[0], width - 1, 1), width
            ),
        ),
        (
            "low bits",
            1,
            lambda store, words: bit_slices.zero_extend(
                store, bit_slices.extract(store, words[0], 0, 5), width
            ),
        ),
        (
            "sign of 16 bits",
            1,
            lambda store, words: bit_slices.sign_extend(
                store, bit_slices.extract(store, words[0], 0, 16), width
            ),
        ),
        (
            "negated",
            1,
            lambda store, words: apply(store, operations.negate(operations.bits(width)), words[0]),
        ),
        ("not", 1, lambda store, words: bit_slices.bitwise(store, 0x0F, words[0], words[0], words[0])),
        (
            "not, as an xor with ones",
            1,
            lambda store, words: bit_slices.bitwise(
                store, 0xF0 ^ 0xCC, words[0], store.constants(2**width - 1, width), words[0]
            ),
        ),
        ("xor", 2, lambda store, words: bit_slices.bitwise(store, 0xF0 ^ 0xCC, *words[:2], words[0])),
        ("or", 2, lambda store, words: bit_slices.bitwise(store, 0xF0 | 0xCC, *words[:2], words[0])),
        *(
            (
                f"table {table:#x} with {number:#x}",
                2,
                lambda store, words, t=table, n=number: bit_slices.bitwise(
                    store, t, words[0], store.constants(n % 2**width, width), words[1]
                ),
            )
            for table, number in product((0xF0 | 0xCC, 0xF0 & 0xCC, 0x0F & 0xCC, 0x96, 0x1B), (5, 127, -128))
        ),
        (
            "rest",
            1,
            lambda store, words: store.apply(
                operations.function("rem", unsigned, unsigned, unsigned), words[0], store.constants(48, width)
            ),
        ),
    ]


@pytest.mark.parametrize("width", [32, 64])
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_polynomials_are_the_integers_modulo_a_power_of_two(width: int, data: st.DataObject) -> None:
    symbols = Symbols([Group(("n", "u"), CORNERS)])
    symbolic, plain = SymbolicTerms(symbols), TermStore()
    small = st.integers(-200, 200)
    coefficient = small | st.integers(-(2**34), 2**34) | small.map(lambda each: 128 * each)
    rows = np.array(
        data.draw(st.lists(st.tuples(*[coefficient] * 3), min_size=2, max_size=3)), dtype=np.int64
    )
    known = [symbolic.integers(row[None], width) for row in rows]
    points = np.array(POINTS)
    values = [
        int(row[symbols.column()]) + points @ row[[symbols.column("n"), symbols.column("u")]] for row in rows
    ]
    numbers = [plain.constants(value.view(np.uint64) & np.uint64(2**width - 1), width) for value in values]
    for _ in range(data.draw(st.integers(1, 6))):
        _, count, compute = data.draw(st.sampled_from(_steps(width)))
        chosen = data.draw(st.lists(st.integers(0, len(known) - 1), min_size=count, max_size=count))
        known.append(compute(symbolic, [known[each] for each in chosen]))
        numbers.append(_constants(plain, compute(plain, [numbers[each] for each in chosen])))
    for term, expected in zip(known, numbers, strict=True):
        found, possible = symbolic.rows_of(term)
        if not possible.all():
            continue  # the symbols don't decide it: it is data
        (row,) = found
        own = int(row[0]) + points @ row[1:]
        assert (own.view(np.uint64) & np.uint64(2**width - 1) == plain.constant_values(expected)).all()


def _constants(store: TermStore, terms: Ids) -> Ids:
    if store.are(CONSTANT, terms).all():
        return terms
    return store.constants(Assignment(store, {}).values(terms), int(store.widths(terms[:1])[0]))


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.integers(-(2**30), 2**30), min_size=3, max_size=3), st.integers(1, 300))
def test_bounds_and_quotients_hold_at_every_point(row: list[int], divisor: int) -> None:
    symbols = Symbols([Group(("n", "u"), CORNERS)])
    rows = np.array([row], dtype=np.int64)
    points = np.array([(1, *point) for point in POINTS])
    values = points @ rows[0]
    (low,), (high,) = symbols.bounds(rows)
    assert low <= values.min() and values.max() <= high
    quotients, rests, known = divided(symbols, rows, divisor)
    if known.all():
        assert (points @ quotients[0] == values // divisor).all()
        assert (points @ rests[0] == values % divisor).all()


def test_elements_of_arrays_are_no_integers() -> None:
    store = SymbolicTerms(Symbols([Group(("n", "u"), CORNERS)]))
    rows = np.array([[0, 1, 0]], dtype=np.int64)
    element = store.elements_at("A", operations.signed(32), rows)
    assert not store.is_integer(element).any()
    total = apply(store, operations.ring(32, 0, 2), element, store.integers(rows, 32))
    assert not store.rows_of(total)[1].any()
    assert INTEGER not in ("A", "B")
