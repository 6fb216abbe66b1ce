"""Uninterpreted floating-point operations that see numbers, not the encodings that stand for them."""

from __future__ import annotations

from typing import Any

from ..spec.formats import F64, FloatFormat
from .bit_fields import applied, function
from .float_terms import Direction, rounding_bits
from .z3_algebra import UninterpretedAlgebra


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
        numbers = [
            applied(function(f"number_{fmt}", fmt.bits, F64.bits), term)
            for fmt, term in zip(formats, bits, strict=True)
        ]
        if result == F64 and not products and len(numbers) == 1:
            return numbers[0]
        name = f"fused_{products}_of_{len(numbers)}_to_{result}"
        rounded = function(name, 2, *[F64.bits] * len(numbers), result.bits)
        return applied(rounded, rounding_bits(rounding), *numbers)
