"""Fused dot-adds on single encodings in Python integers: the reference of `mmaproof.spec.dot_add`.

Written from the published description alone; encodings are read by `exact_arithmetic`. The second half
draws operands on which the alignment, the truncation and the final rounding all show.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import exact_arithmetic as exact
import numpy as np

from mmaproof.spec.dot_add_model import DotAddModel
from mmaproof.spec.formats import Bits, FloatFormat
from mmaproof.spec.rounding import Rounding

Column = tuple[Sequence[int], FloatFormat]
"""Encodings together with their format."""

LEAST_EXPONENT = -126
"""Exponent of a term that is zero."""


class Term(NamedTuple):
    """The number ``units * 2**quantum``, the exponent that aligns it, and its sign, also of a zero."""

    units: int
    quantum: int
    exponent: int
    negative: bool

    def times(self, other: Term) -> Term:
        return Term(
            self.units * other.units,
            self.quantum + other.quantum,
            self.exponent + other.exponent,
            self.negative != other.negative,
        )

    def as_factor(self) -> Term:
        """Return the term, a zero with the least exponent of all."""
        return self if self.units else self._replace(exponent=LEAST_EXPONENT)

    def truncated(self, quantum: int) -> int:
        """Return the number in units of ``2**quantum``, without what is below one."""
        magnitude, shift = abs(self.units), self.quantum - quantum
        magnitude = magnitude << shift if shift >= 0 else magnitude >> -shift
        return -magnitude if self.units < 0 else magnitude


@cache
def number(encoding: int, fmt: FloatFormat) -> exact.Number:
    return exact.decode(encoding, fmt)


@cache
def term(encoding: int, fmt: FloatFormat) -> Term:
    """Read a finite encoding: a subnormal and a zero have the least exponent of their format."""
    value = number(encoding, fmt).value
    least = exact.least_normal_exponent(fmt)
    exponent = max(exact.floor_log2(abs(value)), least) if value else least
    units = value / exact.power_of_two(exponent - fmt.fraction_bits)
    assert units.denominator == 1
    return Term(units.numerator, exponent - fmt.fraction_bits, exponent, number(encoding, fmt).negative)


def dot_add(
    result: FloatFormat,
    model: DotAddModel,
    left: Column,
    right: Column,
    addend: tuple[int, FloatFormat],
    scales: tuple[Column, Column] | None = None,
) -> int:
    """Return the encoding of one fused dot-add of K products and an addend."""
    factors = [left, right]
    for encodings, fmt in scales or ():
        times = len(left[0]) // len(encodings)
        factors.append(([e for e in encodings for _ in range(times)], fmt))
    products = [
        [(encoding, fmt) for encoding, (_, fmt) in zip(row, factors, strict=True)]
        for row in zip(*(encodings for encodings, _ in factors), strict=True)
    ]
    everything = [operand for product in products for operand in product] + [addend]
    if not all(number(*operand).finite for operand in everything):
        return non_finite(result, [*products, [addend]])
    starts = range(0, len(products), model.group)
    terms = [term(*addend), *(group_term(products[start : start + model.group]) for start in starts)]
    addend_term, *others = terms
    largest = max(t.exponent if t.units or model.zero_terms else LEAST_EXPONENT for t in others)
    largest = max(largest, addend_term.exponent if addend_term.units else LEAST_EXPONENT)
    unit = largest - model.fraction_bits
    total = sum(t.truncated(unit) for t in terms)
    if total == 0 and model.signed_zeros and all(t.negative for t in terms):
        return 1 << (result.bits - 1)
    rounded = round_units(total, unit, result, model)
    return 0 if model.positive_underflow and total and rounded == 1 << (result.bits - 1) else rounded


def group_term(products: Sequence[Sequence[exact.EncodedTerm]]) -> Term:
    """Multiply one product with its scale factors; of several, the exact sum at the scales' exponent."""
    (x, y, *scales), *_ = products
    if len(products) == 1:
        value = term(*x).as_factor().times(term(*y).as_factor())
    else:
        exact_products = [term(*a).times(term(*b)) for a, b, *_ in products]
        quantum = min(product.quantum for product in exact_products)
        total = sum(product.truncated(quantum) for product in exact_products)
        value = Term(total, quantum, 0, total < 0)
    for scale in scales:
        value = value.times(term(*scale).as_factor())
    return value


def non_finite(result: FloatFormat, products: Sequence[Sequence[exact.EncodedTerm]]) -> int:
    numbers = []
    for product in products:
        value = exact.Number(False, Fraction(1))
        for operand in product:
            value = exact.multiply(value, number(*operand))
        numbers.append(value)
    total = exact.add(numbers, Rounding.NEAREST_EVEN)
    sign = 1 << (result.bits - 1)
    if total.nan:
        return sign - 1
    assert total.magnitude is None
    return exact.overflow_encoding(result) | (sign if total.negative else 0)


def round_units(total: int, unit: int, result: FloatFormat, model: DotAddModel) -> int:
    """Round ``total * 2**unit``; what is too large is an infinity, an exact zero has no sign."""
    if total == 0:
        return 0
    kept = result.fraction_bits if model.result_fraction_bits is None else model.result_fraction_bits
    magnitude = abs(total)
    exponent = max(magnitude.bit_length() - 1 + unit, exact.least_normal_exponent(result))
    last_place = exponent - kept
    quotient, rest = divmod(magnitude << max(unit - last_place, 0), 1 << max(last_place - unit, 0))
    half = Fraction(rest, 1 << max(last_place - unit, 0)) - Fraction(1, 2)
    match model.rounding:
        case Rounding.NEAREST_EVEN:
            quotient += half > 0 or (half == 0 and quotient % 2)
        case Rounding.UPWARD:
            quotient += rest > 0 and total > 0
        case Rounding.DOWNWARD:
            quotient += rest > 0 and total < 0
    sign = 1 << (result.bits - 1) if total < 0 else 0
    units = quotient << (result.fraction_bits - kept)
    if units * exact.power_of_two(exponent - result.fraction_bits) > exact.largest(result):
        return sign | exact.overflow_encoding(result)
    return sign | exact.encode_units(units, exponent, result)


# -- operands worth trying


def finite(fmt: FloatFormat, bits: Bits) -> Bits:
    """Clear the top exponent bit of NaNs and infinities."""
    magnitude = (bits >> fmt.padding_bits) & ((1 << fmt.magnitude_bits) - 1)
    top = 1 << (fmt.magnitude_bits - 1 + fmt.padding_bits)
    return np.where(magnitude > fmt.largest, bits & ~fmt.storage.type(top), bits)


def factors(fmt: FloatFormat, rng: np.random.Generator, vectors: int, count: int) -> Bits:
    """Draw rows of encodings, each row of one kind.

    The kinds: any finite ones, ones near 1, a few large among small, subnormals and zeros, edges with
    NaNs and infinities (one in each row, or many).
    """
    shape = vectors, count
    size = vectors * count
    occupied = fmt.magnitude_bits + fmt.padding_bits + fmt.signed
    anything = rng.integers(0, 1 << occupied, shape, dtype=np.uint64).astype(fmt.storage)
    any_finite = finite(fmt, anything)
    exponent_mask = fmt.storage.type(((1 << fmt.exponent_bits) - 1) << (fmt.fraction_bits + fmt.padding_bits))
    one = fmt.storage.type(fmt.bias << (fmt.fraction_bits + fmt.padding_bits))
    near_one = (anything & ~exponent_mask) | one
    small = anything & ~exponent_mask
    mixed = np.where(rng.random(shape) < 0.3, any_finite, small)
    zeros = np.where(rng.random(shape) < 0.4, anything & fmt.storage.type(fmt.sign_mask), any_finite)
    edges = rng.choice(np.array(exact.edge_encodings(fmt), dtype=fmt.storage), size).reshape(shape)
    one_edge = np.where(np.arange(count) == rng.integers(0, count, (vectors, 1)), edges, near_one)
    finite_edges = finite(fmt, edges)
    kinds = [any_finite, near_one, mixed, small, zeros, one_edge, edges, finite_edges]
    weights = [0.25, 0.2, 0.15, 0.05, 0.1, 0.1, 0.05, 0.1]
    chosen = rng.choice(len(kinds), (vectors, 1), p=weights)
    return np.choose(chosen, kinds).astype(fmt.storage)


def cancelling(left: Bits, right: Bits, fmt: FloatFormat, rng: np.random.Generator) -> tuple[Bits, Bits]:
    """Make the second half of half of the rows the first half, permuted, negated, sometimes not quite."""
    count = left.shape[-1]
    half = count // 2
    order = rng.permutation(half)
    sign = fmt.storage.type(fmt.sign_mask)
    nudge = (rng.random((len(left), half)) < 0.15).astype(fmt.storage) << fmt.storage.type(fmt.padding_bits)
    rows = rng.random((len(left), 1)) < 0.5
    left, right = left.copy(), right.copy()
    opposed = (left[:, :half][:, order] ^ sign) ^ nudge
    left[:, half : 2 * half] = np.where(rows, opposed, left[:, half : 2 * half])
    right[:, half : 2 * half] = np.where(rows, right[:, :half][:, order], right[:, half : 2 * half])
    return left, right


def addends(fmt: FloatFormat, rng: np.random.Generator, vectors: int, low: int, high: int) -> Bits:
    """Draw addends: edges, anything, zeros, and numbers of exponents from `low` to `high`."""
    exponent = np.clip(rng.integers(low, high + 1, vectors), fmt.minimum_exponent, fmt.maximum_exponent)
    fraction = rng.integers(0, 1 << fmt.fraction_bits, vectors)
    fraction = np.where(rng.random(vectors) < 0.3, (1 << fmt.fraction_bits) - 1, fraction)
    sign = rng.integers(0, 2, vectors) * fmt.sign_mask
    near = ((exponent + fmt.bias) << fmt.fraction_bits | fraction | sign).astype(fmt.storage)
    anything = exact.random_encodings(fmt, rng, vectors)
    chosen = rng.choice(4, vectors, p=[0.6, 0.2, 0.1, 0.1])
    return np.choose(chosen, [near, finite(fmt, anything), anything, np.zeros_like(near)]).astype(fmt.storage)


def exponent_range(left: FloatFormat, right: FloatFormat) -> tuple[int, int]:
    """Return the exponents between which products of two formats lie."""
    return left.minimum_exponent + right.minimum_exponent, left.maximum_exponent + right.maximum_exponent
