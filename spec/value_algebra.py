"""The algebra of values: floats as the float64 numbers that their encodings stand for.

A chain of operations in formats that float64 holds is decoded and encoded once, not at each operation.
Which NaN an operation gives is lost: a NaN result says only that it is one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .algebra import Array, Operand, Product
from .float_arithmetic import exact_sum, require_exact_terms
from .float_encoding import decode, rounded
from .formats import F64, FloatFormat, Format
from .numpy_algebra import NumpyAlgebra
from .rounding import Rounding


class ValueAlgebra(NumpyAlgebra):
    """Executes a spec function on float64 values; what it lacks it does as `NumpyAlgebra` on encodings."""

    def constant(self, encoding: int, fmt: Format) -> Array:
        """Return the value of an encoding."""
        assert isinstance(fmt, FloatFormat)
        return decode(np.array(encoding, dtype=fmt.storage), fmt)

    def where(self, condition: Array, then: Array, otherwise: Array) -> Array:
        """Choose elementwise; what holds everywhere chooses nothing."""
        return then if np.all(condition) else np.where(condition, then, otherwise)

    def fused(
        self,
        result: FloatFormat,
        rounding: Rounding,
        products: Sequence[Product] = (),
        addends: Sequence[Operand] = (),
    ) -> Array:
        """Round the exact sum of one or two terms once, to any format but f64."""
        assert result != F64, "float64 can't carry the exact sum"
        factors = tuple((x.format, y.format) for x, y in products)
        require_exact_terms(result, factors, tuple(addend.format for addend in addends))
        terms = [x.bits * y.bits for x, y in products] + [addend.bits for addend in addends]
        if not addends and all(_holds_products(result, *pair) for pair in factors):
            return terms[0]
        return rounded(exact_sum(rounding, terms), result, rounding)

    def propagate_nan(self, outcome: Operand, operands: Sequence[Operand]) -> Array:
        """Return the outcome."""
        return outcome.bits

    def negate(self, operand: Operand) -> Array:
        """Flip the sign."""
        return -operand.bits

    def is_nan(self, operand: Operand) -> Array:
        """Tell which values are NaNs."""
        return np.isnan(operand.bits)

    def is_zero(self, operand: Operand) -> Array:
        """Tell which values are +0 or -0."""
        return np.asarray(operand.bits == 0)

    def is_infinite(self, operand: Operand) -> Array:
        """Tell which values are infinities."""
        return np.isinf(operand.bits)


def _holds_products(result: FloatFormat, x: FloatFormat, y: FloatFormat) -> bool:
    """Tell whether every product is a number of a format."""
    return (
        x.precision + y.precision <= result.precision
        and x.quantum + y.quantum >= result.quantum
        and x.maximum_exponent + y.maximum_exponent < result.maximum_exponent
    )
