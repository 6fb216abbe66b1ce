"""The concrete algebra: encodings in numpy unsigned integers, batch axes first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import float_arithmetic, float_encoding
from .algebra import Array, Operand, Product
from .formats import FloatFormat, Format, IntegerFormat
from .rounding import Rounding


class NumpyAlgebra:
    """Executes a spec function on real data; see `Algebra` for what each operation means.

    Exact integers are int64: they hold every sum of products of formats up to 16 bits with a 32-bit
    accumulator, and products of 32-bit operands.
    """

    def constant(self, encoding: int, fmt: Format) -> Array:
        return np.array(encoding, dtype=fmt.storage)

    def where(self, condition: Array, then: Array, otherwise: Array) -> Array:
        return np.where(condition, then, otherwise)

    def same(self, left: Array, right: Array) -> Array:
        return np.asarray(left == right)

    def flags(self, immediate: Any, count: int) -> Array:
        positions = np.arange(count - 1, -1, -1)
        return ((np.asarray(immediate, dtype=np.int64)[..., None] >> positions) & 1).astype(bool)

    def unpack(self, data: Array, fmt: Format) -> Array:
        data = np.ascontiguousarray(data, dtype=np.uint8)
        if fmt.bits == 4:
            nibbles = np.stack([data >> 4, data & 15], axis=-1)
            return nibbles.reshape(*data.shape[:-1], 2 * data.shape[-1])
        return data.view(fmt.storage.newbyteorder(">")).astype(fmt.storage)

    def pack(self, elements: Array, fmt: Format) -> Array:
        if fmt.bits == 4:
            return ((elements[..., 0::2] << 4) | elements[..., 1::2]).astype(np.uint8)
        return np.ascontiguousarray(elements, dtype=fmt.storage.newbyteorder(">")).view(np.uint8)

    def integer(self, bits: Array, fmt: IntegerFormat) -> Array:
        unused = 64 - fmt.bits
        wide = bits.astype(np.int64)
        return (wide << unused) >> unused if fmt.signed else wide

    def whole(self, value: int) -> Array:
        return np.array(value, dtype=np.int64)

    def wrap(self, value: Array, fmt: IntegerFormat) -> Array:
        return (value & ((1 << fmt.bits) - 1)).astype(fmt.storage)

    def saturate(self, value: Array, fmt: IntegerFormat) -> Array:
        return self.wrap(np.clip(value, fmt.minimum, fmt.maximum), fmt)

    def in_range(self, value: Array, fmt: IntegerFormat) -> Array:
        return np.asarray((value >= fmt.minimum) & (value <= fmt.maximum))

    def fused(
        self,
        result: FloatFormat,
        rounding: Rounding,
        products: Sequence[Product] = (),
        addends: Sequence[Operand] = (),
    ) -> Array:
        return float_arithmetic.fused(result, rounding, products, addends)

    def propagate_nan(self, outcome: Operand, operands: Sequence[Operand]) -> Array:
        if not self.is_nan(outcome).any():
            return outcome.bits
        bits = outcome.bits
        for operand in reversed(operands):
            quiet = float_encoding.widen_nan(operand.bits, operand.format, outcome.format)
            bits = np.where(self.is_nan(operand), quiet, bits)
        return bits

    def negate(self, operand: Operand) -> Array:
        sign = operand.format.storage.type(operand.format.sign_mask)
        flipped = operand.bits ^ sign
        nan = self.is_nan(operand)
        return np.where(nan, operand.bits, flipped) if nan.any() else flipped

    def is_nan(self, operand: Operand) -> Array:
        return float_encoding.is_nan(*operand)

    def is_zero(self, operand: Operand) -> Array:
        return np.asarray(float_encoding.decode(*operand) == 0)

    def is_infinite(self, operand: Operand) -> Array:
        return np.isinf(float_encoding.decode(*operand))

    def ieee_equal(self, left: Operand, right: Operand) -> Array:
        equal = float_encoding.decode(*left) == float_encoding.decode(*right)
        return np.asarray(equal | (self.is_nan(left) & self.is_nan(right)))
