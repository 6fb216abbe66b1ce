"""RingAlgebra: rationals are summed exactly, polynomials are what the semantics say for all numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import exact_arithmetic as exact
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.smt.ring_algebra import RingAlgebra, polynomial_variables
from mmaproof.spec.algebra import Array, Operand
from mmaproof.spec.dot_add_model import DotAddModel
from mmaproof.spec.errors import UnsupportedError
from mmaproof.spec.formats import BF16, E2M1, E4M3, F16, F32, F64, S8, S32, U8, UE8M0, FloatFormat
from mmaproof.spec.power.catalogue import UPDATES
from mmaproof.spec.power.choices import Choices
from mmaproof.spec.power.rank_k_update import Live, rank_k_update
from mmaproof.spec.rounding import Rounding

RING = RingAlgebra()
rationals = st.fractions(max_denominator=10**6)
SIGNS = {"": (1, 0), "pp": (1, 1), "pn": (1, -1), "np": (-1, 1), "nn": (-1, -1), "s": (1, 0), "spp": (1, 1)}


def array(*numbers: Fraction | int) -> Array:
    return np.array(numbers, dtype=object)


@given(st.lists(st.tuples(rationals, rationals), max_size=4), st.lists(rationals, min_size=1, max_size=3))
def test_a_fused_sum_is_the_sum(pairs: list[tuple[Fraction, Fraction]], addends: list[Fraction]) -> None:
    products = [(Operand(array(x), F16), Operand(array(y), F16)) for x, y in pairs]
    terms = [Operand(array(addend), F32) for addend in addends]
    expected = sum((x * y for x, y in pairs), sum(addends, Fraction(0)))
    assert RING.fused(F32, Rounding.DOWNWARD, products, terms).tolist() == [expected]


@pytest.mark.parametrize("fmt", [F16, BF16, F32, F64, E4M3, UE8M0], ids=str)
def test_constants_are_the_numbers_that_encodings_stand_for(fmt: FloatFormat) -> None:
    for encoding in exact.edge_encodings(fmt):
        number = exact.decode(encoding, fmt)
        if number.finite and not number.nan:
            assert RING.constant(encoding, fmt)[()] == number.value
        else:
            message = rf"^encoding {encoding:#x} of {fmt} is not a number$"
            with pytest.raises(UnsupportedError, match=message):
                RING.constant(encoding, fmt)


def live(rows: list[bool], columns: list[bool], products: list[bool]) -> Live:
    return Live(np.array(rows), np.array(columns), np.array(products))


def dot(update: str, x: Array, y: Array, acc: Array, masks: Live) -> list[list[Any]]:
    """The instruction as its formula: the masked, signed sum of products and accumulator."""
    of_products, of_acc = SIGNS[UPDATES[update].suffix]
    rows, columns = acc.shape
    return [
        [
            (
                of_products * sum(x[i, p] * y[j, p] for p in range(x.shape[1]) if masks.products[p])
                + of_acc * acc[i, j]
            )
            if masks.rows[i] and masks.columns[j]
            else 0
            for j in range(columns)
        ]
        for i in range(rows)
    ]


@pytest.mark.parametrize("mnemonic", UPDATES)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_every_rank_k_update_without_rounding_is_its_formula(mnemonic: str, data: st.DataObject) -> None:
    update = UPDATES[mnemonic]
    family = update.family
    columns, rank = family.columns, family.rank
    rows, kept, products = (
        data.draw(st.lists(st.booleans(), min_size=n, max_size=n)) for n in (4, columns, rank)
    )
    masks = live(rows, kept, products if rank > 1 else [True])  # one product has no PMSK
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))

    def drawn(*shape: int) -> Array:
        fractions = [Fraction(int(n), int(d)) for n, d in rng.integers(1, 1000, (int(np.prod(shape)), 2))]
        return np.array(fractions, dtype=object).reshape(shape) - Fraction(1, 2)

    x, y, acc = drawn(4, family.rank), drawn(family.columns, family.rank), drawn(4, family.columns)
    computed = rank_k_update(RING, update, x, y, acc, masks, Rounding.UPWARD, Choices())
    assert computed.tolist() == dot(mnemonic, x, y, acc, masks)


@pytest.mark.parametrize("mnemonic", ["xvi8ger4spp", "xvf16ger2nn", "xvf64gernp"])
def test_a_polynomial_is_the_formula_for_all_numbers(mnemonic: str) -> None:
    update = UPDATES[mnemonic]
    family = update.family
    shapes = {"x": (4, family.rank), "y": (family.columns, family.rank), "acc": (4, family.columns)}
    v = polynomial_variables(shapes)
    masks = live([True, False, True, True], [True] * family.columns, [True] * family.rank)
    computed = rank_k_update(RING, update, v["x"], v["y"], v["acc"], masks, None, Choices())
    assert computed.tolist() == dot(mnemonic, v["x"], v["y"], v["acc"], masks)
    assert computed[0, 0] != computed[0, 1]


def test_polynomial_variables_are_named_by_their_index() -> None:
    v = polynomial_variables({"x": (2, 1), "acc": ()})
    assert [[str(entry) for entry in row] for row in v["x"]] == [["x_0_0"], ["x_1_0"]]
    assert str(v["acc"][()]) == "acc"
    assert polynomial_variables({}) == {}


def test_rounding_wrapping_and_saturation_do_nothing() -> None:
    numbers = array(Fraction(1, 3), 2**40, -(2**40))
    for unchanged in (RING.wrap, RING.saturate, RING.integer):
        assert unchanged(numbers, S32).tolist() == numbers.tolist()
    assert RING.fused(F16, Rounding.UPWARD, [], [Operand(numbers, F64)]).tolist() == numbers.tolist()


def test_signs_and_classes() -> None:
    operand = Operand(array(0, Fraction(-1, 3)), F32)
    assert RING.negate(operand).tolist() == [0, Fraction(1, 3)]
    assert RING.is_zero(operand).tolist() == [True, False]
    assert RING.is_nan(operand).tolist() == RING.is_infinite(operand).tolist() == [False, False]
    assert RING.ieee_equal(operand, Operand(array(0, 0), F32)).tolist() == [True, False]
    assert RING.propagate_nan(operand, [operand]).tolist() == operand.bits.tolist()


def test_flags_and_choices() -> None:
    flags = RING.flags(0b101, 3)
    assert flags.tolist() == [True, False, True]
    assert RING.where(flags, array(1, 2, 3), RING.whole(0)).tolist() == [1, 0, 3]


def test_a_dot_add_is_the_exact_scaled_sum() -> None:
    rng = np.random.default_rng(6)
    x, y, c = (rng.integers(-9, 9, shape).astype(object) for shape in ((2, 1, 8), (1, 3, 8), (2, 3)))
    a, b = rng.integers(1, 9, (2, 1, 2)).astype(object), rng.integers(1, 9, (1, 3, 4)).astype(object)
    model = DotAddModel(3, Rounding.TOWARD_ZERO)
    operands = Operand(x, E2M1), Operand(y, E2M1), Operand(c, F32)
    assert RING.dot_add(F32, model, *operands).tolist() == ((x * y).sum(axis=-1) + c).tolist()
    scaled = (x * a.repeat(4, axis=-1) * y * b.repeat(2, axis=-1)).sum(axis=-1) + c
    scales = Operand(a, UE8M0), Operand(b, UE8M0)
    assert RING.dot_add(F32, model, *operands, scales).tolist() == scaled.tolist()


def test_what_needs_an_encoding_is_refused() -> None:
    for bytes_of in (RING.unpack, RING.pack):
        with pytest.raises(UnsupportedError, match=r"^a ring element has no bytes$"):
            bytes_of(array(1), U8)
    with pytest.raises(UnsupportedError, match=r"^a ring element has no bits$"):
        RING.extract(array(1), 0, U8)
    with pytest.raises(UnsupportedError, match=r"^a ring element has no bits$"):
        RING.assemble(array(1), U8, [0], S32)
    with pytest.raises(UnsupportedError, match=r"^an arbitrary function is no ring element$"):
        RING.arbitrary("open", [(array(1), U8)], U8)
    with pytest.raises(UnsupportedError, match=r"^a ring element has no range$"):
        RING.in_range(array(1), S8)
