"""Z3Algebra on numerals, NumpyAlgebra and exact rational arithmetic: the same bits from every operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import exact_arithmetic as exact
import numpy as np
import pytest
import z3
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from symbolic_values import evaluated, numerals

from mmaproof.smt.float_terms import SymbolicRounding
from mmaproof.smt.z3_algebra import Z3Algebra
from mmaproof.spec.algebra import Algebra, Array, Operand
from mmaproof.spec.errors import UnsupportedError
from mmaproof.spec.formats import (
    BF16,
    E2M1,
    E2M3,
    E3M2,
    E4M3,
    E5M2,
    F16,
    F32,
    F64,
    FORMATS,
    S4,
    S8,
    S16,
    S32,
    S64,
    TF32,
    U4,
    U8,
    U16,
    U32,
    UE4M3,
    UE8M0,
    FloatFormat,
    Format,
    IntegerFormat,
)
from mmaproof.spec.mfma.targets import E4M3FNUZ, E5M2FNUZ
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.power.rank_k_update import SIGNIFICAND_24
from mmaproof.spec.pto.choices import E8M11
from mmaproof.spec.ptx.block_scaling import SCALED
from mmaproof.spec.rounding import Rounding

NUMPY, SYMBOLIC = NumpyAlgebra(), Z3Algebra()
FLOATS = [*(fmt for fmt in FORMATS.values() if isinstance(fmt, FloatFormat)), SIGNIFICAND_24]
INTEGERS = [S4, U4, S8, U8, S16, U16, S32, U32]
FACTORS = [fmt for fmt in INTEGERS if fmt is not U32]  # int64 doesn't hold the product of two u32


def both(compute: Callable[..., Array], *operands: Operand) -> list[Any]:
    """Return what `compute(algebra, *operands)` gives in both algebras, which must be the same; as a list."""
    concrete: list[Any] = compute(NUMPY, *operands).tolist()
    symbolic = compute(SYMBOLIC, *(Operand(numerals(bits, fmt), fmt) for bits, fmt in operands))
    assert evaluated(symbolic).tolist() == concrete
    return concrete


# -- one rounding


def check(
    result: FloatFormat, products: Sequence[tuple[Operand, Operand]], addends: Sequence[Operand]
) -> None:
    """Compare `fused` in both algebras with exact arithmetic, on every element and in every direction."""
    operands = [factor for product in products for factor in product] + list(addends)

    def compute(alg: Algebra, *operands: Operand) -> Array:
        factors, rest = operands[: 2 * len(products)], operands[2 * len(products) :]
        pairs = list(zip(factors[::2], factors[1::2], strict=True))
        return np.stack([alg.fused(result, rounding, pairs, rest) for rounding in Rounding], axis=-1)

    columns = [[(bits, operand.format) for bits in operand.bits.tolist()] for operand in operands]
    split = 2 * len(products)
    expected = [
        exact.fused_in_every_direction(
            result, list(zip(terms[:split:2], terms[1:split:2], strict=True)), terms[split:]
        )
        for terms in zip(*columns, strict=True)
    ]
    assert both(compute, *operands) == expected


# result, x, y, addend: the instructions' own, and each narrow format as an operand
MULTIPLY_ADDS = [
    (F16, F16, F16, F16),
    (F32, F32, F32, F32),
    (F64, F64, F64, F64),
    (F32, F16, F16, F32),
    (F32, BF16, BF16, F32),
    (F32, BF16, BF16, SIGNIFICAND_24),
    (SIGNIFICAND_24, BF16, BF16, SIGNIFICAND_24),
    (F64, F32, BF16, F64),
    (F32, TF32, TF32, F32),
    (F32, E4M3, E5M2, F32),
    (F16, E5M2, E4M3, F16),
    (F32, E3M2, E2M3, F32),
    (F16, E2M1, E2M1, F16),
    (F32, UE8M0, UE4M3, F32),
    (F16, F32, E2M1, TF32),
    (F16, BF16, F16, F32),
    (BF16, F16, E5M2, F32),
]


@pytest.mark.parametrize("formats", MULTIPLY_ADDS, ids=lambda f: "-".join(map(str, f)))
def test_fused_multiply_add(formats: tuple[FloatFormat, ...]) -> None:
    result, x, y, a = formats
    rng = np.random.default_rng(7)
    met = exact.fused_operands(x, y, a, result, rng=rng, count=80)
    drawn = [exact.random_encodings(fmt, rng, 30) for fmt in (x, y, a)]
    of_x, of_y, of_a = (
        Operand(np.concatenate(pair), fmt) for *pair, fmt in zip(met, drawn, (x, y, a), strict=True)
    )
    check(result, [(of_x, of_y)], [of_a])


def edge_pairs(left: FloatFormat, right: FloatFormat, step: int) -> tuple[Operand, Operand]:
    """Return every `step`-th edge (a different one in each row) of one format with those of another."""
    grids = np.meshgrid(
        np.array(exact.edge_encodings(left), dtype=left.storage),
        np.array(exact.edge_encodings(right), dtype=right.storage),
        indexing="ij",
    )
    chosen = np.add.outer(*(np.arange(extent) for extent in grids[0].shape)) % step == 0
    return Operand(grids[0][chosen], left), Operand(grids[1][chosen], right)


EDGES = [(F16, F16), (F32, F32), (F64, F64), (F32, BF16), (F32, E4M3), (F16, E5M2), (F32, UE8M0), (F32, E2M1)]


@pytest.mark.parametrize("formats", EDGES, ids=lambda f: "-".join(map(str, f)))
def test_products_and_sums_of_edges(formats: tuple[FloatFormat, FloatFormat]) -> None:
    result, fmt = formats
    left, right = edge_pairs(fmt, fmt, 31)
    check(result, [(left, right)], [])
    check(result, [], [left, right])


@pytest.mark.parametrize(
    ("result", "fmt"), [(F32, BF16), (F32, F16), (F16, F16), (F32, E4M3), (SIGNIFICAND_24, BF16)], ids=str
)
def test_sum_of_two_products(result: FloatFormat, fmt: FloatFormat) -> None:
    rng = np.random.default_rng(8)
    x, y, _ = exact.fused_operands(fmt, fmt, result, result, rng=rng, count=80)
    other = np.where(rng.random(80) < 0.5, y ^ fmt.storage.type(fmt.sign_mask), rng.permutation(y))
    again = np.where(rng.random(80) < 0.5, x, rng.permutation(x))
    check(
        result,
        [(Operand(x, fmt), Operand(y, fmt)), (Operand(again, fmt), Operand(other, fmt))],
        [],
    )


@pytest.mark.parametrize(
    ("fmt", "result"),
    [
        *product(FLOATS, [F16, F32, F64, SIGNIFICAND_24]),
        *((fmt, BF16) for fmt in (F16, F32, E2M1, SIGNIFICAND_24)),
    ],
    ids=str,
)
def test_conversion(fmt: FloatFormat, result: FloatFormat) -> None:
    edges = np.array(exact.edge_encodings(fmt), dtype=fmt.storage)
    operand = Operand(np.concatenate([edges, exact.random_encodings(fmt, np.random.default_rng(9), 12)]), fmt)
    check(result, [], [operand])


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("result", "fmt", "scale"),
    [
        *((SCALED, fmt, UE8M0) for fmt in (E4M3, E5M2, E3M2, E2M3, E2M1)),
        (SCALED, E2M1, UE4M3),
        (BF16, E4M3, E2M1),
    ],
    ids=str,
)
def test_products_and_values_that_a_short_format_holds(
    result: FloatFormat, fmt: FloatFormat, scale: FloatFormat
) -> None:
    element, factor = edge_pairs(fmt, scale, 5)
    check(result, [(element, factor)], [])
    check(result, [], [element])


@pytest.mark.parametrize("fmt", [F64, SIGNIFICAND_24], ids=str)
def test_products_that_float64_may_not_hold_are_refused(fmt: FloatFormat) -> None:
    one = Operand(np.array([fmt.bias << fmt.fraction_bits], dtype=fmt.storage), fmt)
    symbolic = Operand(numerals(one.bits, fmt), fmt)
    for alg, factor in ((NUMPY, one), (SYMBOLIC, symbolic)):
        with pytest.raises(UnsupportedError, match="rounded to f32 is not supported"):
            alg.fused(F32, Rounding.UPWARD, [(factor, factor)])


@settings(max_examples=examples(40), deadline=None)
@given(data=st.data(), formats=st.sampled_from(MULTIPLY_ADDS))
def test_fused_multiply_add_of_any_encodings(data: st.DataObject, formats: tuple[FloatFormat, ...]) -> None:
    result, *rest = formats
    x, y, a = (
        Operand(
            np.array([data.draw(st.sampled_from(exact.edge_encodings(fmt)) | encodings(fmt))], fmt.storage),
            fmt,
        )
        for fmt in rest
    )
    check(result, [(x, y)], [a])


def encodings(fmt: FloatFormat) -> st.SearchStrategy[int]:
    return st.integers(0, (1 << (fmt.magnitude_bits + fmt.padding_bits + fmt.signed)) - 1)


@pytest.mark.parametrize("rounding", Rounding)
def test_a_symbolic_direction_is_the_direction_it_stands_for(rounding: Rounding) -> None:
    term = SymbolicRounding(z3.BitVecVal(rounding.value, 2))
    assert z3.simplify(term.mirrored.term).as_long() == rounding.mirrored.value
    left, right = edge_pairs(BF16, BF16, 37)
    operands = [Operand(numerals(part.bits, BF16), BF16) for part in (left, right)]
    for result in (F32, SIGNIFICAND_24):
        symbolic = SYMBOLIC.fused(result, term, [], operands)
        assert evaluated(symbolic).tolist() == NUMPY.fused(result, rounding, [], [left, right]).tolist()


@pytest.mark.parametrize(
    ("result", "factors", "addends"),
    [
        (F32, [], [F64, F64]),
        (F32, [F64, F64], []),
        (F64, [F64, F64, F64, F64], []),
        (F32, [F32, F32, F32, F32], [F32]),
        (UE4M3, [], [F32]),
        (UE8M0, [], [E5M2]),
    ],
)
def test_what_has_no_exact_term_is_refused(
    result: FloatFormat, factors: list[FloatFormat], addends: list[FloatFormat]
) -> None:
    operands = [Operand(numerals(np.array([1]), fmt), fmt) for fmt in factors]
    pairs = list(zip(operands[::2], operands[1::2], strict=True))
    with pytest.raises(UnsupportedError):
        SYMBOLIC.fused(
            result, Rounding.UPWARD, pairs, [Operand(numerals(np.array([1]), fmt), fmt) for fmt in addends]
        )


NARROW = [TF32, E8M11, E4M3, E5M2, E3M2, E2M3, E2M1, E4M3FNUZ, E5M2FNUZ]
"""Formats that no solver has, with signs and subnormal numbers."""


@pytest.mark.parametrize("fmt", NARROW, ids=str)
def test_numbers_are_rounded_to_narrow_formats(fmt: FloatFormat) -> None:
    """Between and next to the format's numbers, at ties, where it underflows and overflows, NaNs too."""
    rng = np.random.default_rng(3)
    edges = [number for e in exact.edge_encodings(fmt) if (number := fmt.exact(e)) is not None]
    quarter = 2.0 ** (fmt.quantum - 2)
    near = [float(number) + sign * quarter for number in edges[:6] for sign in (-2, -1, 0, 1, 2)]
    beyond = 2.0 ** (fmt.maximum_exponent - 1) * np.array([3.8, 3.9, 3.99])
    numbers = np.concatenate([near, beyond, -beyond, [0.0, -0.0, np.inf, -np.inf, np.nan]])
    numbers = np.concatenate([numbers, rng.standard_normal(6) * 2.0 ** rng.integers(fmt.quantum, 4, 6)])
    with np.errstate(over="ignore"):
        operand = Operand(numbers.astype(np.float32).view(np.uint32), F32)

    def rounded(alg: Algebra, x: Operand) -> Array:
        return np.stack([alg.fused(fmt, rounding, [], [x]) for rounding in Rounding], axis=-1)

    both(rounded, operand)


# -- signs, classes, NaNs


@pytest.mark.parametrize("fmt", FLOATS, ids=str)
def test_classes_and_signs(fmt: FloatFormat) -> None:
    drawn = exact.edge_encodings(fmt) + exact.random_encodings(fmt, np.random.default_rng(10), 20).tolist()
    operand = Operand(np.array(drawn, dtype=fmt.storage), fmt)
    numbers = [exact.decode(encoding, fmt) for encoding in drawn]
    assert both(lambda alg, x: alg.is_nan(x), operand) == [n.nan for n in numbers]
    assert both(lambda alg, x: alg.is_zero(x), operand) == [n.magnitude == 0 for n in numbers]
    assert both(lambda alg, x: alg.is_infinite(x), operand) == [not n.finite and not n.nan for n in numbers]
    negated = [e if n.nan else e ^ fmt.sign_mask for e, n in zip(drawn, numbers, strict=True)]
    assert both(lambda alg, x: alg.negate(x), operand) == negated


@pytest.mark.parametrize("fmt", FLOATS, ids=str)
def test_equality_of_edges_as_numbers(fmt: FloatFormat) -> None:
    left, right = edge_pairs(fmt, fmt, 11)
    pairs = list(zip(left.bits.tolist(), right.bits.tolist(), strict=True))
    numbers = [(exact.decode(a, fmt), exact.decode(b, fmt)) for a, b in pairs]
    expected = [
        (a.nan and b.nan)
        or (a.nan == b.nan and a.magnitude == b.magnitude and (a.negative == b.negative or a.magnitude == 0))
        for a, b in numbers
    ]
    assert True in expected and False in expected
    assert both(lambda alg, x, y: alg.ieee_equal(x, y), left, right) == expected
    assert both(lambda alg, x, y: alg.same(x.bits, y.bits), left, right) == [a == b for a, b in pairs]


@pytest.mark.parametrize(
    "formats",
    [
        (F32, F32, F32, F32),
        (F64, F64, F64, F64),
        (F32, F16, F32, F16),
        (F32, BF16, F32, BF16),
        (SIGNIFICAND_24, BF16, SIGNIFICAND_24, BF16),
        (F32, SIGNIFICAND_24, F32, F32),
        (F16, F32, F16, BF16),
    ],
    ids=lambda f: "-".join(map(str, f)),
)
def test_nan_propagation(formats: tuple[FloatFormat, ...]) -> None:
    rng = np.random.default_rng(11)

    def drawn(fmt: FloatFormat) -> Operand:
        nans = np.array([e for e in exact.edge_encodings(fmt) if exact.decode(e, fmt).nan], fmt.storage)
        payload = exact.random_encodings(fmt, rng, 200) & fmt.storage.type((1 << fmt.fraction_bits) - 1)
        nans = np.where(rng.random(200) < 0.5, rng.choice(nans, 200), rng.choice(nans, 200) | payload)
        return Operand(np.where(rng.random(200) < 0.5, nans, exact.random_encodings(fmt, rng, 200)), fmt)

    outcome, *operands = map(drawn, formats)
    bits = both(lambda alg, first, *rest: alg.propagate_nan(first, rest), outcome, *operands)
    for before, after in zip(outcome.bits.tolist(), bits, strict=True):
        result = formats[0]
        was_nan = exact.decode(before, result).nan
        assert exact.decode(after, result).nan if was_nan else after == before


# -- integers


@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_exact_integers(data: st.DataObject) -> None:
    x_format, y_format = data.draw(st.sampled_from(FACTORS)), data.draw(st.sampled_from(FACTORS))
    target = data.draw(st.sampled_from(INTEGERS))
    x, y, acc = (data.draw(near_ends(fmt)) for fmt in (x_format, y_format, S32))
    operands = [
        (np.array(value % 2**fmt.bits, dtype=fmt.storage), fmt)
        for value, fmt in ((x, x_format), (y, y_format), (acc, S32))
    ]
    total = x * y + acc

    def compute(alg: Algebra, read: Callable[[Array, Format], Array]) -> list[Array]:
        of_x, of_y, of_acc = (alg.integer(read(bits, fmt), fmt) for bits, fmt in operands)
        value = of_x * of_y + of_acc
        return [
            alg.wrap(value, target),
            alg.saturate(value, target),
            alg.in_range(value, target),
            alg.same(value - of_acc, of_y * of_x),
            alg.same(value, alg.whole(total)),
            alg.same(value, alg.whole(total + 1)),
        ]

    clamped = min(max(total, target.minimum), target.maximum)
    size = 2**target.bits
    expected = [total % size, clamped % size, clamped == total, True, True, False]
    assert [array.tolist() for array in compute(NUMPY, lambda bits, fmt: bits)] == expected
    assert [evaluated(array).tolist() for array in compute(SYMBOLIC, numerals)] == expected


def near_ends(fmt: IntegerFormat) -> st.SearchStrategy[int]:
    ends = {fmt.minimum, fmt.minimum + 1, -1, 0, 1, fmt.maximum - 1, fmt.maximum}
    inside = sorted(value for value in ends if fmt.minimum <= value <= fmt.maximum)
    return st.sampled_from(inside) | st.integers(fmt.minimum, fmt.maximum)


@pytest.mark.parametrize("target", [*INTEGERS, S64], ids=str)
def test_encodings_of_integers_beside_the_ends_of_a_format(target: IntegerFormat) -> None:
    values = {end + step for end in (target.minimum, 0, target.maximum) for step in (-1, 0, 1)}
    for value in sorted(v for v in values if -(2**63) <= v < 2**63):
        clamped = min(max(value, target.minimum), target.maximum)
        expected = [value % 2**target.bits, clamped % 2**target.bits, value == clamped]
        for alg, read in ((NUMPY, np.asarray), (SYMBOLIC, evaluated)):
            number = alg.whole(value)
            encoded = (alg.wrap(number, target), alg.saturate(number, target), alg.in_range(number, target))
            assert [read(array).tolist() for array in encoded] == expected


@pytest.mark.parametrize("axes", [(3,), (2, 3)], ids=str)
def test_integers_add_up_along_axes(axes: tuple[int, ...]) -> None:
    bits = np.random.default_rng(12).integers(0, 256, (*axes, 4), dtype=np.uint8)
    wide = IntegerFormat("s33", 33, signed=True)
    symbolic = SYMBOLIC.wrap(SYMBOLIC.integer(numerals(bits, S8), S8).sum(axis=-1), wide)
    assert evaluated(symbolic).tolist() == (bits.view(np.int8).sum(axis=-1) % 2**33).tolist()
