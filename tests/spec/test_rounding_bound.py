"""The bound of a sum's rounding error, against sums that are really evaluated and exact rationals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import exact_arithmetic as exact
import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.spec.algebra import Operand
from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import BF16, E4M3, F16, F32, F64, UE8M0, FloatFormat
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx.assembly import parse_mnemonic
from mmaproof.spec.ptx.choices import Choices
from mmaproof.spec.ptx.product import Matrices, product
from mmaproof.spec.ptx.resolution import multiplication
from mmaproof.spec.rounding import Rounding
from mmaproof.spec.rounding_bound import (
    error_bound,
    growth_after_rounding,
    rounding_bound,
    underflow_unit,
    unit_roundoff,
)

DIRECTIONS = list(Rounding)


def value(encoding: int, fmt: FloatFormat) -> Fraction | None:
    return fmt.exact(int(encoding))


def numbers(fmt: FloatFormat) -> st.SearchStrategy[int]:
    """Encodings of finite numbers, many of them small or close to a power of two."""
    scaled = st.builds(
        lambda sign, exponent, fraction: (
            sign * fmt.sign_mask | exponent << fmt.fraction_bits | fraction & ((1 << fmt.fraction_bits) - 1)
        ),
        st.integers(0, 1),
        st.integers(0, fmt.bias + 4),
        st.integers(0, 3) | st.integers(0, (1 << fmt.fraction_bits) - 1),
    )
    return scaled | st.integers(0, fmt.largest)


@given(st.integers(0, 40), st.sampled_from([F16, BF16, F32, F64]), st.sampled_from(DIRECTIONS))
def test_the_bound_is_what_the_steps_of_its_proof_give(
    roundings: int, fmt: FloatFormat, rounding: Rounding
) -> None:
    growth = Fraction(0)
    for _ in range(roundings):
        growth = growth_after_rounding(growth, unit_roundoff(fmt, rounding))
    bound = rounding_bound(roundings, fmt, rounding)
    for magnitude in (Fraction(0), Fraction(3, 7)):
        assert bound.of(magnitude) == error_bound(growth, roundings, magnitude, underflow_unit(fmt, rounding))


@given(st.sampled_from([F16, BF16, F32, E4M3]), st.sampled_from(DIRECTIONS), st.data())
def test_one_rounding_of_any_rational_is_within_its_bound(
    fmt: FloatFormat, rounding: Rounding, data: st.DataObject
) -> None:
    numerator = data.draw(st.integers(-(10**6), 10**6))
    number = Fraction(numerator, 977) * Fraction(2) ** data.draw(st.integers(fmt.quantum - 15, 0))
    rounded = value(exact.round_exact(number, fmt, rounding), fmt)
    if rounded is not None and abs(number) <= 240:
        assert abs(rounded - number) <= max(
            unit_roundoff(fmt, rounding) * abs(number), underflow_unit(fmt, rounding)
        )


def evaluated(
    terms: Sequence[Fraction], pick: Sequence[int], fmt: FloatFormat, rounding: Rounding
) -> tuple[Fraction | None, int]:
    """Add exact terms in an order that `pick` chooses; return the result, and the roundings on its path."""
    forest = [(term, 0) for term in terms]
    for choice in pick:
        left, right = forest.pop(choice % len(forest)), forest.pop()
        rounded = value(exact.round_exact(left[0] + right[0], fmt, rounding), fmt)
        if rounded is None:
            return None, 0
        forest.insert(choice % (len(forest) + 1), (rounded, 1 + max(left[1], right[1])))
    return forest[0]


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.tuples(numbers(F16), numbers(F16)), min_size=2, max_size=12),
    st.lists(st.integers(0, 99), min_size=11, max_size=11),
    st.sampled_from([F16, F32]),
    st.sampled_from(DIRECTIONS),
)
def test_products_added_in_any_order_are_within_the_bound(
    factors: list[tuple[int, int]], pick: list[int], fmt: FloatFormat, rounding: Rounding
) -> None:
    pairs = [(value(x, F16), value(y, F16)) for x, y in factors]
    terms = [x * y for x, y in pairs if x is not None and y is not None]
    if len(terms) < 2:
        return
    result, depth = evaluated(terms, pick[: len(terms) - 1], fmt, rounding)
    magnitude = sum(map(abs, terms), Fraction(0))
    bound = rounding_bound(len(terms) - 1, fmt, rounding, depth=depth or None, quantum=2 * F16.quantum)
    if result is not None and (1 + bound.relative) * magnitude + bound.absolute < 60000:
        assert abs(result - sum(terms)) <= bound.of(magnitude)
    assert (bound.absolute == 0) == (fmt == F32)


SPELLINGS = (
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e4m3.e5m2.f16",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_instructions_are_within_the_bound(spelling: str) -> None:
    form = multiplication(parse_mnemonic(spelling))
    rng = np.random.default_rng(5)

    def drawn(role: str) -> np.ndarray:  # type: ignore[type-arg]
        fmt = form.floats(form.format(role))
        near_one = (fmt.bias - 3 << fmt.fraction_bits, fmt.bias + 1 << fmt.fraction_bits)
        shape = form.matrix_shape(role)
        magnitude = rng.integers(*near_one, shape, dtype=np.uint64)
        magnitude |= rng.integers(0, 2, shape, dtype=np.uint64) << np.uint64(fmt.magnitude_bits)
        return (magnitude << np.uint64(fmt.padding_bits)).astype(fmt.storage)

    a, b, c = (drawn(role) for role in "abc")
    d = product(NumpyAlgebra(), form, Matrices(a, b, c), Choices())
    bound = rounding_bound(form.products, form.floats(form.d))
    worst = Fraction(0)
    for i, j in np.ndindex(d.shape):
        terms = [form.floats(form.c).exact(int(c[i, j]))]
        terms += [
            form.floats(form.a).exact(int(x)) * form.floats(form.b).exact(int(y))  # type: ignore[operator]
            for x, y in zip(a[i], b[:, j], strict=True)
        ]
        magnitude = sum(abs(term) for term in terms if term is not None)
        computed = value(d[i, j], form.floats(form.d))
        assert computed is not None
        error = abs(computed - sum(term for term in terms if term is not None))
        assert error <= bound.of(Fraction(magnitude))
        worst = max(worst, error)
    assert worst > 0


# -- no smaller bound, and none of its hypotheses left out


def test_a_rounding_less_is_too_few() -> None:
    one, lost = F16.bias << F16.fraction_bits, (F16.bias - F16.precision) << F16.fraction_bits
    alg, total = NumpyAlgebra(), np.array(one, dtype=np.uint16)
    term = Operand(np.array(lost, dtype=np.uint16), F16)
    for _ in range(2):
        total = alg.fused(F16, Rounding.NEAREST_EVEN, (), [Operand(total, F16), term])
    terms = [value(one, F16), value(lost, F16), value(lost, F16)]
    magnitude = sum((term for term in terms if term is not None), Fraction(0))
    error = abs(value(int(total), F16) - magnitude)  # type: ignore[operator]
    assert rounding_bound(1, F16, quantum=F16.quantum).of(magnitude) < error
    assert error <= rounding_bound(2, F16, quantum=F16.quantum).of(magnitude)


def test_products_that_underflow_need_the_absolute_part() -> None:
    smallest = Fraction(2) ** F16.quantum
    tiny = smallest * smallest
    assert value(exact.round_exact(tiny, F16, Rounding.NEAREST_EVEN), F16) == 0
    bound = rounding_bound(1, F16, quantum=2 * F16.quantum)
    assert bound.relative * tiny < tiny <= bound.of(tiny)
    assert bound.absolute > 0


def test_sums_of_numbers_of_the_format_do_not_underflow() -> None:
    for fmt in (F16, F32, F64):
        assert rounding_bound(9, fmt, quantum=fmt.quantum).absolute == 0
        assert rounding_bound(9, fmt, quantum=fmt.quantum - 1).absolute > 0


def test_a_sum_that_overflows_is_in_no_bound() -> None:
    largest = value(F16.largest, F16)
    assert largest is not None
    assert value(exact.round_exact(2 * largest, F16, Rounding.NEAREST_EVEN), F16) is None
    assert any("overflow" in hypothesis for hypothesis in rounding_bound(1, F16).hypotheses)


def test_a_shorter_path_has_a_smaller_bound() -> None:
    assert rounding_bound(15, F32, depth=4).relative < rounding_bound(15, F32).relative
    assert rounding_bound(0, F32).of(Fraction(1)) == 0


def test_the_bound_is_written_as_mathematics() -> None:
    text = str(rounding_bound(32, F32, quantum=-48))
    assert text == "|computed - exact| ≤ ((1 + 2^-24)^32 - 1)·S, about 1.91e-06·S, S = Σ |term|"
    assert "32·(1 + 2^-11)^32·2^-25" in str(rounding_bound(32, F16))
    assert "not less than S" in str(rounding_bound(10**4, F16))
    assert str(rounding_bound(0, F16)) == "|computed - exact| ≤ 0"


@pytest.mark.parametrize(
    ("roundings", "depth", "message"),
    [
        (-1, None, "roundings must be 0 or more, not -1"),
        (3, 4, "depth must be 1 to 3, the roundings, not 4"),
        (3, 0, "depth must be 1 to 3, the roundings, not 0"),
    ],
)
def test_counts_that_make_no_sense(roundings: int, depth: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rounding_bound(roundings, F32, depth=depth)


def test_a_format_without_subnormal_numbers_has_no_bound() -> None:
    with pytest.raises(InputError, match="ue8m0 has no subnormal numbers"):
        rounding_bound(1, UE8M0)
