"""Sums along k, of integers and of floats: of no products, of some of them, in blocks and in steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...spec.algebra import Array, Operand
from ...spec.float_encoding import encode
from ...spec.formats import BF16, E4M3, F16, S8, TF32, U8, FloatFormat
from ...spec.matrix_product import chain, flushed, integer_sum, rounded, unfused
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.rounding import Rounding
from ..comparison import compared
from ..obligation import Certificate, Theorem
from ..stated import arithmetic as stated
from ..table_theorem import table_theorem


def matrix_sums(isa: str) -> Theorem:
    """Return the theorem about sums of products, whatever instruction computes them."""
    return table_theorem(
        f"{isa}/stated/sums",
        "sums of up to five products have the products that count, in order, rounded as often as said",
        "integers: Σ x·y over k = 0, 1 and 5 products, all or those that masks keep, of broadcast rows and "
        "columns, with axes of batches before them; floats: a chain rounds Σ once for each product, an "
        "unfused one rounds products first, with and without a start, in each direction, where each of the "
        "two differs from the other; flushed, a subnormal number is the zero of its sign, and others stay",
        "docs/architecture.md, products",
        lambda: {"integers": _integers, "batches": _batches, "chains": _chains, "flushed": _flushed},
    )


def _integers() -> Certificate:
    numbers = np.arange(2 * 5) * 53 % 256 - 128
    rows = {count: numbers.reshape(2, 5)[:, :count] for count in (0, 1, 5)}
    columns = {count: (np.arange(3 * 5) * 91 % 256).reshape(3, 5)[:, :count] for count in rows}
    masks: Sequence[tuple[bool, ...] | None] = (
        None, (True,) * 5, (False,) * 5, (True, False, False, True, False), (False, True, True, False, True),
    )  # fmt: skip

    def total(row: Array, column: Array, mask: tuple[bool, ...]) -> int:
        return sum(int(x) * int(y) for x, y, kept in zip(row, column, mask, strict=False) if kept)

    expected = {
        (count, mask): [[total(x, y, mask or (True,) * 5) for y in columns[count]] for x in rows[count]]
        for count in rows
        for mask in masks
    }

    def specified() -> Iterator[tuple[tuple[int, tuple[bool, ...] | None], object]]:
        for count, mask in expected:
            x = rows[count].astype(np.int8).view(np.uint8)[:, None]
            y = columns[count].astype(np.uint8)
            live = None if mask is None else np.array(mask[:count], dtype=bool)
            total = np.asarray(integer_sum(NumpyAlgebra(), (x, S8), (y, U8), live))
            yield (count, mask), np.broadcast_to(total, (2, 3)).tolist()

    return compared(expected, specified)


def _batches() -> Certificate:
    """Return the claim that all axes but the last broadcast, whichever factor has them."""
    shapes = {
        "both": ((2, 3, 1, 5), (2, 1, 4, 5)), "of x": ((2, 3, 5), (3, 5)), "of y": ((3, 5), (2, 3, 5)),
        "a column each": ((2, 3, 5), (2, 1, 5)), "a row each": ((2, 1, 5), (2, 3, 5)), "none": ((5,), (5,)),
        "of no elements": ((2, 0, 1, 5), (1, 4, 5)),
    }  # fmt: skip
    given = {
        name: (np.arange(math.prod(left)).reshape(left) * 53 % 256 - 128,
               np.arange(math.prod(right)).reshape(right) * 91 % 256)
        for name, (left, right) in shapes.items()
    }  # fmt: skip

    def specified() -> Mapping[str, object]:
        return {
            name: integer_sum(
                NumpyAlgebra(), (x.astype(np.int8).view(np.uint8), S8), (y.astype(np.uint8), U8)
            ).tolist()
            for name, (x, y) in given.items()
        }

    return compared({name: (x * y).sum(axis=-1).tolist() for name, (x, y) in given.items()}, specified)


_ROWS = {
    "one": ([3.0], [5.0], None), "one and a start": ([3.0], [5.0], 7.0),
    "inexact": ([1 + 2**-10], [1 + 2**-10], None),
    "inexact and a start": ([1 + 2**-10], [1 + 2**-10], 2.0**12),
    "cancels": ([1 + 2**-10], [1 + 2**-10], -1 - 2**-10),
    "three": ([1 + 2**-10, 3.0, -2.0], [1 + 2**-9, 2.0**-12, 1 + 2**-10], None),
    "three and a start": ([1 + 2**-10, 3.0, -2.0], [1 + 2**-9, 2.0**-12, 1 + 2**-10], -(2.0**11)),
}  # fmt: skip
"""Factors and the start of sums in f16, whose products are no numbers of f16."""


def _chains() -> Certificate:
    expected = {
        (name, fused, direction): _stated_chain(x, y, start, direction, fused)
        for name, (x, y, start) in _ROWS.items()
        for fused in (True, False)
        for direction in stated.DIRECTIONS
    }

    def specified() -> Iterator[tuple[tuple[str, bool, str], int]]:
        for name, fused, direction in expected:
            x, y, start = _ROWS[name]
            first = None if start is None else _operand(start, F16)
            once = rounded(NumpyAlgebra(), Rounding(stated.DIRECTIONS.index(direction)))
            total = chain(once if fused else unfused(once), F16, _operand(x, F16), _operand(y, F16), first)
            yield (name, fused, direction), int(total.bits)

    return compared(expected, specified)


def _flushed() -> Certificate:
    """Return the claim on zeros, the ends of subnormal and normal numbers, and what is no number."""
    given: dict[str, list[int]] = {}
    for fmt in (F16, BF16, E4M3, TF32):
        exponent, fraction, _ = stated.widths(fmt.name)
        ends = [0, 1, (1 << fraction) - 1, 1 << fraction, (1 << exponent + fraction) - 1]
        given[fmt.name] = [end | sign << exponent + fraction for end in ends for sign in (0, 1)]
    expected: dict[str, list[int]] = {}
    for name, codes in given.items():
        exponent, fraction, _ = stated.widths(name)
        sign = 1 << exponent + fraction
        expected[name] = [code & sign if code % sign < 1 << fraction else code for code in codes]

    def specified() -> Iterator[tuple[str, list[int]]]:
        for fmt in (F16, BF16, E4M3, TF32):
            bits = np.array(given[fmt.name]).astype(fmt.storage) << fmt.padding_bits
            yield fmt.name, (flushed(NumpyAlgebra(), Operand(bits, fmt)).bits >> fmt.padding_bits).tolist()

    return compared(expected, specified)


def _operand(numbers: Any, fmt: FloatFormat) -> Operand:
    bits: Array = encode(np.array(numbers, dtype=np.float64), fmt, Rounding.NEAREST_EVEN)
    return Operand(bits, fmt)


def _stated_chain(
    x: Sequence[float], y: Sequence[float], start: float | None, direction: str, fused: bool
) -> int:
    total = None if start is None else Fraction(start)
    encoding = 0
    for left, right in zip(x, y, strict=True):
        term = Fraction(left) * Fraction(right)
        if not fused:
            term = _number(stated.rounded("f16", term, direction))
        encoding = stated.rounded("f16", term + (total or 0), direction)
        total = _number(encoding)
    return encoding


def _number(encoding: int) -> Fraction:
    number = stated.value("f16", encoding)
    assert number is not None
    return number
