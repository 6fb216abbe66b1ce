"""The concrete algebra: encodings in numpy unsigned integers, batch axes first."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import dot_add, float_arithmetic
from .algebra import Array, Encodings, Operand, Product
from .dot_add_model import DotAddModel
from .errors import UnsupportedError
from .float_encoding import decode, is_nan, widen_nan
from .formats import FloatFormat, Format, IntegerFormat
from .rounding import Rounding

_MIX = 0x9E3779B97F4A7C15
"""An odd multiplier near the golden ratio of 2**64, which spreads every bit upwards."""

_MIX_DOWN = 29
"""How far what was spread upwards is brought down again."""


class NumpyAlgebra:
    """Executes a spec function on real data; see `Algebra` for what each operation means.

    Exact integers are int64: they hold every sum of products of formats up to 16 bits with a 32-bit
    accumulator, and products of signed 32-bit operands.
    """

    def constant(self, encoding: int, fmt: Format) -> Array:
        """Return a zero-dimensional array in the storage type of `fmt`."""
        return np.array(encoding, dtype=fmt.storage)

    def where(self, condition: Array, then: Array, otherwise: Array) -> Array:
        """Choose elementwise."""
        return np.where(condition, then, otherwise)

    def same(self, left: Array, right: Array) -> Array:
        """Compare for identity."""
        return np.asarray(left == right)

    def flags(self, immediate: Any, count: int) -> Array:
        """Return the low `count` bits of one or many immediates, most significant first."""
        positions = np.arange(count - 1, -1, -1)
        return ((np.asarray(immediate, dtype=np.int64)[..., None] >> positions) & 1).astype(bool)

    def unpack(self, data: Array, fmt: Format) -> Array:
        """Split bytes into encodings, most significant first."""
        data = np.ascontiguousarray(data, dtype=np.uint8)
        if fmt.bits == 1:
            return np.unpackbits(data, axis=-1)
        if fmt.bits == 4:
            nibbles = np.stack([data >> 4, data & 15], axis=-1)
            return nibbles.reshape(*data.shape[:-1], 2 * data.shape[-1])
        return data.view(_big_endian(fmt)).astype(fmt.storage)

    def pack(self, elements: Array, fmt: Format) -> Array:
        """Join encodings into bytes, most significant first."""
        if fmt.bits == 1:
            return np.packbits(elements, axis=-1)
        if fmt.bits == 4:
            return ((elements[..., 0::2] << 4) | elements[..., 1::2]).astype(np.uint8)
        return np.ascontiguousarray(elements, dtype=_big_endian(fmt)).view(np.uint8)

    def extract(self, words: Array, low: int, fmt: Format) -> Array:
        """Shift and mask."""
        fields: Array = (words >> low).astype(fmt.storage) & fmt.storage.type((1 << fmt.bits) - 1)
        return fields

    def assemble(self, fields: Array, fmt: Format, positions: Sequence[int], word: Format) -> Array:
        """Shift and combine."""
        if fmt.bits == word.bits:
            return fields[..., 0].astype(word.storage)
        words: Array = fields[..., 0].astype(word.storage) << word.storage.type(positions[0])
        for place, position in enumerate(positions[1:], start=1):  # a reduction over few is slower
            words = words | fields[..., place].astype(word.storage) << word.storage.type(position)
        return words

    def arbitrary(self, name: str, arguments: Sequence[Encodings], result: Format) -> Array:
        """Hash the arguments in their order: one function, but one that hardly any wrong claim survives."""
        counts = "".join(f"{np.shape(bits)[-1]}{fmt}," for bits, fmt in arguments)
        mixed: Array = np.array(zlib.crc32(f"{name}({counts}){result}".encode()), dtype=np.uint64)
        for bits, _ in arguments:
            for argument in np.moveaxis(bits, -1, 0):
                mixed = (mixed ^ argument) * _MIX
                mixed = mixed ^ (mixed >> _MIX_DOWN)
        return (mixed >> np.uint64(64 - result.bits)).astype(result.storage)

    def integer(self, bits: Array, fmt: IntegerFormat) -> Array:
        """Return int64 values.

        Raises
        ------
        UnsupportedError
            For u64, whose values int64 can't hold.
        """
        if fmt.maximum > np.iinfo(np.int64).max:
            raise UnsupportedError(f"exact integers are int64 here, which can't hold {fmt}")
        unused = 64 - fmt.bits
        wide = _batch_contiguous(bits).astype(np.int64)
        return (wide << unused) >> unused if fmt.signed else wide

    def whole(self, value: int) -> Array:
        """Return a zero-dimensional int64 array."""
        return np.array(value, dtype=np.int64)

    def wrap(self, value: Array, fmt: IntegerFormat) -> Array:
        """Encode modulo ``2**fmt.bits``."""
        encoded: Array = value.astype(fmt.storage, order="C") & fmt.storage.type((1 << fmt.bits) - 1)
        return encoded

    def saturate(self, value: Array, fmt: IntegerFormat) -> Array:
        """Encode, clamped to the range of `fmt`."""
        highest = min(fmt.maximum, np.iinfo(np.int64).max)
        return self.wrap(np.clip(value, fmt.minimum, highest), fmt)

    def in_range(self, value: Array, fmt: IntegerFormat) -> Array:
        """Tell what `fmt` can represent."""
        return np.asarray((value >= fmt.minimum) & (value <= fmt.maximum))

    def fused(
        self,
        result: FloatFormat,
        rounding: Rounding,
        products: Sequence[Product] = (),
        addends: Sequence[Operand] = (),
    ) -> Array:
        """Round the exact sum of one or two terms once; see `float_arithmetic.fused` for what is refused."""
        return float_arithmetic.fused(result, rounding, products, addends)

    def dot_add(
        self,
        result: FloatFormat,
        model: DotAddModel,
        left: Operand,
        right: Operand,
        addend: Operand,
        scales: Product | None = None,
    ) -> Array:
        """Align, truncate, add and round integers; see `dot_add` for what is refused."""
        return dot_add.dot_add(result, model, left, right, addend, scales)

    def propagate_nan(self, outcome: Operand, operands: Sequence[Operand]) -> Array:
        """Return `outcome`; where it is a NaN, the first operand that is a NaN, made quiet."""
        shape = np.broadcast_shapes(*(np.shape(operand.bits) for operand in (outcome, *operands)))
        bits = np.broadcast_to(outcome.bits, shape).copy()
        places = np.flatnonzero(self.is_nan(Operand(bits, outcome.format)))
        if places.size:
            chosen = bits.flat[places]
            for operand in reversed(operands):
                candidates = np.broadcast_to(operand.bits, shape).flat[places]
                quiet = widen_nan(candidates, operand.format, outcome.format)
                chosen = np.where(is_nan(candidates, operand.format), quiet, chosen)
            bits.flat[places] = chosen
        return bits

    def replace_nan(self, operand: Operand, nan: int) -> Array:
        """Replace every NaN."""
        return self.where(self.is_nan(operand), self.constant(nan, operand.format), operand.bits)

    def negate(self, operand: Operand) -> Array:
        """Flip the sign, except of a NaN."""
        sign = operand.format.storage.type(operand.format.sign_mask)
        flipped: Array = operand.bits ^ ~self.is_nan(operand) * sign
        return flipped

    def is_nan(self, operand: Operand) -> Array:
        """Tell which encodings are NaNs."""
        return is_nan(*operand)

    def is_zero(self, operand: Operand) -> Array:
        """Tell which encodings are +0 or -0."""
        return np.asarray(decode(*operand) == 0)

    def is_infinite(self, operand: Operand) -> Array:
        """Tell which encodings are infinities."""
        return np.isinf(decode(*operand))

    def ieee_equal(self, left: Operand, right: Operand) -> Array:
        """Compare as numbers, all NaNs equal."""
        equal = decode(*left) == decode(*right)
        return np.asarray(equal | (self.is_nan(left) & self.is_nan(right)))


def _batch_contiguous(elements: Array) -> Array:
    """Lay the first axis along memory: operations that broadcast short rows then loop along the batch."""
    return np.asarray(elements, order="F")


def _big_endian(fmt: Format) -> np.dtype[np.unsignedinteger[Any]]:
    """Return the storage type as it lies in a register image."""
    if fmt.bits != 8 * fmt.storage.itemsize:
        raise UnsupportedError(f"{fmt} elements do not fill whole bytes")
    return fmt.storage.newbyteorder(">")
