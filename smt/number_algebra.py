"""Uninterpreted floating-point operations that see numbers, not the encodings that stand for them."""

from __future__ import annotations

from functools import cache
from typing import Any

import z3

from ..spec.formats import F64, FloatFormat
from .float_terms import Direction, rounding_bits
from .z3_algebra import UninterpretedAlgebra, applied


class NumberAlgebra(UninterpretedAlgebra):
    """`UninterpretedAlgebra` whose fused sums are functions of their operands' numbers.

    `Algebra.fused` rounds the exact sum of numbers, so operands of different formats that are the same
    number, zeros of one sign or NaNs give the same result. Every encoding is read by an uninterpreted
    function of its format, which converting to f64, exact for all of them, is. (A fused dot-add does depend
    on encodings: a subnormal has its format's least exponent.)
    """

    def _fused(
        self, result: FloatFormat, rounding: Direction, products: int, formats: list[FloatFormat], bits: Any
    ) -> Any:
        numbers = [applied(_number(fmt), term) for fmt, term in zip(formats, bits, strict=True)]
        if result == F64 and not products and len(numbers) == 1:
            return numbers[0]
        return applied(_operation(result, products, len(numbers)), rounding_bits(rounding), *numbers)


@cache
def _number(fmt: FloatFormat) -> Any:
    """Return the function from encodings to the f64 of the same number."""
    return z3.Function(f"number_{fmt}", z3.BitVecSort(fmt.bits), z3.BitVecSort(F64.bits))


@cache
def _operation(result: FloatFormat, products: int, operands: int) -> Any:
    """Return the function from a direction and numbers to the rounded sum."""
    numbers = [z3.BitVecSort(F64.bits)] * operands
    return z3.Function(
        f"fused_{products}_of_{operands}_to_{result}",
        z3.BitVecSort(2),
        *numbers,
        z3.BitVecSort(result.bits),
    )
