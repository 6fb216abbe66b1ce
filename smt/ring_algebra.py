"""The exact algebra: elements of a commutative ring (polynomials or rationals), no rounding at all.

Two sides that are equal here are equal over the integers or the reals; rounding, wrapping and
saturation are the identity, so a claim in it is one of `value` equality.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..spec.algebra import Array, Encodings, Operand, Product
from ..spec.dot_add_model import DotAddModel
from ..spec.errors import UnsupportedError
from ..spec.formats import FloatFormat, Format, IntegerFormat
from ..spec.rounding import Rounding


def polynomial_variables(shapes: dict[str, tuple[int, ...]]) -> dict[str, Array]:
    """Return arrays of the generators of one polynomial ring over the integers, ``name_i_j``."""
    from sympy.polys.domains import ZZ
    from sympy.polys.rings import ring

    names = [
        "_".join([name, *map(str, index)]) for name, shape in shapes.items() for index in np.ndindex(shape)
    ]
    generators = iter(ring(names, ZZ)[1:] if names else ())
    arrays = {}
    for name, shape in shapes.items():
        arrays[name] = np.empty(shape, dtype=object)
        for index in np.ndindex(shape):
            arrays[name][index] = next(generators)
    return arrays


class RingAlgebra:
    """Ring elements in numpy object arrays; conditions are concrete truth values.

    Encodings *are* the ring elements, so operations on bit patterns are not available.
    """

    def constant(self, encoding: int, fmt: Format) -> Array:
        """Return the number an encoding stands for."""
        value = fmt.exact(encoding) if isinstance(fmt, FloatFormat) else Fraction(encoding)
        if value is None:
            raise UnsupportedError(f"encoding {encoding:#x} of {fmt} is not a number")
        return self.whole(value.numerator) if value.denominator == 1 else np.array(value, dtype=object)

    def where(self, condition: Array, then: Array, otherwise: Array) -> Array:
        """Choose elementwise."""
        return np.where(np.asarray(condition, dtype=bool), then, otherwise)

    def same(self, left: Array, right: Array) -> Array:
        """Compare ring elements."""
        return np.asarray(np.equal(left, right), dtype=bool)

    def flags(self, immediate: Any, count: int) -> Array:
        """Return the bits of a concrete immediate, most significant first."""
        return np.array([bool(int(immediate) >> i & 1) for i in reversed(range(count))])

    def unpack(self, data: Array, fmt: Format) -> Array:
        """Refuse: a ring element has no bytes."""
        raise UnsupportedError("a ring element has no bytes")

    def pack(self, elements: Array, fmt: Format) -> Array:
        """Refuse: a ring element has no bytes."""
        raise UnsupportedError("a ring element has no bytes")

    def extract(self, words: Array, low: int, fmt: Format) -> Array:
        """Refuse: a ring element has no bits."""
        raise UnsupportedError("a ring element has no bits")

    def assemble(self, fields: Array, fmt: Format, positions: Sequence[int], word: Format) -> Array:
        """Refuse: a ring element has no bits."""
        raise UnsupportedError("a ring element has no bits")

    def arbitrary(self, name: str, arguments: Sequence[Encodings], result: Format) -> Array:
        """Refuse: an arbitrary function of ring elements is none of the ring's."""
        raise UnsupportedError("an arbitrary function is no ring element")

    def integer(self, bits: Array, fmt: IntegerFormat) -> Array:
        """Return the elements themselves."""
        return bits

    def whole(self, value: int) -> Array:
        """Return an integer."""
        return np.array(value, dtype=object)

    def wrap(self, value: Array, fmt: IntegerFormat) -> Array:
        """Return the elements themselves."""
        return value

    def saturate(self, value: Array, fmt: IntegerFormat) -> Array:
        """Return the elements themselves."""
        return value

    def in_range(self, value: Array, fmt: IntegerFormat) -> Array:
        """Refuse: a polynomial has no range."""
        raise UnsupportedError("a ring element has no range")

    def fused(
        self,
        result: FloatFormat,
        rounding: Rounding | Any,
        products: Sequence[Product] = (),
        addends: Sequence[Operand] = (),
    ) -> Array:
        """Return the exact sum."""
        terms = [x.bits * y.bits for x, y in products] + [addend.bits for addend in addends]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return np.asarray(total, dtype=object)

    def dot_add(
        self,
        result: FloatFormat,
        model: DotAddModel,
        left: Operand,
        right: Operand,
        addend: Operand,
        scales: Product | None = None,
    ) -> Array:
        """Return the exact sum."""
        products = left.bits * right.bits
        for scale in scales or ():
            factors = scale.bits
            products = products * np.repeat(factors, products.shape[-1] // factors.shape[-1], axis=-1)
        return np.asarray(products.sum(axis=-1) + addend.bits, dtype=object)

    def propagate_nan(self, outcome: Operand, operands: Sequence[Operand]) -> Array:
        """Return the outcome: a ring has no NaN."""
        return outcome.bits

    def replace_nan(self, operand: Operand, nan: int) -> Array:
        """Return the operand: a ring has no NaN."""
        return operand.bits

    def negate(self, operand: Operand) -> Array:
        """Return the additive inverse."""
        return -operand.bits

    def is_nan(self, operand: Operand) -> Array:
        """Return false everywhere."""
        return np.zeros(operand.bits.shape, dtype=bool)

    is_infinite = is_nan

    def is_zero(self, operand: Operand) -> Array:
        """Compare with 0."""
        return np.asarray(np.equal(operand.bits, 0), dtype=bool)

    def ieee_equal(self, left: Operand, right: Operand) -> Array:
        """Compare ring elements."""
        return self.same(left.bits, right.bits)
