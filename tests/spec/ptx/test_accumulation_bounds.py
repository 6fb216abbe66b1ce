"""The proved error bounds against the numpy models, on random operands and on those that lose most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import dot_add_reference as drawn
import numpy as np
import pytest

from mmaproof.spec.algebra import Operand
from mmaproof.spec.dot_add_bound import TruncatedTerms, step_bound, truncated_terms
from mmaproof.spec.dot_add_model import DotAddModel
from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import BF16, F16, F32, FloatFormat
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx.accumulation import float_sum
from mmaproof.spec.ptx.accumulation_bound import accumulation_bound, error_bounds
from mmaproof.spec.ptx.assembly import parse
from mmaproof.spec.ptx.choices import PRESETS, Choices
from mmaproof.spec.ptx.mma_forms import DENSE_FORMS
from mmaproof.spec.ptx.resolution import Multiplication, multiplication
from mmaproof.spec.ptx.sparse_mma_forms import SPARSE_FORMS
from mmaproof.spec.rounding import Rounding

VECTORS = 40


@cache
def number(encoding: int, fmt: FloatFormat) -> Fraction | None:
    return fmt.exact(encoding)


@cache
def size(encoding: int, fmt: FloatFormat) -> Fraction:
    """Return a magnitude, of a subnormal number the least normal one."""
    value = number(encoding, fmt)
    assert value is not None
    return max(abs(value), Fraction(2) ** fmt.minimum_exponent) if value else Fraction(0)


class Operands(NamedTuple):
    """Rows of factors, addends, and scale factors."""

    x: Operand
    y: Operand
    c: Operand
    scales: tuple[Operand, Operand] | None

    def exact(self, row: int) -> tuple[Fraction, Fraction] | None:
        """Return the exact sum, and the sum of the terms' magnitudes; None if one is not finite."""
        total, c = Fraction(0), number(int(self.c.bits[row]), self.c.format)
        if c is None:
            return None
        total, magnitude = c, abs(c)
        factors = [self.x, self.y, *(self.scales or ())]
        count = self.x.bits.shape[-1]
        columns = [np.repeat(o.bits[row], count // o.bits.shape[-1]).tolist() for o in factors]
        formats = [o.format for o in factors]
        for encodings in zip(*columns, strict=True):
            product = size_of_product = Fraction(1)
            for encoding, fmt in zip(encodings, formats, strict=True):
                if (value := number(encoding, fmt)) is None:
                    return None
                product *= value
                size_of_product *= size(encoding, fmt)
            total += product
            magnitude += size_of_product
        return total, magnitude


def instructions() -> dict[str, tuple[Multiplication, Choices]]:
    """Return the float instructions, once for each k and types, by every choice that has a bound."""
    found: dict[str, tuple[Multiplication, Choices]] = {}
    for form in (*DENSE_FORMS, *SPARSE_FORMS):
        for variant in form.variants():
            each = multiplication(variant)
            if each.is_integer or each.is_double:
                continue
            kinds = [fmt for fmt in (each.a, each.b) if fmt.bits < 16]
            if len(kinds) == 2 and kinds[0] != kinds[1]:
                continue  # of mixed narrow types, which differ in nothing else, the equal pairs will do
            for name, choices in PRESETS.items():
                try:
                    if accumulation_bound(each, choices) is None:
                        continue
                except InputError:
                    continue
                scale = () if each.block_scale is None else (each.block_scale.vector, each.block_scale.format)
                types = f"{each.a}-{each.b}-{each.c}-{each.d}"
                found.setdefault(f"{name}/{types}/k{each.products}/{scale}", (each, choices))
    return found


KNOWN = instructions()


def random_operands(each: Multiplication, rng: np.random.Generator) -> Operands:
    a, b, c = (each.floats(each.format(role)) for role in "abc")
    x, y = (drawn.factors(fmt, rng, VECTORS, each.products) for fmt in (a, b))
    if a == b:
        x, y = drawn.cancelling(x, y, a, rng)
    addend = drawn.addends(c, rng, VECTORS, *drawn.exponent_range(a, b))
    scales = None
    if (block_scale := each.block_scale) is not None:
        fmt = block_scale.format
        near = rng.integers(-3, 4, (2, VECTORS, block_scale.vector)) + (fmt.bias << fmt.fraction_bits)
        some = rng.integers(0, fmt.largest + 1, near.shape)
        bits = np.where(rng.random((1, VECTORS, 1)) < 0.7, near, some).astype(fmt.storage)
        scales = Operand(bits[0], fmt), Operand(bits[1], fmt)
    return Operands(Operand(x, a), Operand(y, b), Operand(addend, c), scales)


def losing_operands(each: Multiplication, fraction_bits: int) -> Operands:
    """Return terms of which one aligns the others, and each of these is just below the last aligned place.

    Row i has the others i places lower than 1; C, or the first product, is 1.
    """
    a, b, c = (each.floats(each.format(role)) for role in "abc")
    rows = range(fraction_bits - 6, fraction_bits + 7)
    x, y = (np.zeros((2 * len(rows), each.products), dtype=fmt.storage) for fmt in (a, b))
    addend = np.zeros(2 * len(rows), dtype=c.storage)
    for row, places in enumerate([*rows, *rows]):
        low = max(-places // 2, a.minimum_exponent), max(places // 2 - places, b.minimum_exponent)
        for matrix, fmt, exponent in zip((x, y), (a, b), low, strict=True):
            most = (exponent + fmt.bias + 1 << fmt.fraction_bits) - 1
            matrix[row] = most << fmt.padding_bits
        if row < len(rows):
            addend[row] = c.bias << c.fraction_bits
        else:
            x[row, 0], y[row, 0] = ((f.bias << f.fraction_bits) << f.padding_bits for f in (a, b))
    scales = None
    if (block_scale := each.block_scale) is not None:
        fmt = block_scale.format
        ones = np.full((len(x), block_scale.vector), fmt.bias << fmt.fraction_bits, dtype=fmt.storage)
        scales = Operand(ones, fmt), Operand(ones, fmt)
    return Operands(Operand(x, a), Operand(y, b), Operand(addend, c), scales)


def excesses(
    each: Multiplication, choices: Choices, operands: Operands, relative: Fraction, absolute: Fraction
) -> Iterator[Fraction]:
    """Yield the error less the bound of every row that has a finite result."""
    x, y, c, scales = operands
    d = each.floats(each.d)
    computed = float_sum(NumpyAlgebra(), each, x, y, c, scales, choices)
    for row, encoding in enumerate(np.asarray(computed).tolist()):
        value, sums = number(encoding, d), operands.exact(row)
        if value is not None and sums is not None:
            yield abs(value - sums[0]) - relative * sums[1] - absolute


@pytest.mark.parametrize("name", KNOWN)
def test_no_model_errs_by_more_than_its_bound(name: str) -> None:
    each, choices = KNOWN[name]
    bound = accumulation_bound(each, choices)
    assert bound is not None
    rng = np.random.default_rng(list(KNOWN).index(name))
    tried = [random_operands(each, rng), *(losing_operands(each, bits) for bits in (13, 24, 35))]
    found = [
        excess
        for operands in tried
        for excess in excesses(each, choices, operands, bound.relative, bound.absolute)
    ]
    assert len(found) > 30
    assert max(found) <= 0


HOPPER, VOLTA = (
    next(each for name, (each, _) in KNOWN.items() if name.startswith(start))
    for start in ("hopper/f16-f16-f32-f32/k16", "volta/f16-f16-f32-f32/k4")
)


@pytest.mark.parametrize(("each", "architecture", "bits"), [(HOPPER, "hopper", 25), (VOLTA, "volta", 23)])
def test_the_bound_is_nearly_attained(each: Multiplication, architecture: str, bits: int) -> None:
    choices = PRESETS[architecture]
    bound = accumulation_bound(each, choices)
    assert bound is not None
    found = list(excesses(each, choices, losing_operands(each, bits), bound.relative / 2, bound.absolute))
    assert max(found) > 0


def test_a_bound_of_fewer_terms_is_exceeded(monkeypatch: pytest.MonkeyPatch) -> None:
    def fewer(*arguments: Any) -> TruncatedTerms:
        lost = truncated_terms(*arguments)
        return lost._replace(terms=lost.terms // 2)

    monkeypatch.setattr("mmaproof.spec.dot_add_bound.truncated_terms", fewer)
    choices = PRESETS["hopper"]
    bound = accumulation_bound(HOPPER, choices)
    assert bound is not None
    found = excesses(HOPPER, choices, losing_operands(HOPPER, 25), bound.relative, bound.absolute)
    assert max(found) > 0


@pytest.mark.parametrize("reading", ["ignored", "factors"])
def test_a_zero_times_a_large_number_loses_the_others_only_by_the_other_reading(reading: str) -> None:
    each = next(each for name, (each, _) in KNOWN.items() if name.startswith("hopper/bf16-bf16-f32-f32/k16"))
    choices = replace(PRESETS["hopper"], zero_products=reading)
    bound = accumulation_bound(each, choices)
    assert bound is not None
    rows = losing_operands(each, 25)
    x, y, c = (np.zeros_like(operand.bits[:1]) for operand in rows[:3])
    y[0, 0], c[0] = BF16.largest, 1 << F32.fraction_bits  # 0 · 3.39e38, whose exponent is 1, and 2^-126
    operands = Operands(Operand(x, BF16), Operand(y, BF16), Operand(c, F32), None)
    (excess,) = excesses(each, choices, operands, bound.relative, Fraction(0))
    assert (excess > 0) is (reading == "factors")
    assert bound.ignores_zeros is (reading == "ignored")


def test_only_a_term_with_more_bits_than_are_aligned_loses_something_at_the_largest_exponent() -> None:
    model = DotAddModel(13, Rounding.TOWARD_ZERO, 13)
    assert truncated_terms(model, 16, (F16, F16), F32).terms == 17
    assert truncated_terms(replace(model, fraction_bits=24), 16, (F16, F16), F32).terms == 16
    assert step_bound(model, 16, (F16, F16), F32).unit == Fraction(18, 1 << 13)


def test_an_instruction_states_its_bounds_by_choice() -> None:
    lines = list(error_bounds(parse("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32").variant))
    assert lines[2].startswith(
        "hopper, blackwell-sm100, blackwell: |D - exact| ≤ ((1 + 16·2^-25 + 2^-23) - 1)·S"
    )
    assert not list(error_bounds(parse("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32").variant))
